/* SPDX-License-Identifier: Apache-2.0 */
#include "model/objective.h"

#include "model/labels.h"
#include "model/link_loss.h"

static int check_labels(const struct model_config *config, const struct mini_batch *batch,
                        uint32_t ntype, struct error *error)
{
    const struct batch_nodes *nodes = &batch->nodes[ntype];
    if (batch->step_seeds < nodes->num_seeds)
        return error_set(error, TR_EMISMATCH, "batch: %u seeds in a step of %u over all trainers",
                         nodes->num_seeds, batch->step_seeds);
    return labels_check(&nodes->labels, nodes->num_seeds, config, error);
}

static int learn_labels(const struct model_config *config, struct parallel *parallel,
                        const float *outputs, const struct mini_batch *batch, uint32_t ntype,
                        float *grads, struct loss_sum *result)
{
    const struct batch_nodes *nodes = &batch->nodes[ntype];
    return loss_compute(config, parallel, outputs, nodes->num_seeds, &nodes->labels,
                        batch->step_seeds, grads, result);
}

static int check_links(const struct model_config *config, const struct mini_batch *batch,
                       uint32_t ntype, struct error *error)
{
    (void)config;
    return link_loss_check(batch, batch->nodes[ntype].num_seeds, error);
}

static int learn_links(const struct model_config *config, struct parallel *parallel,
                       const float *outputs, const struct mini_batch *batch, uint32_t ntype,
                       float *grads, struct loss_sum *result)
{
    return link_loss_compute(parallel, outputs, batch->nodes[ntype].num_seeds, config->classes,
                             batch->pairs, batch->step_seeds, grads, result);
}

const struct objective *objective_of(const struct model_config *config)
{
    static const struct objective objectives[] = {
        [MODEL_NODES] = { .check = check_labels, .loss = learn_labels },
        [MODEL_LINKS] = { .check = check_links, .loss = learn_links },
    };
    return &objectives[config->task];
}
