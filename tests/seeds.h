/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which seeds a test of many seeds runs.
 *
 * A test gives the number that suits `make check`; TROUPE_SEEDS asks for more, TROUPE_SEED for
 * one alone, to replay what failed. A test whose seeds take seconds each runs a tenth of
 * TROUPE_SEEDS. Tests that use this stand in SEED_TESTS (Makefile.am), so
 * that ./check runs them with 200.
 */
#ifndef TESTS_SEEDS_H
#define TESTS_SEEDS_H

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

struct seeds {
    uint64_t begin;
    uint64_t end; /* exclusive */
};

static inline struct seeds seeds_wanted(uint64_t count)
{
    const char *one = getenv("TROUPE_SEED");
    const char *many = getenv("TROUPE_SEEDS");
    if (one != NULL) {
        uint64_t seed = strtoull(one, NULL, 10);
        return (struct seeds){ seed, seed + 1 };
    }
    return (struct seeds){ 0, many != NULL ? strtoull(many, NULL, 10) : count };
}

/* The seeds of a test whose seeds take seconds each. */
static inline struct seeds seeds_wanted_tenth(uint64_t count)
{
    struct seeds seeds = seeds_wanted(10 * count);
    if (getenv("TROUPE_SEED") == NULL)
        seeds.end = (seeds.end + 9) / 10;
    return seeds;
}

/* Says in the log which seed runs, so that the last one before a failure is the one to replay. */
static inline void seeds_note(uint64_t seed)
{
    fprintf(stderr, "# seed %" PRIu64 "\n", seed);
}

#endif
