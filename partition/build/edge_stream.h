/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All edges of a type, block by block, with the next block read while this one is worked on.
 *
 * Ownership: the stream owns its blocks for the call. Thread rules: one index of each parallel loop
 * reads the raw graph, the others get the block that was read before.
 */
#ifndef PARTITION_BUILD_EDGE_STREAM_H
#define PARTITION_BUILD_EDGE_STREAM_H

#include "partition/build/job.h"

struct edge_block {
    uint64_t first; /* original ID of the first edge */
    uint64_t count;
    const uint64_t *src; /* original IDs, checked */
    const uint64_t *dst;
};

/* Calls body(arg, block, task) for each block in order and each task in [0, tasks). */
int edge_stream_run(struct partition_job *job, uint32_t etype, const char *stage, size_t tasks,
                    void (*body)(void *arg, const struct edge_block *block, size_t task), void *arg,
                    struct error *error);

#endif
