/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/core/message_pool.h"

#include <assert.h>
#include <stdlib.h>
#include <sys/mman.h>

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

static char *map(size_t bytes)
{
    /* All of it is written to next: pages that come together cost less than one by one. */
    char *base = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    return base == MAP_FAILED ? NULL : base;
}

/* Mapped, not allocated: the system has it back when it is freed, whatever lies beside it. mmap
 * aligns to pages alone; beside a slab it mostly finds an aligned place, else twice as much is
 * mapped and both ends are given back. */
static struct message_slab *map_slab(void)
{
    char *base = map(MESSAGE_SLAB_BYTES);
    if (base != NULL && (uintptr_t)base % MESSAGE_SLAB_BYTES == 0)
        return (struct message_slab *)(void *)base;
    if (base != NULL)
        munmap(base, MESSAGE_SLAB_BYTES);
    base = map(2 * MESSAGE_SLAB_BYTES);
    if (base == NULL)
        return NULL;
    size_t head = (MESSAGE_SLAB_BYTES - (uintptr_t)base % MESSAGE_SLAB_BYTES) % MESSAGE_SLAB_BYTES;
    if (head > 0)
        munmap(base, head);
    munmap(base + head + MESSAGE_SLAB_BYTES, MESSAGE_SLAB_BYTES - head);
    return (struct message_slab *)(void *)(base + head);
}

static void unlink_slab(struct message_pool *pool, uint32_t size_class, struct message_slab *slab)
{
    if (slab->before != NULL)
        slab->before->next = slab->next;
    else
        pool->slabs[size_class] = slab->next;
    if (slab->next != NULL)
        slab->next->before = slab->before;
}

/* An empty one. The system refuses to unmap it where that cuts a mapping in two and the process may
 * have no more of them: then it stays an empty slab, charged as such. */
static void free_slab(struct message_pool *pool, uint32_t size_class, struct message_slab *slab)
{
    /* The slab leaves the list before it is unmapped: its links lie in the memory that goes. */
    unlink_slab(pool, size_class, slab);
    if (munmap(slab, MESSAGE_SLAB_BYTES) != 0) {
        message_pool_link(pool, size_class, slab);
        return;
    }
    /* Only what the system took is given back to the account: a slab that stays still takes
     * memory. */
    pool->num_empty--;
    account_release(pool->account, MESSAGE_SLAB_BYTES);
}

/* Empty slabs of other sizes must not keep one from being made. */
static void free_empty(struct message_pool *pool)
{
    for (uint32_t c = 0; c < MESSAGE_CELL_CLASSES && pool->num_empty > 0; c++) {
        for (struct message_slab *slab = pool->slabs[c], *next; slab != NULL; slab = next) {
            next = slab->next;
            if (slab->num_free == slab->num_cells)
                free_slab(pool, c, slab);
        }
    }
}

static int reserve(struct message_pool *pool)
{
    if (account_reserve(pool->account, MESSAGE_SLAB_BYTES, NULL) == 0)
        return 0;
    /* Idle slabs go only when the account is full: until then they serve the next messages. */
    if (pool->num_empty == 0)
        return TR_EFULL;
    free_empty(pool);
    return account_reserve(pool->account, MESSAGE_SLAB_BYTES, NULL);
}

static int grow(struct message_pool *pool, uint32_t size_class)
{
    /* The slab is charged before it is mapped: checked afterwards, all loops at once could pass the
     * bound. */
    int rc = reserve(pool);
    if (rc < 0)
        return rc;
    struct message_slab *slab = map_slab();
    if (slab == NULL) {
        account_release(pool->account, MESSAGE_SLAB_BYTES);
        return TR_ENOMEM;
    }
    size_t step = cell_bytes(size_class);
    for (size_t at = sizeof *slab; at + step <= MESSAGE_SLAB_BYTES; at += step) {
        struct message *message = (struct message *)(void *)((char *)slab + at);
        message->size_class = size_class;
        message->next = slab->free;
        slab->free = message;
        slab->num_cells++;
    }
    slab->num_free = slab->num_cells;
    message_pool_link(pool, size_class, slab);
    pool->num_empty++;
    return 0;
}

void message_pool_init(struct message_pool *pool, struct account *account, uint32_t num_pools)
{
    size_t most = account->bound_bytes / 8 / num_pools;
    most = most < MESSAGE_POOL_IDLE_BYTES_MAX ? most : MESSAGE_POOL_IDLE_BYTES_MAX;
    *pool = (struct message_pool){ .account = account,
                                   .num_empty_max = (uint32_t)(most / MESSAGE_SLAB_BYTES) };
}

void message_pool_fini(struct message_pool *pool)
{
    assert(counter_get(&pool->taken) == counter_get(&pool->given));
    free_empty(pool);
    /* Memory that the system refused to unmap stays mapped until the process ends. */
    account_release(pool->account, pool->num_empty * MESSAGE_SLAB_BYTES);
}

struct message *message_pool_take(struct message_pool *pool, size_t head_bytes)
{
    uint32_t size_class = class_of(head_bytes);
    if (pool->slabs[size_class] == NULL && grow(pool, size_class) < 0)
        return NULL;
    struct message_slab *slab = pool->slabs[size_class];
    struct message *message = slab->free;
    slab->free = message->next;
    /* The first cell taken makes the slab one that is not empty; the last one takes it out of the
     * list. */
    if (slab->num_free-- == slab->num_cells)
        pool->num_empty--;
    if (slab->num_free == 0)
        unlink_slab(pool, size_class, slab);
    counter_add(&pool->taken, 1);
    return message;
}

void message_pool_trim(struct message_pool *pool, uint32_t size_class, struct message_slab *slab)
{
    if (slab->next == NULL && slab->before == NULL)
        return;
    free_slab(pool, size_class, slab);
}
