/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A task: its thread, its outcome, and the threads that wait for it.
 *
 * Invariants:
 * - finished is set once, by the task's thread, under the mutex, after run has returned; outcome
 *   does not change after that.
 * - The interrupt hook is called at most once, by the call that cancels first.
 * - Each call, those of a signal handler too, is counted in inside before it reads anything that a
 *   close frees, and is not counted any more as the last that it does; from closing on none enters.
 *   destroy is the last that is done with arg, when none is left inside.
 */
#include <troupe/task.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "api/public_error.h"
#include "api/sized.h"
#include "api/task_run.h"
#include "runtime/base/deadline.h"
#include "runtime/base/fork_mark.h"
#include "runtime/base/thread.h"

#define SECOND_NS INT64_C(1000000000)
#define THREAD_NAME "tr-task"
/* Between two looks of a close at whether a call has left. A call that ends in a signal handler
 * cannot notify it. */
#define LEFT_LOOK_NS 100000

struct tr_task {
    struct fork_mark *mark;
    struct tr_task_work work;      /* its name is the task's own */
    const struct task_work *inner; /* NULL: the work is from outside */
    void *arg;
    atomic_bool cancelled, closing;
    atomic_uint inside; /* calls */
    pthread_t thread;
    pthread_mutex_t mutex; /* guards all below */
    pthread_cond_t changed;
    struct tr_task_progress progress;
    struct timespec begin;
    bool finished;
    struct tr_error outcome;
};

/* The task stays until task_leave(). Sequentially consistent, as closing is: either the call sees
 * that the task is being closed, or the close sees the call. */
static struct tr_task *task_enter(const struct tr_task *task)
{
    /* Its count and its mutex are no part of its state. */
    struct tr_task *t = (struct tr_task *)(uintptr_t)task;
    atomic_fetch_add(&t->inside, 1);
    return t;
}

static void task_leave(struct tr_task *task)
{
    atomic_fetch_sub(&task->inside, 1);
}

static void wait_left(struct tr_task *task)
{
    while (atomic_load(&task->inside) > 0)
        nanosleep(&(struct timespec){ .tv_nsec = LEFT_LOOK_NS }, NULL);
}

static uint64_t elapsed_ns(const struct tr_task *task)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)((now.tv_sec - task->begin.tv_sec) * SECOND_NS +
                      (now.tv_nsec - task->begin.tv_nsec));
}

static int run_inner(struct tr_task *task, void *arg, struct tr_error *error)
{
    struct error inner = { 0 };
    int rv = task->inner->run(task, arg, &inner);
    if (rv != 0 && inner.code != rv)
        error_set(&inner, rv, "%s: %s", task->inner->name, tr_strerror(rv));
    return rv != 0 ? error_give(&inner, error) : 0;
}

static void *task_main(void *arg)
{
    struct tr_task *task = arg;
    struct tr_error outcome = TR_ERROR_INIT;
    int rv = task->work.run(task, task->arg, &outcome);
    if (rv != 0 && outcome.code != rv)
        tr_error_set(&outcome, rv, "%s: %s", task->work.name, tr_strerror(rv));
    if (rv == TR_ETIMEDOUT) /* that is what a wait says of itself */
        outcome.code = TR_EPEERDOWN;
    pthread_mutex_lock(&task->mutex);
    /* The outcome and the time stand before `finished`, under one hold of the mutex: a waiting
     * thread reads them together. */
    task->outcome = outcome;
    task->outcome.code = rv == 0 ? 0 : outcome.code;
    task->progress.elapsed_ns = elapsed_ns(task);
    task->finished = true;
    pthread_cond_broadcast(&task->changed);
    pthread_mutex_unlock(&task->mutex);
    return NULL;
}

static void task_destroy(struct tr_task *task)
{
    if (task->work.destroy != NULL)
        task->work.destroy(task->arg);
    free((char *)(uintptr_t)task->work.name);
    pthread_cond_destroy(&task->changed);
    pthread_mutex_destroy(&task->mutex);
    fork_mark_destroy(task->mark);
    free(task);
}

