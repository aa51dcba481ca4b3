/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A mini-batch as the training code receives it.
 *
 * Blocks stand from the input layer (0) to the output layer. A block's destination nodes are
 * the first of its source nodes; the sources of block l + 1 are the destinations of block l.
 * So one list of node IDs a type serves all layers, and the seeds come first in it. Edges
 * are in CSC form over destination nodes: sources [index[d], index[d + 1]) feed destination d,
 * as positions in the list of the source type.
 *
 * A destination node of a block is one that drew neighbours, and the sources are these, also where
 * they were drawn along out-edges (tr_sample_spec_set_direction()). The edges of such a block are
 * those of the graph turned round: its destinations are nodes of the edge type's source type, and
 * its sources nodes of the edge type's destination type.
 *
 * Ownership: arrays belong to the batch and are valid until tr_batch_release(). A batch may outlive
 * loader, graph and session, and may be released on any thread; until then it is charged
 * to the session's memory bound. Thread rules: reading from any number of threads, also in a child
 * of fork(), whose copy stays as it was at the fork, and where a release does nothing.
 */
#ifndef TROUPE_BATCH_H
#define TROUPE_BATCH_H

#include <stddef.h>
#include <stdint.h>

#include <troupe/error.h>
#include <troupe/types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tr_batch;

/* Pointers that were not asked for in the loader's options are NULL. */
struct tr_block {
    size_t size;
    uint32_t num_src; /* source nodes of the edge type's source type */
    uint32_t num_dst; /* destination nodes of its destination type */
    uint32_t num_edges;
    uint32_t direction;    /* enum tr_direction; TR_OUT_EDGES: the two types have changed places */
    const uint32_t *index; /* [num_dst + 1] */
    const uint32_t *sources;  /* [num_edges] */
    const uint64_t *edge_ids; /* [num_edges] per-type global edge IDs */
    /* [num_edges], of edges that were drawn by weights (tr_sample_spec_set_weights()), else NULL. For
     * any values of edges, the expectation of the sum of weight * value over a node's edges in the
     * block is the sum of the values of all its in-edges of positive weight in the graph. */
    const float *edge_weights;
};
#define TR_BLOCK_INIT                                               \
    {                                                               \
        sizeof(struct tr_block), 0, 0, 0, 0, NULL, NULL, NULL, NULL \
    }

struct tr_rows {
    size_t size;
    enum tr_dtype dtype;
    size_t num_rows;
    uint64_t width;
    size_t row_bytes;
    const void *rows; /* [num_rows][row_bytes], 64-byte aligned */
};
#define TR_ROWS_INIT                                  \
    {                                                 \
        sizeof(struct tr_rows), TR_F32, 0, 0, 0, NULL \
    }

/* Pairs of nodes that are the seeds of a batch: positions in tr_batch_nodes() of the edge type's
 * source and destination types, in the order in which the epoch has the pairs. */
struct tr_pairs {
    size_t size;
    uint32_t etype;
    uint32_t count;
    const uint32_t *sources;      /* [count] */
    const uint32_t *destinations; /* [count] */
    /* [count], per-type global IDs. NULL: pairs that a user listed; not of a set of edges, also
     * where count is 0. */
    const uint64_t *edge_ids;
};
#define TR_PAIRS_INIT                                   \
    {                                                   \
        sizeof(struct tr_pairs), 0, 0, NULL, NULL, NULL \
    }

/* NULL is ignored. */
TR_API void tr_batch_release(struct tr_batch *batch);

TR_API uint32_t tr_batch_epoch(const struct tr_batch *batch);
TR_API uint64_t tr_batch_index(const struct tr_batch *batch); /* in its epoch, from 0 */
TR_API uint32_t tr_batch_num_layers(const struct tr_batch *batch);
TR_API uint32_t tr_batch_num_ntypes(const struct tr_batch *batch);
TR_API uint32_t tr_batch_num_etypes(const struct tr_batch *batch);
/* The trainer that it was made for, and the seeds (or pairs) of its step over all trainers: what
 * the gradient of a mean loss is divided by. */
TR_API uint32_t tr_batch_rank(const struct tr_batch *batch);
TR_API uint32_t tr_batch_step_seeds(const struct tr_batch *batch);

/* The block of a layer and edge type; TR_ERANGE when there is none. */
TR_API int tr_batch_block(const struct tr_batch *batch, uint32_t layer, uint32_t etype,
                          struct tr_block *block, struct tr_error *error);

/* Nodes of a type: [*count] global IDs, seeds first. NULL with *count 0 for another number. */
TR_API const uint64_t *tr_batch_nodes(const struct tr_batch *batch, uint32_t ntype, size_t *count);
/* Their original IDs, in the same order; NULL with *count 0 where the loader gives none. */
TR_API const uint64_t *tr_batch_original_ids(const struct tr_batch *batch, uint32_t ntype,
                                             size_t *count);
/* How many of the nodes are seeds: the first so many. Batches of a set of several node types have
 * seeds of several. */
TR_API size_t tr_batch_num_seeds(const struct tr_batch *batch, uint32_t ntype);
/* The pairs of a batch of a set that tr_pairs_listed(), tr_edges_listed(), tr_edges_all() or
 * tr_edges_range() made: a rank may have none in an epoch's last step. TR_ENOENT: the seeds are
 * nodes; TR_EINVAL: they are of a set of several edge types (tr_pairs_join()). */
TR_API int tr_batch_pairs(const struct tr_batch *batch, struct tr_pairs *pairs,
                          struct tr_error *error);
/* Those of an edge type, in the order in which the epoch has them: a batch of a set of several may
 * have none of one. The ends of all stand in tr_batch_nodes() in the order of the epoch, whatever
 * their edge type. TR_ENOENT: the set has none of that type. */
TR_API int tr_batch_pairs_of(const struct tr_batch *batch, uint32_t etype, struct tr_pairs *pairs,
                             struct tr_error *error);
/* In the whole graph, over all edge types, in the order of tr_batch_nodes(); NULL where the loader
 * gives none. */
TR_API const uint32_t *tr_batch_in_degrees(const struct tr_batch *batch, uint32_t ntype);
TR_API const uint32_t *tr_batch_out_degrees(const struct tr_batch *batch, uint32_t ntype);

/* Features of all nodes of a type, in the order of tr_batch_nodes(); TR_ENOENT if none came. */
TR_API int tr_batch_features(const struct tr_batch *batch, uint32_t ntype, struct tr_rows *rows,
                             struct tr_error *error);
/* Labels of the seeds, in their order; TR_ENOENT if none came. */
TR_API int tr_batch_labels(const struct tr_batch *batch, uint32_t ntype, struct tr_rows *rows,
                           struct tr_error *error);

/* Rows of the table of that number in the list of the spec (troupe/sample.h). Those of nodes are in
 * the order of tr_batch_nodes(), and layer is not read; those of edges are in the order of that
 * layer's block. TR_ENOENT: the spec lists no such table for that layer. */
TR_API int tr_batch_table(const struct tr_batch *batch, uint32_t table, uint32_t layer,
                          struct tr_rows *rows, struct tr_error *error);

/* A hash of the batch in original IDs: equal on every placement. Needs original_ids in the
 * loader's options, else TR_EINVAL. */
TR_API int tr_batch_digest(const struct tr_batch *batch, uint64_t *digest, struct tr_error *error);

#ifdef __cplusplus
}
#endif

#endif
