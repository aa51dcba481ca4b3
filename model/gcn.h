/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Graph convolution (Kipf and Welling, ICLR 2017): W (D^-1/2 (A + I) D^-1/2 h)_v + b, with the
 * degrees of the whole graph: out-degree + 1 at the source, in-degree + 1 at the destination.
 *
 * A mini-batch has k drawn ones of a node's d neighbours. Their sum is scaled by d / k, so its
 * expectation is the sum over all d: training estimates what exact inference computes. The model
 * adds each node's self-loop. An edge from a node to itself that the graph has, or that was drawn,
 * is left out of the sum, so the self-loop counts once.
 *
 * Where edges have weights, A has them in place of ones: a neighbour's row counts as often as its
 * edge weighs, and the degrees are sums of weights (edge_weights.h). The self-loop weighs 1, and the
 * sum over k drawn ones of d neighbours is still scaled by d / k, for edges are drawn without a look
 * at their weights. Where they are drawn by a feature, the block says of each how many it stands for
 * (edge_weights of struct block_edges), and the sum is weighed by that alone.
 */
#ifndef MODEL_GCN_H
#define MODEL_GCN_H

#include "model/edge_weights.h"
#include "model/propagate.h"

/* 1 / sqrt(degree + 1) */
float gcn_norm(uint64_t degree);

/* Fills the scales of a block, whose source nodes are the first num_src of nodes, with degrees. norms:
 * of all nodes of the graph, by global ID; NULL: edges have no weights. TR_ENOMEM. */
int gcn_scales(struct propagation *prop, const struct batch_nodes *nodes,
               const struct weighted_norms *norms);

#endif
