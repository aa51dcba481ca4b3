/* SPDX-License-Identifier: Apache-2.0 */
/* A stream of test values from a seed (splitmix64), the same on every run. */
#ifndef TESTS_SCHEMAS_RANDOM_H
#define TESTS_SCHEMAS_RANDOM_H

#include <stddef.h>
#include <stdint.h>

static inline uint64_t random_next(uint64_t *state)
{
    uint64_t x = *state += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

static inline uint64_t random_below(uint64_t *state, uint64_t n)
{
    return random_next(state) % n;
}

/* Zero, all ones, small and large values: the ones that codings get wrong. */
static inline uint64_t random_edgy(uint64_t *state)
{
    switch (random_below(state, 4)) {
    case 0:
        return 0;
    case 1:
        return UINT64_MAX;
    case 2:
        return random_below(state, 100);
    default:
        return random_next(state);
    }
}

/* Flips, overwrites or copies some bytes. */
static inline void random_damage(uint64_t *state, unsigned char *bytes, size_t count)
{
    for (uint64_t n = 1 + random_below(state, 4); n > 0 && count > 0; n--) {
        size_t at = (size_t)random_below(state, count);
        switch (random_below(state, 3)) {
        case 0:
            bytes[at] ^= (unsigned char)(1u << random_below(state, 8));
            break;
        case 1:
            bytes[at] = (unsigned char)random_edgy(state);
            break;
        default:
            bytes[at] = bytes[random_below(state, count)];
        }
    }
}

#endif
