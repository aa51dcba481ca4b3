/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One direction of a simulated connection: bytes on their way, and when they arrive.
 *
 * Positions count all bytes ever: taken <= arrived <= sent <= taken + capacity. Chunks arrive in
 * the order in which they were sent; an end (or a reset) is a chunk without bytes.
 */
#ifndef RUNTIME_SIM_SIM_PIPE_H
#define RUNTIME_SIM_SIM_PIPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "runtime/sim/sim_net.h"

enum pipe_mark { PIPE_BYTES, PIPE_END, PIPE_RESET };

struct pipe_chunk {
    uint64_t end, at_ns; /* position after it; when it arrives */
    enum pipe_mark mark;
};

struct sim_pipe {
    unsigned char *ring; /* [capacity], a power of two */
    size_t capacity;
    uint64_t taken, arrived, sent;
    struct pipe_chunk chunks[SIM_NET_CHUNKS];
    uint32_t first, count;
    enum pipe_mark mark; /* PIPE_END, PIPE_RESET: arrived */
};

int sim_pipe_init(struct sim_pipe *pipe, size_t capacity);
void sim_pipe_fini(struct sim_pipe *pipe);

static inline size_t sim_pipe_room(const struct sim_pipe *pipe)
{
    return pipe->capacity - (size_t)(pipe->sent - pipe->taken);
}

static inline size_t sim_pipe_readable(const struct sim_pipe *pipe)
{
    return (size_t)(pipe->arrived - pipe->taken);
}

/* Puts bytes of the parts (at most `most`, which there is room for), arriving at at_ns or, if
 * that is later, with those before them. */
void sim_pipe_put(struct sim_pipe *pipe, const struct iovec *parts, int num_parts, size_t most,
                  uint64_t at_ns);
/* Takes at most `most` of the bytes that arrived. */
void sim_pipe_take(struct sim_pipe *pipe, const struct iovec *parts, int num_parts, size_t most);

/* The last that comes; what is sent later is ignored. */
void sim_pipe_mark(struct sim_pipe *pipe, enum pipe_mark mark, uint64_t at_ns);
bool sim_pipe_is_marked(const struct sim_pipe *pipe);

/* Loses what is on its way but for the first `keep` bytes of it. */
void sim_pipe_cut(struct sim_pipe *pipe, size_t keep);
void sim_pipe_lose_arrived(struct sim_pipe *pipe);

/* The first chunk arrives; its bytes are [pipe->arrived before it, pipe->arrived). */
void sim_pipe_arrive(struct sim_pipe *pipe);
void sim_pipe_flip(struct sim_pipe *pipe, uint64_t at, unsigned bit);

#endif
