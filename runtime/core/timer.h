/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Timers of actors.
 *
 * The memory is the caller's (embedded in an actor's state, zeroed before first use); starting
 * and stopping cannot fail, since the loop's heap is made of the timers themselves (a pairing
 * heap: Fredman, Sedgewick, Sleator, Tarjan 1986). One event of the env serves all timers of a
 * loop. A timer of an actor that ends is stopped.
 */
#ifndef RUNTIME_CORE_TIMER_H
#define RUNTIME_CORE_TIMER_H

#include <stdbool.h>
#include <stdint.h>

struct actor;

struct timer {
    uint64_t at_ns;
    uint64_t order; /* timers of one time fire in the order of their starting */
    void (*fire)(struct actor *self, void *arg);
    void *arg;
    struct actor *actor;                     /* NULL: not started */
    struct timer *child, *sibling, *before;  /* the heap */
    struct timer *actor_next, *actor_before; /* the actor's started timers */
};

/* Fires once at that time of actor_now_ns (or as soon as possible after). A started timer is
 * moved. The timer may be started again, or freed, in fire. */
void timer_start(struct actor *self, struct timer *timer, uint64_t at_ns,
                 void (*fire)(struct actor *self, void *arg), void *arg);

/* After this it does not fire. Stopping a timer that is not started does nothing. */
void timer_stop(struct timer *timer);

static inline bool timer_is_started(const struct timer *timer)
{
    return timer->actor != 0;
}

#endif
