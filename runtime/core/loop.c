/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The turn of a loop.
 *
 * Invariants:
 *   - Actors, timers, streams and calls of a loop are touched by its thread alone, within a turn.
 *     Other threads touch the inbox alone.
 *   - All callbacks see the time of the turn, now_ns, and deadlines are compared with it. It never
 *     goes back.
 *   - After each callback of an actor the actor is settled (actor_settle) before anything else runs
 *     for it, so one that asked for its end receives nothing more.
 *   - After a turn all outboxes are empty: a loop that sleeps holds nothing that is for another.
 *   - A loop sleeps only after it saw, under the inbox's mutex, that nothing is there to be done.
 */
#include "runtime/core/loop.h"

#include <assert.h>
#include <stdlib.h>

#include "runtime/core/actor_impl.h"
#include "runtime/core/dump_impl.h"
#include "runtime/core/log.h"
#include "runtime/core/node_impl.h"
#include "runtime/core/outbox.h"
#include "runtime/core/run_queue.h"

/* Actors that have a turn before the inbox and the timers are looked at again. */
#define LOOP_ACTORS_A_TURN 256u
/* Actors between two looks at the clock. */
#define LOOP_ACTORS_A_TICK 32u
/* Sockets and timers wait no longer than this for actors that always have something to do. */
#define LOOP_TURN_NS 1000000u

int loop_init(struct loop *loop, struct node *node, uint32_t index)
{
    *loop = (struct loop){ .node = node, .env = node->env, .index = index };
    loop->simulated = node->env->simulated;
    loop->codec = node->codec;
    loop->now_ns = env_now_ns(loop->env);
    /* Everything that loop_fini takes down is whole before the steps that can fail. */
    pthread_mutex_init(&loop->inbox.mutex, NULL);
    message_pool_init(&loop->messages, &node->message_account, node->num_loops);
    buffer_pool_init(&loop->buffers, &node->message_account, node->num_loops);
    loop->outboxes = calloc(node->num_loops, sizeof *loop->outboxes);
    if (loop->outboxes == NULL)
        return TR_ENOMEM;
    return loop->env->ops->loop_create(loop->env, loop, &loop->driver);
}

void loop_fini(struct loop *loop)
{
    /* In any order: no thread runs the loop any more, and the node's account outlives its pools. */
    if (loop->driver != NULL)
        loop->env->ops->loop_destroy(loop->env, loop->driver);
    calls_fini(&loop->calls);
    message_pool_fini(&loop->messages);
    buffer_pool_fini(&loop->buffers);
    slots_fini(&loop->inbox.slots);
    free(loop->outboxes);
    pthread_mutex_destroy(&loop->inbox.mutex);
}

static void loop_reclaim(struct loop *loop, struct messages *returned, struct buffer *buffers)
{
    counter_add(&loop->messages.given, returned->count);
    for (struct message *m = messages_pop(returned); m != NULL; m = messages_pop(returned))
        message_pool_give(&loop->messages, m);
    while (buffers != NULL) {
        struct buffer *next = buffers->next;
        buffer_pool_give(&loop->buffers, buffers);
        buffers = next;
    }
}

/* Besides what any callback may have brought about, a job that completed may have been the last
 * that the end of its actor waited for. */
static void settle_after_post(struct actor *actor)
{
    if (actor != NULL && actor_settle(actor) && actor->phase == ACTOR_ENDING)
        actor_advance(actor);
}

/* Takes all that the inbox has, in one go; posts first, since they install the actors that
 * the messages behind them are for. */
