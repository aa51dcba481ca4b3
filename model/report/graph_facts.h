/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a graph is partitioned, for a picture of it: nodes, edges, halo and cut of each partition, from
 * its book and, where there are not too many edges, from the edges themselves.
 *
 * Ownership: graph_facts_read fills it, graph_facts_free frees it. Thread rules: any thread; a
 * session is opened and closed meanwhile.
 */
#ifndef MODEL_REPORT_GRAPH_FACTS_H
#define MODEL_REPORT_GRAPH_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <troupe/error.h>
#include <troupe/task.h>

/* Edges beyond that are not counted: 4 GiB of files would be read for a picture. */
#define CUT_EDGES_MAX (UINT64_C(1) << 30)

struct graph_facts {
    char *path;
    char *name, *method;
    uint64_t num_nodes, num_edges;
    double node_balance, edge_balance;
    uint32_t num_parts, halo_hops;
    uint64_t *nodes, *edges, *halo; /* [num_parts] */
    uint64_t counted;               /* edges, for progress */
    uint64_t *cut; /* [num_parts], edges from nodes of other partitions; NULL: not counted */
};

/* TR_ENOENT, TR_EIO and TR_EFORMAT name a file; empty then. Edges that cannot be read are not
 * counted, nor are the others once the task is cancelled. */
int graph_facts_read(struct graph_facts *facts, const char *path, struct tr_task *task,
                     struct tr_error *error);
void graph_facts_free(struct graph_facts *facts);

#endif
