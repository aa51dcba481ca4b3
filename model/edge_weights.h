/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Weights of a graph's edges, as the layers take them: one number an edge, of any element type, from
 * 0 to EDGE_WEIGHT_MAX.
 *
 * GraphSAGE takes the mean of neighbours that they weigh (sage.h). GCN counts an edge as often as it
 * weighs, in its sums and in the degrees by which it normalises (gcn.h). Those degrees are of the
 * whole graph: struct weighted_norms has them for every node, made once from all partitions. A sum
 * runs over edges in the order of their destinations' original IDs and then of the edges' own, in
 * float64, so no partitioning changes a bit of it.
 *
 * Ownership: views borrow the partitions; weighted_norms_init allocates, weighted_norms_fini frees.
 * Thread rules: one thread makes them; any thread may read them then.
 */
#ifndef MODEL_EDGE_WEIGHTS_H
#define MODEL_EDGE_WEIGHTS_H

#include <float.h>
#include <stdbool.h>
#include <string.h>

#include <troupe/model.h>

#include "graph/part.h"
#include "model/features.h"
#include "runtime/base/cancel.h"
#include "runtime/base/error.h"

/* The sum of as many as a node can have edges is a finite float32. */
#define EDGE_WEIGHT_MAX TR_EDGE_WEIGHT_MAX

/* NaN is none. */
static inline bool edge_weight_is_valid(float weight)
{
    return weight >= 0 && weight <= EDGE_WEIGHT_MAX;
}

/* The factor that makes a sum a mean: 1 / sum, or 0 where the sum is 0, or so small that its inverse
 * would be infinite. */
static inline float edge_weights_scale(double sum)
{
    return sum < (double)FLT_MIN ? 0.0f : 1.0f / (float)sum;
}

/* A table of weights, of a partition or of a block's edges. */
struct weight_rows {
    enum tr_dtype dtype;
    const void *rows; /* NULL: there is none */
};

static inline float weight_rows_at(const struct weight_rows *weights, uint64_t edge)
{
    float weight;
    if (weights->dtype == TR_F32)
        memcpy(&weight, (const char *)weights->rows + edge * sizeof weight, sizeof weight);
    else
        features_convert(weights->dtype,
                         (const char *)weights->rows + edge * tr_dtype_size(weights->dtype), 1,
                         &weight);
    return weight;
}

/* The table of that name. TR_ENOENT: the partition has none; TR_EMISMATCH: it has several numbers an
 * edge. */
int edge_weights_find(const struct graph_part *part, const char *name, struct weight_rows *weights,
                      struct error *error);

/* Whether the weights of the partitions that are here (others are NULL) are such. TR_ERANGE names
 * the first edge whose weight is none; TR_ECANCELED; and as above. */
int edge_weights_check(const struct graph_part *const *parts, uint32_t num_parts, const char *name,
                       const struct cancel *cancel, struct error *error);

/* 1 / sqrt(1 + the sum of the weights) of the edges into a node and of those out of it, by its
 * global ID. Zeroed: not there. */
struct weighted_norms {
    uint64_t num_nodes;
    float *in, *out; /* [num_nodes] */
};

/* All partitions are here. Reads every weight twice, in 8 bytes a node, and 28 more while it does.
 * As above; TR_ENOMEM, TR_EFORMAT and TR_ETOOBIG as node_map_init(). */
int weighted_norms_init(struct weighted_norms *norms, const struct graph_part *const *parts,
                        uint32_t num_parts, const char *name, const struct cancel *cancel,
                        struct error *error);
void weighted_norms_fini(struct weighted_norms *norms);

#endif
