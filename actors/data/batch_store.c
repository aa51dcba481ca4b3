#include "actors/data/batch_store.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#include <troupe/error.h>

/* Idle batches kept for use again: as many as are usually on their way at once. */
#define BANK_IDLE_MAX 16u

/* Reservations of a loader at once: more than any window. */
#define BANK_RESERVED_MAX 512u

struct reservation {
    uint32_t epoch;
    uint64_t index;
    size_t bytes;
};

struct bank_loader {
    uint64_t id;
    uint32_t epoch;
    bool starving;
    size_t estimate_bytes;
    size_t largest_bytes;
    uint64_t position; /* of that epoch; batches before it were collected */
    uint32_t num_reserved;
    struct reservation reserved[BANK_RESERVED_MAX];
    struct sampled_batch *ready;
    struct bank_loader *next;
};

struct batch_bank {
    atomic_uint references;
    pthread_mutex_t mutex; /* guards all below */
    struct account account;
    struct batch_bank_counts counts;
    bool closed;
    struct bank_loader *loaders;
    struct sampled_batch *idle;
    uint32_t num_idle;
};

struct batch_bank *batch_bank_create(size_t bound_bytes)
{
    struct batch_bank *bank = calloc(1, sizeof *bank);
    if (bank == NULL)
        return NULL;
    atomic_init(&bank->references, 1);
    pthread_mutex_init(&bank->mutex, NULL);
    account_init(&bank->account, "batches", bound_bytes);
    return bank;
}

static struct batch_bank *acquire(struct batch_bank *bank)
{
    atomic_fetch_add_explicit(&bank->references, 1, memory_order_relaxed);
    return bank;
}

void batch_bank_release(struct batch_bank *bank)
{
    if (bank == NULL)
        return;
    /* Release, then acquire by the last one, who must see what all others did. */
    if (atomic_fetch_sub_explicit(&bank->references, 1, memory_order_acq_rel) > 1)
        return;
    assert(bank->loaders == NULL && bank->idle == NULL);
    account_fini(&bank->account);
    pthread_mutex_destroy(&bank->mutex);
    free(bank);
}

static struct bank_loader *find(struct batch_bank *bank, uint64_t loader)
{
    struct bank_loader *l = bank->loaders;
    while (l != NULL && l->id != loader)
        l = l->next;
    return l;
}

static void uncharge(struct batch_bank *bank, struct sampled_batch *batch)
{
    if (batch->charged_bytes != 0)
        account_release(&bank->account, batch->charged_bytes);
    batch->charged_bytes = 0;
}

/* Puts one on the list of those that the caller destroys after it let go of the mutex. */
static void discard(struct sampled_batch **list, struct sampled_batch *batch)
{
    batch->next = *list;
    *list = batch;
}

/* Each of these held a reference on the bank, which it gives up here. */
static void destroy_list(struct batch_bank *bank, struct sampled_batch *list)
{
    while (list != NULL) {
        struct sampled_batch *next = list->next;
        sampled_batch_destroy(list);
        batch_bank_release(bank);
        list = next;
    }
}

static void drop_idle(struct batch_bank *bank, struct sampled_batch **list)
{
    while (bank->idle != NULL) {
        struct sampled_batch *batch = bank->idle;
        bank->idle = batch->next;
        uncharge(bank, batch);
        discard(list, batch);
    }
    bank->num_idle = 0;
}

static void unreserve(struct batch_bank *bank, struct bank_loader *l, uint32_t epoch,
                      uint64_t index)
{
    uint32_t i = 0;
    while (i < l->num_reserved &&
           (l->reserved[i].index != index || l->reserved[i].epoch != epoch))
        i++;
    if (i == l->num_reserved)
        return;
    size_t bytes = l->reserved[i].bytes;
    l->reserved[i] = l->reserved[--l->num_reserved];
    if (bytes != 0)
        account_release(&bank->account, bytes);
}

