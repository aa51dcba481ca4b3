/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The options of `troupe simulate`, as the table in cmd_simulate.c reads them and cli/tools/ takes
 * them.
 */
#ifndef CLI_SIMULATE_VALUES_H
#define CLI_SIMULATE_VALUES_H

#include <stdbool.h>
#include <stdint.h>

/* The bound of sim/seed_workers.h, which only troupe-tools may include. */
#define SIMULATE_JOBS_MAX 64

/* With --minutes: where what fails is appended. */
#define SIMULATE_FAILURES_FILE "simulate-failures.txt"

struct simulate_values {
    const char *seeds;
    double minutes; /* 0: --seeds says which */
    const char *failures;
    const char *die_at;
    bool failpoints;
    uint64_t jobs;
    bool twice;
    bool verbose;
    bool json;
};

#endif
