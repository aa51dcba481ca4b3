/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Invariants: what a batch that is ready or idle holds is charged, and so is what a reservation
 * stands for; a batch is uncharged before it is discarded or taken for use again. Nothing is freed
 * under the mutex: what leaves the lists goes to one that destroy_list() frees afterwards. All
 * that a function does under the mutex is seen at once, so its order matters only where one step
 * reads what another writes.
 */
#include "actors/data/batch_store.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#include <troupe/error.h>

/* Idle batches kept for use again: as many as are usually on their way at once. */
#define BATCH_STORE_IDLE_MAX 16u

/* Reservations of a loader at once: more than any window. */
#define BATCH_STORE_RESERVED_MAX 512u

struct reservation {
    uint32_t epoch;
    uint64_t index;
    size_t bytes;
};

struct store_loader {
    uint64_t id;
    uint32_t epoch;
    bool starving;
    size_t estimate_bytes;
    size_t largest_bytes;
    uint64_t position; /* of that epoch; batches before it were collected */
    uint32_t num_reserved;
    struct reservation reserved[BATCH_STORE_RESERVED_MAX];
    struct sampled_batch *ready;
    struct store_loader *next;
};

struct batch_store {
    struct fork_mark *mark;
    atomic_uint references;
    pthread_mutex_t mutex; /* guards all below */
    struct account account;
    struct batch_store_counts counts;
    bool closed;
    struct store_loader *loaders;
    struct sampled_batch *idle;
    uint32_t num_idle;
};

struct batch_store *batch_store_create(size_t bound_bytes)
{
    struct batch_store *store = calloc(1, sizeof *store);
    struct fork_mark *mark = fork_mark_create();
    if (store == NULL || mark == NULL) {
        fork_mark_destroy(mark);
        free(store);
        return NULL;
    }
    store->mark = mark;
    atomic_init(&store->references, 1);
    pthread_mutex_init(&store->mutex, NULL);
    account_init(&store->account, "batches", bound_bytes);
    return store;
}

const struct fork_mark *batch_store_mark(const struct batch_store *store)
{
    return store->mark;
}

static struct batch_store *batch_store_acquire(struct batch_store *store)
{
    atomic_fetch_add_explicit(&store->references, 1, memory_order_relaxed);
    return store;
}

void batch_store_release(struct batch_store *store)
{
    if (store == NULL)
        return;
    /* Release, then acquire by the last one, which must see what all others did. */
    if (atomic_fetch_sub_explicit(&store->references, 1, memory_order_acq_rel) > 1)
        return;
    assert(store->loaders == NULL && store->idle == NULL);
    account_fini(&store->account);
    fork_mark_destroy(store->mark);
    pthread_mutex_destroy(&store->mutex);
    free(store);
}

static struct store_loader *batch_store_find(struct batch_store *store, uint64_t loader)
{
    struct store_loader *l = store->loaders;
    while (l != NULL && l->id != loader)
        l = l->next;
    return l;
}

static void loader_uncharge(struct batch_store *store, struct sampled_batch *batch)
{
    if (batch->charged_bytes != 0)
        account_release(&store->account, batch->charged_bytes);
    batch->charged_bytes = 0;
}

/* Puts one on the list of those that the caller destroys after it let go of the mutex. */
static void batch_store_discard(struct sampled_batch **list, struct sampled_batch *batch)
{
    batch->next = *list;
    *list = batch;
}

/* Outside of the mutex: freeing a batch takes long, and the last reference frees the mutex too.
 * Each of these held a reference on the store, which it gives up here. */
static void destroy_list(struct batch_store *store, struct sampled_batch *list)
{
    while (list != NULL) {
        struct sampled_batch *next = list->next;
        sampled_batch_destroy(list);
        batch_store_release(store);
        list = next;
    }
}

static void drop_idle(struct batch_store *store, struct sampled_batch **list)
{
    while (store->idle != NULL) {
        struct sampled_batch *batch = store->idle;
        store->idle = batch->next;
        loader_uncharge(store, batch);
        batch_store_discard(list, batch);
    }
    store->num_idle = 0;
}

