/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One loop's free body buffers, by size class.
 *
 * Thread rules: the loop's own.
 */
#ifndef RUNTIME_CORE_BUFFER_POOL_H
#define RUNTIME_CORE_BUFFER_POOL_H

#include "runtime/base/counter.h"
#include "runtime/core/account.h"
#include "runtime/core/buffer.h"

#define BUFFER_CLASS_MIN_SHIFT 8u /* 256 bytes: smaller arrays cost as much */
#define BUFFER_CLASSES 19u        /* up to 64 MiB; larger ones are not kept */

/* A loop keeps so much free: enough for several batches in flight, and no more than a quarter of a
 * small machine when a burst is over. All loops together keep at most half of what the account has:
 * one can't have what another keeps. */
#define BUFFER_POOL_IDLE_BYTES_MAX ((size_t)512 << 20)

struct buffer_pool {
    struct account *account;
    struct buffer *free[BUFFER_CLASSES];
    size_t idle_bytes, idle_bytes_max;
    counter taken, given;
};

/* One of num_pools that share the account. */
void buffer_pool_init(struct buffer_pool *pool, struct account *account, uint32_t num_pools);
void buffer_pool_fini(struct buffer_pool *pool);

/* With one reference and no home set; NULL: no memory, account full, or over BUFFER_BYTES_MAX. */
struct buffer *buffer_pool_take(struct buffer_pool *pool, size_t bytes);

/* A buffer of buffer_create_any that has no references any more. Any thread. */
void buffer_destroy_any(struct buffer *buffer);

/* A buffer without references comes home. */
void buffer_pool_give(struct buffer_pool *pool, struct buffer *buffer);

#endif
