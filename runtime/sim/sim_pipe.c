/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/sim/sim_pipe.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

int sim_pipe_init(struct sim_pipe *pipe, size_t capacity)
{
    assert(capacity != 0 && (capacity & (capacity - 1)) == 0);
    *pipe = (struct sim_pipe){ .capacity = capacity, .ring = malloc(capacity) };
    return pipe->ring != NULL ? 0 : TR_ENOMEM;
}

void sim_pipe_fini(struct sim_pipe *pipe)
{
    free(pipe->ring);
    pipe->ring = NULL;
}

static struct pipe_chunk *last(struct sim_pipe *pipe)
{
    return &pipe->chunks[(pipe->first + pipe->count - 1) % SIM_NET_CHUNKS];
}

bool sim_pipe_is_marked(const struct sim_pipe *pipe)
{
    uint32_t at = (pipe->first + pipe->count - 1) % SIM_NET_CHUNKS;
    return pipe->mark != PIPE_BYTES || (pipe->count > 0 && pipe->chunks[at].mark != PIPE_BYTES);
}

/* One chunk more, not before the last; the last one grows when there is no place. */
static void push(struct sim_pipe *pipe, enum pipe_mark mark, uint64_t at_ns)
{
    if (pipe->count > 0 && last(pipe)->at_ns > at_ns)
        at_ns = last(pipe)->at_ns;
    if (pipe->count < SIM_NET_CHUNKS)
        pipe->count++;
    *last(pipe) = (struct pipe_chunk){ .end = pipe->sent, .at_ns = at_ns, .mark = mark };
}

/* Copies between the ring, from position `at` on, and the parts. */
static void copy(struct sim_pipe *pipe, uint64_t at, const struct iovec *parts, int num_parts,
                 size_t bytes, bool in)
{
    for (int i = 0; i < num_parts && bytes > 0; i++) {
        unsigned char *data = parts[i].iov_base;
        size_t left = parts[i].iov_len < bytes ? parts[i].iov_len : bytes;
        bytes -= left;
        while (left > 0) {
            size_t offset = (size_t)(at & (pipe->capacity - 1));
            size_t run = pipe->capacity - offset < left ? pipe->capacity - offset : left;
            memcpy(in ? pipe->ring + offset : data, in ? data : pipe->ring + offset, run);
            at += run;
            data += run;
            left -= run;
        }
    }
}

void sim_pipe_put(struct sim_pipe *pipe, const struct iovec *parts, int num_parts, size_t most,
                  uint64_t at_ns)
{
    assert(most <= sim_pipe_room(pipe) && !sim_pipe_is_marked(pipe));
    copy(pipe, pipe->sent, parts, num_parts, most, true);
    pipe->sent += most;
    push(pipe, PIPE_BYTES, at_ns);
}

void sim_pipe_take(struct sim_pipe *pipe, const struct iovec *parts, int num_parts, size_t most)
{
    assert(most <= sim_pipe_readable(pipe));
    copy(pipe, pipe->taken, parts, num_parts, most, false);
    pipe->taken += most;
}

void sim_pipe_mark(struct sim_pipe *pipe, enum pipe_mark mark, uint64_t at_ns)
{
    /* The first mark counts: an end is not followed by a reset, nor a reset by an end. */
    if (sim_pipe_is_marked(pipe))
        return;
    push(pipe, mark, at_ns);
}

void sim_pipe_cut(struct sim_pipe *pipe, size_t keep)
{
    uint64_t at_ns = pipe->count > 0 ? pipe->chunks[pipe->first].at_ns : 0;
    if (pipe->mark != PIPE_BYTES)
        return;
    pipe->count = 0;
    if (keep < pipe->sent - pipe->arrived)
        pipe->sent = pipe->arrived + keep;
    if (pipe->sent > pipe->arrived)
        push(pipe, PIPE_BYTES, at_ns);
}

void sim_pipe_lose_arrived(struct sim_pipe *pipe)
{
    pipe->taken = pipe->arrived;
}

void sim_pipe_arrive(struct sim_pipe *pipe)
{
    struct pipe_chunk *chunk = &pipe->chunks[pipe->first];
    assert(pipe->count > 0);
    pipe->arrived = chunk->end;
    pipe->mark = chunk->mark;
    pipe->first = (pipe->first + 1) % SIM_NET_CHUNKS;
    pipe->count--;
}

void sim_pipe_flip(struct sim_pipe *pipe, uint64_t at, unsigned bit)
{
    pipe->ring[at & (pipe->capacity - 1)] ^= (unsigned char)(1u << (bit & 7));
}
