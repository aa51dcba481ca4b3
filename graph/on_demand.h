/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arrays of a partition that are made when a sampler first wants them, and stay as long as it.
 *
 * Whoever draws by them asks for them to be made before, a piece at a time, between which it looks
 * at its mailbox. Several actors may ask at once: each makes other pieces of the same array. Nothing
 * of them is in the files, and nothing in them depends on who made which piece.
 *
 * Ownership: the set owns its arrays; the partition outlives it. Thread rules: any thread, but for
 * create and destroy; an array that was found is immutable.
 */
#ifndef GRAPH_ON_DEMAND_H
#define GRAPH_ON_DEMAND_H

#include <stdint.h>

#include "graph/part.h"
#include "graph/weight_sums.h"
#include "runtime/base/error.h"

/* Arrays of one partition: more than any job draws by. What asks comes from outside, and an array
 * takes as much memory as the topology or more. */
#define ON_DEMAND_MAX 64u

/* The work of one piece: about a millisecond. A row is in one piece, however long. */
#define ON_DEMAND_PIECE_EDGES 65536u
/* Original IDs of one piece, which may come from a file. */
#define ON_DEMAND_PIECE_IDS 131072u

struct on_demand;

/* The original IDs of all nodes, whoever owns them. */
struct original_ids_of {
    void *arg;
    /* Reads the original IDs of the global IDs [first, first + count) of a type. TR_ENOENT: they
     * are not here. */
    int (*read)(void *arg, uint32_t ntype, uint64_t first, size_t count, uint64_t *ids,
                struct error *error);
    const uint64_t *num_nodes; /* [num_ntypes] */
};

/* The original IDs of the sources of a CSC's edges: 4 bytes an edge, 8 where an ID needs more, none
 * where each node's global ID is its original one. */
struct source_ids {
    const uint32_t *narrow; /* [num_edges] or NULL */
    const uint64_t *wide;   /* [num_edges] or NULL */
};

enum on_demand_what {
    ON_DEMAND_WEIGHTS, /* weights and mask are numbers of the edge type's tables, the mask may be
                          SAMPLE_NO_TABLE */
    ON_DEMAND_SOURCES  /* both are 0 */
};

struct on_demand_key {
    enum on_demand_what what;
    uint32_t etype;
    uint32_t weights;
    uint32_t mask;
};

/* ids is copied; NULL: there are none. NULL: no memory. */
struct on_demand *on_demand_create(const struct graph_part *part,
                                   const struct original_ids_of *ids);
/* NULL is ignored. */
void on_demand_destroy(struct on_demand *set);

/* Makes a piece: 1 more is to be made, 0 it is there; TR_EINVAL as weight_sums_fill() says, or what
 * reading original IDs gave, each time again; TR_EFULL, TR_ENOMEM. The tables of the key are there. */
int on_demand_make(struct on_demand *set, const struct on_demand_key *key, struct error *error);

/* NULL: it is not made, or not whole. set may be NULL. */
const struct weight_sums *on_demand_weights(struct on_demand *set, const struct on_demand_key *key);
const struct source_ids *on_demand_sources(struct on_demand *set, const struct on_demand_key *key);

#endif