/* Batches that wait here have one reference, the bank's own. */
static void drop_ready(struct batch_bank *bank, struct bank_loader *l, struct sampled_batch **list)
{
    while (l->ready != NULL) {
        struct sampled_batch *batch = l->ready;
        l->ready = batch->next;
        uncharge(bank, batch);
        discard(list, batch);
    }
    while (l->num_reserved > 0)
        unreserve(bank, l, l->reserved[0].epoch, l->reserved[0].index);
    l->starving = false;
}

static void drop_loader(struct batch_bank *bank, struct bank_loader **link,
                        struct sampled_batch **list)
{
    struct bank_loader *l = *link;
    drop_ready(bank, l, list);
    *link = l->next;
    free(l);
}

void batch_bank_close(struct batch_bank *bank)
{
    struct sampled_batch *list = NULL;
    pthread_mutex_lock(&bank->mutex);
    bank->closed = true;
    while (bank->loaders != NULL)
        drop_loader(bank, &bank->loaders, &list);
    drop_idle(bank, &list);
    pthread_mutex_unlock(&bank->mutex);
    destroy_list(bank, list);
}

int batch_bank_open_loader(struct batch_bank *bank, uint64_t loader, size_t estimate_bytes)
{
    struct bank_loader *l = calloc(1, sizeof *l);
    if (l == NULL)
        return TR_ENOMEM;
    l->id = loader;
    l->estimate_bytes = estimate_bytes;
    pthread_mutex_lock(&bank->mutex);
    bool refused = bank->closed || find(bank, loader) != NULL;
    if (!refused) {
        l->next = bank->loaders;
        bank->loaders = l;
    }
    pthread_mutex_unlock(&bank->mutex);
    if (refused)
        free(l);
    return refused ? TR_ECLOSED : 0;
}

void batch_bank_set_epoch(struct batch_bank *bank, uint64_t loader, uint32_t epoch,
                          uint64_t index)
{
    struct sampled_batch *list = NULL;
    pthread_mutex_lock(&bank->mutex);
    struct bank_loader *l = find(bank, loader);
    if (l != NULL) {
        drop_ready(bank, l, &list);
        l->epoch = epoch;
        l->position = index;
    }
    pthread_mutex_unlock(&bank->mutex);
    destroy_list(bank, list);
}

/* Whether that batch comes before the one the loader takes next. */
static bool is_past(const struct bank_loader *l, uint32_t epoch, uint64_t index)
{
    return epoch < l->epoch || (epoch == l->epoch && index < l->position);
}

static void move_on(struct bank_loader *l, uint32_t epoch, uint64_t index)
{
    if (is_past(l, epoch, index))
        return;
    l->epoch = epoch;
    l->position = index;
}

void batch_bank_advance(struct batch_bank *bank, uint64_t loader, uint32_t epoch, uint64_t index)
{
    struct sampled_batch *list = NULL;
    pthread_mutex_lock(&bank->mutex);
    struct bank_loader *l = find(bank, loader);
    struct sampled_batch **link = l != NULL ? &l->ready : NULL;
    if (l != NULL)
        move_on(l, epoch, index);
    while (link != NULL && *link != NULL) {
        struct sampled_batch *batch = *link;
        if (!is_past(l, batch->space.batch.epoch, batch->space.batch.index)) {
            link = &batch->next;
            continue;
        }
        *link = batch->next;
        uncharge(bank, batch);
        discard(&list, batch);
    }
    pthread_mutex_unlock(&bank->mutex);
    destroy_list(bank, list);
}

void batch_bank_close_loader(struct batch_bank *bank, uint64_t loader)
{
    struct sampled_batch *list = NULL;
    pthread_mutex_lock(&bank->mutex);
    struct bank_loader **link = &bank->loaders;
    while (*link != NULL && (*link)->id != loader)
        link = &(*link)->next;
    if (*link != NULL)
        drop_loader(bank, link, &list);
    pthread_mutex_unlock(&bank->mutex);
    destroy_list(bank, list);
}

/* An eighth more than the largest so far, since the next may be a little larger. */
static size_t estimate(const struct bank_loader *l)
{
    if (l->largest_bytes == 0)
        return l->estimate_bytes;
    return l->largest_bytes + l->largest_bytes / 8;
}

