/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frozen data belong to the node: the partitions that are in this process's memory.
 *
 * The set is opened before the actors and closed after them. Servers answer from it, and any
 * actor of the process may read it directly: it acquires a snapshot, that is one version of one
 * partition, once a batch, and releases it when the batch is done. A version that was replaced is
 * freed with its last release.
 *
 * Ownership: the set holds one reference on each snapshot that is not retired; the caller that adds
 * a partition says how it is freed. Thread rules: any thread, but for open and close.
 */
#ifndef ACTORS_DATA_SNAPSHOT_H
#define ACTORS_DATA_SNAPSHOT_H

#include <stdint.h>

#include "graph/part.h"
#include "partition/store/book.h"
#include "partition/store/store.h"
#include "runtime/base/error.h"

#define SNAPSHOT_NEWEST UINT32_MAX

struct snapshots;
struct snapshot;

/* An empty set of a graph. The book outlives the set. */
int snapshots_create(const struct book *book, struct snapshots **out);

/* Asserts that nobody holds a snapshot, and frees all. NULL is ignored. */
void snapshots_destroy(struct snapshots *set);

const struct book *snapshots_book(const struct snapshots *set);

/* Brings a partition in; unload(arg, part) frees it (NULL: the caller does, after the set's end).
 * TR_EEXIST: that version of that partition is here. TR_EMISMATCH: not of the book's graph. */
int snapshots_add(struct snapshots *set, struct graph_part *part,
                  void (*unload)(void *arg, struct graph_part *part), void *arg,
                  struct error *error);

/* Where the original IDs of nodes are read whose partitions are not in the set; it outlives the set.
 * Any thread may be asked for them. NULL, as at first: nowhere. */
typedef int snapshots_read_ids(void *arg, uint32_t ntype, uint64_t first, size_t count,
                               uint64_t *ids, struct error *error);
void snapshots_set_ids(struct snapshots *set, snapshots_read_ids *read, void *arg);

/* Loads partitions of a store, whose book is the set's, and adds them. Partitions that were added
 * before a failure stays. The store outlives the set. */
int snapshots_load(struct snapshots *set, struct store *store, const uint32_t *parts,
                   uint32_t num_parts, const struct partition_load *load, struct error *error);

/* The set lets go of a version: it is freed when its readers are done. TR_ENOENT. */
int snapshots_retire(struct snapshots *set, uint32_t part, uint32_t version);

/* NULL: not here. version may be SNAPSHOT_NEWEST. */
struct snapshot *snapshot_acquire(struct snapshots *set, uint32_t part, uint32_t version);

/* One more reader of a snapshot that the caller holds, though it be retired; NULL stays NULL. */
struct snapshot *snapshot_hold(struct snapshot *snapshot);

/* NULL is ignored. */
void snapshot_release(struct snapshot *snapshot);

const struct graph_part *snapshot_part(const struct snapshot *snapshot);

#endif
