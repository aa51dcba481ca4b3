/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A batch as one run of bytes: the body of a message to a process that shares no store.
 *
 * Counts first, then the arrays, each at an aligned offset that both sides derive from the counts,
 * so there is no offset to lie about. Reading checks every length before it is used, then what
 * the numbers mean: blocks that follow from each other, positions that are nodes.
 *
 * Thread rules: pure; a batch that is written is immutable.
 */
#ifndef ACTORS_DATA_BATCH_FLAT_H
#define ACTORS_DATA_BATCH_FLAT_H

#include <stdint.h>

#include "actors/data/sampled_batch.h"
#include "partition/store/book.h"

/* The bytes that batch_flatten writes; TR_ETOOBIG. */
int batch_flat_bytes(const struct sampled_batch *batch, uint64_t *bytes);

/* Writes them all; to is aligned to 64 bytes. */
void batch_flatten(const struct sampled_batch *batch, void *to);

/* Fills an empty batch of the book's types and of that many layers. TR_EFORMAT: the bytes are no
 * such batch, or it has IDs beyond the book's; TR_ENOMEM. After a failure the batch is good for
 * nothing but clear and release. */
int batch_unflatten(struct sampled_batch *batch, const struct book *book, const void *bytes,
                    uint64_t length);

#endif