static void loader_unreserve(struct batch_store *store, struct store_loader *l, uint32_t epoch,
                             uint64_t index)
{
    uint32_t i = 0;
    while (i < l->num_reserved && (l->reserved[i].index != index || l->reserved[i].epoch != epoch))
        i++;
    if (i == l->num_reserved)
        return;
    size_t bytes = l->reserved[i].bytes;
    l->reserved[i] = l->reserved[--l->num_reserved];
    if (bytes != 0)
        account_release(&store->account, bytes);
}

/* A batch that nobody will take is as good for the next one as one that was given back: a loop that
 * is left early would otherwise have the memory of its next batches faulted in anew. Its charge
 * stays, as that of an idle batch. */
static void batch_store_retire(struct batch_store *store, struct sampled_batch *batch,
                               struct sampled_batch **list)
{
    if (!store->closed && store->num_idle < BATCH_STORE_IDLE_MAX) {
        batch->next = store->idle;
        store->idle = batch;
        store->num_idle++;
        return;
    }
    loader_uncharge(store, batch);
    batch_store_discard(list, batch);
}

/* Batches that wait here have one reference, the store's own. */
static void drop_ready(struct batch_store *store, struct store_loader *l,
                       struct sampled_batch **list)
{
    while (l->ready != NULL) {
        struct sampled_batch *batch = l->ready;
        l->ready = batch->next;
        batch_store_retire(store, batch, list);
    }
    while (l->num_reserved > 0)
        loader_unreserve(store, l, l->reserved[0].epoch, l->reserved[0].index);
    l->starving = false;
}

static void drop_loader(struct batch_store *store, struct store_loader **link,
                        struct sampled_batch **list)
{
    struct store_loader *l = *link;
    drop_ready(store, l, list);
    *link = l->next;
    free(l);
}

void batch_store_close(struct batch_store *store)
{
    struct sampled_batch *list = NULL;
    pthread_mutex_lock(&store->mutex);
    store->closed = true;
    while (store->loaders != NULL)
        drop_loader(store, &store->loaders, &list);
    drop_idle(store, &list);
    pthread_mutex_unlock(&store->mutex);
    destroy_list(store, list);
}

int batch_store_open_loader(struct batch_store *store, uint64_t loader, size_t estimate_bytes)
{
    struct store_loader *l = calloc(1, sizeof *l);
    if (l == NULL)
        return TR_ENOMEM;
    l->id = loader;
    l->estimate_bytes = estimate_bytes;
    pthread_mutex_lock(&store->mutex);
    bool refused = store->closed || batch_store_find(store, loader) != NULL;
    if (!refused) {
        l->next = store->loaders;
        store->loaders = l;
    }
    pthread_mutex_unlock(&store->mutex);
    if (refused)
        free(l);
    return refused ? TR_ECLOSED : 0;
}

void batch_store_set_epoch(struct batch_store *store, uint64_t loader, uint32_t epoch,
                           uint64_t index)
{
    struct sampled_batch *list = NULL;
    pthread_mutex_lock(&store->mutex);
    struct store_loader *l = batch_store_find(store, loader);
    if (l != NULL) {
        drop_ready(store, l, &list);
        l->epoch = epoch;
        l->position = index;
    }
    pthread_mutex_unlock(&store->mutex);
    destroy_list(store, list);
}

/* Whether that batch comes before the one the loader takes next. */
static bool is_past(const struct store_loader *l, uint32_t epoch, uint64_t index)
{
    return epoch < l->epoch || (epoch == l->epoch && index < l->position);
}

static void move_on(struct store_loader *l, uint32_t epoch, uint64_t index)
{
    if (is_past(l, epoch, index))
        return;
    l->epoch = epoch;
    l->position = index;
}

