/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pairs that stand for edges that are not there, as a model of links is trained on: pairs of a batch
 * with a node in the place of their destination, of their source, or of both. Whatever the pair, each
 * node of a set is as likely as the others, or as it has edges, or the node is the end of another pair
 * of the batch, of which each is as likely as the others; so a negative may be an edge, unless those
 * that are, are drawn again.
 *
 * Nodes of a set are drawn by rank, the place of a node in the set by original ID, which no placement
 * changes, and edges likewise; a table says which has a rank (graph/ranks.h, graph/edge_runs.h).
 * Negatives are numbered in a batch, pair by pair, and a draw depends on that number, the end that it
 * is for and the batch alone.
 *
 * Thread rules: pure.
 */
#ifndef GRAPH_NEGATIVES_H
#define GRAPH_NEGATIVES_H

#include <stdbool.h>
#include <stdint.h>

#include "graph/key.h"

enum negatives_of {
    NEGATIVES_OF_PAIR = 0,  /* each pair has its own */
    NEGATIVES_OF_BATCH = 1, /* all pairs have the same nodes */
    NEGATIVES_IN_BATCH = 2  /* each pair has ends of other pairs, which may be equal to its own */
};

/* The ends that are drawn. */
enum negative_ends {
    NEGATIVE_DESTINATIONS = 0,
    NEGATIVE_SOURCES = 1,
    /* A destination in the first half of each pair's, a source in the second. */
    NEGATIVE_EITHER = 2,
    NEGATIVE_BOTH = 3
};
#define NEGATIVE_ENDS 4u

enum pair_end { PAIR_DESTINATION = 0, PAIR_SOURCE = 1 };

struct negatives_rule {
    uint32_t each; /* of a pair; 0: none */
    uint32_t of;   /* enum negatives_of */
    uint32_t ends; /* enum negative_ends */
    /* 1: one that is an edge of the graph is drawn again, NEGATIVE_TRIES times in all. The last draw
     * stands, an edge or not. Needs each pair to have its own. */
    uint32_t no_edges;
    /* 1: a node is as likely as it has edges of the type that end in it, or begin: it is the end of an
     * edge, and each edge is as likely as the others. They are drawn by rank (graph/edge_runs.h). */
    uint32_t by_degree;
};
#define NEGATIVE_TRIES 16u

/* How many have their end drawn, of each pair: the first ones but for sources of NEGATIVE_EITHER,
 * which are the last. */
static inline uint32_t negatives_each(const struct negatives_rule *rule, enum pair_end end)
{
    if (rule->ends == NEGATIVE_EITHER)
        return end == PAIR_DESTINATION ? rule->each - rule->each / 2 : rule->each / 2;
    bool none = rule->ends == (end == PAIR_DESTINATION ? NEGATIVE_SOURCES : NEGATIVE_DESTINATIONS);
    return none ? 0 : rule->each;
}

/* Groups of so many that a batch has: one a pair, or one. A pair alone has no other pair. */
static inline uint64_t negatives_groups(const struct negatives_rule *rule, uint64_t num_pairs)
{
    if (rule->of == NEGATIVES_OF_BATCH)
        return num_pairs > 0;
    return rule->of == NEGATIVES_IN_BATCH && num_pairs < 2 ? 0 : num_pairs;
}

/* Whether that end of the negative with the number is drawn. */
static inline bool negative_has(const struct negatives_rule *rule, uint64_t number,
                                enum pair_end end)
{
    if (rule->ends != NEGATIVE_EITHER)
        return negatives_each(rule, end) > 0;
    return (number % rule->each < negatives_each(rule, PAIR_DESTINATION)) ==
           (end == PAIR_DESTINATION);
}

/* How many of those with lower numbers have that end drawn. */
static inline uint64_t negative_place(const struct negatives_rule *rule, uint64_t number,
                                      enum pair_end end)
{
    uint64_t each = negatives_each(rule, end), within = number % rule->each;
    uint64_t before = end == PAIR_SOURCE ? rule->each - each : 0; /* of a pair, that have it not */
    within = within > before ? within - before : 0;
    return number / rule->each * each + (within < each ? within : each);
}

/* What the draws of an end have in common. batch: names seed, epoch, rank and batch. */
uint64_t negatives_base(const struct draw_key *batch, uint32_t etype, enum pair_end end);

/* A rank below num_ranks, which is above 0, of the draw with the number `try`, from 0. */
static inline uint64_t negative_rank(uint64_t base, uint64_t number, uint32_t try,
                                     uint64_t num_ranks)
{
    uint64_t draw = 0;
    return key_below(key_occurrence(key_node(base, number), try), &draw, num_ranks);
}

/* Another pair than the negative's own, of two or more. */
static inline uint64_t negative_other(uint64_t base, uint64_t number, uint32_t try, uint64_t pair,
                                      uint64_t num_pairs)
{
    uint64_t other = negative_rank(base, number, try, num_pairs - 1);
    return other + (other >= pair);
}

#endif
