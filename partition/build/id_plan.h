/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plan of IDs: what per-type global ID each node gets.
 *
 * Nodes are ordered by partition, then type, then original ID; so inside a partition rows stand in
 * the order of original IDs, and one pass over original IDs writes the rows of every partition in
 * order.
 *
 * Ownership: id_plan_fini frees its own; parts are borrowed from the assignment.
 * Thread rules: immutable after id_plan_init; any thread may read.
 */
#ifndef PARTITION_BUILD_ID_PLAN_H
#define PARTITION_BUILD_ID_PLAN_H

#include "partition/build/assign.h"

struct id_plan {
    uint32_t num_ntypes;
    uint32_t num_parts;
    uint32_t *const *parts; /* [ntype][original ID] */
    uint64_t columns_max;   /* types above this have 64-bit maps */
    uint64_t *num_nodes;    /* [ntype] */
    uint64_t *node_counts;  /* [ntype * num_parts + part] */
    uint64_t *node_begins;  /* [ntype * num_parts + part], per-type global IDs */
    uint64_t *edge_counts;  /* [etype * num_parts + part], filled as edges are counted */
    uint64_t *out_counts;   /* [etype * num_parts + part], of out-edges, where these are written */
    uint32_t **global32;    /* [ntype][original ID]; NULL for a type above columns_max */
    uint64_t **global64;    /* for those */
};

int id_plan_init(struct id_plan *plan, const struct assignment *assignment,
                 const struct partition_job *job, struct error *error);
void id_plan_fini(struct id_plan *plan);

#endif
