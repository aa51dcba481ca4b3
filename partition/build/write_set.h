/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The same array in many partitions, written at once: one file a partition, appended to.
 *
 * A partition's rows come in the order of original IDs, so a single pass over original IDs
 * appends to all of them. Each open file has a buffer; where there are more partitions than
 * WRITE_SET_PARTS, callers make a pass for each group of them.
 *
 * Ownership: write_set_close ends it, finished or not. One thread at a time.
 */
#ifndef PARTITION_BUILD_WRITE_SET_H
#define PARTITION_BUILD_WRITE_SET_H

#include "partition/build/job.h"
#include "partition/store/npy.h"

/* 1 MiB of buffer each; four sets at once stay under 128 MiB. */
#define WRITE_SET_PARTS 32

struct write_set {
    struct partition_job *job;
    uint32_t first; /* partition */
    uint32_t count;
    struct npy_writer writers[WRITE_SET_PARTS];
};

/* Rows of ndim dimensions; rows[i] of them for partition first + i. name is copied. */
int write_set_open(struct write_set *set, struct partition_job *job, const char *name,
                   const char *descr, uint32_t ndim, const uint64_t *shape, uint32_t first,
                   uint32_t count, const uint64_t *rows, struct error *error);
int write_set_finish(struct write_set *set, struct error *error);
void write_set_close(struct write_set *set);

/* Whether the set writes this partition. */
static inline bool write_set_has(const struct write_set *set, uint32_t part)
{
    return part - set->first < set->count;
}

static inline int write_set_append(struct write_set *set, uint32_t part, const void *data,
                                   size_t size, struct error *error)
{
    return npy_append(&set->writers[part - set->first], data, size, error);
}

#endif
