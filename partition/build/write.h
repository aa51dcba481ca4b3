/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing the arrays of partitions; each file of the room writes one kind.
 *
 * Order: edges first (they count the degrees), then nodes, rows, halos, deal. Thread rules and
 * ownership: see job.h.
 */
#ifndef PARTITION_BUILD_WRITE_H
#define PARTITION_BUILD_WRITE_H

#include "partition/build/assign.h"
#include "partition/build/id_plan.h"

/* Topology of one edge type: index, indices, edge_rank, original edge IDs, edge features. Adds to
 * job->in_degrees and out_degrees. *column_table: columns are local IDs. */
int write_edges(struct partition_job *job, uint32_t etype, bool *column_table, struct error *error);

/* Original IDs and degrees of one node type, and trainer IDs where they are named. */
int write_nodes(struct partition_job *job, const struct assignment *assignment, uint32_t ntype,
                struct error *error);

/* The rows of a table of nodes; of one that is sparse (its elements are counted in the job). */
int write_csr_rows(struct partition_job *job, uint32_t table, struct error *error);
int write_node_rows(struct partition_job *job, uint32_t table, struct error *error);

/* Which edge has which rank, when the edges of a type are counted: in_degrees are of them alone, by
 * original destination. */
int write_edge_runs(struct partition_job *job, uint32_t etype, const uint32_t *in_degrees,
                    struct error *error);

/* Out-edges, with their sources' owners; positions: as below. */
int write_out_edges(struct partition_job *job, uint32_t etype, const uint64_t *positions,
                    struct error *error);

/* The rows of a table of edges; positions: the per-type global ID of each, by original edge ID. */
int write_edge_rows(struct partition_job *job, uint32_t table, const uint64_t *positions,
                    struct error *error);

/* Halo lists of hops 1 .. halo_hops of every partition; counts cut edges and halo nodes. */
int write_halos(struct partition_job *job, const bool *column_tables, struct error *error);

/* The ranks of all nodes of a type and of its masks: tables of 0 and 1, one a node. Where global
 * IDs are original IDs the ranks of all are not stored. */
int write_ranks(struct partition_job *job, uint32_t ntype, struct error *error);

/* A list of names, as the raw graph has it. */
int write_names(struct partition_job *job, uint32_t number, struct error *error);

/* The trainer of each training node, evened out, and the ranks of those that are dealt. */
int write_deal(struct partition_job *job, const struct assignment *assignment, struct error *error);

#endif
