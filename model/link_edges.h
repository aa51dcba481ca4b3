/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The edges of the type that a model of links scores, as it takes them: those that it learns from,
 * as a set of seeds, and the pairs of nodes that are held out to score it (link_split.h). Which
 * they are is said by masks, edge features of one number that is not 0 where they mark an edge, or
 * without masks by the split.
 *
 * Both stand in the order of the original IDs of destinations and then of edges, the same on every
 * placement. Memory: 8 bytes an edge and 8 a node, and 17 an edge more while they are read; with
 * masks 16 to 32 for each edge that is held out.
 *
 * Ownership: embedded; link_edges_close() frees all. Thread rules: one thread reads them; any may
 * look then.
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
    uint64_t hashes[LINK_PARTS];        /* of the edges of a part, by original IDs of their ends */
    uint32_t *degrees; /* in, out, of destinations and of sources, as a split has them */
    uint64_t *apart;   /* the places of the split's table */
};

/* Names of edge features, by part; NULL or "": no edge is of it. */
struct link_masks {
    const char *names[LINK_PARTS];
};

/* Fills the split's degrees and table, which are the edges'; its types say which they are. masks:
 * NULL for none. TR_ENOENT: there is no such feature; TR_EMISMATCH: it has several numbers an edge;
 * TR_EUNSUPPORTED: its partitions do not say which edge has a rank; TR_ETOOBIG: 2^32 nodes;
 * TR_EINVAL: there is nothing to learn from; TR_ECANCELED; TR_ENOMEM. */
int link_edges_open(struct link_edges *edges, struct tr_graph *graph, struct link_split *split,
                    const struct link_masks *masks, const struct cancel *cancel,
                    struct error *error);
void link_edges_close(struct link_edges *edges);

#endif