static void take_inbox(struct loop *loop)
{
    struct inbox *inbox = &loop->inbox;
    if (!atomic_load_explicit(&inbox->filled, memory_order_relaxed))
        return;
    pthread_mutex_lock(&inbox->mutex);
    struct messages messages = inbox->messages;
    struct messages returned = inbox->returned;
    struct buffer *buffers = inbox->buffers;
    struct post *post = inbox->posts;
    inbox->messages = inbox->returned = (struct messages){ 0 };
    inbox->buffers = NULL;
    inbox->posts = inbox->last_post = NULL;
    /* The hint is cleared under the mutex: cleared after it, it would hide what was put in
     * meanwhile. */
    atomic_store_explicit(&inbox->filled, false, memory_order_relaxed);
    pthread_mutex_unlock(&inbox->mutex);

    /* The memory that came home goes first: the posts and messages below may take it from the
     * pools. */
    loop_reclaim(loop, &returned, buffers);
    while (post != NULL) {
        /* This is read before the post runs, which may free it or put it into an inbox again. */
        struct post *next = post->next;
        settle_after_post(post->run(loop, post));
        post = next;
    }
    for (struct message *m = messages_pop(&messages); m != NULL; m = messages_pop(&messages)) {
        if (m->next != NULL)
            __builtin_prefetch(m->next);
        loop_deliver(loop, m);
    }
}

static void fire_timers(struct loop *loop)
{
    /* Timers started by these have a later time or, set in the past, wait for the next turn. */
    uint64_t last = loop->timers.started;
    for (struct timer *t = loop->timers.first;
         t != NULL && t->at_ns <= loop->now_ns && t->order < last; t = loop->timers.first) {
        struct actor *actor = t->actor;
        /* The timer is stopped before it fires: `fire` may start it again, or free it. */
        timer_stop(t);
        if (loop->simulated)
            loop->env->ops->trace(loop->env, actor->address.slot, loop->now_ns);
        t->fire(actor, t->arg);
        actor_settle(actor);
    }
}

/* As many as had something to tell when it began: those that tell again wait for the next turn. */
static void fire_streams(struct loop *loop)
{
    for (uint32_t n = loop->streams.count; n > 0 && loop->streams.first != NULL; n--) {
        struct actor *actor = stream_fire_next(loop);
        if (actor != NULL)
            actor_settle(actor);
    }
}

/* The 1st, 2nd, 4th, 8th ... are logged: a person sees the trend, the log stays small. It is no
 * more than information: the clock is coarse, and a busy machine takes the thread away mid-turn. */
static void note_long_turn(struct loop *loop, const char *name, uint64_t ns)
{
    counter_add(&loop->long_turns, 1);
    uint64_t count = counter_get(&loop->long_turns);
    if ((count & (count - 1)) == 0)
        log_write(loop->node, LOG_LEVEL_INFO, "actors",
                  "loop %u: a turn of %s took about %llu ms; turns over %u ms so far: %llu",
                  loop->index, name, (unsigned long long)(ns / 1000000), ACTOR_TURN_NS / 1000000,
                  (unsigned long long)count);
}

static void run_actors(struct loop *loop)
{
    uint32_t turns = loop->simulated ? 1 + loop_choose(loop, 4) : LOOP_ACTORS_A_TURN;
    uint64_t before_ns = loop->env->ops->coarse_ns(loop->env);
    uint64_t end_ns = loop->now_ns + LOOP_TURN_NS;
    for (uint32_t i = 0; i < turns && loop->run_first != NULL && loop->now_ns < end_ns; i++) {
        struct actor *actor = loop_dequeue(loop);
        const char *name = actor->ops->name; /* the actor may be gone after its turn */
        uint32_t messages = loop->simulated ? 1 + loop_choose(loop, 8) : ACTOR_MESSAGES_A_TURN;
        /* The actor goes behind the others: each has a turn before this one goes on. */
        if (actor_turn(actor, messages))
            loop_queue(loop, actor);
        uint64_t after_ns = loop->env->ops->coarse_ns(loop->env);
        /* The time moves between two actors only: it stays the same within a callback. */
        if (i % LOOP_ACTORS_A_TICK == LOOP_ACTORS_A_TICK - 1 || after_ns != before_ns)
            loop->now_ns = env_now_ns(loop->env);
        if (after_ns - before_ns > ACTOR_TURN_NS)
            note_long_turn(loop, name, after_ns - before_ns);
        before_ns = after_ns;
    }
}

