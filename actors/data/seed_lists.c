/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Invariants: a loader has at most one entry. References are counted up under the mutex, where the
 * entry's own keeps the list alive, and given back outside of it: freeing a list takes long.
 */
#include "actors/data/seed_lists.h"

#include <pthread.h>
#include <stdlib.h>

#include <troupe/error.h>

struct listed_loader {
    uint64_t loader;
    struct listed_loader *next;
    uint32_t count;
    struct seed_list *of[];
};

struct seed_lists {
    pthread_mutex_t mutex; /* guards all below */
    struct listed_loader *loaders;
};

struct seed_list *seed_list_create(uint64_t num_ids)
{
    struct seed_list *list = malloc(sizeof *list);
    /* One more than none: what has no bytes may be NULL, which stands for no memory. */
    uint64_t *ids = calloc(num_ids != 0 ? num_ids : 1, sizeof *ids);
    if (list == NULL || ids == NULL) {
        free(list);
        free(ids);
        return NULL;
    }
    *list = (struct seed_list){ .num_ids = num_ids, .ids = ids };
    atomic_init(&list->references, 1);
    return list;
}

struct seed_list *seed_list_acquire(struct seed_list *list)
{
    atomic_fetch_add_explicit(&list->references, 1, memory_order_relaxed);
    return list;
}

void seed_list_release(struct seed_list *list)
{
    /* Release, then acquire by the last one: nobody reads the IDs after they are freed. */
    if (list == NULL || atomic_fetch_sub_explicit(&list->references, 1, memory_order_acq_rel) > 1)
        return;
    free(list->ids);
    free(list);
}

struct seed_lists *seed_lists_create(void)
{
    struct seed_lists *lists = calloc(1, sizeof *lists);
    if (lists != NULL)
        pthread_mutex_init(&lists->mutex, NULL);
    return lists;
}

static void release_entry(struct listed_loader *entry)
{
    for (uint32_t i = 0; entry != NULL && i < entry->count; i++)
        seed_list_release(entry->of[i]);
    free(entry);
}

void seed_lists_destroy(struct seed_lists *lists)
{
    if (lists == NULL)
        return;
    while (lists->loaders != NULL) {
        struct listed_loader *entry = lists->loaders;
        lists->loaders = entry->next;
        release_entry(entry);
    }
    pthread_mutex_destroy(&lists->mutex);
    free(lists);
}

/* Where the loader's entry hangs, or would hang as the last one. */
static struct listed_loader **find_entry(struct seed_lists *lists, uint64_t loader)
{
    struct listed_loader **link = &lists->loaders;
    while (*link != NULL && (*link)->loader != loader)
        link = &(*link)->next;
    return link;
}

static struct listed_loader *take_entry(struct seed_lists *lists, uint64_t loader)
{
    struct listed_loader **link = find_entry(lists, loader);
    struct listed_loader *entry = *link;
    if (entry != NULL)
        *link = entry->next;
    return entry;
}

int seed_lists_put(struct seed_lists *lists, uint64_t loader, struct seed_list *const *of,
                   uint32_t count)
{
    struct listed_loader *entry = malloc(sizeof *entry + count * sizeof(struct seed_list *));
    if (entry == NULL)
        return TR_ENOMEM;
    entry->loader = loader;
    entry->count = count;
    for (uint32_t i = 0; i < count; i++)
        entry->of[i] = seed_list_acquire(of[i]);
    pthread_mutex_lock(&lists->mutex);
    struct listed_loader *former = take_entry(lists, loader);
    entry->next = lists->loaders;
    lists->loaders = entry;
    pthread_mutex_unlock(&lists->mutex);
    release_entry(former);
    return 0;
}

void seed_lists_drop(struct seed_lists *lists, uint64_t loader)
{
    pthread_mutex_lock(&lists->mutex);
    struct listed_loader *entry = take_entry(lists, loader);
    pthread_mutex_unlock(&lists->mutex);
    release_entry(entry);
}

struct seed_list *seed_lists_take(struct seed_lists *lists, uint64_t loader, uint32_t at)
{
    pthread_mutex_lock(&lists->mutex);
    struct listed_loader *entry = *find_entry(lists, loader);
    struct seed_list *list = entry != NULL && at < entry->count ? seed_list_acquire(entry->of[at])
                                                                : NULL;
    pthread_mutex_unlock(&lists->mutex);
    return list;
}
