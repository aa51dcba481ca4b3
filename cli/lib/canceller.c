/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/lib/canceller.h"

/* On the signal thread, under the mutex, so that the task is not closed meanwhile. */
static void fire(void *arg)
{
    struct canceller *canceller = arg;
    pthread_mutex_lock(&canceller->mutex);
    /* The signal is kept where there is no task yet (a cancel of none does nothing):
     * canceller_watch() passes it on. */
    canceller->fired = true;
    tr_task_cancel(canceller->task);
    pthread_mutex_unlock(&canceller->mutex);
}

/* The same. */
static void dump(void *arg)
{
    struct canceller *canceller = arg;
    pthread_mutex_lock(&canceller->mutex);
    if (canceller->task != NULL)
        canceller->on_dump(canceller->task);
    pthread_mutex_unlock(&canceller->mutex);
}

int canceller_begin(struct canceller *canceller, void (*on_dump)(struct tr_task *task),
                    struct tr_log_file *log, struct tr_error *error)
{
    pthread_mutex_init(&canceller->mutex, NULL);
    canceller->on_dump = on_dump;
    canceller->fired = false;
    canceller->task = NULL;
    /* The signals start last: from here on their thread reads all of this. */
    int rv = signals_start(&canceller->signals, fire, on_dump != NULL ? dump : NULL, canceller, log,
                           error);
    if (rv != 0)
        pthread_mutex_destroy(&canceller->mutex);
    return rv;
}

void canceller_end(struct canceller *canceller)
{
    /* The thread of signals ends before the mutex that it takes. */
    signals_stop(&canceller->signals);
    pthread_mutex_destroy(&canceller->mutex);
}

void canceller_watch(struct canceller *canceller, struct tr_task *task)
{
    pthread_mutex_lock(&canceller->mutex);
    /* The task is set and the flag is read in one hold of the mutex: a signal that came before
     * is found here, one that comes afterwards finds the task. */
    canceller->task = task;
    if (canceller->fired)
        tr_task_cancel(task);
    pthread_mutex_unlock(&canceller->mutex);
}
