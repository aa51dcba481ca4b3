/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The life of an actor.
 *
 *     STARTING --start--> RUNNING --stop asked--> DRAINING --exit--> ENDING --> finished
 *         \____________________\________ exit, failure, kill _________/
 *
 * Invariants:
 *   - actor_exit only takes a note (`exiting`). The step to ENDING is made by actor_settle, after
 *     the callback: no callback finds its own calls completed or its timers stopped under its
 *     hands.
 *   - In ENDING nothing is received and nothing new can be opened (calls, timers, streams, waits
 *     for room are refused; jobs are submitted cancelled), so what actor_settle closed stays
 *     closed.
 *   - fini runs once, on the actor's loop, when no child lives and no job runs: both may point into
 *     the state that it frees.
 *   - A message for a live address gets its actor or an answer: the slot is given up in the same
 *     turn in which the mailbox and the watchers were answered.
 *   - A caller that also watches sees its call end before the actor does, whether the actor kept
 *     the request or never took it: releasing a request refuses it, and refusals and DOWNs leave in
 *     one lane, which keeps order. So actor_finish runs fini, empties the mailbox, and then sends
 *     DOWNs.
 *   - The struct lives until the parent's loop has taken note of the end and no post for it is
 *     under way (`references`).
 */
#include "runtime/core/actor.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/core/actor_impl.h"
#include "runtime/core/calls.h"
#include "runtime/core/log.h"
#include "runtime/core/loop.h"
#include "runtime/core/node_impl.h"
#include "runtime/core/run_queue.h"
#include "runtime/core/runtime_kinds.h"
#include "runtime/core/stream_impl.h"

/* Lives are counted, so that the node knows when it is empty. */
static void actor_born(struct node *node)
{
    atomic_fetch_add_explicit(&node->actors_live, 1, memory_order_relaxed);
}

/* The loops end when no actor lives, so the last one to go wakes the loops that sleep. */
static void actor_gone(struct node *node)
{
    if (atomic_fetch_sub_explicit(&node->actors_live, 1, memory_order_acq_rel) != 1)
        return;
    for (uint32_t i = 0; i < node->num_loops; i++)
        loop_wake(&node->loops[i]);
}

int actor_create(struct loop *loop, const struct actor_options *options, struct actor *parent,
                 struct actor **out)
{
    if (loop->node->dead)
        return TR_ECLOSED;
    if (loop->simulated && loop->env->ops->fails(loop->env))
        return TR_ENOMEM;
    struct actor *actor = calloc(1, sizeof *actor);
    if (actor == NULL)
        return TR_ENOMEM;
    /* The memory comes before the slot: a slot that is claimed in vain has used up a generation. */
    uint32_t index = 0;
    uint32_t generation = 0;
    pthread_mutex_lock(&loop->inbox.mutex);
    int rc = slots_claim(&loop->inbox.slots, &index, &generation);
    pthread_mutex_unlock(&loop->inbox.mutex);
    if (rc < 0) {
        free(actor);
        return rc;
    }
    actor->loop = loop;
    actor->address = (struct address){ loop->node->id, loop->node->incarnation,
                                       loop->index << ADDRESS_LOOP_SHIFT | index, generation };
    actor->ops = options->ops;
    actor->arg = options->arg;
    actor->mailbox_bytes_max = options->mailbox_bytes_max != 0 ? options->mailbox_bytes_max
                                                               : ACTOR_MAILBOX_BYTES;
    actor->parent = parent;
    atomic_init(&actor->references, 1);
    snprintf(actor->name, sizeof actor->name, "%s",
             options->name != NULL ? options->name : options->ops->name);
    /* The actor is counted when nothing can fail any more: only the report of an end counts it
     * out. */
    actor_born(loop->node);
    *out = actor;
    return 0;
}

/* Gives up one reference; any thread. */
static void actor_unref(struct actor *actor)
{
    /* acq_rel: all uses by other holders happen before the one that frees. */
    if (atomic_fetch_sub_explicit(&actor->references, 1, memory_order_acq_rel) == 1)
        free(actor);
}

static struct actor *of_post(struct post *post)
{
    return (struct actor *)(void *)((char *)post - offsetof(struct actor, post));
}

