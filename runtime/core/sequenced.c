/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sequenced requests: the table of an owner (sequenced.h draws the states of an entry).
 *
 * Invariants:
 *   - (era, sequence) of an entry never goes back.
 *   - `waiting` is set exactly while the work is under way, and `kept` only when it is not, so an
 *     entry never holds both.
 *   - Each request that was taken is answered once: with the result, with the kept reply, with
 *     TR_ECANCELED when a later attempt took its place, or when its client is forgotten.
 *   - The kept reply is charged to the account as long as it is kept.
 */
#include "runtime/core/sequenced.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#include "runtime/core/actor_impl.h"
#include "runtime/core/call.h"
#include "runtime/core/loop.h"
#include "runtime/core/node_impl.h"

/* Buckets double when there are more entries than that. */
#define BUCKETS_FIRST 64u

struct sequenced_entry {
    struct sequenced_entry *next;
    struct sequenced_client client;
    uint32_t era;
    uint64_t sequence;
    struct address from;     /* of the last request */
    struct message *waiting; /* or NULL */
    struct message *kept;    /* or NULL */
    size_t kept_bytes;       /* that are charged for it */
    bool under_way;
};

void sequenced_init(struct sequenced *table, struct account *account, uint32_t clients_max)
{
    *table = (struct sequenced){ .account = account, .clients_max = clients_max };
}

