/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Room for a reply from another process: reserved before the request is sent.
 *
 * A reply does not wait for credit on its link, so the requester bounds what may come: the account
 * of its process has room for the largest reply, or the request waits its turn.
 *
 * Ownership: an actor's, embedded in its state, all zeros at first. Thread rules: the actor's.
 */
#ifndef ACTORS_COMMON_REPLY_BUDGET_H
#define ACTORS_COMMON_REPLY_BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/core/account.h"
#include "runtime/core/actor.h"

/* The memory of one process for all replies on their way to it: thirty-two of a server's largest
 * usual answers, enough to keep several links busy while some are worked on. */
#define REPLY_BUDGET_BYTES_MAX ((size_t)256 << 20)

struct reply_budget {
    struct account *account; /* NULL: holds nothing and waits for nothing */
    size_t bytes;            /* held */
    size_t wanted;           /* waited for */
    struct account_wait *wait;
    void (*granted)(struct actor *self, void *arg, int status);
    void *arg;
};

/* 0: it is held from now on, or the account is NULL, or the room holds some already; 1: granted
 * follows, with 0 or TR_ETIMEDOUT; TR_ENOMEM, TR_ECLOSED. */
int reply_budget_reserve(struct reply_budget *room, struct account *account, struct actor *self,
                         size_t bytes, uint64_t deadline_ns,
                         void (*granted)(struct actor *self, void *arg, int status), void *arg);

/* Gives it up, or stops waiting for it. */
void reply_budget_release(struct reply_budget *room);

/* The same in the actor's fini, when its waits have ended by themselves. */
void reply_budget_fini(struct reply_budget *room);

/* Whether a reply from there comes through a link. */
static inline bool reply_budget_is_needed(const struct actor *self, struct address to)
{
    return to.node != actor_address(self).node;
}

#endif
