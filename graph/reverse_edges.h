/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reverse of an edge, where a graph says by the original IDs of its edges which belongs to
 * which: the edge that was made of the same one, with its ends swapped. Edges of a node stand in the
 * order of their original IDs, so it is found among the in-edges of its destination by a search,
 * however many these are.
 *
 * Thread rules: pure.
 */
#ifndef GRAPH_REVERSE_EDGES_H
#define GRAPH_REVERSE_EDGES_H

#include <stdint.h>

#include "graph/part.h"

#define REVERSE_NO_EDGE UINT64_MAX

/* Which original ID the reverse has. */
enum reverse_rule {
    REVERSE_SAME = 0,     /* the edge's own, in another edge type */
    REVERSE_HALVES = 1,   /* as far into the other half of the edge type */
    REVERSE_ADJACENT = 2, /* the one before or the one behind */
    REVERSE_NONE = 3,     /* there are no reverses */
    REVERSE_LISTED = 4,   /* nobody is asked: each edge comes with its reverse */
};
#define REVERSE_RULES 5u

/* IDs that the reverse may have: the edge with swapped ends among them is it. */
static inline uint32_t reverse_candidates(uint32_t rule)
{
    return rule >= REVERSE_NONE ? 0 : rule == REVERSE_ADJACENT ? 2 : 1;
}

/* The i-th of them for an edge, of a type of so many. REVERSE_NO_EDGE: there is no such edge. */
uint64_t reverse_candidate(uint32_t rule, uint64_t original, uint64_t num_edges, uint32_t i);

/* In the place of an original ID: any edge from the source will do, and is searched for among all
 * in-edges of the row. */
#define REVERSE_ANY_EDGE (UINT64_MAX - 1)

/* An in-edge of a row, by its original ID and its source. */
struct reverse_question {
    uint64_t original;
    uint64_t source; /* a per-type global ID */
    uint32_t row;
};

/* Whether it can be asked for: the row is one, and original IDs are loaded. */
bool reverse_edges_are_known(const struct edge_part *edges);

/* A search through in-edges in pieces. */
struct edge_scan {
    uint64_t at;   /* how far the question is through those of its row; 0 with another question */
    uint64_t left; /* edges that the piece may look at still */
};

/* The first edge of the row from the source, or REVERSE_NO_EDGE, and then `at` is 0; 1: the piece
 * ended before. There is such a row. */
int edge_scan_find(const struct edge_part *edges, const struct reverse_question *asked,
                   struct edge_scan *scan, uint64_t *edge);

/* Its per-type global ID, or REVERSE_NO_EDGE. Original IDs are known, and there is such a row. */
uint64_t reverse_edge_find(const struct edge_part *edges, const struct reverse_question *asked);

#endif
