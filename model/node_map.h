/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where each node of a whole graph lives, by original ID, and back from global IDs.
 *
 * Ownership: the map owns its tables and borrows the partitions. Immutable once made; any
 * thread may read it.
 */
#ifndef MODEL_NODE_MAP_H
#define MODEL_NODE_MAP_H

#include "graph/part.h"

struct node_place {
    uint32_t part; /* index among the partitions given, not their part_id */
    uint32_t row;
};

struct node_map {
    uint32_t num_nodes;
    struct node_place *places; /* [num_nodes], by original ID */
    uint32_t *originals;       /* [num_nodes], by global ID */
};

/* Of one node type. TR_ETOOBIG for 2^32 nodes; TR_EFORMAT where the partitions
 * do not hold each original and each global ID once; TR_ENOMEM. */
int node_map_init(struct node_map *map, const struct graph_part *const *parts, uint32_t num_parts,
                  uint32_t ntype, struct error *error);
void node_map_fini(struct node_map *map);

/* The original ID behind a column of a partition's CSC. */
static inline uint32_t node_map_source(const struct node_map *map, const struct csc *csc,
                                       uint32_t column)
{
    return map->originals[csc->column_global == NULL ? column : csc->column_global[column]];
}

#endif
