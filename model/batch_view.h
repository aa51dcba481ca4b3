/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A batch of the public API as the kernels of the models read it.
 *
 * The models take graphs with one node type and one edge type; of a batch with more, these are
 * shown, and the counts of types tell the model that it is not its own.
 *
 * Ownership: a view, which is valid as long as the batch is. Thread rules: one thread fills it.
 */
#ifndef MODEL_BATCH_VIEW_H
#define MODEL_BATCH_VIEW_H

#include <troupe/batch.h>

#include "graph/batch.h"

struct batch_view {
    struct mini_batch batch;
    struct batch_nodes nodes;
    struct block blocks[BATCH_LAYERS_MAX];
    struct block_edges edges[BATCH_LAYERS_MAX];
    uint32_t num_src[BATCH_LAYERS_MAX];
    uint32_t num_dst[BATCH_LAYERS_MAX];
    struct batch_table weights[BATCH_LAYERS_MAX];
};

/* weights: the number of the batch's table of weights of edges (tr_batch_table()), or
 * BATCH_VIEW_NO_TABLE. */
#define BATCH_VIEW_NO_TABLE UINT32_MAX
const struct mini_batch *batch_view_make(struct batch_view *view, const struct tr_batch *batch,
                                         uint32_t weights);

#endif
