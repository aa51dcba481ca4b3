/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A watch over threads that compute: one that makes no progress is reported with its stack, and its
 * process ends as a failure, so that a launcher puts another one in its place.
 *
 * A thread is watched from watchdog_enter to watchdog_leave, in which it computes and waits for
 * nobody: waiting for batches or for other trainers lies outside, however long that takes. Inside,
 * progress is a leave, or the watchdog_beat of a thread that did a piece of a long work. Time in
 * which the whole process stood still does not count (ticks.h). When the process is asked to stop, a
 * thread that does not come so far within WATCHDOG_STOP_NS is not waited for.
 *
 * Ownership: embedded; watched places are the caller's, and are not moved while it runs. Thread
 * rules: start and stop on one thread; the others on any.
 */
#ifndef CLI_TRAIN_WATCHDOG_H
#define CLI_TRAIN_WATCHDOG_H

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

struct watchdog {
    uint64_t limit_ns; /* 0: only of a process that is asked to stop */
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
