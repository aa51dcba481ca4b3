/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The operations of a training run: training_loop.c says which one comes next, this file performs
 * it.
 *
 * Invariants: between STEP and REDUCE the model holds the gradients of one batch, which no
 * checkpoint has: `at` counts a step, and has its loss, only behind REDUCE. `at` and the loop have
 * the same numbers whenever an operation begins. One that is tried again, after a timeout or a
 * refusal, finds `at` and `result` as they were: it adds to them only where it succeeds, or is gone
 * on without.
 */
#include "model/trainer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/labels.h"
#include "model/state.h"
#include "model/tensor.h"
#include "runtime/base/files.h"

/* A number of 64 bits travels through a sum of floats as digits of 16 bits: each is exact. */
#define DIGITS 4u

struct trainer {
    struct model *model;
    struct batch_source *source;
    const struct trainer_plan *plan;
    const struct trainer_hooks *hooks;
    struct trainer_result *result;
    struct tensor best_weights;
    struct training_loop loop;
    struct trainer_position at; /* what a checkpoint keeps; the loop's numbers follow the loop */
    struct loss_sum step_loss;  /* of the batch whose gradients are in the model */
    struct epoch_report report; /* of the epoch under way */
    uint64_t began_ns;
    enum training_wish wish; /* the largest of all trainers, as they know since the last sum */
    bool left;               /* the checkpoint of the end was made */
};

static uint32_t world_of(const struct trainer *trainer)
{
    return trainer->plan->world == 0 ? 1 : trainer->plan->world;
}

/* Everybody's numbers, by rank: all[world][count]. Each adds zero to the others' places. */
static int trainer_gather(struct trainer *trainer, const uint64_t *mine, size_t count,
                          uint64_t *all, struct error *error)
{
    size_t places = (size_t)world_of(trainer) * count;
    float *values = calloc(places * DIGITS, sizeof *values);
    if (values == NULL)
        return error_set(error, TR_ENOMEM, "training: out of memory");
    for (size_t i = 0; i < count * DIGITS; i++)
        values[trainer->plan->rank * count * DIGITS + i] = (float)(mine[i / DIGITS] >>
                                                                       (16 * (i % DIGITS)) &
                                                                   0xffff);
    int rc = trainer->hooks->reduce(trainer->hooks->arg, values, places * DIGITS, error);
    for (size_t p = 0; p < places && rc == 0; p++) {
        all[p] = 0;
        for (uint32_t d = 0; d < DIGITS; d++)
            all[p] |= (uint64_t)values[p * DIGITS + d] << (16 * d);
    }
    free(values);
    return rc;
}

