/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Choices of a scenario: a stream of draws from its seed, apart from the simulator's own.
 *
 * A scenario must not change because the actors drew once more, so what is chosen for it comes
 * from here. Thread rules: the caller's own.
 */
#ifndef SIM_DRAWS_H
#define SIM_DRAWS_H

#include <stdbool.h>
#include <stdint.h>

#include "graph/key.h"

struct draws {
    uint64_t key;
    uint64_t next;
};

/* purpose tells streams of one seed apart. */
static inline struct draws draws_of(uint64_t seed, uint64_t purpose)
{
    return (struct draws){ key_mix(key_mix(seed + KEY_STEP) + purpose * KEY_STEP), 0 };
}

/* In [0, n), n > 0. */
static inline uint64_t draws_below(struct draws *draws, uint64_t n)
{
    return key_below(draws->key, &draws->next, n);
}

/* In [low, high]. */
static inline uint64_t draws_between(struct draws *draws, uint64_t low, uint64_t high)
{
    return low + draws_below(draws, high - low + 1);
}

static inline bool draws_chance(struct draws *draws, uint32_t percent)
{
    return draws_below(draws, 100) < percent;
}

/* Any magnitude in [low, high] about as likely as any other; low > 0. */
static inline uint64_t draws_scale(struct draws *draws, uint64_t low, uint64_t high)
{
    uint64_t top = low;
    while (top <= high / 2 && draws_chance(draws, 80))
        top *= 2;
    uint64_t most = top <= high / 2 ? 2 * top : high;
    return draws_between(draws, top, most);
}

#endif
