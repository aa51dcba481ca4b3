/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small graph in memory, cut into partitions any way, with batches drawn from it: two ways to
 * the same numbers, for the tests of exact inference and of training.
 *
 * Ownership: each create has its destroy; partitions copy what they need from the graph.
 */
#ifndef TESTS_MODEL_MADE_GRAPH_H
#define TESTS_MODEL_MADE_GRAPH_H

#include "graph/batch.h"
#include "graph/part.h"

struct made_graph {
    uint32_t num_nodes;
    uint32_t width;
    uint32_t classes;
    uint32_t *index; /* in-edges by original ID */
    uint32_t *sources;
    uint32_t *in_degrees;
    uint32_t *out_degrees;
    float *features; /* [num_nodes][width] */
    float *labels;   /* [num_nodes] */
    float *weights;  /* of the in-edges; NULL, as it is made: they have none */
};

/* Nodes of `classes` blocks; an edge stays in its block with probability inside. Features are
 * noise of +-1 around the block's own direction, weighted by signal. Node 0 has no in-edge,
 * node 1 one from itself. */
struct made_graph *made_graph_create(uint32_t num_nodes, uint32_t degree, uint32_t classes,
                                     uint32_t width, double inside, double signal, uint64_t seed);
void made_graph_destroy(struct made_graph *graph);

/* Gives the edges weights: from 0 to 2, one in eight of them 0. */
void made_graph_weigh(struct made_graph *graph, uint64_t seed);

/* Partitions by the owner of each node; weights are the edges' feature "weight"; features are
 * stored as dtype (TR_F32 or TR_F64). */
struct made_parts {
    uint32_t count;
    struct graph_part **parts;
    struct graph_types types;
};
struct made_parts *made_parts_create(const struct made_graph *graph, const uint32_t *owners,
                                     uint32_t count, enum tr_dtype dtype);
void made_parts_destroy(struct made_parts *parts);

/* A batch of the given seeds, free it with made_batch_destroy. fanout 0: all in-edges. Weights are
 * its tables, and IDs the original ones. */
struct mini_batch *made_graph_batch(const struct made_graph *graph, const uint32_t *seeds,
                                    uint32_t num_seeds, uint32_t layers, uint32_t fanout,
                                    uint64_t key);

#endif
