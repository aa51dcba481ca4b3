/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Byte accounts: what is queued, pooled, in flight or held by a user is charged to one account,
 * which has a name and a bound.
 *
 * At the bound a reservation fails with TR_EFULL and a message that names the account, or waits
 * in line until there is room or its deadline passes.
 *
 * Thread rules: any thread; a waiter is notified on its own loop.
 */
#ifndef RUNTIME_CORE_ACCOUNT_H
#define RUNTIME_CORE_ACCOUNT_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/base/error.h"
#include "runtime/core/actor.h"

#define ACCOUNT_NAME_MAX 48u /* said in errors; the longest of ours has a dozen letters */

struct account_wait;

struct account {
    char name[ACCOUNT_NAME_MAX];
    size_t bound_bytes;
    size_t used_bytes; /* guarded by mutex, as all below */
    size_t peak_bytes;
    uint64_t refusals;
    struct account_wait *first, *last; /* in line, first come first served */
    pthread_mutex_t mutex;
};

void account_init(struct account *account, const char *name, size_t bound_bytes);

/* Asserts that everything was released: a byte left is a leak. */
void account_fini(struct account *account);

/* 0 or TR_EFULL. Does not overtake waits in line. error may be NULL. */
int account_reserve(struct account *account, size_t bytes, struct error *error);
void account_release(struct account *account, size_t bytes);

/* Reserves now (returns 0, granted is not called) or waits (returns 1): then granted runs once on
 * self's loop with 0 or TR_ETIMEDOUT. TR_ETOOBIG: more than the bound, it would never fit.
 * TR_ENOMEM. *wait (may be NULL) serves account_wait_cancel until granted runs. TR_ECLOSED: self
 * ends. An actor's end cancels its waits. */
int account_reserve_wait(struct account *account, struct actor *self, size_t bytes,
                         uint64_t deadline_ns,
                         void (*granted)(struct actor *self, void *arg, int status), void *arg,
                         struct account_wait **wait);

/* On self's loop: granted is not called after this. */
void account_wait_cancel(struct account_wait *wait);

size_t account_used(struct account *account);

#endif
