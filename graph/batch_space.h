/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory that a mini-batch stands in.
 *
 * Every array is a vec of its own, kept when the space is used for the next batch, so that after
 * the first few batches of a loader nothing is allocated and no fresh page is touched.
 *
 * Ownership: the space owns its arrays. One thread at a time while a batch is made; then its
 * content is immutable, for readers on any thread, until it is cleared.
 */
#ifndef GRAPH_BATCH_SPACE_H
#define GRAPH_BATCH_SPACE_H

#include <stddef.h>
#include <stdint.h>

#include "graph/batch.h"
#include "graph/vec.h"

struct edge_space {
    struct vec index, sources, edge_ids, edge_weights;
};

struct node_space {
    struct vec ids, original_ids, in_degrees, out_degrees, features, labels;
};

struct pair_space {
    struct vec sources, destinations, edge_ids, negatives, negative_sources;
};

struct batch_space {
    struct mini_batch batch;       /* its pointers lead into what follows */
    struct block *blocks;          /* [num_layers] */
    struct block_edges *edges;     /* [num_layers][num_etypes] */
    struct batch_nodes *nodes;     /* [num_ntypes] */
    uint32_t *num_src, *num_dst;   /* [num_layers][num_ntypes] */
    uint32_t *etype_src;           /* [num_etypes] node type of sources */
    uint32_t *etype_dst;           /* [num_etypes] node type of destinations */
    struct edge_space *edge_space; /* [num_layers][num_etypes] */
    struct node_space *node_space; /* [num_ntypes] */
    struct batch_pairs *pairs;     /* [num_etypes] */
    struct pair_space *pair_space; /* [num_etypes] */
    struct batch_table *tables;    /* [room_tables] */
    struct vec *table_space;       /* [room_tables] */
    uint32_t room_tables;          /* as many as a batch in it had so far */
};

/* An empty batch of that shape; TR_ENOMEM, and then nothing is held. */
int batch_space_init(struct batch_space *space, uint32_t num_ntypes, uint32_t num_etypes,
                     uint32_t num_layers);
/* Gives the batch that many tables, all zeroes. TR_ENOMEM: it has none. */
int batch_space_set_tables(struct batch_space *space, uint32_t num_tables);
void batch_space_fini(struct batch_space *space);

/* The number in `pairs` of those of an edge type; num_pair_types: there are none of it. */
static inline uint32_t batch_find_pairs(const struct mini_batch *batch, uint32_t etype)
{
    uint32_t i = 0;
    while (i < batch->num_pair_types && batch->pairs[i].etype != etype)
        i++;
    return i;
}

/* Empties it for use again: counts and pointers to 0, capacities stay. */
void batch_space_clear(struct batch_space *space);

/* Bytes it holds, capacities included, but for the struct itself. */
size_t batch_space_bytes(const struct batch_space *space);

static inline struct edge_space *batch_space_edge_space(const struct batch_space *space,
                                                        uint32_t layer, uint32_t etype)
{
    return &space->edge_space[(size_t)layer * space->batch.num_etypes + etype];
}

static inline struct block_edges *batch_space_edges(const struct batch_space *space, uint32_t layer,
                                                    uint32_t etype)
{
    return &space->edges[(size_t)layer * space->batch.num_etypes + etype];
}

#endif
