/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sequenced requests: what the owner of sequenced work remembers of each client (design: a kind
 * that is KIND_SEQUENCED may be sent again, and a repeat gets the first answer).
 *
 * A client is a rank at one kind of request, and where the kind has several streams (barriers of
 * several names, pieces of a sum) at one of them. Its requests carry an era and a sequence, which
 * only grow. The table keeps one entry a client:
 *
 *     under way   `waiting` is the request to answer, the last one that came
 *     answered    `kept` is the reply, for repeats
 *     neither     the work failed, or its reply is not kept: a repeat is new work
 *
 * So a request is new, or joins its first attempt, or gets the kept reply, or is refused because
 * the client is past it. The sender of an attempt that a later one replaced does not wait any more.
 *
 * Bounds: clients_max entries (TR_EFULL); entries and kept replies are charged to the account, and
 * a reply that does not fit there is sent, but not kept.
 * Ownership: the table owns waiting requests and kept replies. Thread rules: one actor's.
 */
#ifndef RUNTIME_CORE_SEQUENCED_H
#define RUNTIME_CORE_SEQUENCED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/base/error.h"
#include "runtime/core/account.h"
#include "runtime/core/actor.h"
#include "runtime/core/message.h"

struct sequenced_client {
    uint32_t kind;
    uint32_t rank;
    uint64_t stream;
};

/* One request of a client. */
struct sequenced_id {
    struct sequenced_client client;
    uint32_t era; /* 0: of none; nothing ends it */
    uint64_t sequence;
};

struct sequenced_entry;

struct sequenced {
    struct account *account;
    uint32_t clients_max;
    uint32_t count, num_buckets;
    struct sequenced_entry **buckets;
};

enum sequenced_result {
    SEQUENCED_NEW = 1,  /* the caller begins the work */
    SEQUENCED_JOINED,   /* it is under way; this request waits for it from now on */
    SEQUENCED_ANSWERED, /* with the kept reply */
};

/* The account outlives the table, which allocates nothing before the first request. */
void sequenced_init(struct sequenced *table, struct account *account, uint32_t clients_max);

/* Releases all requests and replies. */
void sequenced_fini(struct sequenced *table, struct actor *self);

/* The request's kind is KIND_SEQUENCED. A sequenced_result, and the request is the table's; or a
 * failure, and it is the caller's still: TR_EROLLBACK an era before the client's, TR_ECANCELED a
 * sequence before its last, TR_EFULL and TR_ENOMEM the table's. */
int sequenced_take(struct sequenced *table, struct actor *self, const struct sequenced_id *id,
                   struct message *request, struct error *error);

/* The request that waits for that work, or NULL; it stays the table's. */
struct message *sequenced_find(const struct sequenced *table, const struct sequenced_id *id);

/* Ends the work with a reply, which it consumes and keeps for repeats. */
void sequenced_answer(struct sequenced *table, struct actor *self, const struct sequenced_id *id,
                      struct message *reply);

/* Ends the work without a reply to keep. The request that waits is the caller's to answer; NULL:
 * none does. */
struct message *sequenced_release(struct sequenced *table, const struct sequenced_id *id);

/* The eras before this one are over: forgets their clients, refuses what waits with the status. */
void sequenced_end_eras(struct sequenced *table, struct actor *self, uint32_t era, int status);

/* An actor is DOWN: forgets the clients whose last request it sent. */
void sequenced_forget(struct sequenced *table, struct actor *self, struct address from);

#endif
