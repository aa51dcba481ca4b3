/*
 * One run of the simulator: a seed in, a verdict out.
 *
 * Thread rules: one thread a run; runs share nothing.
 */
#ifndef SIM_RUN_H
#define SIM_RUN_H

#include <stdint.h>
#include <stdio.h>

#include "runtime/error.h"

struct sim_result {
    uint64_t seed;
    uint64_t trace; /* equal for equal runs */
    uint64_t steps;
    uint64_t virtual_ns;
    uint64_t batches, faults, restarts, failures_told;
    struct error error; /* what was wrong; code 0: nothing */
};

/* Runs the seed once. verbose (may be NULL) gets the scenario and the log of its node. */
void sim_run(uint64_t seed, FILE *verbose, struct sim_result *result);

/* Runs it twice, and finds it wrong too when the second run was another. */
void sim_run_twice(uint64_t seed, FILE *verbose, struct sim_result *result);

#endif