void batch_store_advance(struct batch_store *store, uint64_t loader, uint32_t epoch, uint64_t index)
{
    struct sampled_batch *list = NULL;
    pthread_mutex_lock(&store->mutex);
    struct store_loader *l = batch_store_find(store, loader);
    struct sampled_batch **link = l != NULL ? &l->ready : NULL;
    /* The position moves first: is_past() measures by it. */
    if (l != NULL)
        move_on(l, epoch, index);
    while (link != NULL && *link != NULL) {
        struct sampled_batch *batch = *link;
        if (!is_past(l, batch->space.batch.epoch, batch->space.batch.index)) {
            link = &batch->next;
            continue;
        }
        *link = batch->next;
        batch_store_retire(store, batch, &list);
    }
    pthread_mutex_unlock(&store->mutex);
    destroy_list(store, list);
}

void batch_store_close_loader(struct batch_store *store, uint64_t loader)
{
    struct sampled_batch *list = NULL;
    pthread_mutex_lock(&store->mutex);
    struct store_loader **link = &store->loaders;
    while (*link != NULL && (*link)->id != loader)
        link = &(*link)->next;
    if (*link != NULL)
        drop_loader(store, link, &list);
    pthread_mutex_unlock(&store->mutex);
    destroy_list(store, list);
}

/* An eighth more than the largest so far, since the next may be a little larger. */
static size_t loader_estimate(const struct store_loader *l)
{
    if (l->largest_bytes == 0)
        return l->estimate_bytes;
    return l->largest_bytes + l->largest_bytes / 8;
}

/* Room for a batch that the client waits for, or will. */
static int loader_reserve(struct batch_store *store, struct store_loader *l, size_t *bytes,
                          struct sampled_batch **list)
{
    /* Idle batches give way first, for they only save making new ones. Then a loader that is alone
     * gets all there is: with less than its estimate, batches that do fit would never be made. */
    int rv = account_reserve(&store->account, *bytes, NULL);
    if (rv != 0) {
        drop_idle(store, list);
        rv = account_reserve(&store->account, *bytes, NULL);
    }
    if (rv != 0 && account_used(&store->account) == 0) {
        *bytes = store->account.bound_bytes;
        rv = account_reserve(&store->account, *bytes, NULL);
    }
    l->starving = rv != 0;
    return rv;
}

/* Room for a batch that the client may never ask for. */
static int reserve_spare(struct batch_store *store, size_t bytes)
{
    size_t half = store->account.bound_bytes / 2, used = account_used(&store->account);
    if (bytes > half || used > half - bytes)
        return TR_EFULL;
    return account_reserve(&store->account, bytes, NULL);
}

int batch_store_reserve(struct batch_store *store, uint64_t loader, uint32_t epoch, uint64_t index)
{
    struct sampled_batch *list = NULL;
    pthread_mutex_lock(&store->mutex);
    struct store_loader *l = batch_store_find(store, loader);
    size_t bytes = l == NULL ? 0 : loader_estimate(l);
    /* Whether it can be noted is asked before any room is taken, which would have to be given
     * back. */
    int rv = l == NULL                                     ? TR_ECANCELED
             : l->num_reserved == BATCH_STORE_RESERVED_MAX ? TR_EFULL
             : epoch > l->epoch                            ? reserve_spare(store, bytes)
                                : loader_reserve(store, l, &bytes, &list);
    if (rv == 0)
        l->reserved[l->num_reserved++] = (struct reservation){ epoch, index, bytes };
    pthread_mutex_unlock(&store->mutex);
    destroy_list(store, list);
    return rv;
}

void batch_store_unreserve(struct batch_store *store, uint64_t loader, uint32_t epoch,
                           uint64_t index)
{
    pthread_mutex_lock(&store->mutex);
    struct store_loader *l = batch_store_find(store, loader);
    if (l != NULL)
        loader_unreserve(store, l, epoch, index);
    pthread_mutex_unlock(&store->mutex);
}

