/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/core/buffer_pool.h"

#include <assert.h>
#include <stdlib.h>

#include "runtime/base/hotmem.h"

static uint32_t class_of(size_t bytes)
{
    uint32_t size_class = 0;
    while (size_class < BUFFER_CLASSES &&
           ((size_t)1 << (BUFFER_CLASS_MIN_SHIFT + size_class)) < bytes)
        size_class++;
    return size_class; /* BUFFER_CLASSES: larger than all */
}

static size_t class_bytes(uint32_t size_class, size_t bytes)
{
    if (size_class < BUFFER_CLASSES)
        return (size_t)1 << (BUFFER_CLASS_MIN_SHIFT + size_class);
    return (bytes + HOTMEM_HUGE_BYTES - 1) & ~(HOTMEM_HUGE_BYTES - 1);
}

static struct buffer *make(size_t bytes)
{
    if (bytes > BUFFER_BYTES_MAX)
        return NULL;
    struct buffer *buffer = calloc(1, sizeof *buffer);
    if (buffer == NULL)
        return NULL;
    buffer->size_class = class_of(bytes);
    buffer->capacity = class_bytes(buffer->size_class, bytes);
    buffer->data = hotmem_alloc(buffer->capacity);
    if (buffer->data == NULL) {
        free(buffer);
        return NULL;
    }
    atomic_init(&buffer->references, 1);
    return buffer;
}

static void destroy(struct buffer *buffer)
{
    hotmem_free(buffer->data, buffer->capacity);
    free(buffer);
}

void buffer_pool_init(struct buffer_pool *pool, struct account *account, uint32_t num_pools)
{
    size_t most = account->bound_bytes / 2 / num_pools;
    most = most < BUFFER_POOL_IDLE_BYTES_MAX ? most : BUFFER_POOL_IDLE_BYTES_MAX;
    *pool = (struct buffer_pool){ .account = account, .idle_bytes_max = most };
}

static void drop(struct buffer_pool *pool, struct buffer *buffer)
{
    account_release(pool->account, buffer->capacity);
    destroy(buffer);
}

static void drop_idle(struct buffer_pool *pool)
{
    for (uint32_t c = 0; c < BUFFER_CLASSES; c++)
        while (pool->free[c] != NULL) {
            struct buffer *buffer = pool->free[c];
            pool->free[c] = buffer->next;
            drop(pool, buffer);
        }
    pool->idle_bytes = 0;
}

void buffer_pool_fini(struct buffer_pool *pool)
{
    assert(counter_get(&pool->taken) == counter_get(&pool->given));
    drop_idle(pool);
}

/* Idle buffers of other sizes must not keep one from being made. */
static int charge(struct buffer_pool *pool, size_t bytes)
{
    if (account_reserve(pool->account, bytes, NULL) == 0)
        return 0;
    drop_idle(pool);
    return account_reserve(pool->account, bytes, NULL);
}

struct buffer *buffer_pool_take(struct buffer_pool *pool, size_t bytes)
{
    uint32_t size_class = class_of(bytes);
    struct buffer *buffer;
    if (size_class < BUFFER_CLASSES && pool->free[size_class] != NULL) {
        buffer = pool->free[size_class];
        pool->free[size_class] = buffer->next;
        pool->idle_bytes -= buffer->capacity;
        atomic_store_explicit(&buffer->references, 1, memory_order_relaxed);
    } else {
        /* The bytes are charged before the buffer is made: checked afterwards, all loops at once
         * could pass the bound. */
        if (bytes > BUFFER_BYTES_MAX || charge(pool, class_bytes(size_class, bytes)) < 0)
            return NULL;
        buffer = make(bytes);
        if (buffer == NULL) {
            account_release(pool->account, class_bytes(size_class, bytes));
            return NULL;
        }
    }
    counter_add(&pool->taken, 1);
    return buffer;
}

void buffer_pool_give(struct buffer_pool *pool, struct buffer *buffer)
{
    counter_add(&pool->given, 1);
    if (buffer->size_class >= BUFFER_CLASSES ||
        pool->idle_bytes + buffer->capacity > pool->idle_bytes_max) {
        drop(pool, buffer);
        return;
    }
    pool->idle_bytes += buffer->capacity;
    buffer->next = pool->free[buffer->size_class];
    pool->free[buffer->size_class] = buffer;
}

struct buffer *buffer_create_any(struct account *account, size_t bytes)
{
    /* This comes before the size is rounded up to a capacity: a huge one would wrap to a small
     * one. */
    if (bytes > BUFFER_BYTES_MAX)
        return NULL;
    size_t capacity = class_bytes(class_of(bytes), bytes);
    if (account != NULL && account_reserve(account, capacity, NULL) != 0)
        return NULL;
    struct buffer *buffer = make(bytes);
    if (buffer != NULL)
        buffer->account = account;
    else if (account != NULL)
        account_release(account, capacity);
    return buffer;
}

void buffer_destroy_any(struct buffer *buffer)
{
    if (buffer->account != NULL)
        account_release(buffer->account, buffer->capacity);
    destroy(buffer);
}
