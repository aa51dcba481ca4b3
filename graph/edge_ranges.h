/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the edges of nodes lie: the edges of a row follow one another, so the first of them and their
 * number say which they are.
 *
 * Thread rules: pure.
 */
#ifndef GRAPH_EDGE_RANGES_H
#define GRAPH_EDGE_RANGES_H

#include <stdint.h>

struct edge_ranges {
    const uint64_t *index; /* [rows + 1]; NULL: none */
    uint64_t first;        /* the number of the edge at index 0 */
};

/* Into ranges[2 * n]: of each row the number of its first edge, then how many it has. Rows were
 * checked. places NULL: one row after the other; else row i goes to place places[i]. */
void edge_ranges_read(const struct edge_ranges *from, const uint32_t *rows, uint64_t n,
                      const uint32_t *places, uint64_t *ranges);

#endif
