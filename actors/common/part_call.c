/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The machine behind every question to a server:
 *
 *     IDLE -> LOCATING -> RESERVING -> SENT -> IDLE, and done
 *                ^            |          |
 *                +-- PAUSED <-+----------+   a failure that may pass
 *
 * Invariants:
 *  1. Exactly one thing is under way outside of IDLE: a wait for an address (LOCATING), for
 *     memory (RESERVING), an open call (SENT) or a started timer (PAUSED). `state` says which.
 *  2. Memory for the reply is held in SENT alone, and between RESERVING and SENT.
 *  3. Each thing under way ends at the deadline of the whole (an open call: and its grace) or
 *     before, so the deadline needs no timer of its own: whichever ends last leads to
 *     part_call_attempt(), which looks at the clock first.
 *  4. A call becomes IDLE before done runs, so done may send it again, cancel it or free it;
 *     nothing here touches the call after done.
 *  5. Cancelling makes the call IDLE first; what the cancelled thing reports then finds it IDLE.
 *  6. done never runs inside part_call_send, whose caller may be in the middle of sending several:
 *     a call that cannot be is ENDING until a timer that is due at once.
 */
#include "actors/common/part_call.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

#include "actors/common/error_reply.h"

/* The pause after a failure, doubled with each one until an answer comes, up to 320 ms: long enough
 * that those that wait do not keep a full server busy with refusals, short beside a restart. */
#define PAUSE_NS UINT64_C(5000000)
#define PAUSE_DOUBLINGS_MAX 6u

/* A server that is slower than the patience of an attempt must still get to answer: up to 1024
 * times as long. */
#define PATIENCE_DOUBLINGS_MAX 10u

static void part_call_attempt(struct part_call *call);

bool part_call_peer_recovers(int code)
{
    switch (code) {
    case TR_EPEERDOWN: /* it is started again, or another takes its place */
    case TR_EFULL:     /* its queue is served */
    case TR_ENOMEM:    /* memory comes free, there or here */
        return true;
    default:
        return false;
    }
}

bool part_call_is_transient(int code)
{
    switch (code) {
    case TR_ETIMEDOUT: /* it is slow, or stands still */
    case TR_ECLOSED:   /* it is ending, or its successor knows nothing of us yet */
    /* The peer gave up the work. Our own cancelling never gets here, nor does "the client is past
     * it" of sequenced.h: a part_call sends its next question when the one before has ended. */
    case TR_ECANCELED:
        return true;
    default:
        return part_call_peer_recovers(code);
    }
}

/* True: the next life of the peer does not give that status. */
static bool is_of_a_life(int status)
{
    return status == TR_EPEERDOWN || status == TR_ECLOSED || status == TR_ECANCELED;
}

static void become_idle(struct part_call *call)
{
    call->state = PART_CALL_IDLE;
    reply_budget_release(&call->room);
}

static void keep_why(struct part_call *call, const struct error *why)
{
    snprintf(call->why, sizeof call->why, "%.*s", (int)sizeof call->why - 1, why->text);
    call->why_process_1 = why->process_1;
}

static void part_call_ended(struct actor *self, void *arg)
{
    struct part_call *call = arg;
    struct error error;
    (void)self;
    error_set(&error, call->status, "%s", call->why);
    error.process_1 = call->why_process_1;
    /* The call is idle before `done` (4), as in its other ends. */
    become_idle(call);
    call->ops->done(call, call->status, NULL, &error);
}

static void part_call_end(struct part_call *call, int status, const struct error *error)
{
    /* The call is idle before `done` (4), which waits for a timer while the call is being sent
     * (6). */
    become_idle(call);
    if (!call->sending) {
        call->ops->done(call, status, NULL, error);
        return;
    }
    keep_why(call, error);
    call->state = PART_CALL_ENDING;
    call->status = status;
    timer_start(call->self, &call->timer, actor_now_ns(call->self), part_call_ended, call);
}

static void part_call_expire(struct part_call *call)
{
    struct error error;
    error_set(&error, TR_ETIMEDOUT, "no answer until the deadline%s%s",
              call->why[0] != '\0' ? "; the last attempt failed: " : "", call->why);
    error.process_1 = call->why_process_1;
    part_call_end(call, TR_ETIMEDOUT, &error);
}

