/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The open calls and monitors of a loop's actors, found by the id that travels in frames.
 *
 * An entry is used again with the next generation, so a late reply finds nothing. Entries stand in
 * chunks that never move, since their timers are in the loop's heap.
 */
#ifndef RUNTIME_CORE_CALLS_H
#define RUNTIME_CORE_CALLS_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/base/counter.h"
#include "runtime/core/call.h"
#include "runtime/core/monitor.h"
#include "runtime/core/timer.h"

#define CALLS_CHUNK 64u

struct call {
    uint32_t index, generation;
    struct actor *actor; /* NULL: free */
    struct address to;
    call_done *done;    /* of a call */
    monitor_down *down; /* of a monitor; one of the two is set */
    void *arg;
    struct timer timer;
    struct call *next, *before; /* of the actor's open calls; next also links the free ones */
};

struct calls {
    struct call **chunks;
    uint32_t num_chunks;
    struct call *free;
    counter opened, completed;
};

void calls_fini(struct calls *calls);

/* An entry for self, linked to it; NULL: *rc says TR_ENOMEM or TR_EFULL. */
struct call *calls_open(struct actor *self, int *rc);

/* The open call of that id and actor, or NULL. */
struct call *calls_find(struct calls *calls, const struct actor *actor, uint64_t id);

static inline uint64_t call_number(const struct call *call)
{
    return (uint64_t)call->generation << 32 | call->index;
}

/* Closes the entry and notifies no actor. */
void calls_drop(struct calls *calls, struct call *call);

/* Closes the entry, then notifies its actor, to which the reply goes; or it is released here. */
void call_complete(struct call *call, int status, struct message *reply);

/* A reply came to self: completes its call, or is late and released. */
void calls_answer(struct actor *self, struct message *reply);

#endif
