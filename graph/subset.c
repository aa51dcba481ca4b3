#include "graph/subset.h"

#include <assert.h>
#include <string.h>

#include "graph/key.h"

/* Four signed lanes: SSE2 and NEON have them, and SSE2 compares signed words only. Positions
 * are stored with their top bit flipped, which keeps their order. */
typedef int32_t quad __attribute__((vector_size(16)));
typedef int64_t pair __attribute__((vector_size(16)));

#define FLIP UINT32_C(0x80000000)
#define QUADS_MAX (SUBSET_SMALL_MAX / 4)

static inline int holds(const quad *set, uint32_t quads, int32_t value)
{
    quad wanted = value - (quad){ 0 };
    quad hit = { 0 };
    for (uint32_t q = 0; q < quads; q++)
        hit |= set[q] == wanted;
    pair both = (pair)hit;
    return (both[0] | both[1]) != 0;
}

/* Writes the k lanes in ascending order: the rank of a lane is the number of smaller ones. */
static inline void sort_lanes(uint32_t *positions, const quad *set, uint32_t quads, uint32_t k)
{
    union {
        quad quads[QUADS_MAX];
        uint32_t lanes[SUBSET_SMALL_MAX];
    } rank;
    const int32_t *values = (const int32_t *)set;
    for (uint32_t q = 0; q < quads; q++)
        rank.quads[q] = (quad){ 0 };
    for (uint32_t i = 0; i < k; i++) {
        quad value = values[i] - (quad){ 0 };
        for (uint32_t q = 0; q < quads; q++)
            rank.quads[q] -= set[q] > value;
    }
    for (uint32_t i = 0; i < k; i++)
        positions[rank.lanes[i]] = (uint32_t)values[i] ^ FLIP;
}

static inline __attribute__((always_inline)) void draw_lanes(uint32_t *positions, uint32_t k,
                                                             uint32_t degree, uint64_t node_key,
                                                             uint32_t quads)
{
    union {
        quad quads[QUADS_MAX];
        int32_t lanes[SUBSET_SMALL_MAX];
    } set;
    /* A lane not yet drawn holds the greatest value, which no position has. */
    for (uint32_t q = 0; q < quads; q++)
        set.quads[q] = INT32_MAX - (quad){ 0 };
    uint64_t draw = 0;
    for (uint32_t i = 0; i < k; i++) {
        uint32_t last = degree - k + i;
        int32_t drawn = (int32_t)((uint32_t)key_below(node_key, &draw, (uint64_t)last + 1) ^ FLIP);
        int taken = holds(set.quads, quads, drawn);
        set.lanes[i] = taken ? (int32_t)(last ^ FLIP) : drawn;
    }
    sort_lanes(positions, set.quads, quads, k);
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
    if (k <= 8)
        draw_lanes(positions, k, degree, node_key, 2);
    else if (k <= 16)
        draw_lanes(positions, k, degree, node_key, 4);
    else if (k <= SUBSET_SMALL_MAX)
        draw_lanes(positions, k, degree, node_key, (k + 3) / 4);
    else
        draw_set(positions, k, degree, node_key, scratch);
}
