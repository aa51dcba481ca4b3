/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The store: where finished batches wait for the training thread, and where their memory goes.
 *
 * A sampler deposits a finished batch under (loader, epoch, index); the training thread collects
 * it. Both are a few instructions under a mutex, once a batch, so a message between them is
 * only a notice: one that is lost, late or repeated loses no batch and leaks none. The store
 * takes deposits for open loaders, of their current epoch and the one that follows, and releases
 * all others.
 *
 * It also keeps the byte account of a session's batches and a few idle ones for use again.
 *
 * Ownership: references are counted; each batch holds one, so the store outlives session and
 * batches. Thread rules: every function on any thread.
 */
#ifndef ACTORS_DATA_BATCH_STORE_H
#define ACTORS_DATA_BATCH_STORE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "actors/data/sampled_batch.h"
#include "runtime/base/error.h"
#include "runtime/base/fork_mark.h"
#include "runtime/core/account.h"

struct batch_store;

/* NULL: no memory. */
struct batch_store *batch_store_create(size_t bound_bytes);
void batch_store_release(struct batch_store *store);
/* By which a child of fork() knows that the store, and what has batches of it, is its parent's. */
const struct fork_mark *batch_store_mark(const struct batch_store *store);

/* From here on nothing is kept: deposits and idle batches are freed. */
void batch_store_close(struct batch_store *store);

/* A loader may deposit from now on. estimate_bytes: of one batch, until the first one came.
 * TR_ENOMEM. */
int batch_store_open_loader(struct batch_store *store, uint64_t loader, size_t estimate_bytes);
/* Only batches of this epoch from that index on, and of the next epoch, are taken; others are
 * released when they come, and now all that wait are, and all reservations. Collecting moves epoch
 * and index on. */
void batch_store_set_epoch(struct batch_store *store, uint64_t loader, uint32_t epoch,
                           uint64_t index);
/* Batches before that one are not wanted any more. */
void batch_store_advance(struct batch_store *store, uint64_t loader, uint32_t epoch,
                         uint64_t index);
void batch_store_close_loader(struct batch_store *store, uint64_t loader);

/* Reserves room for one batch to come, as large as the largest so far: 0, or TR_EFULL, and then
 * the loader counts as starving until a reservation succeeds. Idle batches make room; while
 * nothing at all is charged one batch is always granted. Batches of the epoch that follows, which
 * the client may never ask for, get room in the first half of the account alone; so they can't
 * starve another loader, nor their own. */
int batch_store_reserve(struct batch_store *store, uint64_t loader, uint32_t epoch, uint64_t index);
/* The batch will not come; nothing happens if it came already. */
void batch_store_unreserve(struct batch_store *store, uint64_t loader, uint32_t epoch,
                           uint64_t index);
/* That batch, if it waits here, is freed: it will be made again in its turn. false: it does not. */
bool batch_store_drop(struct batch_store *store, uint64_t loader, uint32_t epoch, uint64_t index);
bool batch_store_is_starving(struct batch_store *store, uint64_t loader);

/* An empty batch of that shape, an idle one if there is; NULL: no memory. It is not charged:
 * the reservation of its requester stands for it until the deposit. */
struct sampled_batch *batch_store_take(struct batch_store *store, uint32_t num_ntypes,
                                       uint32_t num_etypes, uint32_t num_layers);

/* Hands over one reference; what the batch holds is charged in the place of its reservation. 0;
 * TR_EFULL: it is larger than what is left of the account, TR_ECANCELED: nobody waits for it;
 * then it was released. A second deposit of one (loader, epoch, index) releases it: 0. */
int batch_store_deposit(struct batch_store *store, struct sampled_batch *batch);

/* Says, as TR_EFULL, that the account has no room for a batch of that many bytes. */
int batch_store_say_full(struct batch_store *store, size_t bytes, struct error *error);

/* The same where batches that the caller holds leave no room for more. */
int batch_store_say_starved(struct batch_store *store, struct error *error);

/* Whether that batch was collected, or is not wanted any more. */
bool batch_store_is_taken(struct batch_store *store, uint64_t loader, uint32_t epoch,
                          uint64_t index);

/* The batch, now the caller's reference, or NULL when it is not there. */
struct sampled_batch *batch_store_collect(struct batch_store *store, uint64_t loader,
                                          uint32_t epoch, uint64_t index);

/* Batches that samplers here made, for any trainer, and those that trainers here took, so far. */
struct batch_store_counts {
    uint64_t made, taken;
};
void batch_store_note_made(struct batch_store *store);
void batch_store_counts(struct batch_store *store, struct batch_store_counts *counts);

size_t batch_store_used(struct batch_store *store);
size_t batch_store_bound(const struct batch_store *store);

/* For sampled_batch_release. */
void batch_store_give_back(struct batch_store *store, struct sampled_batch *batch);

#endif
