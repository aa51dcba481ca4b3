/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The common part of commands that make raw graphs or add to them: they follow a task, and report
 * the folder, which is opened again so that what is said of it is read from the files.
 *
 * Thread rules: the main thread.
 */
#ifndef CLI_LIB_RAW_REPORT_H
#define CLI_LIB_RAW_REPORT_H

#include <troupe/task.h>

#include "cli/lib/command.h"
#include "cli/lib/follow.h"
#include "cli/lib/report.h"

/* One run of such a command. */
struct raw_report {
    follow_start *start;
    const void *options; /* of the task */
    /* Adds what is said of this kind alone, of the task, which has succeeded; NULL: nothing. */
    int (*add)(const void *options, struct tr_task *task, struct report *report,
               struct tr_error *error);
    const char *out;
    bool quiet;
    bool json;
};

/* Runs the task and prints the report of the folder at `out`, and the command that comes next;
 * returns the exit code. */
int raw_report_make(const struct invocation *invocation, const struct raw_report *made);

/* Ends a report with the command that comes next for the raw graph at `path`: what makes features
 * or masks of one that has labels and lacks those, else what partitions it. */
int raw_report_next(struct report *report, const char *path, struct tr_error *error);

/* Reports the command that makes features or masks for the raw graph at `path`, which has labels and
 * lacks those; false: there is no such command, or no raw graph. */
bool raw_report_mend(struct report *report, const char *path);

/* Begins the report of what was added to the raw graph at `path`: its folder, and the name of the node
 * type, or edge type, of that number. */
int raw_report_added(struct report *report, const char *path, bool edges, uint32_t type, bool json,
                     struct tr_error *error);

#endif
