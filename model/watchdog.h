/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A watch over threads that compute: one that makes no progress is reported, with the threads
 * that are at work. The thread can neither be ended nor hears anything, so the program is to end
 * its process, and a launcher puts another one in its place.
 *
 * A thread is watched from watchdog_enter to watchdog_leave, in which it computes and waits for
 * nobody: waiting for batches or for other trainers lies outside, however long that takes. Inside,
 * progress is a leave, or the watchdog_beat of a thread that did a piece of a long work. Time in
 * which the whole process stood still does not count (ticks.h). When the process is asked to stop,
 * a thread that does not come so far within WATCHDOG_STOP_NS is not waited for.
 *
 * Ownership: embedded; watched places are the caller's, and are not moved while it runs. Thread
 * rules: start and stop on one thread; the others on any.
 */
#ifndef MODEL_WATCHDOG_H
#define MODEL_WATCHDOG_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "runtime/base/cancel.h"
#include "runtime/base/error.h"

/* For a process that is asked to stop: less than what a launcher waits before it kills. */
#define WATCHDOG_STOP_NS UINT64_C(5000000000)

struct watched {
    atomic_bool busy;
    atomic_int thread; /* its number for the system, while busy */
    uint32_t rank;
};

/* Threads of a stall that are named: the first ones say it all. */
#define WATCHDOG_THREADS_MAX 16

struct watchdog_stall {
    uint32_t rank; /* the first that is at work */
    uint64_t ns;   /* for so long */
    bool asked;    /* since it was asked to stop; else since it got on */
    uint32_t num_threads;
    int threads[WATCHDOG_THREADS_MAX]; /* their numbers for the system */
};

struct watchdog {
    uint64_t limit_ns; /* 0: only of a process that is asked to stop */
    /* On the watchdog's thread, until it says that the stall was taken note of: then never
     * again. */
    bool (*stalled)(void *arg, const struct watchdog_stall *stall);
    void *arg;
    const struct cancel *cancel;
    struct watched *const *watched; /* [count] */
    uint32_t count;
    atomic_uint_least64_t beats;
    atomic_bool stopping;
    bool running;
    pthread_t thread;
};

int watchdog_start(struct watchdog *dog, struct error *error);
void watchdog_stop(struct watchdog *dog);

void watchdog_enter(struct watchdog *dog, struct watched *watched);
void watchdog_leave(struct watchdog *dog, struct watched *watched);
void watchdog_beat(struct watchdog *dog);

#endif