static uint32_t bucket_of(const struct sequenced *table, const struct sequenced_client *client)
{
    /* The finalizer of splitmix64 (Steele, Lea, Flood 2014). */
    uint64_t hash = client->stream ^ ((uint64_t)client->kind << 32 | client->rank);
    hash = (hash ^ hash >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    hash = (hash ^ hash >> 27) * UINT64_C(0x94d049bb133111eb);
    return (uint32_t)(hash >> 32) & (table->num_buckets - 1);
}

static bool is_client(const struct sequenced_entry *entry, const struct sequenced_client *client)
{
    return entry->client.kind == client->kind && entry->client.rank == client->rank &&
           entry->client.stream == client->stream;
}

static struct sequenced_entry *sequenced_find_entry(const struct sequenced *table,
                                                    const struct sequenced_client *client)
{
    if (table->num_buckets == 0)
        return NULL;
    struct sequenced_entry *at = table->buckets[bucket_of(table, client)];
    while (at != NULL && !is_client(at, client))
        at = at->next;
    return at;
}

static struct sequenced_entry *find_work(const struct sequenced *table,
                                         const struct sequenced_id *id)
{
    struct sequenced_entry *entry = sequenced_find_entry(table, &id->client);
    bool same = entry != NULL && entry->era == id->era && entry->sequence == id->sequence;
    return same && entry->under_way ? entry : NULL;
}

static int sequenced_grow(struct sequenced *table)
{
    uint32_t num_buckets = table->num_buckets == 0 ? BUCKETS_FIRST : 2 * table->num_buckets;
    struct sequenced_entry **buckets = calloc(num_buckets, sizeof *buckets);
    if (buckets == NULL)
        return table->num_buckets == 0 ? TR_ENOMEM : 0; /* else it is slower */
    struct sequenced before = *table;
    table->buckets = buckets;
    table->num_buckets = num_buckets;
    for (uint32_t i = 0; i < before.num_buckets; i++)
        for (struct sequenced_entry *at = before.buckets[i], *next; at != NULL; at = next) {
            next = at->next;
            struct sequenced_entry **bucket = &buckets[bucket_of(table, &at->client)];
            at->next = *bucket;
            *bucket = at;
        }
    free(before.buckets);
    return 0;
}

static int sequenced_add(struct sequenced *table, const struct sequenced_client *client,
                         struct sequenced_entry **out, struct error *error)
{
    if (table->count >= table->clients_max)
        return error_set(error, TR_EFULL, "%" PRIu32 " clients have sequenced requests already",
                         table->count);
    int rv = table->count >= table->num_buckets ? sequenced_grow(table) : 0;
    if (rv != 0)
        return error_set(error, rv, "no memory for a client's requests");
    /* The account comes behind the steps that need none of it: their failures have nothing to give
     * back. */
    rv = account_reserve(table->account, sizeof **out, error);
    if (rv != 0)
        return rv;
    struct sequenced_entry *entry = calloc(1, sizeof *entry);
    if (entry == NULL) {
        account_release(table->account, sizeof *entry);
        return error_set(error, TR_ENOMEM, "no memory for a client's requests");
    }
    /* The entry goes into the table last, when nothing can fail any more. */
    entry->client = *client;
    struct sequenced_entry **bucket = &table->buckets[bucket_of(table, client)];
    entry->next = *bucket;
    *bucket = entry;
    table->count++;
    *out = entry;
    return 0;
}

static void drop_kept(struct sequenced *table, struct actor *self, struct sequenced_entry *entry)
{
    if (entry->kept == NULL)
        return;
    message_release(self, entry->kept);
    account_release(table->account, entry->kept_bytes);
    entry->kept = NULL;
}

/* status 0: as of one that ends. */
static void drop_waiting(struct actor *self, struct sequenced_entry *entry, int status)
{
    struct message *waiting = entry->waiting;
    entry->waiting = NULL;
    if (waiting != NULL && status != 0)
        actor_refuse(self, waiting, status);
    else
        message_release(self, waiting);
}

static int answer_again(struct actor *self, const struct sequenced_entry *entry,
                        struct message *request, struct error *error)
{
    struct message *reply = message_copy(self, entry->kept);
    if (reply == NULL)
        return error_set(error, TR_ENOMEM, "no memory to repeat an answer");
    actor_reply(self, request, reply);
    return SEQUENCED_ANSWERED;
}

int sequenced_take(struct sequenced *table, struct actor *self, const struct sequenced_id *id,
                   struct message *request, struct error *error)
{
    const struct kind *kind = kinds_find(&self->loop->node->kinds, request->frame.kind);
    assert(kind->class == KIND_SEQUENCED);
    struct sequenced_entry *entry = sequenced_find_entry(table, &id->client);
    /* The entry comes before the checks: a new client's has era 0 and sequence 0, which pass
     * them. */
    int rv = entry == NULL ? sequenced_add(table, &id->client, &entry, error) : 0;
    if (rv != 0)
        return rv;
    /* The era comes before the sequence: sequences of different eras are not compared. */
    if (id->era < entry->era)
        return error_set(error, TR_EROLLBACK, "era %" PRIu32 " is over", id->era);
    bool same = id->era == entry->era && id->sequence == entry->sequence;
    if (id->era == entry->era && id->sequence < entry->sequence)
        return error_set(error, TR_ECANCELED,
                         "rank %" PRIu32 " is at request %" PRIu64 ", past %" PRIu64,
                         id->client.rank, entry->sequence, id->sequence);
    /* This comes before any change: if there is no memory for the copy, the reply is still kept. */
    if (same && entry->kept != NULL)
        return answer_again(self, entry, request, error);
    bool joins = same && entry->under_way;
    /* All failures stand above: from here on the request is the table's. The client waits for none
     * of its earlier requests: it has one at a time. */
    drop_waiting(self, entry, TR_ECANCELED);
    drop_kept(table, self, entry);
    entry->era = id->era;
    entry->sequence = id->sequence;
    entry->from = request->frame.from;
    entry->waiting = request;
    entry->under_way = true;
    return joins ? SEQUENCED_JOINED : SEQUENCED_NEW;
}

struct message *sequenced_find(const struct sequenced *table, const struct sequenced_id *id)
{
    const struct sequenced_entry *entry = find_work(table, id);
    return entry == NULL ? NULL : entry->waiting;
}

void sequenced_answer(struct sequenced *table, struct actor *self, const struct sequenced_id *id,
                      struct message *reply)
{
    struct sequenced_entry *entry = find_work(table, id);
    if (entry == NULL) { /* forgotten, or past it */
        message_release(self, reply);
        return;
    }
    struct message *waiting = entry->waiting;
    entry->waiting = NULL;
    entry->under_way = false;
    size_t bytes = sizeof *reply + reply->frame.head_bytes + reply->frame.body_bytes;
    struct message *copy = NULL;
    /* The copy is made before the reply goes, since sending consumes it. */
    if (account_reserve(table->account, bytes, NULL) == 0) {
        copy = message_copy(self, reply);
        if (copy == NULL)
            account_release(table->account, bytes);
    }
    entry->kept = copy;
    entry->kept_bytes = bytes;
    actor_reply(self, waiting, reply);
}

struct message *sequenced_release(struct sequenced *table, const struct sequenced_id *id)
{
    struct sequenced_entry *entry = find_work(table, id);
    if (entry == NULL)
        return NULL;
    struct message *waiting = entry->waiting;
    entry->waiting = NULL;
    entry->under_way = false;
    return waiting;
}

/* Forgets the clients that `is_over` says. */
static void forget_each(struct sequenced *table, struct actor *self, int status,
                        bool (*is_over)(const struct sequenced_entry *entry, const void *arg),
                        const void *arg)
{
    for (uint32_t i = 0; i < table->num_buckets; i++) {
        struct sequenced_entry **at = &table->buckets[i];
        while (*at != NULL) {
            struct sequenced_entry *entry = *at;
            if (!is_over(entry, arg)) {
                at = &entry->next;
                continue;
            }
            *at = entry->next;
            drop_waiting(self, entry, status);
            drop_kept(table, self, entry);
            account_release(table->account, sizeof *entry);
            free(entry);
            table->count--;
        }
    }
}

static bool is_of_old_era(const struct sequenced_entry *entry, const void *arg)
{
    return entry->era != 0 && entry->era < *(const uint32_t *)arg;
}

static bool is_from(const struct sequenced_entry *entry, const void *arg)
{
    return address_equal(entry->from, *(const struct address *)arg);
}

static bool is_any(const struct sequenced_entry *entry, const void *arg)
{
    (void)entry, (void)arg;
    return true;
}

void sequenced_end_eras(struct sequenced *table, struct actor *self, uint32_t era, int status)
{
    forget_each(table, self, status, is_of_old_era, &era);
}

void sequenced_forget(struct sequenced *table, struct actor *self, struct address from)
{
    forget_each(table, self, 0, is_from, &from);
}

void sequenced_fini(struct sequenced *table, struct actor *self)
{
    forget_each(table, self, 0, is_any, NULL);
    free(table->buckets);
    *table = (struct sequenced){ 0 };
}
