/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A mini-batch: the blocks that message passing runs over, from input layer to output layer.
 *
 * A block is bipartite: messages go from its source nodes to its destination nodes, which are those
 * that drew them. The destination nodes are the first of its source nodes, and the source nodes of
 * blocks[l + 1] are the destination nodes of blocks[l]. Nodes stand in first-appearance order of
 * the walk from the seeds, which no placement changes; so one node list a type serves every layer:
 * the nodes of any layer are a prefix of it, and the seeds are the shortest prefix.
 *
 * All IDs are per node type. Sources are positions in the node list (32-bit block-local IDs).
 *
 * Ownership: the maker of the batch owns its arrays (see the sampler); readers on any thread.
 */
#ifndef GRAPH_BATCH_H
#define GRAPH_BATCH_H

#include <stddef.h>
#include <stdint.h>

#include <troupe/types.h>

#include "graph/negatives.h"

#define BATCH_LAYERS_MAX 16 /* deeper networks oversmooth long before */

/* The edges of one canonical edge type in one block. */
struct block_edges {
    uint32_t num_dst; /* = the block's num_dst of the type of the nodes that drew */
    uint32_t num_edges;
    const uint32_t *index;    /* [num_dst + 1] */
    const uint32_t *sources;  /* [num_edges], positions among the nodes of the neighbours' type */
    const uint64_t *edge_ids; /* [num_edges], per-type global edge IDs; NULL unless asked for */
    /* [num_edges], of edges that were drawn by weights (graph/sample_weighted.c); else NULL */
    const float *edge_weights;
    /* enum sample_direction. Along out-edges the nodes that drew, whose block this is, are the edges'
     * own sources, and the neighbours their destinations: of the destination type num_src, and of the
     * source type num_dst. */
    uint32_t direction;
};

struct block {
    const uint32_t *num_src;         /* [num_ntypes] */
    const uint32_t *num_dst;         /* [num_ntypes] */
    const struct block_edges *edges; /* [num_etypes] */
};

/* Rows for the first num_rows nodes of a type's node list. */
struct batch_rows {
    enum tr_dtype dtype;
    uint32_t num_rows;
    uint64_t width;
    size_t row_bytes;
    void *rows; /* [num_rows][row_bytes], 64-byte aligned; NULL: not fetched */
};

struct batch_nodes {
    uint32_t num_nodes; /* input nodes = blocks[0].num_src of the type */
    uint32_t num_seeds;
    const uint64_t *ids;          /* [num_nodes] per-type global IDs */
    const uint64_t *original_ids; /* [num_nodes], or NULL unless asked for */
    const uint32_t *in_degrees;   /* [num_nodes] in the whole graph, or NULL unless asked for */
    const uint32_t *out_degrees;  /* [num_nodes] in the whole graph, or NULL unless asked for */
    struct batch_rows features;   /* of all input nodes */
    struct batch_rows labels;     /* of the seeds */
};

/* A table that was asked for, of the nodes or edges that it was asked for. */
struct batch_table {
    uint32_t table; /* its place in the list of the spec */
    uint32_t of;    /* enum sample_table_of */
    uint32_t type;
    uint32_t layer; /* of edges: whose block's, in their order there; of nodes 0 */
    struct batch_rows rows;
};

/* Where the seeds are pairs of nodes, those of one edge type: pair i goes from the seed at position
 * sources[i] among the nodes of the edge type's source type to the one at destinations[i] among those
 * of its destination type. */
struct batch_pairs {
    uint32_t etype;
    uint32_t count;
    const uint32_t *sources, *destinations; /* [count] */
    const uint64_t *edge_ids; /* [count] per-type global IDs; NULL: pairs that need be no edges */
    /* Seeds that stand for ends in pairs that are no edges (graph/negatives.h). Of those of pair i
     * whose destination is drawn, D = negatives_each() of each pair, the j-th has it at
     * negatives[i * D + j] or, where all pairs share them, at negatives[j]; so with sources. An end
     * that is not drawn is the pair's. */
    struct negatives_rule negatives_rule; /* each 0: none were asked for */
    uint32_t count_negatives;             /* negatives_groups() times D */
    uint32_t count_negative_sources;
    uint32_t negative_edges;          /* those that are edges, where these were to be drawn again */
    const uint32_t *negatives;        /* [count_negatives], positions among the nodes */
    const uint32_t *negative_sources; /* [count_negative_sources] */
};

struct mini_batch {
    uint64_t seed;
    uint32_t epoch;
    uint32_t rank;       /* of the trainer it was dealt to */
    uint64_t index;      /* within the epoch: the step */
    uint32_t step_seeds; /* seeds of this step over all trainers; divides the gradient */
    uint32_t num_ntypes;
    uint32_t num_etypes;
    uint32_t num_layers;
    const struct block *blocks;      /* [num_layers], input layer first */
    const struct batch_nodes *nodes; /* [num_ntypes] */
    uint32_t num_tables;
    const struct batch_table *tables; /* [num_tables], by table, then by layer */
    /* The edge types that the loader's pairs have, in its order, also those of which this batch has
     * none. Where the seeds are nodes, one that is all zeroes. */
    uint32_t num_pair_types;
    const struct batch_pairs *pairs; /* [num_pair_types] */
};

#endif