/* Room for a batch that the client waits for, or will. */
static int reserve(struct batch_bank *bank, struct bank_loader *l, size_t *bytes,
                   struct sampled_batch **list)
{
    int rv = account_reserve(&bank->account, *bytes, NULL);
    if (rv != 0) {
        drop_idle(bank, list);
        rv = account_reserve(&bank->account, *bytes, NULL);
    }
    if (rv != 0 && account_used(&bank->account) == 0) {
        *bytes = bank->account.bound_bytes;
        rv = account_reserve(&bank->account, *bytes, NULL);
    }
    l->starving = rv != 0;
    return rv;
}

/* Room for a batch that the client may never ask for. */
static int reserve_spare(struct batch_bank *bank, size_t bytes)
{
    size_t half = bank->account.bound_bytes / 2, used = account_used(&bank->account);
    if (bytes > half || used > half - bytes)
        return TR_EFULL;
    return account_reserve(&bank->account, bytes, NULL);
}

int batch_bank_reserve(struct batch_bank *bank, uint64_t loader, uint32_t epoch, uint64_t index)
{
    struct sampled_batch *list = NULL;
    pthread_mutex_lock(&bank->mutex);
    struct bank_loader *l = find(bank, loader);
    size_t bytes = l == NULL ? 0 : estimate(l);
    int rv = l == NULL                              ? TR_ECANCELED
             : l->num_reserved == BANK_RESERVED_MAX ? TR_EFULL
             : epoch > l->epoch                     ? reserve_spare(bank, bytes)
                                                    : reserve(bank, l, &bytes, &list);
    if (rv == 0)
        l->reserved[l->num_reserved++] = (struct reservation){ epoch, index, bytes };
    pthread_mutex_unlock(&bank->mutex);
    destroy_list(bank, list);
    return rv;
}

void batch_bank_unreserve(struct batch_bank *bank, uint64_t loader, uint32_t epoch,
                          uint64_t index)
{
    pthread_mutex_lock(&bank->mutex);
    struct bank_loader *l = find(bank, loader);
    if (l != NULL)
        unreserve(bank, l, epoch, index);
    pthread_mutex_unlock(&bank->mutex);
}

bool batch_bank_is_starving(struct batch_bank *bank, uint64_t loader)
{
    pthread_mutex_lock(&bank->mutex);
    struct bank_loader *l = find(bank, loader);
    bool starving = l != NULL && l->starving;
    pthread_mutex_unlock(&bank->mutex);
    return starving;
}

static bool has_shape(const struct sampled_batch *b, uint32_t ntypes, uint32_t etypes,
                      uint32_t layers)
{
    return b->space.batch.num_ntypes == ntypes && b->space.batch.num_etypes == etypes &&
           b->space.batch.num_layers == layers;
}

struct sampled_batch *batch_bank_take(struct batch_bank *bank, uint32_t num_ntypes,
                                      uint32_t num_etypes, uint32_t num_layers)
{
    pthread_mutex_lock(&bank->mutex);
    struct sampled_batch **link = &bank->idle;
    while (*link != NULL && !has_shape(*link, num_ntypes, num_etypes, num_layers))
        link = &(*link)->next;
    struct sampled_batch *batch = *link;
    if (batch != NULL) {
        *link = batch->next;
        bank->num_idle--;
        uncharge(bank, batch);
    }
    pthread_mutex_unlock(&bank->mutex);
    if (batch != NULL) {
        sampled_batch_clear(batch);
        return batch;
    }
    batch = sampled_batch_create(num_ntypes, num_etypes, num_layers);
    if (batch != NULL)
        batch->bank = acquire(bank);
    return batch;
}

static struct sampled_batch **find_ready(struct bank_loader *l, uint32_t epoch, uint64_t index)
{
    struct sampled_batch **link = &l->ready;
    while (*link != NULL &&
           ((*link)->space.batch.epoch != epoch || (*link)->space.batch.index != index))
        link = &(*link)->next;
    return link;
}

