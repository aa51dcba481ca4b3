/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From per-type global IDs to positions in a batch's node list.
 *
 * An open-addressing table sized by the batch, not by the graph: as fast as a dense map of all
 * nodes and its memory does not grow with the graph. The first appearance of an ID appends it to
 * the node list, so the list is in the order in which IDs were added.
 *
 * An entry is 8 bytes: a check word (the low half of the ID) and the position plus a stamp.
 * Positions of a batch are stamped with the number of all nodes of earlier batches, so what
 * these left behind is smaller than the stamp and counts as empty: a reset costs nothing, and the
 * table is cleared once in 2^32 nodes.
 *
 * Ownership: the table owns the list and its entries and keeps them across batches. One thread
 * at a time. All zeros is a valid, empty table.
 */
#ifndef GRAPH_RELABEL_H
#define GRAPH_RELABEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Positions are 32-bit; a batch of 2^30 nodes is far beyond any memory it could train in. */
#define RELABEL_NODES_MAX (UINT32_C(1) << 30)

struct relabel_entry {
    uint32_t check;
    uint32_t value; /* stamp + position; below the stamp: empty */
};

struct relabel {
    uint64_t *ids; /* [num_ids] the node list */
    uint32_t num_ids;
    struct relabel_entry *entries; /* [entries_max], of which 2^bits are used */
    unsigned bits;
    uint32_t stamp;
    size_t ids_max;
    size_t entries_max;
};

void relabel_fini(struct relabel *table);

/* Empties the table. nodes_hint sizes it for what is to come (0: as the batch before). */
int relabel_reset(struct relabel *table, uint32_t nodes_hint);

/* Maps ids[n] to positions[n], appending those that are new. TR_ENOMEM, TR_ETOOBIG: those
 * already appended stay, positions are undefined, the table can be reset and used again.
 * relabel_add_u32 is the fast one, for tables all of whose IDs are below 2^32. */
int relabel_add_u32(struct relabel *table, const uint32_t *ids, size_t n, uint32_t *positions);
int relabel_add_u64(struct relabel *table, const uint64_t *ids, size_t n, uint32_t *positions);

/* Appends an ID that the list has already, once more: *position is the new one, relabel_add_* go on
 * to give the first. */
int relabel_append(struct relabel *table, uint64_t id, uint32_t *position);

/* The position of an ID, or UINT32_MAX. */
uint32_t relabel_find(const struct relabel *table, uint64_t id);

#endif
