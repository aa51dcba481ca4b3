/* SPDX-License-Identifier: Apache-2.0 */
#include "partition/build/edge_stream.h"

#include <stdlib.h>

struct edge_stream {
    struct partition_job *job;
    uint32_t etype;
    uint64_t total;
    uint64_t *buffers[2]; /* src, then dst */
    struct edge_block current, next;
    void (*body)(void *arg, const struct edge_block *block, size_t task);
    void *arg;
    int rv; /* of the reading */
    struct error *error;
};

/* Reads the block after first into the buffers that the current one does not use. */
static void read_next(struct edge_stream *stream)
{
    uint64_t first = stream->current.first + stream->current.count;
    uint64_t left = stream->total - first;
    uint64_t count = left < JOB_BLOCK_EDGES ? left : JOB_BLOCK_EDGES;
    uint64_t *src = stream->buffers[first / JOB_BLOCK_EDGES % 2], *dst = src + JOB_BLOCK_EDGES;
    stream->next = (struct edge_block){ .first = first, .count = count, .src = src, .dst = dst };
    if (count > 0)
        stream->rv = raw_read_edges(stream->job->raw, stream->etype, first, count, src, dst,
                                    stream->error);
}

static void work(void *arg, size_t index, size_t worker)
{
    struct edge_stream *stream = arg;
    (void)worker;
    if (index == 0)
        read_next(stream);
    else
        stream->body(stream->arg, &stream->current, index - 1);
}

int edge_stream_run(struct partition_job *job, uint32_t etype, const char *stage, size_t tasks,
                    void (*body)(void *arg, const struct edge_block *block, size_t task), void *arg,
                    struct error *error)
{
    struct edge_stream stream = { .job = job,
                                  .etype = etype,
                                  .total = job->raw->num_edges[etype],
                                  .body = body,
                                  .arg = arg,
                                  .error = error };
    size_t bytes = 2 * JOB_BLOCK_EDGES * sizeof(uint64_t);
    int rv = 0;
    for (int i = 0; i < 2 && rv == 0; i++) {
        stream.buffers[i] = malloc(bytes);
        if (stream.buffers[i] == NULL)
            rv = job_no_memory(error, "a block of edges", bytes);
    }
    if (rv == 0) {
        read_next(&stream);
        rv = stream.rv;
    }
    while (rv == 0 && stream.next.count > 0) {
        /* The blocks change places before the loop, whose first index reads the block after this
         * one into `next`. */
        stream.current = stream.next;
        rv = job_step_of(job, stage, "edges", stream.current.first, stream.total, error);
        if (rv != 0)
            break;
        parallel_for(job->parallel, tasks + 1, work, &stream);
        rv = stream.rv;
    }
    free(stream.buffers[0]);
    free(stream.buffers[1]);
    return rv;
}
