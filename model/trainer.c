#include "model/trainer.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "model/labels.h"
#include "model/tensor.h"

struct trainer {
    struct model *model;
    struct batch_source *source;
    const struct trainer_plan *plan;
    const struct trainer_hooks *hooks;
    struct trainer_result *result;
    struct tensor best_weights;
    uint32_t evaluations_since_best;
};

static int one_step(struct trainer *trainer, const struct mini_batch *batch, double rate,
                    struct loss_sum *total, struct error *error)
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
    total->sum += loss.sum;
    total->labelled += loss.labelled;
    return 0;
}

static int run_steps(struct trainer *trainer, struct epoch_report *report, struct error *error)
{
    const struct trainer_hooks *hooks = trainer->hooks;
    struct loss_sum total = { 0 };
    int rc = trainer->source->start_epoch(trainer->source, report->epoch, error);
    while (rc == 0) {
        const struct mini_batch *batch;
        rc = trainer->source->next(trainer->source, &batch, error);
        if (rc != 0)
            break;
        rc = one_step(trainer, batch, report->rate, &total, error);
        trainer->source->release(trainer->source, batch);
        if (rc == 0 && hooks->step_done != NULL)
            hooks->step_done(hooks->arg, report->epoch, report->steps);
        report->steps += rc == 0;
        if (rc == 0 && hooks->cancelled != NULL && hooks->cancelled(hooks->arg))
            rc = error_set(error, TR_ECANCELED, "training: cancelled in epoch %u", report->epoch);
    }
    report->seeds = total.labelled;
    report->train_loss = total.labelled == 0 ? (double)NAN : total.sum / (double)total.labelled;
    return rc == TR_EEND ? 0 : rc;
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
    int rc = hooks->evaluate(hooks->arg, trainer->model, &report->scores, error);
    if (rc < 0)
        return rc;
    report->evaluated = true;
    report->best = !result->has_best ||
                   scores_better(&report->scores, &result->best,
                                 model_configuration(trainer->model)->metric);
    trainer->evaluations_since_best = report->best ? 0 : trainer->evaluations_since_best + 1;
    if (!report->best)
        return 0;
    result->has_best = true;
    result->best = report->scores;
    result->best_epoch = report->epoch;
    memcpy(trainer->best_weights.data, model_weights(trainer->model),
           trainer->best_weights.cols * sizeof(float));
    return 0;
}

static int run_epoch(struct trainer *trainer, uint32_t epoch, struct error *error)
{
    const struct trainer_hooks *hooks = trainer->hooks;
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
    if (hooks->epoch_done != NULL)
        rc = hooks->epoch_done(hooks->arg, &report, error);
    return rc < 0 ? rc : 0;
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
    int rc = tensor_resize(&trainer.best_weights, 1, model_params(model)->count);
    if (rc != 0)
        return error_set(error, rc, "training: no memory for the best weights");
    for (uint32_t epoch = plan->first_epoch; rc == 0 && epoch < plan->epochs; epoch++) {
        rc = run_epoch(&trainer, epoch, error);
        if (plan->patience > 0 && trainer.evaluations_since_best >= plan->patience) {
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
