/*
 * One loop's free messages, by size of cell.
 *
 * Cells come from slabs that are kept until the pool ends: a steady stream allocates nothing. A
 * slab is charged to the node's message account when it is made.
 *
 * Thread rules: the loop's own.
 */
#ifndef RUNTIME_MESSAGE_POOL_H
#define RUNTIME_MESSAGE_POOL_H

#include <stddef.h>
#include <stdint.h>

#include "runtime/account.h"
#include "runtime/counter.h"
#include "runtime/message.h"

/* Two cache lines hold a frame and a head of 32 bytes, which is most of the traffic. */
#define MESSAGE_CELL_MIN 128u
#define MESSAGE_CELL_CLASSES 7u /* 128 << 6 = 8192 holds the largest head */
_Static_assert((MESSAGE_CELL_MIN << (MESSAGE_CELL_CLASSES - 1)) >=
                   sizeof(struct message) + KIND_HEAD_BYTES_MAX,
               "every head has a cell");

struct message_slab;

struct message_pool {
    struct account *account;
    struct message *free[MESSAGE_CELL_CLASSES];
    struct message_slab *slabs;
    counter taken, given;
};

void message_pool_init(struct message_pool *pool, struct account *account);

/* Every message must be back. */
void message_pool_fini(struct message_pool *pool);

/* A cell for such a head, its fields unset but size_class; NULL: no memory, account full. */
struct message *message_pool_take(struct message_pool *pool, size_t head_bytes);

/* A cell comes home. */
static inline void message_pool_give(struct message_pool *pool, struct message *message)
{
    message->next = pool->free[message->size_class];
    pool->free[message->size_class] = message;
}

#endif