static struct actor *actor_install_posted(struct loop *loop, struct post *post)
{
    struct actor *actor = of_post(post);
    pthread_mutex_lock(&loop->inbox.mutex);
    slots_put(&loop->inbox.slots, address_index(actor->address), actor);
    pthread_mutex_unlock(&loop->inbox.mutex);
    loop_queue(loop, actor);
    return NULL;
}

void actor_install(struct actor *actor, struct loop *from)
{
    actor->post.run = actor_install_posted;
    if (actor->loop == from)
        actor_install_posted(from, &actor->post);
    else
        loop_post(actor->loop, &actor->post);
}

static void begin_stop(struct actor *actor)
{
    if (actor->phase < ACTOR_DRAINING) {
        /* The phase comes first: actor_advance acts on it, and from here on the actor spawns no
         * child. */
        actor->phase = ACTOR_DRAINING;
        actor_advance(actor);
    }
}

static struct actor *run_stop_post(struct loop *loop, struct post *post)
{
    struct actor *actor = (struct actor *)(void *)((char *)post -
                                                   offsetof(struct actor, stop_post));
    (void)loop;
    /* The actor may have ended while the post was on its way: the reference keeps only its
     * memory. */
    if (!actor->finished)
        begin_stop(actor);
    actor_unref(actor);
    return NULL;
}

static struct actor *run_kill_post(struct loop *loop, struct post *post)
{
    struct actor *actor = (struct actor *)(void *)((char *)post -
                                                   offsetof(struct actor, kill_post));
    (void)loop;
    if (!actor->finished) {
        /* The actor is settled at once: a post, unlike a KILL message, never runs within its own
         * callbacks. */
        actor_be_killed(actor, TR_ECANCELED);
        actor_settle(actor);
    }
    actor_unref(actor);
    return NULL;
}

void actor_post_stop(struct actor *actor)
{
    /* The reference comes before the post: the actor may run the post, end and be freed before this
     * returns. */
    atomic_fetch_add_explicit(&actor->references, 1, memory_order_relaxed);
    actor->stop_post.run = run_stop_post;
    loop_post(actor->loop, &actor->stop_post);
}

void actor_post_kill(struct actor *actor)
{
    /* The reference comes before the post, as in actor_post_stop. */
    atomic_fetch_add_explicit(&actor->references, 1, memory_order_relaxed);
    actor->kill_post.run = run_kill_post;
    loop_post(actor->loop, &actor->kill_post);
}

/* On the parent's loop: the end of a child, or of the root. */
static struct actor *report_end(struct loop *loop, struct post *post)
{
    struct actor *actor = of_post(post);
    if (actor->parent != NULL)
        supervisor_child_ended(actor->parent, actor);
    /* This comes after the parent, which reads the reason and finds the child by the pointer. */
    actor_unref(actor);
    /* The actor is counted out last: without actors the loops end, and the node's owner goes on. */
    actor_gone(loop->node);
    return NULL;
}

static void actor_unqueue(struct loop *loop, struct actor *actor)
{
    struct actor *before = NULL;
    for (struct actor *at = loop->run_first; at != actor; at = at->run_next)
        before = at;
    loop_unqueue(loop, before, actor);
}

