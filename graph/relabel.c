/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/relabel.h"

#include <string.h>

#include <troupe/error.h>

#include "graph/key.h"
#include "runtime/base/hotmem.h"

/* IDs whose slots are prefetched together: their lines fit the L1 cache with room to spare. */
#define BLOCK 64u
#define BITS_MIN 10u
/* New memory starts with this stamp, so that its zeros are empty. */
#define STAMP_FIRST 1u
#define IDS_MIN 1024u

static inline size_t slot_of(uint64_t id, unsigned bits)
{
    return (size_t)(id * KEY_STEP >> (64 - bits));
}

/* At most half of the entries are in use, so a probe is short. */
static unsigned bits_for(uint64_t nodes)
{
    unsigned bits = BITS_MIN;
    while ((UINT64_C(1) << bits) < 2 * nodes)
        bits++;
    return bits;
}

void relabel_fini(struct relabel *table)
{
    hotmem_free(table->ids, table->ids_max * sizeof *table->ids);
    hotmem_free(table->entries, table->entries_max * sizeof *table->entries);
    *table = (struct relabel){ 0 };
}

/* Declares all entries empty and makes 2^bits of them. */
static int renew_entries(struct relabel *table, unsigned bits)
{
    size_t wanted = (size_t)1 << bits;
    if (wanted > table->entries_max) {
        struct relabel_entry *entries = hotmem_alloc(wanted * sizeof *entries);
        if (entries == NULL)
            return TR_ENOMEM;
        hotmem_free(table->entries, table->entries_max * sizeof *entries);
        table->entries = entries;
        table->entries_max = wanted;
        table->stamp = STAMP_FIRST;
    } else if (table->num_ids > UINT32_MAX - RELABEL_NODES_MAX - table->stamp) {
        memset(table->entries, 0, table->entries_max * sizeof *table->entries);
        table->stamp = STAMP_FIRST;
    } else {
        table->stamp += table->num_ids;
    }
    table->bits = bits;
    return 0;
}

static int reserve_ids(struct relabel *table, uint64_t wanted)
{
    if (wanted <= table->ids_max)
        return 0;
    size_t ids_max = table->ids_max < IDS_MIN ? IDS_MIN : table->ids_max;
    while (ids_max < wanted)
        ids_max *= 2;
    uint64_t *ids = hotmem_alloc(ids_max * sizeof *ids);
    if (ids == NULL)
        return TR_ENOMEM;
    if (table->num_ids > 0)
        memcpy(ids, table->ids, table->num_ids * sizeof *ids);
    hotmem_free(table->ids, table->ids_max * sizeof *ids);
    table->ids = ids;
    table->ids_max = ids_max;
    return 0;
}

int relabel_reset(struct relabel *table, uint32_t nodes_hint)
{
    if (nodes_hint > RELABEL_NODES_MAX)
        return TR_ETOOBIG;
    /* The IDs are forgotten after the stamp has moved by their number, which makes their entries
     * empty. */
    int rv = renew_entries(table, bits_for(nodes_hint > 0 ? nodes_hint : table->num_ids));
    if (rv == 0)
        table->num_ids = 0;
    return rv;
}

/* Makes room for n more nodes, should all be new. */
static int relabel_reserve(struct relabel *table, uint32_t n)
{
    uint64_t wanted = (uint64_t)table->num_ids + n;
    if (wanted > RELABEL_NODES_MAX)
        return TR_ETOOBIG;
    int rv = reserve_ids(table, wanted + 1); /* an insert writes behind the last ID */
    if (rv != 0 || (table->entries_max > 0 && wanted <= UINT64_C(1) << (table->bits - 1)))
        return rv;
    rv = renew_entries(table, bits_for(wanted));
    for (uint32_t i = 0; i < table->num_ids && rv == 0; i++) {
        /* Where an ID was appended again, its first entry comes first in its chain and is found. */
        size_t slot = slot_of(table->ids[i], table->bits);
        while (table->entries[slot].value >= table->stamp)
            slot = (slot + 1) & (((size_t)1 << table->bits) - 1);
        table->entries[slot] = (struct relabel_entry){ (uint32_t)table->ids[i], table->stamp + i };
    }
    return rv;
}