static int deposit(struct batch_bank *bank, struct sampled_batch *batch,
                   struct sampled_batch **list)
{
    struct bank_loader *l = find(bank, batch->loader);
    uint32_t epoch = batch->space.batch.epoch;
    uint64_t index = batch->space.batch.index;
    if (bank->closed || l == NULL || is_past(l, epoch, index) || epoch - l->epoch > 1)
        return TR_ECANCELED;
    if (*find_ready(l, epoch, index) != NULL)
        return TR_EEXIST;
    size_t bytes = sampled_batch_bytes(batch);
    unreserve(bank, l, epoch, index);
    int rv = account_reserve(&bank->account, bytes, NULL);
    if (rv != 0) {
        drop_idle(bank, list);
        rv = account_reserve(&bank->account, bytes, NULL);
    }
    if (rv != 0)
        return rv;
    batch->charged_bytes = bytes;
    l->largest_bytes = l->largest_bytes < bytes ? bytes : l->largest_bytes;
    batch->next = l->ready;
    l->ready = batch;
    return 0;
}

int batch_bank_deposit(struct batch_bank *bank, struct sampled_batch *batch)
{
    struct sampled_batch *list = NULL;
    pthread_mutex_lock(&bank->mutex);
    int rv = deposit(bank, batch, &list);
    pthread_mutex_unlock(&bank->mutex);
    destroy_list(bank, list);
    if (rv != 0)
        sampled_batch_release(batch);
    return rv == TR_EEXIST ? 0 : rv;
}

int batch_bank_say_full(struct batch_bank *bank, size_t bytes, struct error *error)
{
    return error_set(error, TR_EFULL, "account \"batches\" is full: a batch of %zu bytes came, %zu "
                     "of %zu are in use; release batches or raise memory_bytes_max", bytes,
                     batch_bank_used(bank), batch_bank_bound(bank));
}

bool batch_bank_is_taken(struct batch_bank *bank, uint64_t loader, uint32_t epoch,
                         uint64_t index)
{
    pthread_mutex_lock(&bank->mutex);
    struct bank_loader *l = find(bank, loader);
    bool taken = l != NULL && is_past(l, epoch, index);
    pthread_mutex_unlock(&bank->mutex);
    return taken;
}

struct sampled_batch *batch_bank_collect(struct batch_bank *bank, uint64_t loader,
                                         uint32_t epoch, uint64_t index)
{
    struct sampled_batch *batch = NULL;
    pthread_mutex_lock(&bank->mutex);
    struct bank_loader *l = find(bank, loader);
    if (l != NULL) {
        struct sampled_batch **link = find_ready(l, epoch, index);
        batch = *link;
        if (batch != NULL)
            *link = batch->next;
        if (batch != NULL)
            move_on(l, epoch, index + 1);
    }
    bank->counts.taken += batch != NULL;
    pthread_mutex_unlock(&bank->mutex);
    return batch;
}

void batch_bank_note_made(struct batch_bank *bank)
{
    pthread_mutex_lock(&bank->mutex);
    bank->counts.made++;
    pthread_mutex_unlock(&bank->mutex);
}

void batch_bank_counts(struct batch_bank *bank, struct batch_bank_counts *counts)
{
    pthread_mutex_lock(&bank->mutex);
    *counts = bank->counts;
    pthread_mutex_unlock(&bank->mutex);
}

size_t batch_bank_used(struct batch_bank *bank)
{
    return account_used(&bank->account);
}

size_t batch_bank_bound(const struct batch_bank *bank)
{
    return bank->account.bound_bytes;
}

void batch_bank_give_back(struct batch_bank *bank, struct sampled_batch *batch)
{
    struct sampled_batch *list = NULL;
    pthread_mutex_lock(&bank->mutex);
    uncharge(bank, batch);
    size_t bytes = sampled_batch_bytes(batch);
    bool keep = !bank->closed && bank->num_idle < BANK_IDLE_MAX &&
                account_reserve(&bank->account, bytes, NULL) == 0;
    if (keep) {
        batch->charged_bytes = bytes;
        batch->next = bank->idle;
        bank->idle = batch;
        bank->num_idle++;
    } else {
        discard(&list, batch);
    }
    pthread_mutex_unlock(&bank->mutex);
    destroy_list(bank, list);
}
