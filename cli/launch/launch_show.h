/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The output of `troupe launch`: the lines of its processes, each with its process, and its own.
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

#include <troupe/launch.h>

#include <troupe/log_file.h>

struct launch_show {
    bool json, quiet;
    bool colour[3];          /* by file number: it is a terminal */
    struct tr_log_file *log; /* all goes there; NULL: to the outputs */
};

void launch_show_init(struct launch_show *show, bool json, bool quiet);

void launch_show_event(const struct launch_show *show, const struct tr_launch_event *event);

#endif
