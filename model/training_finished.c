/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run that is gone on with, and has come to its end before: what its folder tells is its result.
 *
 * The last line of a run's metrics is that of the test, which comes when the model is written. A run
 * without test nodes has none, so nothing tells that its model is the last one: it is trained again.
 */
#include "model/run_record.h"
#include "model/training.h"

static struct scores scores_from(const struct tr_scores *of)
{
    return (
        struct scores){ of->labelled, of->loss, of->accuracy, of->macro_f1, of->roc_auc, of->mrr };
}

static int recall_epochs(struct training *t, const struct run_record *run, struct error *error)
{
    int rv = 0;
    for (size_t i = 0; i < run->num_epochs && rv == 0; i++) {
        const struct run_epoch *epoch = &run->epochs[i];
        const struct epoch_report report = { .epoch = (uint32_t)epoch->epoch - 1,
                                             .steps = epoch->steps,
                                             .seeds = epoch->seeds,
                                             .rate = epoch->rate,
                                             .train_loss = epoch->train_loss,
                                             .evaluated = epoch->evaluated,
                                             .scores = scores_from(&epoch->validation),
                                             .best = epoch->best,
                                             .seconds = epoch->seconds };
        rv = training_add_epoch(t, &report);
    }
    return rv == 0 ? 0 : error_set(error, rv, "no memory for the results of %s", run->path);
}

static void recall_result(struct training *t, const struct run_record *run)
{
    const struct run_epoch *last = &run->epochs[run->num_epochs - 1];
    const struct run_epoch *best = run_record_best(run);
    const struct scores test = scores_from(&run->test);
    struct trainer_result result = { .epochs_run = (uint32_t)last->epoch,
                                     .stopped_early = last->epoch < t->config.model.epochs,
                                     .has_best = best != NULL,
                                     .last_train_loss = last->train_loss };
    if (best != NULL) {
        result.best_epoch = (uint32_t)best->epoch - 1;
        result.best = scores_from(&best->validation);
    }
    training_set_tested(t, &test);
    training_set_result(t, &result);
}

int training_recall_end(struct training *t, struct error *error)
{
    struct run_record run;
    /* The processes of a cluster begin together, and this one alone knows the folder. A folder that
     * can't be read is none that is complete: what is done next says what is wrong with it. */
    if (training_in_cluster(t) || run_record_open(&run, t->options.run, NULL) != 0)
        return 0;
    int rv = 0;
    if (run.tested && run_record_is_complete(&run)) {
        rv = recall_epochs(t, &run, error);
        if (rv == 0)
            recall_result(t, &run);
        t->ended_before = rv == 0;
    }
    run_record_close(&run);
    return rv;
}

void training_tell_end(struct training *t)
{
    task_events_say(&t->events, TR_MODEL_HEAD, 0,
                    "%s is complete after %u epochs: there is nothing left to train; give a larger "
                    "options.epochs to go on, or options.replace to begin anew",
                    t->options.run, t->result.epochs_run);
    training_say_trained(t, t->result.epochs_run);
}
