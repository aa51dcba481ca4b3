/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A batch of the public API as the kernels of the models read it.
 *
 * Ownership: a view, which is valid as long as the batch is, in memory that is kept for the next one;
 * batch_view_fini() frees it. All zero: empty. Thread rules: one thread fills it.
 */
#ifndef MODEL_BATCH_VIEW_H
#define MODEL_BATCH_VIEW_H

#include <troupe/batch.h>

#include "graph/batch.h"
#include "model/model_types.h"
#include "runtime/base/error.h"

struct batch_view {
    struct mini_batch batch;
    struct batch_pairs pairs;
    struct batch_nodes *nodes; /* [node types] */
    uint32_t *counts;          /* [layers][2][node types]: sources, destinations */
    struct block_edges *edges; /* [layers][edge types] */
    struct block blocks[BATCH_LAYERS_MAX];
    struct batch_table weights[BATCH_LAYERS_MAX];
};

/* weights: the number of the batch's table of weights of edges (tr_batch_table()), or
 * BATCH_VIEW_NO_TABLE. types: of the graph; NULL: one of each. TR_ENOMEM. */
#define BATCH_VIEW_NO_TABLE UINT32_MAX
int batch_view_make(struct batch_view *view, const struct tr_batch *batch,
                    const struct model_types *types, uint32_t weights,
                    const struct mini_batch **out, struct error *error);
void batch_view_fini(struct batch_view *view);

#endif
