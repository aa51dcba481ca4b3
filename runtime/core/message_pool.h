/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One loop's free messages, by size of cell.
 *
 * Cells come from slabs, which know how many of their cells are free. A steady stream allocates
 * nothing: a slab whose cells are all free is kept, up to a bound; above it, as after a flood, it
 * goes back to the system at once, if that takes it. A slab is charged to the node's message
 * account while it lives.
 *
 * Invariants: a slab is in the list of its class exactly while it has a free cell. Each class keeps
 * its last slab of that list, so that one message to and fro is never an allocation.
 *
 * Thread rules: the loop's own.
 */
#ifndef RUNTIME_CORE_MESSAGE_POOL_H
#define RUNTIME_CORE_MESSAGE_POOL_H

#include <stddef.h>
#include <stdint.h>

#include "runtime/base/counter.h"
#include "runtime/core/account.h"
#include "runtime/core/message.h"

/* Two cache lines hold a frame and a head of 32 bytes, which is most of the traffic. */
#define MESSAGE_CELL_MIN 128u
#define MESSAGE_CELL_CLASSES 7u /* 128 << 6 = 8192 holds the largest head */
_Static_assert((MESSAGE_CELL_MIN << (MESSAGE_CELL_CLASSES - 1)) >=
                   sizeof(struct message) + KIND_HEAD_BYTES_MAX,
               "every head has a cell");

/* Large enough that slabs are rare, small enough for a thousand loops in the simulator. Slabs are
 * aligned to their size: a cell's address says which is its slab. */
#define MESSAGE_SLAB_BYTES ((size_t)64 << 10)
/* Empty slabs that a loop keeps: the windows of sixteen senders of small messages, which come and
 * go without an allocation then. Where the account is small, all loops keep an eighth of it. */
#define MESSAGE_POOL_IDLE_BYTES_MAX ((size_t)8 << 20)

struct message_slab {
    _Alignas(64) struct message_slab *next, *before; /* in the list of the class */
    struct message *free;
    uint32_t num_free, num_cells;
};

struct message_pool {
    struct account *account;
    struct message_slab *slabs[MESSAGE_CELL_CLASSES]; /* that have free cells */
    uint32_t num_empty, num_empty_max;                /* slabs of free cells alone */
    counter taken, given;
};

/* One of num_pools that share the account. */
void message_pool_init(struct message_pool *pool, struct account *account, uint32_t num_pools);

/* Every message must be back. */
void message_pool_fini(struct message_pool *pool);

/* A cell for such a head, its fields unset but size_class; NULL: no memory, account full. */
struct message *message_pool_take(struct message_pool *pool, size_t head_bytes);

/* A slab got its last cell back, and enough empty ones are kept: gives it to the system, unless it
 * is the last of its class. */
void message_pool_trim(struct message_pool *pool, uint32_t size_class, struct message_slab *slab);

static inline void message_pool_link(struct message_pool *pool, uint32_t size_class,
                                     struct message_slab *slab)
{
    slab->before = NULL;
    slab->next = pool->slabs[size_class];
    if (slab->next != NULL)
        slab->next->before = slab;
    pool->slabs[size_class] = slab;
}

/* A cell comes home. */
static inline void message_pool_give(struct message_pool *pool, struct message *message)
{
    uint32_t size_class = message->size_class;
    struct message_slab *slab =
        (struct message_slab *)(void *)((char *)message - (uintptr_t)message % MESSAGE_SLAB_BYTES);
    message->next = slab->free;
    slab->free = message;
    if (slab->num_free++ == 0)
        message_pool_link(pool, size_class, slab);
    if (slab->num_free == slab->num_cells && pool->num_empty++ >= pool->num_empty_max)
        message_pool_trim(pool, size_class, slab);
}

#endif
