/* SPDX-License-Identifier: Apache-2.0 */
#include "partition/raw/reverse_pairs.h"

#include <stdlib.h>
#include <string.h>

#include <troupe/error.h>

#include "graph/key.h"

int reverse_pairs_init(struct reverse_pairs *pairs)
{
    *pairs = (struct reverse_pairs){ 0 };
    pairs->slots = calloc(REVERSE_PAIRS_MAX, sizeof *pairs->slots);
    pairs->spare = calloc(REVERSE_PAIRS_MAX, sizeof *pairs->spare);
    return pairs->slots == NULL || pairs->spare == NULL ? TR_ENOMEM : 0;
}

void reverse_pairs_fini(struct reverse_pairs *pairs)
{
    free(pairs->slots);
    free(pairs->spare);
    pairs->slots = pairs->spare = NULL;
}

static bool is_sampled(const struct reverse_pairs *pairs, uint64_t hash)
{
    return pairs->shift == 0 || hash >> (64 - pairs->shift) == 0;
}

/* The pair's slot, or the free one where it goes. */
static struct reverse_pair *find_slot(struct reverse_pairs *pairs, uint64_t hash, uint64_t low,
                                      uint64_t high)
{
    for (;; hash++) {
        struct reverse_pair *slot = &pairs->slots[hash % REVERSE_PAIRS_MAX];
        if (slot->low == slot->high || (slot->low == low && slot->high == high))
            return slot;
    }
}

/* Forgets half of the sample; the rest goes into the other table. */
static void thin_out(struct reverse_pairs *pairs)
{
    struct reverse_pair *full = pairs->slots;
    pairs->slots = pairs->spare;
    pairs->spare = full;
    memset(pairs->slots, 0, REVERSE_PAIRS_MAX * sizeof *pairs->slots);
    pairs->used = 0;
    pairs->shift++;
    for (uint32_t i = 0; i < REVERSE_PAIRS_MAX; i++) {
        uint64_t hash = key_of_pair(full[i].low, full[i].high);
        if (full[i].low == full[i].high || !is_sampled(pairs, hash))
            continue;
        *find_slot(pairs, hash, full[i].low, full[i].high) = full[i];
        pairs->used++;
    }
}

void reverse_pairs_add(struct reverse_pairs *pairs, uint64_t src, uint64_t dst)
{
    uint64_t low = src < dst ? src : dst, high = src < dst ? dst : src;
    uint64_t hash = key_of_pair(low, high);
    if (src == dst || !is_sampled(pairs, hash))
        return;
    struct reverse_pair *slot = find_slot(pairs, hash, low, high);
    pairs->used += slot->low == slot->high;
    slot->low = low;
    slot->high = high;
    slot->up |= src < dst;
    slot->down |= src > dst;
    while (pairs->used > REVERSE_PAIRS_MAX / 2)
        thin_out(pairs);
}

void reverse_pairs_add_doubled(struct reverse_pairs *pairs, uint64_t count, const uint64_t *src,
                               const uint64_t *dst, bool *behind)
{
    for (uint64_t i = 0; i < count; i++) {
        if (*behind || src[i] == dst[i]) {
            *behind = false;
            continue;
        }
        reverse_pairs_add(pairs, src[i], dst[i]);
        *behind = true;
    }
}

void reverse_pairs_count(const struct reverse_pairs *pairs, uint64_t *seen, uint64_t *mutual)
{
    *seen = pairs->used;
    *mutual = 0;
    for (uint32_t i = 0; i < REVERSE_PAIRS_MAX; i++)
        *mutual += pairs->slots[i].up && pairs->slots[i].down;
}
