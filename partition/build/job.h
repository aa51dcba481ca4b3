/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One run of partitioning, as its steps hand it on.
 *
 * Ownership: partition_graph owns the job and what it points to. Thread rules: one thread;
 * bodies of parallel loops write only what their index owns.
 */
#ifndef PARTITION_BUILD_JOB_H
#define PARTITION_BUILD_JOB_H

#include <pthread.h>

#include "partition/build/partition.h"
#include "partition/store/book.h"
#include "partition/store/checksums.h"
#include "partition/store/npy.h"

/* Pieces between which cancellation is asked: a few milliseconds of work each. */
#define JOB_BLOCK_EDGES ((uint64_t)1 << 19)
#define JOB_BLOCK_BYTES ((size_t)4 << 20)

struct id_plan;

/* What NAME.json says of a sparse table. */
struct job_csr {
    uint32_t row_nnz_max;
    uint64_t *nnz; /* [num_parts]; NULL: the table is dense, or not written yet */
};

struct partition_job {
    struct raw_graph *raw;
    const struct partition_options *options;
    const struct partition_hooks *hooks;
    struct parallel *parallel;
    struct files *files;
    const char *folder; /* where the directory is being written */
    struct id_plan *plan;
    uint32_t **in_degrees; /* [ntype][original ID], over all edge types */
    uint32_t **out_degrees;
    struct partition_report *report;
    struct checksums checksums; /* of the arrays that are finished */
    struct job_csr *csr;        /* [raw->num_tables] */
    struct book ranks;          /* only its tables of ranks: of the arrays that are finished */
    pthread_mutex_t summing;    /* over checksums: bodies of parallel loops finish arrays */
};

/* TR_ECANCELED if somebody asked for the end; else tells how far the stage is. */
int job_step(struct partition_job *job, const char *stage, uint64_t done, uint64_t total,
             struct error *error);
/* The same, of so many of what unit says, as "edges"; "": of no unit that means something to a user. */
int job_step_of(struct partition_job *job, const char *stage, const char *unit, uint64_t done,
                uint64_t total, struct error *error);

/* "FOLDER/part<i>/NAME" or with part UINT32_MAX "FOLDER/NAME"; frees name. NULL: no memory. */
char *job_path(const struct partition_job *job, uint32_t part, char *name);

/* Finishes an array of a partition (UINT32_MAX: of the graph) and keeps its checksum for NAME.json.
 * Any thread of a parallel loop. */
int job_finish_array(struct partition_job *job, uint32_t part, struct npy_writer *writer,
                     struct error *error);

/* Sets TR_ENOMEM with what the memory was for. */
int job_no_memory(struct error *error, const char *what, uint64_t bytes);

double job_seconds(void);

/* Node types above this have global IDs that don't fit a column. */
static inline uint64_t job_columns_max(const struct partition_options *options)
{
    return options->columns_max == 0 ? UINT64_C(1) << 32 : options->columns_max;
}

#endif
