/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables of ranks: which node stands where in a set that is ordered by original ID.
 *
 * Members of a set (all nodes of a type, those of a mask, those that were dealt) have the ranks 0,
 * 1, ... in the order of their original IDs, whatever the placement; row r of the set's table is
 * the global ID of the node with rank r. The table is split evenly over the partitions: partition p
 * of P holds the rows [p*N/P, (p+1)*N/P), wherever the nodes are. A range of ranks names a set of
 * any size, and no table is ever whole in one place.
 *
 * Thread rules: pure.
 */
#ifndef GRAPH_RANKS_H
#define GRAPH_RANKS_H

#include <stdint.h>

/* Rows of a table: products with a number of partitions stay within 64 bits. */
#define RANKS_MAX (UINT64_C(1) << 40)

/* The first row of a partition's slice; num_parts: the end of the last one. */
static inline uint64_t ranks_begin(uint64_t num_ranks, uint32_t num_parts, uint32_t part)
{
    return num_ranks * part / num_parts;
}

/* The partition whose slice has that row, which is below num_ranks: the last one that begins at or
 * before it. */
static inline uint32_t ranks_part(uint64_t num_ranks, uint32_t num_parts, uint64_t rank)
{
    return (uint32_t)(((rank + 1) * num_parts - 1) / num_ranks);
}

#endif
