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

struct objective {
    /* That the batch has targets which fit, and belongs to a step that is large enough; ntype is the
     * type whose outputs count. TR_EMISMATCH, TR_ERANGE. */
    int (*check)(const struct model_config *config, const struct mini_batch *batch, uint32_t ntype,
                 struct error *error);
    /* outputs and grads [seeds][classes]. The gradient is of the sum divided by the seeds of the step.
     * TR_ENOMEM. */
    int (*loss)(const struct model_config *config, struct parallel *parallel, const float *outputs,
                const struct mini_batch *batch, uint32_t ntype, float *grads,
                struct loss_sum *result);
};

const struct objective *objective_of(const struct model_config *config);

#endif
