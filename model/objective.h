/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a model learns: of a batch, which targets its outputs are held to, and by which loss. A model of
 * nodes learns the labels of the seeds (loss.h), a model of links which pairs of seeds are edges
 * (link_loss.h).
 *
 * Thread rules: those of the loss.
 */
#ifndef MODEL_OBJECTIVE_H
#define MODEL_OBJECTIVE_H

#include "graph/batch.h"
#include "model/loss.h"
#include "model/model_config.h"
#include "runtime/base/error.h"
#include "runtime/base/parallel.h"

/* Rows of the seeds of each target of the model's types, [seeds][classes]: where both ends have one
 * type, their rows are the same. */
struct objective_rows {
    const float *outputs[MODEL_ENDS];
    float *grads[MODEL_ENDS];
};

struct objective {
    /* That the batch has what is learned, and belongs to a step that is large enough. TR_EMISMATCH,
     * TR_ERANGE. */
    int (*check)(const struct model_config *config, const struct model_types *types,
                 const struct mini_batch *batch, struct error *error);
    /* The gradient is of the sum divided by the seeds of the step. TR_ENOMEM. */
    int (*loss)(const struct model_config *config, struct parallel *parallel,
                const struct model_types *types, const struct mini_batch *batch,
                const struct objective_rows *rows, struct loss_sum *result);
};

const struct objective *objective_of(const struct model_config *config);

#endif
