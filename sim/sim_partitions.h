/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A raw graph as it is partitions: which partition has which node, and the partitions in memory.
 *
 * The rule of partitioning is applied plainly here, apart from the partitioner's own code: global
 * IDs by partition, then original ID; edges with their destination, in the order of
 * (destination, original edge ID).
 *
 * Ownership: the struct owns the partitions and borrows the raw graph. Immutable after init.
 */
#ifndef SIM_SIM_PARTITIONS_H
#define SIM_SIM_PARTITIONS_H

#include "graph/graph_meta.h"
#include "graph/part.h"
#include "partition/store/book.h"
#include "sim/sim_graph.h"

#define PLACED_TABLES 2u /* of a node type: "label", then "feat" where it has one */
#define PLACED_LABEL 0u  /* the number of the name, as loaders have it */
#define PLACED_FEATURE 1u
#define PLACED_EDGE_WEIGHTS 0u /* tables of each edge type: its labels, which may be 0, ... */
#define PLACED_EDGE_MASK 1u    /* ... and "kept", of two edges in three */
#define PLACED_EDGES 100u      /* labels of edges ("edge") are those of node types from here on */

struct sim_partitions {
    const struct sim_graph *raw;
    struct book book;
    struct graph_meta meta;
    struct graph_part *parts;           /* [book.num_parts] */
    uint64_t *global[RAW_NTYPES_MAX];   /* [original ID] */
    uint64_t *original[RAW_NTYPES_MAX]; /* [global ID] */
};

/* draws NULL: one partition with everything, in which global IDs are original IDs. Else nodes are
 * spread at random, sometimes leaving partitions empty, and column tables list some node types. */
void sim_partitions_init(struct sim_partitions *partitions, const struct sim_graph *raw,
                         uint32_t num_parts, struct draws *draws);
/* A table of ranks of that set, nodes by original ID in that order, split over the partitions;
 * returns its number. Before actors know of the partitions. */
uint32_t sim_partitions_rank(struct sim_partitions *partitions, uint32_t ntype,
                             const uint64_t *originals, uint64_t count);
void sim_partitions_fini(struct sim_partitions *partitions);

/* The original ID of an edge, from its per-type global ID; UINT64_MAX: there is none. */
uint64_t sim_partitions_edge(const struct sim_partitions *partitions, uint32_t etype,
                             uint64_t edge);

/* Of a range of nodes of a type: snapshots_read_ids, whose arg is a struct sim_partitions. */
int sim_partitions_read_ids(void *arg, uint32_t ntype, uint64_t first, size_t count, uint64_t *ids,
                            struct error *error);

/* The other way round, by going through them all; the edge is there. */
uint64_t sim_partitions_edge_id(const struct sim_partitions *partitions, uint32_t etype,
                                uint64_t original);

#endif
