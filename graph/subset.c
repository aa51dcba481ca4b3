#include "graph/subset.h"

#include <assert.h>
#include <string.h>

#include "graph/key.h"

/* Four signed lanes: SSE2 and NEON have them, and SSE2 compares signed words only. Positions
 * are stored with their top bit flipped, which keeps their order. */
typedef int32_t quad __attribute__((vector_size(16)));

#define FLIP UINT32_C(0x80000000)
#define QUADS_MAX (SUBSET_SMALL_MAX / 4)

union lanes {
    quad quads[QUADS_MAX];
    int32_t values[SUBSET_SMALL_MAX];
    uint32_t words[SUBSET_SMALL_MAX];
};

#define ALWAYS_INLINE static inline __attribute__((always_inline))

/* The rank of a lane is the number of smaller ones. 0 if two of the k lanes are equal. */
ALWAYS_INLINE int rank_lanes(union lanes *rank, const union lanes *drawn, uint32_t quads,
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

/* Floyd's rule, one draw after the other: what was taken before gives way to the last position. */
static void resolve_lanes(union lanes *drawn, uint32_t k, uint32_t degree)
{
    for (uint32_t i = 1; i < k; i++) {
        uint32_t taken = 0;
        for (uint32_t j = 0; j < i; j++)
            taken |= drawn->values[j] == drawn->values[i];
        drawn->words[i] = taken ? (degree - k + i) ^ FLIP : drawn->words[i];
    }
}

/*
 * The draws do not depend on each other, only the rule for repeats does, so all are made at once
 * and the rule is applied when there is a repeat: a chain of draws would wait for each compare.
 */
ALWAYS_INLINE void draw_lanes(uint32_t *positions, uint32_t k, uint32_t degree, uint64_t node_key,
                              uint32_t quads)
{
    union lanes drawn, rank;
    uint64_t draw = 0;
    for (uint32_t i = 0; i < k; i++)
        drawn.words[i] = (uint32_t)key_below(node_key, &draw, degree - k + i + UINT64_C(1)) ^ FLIP;
    for (uint32_t i = k; i < 4 * quads; i++)
        drawn.values[i] = INT32_MAX;
    if (!rank_lanes(&rank, &drawn, quads, k)) {
        resolve_lanes(&drawn, k, degree);
        rank_lanes(&rank, &drawn, quads, k);
    }
    for (uint32_t i = 0; i < k; i++)
        positions[rank.words[i]] = drawn.words[i] ^ FLIP;
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
static int add(uint32_t *set, uint32_t slots, uint32_t value)
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
        if (!add(scratch, slots, drawn)) {
            drawn = last;
            add(scratch, slots, drawn);
        }
        positions[i] = drawn;
    }
    sort_words(positions, scratch + slots, k, degree - 1);
}

void subset_draw(uint32_t *positions, uint32_t k, uint32_t degree, uint64_t node_key,
                 uint32_t *scratch)
{
    if (k <= 4)
        draw_lanes(positions, k, degree, node_key, 1);
    else if (k <= 8)
        draw_lanes(positions, k, degree, node_key, 2);
    else if (k <= 16)
        draw_lanes(positions, k, degree, node_key, 4);
    else if (k <= SUBSET_SMALL_MAX)
        draw_lanes(positions, k, degree, node_key, (k + 3) / 4);
    else
        draw_set(positions, k, degree, node_key, scratch);
}
