/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A task: work that takes long (an import, a partitioning, training), on a thread of its own.
 *
 * A function tr_X_start() begins it; the caller waits, pulls its progress, cancels, and closes it.
 * Nothing is called back: progress and results of the work are pulled, from any thread.
 *
 *     while ((rv = tr_task_wait(task, second, &error)) == TR_ETIMEDOUT)
 *         if (tr_task_progress(task, &progress, NULL) == 0) show(&progress);
 *     tr_task_close(task);
 *
 * Thread rules: any thread; many may wait at a time. tr_task_cancel() is safe in a signal handler.
 * A task is closed once, when no other thread begins a call on it. Calls that are under way,
 * whichever they are, leave it first: tr_task_wait() gives them the outcome, and a thread that
 * waits for an event of the task (tr_launch_next(), tr_model_next_event()) gets TR_ECLOSED at once.
 *
 * In a child of fork() calls give TR_EFORKED and a close does nothing.
 */
#ifndef TROUPE_TASK_H
#define TROUPE_TASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <troupe/error.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tr_task;

#define TR_TASK_PHASE_MAX 64
#define TR_TASK_UNIT_MAX 16

/* Where a task stands. */
struct tr_task_progress {
    size_t size;
    bool finished;                 /* tr_task_wait() gives its outcome at once */
    char phase[TR_TASK_PHASE_MAX]; /* "reading edges"; "" before the first */
    char unit[TR_TASK_UNIT_MAX];   /* of done and total: "edges", "bytes"; "" for a mere number */
    uint64_t done, total;          /* in this phase; total 0: not known */
    uint64_t elapsed_ns;           /* since its start; when it has finished, until then */
};

#define TR_TASK_PROGRESS_INIT                                   \
    {                                                           \
        sizeof(struct tr_task_progress), false, "", "", 0, 0, 0 \
    }

/* Waits for the end: 0 or the work's failure, with its message, however often it is asked.
 * TR_ETIMEDOUT: it still runs (work whose own time ran out ends with TR_EPEERDOWN instead).
 * TR_ECANCELED: it was cancelled before it was done. */
TR_API int tr_task_wait(struct tr_task *task, int64_t timeout_ns, struct tr_error *error);

TR_API int tr_task_progress(const struct tr_task *task, struct tr_task_progress *progress,
                            struct tr_error *error);

/* Asks the work to end soon, and returns at once; tr_task_wait() waits for that. Work that was done
 * already has its own outcome. Safe in a signal handler. NULL is ignored. */
TR_API void tr_task_cancel(struct tr_task *task);

/* Cancels what still runs, waits for its end and for calls that are under way, and frees the task.
 * NULL is ignored. */
TR_API void tr_task_close(struct tr_task *task);

/*
 * For libraries that stand on this one: how a tr_X_start() makes its task.
 */
struct tr_task_work {
    size_t size;
    const char *name; /* "train": for messages */
    /* Runs on the task's thread, which takes no signals. Its result is the outcome. */
    int (*run)(struct tr_task *task, void *arg, struct tr_error *error);
    /* Wakes run where it waits, once, from whatever thread or signal handler cancels: it may do
     * only what a signal handler may. NULL: run looks often enough. */
    void (*interrupt)(void *arg);
    /* Frees arg when the task is closed, or could not start. NULL: nothing is to free. */
    void (*destroy)(void *arg);
    /* Ends what threads wait for between tr_task_enter() and tr_task_leave(): tr_task_close()
     * begins with it. NULL: nobody waits there. */
    void (*closing)(void *arg);
    /* An address that is of this kind of task alone, such as that of a static variable of the
     * library that makes it: tr_task_enter() and tr_task_arg() ask for it. A name may be another
     * library's too. NULL: neither finds the task. */
    const void *kind;
};

#define TR_TASK_WORK_INIT                                               \
    {                                                                   \
        sizeof(struct tr_task_work), NULL, NULL, NULL, NULL, NULL, NULL \
    }

/* Takes arg over, also when it fails, but with TR_EINVAL and TR_EUNSUPPORTED (*work could not be
 * read). *work is needed during the call only. *out is NULL after a failure. */
TR_API int tr_task_start(const struct tr_task_work *work, void *arg, struct tr_task **out,
                         struct tr_error *error);

/* Notes the piece of work that run has begun, for tr_task_progress(). Called on the task's thread,
 * or on one that run waits for. */
TR_API void tr_task_report(struct tr_task *task, const char *phase, const char *unit, uint64_t done,
                           uint64_t total);

/* Whether run is to end with TR_ECANCELED. Any thread. */
TR_API bool tr_task_is_cancelled(const struct tr_task *task);

/* Begins a call on a task of that kind: *arg stays until tr_task_leave(), for tr_task_close() waits
 * for it. TR_EINVAL: the task is of another kind; TR_ECLOSED: it is being closed. After a failure
 * there is nothing to leave, and *arg is NULL. Both are safe in a signal handler, with error
 * NULL. */
TR_API int tr_task_enter(const struct tr_task *task, const void *kind, void **arg,
                         struct tr_error *error);
TR_API void tr_task_leave(const struct tr_task *task);

/* The arg of a task of that kind, as long as the task is open; NULL: it is of another kind. For a
 * caller that knows that nobody closes the task meanwhile; tr_task_enter() is for others. Safe in a
 * signal handler. */
TR_API void *tr_task_arg(const struct tr_task *task, const void *kind);

#ifdef __cplusplus
}
#endif

#endif
