/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which edges a model of links learns from, and which are held out to score it.
 *
 * Edges may have masks, which say so of each (link_edges.h). Without any a tenth of them is held
 * out to validate and a tenth to test: the part of an edge is then a function of the original IDs
 * of its two ends, in either order, so it is the same on any placement and in every run on the
 * graph, and an edge, its reverse and the edges beside it are of one part. An edge from a node to
 * itself is always learned from.
 *
 * Two nodes that an edge joins which is held out are held apart: no edge between them, in either
 * direction, is learned from or carries messages while the model is trained and scored, for it
 * would tell of the other. Where edges are of several types these are the edges of the one that is
 * scored, and of the one that has its reverses. Between nodes of two types a pair has its source
 * first: node 3 of the one is not node 3 of the other.
 *
 * Ownership: a split of masks borrows the table of pairs from the edges. Thread rules: pure.
 */
#ifndef MODEL_LINK_SPLIT_H
#define MODEL_LINK_SPLIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "graph/key.h"
#include "model/link_types.h"

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
    struct link_types types;
    struct pair_table apart; /* of masks: the pairs that are held apart; else all zero */
    /* Of the edges that pass, by the original ID of a node; link_edges.h counts them. */
    const uint32_t *in_degrees, *out_degrees;
};

/* types: NULL for one of each. */
struct link_split link_split_make(const struct link_types *types);

static inline uint64_t pair_name(uint64_t a, uint64_t b)
{
    return a < b ? a << 32 | b : b << 32 | a;
}

/* Between nodes of one type a pair has no order. */
static inline uint64_t link_pair_name(const struct link_types *types, uint64_t source,
                                      uint64_t destination)
{
    return link_types_differ(types) ? source << 32 | destination : pair_name(source, destination);
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
static inline enum link_split_part link_split_part(const struct link_split *split, uint64_t source,
                                                   uint64_t destination)
{
    bool ordered = link_types_differ(&split->types);
    if (!ordered && source == destination)
        return LINK_TRAIN;
    uint64_t first = ordered || source < destination ? source : destination;
    uint64_t second = ordered || source < destination ? destination : source, draw = 0;
    uint64_t share = key_below(key_mix(key_node(split->base, first) + second), &draw,
                               LINK_SPLIT_SHARES);
    return share == 0 ? LINK_TEST : share == 1 ? LINK_VALIDATION : LINK_TRAIN;
}

/* Are the nodes of a pair held together: learned from, where an edge joins them? */
static inline bool link_split_joins(const struct link_split *split, uint64_t source,
                                    uint64_t destination)
{
    if (split->apart.places != NULL)
        return !pair_table_has(&split->apart, link_pair_name(&split->types, source, destination));
    return link_split_part(split, source, destination) == LINK_TRAIN;
}

/* Do messages go along the edge while the model is trained and scored? */
static inline bool link_split_passes(const struct link_split *split, uint32_t etype,
                                     uint64_t source, uint64_t destination)
{
    if (etype == split->types.etype)
        return link_split_joins(split, source, destination);
    return etype != split->types.reverse || link_split_joins(split, destination, source);
}

#endif
