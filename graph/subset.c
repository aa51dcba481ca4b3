/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/subset.h"

#include <assert.h>
#include <string.h>

#include "graph/key.h"
#include "graph/quads.h"

#define QUADS_MAX (SUBSET_SMALL_MAX / 4)
/* Up to here k is a constant of its own piece of code, and nothing but registers is needed. */
#define FEW_MAX 16u
#define FEW_QUADS (FEW_MAX / 4)
/* Up to here it pays to look whether draws are distinct before caring for repeats. */
#define RANK_FIRST_MAX 8u

/*
 * Floyd's rule: a draw that is in the set gives way to the last position it could have had. It is
 * in the set if an earlier draw was equal (whichever draw brought that value in), or if it equals
 * the last position of an earlier draw that gave way; only draws of the k last positions can do
 * that.
 */
static uint32_t find_taken(const quad *lanes, uint32_t quads, uint32_t k, uint32_t first,
                           uint32_t taken)
{
    uint32_t words[FEW_MAX];
    quad late[FEW_QUADS];
    for (uint32_t q = 0; q < quads; q++)
        late[q] = lanes[q] >= (int32_t)(first ^ QUAD_FLIP) - (quad){ 0 };
    memcpy(words, lanes, quads * sizeof *lanes);
    uint32_t open = quad_gather(late, quads) & ((UINT32_C(1) << k) - 1);
    for (; open != 0; open &= open - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(open), j = (words[i] ^ QUAD_FLIP) - first;
        taken |= (taken >> j & 1) << i;
    }
    return taken;
}

/* The lanes that are taken give way: lane i to first + i. */
ALWAYS_INLINE void give_way(quad *lanes, uint32_t quads, uint32_t first, uint32_t taken)
{
    UNROLL
    for (uint32_t q = 0; q < quads; q++) {
        int32_t at = (int32_t)(4 * q);
        quad bits = { 1 << 4 * q, 2 << 4 * q, 4 << 4 * q, 8 << 4 * q };
        quad taken_lanes = ((int32_t)taken & bits) == bits;
        quad last = (int32_t)(first ^ QUAD_FLIP) + (quad){ at, at + 1, at + 2, at + 3 };
        lanes[q] = (lanes[q] & ~taken_lanes) | (last & taken_lanes);
    }
}

/* The rank of a lane is the number of smaller ones among the first k. */
ALWAYS_INLINE void rank_few(quad *ranks, const quad *lanes, uint32_t quads, uint32_t k)
{
    UNROLL
    for (uint32_t q = 0; q < quads; q++)
        ranks[q] = (quad){ 0 };
    UNROLL
    for (uint32_t i = 0; i < k; i++) {
        quad value = lanes[i / 4][i % 4] - (quad){ 0 };
        UNROLL
        for (uint32_t q = 0; q < quads; q++)
            ranks[q] -= lanes[q] > value;
    }
}

/* One of each two different lanes is smaller; lanes behind the first k are larger than those k. */
ALWAYS_INLINE int are_distinct(const quad *ranks, uint32_t quads, uint32_t k)
{
    quad sums = { 0 };
    UNROLL
    for (uint32_t q = 0; q < quads; q++)
        sums += ranks[q];
    return (uint32_t)(sums[0] + sums[1] + sums[2] + sums[3]) ==
           k * (k - 1) / 2 + (4 * quads - k) * k;
}

ALWAYS_INLINE void store_ranked(uint32_t *positions, const quad *lanes, const quad *ranks,
                                uint32_t k)
{
    UNROLL
    for (uint32_t i = 0; i < k; i++)
        positions[ranks[i / 4][i % 4]] = (uint32_t)lanes[i / 4][i % 4] ^ QUAD_FLIP;
}

/*
 * The draws do not depend on each other, only the rule for repeats does: so all are made at once,
 * in registers, where they can run ahead of the memory that the rows before still wait for. Draws
 * stored as words and loaded as vectors would first have to reach the cache, after those.
 */
ALWAYS_INLINE void draw_few(uint32_t *positions, const uint32_t k, uint32_t degree,
                            uint64_t node_key)
{
    const uint32_t quads = (k + 3) / 4;
    uint32_t first = degree - k;
    int32_t drawn[FEW_MAX];
    quad lanes[FEW_QUADS], ranks[FEW_QUADS];
    uint64_t draw = 0;
    UNROLL
    for (uint32_t i = 0; i < 4 * quads; i++)
        drawn[i] = i < k ? (int32_t)((uint32_t)key_below(node_key, &draw, first + i + UINT64_C(1)) ^
                                     QUAD_FLIP)
                         : INT32_MAX; /* which no position has */
    UNROLL
    for (uint32_t q = 0; q < quads; q++)
        lanes[q] = (quad){ drawn[4 * q], drawn[4 * q + 1], drawn[4 * q + 2], drawn[4 * q + 3] };
    /* Few draws are mostly distinct, many are mostly not. */
    if (k <= RANK_FIRST_MAX)
        rank_few(ranks, lanes, quads, k);
    if (k > RANK_FIRST_MAX || !are_distinct(ranks, quads, k)) {
        uint32_t taken = quad_repeats(lanes, quads, k);
        if (taken != 0)
            give_way(lanes, quads, first, find_taken(lanes, quads, k, first, taken));
        rank_few(ranks, lanes, quads, k);
    }
    store_ranked(positions, lanes, ranks, k);
}

union subset_lanes {
    quad quads[QUADS_MAX];
    int32_t values[SUBSET_SMALL_MAX];
    uint32_t words[SUBSET_SMALL_MAX];
};

