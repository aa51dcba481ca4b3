/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Both ends of edges, by their positions in a partition: what an edge ID as a seed needs. The
 * source is a column; the destination is the row whose edges the position lies among, which is
 * searched for.
 *
 * Thread rules: pure.
 */
#ifndef GRAPH_EDGE_ENDS_H
#define GRAPH_EDGE_ENDS_H

#include <stdbool.h>

#include "graph/part.h"

/* A search through the rows of a large partition misses caches some twenty times: so many rows of a
 * table are copied meanwhile. */
#define EDGE_ENDS_COST 8u

struct edge_ends {
    const struct csc *csc;      /* NULL: none */
    uint64_t first_destination; /* per-type global ID of row 0 */
    bool sources_only;
};

/* Into sources[n]: the global ID of the source of each edge; as below. */
void edge_sources_read(const struct edge_ends *from, const uint32_t *positions, uint64_t n,
                       const uint32_t *places, uint64_t *sources);

/* Into ends[2 * n]: of each edge its source, then its destination, by their per-type global IDs.
 * Positions were checked. places NULL: one edge after the other; else edge i goes to place
 * places[i]. */
void edge_ends_read(const struct edge_ends *from, const uint32_t *positions, uint64_t n,
                    const uint32_t *places, uint64_t *ends);

#endif
