/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nodes that stand for the destinations of pairs that are no edges, as a model of links is trained
 * on: each of a set is as likely as the others, whatever the pair, so a pair may be an edge.
 *
 * They are drawn by rank, the place of a node in the set by original ID, which no placement
 * changes; a table says which node has a rank (graph/ranks.h). Each has a number in its batch, and
 * its draw depends on that number and the batch alone.
 *
 * Thread rules: pure.
 */
#ifndef GRAPH_NEGATIVES_H
#define GRAPH_NEGATIVES_H

#include <stdint.h>

#include "graph/key.h"

/* The ranks of those with the numbers [first, first + count): below num_ranks, which is above 0.
 * batch: names seed, epoch, rank and batch. */
void negatives_draw(const struct draw_key *batch, uint32_t etype, uint64_t num_ranks,
                    uint64_t first, uint32_t count, uint64_t *ranks);

#endif
