/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The options of `troupe bench`, as the table in cmd_bench.c reads them and cli/tools/ takes them.
 */
#ifndef CLI_BENCH_VALUES_H
#define CLI_BENCH_VALUES_H

#include <stdbool.h>
#include <stdint.h>

/* The bound of bench/figure.h, which only troupe-tools may include. */
#define BENCH_ROUNDS_MAX 99

struct bench_values {
    double scale;
    uint64_t rounds;
    uint64_t seed;
    const char *folder;
    bool list;
    bool json;
};

#endif
