/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small random graph as its user would have it: original IDs, edges in their order.
 *
 * The contents of its rows are a function of type, original ID and column, so a row that was
 * fetched is checked without looking anything up.
 *
 * Ownership: the struct owns its arrays. Thread rules: immutable after sim_graph_init.
 */
#ifndef SIM_SIM_GRAPH_H
#define SIM_SIM_GRAPH_H

#include <stdint.h>

#include "graph/types.h"
#include "sim/draws.h"

#define RAW_NTYPES_MAX 3u
#define RAW_ETYPES_MAX 4u
#define RAW_NODES_MAX 400u  /* hundreds make every case; thousands only take time */
#define RAW_EDGES_MAX 3000u /* of a type */
#define RAW_WIDTH_MAX 9u

struct sim_edges {
    uint32_t count;
    uint32_t *src, *dst; /* [count], original IDs */
};

struct sim_graph {
    struct graph_types types;
    uint32_t num_nodes[RAW_NTYPES_MAX];
    uint32_t width[RAW_NTYPES_MAX]; /* elements of a row of "feat" */
    bool featured[RAW_NTYPES_MAX];  /* has "feat" */
    struct sim_edges edges[RAW_ETYPES_MAX];
    uint32_t *in_degrees[RAW_NTYPES_MAX], *out_degrees[RAW_NTYPES_MAX]; /* over all edge types */
};

/* Asserts that there is memory: a simulation without it shows nothing. */
void sim_graph_init(struct sim_graph *raw, struct draws *draws);
/* Then some edge types hold the reverses of others, by the same IDs, and some of their own, in
 * halves or one behind the other, as a seed says. */
void sim_graph_reverse(struct sim_graph *raw, uint64_t seed);
void sim_graph_fini(struct sim_graph *raw);

/* The most edges of a node, over all edge types: of in_degrees or of out_degrees. */
uint32_t sim_graph_max_degree(const struct sim_graph *raw, uint32_t *const *degrees);

/* Some type has "feat". */
static inline bool raw_is_featured(const struct sim_graph *raw)
{
    bool featured = false;
    for (uint32_t t = 0; t < raw->types.num_ntypes; t++)
        featured = featured || raw->featured[t];
    return featured;
}

/* The value of row `id` of "feat" at that place, and of "label". */
static inline float raw_feature(uint32_t ntype, uint64_t id, uint32_t column)
{
    uint64_t draw = key_mix(id * 64 + ntype * 16 + column);
    /* A part of the elements is 0, or nothing would be sparse. */
    return (draw >> 32) % 8 < 5 ? 0 : (float)(draw % 100000) / 16;
}

static inline int64_t raw_label(uint32_t ntype, uint64_t id)
{
    return (int64_t)(key_mix(id * 8 + ntype) % 47);
}

#endif
