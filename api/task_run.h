/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tasks for the work of the rooms above, which knows struct error, struct cancel and the progress
 * callback of imports and partitioning.
 */
#ifndef API_TASK_RUN_H
#define API_TASK_RUN_H

#include <troupe/task.h>

#include "runtime/base/cancel.h"
#include "runtime/base/error.h"

/* As struct tr_task_work, of static storage; its address is the kind of the task. */
struct task_work {
    const char *name;
    int (*run)(struct tr_task *task, void *arg, struct error *error);
    void (*interrupt)(void *arg);
    void (*destroy)(void *arg);
    void (*closing)(void *arg);
};

/* As tr_task_start(). */
int task_start(const struct task_work *work, void *arg, struct tr_task **out,
               struct tr_error *error);

/* As tr_task_enter(), for a function that gives a task's result: it enters a task that has ended
 * well. TR_ETIMEDOUT: it still runs; TR_EINVAL: it is no `noun`; otherwise what it ended with. */
int task_enter_ended(struct tr_task *task, const struct task_work *work, const char *noun,
                     void **arg, struct tr_error *error);

/* Asks whether the task is cancelled; the task is needed as long as it. */
struct cancel task_cancel(struct tr_task *task);

/* The progress hook of partitioning and of verifying, with the task as its argument. */
void task_progress(void *task, const char *phase, const char *unit, uint64_t done, uint64_t total);

#endif