static struct tr_task *task_create(const struct tr_task_work *work, const struct task_work *inner,
                                   void *arg)
{
    struct tr_task *task = calloc(1, sizeof *task);
    struct fork_mark *mark = fork_mark_create();
    char *name = strdup(work->name); /* the caller may fill *work anew */
    /* All that may fail comes before the mutex and the condition: memory is all that is given back
     * here. */
    if (task == NULL || mark == NULL || name == NULL) {
        free(name);
        fork_mark_destroy(mark);
        free(task);
        return NULL;
    }
    deadline_init_cond(&task->changed);
    pthread_mutex_init(&task->mutex, NULL);
    atomic_init(&task->cancelled, false);
    atomic_init(&task->closing, false);
    atomic_init(&task->inside, 0);
    task->mark = mark;
    task->work = *work;
    /* This comes after the copy, which has the caller's name. */
    task->work.name = name;
    task->inner = inner;
    task->arg = arg;
    clock_gettime(CLOCK_MONOTONIC, &task->begin);
    return task;
}

static int task_begin(const struct tr_task_work *work, const struct task_work *inner, void *arg,
                      struct tr_task **out, struct tr_error *error)
{
    struct tr_task *task = task_create(work, inner, arg);
    if (task == NULL) {
        if (work->destroy != NULL)
            work->destroy(arg);
        return tr_error_set(error, TR_ENOMEM, "%s: no memory for a task", work->name);
    }
    /* The thread comes last: it finds the task whole, and nothing behind it fails. */
    int rv = thread_create(&task->thread, THREAD_NAME, task_main, task);
    if (rv != 0) {
        tr_error_set(error, rv, "%s: no thread for a task: %s", work->name, tr_strerror(rv));
        task_destroy(task);
        return rv;
    }
    *out = task;
    return 0;
}

int tr_task_start(const struct tr_task_work *caller, void *arg, struct tr_task **out,
                  struct tr_error *error)
{
    struct tr_task_work work = TR_TASK_WORK_INIT;
    *out = NULL;
    int rv = sized_read(&work, sizeof work, caller, "tr_task_work", error);
    if (rv == 0 && (work.name == NULL || work.run == NULL))
        rv = tr_error_set(error, TR_EINVAL, "tr_task_work: name and run are needed");
    return rv != 0 ? rv : task_begin(&work, NULL, arg, out, error);
}

int task_start(const struct task_work *inner, void *arg, struct tr_task **out,
               struct tr_error *error)
{
    const struct tr_task_work work = { .size = sizeof work,
                                       .name = inner->name,
                                       .run = run_inner,
                                       .interrupt = inner->interrupt,
                                       .destroy = inner->destroy,
                                       .closing = inner->closing,
                                       .kind = inner };
    *out = NULL;
    return task_begin(&work, inner, arg, out, error);
}

/* Under the mutex: until it has finished (0) or the time is over. */
static int wait_finished(struct tr_task *task, int64_t timeout_ns)
{
    const struct deadline until = deadline_after(timeout_ns);
    int rv = 0;
    while (!task->finished && rv == 0)
        rv = deadline_wait(&until, &task->changed, &task->mutex);
    return task->finished ? 0 : TR_ETIMEDOUT;
}

int tr_task_wait(struct tr_task *task, int64_t timeout_ns, struct tr_error *error)
{
    if (fork_mark_is_child(task->mark))
        return error_forked(error, "the task");
    task_enter(task);
    pthread_mutex_lock(&task->mutex);
    int rv = wait_finished(task, timeout_ns);
    struct error outcome = { .code = rv };
    /* The outcome is copied before the call leaves: the task may be freed then. */
    if (rv == 0)
        error_take(&task->outcome, &outcome);
    pthread_mutex_unlock(&task->mutex);
    task_leave(task);
    if (rv != 0)
        return tr_error_set(error, rv, "the task still runs");
    return outcome.code != 0 ? error_give(&outcome, error) : 0;
}

