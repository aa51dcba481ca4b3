/* SPDX-License-Identifier: Apache-2.0 */
#include "model/state.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/optimiser.h"

#define STATE_MAGIC UINT64_C(0x3165746174735254) /* "TRstate1" */

/* Fixed at this size and without padding, little-endian like all machines that it is built for. */
struct state_head {
    uint64_t magic;
    uint64_t job;
    uint64_t params;
    uint64_t has_best;
    uint64_t epoch, step, steps, mark;
    uint64_t loss_labelled;
    double loss_sum;
    uint64_t evaluations_since_best;
    uint64_t epochs_run, best_epoch;
    uint64_t best_labelled;
    double best_loss, best_accuracy, best_macro_f1, best_roc_auc;
    double last_train_loss;
    uint64_t optimiser_steps;
    double beta1_power, beta2_power;
};
_Static_assert(sizeof(struct state_head) == STATE_HEAD_BYTES, "the head is written as it lies");

/* Weights, two moments, and the best weights where there are some. */
static size_t count_arrays(const struct state_head *head)
{
    return head->has_best != 0 ? 4 : 3;
}

/* What models of links have beside that: the best MRR. */
static size_t count_extra(const struct model *model)
{
    return model_configuration(model)->task == MODEL_LINKS ? sizeof(double) : 0;
}

static void fill_head(struct state_head *head, struct model *model,
                      const struct trainer_position *p, uint64_t job)
{
    const struct optimiser *optimiser = model_optimiser_state(model);
    const struct scores *best = &p->result.best;
    *head = (struct state_head){
        .magic = STATE_MAGIC,
        .job = job,
        .params = model_params(model)->count,
        .has_best = p->result.has_best,
        .epoch = p->epoch,
        .step = p->step,
        .steps = p->steps,
        .mark = p->mark,
        .loss_labelled = p->loss.labelled,
        .loss_sum = p->loss.sum,
        .evaluations_since_best = p->evaluations_since_best,
        .epochs_run = p->result.epochs_run,
        .best_epoch = p->result.best_epoch,
        .best_labelled = best->labelled,
        .best_loss = best->loss,
        .best_accuracy = best->accuracy,
        .best_macro_f1 = best->macro_f1,
        .best_roc_auc = best->roc_auc,
        .last_train_loss = p->result.last_train_loss,
        .optimiser_steps = optimiser->steps,
        .beta1_power = optimiser->beta1_power,
        .beta2_power = optimiser->beta2_power,
    };
}

int state_write(struct model *model, const float *best, const struct trainer_position *position,
                uint64_t job, void **bytes, size_t *count)
{
    const struct optimiser *optimiser = model_optimiser_state(model);
    struct state_head head;
    fill_head(&head, model, position, job);
    size_t array = (size_t)head.params * sizeof(float);
    *count = sizeof head + count_arrays(&head) * array + count_extra(model);
    char *to = *bytes = malloc(*count);
    if (to == NULL)
        return TR_ENOMEM;
    memcpy(to, &head, sizeof head);
    to += sizeof head;
    memcpy(to, model_weights(model), array);
    memcpy(to + array, optimiser->first.data, array);
    memcpy(to + 2 * array, optimiser->second.data, array);
    if (head.has_best != 0)
        memcpy(to + 3 * array, best, array);
    memcpy(to + count_arrays(&head) * array, &position->result.best.mrr, count_extra(model));
    return 0;
}

static int check(const struct state_head *head, const struct model *model, uint64_t job,
                 size_t count, struct error *error)
{
    uint64_t params = model_params(model)->count;
    if (head->magic != STATE_MAGIC)
        return error_set(error, TR_EFORMAT,
                         "a trainer of another version wrote the checkpoint; go on with that "
                         "version, or begin anew");
    if (head->job != job || head->params != params)
        return error_set(
            error, TR_EMISMATCH,
            "a run with other options, trainers, deal or graph wrote the checkpoint; give the same "
            "to go on, or begin anew with options.replace on every host or in another folder");
    if (head->has_best > 1 || head->epoch > UINT32_MAX || head->best_epoch > UINT32_MAX ||
        head->epochs_run > UINT32_MAX || head->evaluations_since_best > UINT32_MAX ||
        count - sizeof *head != count_arrays(head) * params * sizeof(float) + count_extra(model))
        return error_set(error, TR_EFORMAT, "the checkpoint's head does not fit its %zu bytes",
                         count);
    return 0;
}

static void restore_position(const struct state_head *head, struct trainer_position *p)
{
    *p = (struct trainer_position){
        .epoch = (uint32_t)head->epoch,
        .evaluations_since_best = (uint32_t)head->evaluations_since_best,
        .step = head->step,
        .steps = head->steps,
        .mark = head->mark,
        .loss = { head->loss_sum, head->loss_labelled },
        .result = { .epochs_run = (uint32_t)head->epochs_run,
                    .has_best = head->has_best != 0,
                    .best_epoch = (uint32_t)head->best_epoch,
                    .best = { head->best_labelled, head->best_loss, head->best_accuracy,
                              head->best_macro_f1, head->best_roc_auc, (double)NAN },
                    .last_train_loss = head->last_train_loss },
    };
}

int state_read(struct model *model, float *best, struct trainer_position *position, uint64_t job,
               const void *bytes, size_t count, struct error *error)
{
    struct state_head head;
    if (count < sizeof head)
        return error_set(error, TR_EFORMAT, "the checkpoint has only %zu bytes", count);
    memcpy(&head, bytes, sizeof head);
    /* The head is checked whole before anything of the model changes. */
    int rc = check(&head, model, job, count, error);
    if (rc != 0)
        return rc;
    struct optimiser *optimiser = model_optimiser_state(model);
    const char *from = (const char *)bytes + sizeof head;
    size_t array = (size_t)head.params * sizeof(float);
    memcpy(model_weights(model), from, array);
    memcpy(optimiser->first.data, from + array, array);
    memcpy(optimiser->second.data, from + 2 * array, array);
    if (head.has_best != 0)
        memcpy(best, from + 3 * array, array);
    optimiser->steps = head.optimiser_steps;
    optimiser->beta1_power = head.beta1_power;
    optimiser->beta2_power = head.beta2_power;
    restore_position(&head, position);
    memcpy(&position->result.best.mrr, from + count_arrays(&head) * array, count_extra(model));
    return 0;
}

int state_look(const void *bytes, struct state_facts *facts)
{
    struct state_head head;
    memcpy(&head, bytes, sizeof head);
    if (head.magic != STATE_MAGIC)
        return TR_EFORMAT;
    *facts = (struct state_facts){ head.job, head.params, head.epoch, head.step, head.steps };
    return 0;
}
