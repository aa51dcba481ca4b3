/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One import of an archive of arrays: what its steps share, and which arrays they read, so that none
 * is left out in silence.
 *
 * The steps (npz_edges, npz_table, npz_masks) report through job->error, whose message names the
 * array. Thread rules: one thread at a time.
 */
#ifndef PARTITION_IMPORT_NPZ_JOB_H
#define PARTITION_IMPORT_NPZ_JOB_H

#include "partition/import/npz_import.h"
#include "partition/raw/duplicates.h"
#include "partition/raw/npz.h"

struct npz_job {
    struct npz npz;
    const struct npz_import_options *options;
    struct npz_facts *facts;
    bool *read; /* [npz.count] */
    struct pairs pairs;
    float *weights; /* [pairs.count] of the archive's edges; NULL: all are 1 */
    uint64_t num_nodes;
    uint64_t feature_width; /* of "feat", once it is written; 0: there is none */
    struct raw_writer *writer;
    const char *path;
    struct error *error;
};

void npz_job_mark(struct npz_job *job, const char *name);

/* The array of the first of these names, as the caller's list spells it, and marks it read; NULL:
 * there is none. */
const char *npz_job_find(struct npz_job *job, const char *const *names);

/* Fills facts->unread. */
int npz_job_list_unread(struct npz_job *job);

int npz_job_no_memory(const struct npz_job *job, const char *what);

#endif
