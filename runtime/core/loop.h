/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A loop: one thread's worth of actors, with an inbox that is the only thing others touch.
 *
 * Thread rules: everything on the loop's thread, except what says "any thread".
 */
#ifndef RUNTIME_CORE_LOOP_H
#define RUNTIME_CORE_LOOP_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/base/counter.h"
#include "runtime/core/buffer_pool.h"
#include "runtime/core/calls.h"
#include "runtime/core/env.h"
#include "runtime/core/inbox.h"
#include "runtime/core/message_pool.h"
#include "runtime/core/router.h"
#include "runtime/core/runtime_messages.h"
#include "runtime/core/stream_impl.h"
#include "runtime/core/timers.h"

struct node;
struct outbox;

struct loop {
    struct node *node;
    struct env *env;
    void *driver;
    uint32_t index;
    bool simulated, codec;
    uint64_t now_ns;
    struct actor *run_first, *run_last;
    uint32_t run_count;
    struct outbox *outboxes; /* [node's loops] */
    uint64_t dirty[4];       /* one bit for each outbox with something in it */
    struct timers timers;
    unsigned router_due;         /* enum router_due: what the router has to do in this turn */
    struct stream_queue streams; /* that have something to tell */
    struct calls calls;
    struct message_pool messages;
    struct buffer_pool buffers;
    uint64_t dumps; /* requests served */
    counter sent, delivered, dropped_full, dropped_expired, stale, late_replies, long_turns, wakes,
        restarts;
    /* In the mailboxes of its actors now, and the most that one of them has held. */
    counter mailbox_messages, mailbox_bytes, mailbox_messages_max;
    struct inbox inbox;
};

int loop_init(struct loop *loop, struct node *node, uint32_t index);
void loop_fini(struct loop *loop);

/* The driver of a loop (env) calls these four. */

/* One turn: inbox, timers, streams, actors, outboxes. True: there is more to do at once. */
bool loop_turn(struct loop *loop);

/* True: nothing to do before *until_ns (UINT64_MAX: never), and senders will wake the loop.
 * Call loop_awake when it runs again. */
bool loop_sleep(struct loop *loop, uint64_t *until_ns);
void loop_awake(struct loop *loop);

/* True when the node stopped and this loop has nothing left. */
bool loop_is_done(struct loop *loop);

/* The simulator asks: would a turn now do anything? */
bool loop_is_runnable(struct loop *loop, uint64_t now_ns);

/* The time of its first timer, UINT64_MAX without one. */
uint64_t loop_first_timer(const struct loop *loop);

/* For the rest of the runtime. */

/* The actor that lives at that address on this loop, or NULL. */
struct actor *loop_actor(struct loop *loop, struct address address);

/* Checks sizes and, with codec, puts the head through its encoding. */
int loop_check(struct loop *loop, struct message *message);

/* Checks, addresses and routes; consumes. */
int loop_send(struct actor *self, struct address to, struct message *message);

/* Towards frame.to; consumes. TR_EPEERDOWN: its node cannot be reached. */
int loop_route(struct loop *loop, struct message *message);

/* Credit for a message that has MESSAGE_CREDIT. */
void loop_return_credit(struct loop *loop, struct message *message);

/* Into the mailbox of an actor of this loop; consumes. */
void loop_deliver(struct loop *loop, struct message *message);

/* The next message of the mailbox, control first; NULL: none. */
struct message *mailbox_pop(struct actor *actor);

/* Answers a request with a status, by itself; frees what is not a request. */
void loop_bounce(struct loop *loop, struct message *message, int status);

/* A message from our pool; NULL: no memory. */
struct message *loop_message_create(struct loop *loop, const struct kind *kind);
struct buffer *loop_buffer_create(struct loop *loop, size_t bytes);

/* Frees without answering. */
void loop_free_message(struct loop *loop, struct message *message);
void loop_buffer_release(struct loop *loop, struct buffer *buffer);

/* When all threads are done: what still stands in inbox and outboxes goes home. */
void loop_drain(struct loop *loop);

#endif
