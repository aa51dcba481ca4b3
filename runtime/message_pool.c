#include "runtime/message_pool.h"

#include <assert.h>
#include <stdlib.h>

/* Large enough that slabs are rare, small enough for a thousand loops in the simulator. */
#define SLAB_BYTES ((size_t)64 << 10)

struct message_slab {
    _Alignas(64) struct message_slab *next;
};

static size_t cell_bytes(uint32_t size_class)
{
    return (size_t)MESSAGE_CELL_MIN << size_class;
}

static uint32_t class_of(size_t head_bytes)
{
    uint32_t size_class = 0;
    while (cell_bytes(size_class) < sizeof(struct message) + head_bytes)
        size_class++;
    assert(size_class < MESSAGE_CELL_CLASSES);
    return size_class;
}

static int grow(struct message_pool *pool, uint32_t size_class)
{
    int rc = account_reserve(pool->account, SLAB_BYTES, NULL);
    if (rc < 0)
        return rc;
    struct message_slab *slab = aligned_alloc(64, SLAB_BYTES);
    if (slab == NULL) {
        account_release(pool->account, SLAB_BYTES);
        return TR_ENOMEM;
    }
    slab->next = pool->slabs;
    pool->slabs = slab;
    size_t step = cell_bytes(size_class);
    for (size_t at = sizeof *slab; at + step <= SLAB_BYTES; at += step) {
        struct message *message = (struct message *)(void *)((char *)slab + at);
        message->size_class = size_class;
        message_pool_give(pool, message);
    }
    return 0;
}

void message_pool_init(struct message_pool *pool, struct account *account)
{
    *pool = (struct message_pool){ .account = account };
}

void message_pool_fini(struct message_pool *pool)
{
    assert(counter_get(&pool->taken) == counter_get(&pool->given));
    while (pool->slabs != NULL) {
        struct message_slab *slab = pool->slabs;
        pool->slabs = slab->next;
        free(slab);
        account_release(pool->account, SLAB_BYTES);
    }
}

struct message *message_pool_take(struct message_pool *pool, size_t head_bytes)
{
    uint32_t size_class = class_of(head_bytes);
    if (pool->free[size_class] == NULL && grow(pool, size_class) < 0)
        return NULL;
    struct message *message = pool->free[size_class];
    pool->free[size_class] = message->next;
    counter_add(&pool->taken, 1);
    return message;
}
