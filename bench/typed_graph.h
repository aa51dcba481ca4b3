/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The big graph with its edges in several edge types, which all lead from its node type to itself:
 * the edge at position p of a row is of type p modulo their number. So the types are equally dense,
 * and k draws of each type without replacement are as many edges as k times their number of one
 * type, whatever the degree.
 *
 * Ownership: the struct owns its edges; the nodes are the big graph's, which outlives it.
 */
#ifndef BENCH_TYPED_GRAPH_H
#define BENCH_TYPED_GRAPH_H

#include "bench/biggraph.h"

#define TYPED_GRAPH_TYPES 8u

struct typed_graph {
    struct graph_types types;
    struct graph_part part;
    struct edge_part edges[TYPED_GRAPH_TYPES];
    uint64_t *index[TYPED_GRAPH_TYPES];
    uint32_t *indices[TYPED_GRAPH_TYPES];
};

/* TR_ENOMEM. */
int typed_graph_init(struct typed_graph *typed, const struct biggraph *graph);
void typed_graph_fini(struct typed_graph *typed);

#endif
