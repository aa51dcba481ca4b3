/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls and the table of open ones.
 *
 * Invariants:
 *   - An entry is open from calls_open to calls_drop. While it is open it stands in its actor's
 *     list and its timer, if it is a call, is started; while it is free it stands in the free list
 *     with a generation that no message bears. So an id names one call, and what comes late finds
 *     nothing.
 *   - A call completes once, by what comes first: its reply, its deadline, its cancellation, the
 *     end of its actor, or the death of the node it went to. All of them go through call_complete.
 *   - Completing allocates nothing and cannot fail.
 */
#include "runtime/core/call.h"

#include <assert.h>
#include <stdlib.h>

#include "runtime/core/actor_impl.h"
#include "runtime/core/calls.h"
#include "runtime/core/loop.h"
#include "runtime/core/node_impl.h"
#include "runtime/core/runtime_kinds.h"

void calls_fini(struct calls *calls)
{
    assert(counter_get(&calls->opened) == counter_get(&calls->completed));
    for (uint32_t i = 0; i < calls->num_chunks; i++)
        free(calls->chunks[i]);
    free(calls->chunks);
    *calls = (struct calls){ 0 };
}

static int call_grow(struct calls *calls)
{
    if (calls->num_chunks * CALLS_CHUNK >= CALLS_MAX)
        return TR_EFULL;
    struct call **chunks = realloc(calls->chunks, (calls->num_chunks + 1) * sizeof(struct call *));
    if (chunks == NULL)
        return TR_ENOMEM;
    /* The new array is kept at once: the old one is gone even if the chunk cannot be had. */
    calls->chunks = chunks;
    struct call *chunk = calloc(CALLS_CHUNK, sizeof *chunk);
    if (chunk == NULL)
        return TR_ENOMEM;
    for (uint32_t i = CALLS_CHUNK; i-- > 0;) {
        chunk[i].index = calls->num_chunks * CALLS_CHUNK + i;
        chunk[i].generation = 1;
        chunk[i].next = calls->free;
        calls->free = &chunk[i];
    }
    chunks[calls->num_chunks++] = chunk;
    return 0;
}

struct call *calls_open(struct actor *self, int *rc)
{
    struct calls *calls = &self->loop->calls;
    if (calls->free == NULL && (*rc = call_grow(calls)) < 0)
        return NULL;
    struct call *call = calls->free;
    calls->free = call->next;
    /* In any order: no message can name the entry before the caller sends one with its number. */
    call->actor = self;
    call->done = NULL;
    call->down = NULL;
    call->before = NULL;
    call->next = self->calls;
    if (self->calls != NULL)
        self->calls->before = call;
    self->calls = call;
    counter_add(&calls->opened, 1);
    return call;
}

struct call *calls_find(struct calls *calls, const struct actor *actor, uint64_t id)
{
    uint32_t index = (uint32_t)id;
    if (index >= calls->num_chunks * CALLS_CHUNK)
        return NULL;
    struct call *call = &calls->chunks[index / CALLS_CHUNK][index % CALLS_CHUNK];
    return call->actor == actor && call->generation == (uint32_t)(id >> 32) ? call : NULL;
}

void calls_drop(struct calls *calls, struct call *call)
{
    timer_stop(&call->timer);
    if (call->before != NULL)
        call->before->next = call->next;
    else
        call->actor->calls = call->next;
    if (call->next != NULL)
        call->next->before = call->before;
    call->actor = NULL;
    counter_add(&calls->completed, 1);
    /* An entry whose generations ran out is not used again: an old reply could match. */
    if (++call->generation != 0) {
        call->next = calls->free;
        calls->free = call;
    }
}

