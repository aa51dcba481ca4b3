/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The effect of a signal on the task of a command: it cancels it, at once.
 *
 *     canceller_begin(&canceller, ..., &error) -> the task starts -> canceller_watch(&canceller, task)
 *         ... -> canceller_watch(&canceller, NULL) -> tr_task_close(task) -> canceller_end
 *
 * Thread rules: the main thread, one at a time in a process.
 */
#ifndef CLI_LIB_CANCELLER_H
#define CLI_LIB_CANCELLER_H

#include <pthread.h>

#include <troupe/task.h>

#include "cli/lib/signals.h"

struct canceller {
    struct signals signals;
    void (*on_dump)(struct tr_task *task);
    pthread_mutex_t mutex; /* guards all below */
    bool fired;
    struct tr_task *task;
};

/* on_dump: called on the signal thread, for the task that is watched; NULL: SIGUSR1 does
 * nothing. log: that SIGHUP opens again; NULL: SIGHUP cancels. */
int canceller_begin(struct canceller *canceller, void (*on_dump)(struct tr_task *task),
                    struct tr_log_file *log, struct tr_error *error);
void canceller_end(struct canceller *canceller);

/* Cancels that task from now on, at once if a signal came before. NULL, before the task is closed:
 * none. */
void canceller_watch(struct canceller *canceller, struct tr_task *task);

#endif
