/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What each edge of a batch's block counts in the sums of a layer: as often as it weighs
 * (edge_weights.h), and as the edges that it stands for where edges were drawn by weights
 * (troupe/batch.h).
 *
 * Ownership: a propagation borrows the batch's weights until the next batch, or has a copy of its own.
 * Thread rules: one thread at a time for a propagation.
 */
#ifndef MODEL_BLOCK_WEIGHTS_H
#define MODEL_BLOCK_WEIGHTS_H

#include <stdbool.h>
#include <stdint.h>

#include "graph/batch.h"
#include "model/propagate.h"
#include "runtime/base/error.h"

/* Sets prop->weights for the edges of edge type 0 in a layer: one float32 an edge, or NULL where each
 * counts once. `weighed`: they have weights, which a table of the batch brings for that layer.
 * TR_EMISMATCH: the batch brings none, or another number of them; TR_ERANGE names an edge whose weight
 * is none; TR_ENOMEM. */
int block_weights_take(struct propagation *prop, const struct mini_batch *batch, uint32_t layer,
                       bool weighed, struct error *error);

#endif
