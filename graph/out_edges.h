/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The out-edges of owned nodes, of one edge type: a CSR beside the in-edges, with explicit edge IDs,
 * since an edge lies with its destination and has its ID from there.
 *
 * The out-edges of a row stand in the order of their original edge IDs, as in-edges do. All out-edges
 * of a type are numbered by *places*: partition by partition, row by row.
 *
 * Files of them are mapped where they were written, and few ask: so they are checked where they are
 * read, not when they are opened.
 *
 * Thread rules: pure.
 */
#ifndef GRAPH_OUT_EDGES_H
#define GRAPH_OUT_EDGES_H

#include <stdint.h>

struct out_edges {
    uint64_t num_rows;
    uint64_t num_edges;
    const uint64_t *index;         /* [num_rows + 1], checked; NULL: they were not written */
    const uint32_t *destinations;  /* [num_edges], per-type global IDs, of which there are ... */
    const uint64_t *edge_ids;      /* [num_edges], per-type global IDs, of which there are ... */
    uint64_t first_place;          /* of position 0 */
    uint64_t nodes_end, edges_end; /* ... so many in the graph */
};

/* The first position, of those given, that has a node or an edge that there is not; count: none
 * has. Positions are below num_edges. */
uint64_t out_edges_check(const struct out_edges *from, const uint32_t *positions, uint64_t count);

/* Into edges[2 * n]: of each position the edge's ID, then its destination. Positions were checked.
 * places NULL: one after the other; else position i goes to place places[i]. */
void out_edges_read(const struct out_edges *from, const uint32_t *positions, uint64_t n,
                    const uint32_t *places, uint64_t *edges);

#endif
