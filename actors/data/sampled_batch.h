/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A batch that is handed around: the memory it stands in, counted.
 *
 * The last release, on any thread, gives the object back to the store it came from, or frees it
 * when there is none or the store is closed.
 *
 * Thread rules: the maker of a batch (a sampler) is alone with it; once it was handed on it is
 * immutable. sampled_batch_release on any thread.
 */
#ifndef ACTORS_DATA_SAMPLED_BATCH_H
#define ACTORS_DATA_SAMPLED_BATCH_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "graph/batch_space.h"

struct batch_store;

struct sampled_batch {
    struct batch_space space; /* the batch is its first member */
    atomic_uint references;
    uint64_t loader;
    struct batch_store *store;  /* holds a reference on it; NULL: none */
    size_t charged_bytes;       /* by the store */
    struct sampled_batch *next; /* in a list of the store */
};

/* An empty batch of that shape with one reference, or NULL. */
struct sampled_batch *sampled_batch_create(uint32_t num_ntypes, uint32_t num_etypes,
                                           uint32_t num_layers);

/* Empties it for use again, with one reference. */
void sampled_batch_clear(struct sampled_batch *batch);

void sampled_batch_release(struct sampled_batch *batch); /* NULL is ignored */

/* Frees the object whatever its references are: for the store. */
void sampled_batch_destroy(struct sampled_batch *batch);

/* Bytes it holds, capacities included. */
size_t sampled_batch_bytes(const struct sampled_batch *batch);

#endif