/* The slot that holds the ID, or the empty one where it belongs. */
static inline __attribute__((always_inline)) struct relabel_entry *find_entry(
    const struct relabel *table, uint64_t id, size_t slot, bool wide)
{
    size_t mask = ((size_t)1 << table->bits) - 1;
    for (;;) {
        struct relabel_entry *entry = &table->entries[slot];
        bool empty = entry->value < table->stamp;
        bool same = entry->check == (uint32_t)id;
        if (wide && same && !empty)
            same = table->ids[entry->value - table->stamp] == id;
        if (__builtin_expect(empty | same, 1))
            return entry;
        slot = (slot + 1) & mask;
    }
}

/* Without a branch on "is it new", which no predictor could guess. The caller made room. */
static inline __attribute__((always_inline)) uint32_t relabel_insert(struct relabel *table,
                                                                     uint64_t id, size_t slot,
                                                                     bool wide)
{
    struct relabel_entry *entry = find_entry(table, id, slot, wide);
    uint32_t value = entry->value, next = table->stamp + table->num_ids;
    bool is_new = value < table->stamp;
    value = is_new ? next : value;
    *entry = (struct relabel_entry){ (uint32_t)id, value };
    table->ids[table->num_ids] = id;
    table->num_ids += is_new;
    return value - table->stamp;
}

/* Slots of a block of IDs; their lines begin to arrive. */
static inline __attribute__((always_inline)) void prefetch_slots(const struct relabel *table,
                                                                 const uint32_t *narrow,
                                                                 const uint64_t *wide, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t id = wide != NULL ? wide[i] : narrow[i];
        __builtin_prefetch(&table->entries[slot_of(id, table->bits)], 1);
    }
}

static inline size_t min_size(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Inserts a block while the slots of the next arrive. One of narrow and wide is NULL. */
static inline __attribute__((always_inline)) int relabel_add(struct relabel *table,
                                                             const uint32_t *narrow,
                                                             const uint64_t *wide, size_t n,
                                                             uint32_t *positions)
{
    /* A copy, so that the compiler keeps its members in registers. */
    struct relabel local;
    int rv = 0;
    for (size_t first = 0; first < n && rv == 0; first += BLOCK) {
        size_t end = min_size(n, first + BLOCK), ahead = min_size(n, end + BLOCK);
        rv = relabel_reserve(table, (uint32_t)(end - first));
        if (rv != 0)
            break;
        local = *table;
        if (first == 0)
            prefetch_slots(&local, narrow, wide, end);
        prefetch_slots(&local, narrow != NULL ? narrow + end : NULL,
                       wide != NULL ? wide + end : NULL, ahead - end);
        for (size_t i = first; i < end; i++) {
            uint64_t id = wide != NULL ? wide[i] : narrow[i];
            positions[i] = relabel_insert(&local, id, slot_of(id, local.bits), wide != NULL);
        }
        table->num_ids = local.num_ids;
    }
    return rv;
}

int relabel_add_u32(struct relabel *table, const uint32_t *ids, size_t n, uint32_t *positions)
{
    return relabel_add(table, ids, NULL, n, positions);
}

int relabel_add_u64(struct relabel *table, const uint64_t *ids, size_t n, uint32_t *positions)
{
    return relabel_add(table, NULL, ids, n, positions);
}

int relabel_append(struct relabel *table, uint64_t id, uint32_t *position)
{
    int rv = relabel_reserve(table, 1);
    if (rv != 0)
        return rv;
    *position = table->num_ids;
    table->ids[table->num_ids++] = id;
    return 0;
}

uint32_t relabel_find(const struct relabel *table, uint64_t id)
{
    if (table->num_ids == 0)
        return UINT32_MAX;
    const struct relabel_entry *entry = find_entry(table, id, slot_of(id, table->bits), true);
    return entry->value < table->stamp ? UINT32_MAX : entry->value - table->stamp;
}
