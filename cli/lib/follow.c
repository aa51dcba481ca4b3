/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/lib/follow.h"

#include "cli/lib/progress.h"
#include "cli/lib/signals.h"

/* How often a Ctrl-C is looked for and progress is pulled: as often as a bar is redrawn. */
#define LOOK_NS INT64_C(50000000)

struct follow {
    struct signals signals;
    struct progress progress;
};

static void show(struct follow *follow, const struct tr_task *task)
{
    struct tr_task_progress now = TR_TASK_PROGRESS_INIT;
    /* Before its first phase a task opens what it reads, which can take long too. */
    if (tr_task_progress(task, &now, NULL) == 0)
        progress_step(&follow->progress, now.phase[0] != '\0' ? now.phase : "starting", now.unit,
                      now.done, now.total);
}

static int follow_until_end(struct follow *follow, struct tr_task *task, struct tr_error *error)
{
    int rv;
    while ((rv = tr_task_wait(task, LOOK_NS, error)) == TR_ETIMEDOUT) {
        show(follow, task);
        /* Relaxed: the flag carries no other data. Cancelling twice is harmless. */
        if (atomic_load_explicit(&follow->signals.cancelled, memory_order_relaxed))
            tr_task_cancel(task);
    }
    /* Progress is shown once more, for what was done since the last look. */
    show(follow, task);
    return rv;
}

int follow_task(bool quiet, follow_start *start, const void *arg, struct tr_task **task,
                struct tr_error *error)
{
    struct follow follow;
    *task = NULL;
    progress_init(&follow.progress, quiet);
    int rv = signals_start(&follow.signals, NULL, NULL, NULL, NULL, error);
    if (rv != 0)
        return rv;
    rv = start(arg, task, error);
    if (rv == 0)
        rv = follow_until_end(&follow, *task, error);
    progress_end(&follow.progress);
    signals_stop(&follow.signals);
    return rv;
}