int tr_task_progress(const struct tr_task *task, struct tr_task_progress *progress,
                     struct tr_error *error)
{
    if (fork_mark_is_child(task->mark))
        return error_forked(error, "the task");
    struct tr_task *t = task_enter(task);
    pthread_mutex_lock(&t->mutex);
    struct tr_task_progress now = task->progress;
    now.finished = task->finished;
    if (!now.finished)
        now.elapsed_ns = elapsed_ns(task);
    pthread_mutex_unlock(&t->mutex);
    task_leave(t);
    return sized_write(progress, &now, sizeof now, "tr_task_progress", error);
}

void tr_task_cancel(struct tr_task *task)
{
    if (task == NULL || fork_mark_is_child(task->mark))
        return;
    task_enter(task); /* also when the close itself cancels */
    /* The flag stands before the hook, which wakes work that then looks at it. */
    bool first = !atomic_exchange_explicit(&task->cancelled, true, memory_order_acq_rel);
    if (first && task->work.interrupt != NULL)
        task->work.interrupt(task->arg);
    task_leave(task);
}

void tr_task_close(struct tr_task *task)
{
    if (task == NULL || fork_mark_is_child(task->mark))
        return;
    /* The flag stands before all, so that no call enters that would have to be waited for. */
    atomic_store(&task->closing, true);
    /* The hook comes first: the end of the work may take long, and nobody pulls what it still
     * says. */
    if (task->work.closing != NULL)
        task->work.closing(task->arg);
    tr_task_cancel(task);
    pthread_join(task->thread, NULL);
    /* Waiting threads wake with the outcome; all must have left the task before it is freed. */
    wait_left(task);
    task_destroy(task);
}

void tr_task_report(struct tr_task *task, const char *phase, const char *unit, uint64_t done,
                    uint64_t total)
{
    pthread_mutex_lock(&task->mutex);
    snprintf(task->progress.phase, sizeof task->progress.phase, "%s", phase);
    snprintf(task->progress.unit, sizeof task->progress.unit, "%s", unit);
    task->progress.done = done;
    task->progress.total = total;
    pthread_mutex_unlock(&task->mutex);
}

bool tr_task_is_cancelled(const struct tr_task *task)
{
    return atomic_load_explicit(&task->cancelled, memory_order_acquire);
}

/* A name says nothing of the arg: a library that makes tasks may choose any. */
static bool is_of_kind(const struct tr_task *task, const void *kind)
{
    return kind != NULL && task->work.kind == kind;
}

int tr_task_enter(const struct tr_task *task, const void *kind, void **arg, struct tr_error *error)
{
    int rv = 0;
    *arg = NULL;
    if (fork_mark_is_child(task->mark))
        return error_forked(error, "the task");
    /* The call is counted before it asks whether the task is closing: a close that it does not see
     * waits for it. */
    struct tr_task *t = task_enter(task);
    if (!is_of_kind(t, kind))
        rv = tr_error_set(error, TR_EINVAL, "the task is of another kind: '%s'", t->work.name);
    else if (atomic_load(&t->closing))
        rv = tr_error_set(error, TR_ECLOSED, "the task is being closed");
    if (rv != 0) {
        task_leave(t);
        return rv;
    }
    *arg = t->arg;
    return 0;
}

void tr_task_leave(const struct tr_task *task)
{
    task_leave((struct tr_task *)(uintptr_t)task);
}

int task_enter_ended(struct tr_task *task, const struct task_work *work, const char *noun,
                     void **arg, struct tr_error *error)
{
    /* The wait comes first: the result is the task's thread's until it has ended. */
    int rv = tr_task_wait(task, 0, error);
    if (rv != 0)
        return rv;
    rv = tr_task_enter(task, work, arg, error);
    return rv == TR_EINVAL
               ? tr_error_set(error, rv, "the task is of another kind than this call needs: %s",
                              noun)
               : rv;
}

void *tr_task_arg(const struct tr_task *task, const void *kind)
{
    return !fork_mark_is_child(task->mark) && is_of_kind(task, kind) ? task->arg : NULL;
}

static bool is_asked(void *task)
{
    return tr_task_is_cancelled(task);
}

struct cancel task_cancel(struct tr_task *task)
{
    return (struct cancel){ is_asked, task };
}

void task_progress(void *task, const char *phase, const char *unit, uint64_t done, uint64_t total)
{
    tr_task_report(task, phase, unit, done, total);
}
