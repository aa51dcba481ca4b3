/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One run of the simulator: a seed in, a verdict out.
 *
 * Thread rules: one thread a run; runs share nothing.
 */
#ifndef SIM_RUN_H
#define SIM_RUN_H

#include <stdint.h>
#include <stdio.h>

#include "runtime/base/error.h"
#include "runtime/base/failpoint.h"

/* The points at which processes of a run die; one may be there twice. */
struct sim_failpoints {
    enum failpoint points[2];
    uint32_t count;
};

struct sim_result {
    uint64_t seed;
    uint64_t trace; /* equal for equal runs */
    uint64_t steps;
    uint64_t virtual_ns;
    uint64_t batches, faults, restarts, failures_told;
    uint64_t skips; /* saves that a trainer had no part for, since its disk refused it */
    uint64_t copies, fetches, drops; /* of parts, that hosts asked of each other */
    uint64_t replaced;               /* hosts, by empty ones */
    uint64_t writes;                 /* of tensors, acknowledged */
    uint64_t reads;      /* of the graph, through the clients of a cluster's processes */
    uint64_t queries;    /* those of them about edges by ID */
    uint64_t launches;   /* of a cluster's job, */
    uint64_t spent;      /* those that failed, with no restart left, */
    uint64_t stopped;    /* those that were stopped, */
    uint64_t killed;     /* and those whose launcher was killed */
    uint64_t interrupts; /* of group calls, which their trainers made again */
    uint64_t shuts;      /* of groups, which their trainers opened anew */
    uint64_t excluding;  /* single draws that left edges out */
    uint64_t outlived;   /* a bit for each trainer that took a batch of an epoch in the middle of
                          * which a server died that it has drawn by messages */
    uint64_t leaves;     /* of trainers that were asked to stop, behind a checkpoint */
    uint64_t signals;    /* to processes, for which jobs were stopped */
    uint64_t struck;     /* a bit for each fail-point where a process died */
    struct error error;  /* what was wrong; code 0: nothing */
};

/* Runs the seed once. verbose (may be NULL) gets the scenario and the log of its node. */
void sim_run(uint64_t seed, FILE *verbose, struct sim_result *result);

/* As sim_run, of a whole cluster with these fail-points, whatever the seed would choose. */
void sim_run_failpoints(uint64_t seed, const struct sim_failpoints *die_at, FILE *verbose,
                        struct sim_result *result);

/* Runs it twice, and finds it wrong too when the second run was another. */
void sim_run_twice(uint64_t seed, FILE *verbose, struct sim_result *result);

#endif
