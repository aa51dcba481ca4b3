/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A counter with one writer (its loop) and readers on any thread.
 *
 * Relaxed loads and stores: a reader wants a recent number, and no other memory is published by it.
 */
#ifndef RUNTIME_BASE_COUNTER_H
#define RUNTIME_BASE_COUNTER_H

#include <stdatomic.h>
#include <stdint.h>

typedef _Atomic uint64_t counter;

static inline void counter_add(counter *c, uint64_t n)
{
    atomic_store_explicit(c, atomic_load_explicit(c, memory_order_relaxed) + n,
                          memory_order_relaxed);
}

/* Takes off what was added before: such a counter is a level. */
static inline void counter_sub(counter *c, uint64_t n)
{
    atomic_store_explicit(c, atomic_load_explicit(c, memory_order_relaxed) - n,
                          memory_order_relaxed);
}

/* It becomes n where n is more. */
static inline void counter_raise(counter *c, uint64_t n)
{
    if (n > atomic_load_explicit(c, memory_order_relaxed))
        atomic_store_explicit(c, n, memory_order_relaxed);
}

static inline uint64_t counter_get(const counter *c)
{
    return atomic_load_explicit(c, memory_order_relaxed);
}

#endif
