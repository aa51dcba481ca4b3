/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inboxes: how loops hand messages, posts and memory to each other.
 *
 * Messages for actors of the same loop go straight to their mailboxes. Those for another loop
 * wait in an outbox and move, once a turn, into the target's inbox in one splice under its mutex:
 * measured as fast as a lock-free queue, since one lock serves a whole batch. In the same
 * way messages and buffers that came from another loop go home.
 *
 * Wake-ups cost 1000 times a message, so only a sleeping loop is woken. `sleeping` is guarded by
 * the inbox's mutex: the sleeper sets it after it saw the inbox empty, under the mutex; a
 * sender appends and reads it, under the same mutex. So either the sleeper sees the append or the
 * sender sees the sleep, and no weaker ordering has to be argued.
 *
 * Thread rules: what takes the giving loop first is that loop's; the rest is any thread's.
 */
#ifndef RUNTIME_CORE_INBOX_H
#define RUNTIME_CORE_INBOX_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "runtime/core/post.h"
#include "runtime/core/runtime_messages.h"
#include "runtime/core/slots.h"

struct buffer;
struct loop;

struct inbox {
    _Alignas(64) pthread_mutex_t mutex;
    struct messages messages; /* to deliver */
    struct messages returned; /* ours, coming home */
    struct buffer *buffers;   /* ours, coming home */
    struct post *posts, *last_post;
    struct slots slots; /* see slots.h for which part the mutex guards */
    bool sleeping;
    /* Wakes that were decided under the mutex and are still to be made, by the crew or another
     * loop, which nothing else waits for: the loop's driver outlives them. */
    atomic_uint wakers;
    /* A hint that saves the lock of an empty inbox. Relaxed: a loop that misses it sees it next
     * turn, and before sleeping the inbox itself is looked at under the mutex. */
    atomic_bool filled;
};

/* Moves what waits in all outboxes (outbox.h). */
void loop_flush_outboxes(struct loop *loop);

/* A message or buffer of this loop (the other is NULL) comes home at once. */
void loop_return_to_home(struct loop *home, struct message *message, struct buffer *buffer);

/* Wakes the loop if it sleeps. */
void loop_wake(struct loop *loop);

/* Waits until no thread is about to wake the loop, which runs no more: its driver, and the loop,
 * may then go. */
void loop_await_wakers(struct loop *loop);

#endif
