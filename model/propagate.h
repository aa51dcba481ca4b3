/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The linear map by which a layer mixes the rows of neighbours, and its transpose:
 *
 *     aggregate[d] = dst_scale[d] * sum over edges e = (s, d) of weights[e] * src_scale[s] * rows[s]
 *                    + self_scale[d] * rows[d]
 *
 * GraphSAGE and GCN differ in the scales alone (sage.h, gcn.h). The transpose, which carries
 * gradients back, gathers over the block's edges sorted by source: each row is then written by
 * one thread and summed in one order.
 *
 * Ownership: a struct propagation belongs to a layer of a model and keeps its memory from step
 * to step; it points into the block it was prepared for. Rows may be computed by any threads.
 */
#ifndef MODEL_PROPAGATE_H
#define MODEL_PROPAGATE_H

#include <stdbool.h>

#include "graph/batch.h"
#include "model/kernels.h"
#include "model/tensor.h"

struct propagation {
    const struct block_edges *edges;
    uint32_t num_src;
    uint32_t num_dst;
    const float *dst_scale;  /* [num_dst], or NULL: 1 */
    const float *src_scale;  /* [num_src], or NULL: 1 */
    const float *self_scale; /* [num_dst], or NULL: own rows are not part of it */
    const float *weights;    /* [num_edges], or NULL: 1 */
    bool skip_self;          /* edges from a node to itself are left out */

    /* The edges by source: those of s go to targets[out_index[s] .. out_index[s + 1]), and weigh
     * what stands at the same places of out_weights. */
    const uint32_t *out_index;
    const uint32_t *targets;
    const float *out_weights;

    struct storage scales, transposed, transposed_weights;
    struct storage converted; /* for whoever sets weights */
};

void propagation_fini(struct propagation *prop);

/* Sorts the edges by source, ties by destination; TR_ENOMEM. Needed by propagate_back alone. */
int propagation_transpose(struct propagation *prop);

/* aggregate[width] of destination dst from rows[num_src][width]. */
void propagate(const struct propagation *prop, const struct kernels *kernels, uint32_t dst,
               size_t width, const float *rows, float *aggregate);

/* The gradient of row src, from the gradients of all aggregates [num_dst][width]. */
void propagate_back(const struct propagation *prop, const struct kernels *kernels, uint32_t src,
                    size_t width, const float *aggregate_grads, float *row_grad);

#endif