static bool has_work(const struct loop *loop)
{
    return loop->run_first != NULL || loop->streams.first != NULL ||
           (loop->router_due & (ROUTER_RUN_DOWNS | ROUTER_FLUSH)) != 0;
}

bool loop_turn(struct loop *loop)
{
    /* The time comes before everything else: callbacks of the inbox compute deadlines from it. */
    loop->now_ns = env_now_ns(loop->env);
    /* The inbox comes first: its posts install actors, and its messages have waited longest. */
    take_inbox(loop);
    /* Timers and streams come before the actors, whose turn is cut at LOOP_TURN_NS: a loop on which
     * actors always have something to do still serves both in each turn. */
    fire_timers(loop);
    fire_streams(loop);
    run_actors(loop);
    /* In any order: a dump changes nothing. */
    if (loop->dumps != atomic_load_explicit(&loop->node->dumps, memory_order_relaxed))
        loop_dump(loop);
    /* Downs come after the actors: an answer that arrived before the death of its sender mostly has
     * its turn before the call counts as lost. */
    if (loop->router_due & ROUTER_RUN_DOWNS)
        loop->node->router->ops->run_downs(loop);
    /* The router writes once a turn, so that small messages share a system call, and before the
     * outboxes move, since it may bounce messages to other loops. */
    if (loop->router_due & ROUTER_FLUSH)
        loop->node->router->ops->flush(loop);
    loop_flush_outboxes(loop);
    /* This comes behind the outboxes, which hold the last messages of the dead for other loops: no
     * loop may hear of the death before it has these. */
    if (loop->router_due & ROUTER_DELIVER_DOWNS)
        loop->node->router->ops->deliver_downs(loop);
    return has_work(loop);
}

uint64_t loop_first_timer(const struct loop *loop)
{
    return loop->timers.first != NULL ? loop->timers.first->at_ns : UINT64_MAX;
}

bool loop_sleep(struct loop *loop, uint64_t *until_ns)
{
    /* This comes without the mutex and first: it changes on this loop only, so not meanwhile. */
    *until_ns = loop_first_timer(loop);
    if (has_work(loop) || *until_ns <= loop->now_ns)
        return false;
    pthread_mutex_lock(&loop->inbox.mutex);
    /* node_dump_request counts the dump before it looks, under the mutex, whether this loop
     * sleeps. */
    bool empty = loop->inbox.messages.first == NULL && loop->inbox.posts == NULL &&
                 loop->dumps == atomic_load_explicit(&loop->node->dumps, memory_order_relaxed);
    /* The flag is set in the same hold of the mutex as the look: a sender in between would find the
     * loop awake and not wake it. */
    loop->inbox.sleeping = empty;
    pthread_mutex_unlock(&loop->inbox.mutex);
    return empty;
}

void loop_awake(struct loop *loop)
{
    pthread_mutex_lock(&loop->inbox.mutex);
    loop->inbox.sleeping = false;
    pthread_mutex_unlock(&loop->inbox.mutex);
}

bool loop_is_runnable(struct loop *loop, uint64_t now_ns)
{
    if (has_work(loop) || loop_first_timer(loop) <= now_ns)
        return true;
    pthread_mutex_lock(&loop->inbox.mutex);
    bool empty = loop->inbox.messages.first == NULL && loop->inbox.posts == NULL;
    pthread_mutex_unlock(&loop->inbox.mutex);
    return !empty;
}

bool loop_is_done(struct loop *loop)
{
    return node_is_empty(loop->node) && loop->run_first == NULL;
}

void loop_drain(struct loop *loop)
{
    /* The outboxes come first, so that loops later in the round take what they held. Downs are
     * delivered behind them, as in a turn, and run behind the inbox, which brings them. */
    loop_flush_outboxes(loop);
    if (loop->router_due & ROUTER_DELIVER_DOWNS)
        loop->node->router->ops->deliver_downs(loop);
    take_inbox(loop);
    if (loop->router_due & ROUTER_RUN_DOWNS)
        loop->node->router->ops->run_downs(loop);
}
