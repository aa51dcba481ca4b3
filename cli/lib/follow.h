/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A task as a command runs it: its progress is shown, and Ctrl-C or SIGTERM cancels it.
 *
 *     struct follow follow;
 *     if (follow_begin(&follow, quiet, &error) != 0) ...
 *     rv = tr_X_start(&options, &task, &error);
 *     if (rv == 0)
 *         rv = follow_task(&follow, task, &error);
 *     follow_end(&follow);
 *
 * Signals are caught before the task begins, so that none can leave a half-written folder behind.
 *
 * Thread rules: the main thread, one at a time in a process. Ownership: the task stays the
 * caller's.
 */
#ifndef CLI_LIB_FOLLOW_H
#define CLI_LIB_FOLLOW_H

#include <troupe/task.h>

#include "cli/lib/progress.h"
#include "cli/lib/signals.h"

struct follow {
    struct signals signals;
    struct progress progress;
};

int follow_begin(struct follow *follow, bool quiet, struct tr_error *error);
/* Until the task has ended: its outcome. */
int follow_task(struct follow *follow, struct tr_task *task, struct tr_error *error);
void follow_end(struct follow *follow);

#endif
