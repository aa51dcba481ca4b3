/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The history of a launched job (runtime/base/history_file.h): what the launcher does to processes,
 * how they end, and the notices that they print.
 *
 * Nothing is written before the process of trainer 0 is ready, which has the run's folder by then: a
 * job that is refused leaves nothing in the folder of another.
 *
 * Ownership: launch_history_fini frees what init made; the plan is borrowed. Thread rules: the
 * thread of the launch.
 */
#ifndef LAUNCH_LAUNCH_HISTORY_H
#define LAUNCH_LAUNCH_HISTORY_H

#include <troupe/launch.h>

#include "launch/launch_plan.h"
#include "runtime/base/history_file.h"

struct launch_history {
    const struct launch_plan *plan;
    struct history_file file;
    bool began;
};

/* Without a folder of the run there is no history. TR_ENOMEM. */
int launch_history_init(struct launch_history *history, const struct launch_plan *plan);
void launch_history_fini(struct launch_history *history);

/* An event of the launch that is no line. */
void launch_history_event(struct launch_history *history, const struct tr_launch_event *event,
                          const char *text);
/* A line of a process's standard output, which may be a notice. */
void launch_history_line(struct launch_history *history, uint32_t process, const char *line);
/* How the launch ended: its result, and the text of a failure. */
void launch_history_end(struct launch_history *history, int result, const char *text);

#endif
