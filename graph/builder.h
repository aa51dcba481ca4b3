/*
 * Builds a mini-batch from its seeds and the answers to its sample requests.
 *
 * The builder fixes the canonical walk, which no placement changes: hop by hop from the seeds;
 * within a hop the edge types in the order of their numbers; within an edge type the destination
 * nodes in the order of the node list; within a node its neighbours in the order drawn. Every
 * node known when a hop begins is a destination of that hop and draws again.
 *
 *     batch_builder_begin(b, arena, layers, edge_ids);
 *     batch_builder_add_seeds(b, ntype, ids, n, NULL);          for each node type with seeds
 *     for each layer:
 *         batch_builder_begin_hop(b);
 *         for each edge type in order:                          types without edges may be left out
 *             batch_builder_frontier(b, destination type, &n)   -> rows of the request
 *             batch_builder_add_edges(b, etype, counts, result);
 *         batch_builder_end_hop(b);
 *     batch_builder_finish(b, &batch);
 *
 * Calls may be any time apart, so an actor can wait for remote answers between them. After a
 * failure the builder may only be begun anew or ended.
 *
 * Ownership: the batch lives in the arena, which the caller owns and which must outlive it, until
 * arena_reset. The builder owns its tables and reuses them. One thread at a time.
 */
#ifndef GRAPH_BUILDER_H
#define GRAPH_BUILDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "graph/arena.h"
#include "graph/batch.h"
#include "graph/relabel.h"
#include "graph/sample.h"
#include "graph/types.h"

struct builder_table {
    struct relabel relabel;
    uint32_t num_seeds;
    uint32_t num_dst;   /* nodes when the hop began */
    uint32_t last_size; /* nodes of the batch before: the next is about as large */
};

struct batch_builder {
    const struct graph_types *types;
    struct builder_table *tables; /* [num_ntypes] */
    struct batch_arena *arena;    /* of the batch being built */
    struct block *blocks;         /* [num_layers], in the arena */
    struct block_edges *edges;    /* [num_etypes] of the hop, in the arena */
    uint32_t num_layers;
    uint32_t hop;        /* hops ended */
    uint32_t next_etype; /* the least that may be added in this hop */
    bool in_hop;
    bool edge_ids;
};

/* types must outlive the builder. */
int batch_builder_init(struct batch_builder *builder, const struct graph_types *types);
void batch_builder_fini(struct batch_builder *builder);

/* Bytes of its tables, for the account of its owner; the arena counts its own. */
size_t batch_builder_bytes(const struct batch_builder *builder);

/* Begins a batch; TR_EINVAL unless 1 <= num_layers <= BATCH_LAYERS_MAX. */
int batch_builder_begin(struct batch_builder *builder, struct batch_arena *arena,
                        uint32_t num_layers, bool edge_ids);

/* Appends seeds, before the first hop. An ID that comes twice is one node; positions[n] (may be
 * NULL) tells where each went. */
int batch_builder_add_seeds(struct batch_builder *builder, uint32_t ntype, const uint64_t *ids,
                            uint32_t n, uint32_t *positions);

int batch_builder_begin_hop(struct batch_builder *builder);

/* The destinations of this hop, per-type global IDs; valid until the next add_edges. */
const uint64_t *batch_builder_frontier(const struct batch_builder *builder, uint32_t ntype,
                                       uint32_t *num_nodes);

/*
 * Adds the edges of one edge type: counts for the whole frontier of its destination type, then
 * columns (32-bit in answer->columns, or 64-bit in answer->wide_columns when columns is NULL)
 * and, if they were asked for, edge_ids. Checks what may have come from outside: TR_EFORMAT when
 * the counts do not add up to answer->num_edges; TR_ETOOBIG for 2^32 edges.
 */
int batch_builder_add_edges(struct batch_builder *builder, uint32_t etype,
                            const struct sample_result *answer);

int batch_builder_end_hop(struct batch_builder *builder);

/* Fills blocks, nodes (without features, labels, original IDs, degrees) and the counts; the
 * caller fills the rest, with arrays of the same arena. TR_EINVAL before the last hop ended. */
int batch_builder_finish(struct batch_builder *builder, struct mini_batch *batch,
                         struct batch_nodes **nodes);

#endif
