/* SPDX-License-Identifier: Apache-2.0 */
/*
 * env: the only door through which the core reaches clock, randomness, threads and I/O.
 *
 * Two implementations: runtime/event (libevent, threads, sockets, real time) and runtime/sim (every
 * loop of every node in one thread, from one seed, on a virtual clock). The core (loops, actors,
 * calls, timers) is the same code over both.
 *
 * Ownership: the env outlives its nodes. Thread rules: all functions from any thread unless said.
 */
#ifndef RUNTIME_CORE_ENV_H
#define RUNTIME_CORE_ENV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/base/error.h"

struct env;
struct job;
struct loop;
struct stream_ops;

struct env_ops {
    uint64_t (*now_ns)(struct env *env);
    /* As now_ns but may be some ms old, and nearly free; to notice turns that are too long. */
    uint64_t (*coarse_ns)(struct env *env);
    uint64_t (*random)(struct env *env);
    /* The wall clock, which may be set: milliseconds since 1970. */
    uint64_t (*wall_ms)(struct env *env);
    /* Makes what drives the loop (base, eventfd, timer; or a place in the simulator); *driver is
     * handed back to the functions below. */
    int (*loop_create)(struct env *env, struct loop *loop, void **driver);
    int (*loop_start)(struct env *env, void *driver);
    void (*loop_wake)(struct env *env, void *driver);
    /* Waits for the thread of a loop that was started; nothing where it was not. Once. */
    void (*loop_join)(struct env *env, void *driver);
    /* After loop_join, or of a loop that was never started, when no thread wakes it any more. */
    void (*loop_destroy)(struct env *env, void *driver);
    void (*crew_push)(struct env *env, struct job *job);
    /* Should this allocation fail? Only the simulator ever says yes. */
    bool (*fails)(struct env *env);
    /* How late a timer fires that is started now; simulator only, NULL elsewhere. */
    uint64_t (*timer_late_ns)(struct env *env);
    /* Tells the simulator what happened, for its trace hash. */
    void (*trace)(struct env *env, uint64_t a, uint64_t b);
    void (*destroy)(struct env *env);
};

struct env {
    const struct env_ops *ops;
    const struct stream_ops *streams; /* stream_impl.h */
    uint64_t memory_bytes;            /* of the machine, or of what it gives this process */
    bool simulated;                   /* order of runnable actors is drawn, allocations may fail */
};

/* All nodes must have been destroyed. NULL is ignored. */
void env_destroy(struct env *env);

static inline uint64_t env_now_ns(struct env *env)
{
    return env->ops->now_ns(env);
}

static inline uint64_t env_wall_ms(struct env *env)
{
    return env->ops->wall_ms(env);
}

#endif
