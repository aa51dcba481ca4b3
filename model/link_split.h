/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which edges a model of links learns from, and which are held out to score it: a tenth to validate,
 * a tenth to test.
 *
 * The part of an edge is a function of the original IDs of its two ends, in either order, so it is
 * the same on any placement and in every run on the graph, and an edge, its reverse and the edges
 * beside it are all of one part: none tells of another one that is held out. An edge from a node to
 * itself is always learned from. Edges that are held out carry no messages while the model is trained
 * or scored.
 *
 * Thread rules: pure.
 */
#ifndef MODEL_LINK_SPLIT_H
#define MODEL_LINK_SPLIT_H

#include <stdbool.h>
#include <stdint.h>

#include "graph/key.h"

enum link_split_part { LINK_TRAIN, LINK_VALIDATION, LINK_TEST, LINK_PARTS };

/* Of ten shares of the pairs of nodes the first is to test, the second to validate. */
#define LINK_SPLIT_SHARES 10u

struct link_split {
    uint64_t base;
    /* Of the edges that are learned from, by the original ID of a node; link_edges.h counts them. */
    const uint32_t *in_degrees, *out_degrees;
};

struct link_split link_split_make(void);

static inline enum link_split_part link_split_part(const struct link_split *split, uint64_t a,
                                                   uint64_t b)
{
    uint64_t low = a < b ? a : b, high = a < b ? b : a, draw = 0;
    if (low == high)
        return LINK_TRAIN;
    uint64_t share = key_below(key_mix(key_node(split->base, low) + high), &draw,
                               LINK_SPLIT_SHARES);
    return share == 0 ? LINK_TEST : share == 1 ? LINK_VALIDATION : LINK_TRAIN;
}

/* Do messages go along the edge while the model is trained and scored? */
static inline bool link_split_passes(const struct link_split *split, uint64_t a, uint64_t b)
{
    return link_split_part(split, a, b) == LINK_TRAIN;
}

#endif
