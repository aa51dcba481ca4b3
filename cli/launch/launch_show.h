/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a launcher shows: the lines of its processes, each with who said it, and its own.
 *
 * For people: "[host/role N] line", those of standard output there and those of standard error
 * there, the prefix in a colour of its own on a terminal. As JSON: one object a line and event, all
 * on standard output.
 *
 * Thread rules: the main thread.
 */
#ifndef CLI_LAUNCH_LAUNCH_SHOW_H
#define CLI_LAUNCH_LAUNCH_SHOW_H

#include <stdbool.h>
#include <stdint.h>

struct launch_show {
    bool json, quiet;
    bool colour[3]; /* by file number: it is a terminal */
};

/* Who a line is of. */
struct launch_who {
    uint32_t process;
    const char *host, *role, *prefix;
};

void launch_show_init(struct launch_show *show, bool json, bool quiet);

/* A line that a process printed, on standard output (1) or error (2). */
void launch_show_line(const struct launch_show *show, const struct launch_who *who, int fd,
                      char *line, uint64_t length);

/* What the launcher did or saw: event "started", "ready", "ended", "stopping" ... */
void launch_show_event(const struct launch_show *show, const struct launch_who *who,
                       const char *event, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif
