#include "model/trainer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/labels.h"
#include "model/state.h"
#include "model/tensor.h"

/* A number of 64 bits travels through a sum of floats as digits of 16 bits: each is exact. */
#define DIGITS 4u

struct trainer {
    struct model *model;
    struct batch_source *source;
    const struct trainer_plan *plan;
    const struct trainer_hooks *hooks;
    struct trainer_result *result;
    struct tensor best_weights;
    struct trainer_position at;
};

static uint32_t world_of(const struct trainer *trainer)
{
    return trainer->plan->world == 0 ? 1 : trainer->plan->world;
}

/* Everybody's numbers, by rank: all[world][count]. Each adds zero to the others' places. */
static int gather(struct trainer *trainer, const uint64_t *mine, size_t count, uint64_t *all,
                  struct error *error)
{
    size_t places = (size_t)world_of(trainer) * count;
    float *values = calloc(places * DIGITS, sizeof *values);
    if (values == NULL)
        return error_set(error, TR_ENOMEM, "training: out of memory");
    for (size_t i = 0; i < count * DIGITS; i++)
        values[trainer->plan->rank * count * DIGITS + i] =
            (float)(mine[i / DIGITS] >> (16 * (i % DIGITS)) & 0xffff);
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

/* The loss of all trainers, added in the order of ranks. */
static int sum_losses(struct trainer *trainer, struct loss_sum *total, struct error *error)
{
    *total = trainer->at.loss;
    if (trainer->hooks->reduce == NULL)
        return 0;
    uint32_t world = world_of(trainer);
    const uint64_t mine[2] = { bits_of(total->sum), total->labelled };
    uint64_t *all = calloc(world, sizeof mine);
    int rc = all == NULL ? error_set(error, TR_ENOMEM, "training: out of memory")
                         : gather(trainer, mine, 2, all, error);
    *total = (struct loss_sum){ 0 };
    for (uint32_t rank = 0; rank < world && rc == 0; rank++) {
        total->sum += value_of(all[2 * rank]);
        total->labelled += all[2 * rank + 1];
    }
    free(all);
    return rc;
}

/* Rank 0's scores, to all. */
static int share_scores(struct trainer *trainer, struct scores *scores, struct error *error)
{
    if (trainer->hooks->reduce == NULL)
        return 0;
    const uint64_t mine[5] = { scores->labelled, bits_of(scores->loss), bits_of(scores->accuracy),
                               bits_of(scores->macro_f1), bits_of(scores->roc_auc) };
    uint64_t *all = calloc(world_of(trainer), sizeof mine);
    int rc = all == NULL ? error_set(error, TR_ENOMEM, "training: out of memory")
                         : gather(trainer, mine, 5, all, error);
    if (rc == 0)
        *scores = (struct scores){ all[0], value_of(all[1]), value_of(all[2]), value_of(all[3]),
                                   value_of(all[4]) };
    free(all);
    return rc;
}

static int one_step(struct trainer *trainer, const struct mini_batch *batch, double rate,
                    struct error *error)
{
    struct loss_sum loss;
    int rc = model_step(trainer->model, batch, &loss, error);
    if (rc != 0)
        return rc;
    if (!isfinite(loss.sum))
        return error_set(error, TR_ERANGE,
                         "training: the loss of epoch %u step %llu is not finite; use a smaller "
                         "learning rate or scale the features",
                         batch->epoch, (unsigned long long)batch->index);
    size_t count;
    float *gradients = model_gradients(trainer->model, &count);
    const struct trainer_hooks *hooks = trainer->hooks;
    if (hooks->reduce != NULL)
        rc = hooks->reduce(hooks->arg, gradients, count, error);
    if (rc < 0)
        return rc;
    model_apply(trainer->model, rate);
    trainer->at.loss.sum += loss.sum;
    trainer->at.loss.labelled += loss.labelled;
    trainer->at.step++;
    trainer->at.steps++;
    return 0;
}

static int save_if_due(struct trainer *trainer, struct error *error)
{
    const struct trainer_hooks *hooks = trainer->hooks;
    uint64_t every = trainer->plan->save_every;
    if (every == 0 || hooks->save == NULL || trainer->at.steps % every != 0)
        return 0;
    trainer->at.result = *trainer->result;
    trainer->at.mark = hooks->mark != NULL ? hooks->mark(hooks->arg) : 0;
    void *bytes;
    size_t count;
    int rc = state_write(trainer->model, trainer->best_weights.data, &trainer->at,
                         trainer->plan->job, &bytes, &count);
    if (rc != 0)
        return error_set(error, rc, "training: no memory for a checkpoint");
    rc = hooks->save(hooks->arg, trainer->at.steps, bytes, count, error);
    free(bytes);
    return rc;
}

static int start_source(struct trainer *trainer, struct error *error)
{
    struct batch_source *source = trainer->source;
    if (trainer->at.step == 0)
        return source->start_epoch(source, trainer->at.epoch, error);
    if (source->start_at == NULL)
        return error_set(error, TR_EUNSUPPORTED, "training: these batches begin with an epoch");
    return source->start_at(source, trainer->at.epoch, trainer->at.step, error);
}

static int run_steps(struct trainer *trainer, struct epoch_report *report, struct error *error)
{
    const struct trainer_hooks *hooks = trainer->hooks;
    int rc = start_source(trainer, error);
    while (rc == 0) {
        const struct mini_batch *batch;
        rc = trainer->source->next(trainer->source, &batch, error);
        if (rc != 0)
            break;
        rc = one_step(trainer, batch, report->rate, error);
        trainer->source->release(trainer->source, batch);
        if (rc == 0 && hooks->step_done != NULL)
            hooks->step_done(hooks->arg, report->epoch, trainer->at.step - 1);
        if (rc == 0)
            rc = save_if_due(trainer, error);
        if (rc == 0 && hooks->cancelled != NULL && hooks->cancelled(hooks->arg))
            rc = error_set(error, TR_ECANCELED, "training: cancelled in epoch %u", report->epoch);
    }
    struct loss_sum total = { 0 };
    report->steps = trainer->at.step;
    rc = rc == TR_EEND ? sum_losses(trainer, &total, error) : rc;
    report->seeds = total.labelled;
    report->train_loss = total.labelled == 0 ? (double)NAN : total.sum / (double)total.labelled;
    return rc;
}

static bool is_due(const struct trainer_plan *plan, uint32_t epoch)
{
    uint32_t every = plan->evaluate_every == 0 ? 1 : plan->evaluate_every;
    return epoch + 1 == plan->epochs || (epoch + 1) % every == 0;
}

static int evaluate(struct trainer *trainer, struct epoch_report *report, struct error *error)
{
    const struct trainer_hooks *hooks = trainer->hooks;
    struct trainer_result *result = trainer->result;
    double none = (double)NAN;
    report->scores = (struct scores){ 0, none, none, none, none };
    if (hooks->evaluate == NULL || !is_due(trainer->plan, report->epoch))
        return 0;
    int rc = trainer->plan->rank == 0
                 ? hooks->evaluate(hooks->arg, trainer->model, &report->scores, error)
                 : 0;
    if (rc == 0)
        rc = share_scores(trainer, &report->scores, error);
    if (rc < 0)
        return rc;
    report->evaluated = true;
    report->best = !result->has_best ||
                   scores_better(&report->scores, &result->best,
                                 model_configuration(trainer->model)->metric);
    trainer->at.evaluations_since_best =
        report->best ? 0 : trainer->at.evaluations_since_best + 1;
    if (!report->best)
        return 0;
    result->has_best = true;
    result->best = report->scores;
    result->best_epoch = report->epoch;
    memcpy(trainer->best_weights.data, model_weights(trainer->model),
           trainer->best_weights.cols * sizeof(float));
    return 0;
}

static int run_epoch(struct trainer *trainer, struct error *error)
{
    const struct trainer_hooks *hooks = trainer->hooks;
    uint32_t epoch = trainer->at.epoch;
    struct epoch_report report = {
        .epoch = epoch, .rate = model_config_rate(model_configuration(trainer->model), epoch)
    };
    uint64_t start = hooks->now_ns == NULL ? 0 : hooks->now_ns(hooks->arg);
    int rc = run_steps(trainer, &report, error);
    if (rc == 0)
        rc = evaluate(trainer, &report, error);
    if (rc != 0)
        return rc;
    if (hooks->now_ns != NULL)
        report.seconds = (double)(hooks->now_ns(hooks->arg) - start) * 1e-9;
    trainer->result->epochs_run++;
    trainer->result->last_train_loss = report.train_loss;
    trainer->at.epoch++;
    trainer->at.step = 0;
    trainer->at.loss = (struct loss_sum){ 0 };
    if (hooks->epoch_done != NULL)
        rc = hooks->epoch_done(hooks->arg, &report, error);
    return rc < 0 ? rc : 0;
}

/* To the start, or to where the saved bytes were saved. */
static int begin(struct trainer *trainer, struct error *error)
{
    const struct trainer_plan *plan = trainer->plan;
    const struct trainer_hooks *hooks = trainer->hooks;
    int rc = tensor_resize(&trainer->best_weights, 1, model_params(trainer->model)->count);
    if (rc != 0)
        return error_set(error, rc, "training: no memory for the best weights");
    if (plan->saved != NULL)
        rc = state_read(trainer->model, trainer->best_weights.data, &trainer->at, plan->job,
                        plan->saved, plan->saved_count, error);
    if (rc == 0 && plan->saved != NULL)
        *trainer->result = trainer->at.result;
    if (rc == 0 && hooks->rewind != NULL)
        rc = hooks->rewind(hooks->arg, trainer->at.mark, error);
    return rc;
}

int trainer_run(struct model *model, struct batch_source *source, const struct trainer_plan *plan,
                const struct trainer_hooks *hooks, struct trainer_result *result,
                struct error *error)
{
    static const struct trainer_hooks none = { 0 };
    *result = (struct trainer_result){ .last_train_loss = (double)NAN };
    struct trainer trainer = { .model = model,
                               .source = source,
                               .plan = plan,
                               .hooks = hooks == NULL ? &none : hooks,
                               .result = result };
    int rc = begin(&trainer, error);
    while (rc == 0 && trainer.at.epoch < plan->epochs) {
        rc = run_epoch(&trainer, error);
        if (plan->patience > 0 && trainer.at.evaluations_since_best >= plan->patience) {
            result->stopped_early = true;
            break;
        }
    }
    if (rc == 0 && result->has_best)
        memcpy(model_weights(model), trainer.best_weights.data,
               trainer.best_weights.cols * sizeof(float));
    tensor_fini(&trainer.best_weights);
    return rc;
}

static int score_batch(struct model *model, const struct mini_batch *batch,
                       struct metrics *metrics, struct error *error)
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
        source->release(source, batch);
    }
    if (rc == TR_EEND) {
        metrics_result(&metrics, scores);
        rc = 0;
    }
    metrics_fini(&metrics);
    return rc;
}