static void part_call_paused(struct actor *self, void *arg)
{
    (void)self;
    part_call_attempt(arg);
}

/* Half of each pause is random, so that those that were refused together do not come back so. */
static void pause_then_attempt(struct part_call *call)
{
    uint32_t doublings = call->failures < PAUSE_DOUBLINGS_MAX ? call->failures
                                                              : PAUSE_DOUBLINGS_MAX;
    uint64_t half_ns = (PAUSE_NS << doublings) / 2;
    uint64_t at_ns = actor_now_ns(call->self) + half_ns + actor_random(call->self) % half_ns;
    call->failures++;
    call->state = PART_CALL_PAUSED;
    /* The memory is given back for the pause (2): replies to other calls may have it meanwhile. */
    reply_budget_release(&call->room);
    timer_start(call->self, &call->timer, at_ns < call->deadline_ns ? at_ns : call->deadline_ns,
                part_call_paused, call);
}

/* why may have no text: the peer had no memory for one, or it is our own failure. */
static void part_call_fail(struct part_call *call, int status, struct error *why)
{
    /* The process is kept, since setting an error clears it. */
    uint32_t process_1 = why->process_1;
    if (why->text[0] == '\0' && call->owners != NULL)
        error_set(why, status, "partition %" PRIu32 ": %s", call->part, tr_strerror(status));
    else if (why->text[0] == '\0')
        error_set(why, status, "%s", tr_strerror(status));
    why->process_1 = process_1;
    if (!part_call_is_transient(status) || (call->one_life && is_of_a_life(status))) {
        part_call_end(call, status, why);
        return;
    }
    /* The call is paused before `failed` runs, which may cancel it: that stops the pause. The other
     * way round a cancelled call would be started again. */
    keep_why(call, why);
    pause_then_attempt(call);
    if (call->ops->failed != NULL)
        call->ops->failed(call, why);
}

static void fail_plainly(struct part_call *call, int status)
{
    struct error why;
    why.text[0] = '\0';
    why.process_1 = 0;
    part_call_fail(call, status, &why);
}

static void part_call_answered(struct actor *self, void *arg, int status, struct message *reply)
{
    struct part_call *call = arg;
    struct error why;
    /* The number goes first: the call that it names is over, whatever becomes of this one. */
    call->call = (struct call_id){ 0 };
    if (call->state != PART_CALL_SENT) { /* cancelled by us */
        message_release(self, reply);
        return;
    }
    why.text[0] = '\0';
    why.process_1 = 0;
    /* A reply is read for a refusal before it counts as the answer: `done` gets no
     * MSG_ERROR_REPLY. */
    int said = status == 0 ? error_reply_read(reply, &why) : status;
    if (said == 0) {
        call->failures = 0;
        become_idle(call);
        call->ops->done(call, 0, reply, NULL);
        return;
    }
    message_release(self, reply);
    if (status == TR_ETIMEDOUT && call->timeouts < PATIENCE_DOUBLINGS_MAX)
        call->timeouts++;
    /* Only a call's own status says something about the life of the peer. The address goes before
     * the failure is taken, which may end the call and free it (4). */
    if (call->owners != NULL)
        part_locator_lost(call->owners, call->part, call->to, status);
    /* It is about the peer, unless that names another one which it asked in turn. A node of a job
     * has the number of its process. */
    if (why.process_1 == 0)
        why.process_1 = call->to.node + 1;
    part_call_fail(call, said, &why);
}

static void part_call_found(struct part_locator_wait *wait, int status)
{
    part_call_located(wait->arg, status);
}

/* 0, or 1: part_call_located follows. */
static int part_call_locate(struct part_call *call)
{
    if (call->owners == NULL)
        return call->ops->locate(call, &call->to);
    call->to = part_locator_address(call->owners, call->part);
    if (!address_is_none(call->to))
        return 0;
    call->wait.found = part_call_found;
    call->wait.arg = call;
    part_locator_find(call->owners, call->part, call->deadline_ns, &call->wait);
    return 1;
}

