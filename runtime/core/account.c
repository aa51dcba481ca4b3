/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/core/account.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "runtime/core/actor_impl.h"
#include "runtime/core/loop.h"

/*
 * A waiter is in line (under the account's mutex), then granted: a post brings the grant to its
 * loop. The post cannot be taken back, so a wait that is cancelled or whose actor ended meanwhile
 * lives until its post has run, which gives the bytes back.
 *
 * Invariants:
 *   - Bytes are charged where they are granted, under the mutex, not where the waiter is notified:
 *     those on their way to a waiter cannot be given away a second time.
 *   - No reservation overtakes the line, or a stream of small ones would keep a large one out.
 *   - The post runs on the waiter's own loop, so whatever that loop does in one go (links the wait,
 *     starts its timer, cancels it) is done before the post runs.
 *   - A wait is out of all lists and freed before its callback runs, which may wait again.
 */
enum wait_state { WAIT_IN_LINE, WAIT_GRANTED };

struct account_wait {
    struct post post; /* first: a post is its wait */
    struct account *account;
    struct loop *loop;
    struct actor *actor; /* valid until it is cancelled, which the actor's end does */
    size_t bytes;
    void (*granted)(struct actor *self, void *arg, int status);
    void *arg;
    struct account_wait *next, *before; /* in line */
    struct account_wait *actor_next, *actor_before;
    struct timer timer;
    enum wait_state state; /* guarded by the account's mutex */
    bool canceled;
};

void account_init(struct account *account, const char *name, size_t bound_bytes)
{
    *account = (struct account){ .bound_bytes = bound_bytes };
    snprintf(account->name, sizeof account->name, "%s", name);
    pthread_mutex_init(&account->mutex, NULL);
}

void account_fini(struct account *account)
{
    assert(account->used_bytes == 0 && account->first == NULL);
    pthread_mutex_destroy(&account->mutex);
}

static bool has_room(const struct account *account, size_t bytes)
{
    return bytes <= account->bound_bytes && account->used_bytes <= account->bound_bytes - bytes;
}

static void account_charge(struct account *account, size_t bytes)
{
    account->used_bytes += bytes;
    if (account->used_bytes > account->peak_bytes)
        account->peak_bytes = account->used_bytes;
}

int account_reserve(struct account *account, size_t bytes, struct error *error)
{
    pthread_mutex_lock(&account->mutex);
    /* Room counts only where no wait stands in line. */
    bool fits = account->first == NULL && has_room(account, bytes);
    size_t used_bytes = account->used_bytes;
    if (fits)
        account_charge(account, bytes);
    else
        account->refusals++;
    pthread_mutex_unlock(&account->mutex);
    if (fits)
        return 0;
    return error_set(error, TR_EFULL, "account %s is full: %zu of %zu bytes used, %zu asked for",
                     account->name, used_bytes, account->bound_bytes, bytes);
}

static void leave_line(struct account_wait *wait)
{
    struct account *account = wait->account;
    if (wait->before != NULL)
        wait->before->next = wait->next;
    else
        account->first = wait->next;
    if (wait->next != NULL)
        wait->next->before = wait->before;
    else
        account->last = wait->before;
}

/* Under the mutex: grants the first in line as long as it fits. One that does not fit holds up
 * those behind it, which would else overtake it for ever. */
static void account_grant(struct account *account)
{
    while (account->first != NULL && has_room(account, account->first->bytes)) {
        struct account_wait *wait = account->first;
        account_charge(account, wait->bytes);
        leave_line(wait);
        wait->state = WAIT_GRANTED;
        /* The post is the last touch: the waiter's loop frees the wait, and takes no mutex for
         * it. */
        loop_post(wait->loop, &wait->post);
    }
}

void account_release(struct account *account, size_t bytes)
{
    pthread_mutex_lock(&account->mutex);
    assert(account->used_bytes >= bytes);
    account->used_bytes -= bytes;
    account_grant(account);
    pthread_mutex_unlock(&account->mutex);
}

static void unlink_from_actor(struct actor *actor, struct account_wait *wait)
{
    if (wait->actor_before != NULL)
        wait->actor_before->actor_next = wait->actor_next;
    else
        actor->waits = wait->actor_next;
    if (wait->actor_next != NULL)
        wait->actor_next->actor_before = wait->actor_before;
}