/* The rank of a lane is the number of smaller ones. 0 if two of the k lanes are equal. */
static int rank_lanes(union subset_lanes *rank, const union subset_lanes *drawn, uint32_t quads,
                      uint32_t k)
{
    quad equal = { 0 };
    for (uint32_t q = 0; q < quads; q++) {
        quad lane = drawn->quads[q], smaller = { 0 };
        for (uint32_t i = 0; i < k; i++) {
            quad value = drawn->values[i] - (quad){ 0 };
            smaller -= lane > value;
            equal -= lane == value;
        }
        rank->quads[q] = smaller;
    }
    /* Each lane equals itself; those not drawn hold a value that no position has. */
    return (uint32_t)(equal[0] + equal[1] + equal[2] + equal[3]) == k;
}

/* Floyd's rule, one draw after the other. */
static void resolve_lanes(union subset_lanes *drawn, uint32_t k, uint32_t degree)
{
    for (uint32_t i = 1; i < k; i++) {
        uint32_t taken = 0;
        for (uint32_t j = 0; j < i; j++)
            taken |= drawn->values[j] == drawn->values[i];
        drawn->words[i] = taken ? (degree - k + i) ^ QUAD_FLIP : drawn->words[i];
    }
}

/* As draw_few, for any k. */
static void draw_lanes(uint32_t *positions, uint32_t k, uint32_t degree, uint64_t node_key)
{
    uint32_t quads = (k + 3) / 4;
    union subset_lanes drawn = { .words = { 0 } }, rank;
    uint64_t draw = 0;
    for (uint32_t i = 0; i < k; i++)
        drawn.words[i] = (uint32_t)key_below(node_key, &draw, degree - k + i + UINT64_C(1)) ^
                         QUAD_FLIP;
    for (uint32_t i = k; i < 4 * quads; i++)
        drawn.values[i] = INT32_MAX;
    if (!rank_lanes(&rank, &drawn, quads, k)) {
        resolve_lanes(&drawn, k, degree);
        rank_lanes(&rank, &drawn, quads, k);
    }
    for (uint32_t i = 0; i < k; i++)
        positions[rank.words[i]] = drawn.words[i] ^ QUAD_FLIP;
}

static uint32_t set_slots(uint32_t k)
{
    assert(k <= UINT32_C(1) << 29);
    uint32_t slots = 4 * SUBSET_SMALL_MAX;
    while (slots < 2 * k)
        slots *= 2;
    return slots;
}

uint64_t subset_scratch_words(uint32_t k)
{
    return k <= SUBSET_SMALL_MAX ? 0 : (uint64_t)set_slots(k) + k;
}

/* Adds value to the set; 0 if it was there. An empty slot holds UINT32_MAX. */
static int subset_add(uint32_t *set, uint32_t slots, uint32_t value)
{
    uint32_t slot = (value * UINT32_C(0x9e3779b1)) >> __builtin_clz(slots - 1);
    while (set[slot] != UINT32_MAX) {
        if (set[slot] == value)
            return 0;
        slot = (slot + 1) & (slots - 1);
    }
    set[slot] = value;
    return 1;
}

/* One pass of a radix sort, by the byte at shift. */
static void sort_pass(uint32_t *to, const uint32_t *from, uint32_t n, unsigned shift)
{
    uint32_t start[257] = { 0 };
    for (uint32_t i = 0; i < n; i++)
        start[(from[i] >> shift & 0xff) + 1]++;
    for (uint32_t i = 0; i < 256; i++)
        start[i + 1] += start[i];
    for (uint32_t i = 0; i < n; i++)
        to[start[from[i] >> shift & 0xff]++] = from[i];
}

/* Two passes at a time, so that the result ends where it began. */
static void sort_words(uint32_t *words, uint32_t *spare, uint32_t n, uint32_t bound)
{
    sort_pass(spare, words, n, 0);
    sort_pass(words, spare, n, 8);
    if (bound <= 0xffff)
        return;
    sort_pass(spare, words, n, 16);
    sort_pass(words, spare, n, 24);
}

static void draw_set(uint32_t *positions, uint32_t k, uint32_t degree, uint64_t node_key,
                     uint32_t *scratch)
{
    uint32_t slots = set_slots(k);
    memset(scratch, 0xff, slots * sizeof *scratch);
    uint64_t draw = 0;
    for (uint32_t i = 0; i < k; i++) {
        uint32_t last = degree - k + i;
        uint32_t drawn = (uint32_t)key_below(node_key, &draw, (uint64_t)last + 1);
        if (!subset_add(scratch, slots, drawn)) {
            drawn = last;
            subset_add(scratch, slots, drawn);
        }
        positions[i] = drawn;
    }
    sort_words(positions, scratch + slots, k, degree - 1);
}

void subset_draw(uint32_t *positions, uint32_t k, uint32_t degree, uint64_t node_key,
                 uint32_t *scratch)
{
    /* Cases without their colons, which clang-format cannot tell. */
    /* clang-format off */
    switch (k) {
#define FEW(n)                                    \
    case n:                                       \
        draw_few(positions, n, degree, node_key); \
        break;
        FEW(1) FEW(2) FEW(3) FEW(4) FEW(5) FEW(6) FEW(7) FEW(8)
        FEW(9) FEW(10) FEW(11) FEW(12) FEW(13) FEW(14) FEW(15) FEW(16)
#undef FEW
    default:
        if (k <= SUBSET_SMALL_MAX)
            draw_lanes(positions, k, degree, node_key);
        else
            draw_set(positions, k, degree, node_key, scratch);
    }
    /* clang-format on */
}
