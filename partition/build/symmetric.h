/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The graph as METIS takes it: all node types in one numbering, each edge in both directions,
 * once, without self-loops.
 *
 * Types follow each other: node v of type t is number offsets[t] + v. METIS here has 32-bit
 * indices: what does not fit is refused from the counts, before memory is spent.
 *
 * Ownership: symmetric_fini frees. Thread rules: one thread; loops on the job's parallel.
 */
#ifndef PARTITION_BUILD_SYMMETRIC_H
#define PARTITION_BUILD_SYMMETRIC_H

#include "partition/build/job.h"

struct symmetric {
    uint64_t num_nodes;
    uint64_t num_entries; /* after duplicates were dropped */
    uint64_t room;        /* entries that adjacency has memory for */
    uint64_t *offsets;    /* [num_ntypes] */
    int32_t *index;       /* [num_nodes + 1] */
    int32_t *adjacency;   /* [num_entries] */
    uint32_t *in_degrees; /* [num_nodes], without self-loops, with parallel edges */
};

/* TR_ETOOBIG with the numbers and the way out, if it does not fit METIS. */
int symmetric_check(const struct raw_graph *raw, struct error *error);
int symmetric_init(struct symmetric *graph, struct partition_job *job, struct error *error);
/* Rows and edges alone; numbers and degrees stay. */
void symmetric_free_edges(struct symmetric *graph);
void symmetric_fini(struct symmetric *graph);

#endif
