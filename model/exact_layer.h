/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One layer of exact inference, over every node of the graph.
 *
 * A layer is linear up to its activation, so it may aggregate the rows of neighbours and
 * multiply the sum by the weights, or multiply each node's row and aggregate the products.
 * Here every node is a source and a destination and both need the same products; the second
 * order moves out instead of in floats an edge, and is taken where that is less. (A sampled
 * block has several times more sources than destinations: there, layer.c multiplies the fewer
 * rows.) The choice depends on the layer's sizes alone.
 *
 * Ownership: everything is borrowed for the call. Thread rules: called by one thread; uses the
 * model's struct parallel.
 */
#ifndef MODEL_EXACT_LAYER_H
#define MODEL_EXACT_LAYER_H

#include "model/drawn_edges.h"
#include "model/edge_weights.h"
#include "model/exact_rows.h"
#include "model/link_split.h"
#include "model/model.h"
#include "model/tensor.h"
#include "runtime/base/cancel.h"

struct exact_layer {
    struct model *model;
    const struct graph_part *const *parts;
    const struct node_map *map;
    const struct weight_rows *weights; /* [number of parts] of their edges; NULL: all weigh 1 */
    const struct link_split *links;    /* whose held-out edges do not count; NULL: all do */
    const struct drawn_edges *drawn;   /* [number of parts] those that count; NULL: all do */
    const struct cancel *cancel;       /* or NULL */
    const struct layer_params *params;
    bool last;
    struct exact_rows in;
    struct tensor *out; /* becomes [num_nodes][params->out] */

    /* Memory kept from layer to layer. */
    struct tensor *products;   /* [num_nodes][params->out] */
    struct tensor *transposed; /* the weights, [2][in][out] */
    struct tensor *scratch;    /* [workers] */
};

static inline bool exact_multiplies_first(const struct layer_params *params)
{
    return params->out < params->in;
}

/* TR_ECANCELED, TR_ENOMEM, TR_ETOOBIG. */
int exact_layer_run(struct exact_layer *layer);

#endif