static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static double value_of(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static enum training_wish wish_of(const struct trainer *trainer)
{
    const struct trainer_hooks *hooks = trainer->hooks;
    return hooks->wish == NULL ? TRAINING_GOES_ON : hooks->wish(hooks->arg);
}

/* The loss of all trainers, added in the order of ranks. */
static int sum_losses(struct trainer *trainer, struct loss_sum *total, struct error *error)
{
    uint64_t wish = wish_of(trainer);
    *total = trainer->at.loss;
    trainer->wish = (enum training_wish)wish;
    if (trainer->hooks->reduce == NULL)
        return 0;
    uint32_t world = world_of(trainer);
    const uint64_t mine[3] = { bits_of(total->sum), total->labelled, wish };
    uint64_t *all = calloc(world, sizeof mine);
    int rc = all == NULL ? error_set(error, TR_ENOMEM, "training: out of memory")
                         : trainer_gather(trainer, mine, 3, all, error);
    *total = (struct loss_sum){ 0 };
    for (uint32_t rank = 0; rank < world && rc == 0; rank++) {
        total->sum += value_of(all[3 * rank]);
        total->labelled += all[3 * rank + 1];
        wish = all[3 * rank + 2] > wish ? all[3 * rank + 2] : wish;
    }
    trainer->wish = (enum training_wish)wish;
    free(all);
    return rc;
}

/* Rank 0's scores, to all. */
static int share_scores(struct trainer *trainer, struct scores *scores, struct error *error)
{
    if (trainer->hooks->reduce == NULL)
        return 0;
    const uint64_t mine[6] = { scores->labelled,          bits_of(scores->loss),
                               bits_of(scores->accuracy), bits_of(scores->macro_f1),
                               bits_of(scores->roc_auc),  bits_of(scores->mrr) };
    uint64_t *all = calloc(world_of(trainer), sizeof mine);
    int rc = all == NULL ? error_set(error, TR_ENOMEM, "training: out of memory")
                         : trainer_gather(trainer, mine, 6, all, error);
    if (rc == 0)
        *scores = (struct scores){ all[0],           value_of(all[1]), value_of(all[2]),
                                   value_of(all[3]), value_of(all[4]), value_of(all[5]) };
    free(all);
    return rc;
}

static double mean_loss(const struct loss_sum *loss)
{
    return loss->labelled == 0 ? (double)NAN : loss->sum / (double)loss->labelled;
}

static void trainer_compute(const struct trainer *trainer, bool begins)
{
    if (trainer->hooks->computing != NULL)
        trainer->hooks->computing(trainer->hooks->arg, begins);
}

/* Takes the next batch, and leaves its gradients in the model. */
static int take_step(struct trainer *trainer, struct error *error)
{
    struct batch_source *source = trainer->source;
    const struct mini_batch *batch;
    const struct trainer_hooks *hooks = trainer->hooks;
    /* The wish to stop is asked for between two steps, before a batch is taken that would have to
     * be given back. */
    if (trainer->at.step > 0 && hooks->cancelled != NULL && hooks->cancelled(hooks->arg))
        return error_set(error, TR_ECANCELED, "training: cancelled in epoch %u",
                         trainer->at.epoch + 1);
    int rc = source->next(source, &batch, error);
    if (rc != 0)
        return rc;
    /* The wait for the batch lies outside of what is watched: it may be long without any fault. */
    trainer_compute(trainer, true);
    rc = model_step(trainer->model, batch, &trainer->step_loss, error);
    trainer_compute(trainer, false);
    if (rc == 0 && !isfinite(trainer->step_loss.sum))
        rc = error_set(error, TR_ERANGE,
                       "training: the loss of epoch %u step %llu is not finite; use a smaller "
                       "learning rate or scale the features",
                       batch->epoch + 1, (unsigned long long)batch->index + 1);
    /* The batch goes last: the text above names its step. */
    source->release(source, batch);
    return rc;
}

static int trainer_reduce(struct trainer *trainer, struct error *error)
{
    const struct trainer_hooks *hooks = trainer->hooks;
    size_t count;
    float *gradients = model_gradients(trainer->model, &count);
    int rc = 0;
    /* The wish of one to stop reaches all in the sum of one step, behind which they all save. */
    gradients[count] = training_wish_write(wish_of(trainer));
    if (hooks->reduce != NULL)
        rc = hooks->reduce(hooks->arg, gradients, count + 1, error);
    if (rc < 0)
        return rc;
    trainer->wish = training_wish_read(gradients[count]);
    /* The wait for other trainers lies outside of what is watched, too. */
    trainer_compute(trainer, true);
    model_apply(trainer->model, trainer->report.rate);
    trainer_compute(trainer, false);
    /* The loss counts with the step that is applied: a step that a rollback ends is taken again. */
    trainer->at.loss.sum += trainer->step_loss.sum;
    trainer->at.loss.labelled += trainer->step_loss.labelled;
    /* The hook comes when the step is applied: the loop counts it only behind this, so the number
     * is its own. */
    if (hooks->step_done != NULL)
        hooks->step_done(hooks->arg, trainer->at.epoch, trainer->at.step,
                         mean_loss(&trainer->at.loss));
    return 0;
}

static int trainer_save(struct trainer *trainer, struct error *error)
{
    const struct trainer_hooks *hooks = trainer->hooks;
    trainer->at.result = *trainer->result;
    trainer->at.mark = hooks->mark != NULL ? hooks->mark(hooks->arg) : 0;
    void *bytes;
    size_t count;
    /* The mark and the result are taken before: they travel in the bytes. */
    int rc = state_write(trainer->model, trainer->best_weights.data, &trainer->at,
                         trainer->plan->job, &bytes, &count);
    if (rc != 0)
        return error_set(error, rc, "training: no memory for a checkpoint");
    rc = hooks->save(hooks->arg, trainer->at.steps, bytes, count, error);
    free(bytes);
    trainer->left = rc == 0 && trainer->loop.leaving;
    if (trainer->left && hooks->left != NULL)
        hooks->left(hooks->arg, trainer->wish);
    return rc;
}

static uint64_t trainer_now(const struct trainer *trainer)
{
    const struct trainer_hooks *hooks = trainer->hooks;
    return hooks->now_ns == NULL ? 0 : hooks->now_ns(hooks->arg);
}

static int begin_epoch(struct trainer *trainer, struct error *error)
{
    struct batch_source *source = trainer->source;
    uint32_t epoch = trainer->at.epoch;
    trainer->report = (struct epoch_report){
        .epoch = epoch,
        .rate = model_config_rate(model_configuration(trainer->model), epoch),
        .scores = scores_none(),
    };
    trainer->began_ns = trainer_now(trainer);
    /* The loss of an epoch that is gone on with stays: it is that of the steps before. */
    if (trainer->at.step == 0) {
        trainer->at.loss = (struct loss_sum){ 0 };
        return source->start_epoch(source, epoch, error);
    }
    if (source->start_at == NULL)
        return error_set(error, TR_EUNSUPPORTED, "training: these batches begin with an epoch");
    return source->start_at(source, epoch, trainer->at.step, error);
}

static int sum_epoch(struct trainer *trainer, struct error *error)
{
    struct epoch_report *report = &trainer->report;
    struct loss_sum total;
    int rc = sum_losses(trainer, &total, error);
    report->steps = trainer->at.step;
    report->seeds = total.labelled;
    report->train_loss = mean_loss(&total);
    return rc;
}

static int trainer_evaluate_split(struct trainer *trainer, struct error *error)
{
    const struct trainer_hooks *hooks = trainer->hooks;
    if (trainer->plan->rank != 0)
        return 0;
    trainer_compute(trainer, true);
    int rc = hooks->evaluate(hooks->arg, trainer->model, &trainer->report.scores, error);
    trainer_compute(trainer, false);
    return rc;
}

/* The model comes first, for it is worth most. */
static int trainer_keep(struct trainer *trainer, struct error *error)
{
    const struct trainer_hooks *hooks = trainer->hooks;
    int rv = hooks->keep == NULL ? 0 : hooks->keep(hooks->arg, error);
    if (rv == 0 && hooks->test != NULL) {
        trainer_compute(trainer, true);
        rv = hooks->test(hooks->arg, error);
        trainer_compute(trainer, false);
    }
    if (rv == 0 && hooks->kept != NULL)
        rv = hooks->kept(hooks->arg, trainer->result, error);
    return rv;
}

/* All trainers know the scores, so all keep the same best weights and stop together. */
static int trainer_share(struct trainer *trainer, struct error *error)
{
    struct epoch_report *report = &trainer->report;
    struct trainer_result *result = trainer->result;
    int rc = share_scores(trainer, &report->scores, error);
    /* Where no node has a label no epoch is better than another: the last one's weights stay. */
    if (rc < 0 || report->scores.labelled == 0)
        return rc < 0 ? rc : 0;
    report->evaluated = true;
    /* The comparison stands before the result takes the new scores. */
    report->best = !result->has_best || scores_better(&report->scores, &result->best,
                                                      model_configuration(trainer->model)->metric);
    training_loop_scored(&trainer->loop, report->best);
    if (!report->best)
        return 0;
    result->has_best = true;
    result->best = report->scores;
    result->best_epoch = report->epoch;
    memcpy(trainer->best_weights.data, model_weights(trainer->model),
           trainer->best_weights.cols * sizeof(float));
    return 0;
}

static int report_epoch(struct trainer *trainer, struct error *error)
{
    const struct trainer_hooks *hooks = trainer->hooks;
    struct epoch_report *report = &trainer->report;
    if (hooks->now_ns != NULL)
        report->seconds = (double)(trainer_now(trainer) - trainer->began_ns) * 1e-9;
    trainer->result->epochs_run++;
    trainer->result->last_train_loss = report->train_loss;
    return hooks->epoch_done == NULL ? 0 : hooks->epoch_done(hooks->arg, report, error);
}

/* To the start, or to where the saved bytes were saved. */
static int trainer_restore(struct trainer *trainer, struct error *error)
{
    const struct trainer_plan *plan = trainer->plan;
    const struct trainer_hooks *hooks = trainer->hooks;
    const void *bytes = plan->saved;
    size_t count = plan->saved_count;
    int rc = 0;
    if (hooks->restore != NULL)
        rc = hooks->restore(hooks->arg, &bytes, &count, error);
    if (rc != 0)
        return rc;
    /* Everything is reset before the bytes are read: where there are none all begins anew. */
    *trainer->result = (struct trainer_result){ .last_train_loss = (double)NAN };
    trainer->at = (struct trainer_position){ 0 };
    if (bytes == NULL && hooks->restore != NULL)
        model_reset(trainer->model);
    if (bytes != NULL)
        rc = state_read(trainer->model, trainer->best_weights.data, &trainer->at, plan->job, bytes,
                        count, error);
    if (rc != 0)
        return rc;
    if (bytes != NULL)
        *trainer->result = trainer->at.result;
    const struct trainer_position *at = &trainer->at;
    const struct training_position position = {
        .epoch = at->epoch,
        .evaluations_since_best = at->evaluations_since_best,
        .step = at->step,
        .steps = at->steps,
        .has_best = trainer->result->has_best
    };
    /* The loop is notified last, of a success alone: a restore that was refused is tried again. */
    training_loop_restored(&trainer->loop, &position);
    return 0;
}

/* The model has the weights of the best evaluation, or the last ones where there is none. */
static void trainer_settle(struct trainer *trainer)
{
    trainer->result->stopped_early = trainer->loop.stopped_early;
    if (trainer->result->has_best)
        memcpy(model_weights(trainer->model), trainer->best_weights.data,
               trainer->best_weights.cols * sizeof(float));
}

static int trainer_perform(struct trainer *trainer, struct error *error)
{
    const struct trainer_hooks *hooks = trainer->hooks;
    switch (trainer->loop.operation) {
    case TRAINING_RESTORE:
        return trainer_restore(trainer, error);
    case TRAINING_REWIND:
        return hooks->rewind == NULL ? 0 : hooks->rewind(hooks->arg, trainer->at.mark, error);
    case TRAINING_BEGIN:
        return begin_epoch(trainer, error);
    case TRAINING_STEP:
        return take_step(trainer, error);
    case TRAINING_REDUCE:
        return trainer_reduce(trainer, error);
    case TRAINING_SAVE:
        return trainer_save(trainer, error);
    case TRAINING_SUM:
        return sum_epoch(trainer, error);
    case TRAINING_EVALUATE:
        return trainer_evaluate_split(trainer, error);
    case TRAINING_SHARE:
        return trainer_share(trainer, error);
    case TRAINING_KEEP_BEST:
        return hooks->keep_best(hooks->arg, trainer->model, trainer->best_weights.data, error);
    case TRAINING_REPORT:
        return report_epoch(trainer, error);
    case TRAINING_MEET:
        /* The best weights are put in place before others are waited for, so that KEEP finds them;
         * a barrier that is tried again does this once more, and a rollback reads others in. */
        trainer_settle(trainer);
        return hooks->meet == NULL ? 0 : hooks->meet(hooks->arg, error);
    case TRAINING_KEEP:
        return trainer_keep(trainer, error);
    default:
        return hooks->finish(hooks->arg, error);
    }
}

static uint64_t left_ns(const struct training_loop *loop, uint64_t now_ns)
{
    uint64_t since_ns = loop->refused ? now_ns - loop->refused_ns : 0;
    return since_ns < loop->plan.patience_ns ? loop->plan.patience_ns - since_ns : 0;
}

/* The trainers stop where each knows that the others are through. */
static void look_for_the_end(struct trainer *trainer)
{
    enum training_operation operation = trainer->loop.operation;
    bool summed = operation == TRAINING_REDUCE || operation == TRAINING_SUM;
    if (summed && trainer->wish != TRAINING_GOES_ON)
        training_loop_leave(&trainer->loop);
}

/* A run that stopped where it was asked to says what is left of it. */
static int trainer_leave(const struct trainer *trainer, struct error *error)
{
    if (!trainer->left)
        return error_set(error, TR_ECANCELED, "training: cancelled in epoch %u",
                         trainer->at.epoch + 1);
    return error_set(error, TR_ECANCELED,
                     "stopped in epoch %u, after the checkpoint of step %llu was made; continue "
                     "with options.resume",
                     trainer->at.epoch + 1, (unsigned long long)trainer->at.steps);
}

/* Performs the operation, and goes to the next. */
static void go_on(struct trainer *trainer, struct error *error)
{
    const struct trainer_hooks *hooks = trainer->hooks;
    struct training_loop *loop = &trainer->loop;
    /* The operation is kept for the hook: the loop goes on before it is called, since the hook is
     * notified of whether the run gives up. */
    enum training_operation operation = loop->operation;
    int rc = 0;
    *error = (struct error){ 0 };
    if (loop->wait_ns != 0 && hooks->wait != NULL && !hooks->wait(hooks->arg, loop->wait_ns))
        rc = error_set(error, TR_ECANCELED, "training: cancelled");
    if (rc == 0)
        rc = trainer_perform(trainer, error);
    if (rc == 0)
        look_for_the_end(trainer);
    uint64_t now_ns = trainer_now(trainer);
    training_loop_done(loop, rc, now_ns);
    if (files_is_refusal(rc) && hooks->refused != NULL)
        hooks->refused(hooks->arg, operation, left_ns(loop, now_ns),
                       loop->operation == TRAINING_FAILED, error);
    /* The numbers follow last, when the loop has moved: a checkpoint has those of steps that are
     * applied. */
    trainer->at.epoch = loop->at.epoch;
    trainer->at.evaluations_since_best = loop->at.evaluations_since_best;
    trainer->at.step = loop->at.step;
    trainer->at.steps = loop->at.steps;
}

int trainer_run(struct model *model, struct batch_source *source, const struct trainer_plan *plan,
                const struct trainer_hooks *hooks, struct trainer_result *result,
                struct error *error)
{
    static const struct trainer_hooks none = { 0 };
    struct error ignored;
    error = error != NULL ? error : &ignored;
    *result = (struct trainer_result){ .last_train_loss = (double)NAN };
    struct trainer trainer = { .model = model,
                               .source = source,
                               .plan = plan,
                               .hooks = hooks == NULL ? &none : hooks,
                               .result = result };
    hooks = trainer.hooks;
    const struct training_loop_plan loop = {
        .epochs = plan->epochs,
        .patience = plan->patience,
        .evaluate_every = plan->evaluate_every,
        .save_every = hooks->save == NULL ? 0 : plan->save_every,
        /* Without a clock it would never end. */
        .patience_ns = hooks->now_ns == NULL ? 0 : plan->patience_ns,
        .evaluates = hooks->evaluate != NULL,
        .keeps = hooks->keep_best != NULL,
        .grouped = plan->grouped,
        .finishes = hooks->finish != NULL,
    };
    int rc = tensor_resize(&trainer.best_weights, 1, model_params(model)->count);
    if (rc != 0)
        return error_set(error, rc, "training: no memory for the best weights");
    training_loop_init(&trainer.loop, &loop);
    while (trainer.loop.operation != TRAINING_DONE && trainer.loop.operation != TRAINING_FAILED)
        go_on(&trainer, error);
    tensor_fini(&trainer.best_weights);
    if (trainer.loop.operation == TRAINING_FAILED && trainer.loop.leaving &&
        trainer.loop.code == TR_ECANCELED)
        return trainer_leave(&trainer, error);
    return trainer.loop.operation == TRAINING_DONE ? 0 : trainer.loop.code;
}

static int score_batch(struct model *model, const struct mini_batch *batch, struct metrics *metrics,
                       struct error *error)
{
    const float *logits;
    int rc = model_forward(model, batch, &logits, error);
    if (rc != 0)
        return rc;
    const struct model_config *config = model_configuration(model);
    const struct batch_rows *labels = &batch->nodes->labels;
    size_t seeds = batch->nodes->num_seeds;
    rc = labels_check(labels, seeds, config, error);
    if (rc != 0)
        return rc;
    struct loss_sum loss;
    rc = loss_compute(config, model_parallel(model), logits, seeds, labels, 1, NULL, &loss);
    if (rc == 0)
        rc = metrics_add(metrics, logits, seeds, labels, &loss);
    return rc == 0 ? 0 : error_set(error, rc, "evaluation: out of memory");
}

int trainer_evaluate(struct model *model, struct batch_source *source, uint32_t epoch,
                     struct scores *scores, struct error *error)
{
    struct metrics metrics;
    int rc = metrics_init(&metrics, model_configuration(model));
    if (rc != 0)
        return error_set(error, rc, "evaluation: out of memory");
    rc = source->start_epoch(source, epoch, error);
    while (rc == 0) {
        const struct mini_batch *batch;
        rc = source->next(source, &batch, error);
        if (rc != 0)
            break;
        rc = score_batch(model, batch, &metrics, error);
        /* The batch is given back whether it was scored or not. */
        source->release(source, batch);
    }
    if (rc == TR_EEND) {
        metrics_result(&metrics, scores);
        rc = 0;
    }
    metrics_fini(&metrics);
    return rc;
}