/* Nothing is open any more: takes the state down and notifies callers, watchers and the parent. */
static void actor_finish(struct actor *actor)
{
    struct loop *loop = actor->loop;
    /* This comes before the mailbox: fini releases the requests that the actor kept, which refuses
     * them. They arrived earlier, and their refusals, too, must leave before the DOWNs. */
    if (actor->ops->fini != NULL)
        actor->ops->fini(actor);
    /* The streams are closed after fini, which may still write last words to them. */
    stream_close_all(actor);
    /* Refusals leave before DOWNs: a caller that also watches sees its call end before the actor
     * does. The refusals of fini have left by now. */
    for (struct message *m = mailbox_pop(actor); m != NULL; m = mailbox_pop(actor))
        loop_bounce(loop, m, TR_EPEERDOWN);
    monitor_answer(actor, actor->reason);
    supervisor_fini(actor);
    /* The actor leaves the queue while this loop still owns it: the post below gives it away. */
    if (actor->queued)
        actor_unqueue(loop, actor);
    /* The slot is given up in the same turn as the answers: a monitor that reached the address
     * after monitor_answer() would be kept and never answered. With an empty slot it is DOWN at
     * once. */
    pthread_mutex_lock(&loop->inbox.mutex);
    slots_put(&loop->inbox.slots, address_index(actor->address), NULL);
    slots_free(&loop->inbox.slots, address_index(actor->address));
    pthread_mutex_unlock(&loop->inbox.mutex);
    if (actor->reason < 0 && !actor->killed)
        log_write(loop->node, LOG_LEVEL_WARN, "actors", "actor %s failed: %s", actor->name,
                  tr_strerror(actor->reason));
    /* The mark comes before the post: a stop or a kill on its way reads it, and after the post the
     * actor is not ours. */
    actor->finished = true;
    actor->post.run = report_end;
    /* The post is the last step: the parent's thread may free the actor as soon as it is in. */
    loop_post(actor->parent != NULL ? actor->parent->loop : loop, &actor->post);
}

bool actor_advance(struct actor *actor)
{
    if (actor->phase < ACTOR_DRAINING)
        return true;
    /* An actor may fail or be killed before the post of a stop, or of a child's end, gets here. It
     * ends as that says: its `stop` is not called any more. */
    if (actor->exiting && actor->phase == ACTOR_DRAINING)
        return actor_settle(actor);
    /* A failed or killed actor kills its children; one that drains, or ended well, stops them. */
    bool kill = actor->phase == ACTOR_ENDING && (actor->reason < 0 || actor->killed);
    /* Children end before their parent in both phases: while it drains it still serves them. */
    if (supervisor_stop_children(actor, kill))
        return true;
    if (actor->phase == ACTOR_DRAINING) {
        if (!actor->stop_called) {
            actor->stop_called = true;
            if (actor->ops->stop != NULL && actor->started)
                actor->ops->stop(actor);
            else
                actor_exit(actor, 0);
            /* `stop` may have asked for the end, and nothing else settles the actor after it. */
            return actor_settle(actor);
        }
        return true;
    }
    /* Jobs hold up fini alone, not `stop`: a draining actor may still want their results. The
     * question about children on their way comes last, since it also keeps others from being
     * spawned: none may come between it and actor_finish(). */
    if (actor->jobs != NULL ||
        (actor->parent_ops != NULL && actor->parent_ops->awaits_child(actor)))
        return true;
    actor_finish(actor);
    return false;
}

bool actor_settle(struct actor *actor)
{
    if (!actor->exiting || actor->phase == ACTOR_ENDING)
        return true;
    /* The phase comes first: the callbacks of the calls that end here must not open new ones. */
    actor->phase = ACTOR_ENDING;
    /* The calls run the actor's code. The steps below run none, so they may stand in any order:
     * what a callback opened was refused, or is cancelled here. */
    while (actor->calls != NULL)
        call_complete(actor->calls, TR_ECANCELED, NULL);
    account_cancel_all(actor);
    while (actor->timers != NULL)
        timer_stop(actor->timers);
    /* Streams fall silent but stay open for fini. Jobs are only asked: they run on other
     * threads, and actor_advance waits for them. */
    stream_quiet_all(actor);
    crew_cancel_all(actor);
    return actor_advance(actor);
}

void actor_be_killed(struct actor *actor, int reason)
{
    /* The mark is set on an ending actor, too: it then kills its remaining children instead of
     * stopping them. */
    bool was_killed = actor->killed;
    actor->killed = true;
    if (actor->phase == ACTOR_ENDING) {
        if (!was_killed)
            supervisor_stop_children(actor, true);
        return;
    }
    actor_exit(actor, reason);
    /* The actor is queued, not settled here: it may have sent the kill to itself, and its callback
     * still runs. */
    loop_queue(actor->loop, actor);
}