bool batch_store_drop(struct batch_store *store, uint64_t loader, uint32_t epoch, uint64_t index)
{
    struct sampled_batch *list = NULL;
    pthread_mutex_lock(&store->mutex);
    struct store_loader *l = batch_store_find(store, loader);
    struct sampled_batch **link = l != NULL ? &l->ready : NULL;
    while (link != NULL && *link != NULL &&
           ((*link)->space.batch.epoch != epoch || (*link)->space.batch.index != index))
        link = &(*link)->next;
    bool waits = link != NULL && *link != NULL;
    if (waits) {
        struct sampled_batch *batch = *link;
        *link = batch->next;
        loader_uncharge(store, batch);
        batch_store_discard(&list, batch);
    }
    pthread_mutex_unlock(&store->mutex);
    destroy_list(store, list);
    return waits;
}

bool batch_store_is_starving(struct batch_store *store, uint64_t loader)
{
    pthread_mutex_lock(&store->mutex);
    struct store_loader *l = batch_store_find(store, loader);
    bool starving = l != NULL && l->starving;
    pthread_mutex_unlock(&store->mutex);
    return starving;
}

static bool has_shape(const struct sampled_batch *b, uint32_t ntypes, uint32_t etypes,
                      uint32_t layers)
{
    return b->space.batch.num_ntypes == ntypes && b->space.batch.num_etypes == etypes &&
           b->space.batch.num_layers == layers;
}

struct sampled_batch *batch_store_take(struct batch_store *store, uint32_t num_ntypes,
                                       uint32_t num_etypes, uint32_t num_layers)
{
    pthread_mutex_lock(&store->mutex);
    struct sampled_batch **link = &store->idle;
    while (*link != NULL && !has_shape(*link, num_ntypes, num_etypes, num_layers))
        link = &(*link)->next;
    struct sampled_batch *batch = *link;
    if (batch != NULL) {
        *link = batch->next;
        store->num_idle--;
        /* The reservation of its requester stands for it from now on. */
        loader_uncharge(store, batch);
    }
    pthread_mutex_unlock(&store->mutex);
    if (batch != NULL) {
        sampled_batch_clear(batch);
        return batch;
    }
    batch = sampled_batch_create(num_ntypes, num_etypes, num_layers);
    if (batch != NULL)
        batch->store = batch_store_acquire(store);
    return batch;
}

static struct sampled_batch **find_ready(struct store_loader *l, uint32_t epoch, uint64_t index)
{
    struct sampled_batch **link = &l->ready;
    while (*link != NULL &&
           ((*link)->space.batch.epoch != epoch || (*link)->space.batch.index != index))
        link = &(*link)->next;
    return link;
}

static int loader_deposit(struct batch_store *store, struct sampled_batch *batch,
                          struct sampled_batch **list)
{
    struct store_loader *l = batch_store_find(store, batch->loader);
    uint32_t epoch = batch->space.batch.epoch;
    uint64_t index = batch->space.batch.index;
    if (store->closed || l == NULL || is_past(l, epoch, index) || epoch - l->epoch > 1)
        return TR_ECANCELED;
    /* The reservation goes first: this is the batch that it was made for, even if another of the
     * step is there already (a slot that failed is asked again, and both come). It goes before the
     * bytes are charged, too: an account that has room for one of them need not have it for
     * both. */
    loader_unreserve(store, l, epoch, index);
    if (*find_ready(l, epoch, index) != NULL)
        return TR_EEXIST;
    size_t bytes = sampled_batch_bytes(batch);
    /* The size counts also where there is no room: the next reservation is then as large, and
     * fails where this would fail again, so that batches ahead of it give way. */
    l->largest_bytes = l->largest_bytes < bytes ? bytes : l->largest_bytes;
    int rv = account_reserve(&store->account, bytes, NULL);
    if (rv != 0) {
        drop_idle(store, list);
        rv = account_reserve(&store->account, bytes, NULL);
    }
    if (rv != 0)
        return rv;
    batch->charged_bytes = bytes;
    batch->next = l->ready;
    l->ready = batch;
    return 0;
}

