/* SPDX-License-Identifier: Apache-2.0 */
#include "partition/raw/duplicates.h"

#include <stdlib.h>
#include <string.h>

#include "graph/key.h"

/* Edges of a group on average: its table of twice as many numbers fits a core's own cache. */
#define GROUP_EDGES 16384
#define TABLE_ROOM ((uint64_t)4 * GROUP_EDGES)
#define GROUPS_MAX ((uint64_t)1 << 16)

struct groups {
    uint64_t bits;   /* there are 2^bits groups */
    uint64_t *begin; /* [groups + 1]: where a group's edges begin in order */
    uint64_t *order; /* [count]: positions of edges, by group, each group's in their order */
};

static uint64_t pair_of(const struct pairs *pairs, uint64_t i, uint64_t *dst)
{
    uint64_t src;
    pairs_read(pairs, i, 1, &src, dst);
    return src;
}

static uint64_t group_of(const struct groups *groups, uint64_t hash)
{
    return groups->bits == 0 ? 0 : hash >> (64 - groups->bits);
}

static void groups_fini(struct groups *groups)
{
    free(groups->begin);
    free(groups->order);
}

/* A counting sort by group, which keeps the order within each. */
static int groups_init(struct groups *groups, const struct pairs *pairs)
{
    uint64_t dst, count = (uint64_t)1;
    *groups = (struct groups){ 0 };
    while (count < GROUPS_MAX && count * GROUP_EDGES < pairs->count) {
        count *= 2;
        groups->bits++;
    }
    groups->begin = calloc(count + 2, sizeof *groups->begin);
    groups->order = malloc(pairs->count * sizeof *groups->order + 1);
    if (groups->begin == NULL || groups->order == NULL) {
        groups_fini(groups);
        return TR_ENOMEM;
    }
    /* begin[g + 2] counts, so that begin[g + 1] can be where the next of g goes, and ends where
     * g + 1 begins. */
    for (uint64_t i = 0; i < pairs->count; i++) {
        uint64_t src = pair_of(pairs, i, &dst);
        groups->begin[group_of(groups, key_of_pair(src, dst)) + 2]++;
    }
    for (uint64_t g = 2; g < count + 2; g++)
        groups->begin[g] += groups->begin[g - 1];
    for (uint64_t i = 0; i < pairs->count; i++) {
        uint64_t src = pair_of(pairs, i, &dst);
        groups->order[groups->begin[group_of(groups, key_of_pair(src, dst)) + 1]++] = i;
    }
    return 0;
}

/* Positions of edges, plus 1; 0 is free. At most half of the slots are used. */
struct table {
    uint64_t *slots;
    uint64_t room; /* a power of two */
    uint64_t used;
};

static uint64_t *table_find(const struct table *table, const struct pairs *pairs, uint64_t i)
{
    uint64_t dst, src = pair_of(pairs, i, &dst), slot = key_of_pair(src, dst);
    for (;; slot++) {
        uint64_t *place = &table->slots[slot & (table->room - 1)], other_dst;
        if (*place == 0 || (pair_of(pairs, *place - 1, &other_dst) == src && other_dst == dst))
            return place;
    }
}

static int table_grow(struct table *table, const struct pairs *pairs)
{
    struct table grown = { .room = 2 * table->room, .used = table->used };
    grown.slots = calloc(grown.room, sizeof *grown.slots);
    if (grown.slots == NULL)
        return TR_ENOMEM;
    for (uint64_t slot = 0; slot < table->room; slot++) {
        if (table->slots[slot] != 0)
            *table_find(&grown, pairs, table->slots[slot] - 1) = table->slots[slot];
    }
    free(table->slots);
    *table = grown;
    return 0;
}

/* *repeated: an equal edge is there already; else this one is put there. */
static int table_add(struct table *table, const struct pairs *pairs, uint64_t i, bool *repeated)
{
    uint64_t *place = table_find(table, pairs, i);
    *repeated = *place != 0;
    if (*repeated)
        return 0;
    *place = i + 1;
    return ++table->used > table->room / 2 ? table_grow(table, pairs) : 0;
}

static void take_out(struct pairs *pairs, const uint8_t *repeated)
{
    uint64_t kept = 0;
    for (uint64_t i = 0; i < pairs->count; i++) {
        if ((repeated[i / 8] >> i % 8 & 1) != 0)
            continue;
        if (pairs->narrow != NULL)
            memmove(&pairs->narrow[2 * kept], &pairs->narrow[2 * i], 2 * sizeof *pairs->narrow);
        else
            memmove(&pairs->wide[2 * kept], &pairs->wide[2 * i], 2 * sizeof *pairs->wide);
        kept++;
    }
    pairs->count = kept;
}

int duplicates_find(struct pairs *pairs, bool merge, const struct cancel *cancel, uint64_t *count,
                    struct duplicate *one, uint8_t **kept)
{
    struct groups groups;
    struct table table = { .room = TABLE_ROOM };
    *count = 0;
    if (kept != NULL)
        *kept = NULL;
    int rv = groups_init(&groups, pairs);
    if (rv != 0)
        return rv;
    uint8_t *repeated = calloc(pairs->count / 8 + 1, 1);
    table.slots = malloc(table.room * sizeof *table.slots);
    rv = repeated == NULL || table.slots == NULL ? TR_ENOMEM : 0;
    for (uint64_t g = 0; rv == 0 && g >> groups.bits == 0; g++) {
        uint64_t begin = groups.begin[g], end = groups.begin[g + 1];
        rv = cancel_asked(cancel) ? TR_ECANCELED : 0;
        memset(table.slots, 0, table.room * sizeof *table.slots);
        table.used = 0;
        for (uint64_t at = begin; rv == 0 && at < end; at++) {
            uint64_t i = groups.order[at];
            bool again;
            rv = table_add(&table, pairs, i, &again);
            if (rv != 0 || !again)
                continue;
            repeated[i / 8] |= (uint8_t)(1u << i % 8);
            if ((*count)++ == 0)
                one->src = pair_of(pairs, i, &one->dst);
        }
    }
    if (rv == 0 && merge)
        take_out(pairs, repeated);
    if (rv == 0 && kept != NULL)
        *kept = repeated;
    else
        free(repeated);
    free(table.slots);
    groups_fini(&groups);
    return rv;
}
