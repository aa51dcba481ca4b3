/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many seeds on all cores: each worker is a process, since a broken invariant aborts it.
 *
 * A worker that dies or takes too long fails the seed that it ran, and another one goes on.
 * Workers with a deadline begin no seed after it, and let those under way end.
 *
 * Thread rules: the process has one thread; workers are its children and end with the call.
 */
#ifndef SIM_SEED_WORKERS_H
#define SIM_SEED_WORKERS_H

#include "sim/run.h"

/* A seed takes milliseconds; one that takes this long hangs outside of virtual time. */
#define SEED_WORKERS_SEED_SECONDS 120u
#define SEED_WORKERS_WORKERS_MAX 64u

struct seed_workers_options {
    const uint64_t *seeds; /* [num_seeds]; NULL: first_seed and those that follow it */
    uint64_t first_seed;
    uint64_t num_seeds;
    uint64_t until_ns;    /* of CLOCK_MONOTONIC: no seed begins later; 0: no such bound */
    uint32_t workers;     /* 1 .. SEED_WORKERS_WORKERS_MAX */
    uint32_t twice_every; /* every so many seeds one runs twice; 0: none */
    const struct sim_failpoints *die_at; /* of every seed; NULL: what each draws */
    FILE *verbose;                       /* sim_run's; NULL: nothing */
};

/* Calls done for each seed, in the order of their ends. TR_ENOMEM, TR_EIO: no workers. */
int seed_workers_run(const struct seed_workers_options *options,
                     void (*done)(void *arg, const struct sim_result *result), void *arg,
                     struct error *error);

#endif
