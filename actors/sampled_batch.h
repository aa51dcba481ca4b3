/*
 * A batch and the memory it stands in.
 *
 * Every array of the struct mini_batch is a vec of its own, kept when the object is used for the
 * next batch. References are counted: the last release, on any thread, gives the object back to
 * the bank it came from, or frees it when there is none or the bank is closed.
 *
 * Thread rules: whoever makes a batch (a sampler) is alone with it; once it was handed on it is
 * immutable. sampled_batch_acquire and _release on any thread.
 */
#ifndef ACTORS_SAMPLED_BATCH_H
#define ACTORS_SAMPLED_BATCH_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "actors/vec.h"
#include "graph/batch.h"

struct batch_bank;

struct edge_space {
    struct vec index, sources, edge_ids;
};

struct node_space {
    struct vec ids, original_ids, in_degrees, out_degrees, features, labels;
};

struct sampled_batch {
    struct mini_batch batch; /* its pointers lead into what follows */
    struct block *blocks;        /* [num_layers] */
    struct block_edges *edges;   /* [num_layers][num_etypes] */
    struct batch_nodes *nodes;   /* [num_ntypes] */
    uint32_t *num_src, *num_dst; /* [num_layers][num_ntypes] */
    uint32_t *etype_src;         /* [num_etypes] node type of sources */
    struct edge_space *edge_space; /* [num_layers][num_etypes] */
    struct node_space *node_space; /* [num_ntypes] */
    atomic_uint references;
    uint64_t loader;
    struct batch_bank *bank; /* holds a reference on it; NULL: none */
    size_t charged_bytes;    /* by the bank */
    struct sampled_batch *next; /* in a list of the bank */
};

/* An empty batch of that shape with one reference, or NULL. */
struct sampled_batch *sampled_batch_create(uint32_t num_ntypes, uint32_t num_etypes,
                                           uint32_t num_layers);

/* Empties it for use again: counts and pointers to 0, capacities stay. */
void sampled_batch_clear(struct sampled_batch *batch);

struct sampled_batch *sampled_batch_acquire(struct sampled_batch *batch);
void sampled_batch_release(struct sampled_batch *batch); /* NULL is ignored */

/* Frees the object whatever its references are: for the bank. */
void sampled_batch_destroy(struct sampled_batch *batch);

/* Bytes it holds, capacities included. */
size_t sampled_batch_bytes(const struct sampled_batch *batch);

static inline struct edge_space *sampled_batch_edge_space(struct sampled_batch *batch,
                                                          uint32_t layer, uint32_t etype)
{
    return &batch->edge_space[(size_t)layer * batch->batch.num_etypes + etype];
}

static inline struct block_edges *sampled_batch_edges(struct sampled_batch *batch, uint32_t layer,
                                                      uint32_t etype)
{
    return &batch->edges[(size_t)layer * batch->batch.num_etypes + etype];
}

#endif
