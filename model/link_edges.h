/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The edges of a graph as a model of links takes them: those that it learns from, as a set of seeds, and
 * the pairs of nodes that are held out to score it (link_split.h).
 *
 * Both stand in the order of the original IDs of destinations and then of edges, the same on every
 * placement. Memory: 8 bytes an edge and 8 a node.
 *
 * Ownership: embedded; link_edges_close() frees all. Thread rules: one thread reads them; any may look
 * then.
 */
#ifndef MODEL_LINK_EDGES_H
#define MODEL_LINK_EDGES_H

#include <troupe/graph.h>

#include "model/link_split.h"
#include "runtime/base/cancel.h"
#include "runtime/base/error.h"

/* Ends by original ID. */
struct link_pairs {
    size_t count, room;
    uint32_t *sources, *destinations; /* [count] */
};

struct link_edges {
    struct tr_nodes *train;             /* the set */
    struct link_pairs held[LINK_PARTS]; /* of LINK_TRAIN: none */
    uint32_t *degrees;                  /* [2][nodes]: in, out, as a split has them */
};

/* Fills the split's degrees, which are the edges'. Of a graph with one edge type, among nodes of one type. TR_EUNSUPPORTED: its partitions do not say which
 * edge has a rank; TR_ETOOBIG: 2^32 nodes; TR_EINVAL: there is nothing to learn from; TR_ECANCELED;
 * TR_ENOMEM. */
int link_edges_open(struct link_edges *edges, struct tr_graph *graph, struct link_split *split,
                    const struct cancel *cancel, struct error *error);
void link_edges_close(struct link_edges *edges);

#endif
