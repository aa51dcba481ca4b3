/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which edges a model of links learns from, and which are held out to score it.
 *
 * Edges may have masks, which say so of each (link_edges.h). Without any a tenth of them is held out to
 * validate and a tenth to test: the part of an edge is then a function of the original IDs of its two
 * ends, in either order, so it is the same on any placement and in every run on the graph, and an edge,
 * its reverse and the edges beside it are of one part. An edge from a node to itself is always learned
 * from.
 *
 * Two nodes that an edge joins which is held out are held apart: no edge between them, in either
 * direction, is learned from or carries messages while the model is trained or scored, for it would tell
 * of the other.
 *
 * Ownership: a split of masks borrows the table of pairs from the edges. Thread rules: pure.
 */
#ifndef MODEL_LINK_SPLIT_H
#define MODEL_LINK_SPLIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "graph/key.h"

enum link_split_part { LINK_TRAIN, LINK_VALIDATION, LINK_TEST, LINK_PARTS };

/* Of ten shares of the pairs of nodes the first is to test, the second to validate. */
#define LINK_SPLIT_SHARES 10u

/* Unordered pairs of numbers below 2^32, in a table that is at most half full. */
#define LINK_NO_PAIR UINT64_MAX /* no node has the number 2^32 - 1 */
struct pair_table {
    uint64_t *places; /* [mask + 1], LINK_NO_PAIR where there is none */
    uint64_t mask;
};

struct link_split {
    uint64_t base;
    struct pair_table apart; /* of masks: the pairs that are held apart; else all zero */
    /* Of the edges that pass, by the original ID of a node; link_edges.h counts them. */
    const uint32_t *in_degrees, *out_degrees;
};

struct link_split link_split_make(void);

static inline uint64_t pair_name(uint64_t a, uint64_t b)
{
    return a < b ? a << 32 | b : b << 32 | a;
}

/* The place of a pair, or that where it would be. */
static inline uint64_t *pair_table_find(const struct pair_table *table, uint64_t pair)
{
    uint64_t at = key_mix(pair) & table->mask;
    while (table->places[at] != pair && table->places[at] != LINK_NO_PAIR)
        at = (at + 1) & table->mask;
    return &table->places[at];
}

static inline bool pair_table_has(const struct pair_table *table, uint64_t pair)
{
    return *pair_table_find(table, pair) != LINK_NO_PAIR;
}

/* The places that a table of so many pairs has. */
uint64_t pair_table_room(uint64_t pairs);

/* Without masks. */
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
    if (split->apart.places != NULL)
        return !pair_table_has(&split->apart, pair_name(a, b));
    return link_split_part(split, a, b) == LINK_TRAIN;
}

#endif
