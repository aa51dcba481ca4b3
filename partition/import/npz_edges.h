/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The edges of an archive: found as an adjacency matrix of sparse rows or as a list of pairs, put in
 * order by the rules for self-loops, reverses and duplicates, and written, weights beside them.
 *
 * The steps are called in the order of their declaration. Thread rules: one thread at a time.
 */
#ifndef PARTITION_IMPORT_NPZ_EDGES_H
#define PARTITION_IMPORT_NPZ_EDGES_H

#include "partition/import/npz_job.h"

/* Fills job->pairs, job->weights, facts->edges_name and, where a matrix says it, job->num_nodes. */
int npz_edges_find(struct npz_job *job);
int npz_edges_arrange(struct npz_job *job);
int npz_edges_look_for_duplicates(struct npz_job *job);
int npz_edges_write(struct npz_job *job);

#endif
