/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The crew: threads for work that takes longer than a turn or blocks.
 *
 * A job is done in pieces; between pieces it can be cancelled. `done` runs on the actor's loop,
 * exactly once. An actor that ends cancels its jobs and waits for them before its fini, so `self`
 * and what the job points to stay valid. In the simulator the crew is an ordered queue.
 *
 * Ownership: struct job is the actor's (embedded or allocated) from submission until done.
 * Thread rules: crew_submit and crew_cancel on self's loop; piece runs on a crew thread and
 * touches only what the job was given.
 */
#ifndef RUNTIME_CORE_CREW_H
#define RUNTIME_CORE_CREW_H

#include <stdatomic.h>
#include <stddef.h>

#include "runtime/base/parallel.h"
#include "runtime/core/actor.h"
#include "runtime/core/post.h"

enum { CREW_DONE = 0, CREW_MORE = 1 };

struct job {
    /* One piece, at most about 100 ms: CREW_MORE, CREW_DONE or TR_E*. */
    int (*piece)(struct job *job);
    /* status: 0, the piece's TR_E*, or TR_ECANCELED. */
    void (*done)(struct actor *self, struct job *job, int status);
    void *arg;
    /* It does nothing but wait (for a name, say), perhaps for long: it stands in no line with work,
     * and work in none with it. */
    bool waits;
    /* Below: the crew's. */
    struct post post;
    struct actor *actor;
    struct job *next, *actor_next, *actor_before;
    atomic_bool canceled;
    int status;
};

/* Set piece, done, arg and waits, zero the rest. Never fails; jobs wait in order of submission. */
void crew_submit(struct actor *self, struct job *job);

/* Asks for an end before the next piece; done follows with TR_ECANCELED, or with the status of a
 * job that was faster. */
void crew_cancel(struct job *job);

/* A struct parallel of `threads` helpers and the calling thread (workers = threads + 1), for
 * model/ and partition/; threads 0: serial. NULL: out of memory or threads. One thread calls run
 * at a time; run must not be nested. */
struct parallel *crew_parallel_create(size_t threads);
/* The same, whose helpers take THREAD_STACK_SIGNAL (thread.h), for a program that has a handler for
 * it: a watcher of the calling thread may find that it hangs because a helper does. */
struct parallel *crew_parallel_create_watched(size_t threads);
void crew_parallel_destroy(struct parallel *parallel);

#endif
