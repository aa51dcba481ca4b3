/* SPDX-License-Identifier: Apache-2.0 */
#include "model/objective.h"

#include "model/labels.h"
#include "model/link_loss.h"

static const struct batch_nodes *learned_nodes(const struct model_types *types,
                                               const struct mini_batch *batch)
{
    return &batch->nodes[types->targets[0]];
}

static int check_labels(const struct model_config *config, const struct model_types *types,
                        const struct mini_batch *batch, struct error *error)
{
    const struct batch_nodes *nodes = learned_nodes(types, batch);
    if (batch->step_seeds < nodes->num_seeds)
        return error_set(error, TR_EMISMATCH, "batch: %u seeds in a step of %u over all trainers",
                         nodes->num_seeds, batch->step_seeds);
    return labels_check(&nodes->labels, nodes->num_seeds, config, error);
}

static int learn_labels(const struct model_config *config, struct parallel *parallel,
                        const struct model_types *types, const struct mini_batch *batch,
                        const struct objective_rows *rows, struct loss_sum *result)
{
    const struct batch_nodes *nodes = learned_nodes(types, batch);
    return loss_compute(config, parallel, rows->outputs[0], nodes->num_seeds, &nodes->labels,
                        batch->step_seeds, rows->grads[0], result);
}

static uint32_t seeds_at(const struct model_types *types, const struct mini_batch *batch,
                         enum model_end end)
{
    return batch->nodes[types->targets[end]].num_seeds;
}

static int check_links(const struct model_config *config, const struct model_types *types,
                       const struct mini_batch *batch, struct error *error)
{
    (void)config;
    int rv = link_loss_check(batch, seeds_at(types, batch, MODEL_SOURCES),
                             seeds_at(types, batch, MODEL_DESTINATIONS), error);
    if (rv != 0)
        return rv;
    uint32_t etype = batch->pairs->etype;
    if (etype < types->num_etypes && types->etypes[etype].src == types->targets[MODEL_SOURCES] &&
        types->etypes[etype].dst == types->targets[MODEL_DESTINATIONS])
        return 0;
    return error_set(error, TR_EMISMATCH,
                     "batch: its pairs are of edge type %u, which the model has no outputs for",
                     etype);
}

static int learn_links(const struct model_config *config, struct parallel *parallel,
                       const struct model_types *types, const struct mini_batch *batch,
                       const struct objective_rows *rows, struct loss_sum *result)
{
    struct link_ends ends[MODEL_ENDS];
    for (enum model_end end = 0; end < MODEL_ENDS; end++)
        ends[end] = (struct link_ends){ rows->outputs[end], rows->grads[end],
                                        seeds_at(types, batch, end) };
    return link_loss_compute(parallel, &ends[MODEL_SOURCES], &ends[MODEL_DESTINATIONS],
                             config->classes, batch->pairs, batch->step_seeds, result);
}

const struct objective *objective_of(const struct model_config *config)
{
    static const struct objective objectives[] = {
        [MODEL_NODES] = { .check = check_labels, .loss = learn_labels },
        [MODEL_LINKS] = { .check = check_links, .loss = learn_links },
    };
    return &objectives[config->task];
}