void call_complete(struct call *call, int status, struct message *reply)
{
    struct actor *self = call->actor;
    call_done *done = call->done;
    monitor_down *down = call->down;
    void *arg = call->arg;
    struct address to = call->to;
    /* The entry is closed before the actor is notified: the callback may open calls or end the
     * actor, and nothing may complete this call again. */
    calls_drop(&self->loop->calls, call);
    if (down != NULL || status != 0) {
        message_release(self, reply);
        reply = NULL;
    }
    if (down != NULL)
        down(self, arg, to, status);
    else
        done(self, arg, status, reply);
}

/* The numbers of calls can be guessed, so an answer from elsewhere counts only when it comes from
 * where the request went: no node hands on a request of another. */
static bool may_answer(const struct call *call, const struct actor *self, struct address from)
{
    if (from.node == self->loop->node->id)
        return true;
    return from.node == call->to.node &&
           (call->to.incarnation == 0 || from.incarnation == call->to.incarnation);
}

void calls_answer(struct actor *self, struct message *reply)
{
    struct call *call = calls_find(&self->loop->calls, self, reply->frame.call);
    if (call == NULL || !may_answer(call, self, reply->frame.from)) {
        counter_add(&self->loop->late_replies, 1);
        message_release(self, reply);
        return;
    }
    call_complete(call, reply->frame.status, reply);
}

static void call_expire(struct actor *self, void *arg)
{
    (void)self;
    call_complete(arg, TR_ETIMEDOUT, NULL);
}

int actor_call(struct actor *self, struct address to, struct message *request, uint64_t deadline_ns,
               call_done *done, void *arg, struct call_id *id)
{
    /* An ending actor opens no call: nothing would complete it any more. */
    int rc = self->phase >= ACTOR_ENDING ? TR_ECLOSED : 0;
    struct call *call = rc == 0 ? calls_open(self, &rc) : NULL;
    if (call == NULL) {
        message_release(self, request);
        return rc;
    }
    call->done = done;
    call->arg = arg;
    call->to = to;
    timer_start(self, &call->timer, deadline_ns, call_expire, call);
    if (id != NULL)
        id->id = call_number(call);
    /* The entry and its timer come before the message: its number travels in the frame, and once
     * the request is on its way nothing may fail any more. */
    request->frame.flags |= MESSAGE_REQUEST;
    request->frame.call = call_number(call);
    request->frame.deadline_ns = deadline_ns;
    rc = loop_send(self, to, request);
    if (rc < 0 && rc != TR_EPEERDOWN)
        calls_drop(&self->loop->calls, call);
    /* An unreachable peer completes the call like a dead one: by the answer on its way. */
    return rc == TR_EPEERDOWN ? 0 : rc;
}

int actor_cancel(struct actor *self, struct call_id id)
{
    struct call *call = calls_find(&self->loop->calls, self, id.id);
    if (call == NULL || call->done == NULL)
        return TR_ENOENT;
    call_complete(call, TR_ECANCELED, NULL);
    return 0;
}

int actor_reply(struct actor *self, struct message *request, struct message *reply)
{
    if ((request->frame.flags & MESSAGE_REQUEST) == 0) {
        message_release(self, request);
        message_release(self, reply);
        return 0;
    }
    struct address to = request->frame.from;
    reply->frame.call = request->frame.call;
    reply->frame.deadline_ns = request->frame.deadline_ns; /* nobody waits for it after that */
    reply->frame.status = 0;
    reply->frame.flags = MESSAGE_REPLY;
    /* The reply is checked while the request is still there: one that cannot be sent becomes a
     * refusal, so that the caller is answered all the same. */
    int rc = loop_check(self->loop, reply);
    if (rc < 0) {
        loop_free_message(self->loop, reply);
        actor_refuse(self, request, rc);
        return rc;
    }
    /* In any order with the reply: the address, the call and the deadline were copied. */
    loop_free_message(self->loop, request);
    reply->frame.from = self->address;
    reply->frame.to = to;
    return loop_route(self->loop, reply);
}

void actor_refuse(struct actor *self, struct message *request, int status)
{
    assert(status < 0);
    loop_bounce(self->loop, request, status);
}
