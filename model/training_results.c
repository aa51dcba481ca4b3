/* SPDX-License-Identifier: Apache-2.0 */
/* The results that are pulled of a training: its epochs, its result, and that this was passed
 * on. */
#include <math.h>
#include <stdlib.h>

#include "api/sized.h"
#include "model/public_scores.h"
#include "model/training.h"
#include "runtime/base/deadline.h"

/* A thread that waits to be confirmed polls this often whether the task is cancelled, and whether
 * there is memory for the event that asks for it. */
#define LOOK_NS 20000000

int training_add_epoch(struct training *t, const struct epoch_report *report)
{
    int rv = 0;
    pthread_mutex_lock(&t->mutex);
    /* Epochs of an era that was rolled back go first, so that the list stays ascending. */
    while (t->num_epochs > 0 && t->epochs[t->num_epochs - 1].epoch >= report->epoch)
        t->num_epochs--;
    if (t->num_epochs == t->room) {
        uint32_t room = t->room == 0 ? 16 : t->room * 2;
        struct epoch_report *epochs = reallocarray(t->epochs, room, sizeof *epochs);
        t->epochs = epochs != NULL ? epochs : t->epochs;
        t->room = epochs != NULL ? room : t->room;
        rv = epochs != NULL ? 0 : TR_ENOMEM;
    }
    if (rv == 0)
        t->epochs[t->num_epochs++] = *report;
    pthread_mutex_unlock(&t->mutex);
    return rv;
}

void training_set_tested(struct training *t, const struct scores *scores)
{
    pthread_mutex_lock(&t->mutex);
    t->test_scores = *scores;
    t->tested = true;
    pthread_mutex_unlock(&t->mutex);
}

void training_forget_end(struct training *t)
{
    pthread_mutex_lock(&t->mutex);
    t->tested = t->done = t->test_appended = false;
    pthread_mutex_unlock(&t->mutex);
}

void training_set_result(struct training *t, const struct trainer_result *result)
{
    pthread_mutex_lock(&t->mutex);
    t->result = *result;
    t->done = true;
    pthread_mutex_unlock(&t->mutex);
}

void training_ask_confirmed(struct training *t, uint32_t epochs)
{
    bool asked = task_events_ask(&t->events, TR_MODEL_TRAINED, epochs);
    pthread_mutex_lock(&t->mutex);
    while (!(asked && t->confirmed) && !tr_task_is_cancelled(t->task)) {
        const struct deadline look = deadline_after(LOOK_NS);
        (void)deadline_wait(&look, &t->changed, &t->mutex);
        asked = asked || task_events_ask(&t->events, TR_MODEL_TRAINED, epochs);
    }
    t->confirmed = false; /* the job may go back, and then ends once more */
    pthread_mutex_unlock(&t->mutex);
}

/* Begins a call on a task that trains; tr_task_leave() ends it. */
static int enter(const struct tr_task *task, struct training **t, struct tr_error *error)
{
    void *arg;
    int rv = tr_task_enter(task, &train_task_kind, &arg, error);
    *t = arg;
    return rv == TR_EINVAL ? tr_error_set(error, rv, "the task does not train") : rv;
}

int tr_train_confirm(struct tr_task *task, struct tr_error *error)
{
    struct training *t;
    int rv = enter(task, &t, error);
    if (rv != 0)
        return rv;
    pthread_mutex_lock(&t->mutex);
    t->confirmed = true;
    pthread_cond_broadcast(&t->changed);
    pthread_mutex_unlock(&t->mutex);
    tr_task_leave(task);
    return 0;
}

int tr_train_get_epoch(const struct tr_task *task, uint32_t epoch, struct tr_train_epoch *result,
                       struct tr_scores *validation, struct tr_error *error)
{
    struct epoch_report report = { 0 };
    struct training *t;
    int rv = enter(task, &t, error);
    if (rv != 0)
        return rv;
    pthread_mutex_lock(&t->mutex);
    bool known = false;
    for (uint32_t i = 0; i < t->num_epochs && !known; i++) {
        known = t->epochs[i].epoch == epoch;
        report = known ? t->epochs[i] : report;
    }
    pthread_mutex_unlock(&t->mutex);
    /* The task is left before the caller's structs are filled, which is done from copies. */
    tr_task_leave(task);
    if (!known)
        return tr_error_set(error, TR_EEND, "epoch %u has not been trained", epoch);
    const struct tr_train_epoch shown = { .size = sizeof shown,
                                          .epoch = report.epoch,
                                          .steps = report.steps,
                                          .seeds = report.seeds,
                                          .rate = report.rate,
                                          .train_loss = report.train_loss,
                                          .seconds = report.seconds,
                                          .evaluated = report.evaluated,
                                          .best = report.best };
    rv = sized_write(result, &shown, sizeof shown, "tr_train_epoch", error);
    return rv == 0 ? public_scores_write(validation, &report.scores, error) : rv;
}

int tr_train_get_result(const struct tr_task *task, struct tr_train_result *result,
                        struct tr_scores *validation, struct tr_scores *test_scores,
                        struct tr_error *error)
{
    const struct scores unknown = scores_none();
    struct training *t;
    int rv = enter(task, &t, error);
    if (rv != 0)
        return rv;
    pthread_mutex_lock(&t->mutex);
    bool done = t->done, tested = t->tested;
    struct trainer_result found = t->result;
    struct scores tested_as = tested ? t->test_scores : unknown;
    pthread_mutex_unlock(&t->mutex);
    /* The task is left before the caller's structs are filled, which is done from copies. */
    tr_task_leave(task);
    if (!done)
        return tr_error_set(error, TR_EEND, "the task has not trained to its end");
    const struct tr_train_result shown = { .size = sizeof shown,
                                           .epochs = found.epochs_run,
                                           .stopped_early = found.stopped_early,
                                           .has_best = found.has_best,
                                           .best_epoch = found.best_epoch,
                                           .tested = tested,
                                           .train_loss = found.last_train_loss };
    rv = sized_write(result, &shown, sizeof shown, "tr_train_result", error);
    if (rv == 0)
        rv = public_scores_write(validation, found.has_best ? &found.best : &unknown, error);
    return rv == 0 ? public_scores_write(test_scores, &tested_as, error) : rv;
}
