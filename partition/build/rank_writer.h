/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a table of ranks: its rows one after the other, cut into the partitions' slices.
 *
 * Ownership: rank_writer_close ends it, finished or not. One thread at a time.
 */
#ifndef PARTITION_BUILD_RANK_WRITER_H
#define PARTITION_BUILD_RANK_WRITER_H

#include "partition/build/job.h"
#include "partition/store/npy.h"

struct rank_writer {
    struct partition_job *job;
    struct rank_table table;
    uint64_t next;   /* row */
    uint64_t end;    /* of the slice that is open */
    uint32_t opened; /* slices */
    struct npy_writer slice;
};

/* table->mask is borrowed. */
void rank_writer_begin(struct rank_writer *writer, struct partition_job *job,
                       const struct rank_table *table);
/* The global ID of the next rank. */
int rank_writer_add(struct rank_writer *writer, uint64_t id, struct error *error);
/* All were added: the table is listed in job->ranks. */
int rank_writer_finish(struct rank_writer *writer, struct error *error);
void rank_writer_close(struct rank_writer *writer);

/* The global ID of an original one. */
uint64_t rank_writer_global(const struct partition_job *job, uint32_t ntype, uint64_t original);

#endif