static void part_call_granted(struct actor *self, void *arg, int status)
{
    struct part_call *call = arg;
    (void)self;
    if (status == 0)
        part_call_attempt(call); /* the owner may be another by now */
    else
        fail_plainly(call, status);
}

/* 0: held, or not needed; 1: granted follows. */
static int part_call_reserve(struct part_call *call)
{
    if (call->replies == NULL || !reply_budget_is_needed(call->self, call->to))
        return 0;
    return reply_budget_reserve(&call->room, call->replies, call->self, call->reply_bytes,
                                call->deadline_ns, part_call_granted, call);
}

static int part_call_send_request(struct part_call *call, uint64_t now_ns)
{
    uint64_t call_ns = call->call_ns != 0 ? call->call_ns : PART_CALL_NS;
    bool ends = call->grace_ns <= UINT64_MAX - call->deadline_ns;
    uint64_t left_ns = (ends ? call->deadline_ns + call->grace_ns : UINT64_MAX) - now_ns;
    bool fits = call_ns <= left_ns >> call->timeouts;
    uint64_t until_ns = now_ns + (fits ? call_ns << call->timeouts : left_ns);
    struct message *request;
    int rv = call->ops->make(call, &request);
    if (rv != 0)
        return rv;
    /* A request that has an effect each time is not asked again. */
    assert(actor_may_repeat(call->self, request->frame.kind));
    return actor_call(call->self, call->to, request, until_ns, part_call_answered, call,
                      &call->call);
}

static void part_call_attempt(struct part_call *call)
{
    uint64_t now_ns = actor_now_ns(call->self);
    /* The clock is asked first (3): whatever ended last, nothing is begun after the deadline. */
    if (now_ns >= call->deadline_ns) {
        part_call_expire(call);
        return;
    }
    /* The address is located before memory is reserved: a reply from this process needs none. The
     * request is made last: one that waited for memory would hold memory too. */
    call->state = PART_CALL_LOCATING;
    int rv = part_call_locate(call);
    if (rv == 1)
        reply_budget_release(&call->room); /* others may be answered while nobody is there to ask */
    if (rv == 0) {
        call->state = PART_CALL_RESERVING;
        rv = part_call_reserve(call);
    }
    if (rv == 0) {
        call->state = PART_CALL_SENT;
        rv = part_call_send_request(call, now_ns);
    }
    if (rv < 0)
        fail_plainly(call, rv);
}

void part_call_reset(struct part_call *call)
{
    assert(call->state == PART_CALL_IDLE);
    call->timeouts = call->failures = 0;
}

void part_call_send(struct part_call *call, uint64_t deadline_ns)
{
    assert(call->state == PART_CALL_IDLE);
    call->deadline_ns = deadline_ns;
    call->why[0] = '\0';
    /* `sending` holds for the first attempt alone (6): the failure of a later one calls `done` at
     * once. */
    call->sending = true;
    part_call_attempt(call);
    call->sending = false;
}

void part_call_located(struct part_call *call, int status)
{
    /* A call that waits for no address is left alone: it was cancelled, or goes on already. */
    if (call->state != PART_CALL_LOCATING)
        return;
    if (status == 0) {
        part_call_attempt(call);
        return;
    }
    struct error why;
    error_set(&why, status, "partition %" PRIu32 ": no process serves it now", call->part);
    if (call->owners == NULL)
        error_set(&why, status, "the process that would answer is down");
    part_call_fail(call, status, &why);
}

void part_call_cancel(struct part_call *call)
{
    /* The call is idle and has no number before the open one is cancelled, which completes it in
     * here (5). */
    struct call_id open = call->call;
    call->state = PART_CALL_IDLE;
    call->call = (struct call_id){ 0 };
    timer_stop(&call->timer);
    part_locator_wait_stop(&call->wait);
    if (open.id != 0)
        (void)actor_cancel(call->self, open);
    reply_budget_release(&call->room);
}

void part_call_fini(struct part_call *call)
{
    /* The memory comes before the rest: its wait ended with the actor and is freed, and cancelling
     * would touch it. */
    reply_budget_fini(&call->room);
    part_call_cancel(call);
}