static void link_to_actor(struct actor *actor, struct account_wait *wait)
{
    wait->actor_next = actor->waits;
    if (actor->waits != NULL)
        actor->waits->actor_before = wait;
    actor->waits = wait;
}

static struct actor *account_granted(struct loop *loop, struct post *post)
{
    struct account_wait *wait = (struct account_wait *)(void *)post;
    (void)loop;
    /* This comes first: the actor of a cancelled wait may be gone. */
    if (wait->canceled) {
        account_release(wait->account, wait->bytes);
        free(wait);
        return NULL;
    }
    struct actor *actor = wait->actor;
    timer_stop(&wait->timer);
    unlink_from_actor(actor, wait);
    void (*tell)(struct actor *, void *, int) = wait->granted;
    void *arg = wait->arg;
    /* The wait is freed before the callback, which may wait again or end the actor. */
    free(wait);
    tell(actor, arg, 0);
    return actor;
}

/* False: it was granted already, and its post is on the way. */
static bool try_leave(struct account_wait *wait)
{
    struct account *account = wait->account;
    pthread_mutex_lock(&account->mutex);
    bool waiting = wait->state == WAIT_IN_LINE;
    if (waiting) {
        leave_line(wait);
        account_grant(account); /* those behind may fit */
    }
    pthread_mutex_unlock(&account->mutex);
    return waiting;
}

static void account_expired(struct actor *self, void *arg)
{
    struct account_wait *wait = arg;
    /* A wait that was granted meanwhile is left alone: its post, on the way, notifies the actor,
     * which has the bytes. */
    if (!try_leave(wait))
        return;
    unlink_from_actor(self, wait);
    void (*tell)(struct actor *, void *, int) = wait->granted;
    void *tell_arg = wait->arg;
    free(wait);
    tell(self, tell_arg, TR_ETIMEDOUT);
}

void account_wait_cancel(struct account_wait *wait)
{
    timer_stop(&wait->timer);
    unlink_from_actor(wait->actor, wait);
    /* If the wait was granted already, its post runs on this loop, later, and finds the mark. */
    if (try_leave(wait))
        free(wait);
    else
        wait->canceled = true;
}

void account_cancel_all(struct actor *actor)
{
    while (actor->waits != NULL)
        account_wait_cancel(actor->waits);
}

/* Under the mutex. */
static void join_line(struct account *account, struct account_wait *wait)
{
    wait->before = account->last;
    if (account->last != NULL)
        account->last->next = wait;
    else
        account->first = wait;
    account->last = wait;
}

int account_reserve_wait(struct account *account, struct actor *self, size_t bytes,
                         uint64_t deadline_ns,
                         void (*done)(struct actor *self, void *arg, int status), void *arg,
                         struct account_wait **out)
{
    if (bytes > account->bound_bytes)
        return TR_ETOOBIG;
    if (self->phase == ACTOR_ENDING)
        return TR_ECLOSED;
    /* The memory comes first, though it is not needed where there is room: nothing is allocated
     * under the mutex, and a wait that stands in line cannot fail any more. */
    struct account_wait *wait = calloc(1, sizeof *wait);
    if (wait == NULL)
        return TR_ENOMEM;
    /* All fields are set before the wait stands in line: any thread that releases bytes may grant
     * it at once. */
    wait->post.run = account_granted;
    wait->account = account;
    wait->loop = self->loop;
    wait->actor = self;
    wait->bytes = bytes;
    wait->granted = done;
    wait->arg = arg;
    pthread_mutex_lock(&account->mutex);
    bool now = account->first == NULL && has_room(account, bytes);
    if (now)
        account_charge(account, bytes);
    else
        join_line(account, wait);
    pthread_mutex_unlock(&account->mutex);
    if (now) {
        free(wait);
        return 0;
    }
    /* The wait may be granted already, but its post runs on this loop, after this function, so
     * these need no mutex. */
    link_to_actor(self, wait);
    timer_start(self, &wait->timer, deadline_ns, account_expired, wait);
    if (out != NULL)
        *out = wait;
    return 1;
}

size_t account_used(struct account *account)
{
    pthread_mutex_lock(&account->mutex);
    size_t used_bytes = account->used_bytes;
    pthread_mutex_unlock(&account->mutex);
    return used_bytes;
}