static void actor_receive(struct actor *actor, struct message *message)
{
    actor->received++;
    /* Replies come before the deadline check, which is meant for work: an answer that is here
     * completes its call as long as the call's timer has not fired. */
    if (message->frame.flags & MESSAGE_REPLY) {
        calls_answer(actor, message);
        return;
    }
    if (message->frame.deadline_ns != 0 && message->frame.deadline_ns <= actor->loop->now_ns) {
        /* An expired request gets no answer: the caller's own timer ends the call. */
        counter_add(&actor->loop->dropped_expired, 1);
        loop_free_message(actor->loop, message);
        return;
    }
    if (message->frame.kind == RUNTIME_STOP) {
        loop_free_message(actor->loop, message);
        /* Only the phase is set here: actor_turn goes on with the stop, since that may free the
         * actor. */
        if (actor->phase < ACTOR_DRAINING)
            actor->phase = ACTOR_DRAINING;
        return;
    }
    int rc = actor->ops->receive(actor, message);
    if (rc < 0)
        actor_exit(actor, rc);
}

static void actor_start(struct actor *actor)
{
    actor->phase = ACTOR_RUNNING;
    actor->started = true;
    int rc = actor->ops->start != NULL ? actor->ops->start(actor, actor->arg) : 0;
    if (rc < 0)
        actor_exit(actor, rc);
}

bool actor_turn(struct actor *actor, uint32_t messages)
{
    /* An actor that was killed before its first turn never starts. */
    if (actor->phase == ACTOR_STARTING && !actor->exiting)
        actor_start(actor);
    while (!actor->exiting && messages-- > 0) {
        /* Only the message that begins the draining advances the actor: later ones find it begun,
         * and the ends of its children advance it themselves. */
        bool draining = actor->phase == ACTOR_DRAINING;
        struct message *message = mailbox_pop(actor);
        if (message == NULL)
            break;
        actor_receive(actor, message);
        if (!draining && actor->phase == ACTOR_DRAINING && !actor_advance(actor))
            return false;
    }
    /* This follows the callback that asked for the end: `exiting` ended the loop above. */
    if (!actor_settle(actor))
        return false;
    /* An ending actor gets no more turns: actor_finish() refuses what its mailbox holds. */
    return actor->phase < ACTOR_ENDING &&
           (actor->control.first != NULL || actor->data.first != NULL);
}

int actor_send(struct actor *self, struct address to, struct message *message)
{
    return loop_send(self, to, message);
}

void actor_exit(struct actor *self, int reason)
{
    if (self->exiting)
        return;
    self->exiting = true;
    self->reason = reason;
}

static int send_kind(struct actor *self, struct address who, uint32_t kind, int reason)
{
    struct message *message = message_create(self, kind);
    if (message == NULL)
        return TR_ENOMEM;
    if (kind == RUNTIME_KILL)
        ((struct runtime_kill *)message_head(message))->reason = reason;
    return loop_send(self, who, message);
}

int actor_stop(struct actor *self, struct address who)
{
    /* A child is looked for first: it must be marked, or its policy would start it again. */
    if (supervisor_dismiss(self, who))
        return 0;
    return send_kind(self, who, RUNTIME_STOP, 0);
}

int actor_kill(struct actor *self, struct address who, int reason)
{
    assert(reason < 0);
    return send_kind(self, who, RUNTIME_KILL, reason);
}

void actor_set_state(struct actor *self, void *state)
{
    self->state = state;
}

void *actor_state(const struct actor *self)
{
    return self->state;
}

struct address actor_address(const struct actor *self)
{
    return self->address;
}

struct node *actor_node(const struct actor *self)
{
    return self->loop->node;
}

bool actor_may_repeat(const struct actor *self, uint32_t kind)
{
    const struct kind *found = kinds_find(&self->loop->node->kinds, kind);
    return found != NULL && found->class != KIND_ONCE;
}

int actor_reason(const struct actor *self)
{
    return self->reason;
}

void actor_failpoint(const struct actor *self, enum failpoint point)
{
    failpoint_reach(self->loop->node->failpoints, point);
}

const char *actor_name(const struct actor *self)
{
    return self->name;
}

uint64_t actor_now_ns(const struct actor *self)
{
    return self->loop->now_ns;
}

uint64_t actor_random(struct actor *self)
{
    return self->loop->env->ops->random(self->loop->env);
}