int batch_store_deposit(struct batch_store *store, struct sampled_batch *batch)
{
    struct sampled_batch *list = NULL;
    pthread_mutex_lock(&store->mutex);
    int rv = loader_deposit(store, batch, &list);
    pthread_mutex_unlock(&store->mutex);
    destroy_list(store, list);
    /* The release comes after the mutex is unlocked: it gives the batch back to this store,
     * which takes the mutex again. */
    if (rv != 0)
        sampled_batch_release(batch);
    return rv == TR_EEXIST ? 0 : rv;
}

int batch_store_say_full(struct batch_store *store, size_t bytes, struct error *error)
{
    return error_set(error, TR_EFULL,
                     "account \"batches\" is full: a batch needs %zu bytes, and %zu of the %zu "
                     "bytes for batches in flight are in use; raise memory_bytes_max, make batches "
                     "smaller, or release them earlier",
                     bytes, batch_store_used(store), batch_store_bound(store));
}

int batch_store_say_starved(struct batch_store *store, struct error *error)
{
    return error_set(
        error, TR_EFULL,
        "account \"batches\" is full: %zu of the %zu bytes for batches in flight are "
        "in use; raise memory_bytes_max, make batches smaller, or release them earlier",
        batch_store_used(store), batch_store_bound(store));
}

bool batch_store_is_taken(struct batch_store *store, uint64_t loader, uint32_t epoch,
                          uint64_t index)
{
    pthread_mutex_lock(&store->mutex);
    struct store_loader *l = batch_store_find(store, loader);
    bool taken = l != NULL && is_past(l, epoch, index);
    pthread_mutex_unlock(&store->mutex);
    return taken;
}

struct sampled_batch *batch_store_collect(struct batch_store *store, uint64_t loader,
                                          uint32_t epoch, uint64_t index)
{
    struct sampled_batch *batch = NULL;
    pthread_mutex_lock(&store->mutex);
    struct store_loader *l = batch_store_find(store, loader);
    if (l != NULL) {
        struct sampled_batch **link = find_ready(l, epoch, index);
        batch = *link;
        /* The position moves on in the same hold of the mutex that took the batch: a repeat of
         * it that is deposited afterwards is past, and released. */
        if (batch != NULL)
            *link = batch->next;
        if (batch != NULL)
            move_on(l, epoch, index + 1);
    }
    store->counts.taken += batch != NULL;
    pthread_mutex_unlock(&store->mutex);
    return batch;
}

void batch_store_note_made(struct batch_store *store)
{
    pthread_mutex_lock(&store->mutex);
    store->counts.made++;
    pthread_mutex_unlock(&store->mutex);
}

void batch_store_counts(struct batch_store *store, struct batch_store_counts *counts)
{
    pthread_mutex_lock(&store->mutex);
    *counts = store->counts;
    pthread_mutex_unlock(&store->mutex);
}

size_t batch_store_used(struct batch_store *store)
{
    return account_used(&store->account);
}

size_t batch_store_bound(const struct batch_store *store)
{
    return store->account.bound_bytes;
}

void batch_store_give_back(struct batch_store *store, struct sampled_batch *batch)
{
    struct sampled_batch *list = NULL;
    pthread_mutex_lock(&store->mutex);
    /* The old charge goes first: an account that is nearly full has room for the idle batch by
     * that alone. */
    loader_uncharge(store, batch);
    size_t bytes = sampled_batch_bytes(batch);
    bool keep = !store->closed && store->num_idle < BATCH_STORE_IDLE_MAX &&
                account_reserve(&store->account, bytes, NULL) == 0;
    if (keep) {
        batch->charged_bytes = bytes;
        batch->next = store->idle;
        store->idle = batch;
        store->num_idle++;
    } else {
        batch_store_discard(&list, batch);
    }
    pthread_mutex_unlock(&store->mutex);
    destroy_list(store, list);
}
