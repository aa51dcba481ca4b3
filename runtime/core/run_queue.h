/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The queue of a loop's actors that have something to do.
 *
 * Each message passes it, so it is inlined where it is used. Invariant: an actor stands in the
 * queue of its loop once at most, exactly while `queued`. Thread rules: the loop's own.
 */
#ifndef RUNTIME_CORE_RUN_QUEUE_H
#define RUNTIME_CORE_RUN_QUEUE_H

#include "runtime/core/actor_impl.h"
#include "runtime/core/loop.h"

/* A draw below n in the simulator; 0 elsewhere. */
static inline uint32_t loop_choose(struct loop *loop, uint32_t n)
{
    if (!loop->simulated || n < 2)
        return 0;
    return (uint32_t)(loop->env->ops->random(loop->env) % n);
}

/* Puts an actor at the end of the queue, unless it stands there. */
static inline void loop_queue(struct loop *loop, struct actor *actor)
{
    if (actor->queued)
        return;
    actor->queued = true;
    actor->run_next = NULL;
    if (loop->run_first == NULL)
        loop->run_first = actor;
    else
        loop->run_last->run_next = actor;
    loop->run_last = actor;
    loop->run_count++;
}

/* Takes one out: the one after `before`; NULL: the first. */
static inline void loop_unqueue(struct loop *loop, struct actor *before, struct actor *actor)
{
    if (before == NULL)
        loop->run_first = actor->run_next;
    else
        before->run_next = actor->run_next;
    if (loop->run_last == actor)
        loop->run_last = before;
    loop->run_count--;
    actor->queued = false;
}

/* Takes one out to have its turn: the first; in the simulator any. The queue is not empty. */
static inline struct actor *loop_dequeue(struct loop *loop)
{
    uint32_t skip = loop_choose(loop, loop->run_count);
    struct actor *before = NULL;
    struct actor *actor = loop->run_first;
    for (; skip > 0; skip--) {
        before = actor;
        actor = actor->run_next;
    }
    loop_unqueue(loop, before, actor);
    return actor;
}

#endif
