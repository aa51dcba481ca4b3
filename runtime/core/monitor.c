/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Monitors.
 *
 * Invariants:
 *   - A monitor is a call without a deadline at the watching end, and its request, kept in
 *     `watchers` of the watched actor, at the other. The kept request becomes the DOWN, so a death
 *     allocates nothing, and the call's entry makes the DOWN come once.
 *   - A request leaves `watchers` once: as the DOWN, by a demonitor, or when the node of the
 *     watcher died (the router's run_downs).
 *   - A kept request holds no credit: it may stay for as long as the actor lives.
 */
#include "runtime/core/monitor.h"

#include "runtime/core/actor_impl.h"
#include "runtime/core/calls.h"
#include "runtime/core/loop.h"
#include "runtime/core/node_impl.h"
#include "runtime/core/runtime_kinds.h"

int actor_monitor(struct actor *self, struct address who, monitor_down *down, void *arg,
                  struct call_id *id)
{
    if (self->phase >= ACTOR_ENDING)
        return TR_ECLOSED;
    /* The message comes before the entry: without memory there is then no entry to close again. */
    struct message *request = message_create(self, RUNTIME_MONITOR);
    if (request == NULL)
        return TR_ENOMEM;
    int rc = 0;
    struct call *call = calls_open(self, &rc);
    if (call == NULL) {
        message_release(self, request);
        return rc;
    }
    call->down = down;
    call->arg = arg;
    call->to = who;
    if (id != NULL)
        id->id = call_number(call);
    /* The entry is whole before the message goes, which carries its number. */
    request->frame.flags |= MESSAGE_REQUEST;
    request->frame.call = call_number(call);
    loop_send(self, who, request); /* an unreachable one answers TR_EPEERDOWN */
    return 0;
}

int actor_demonitor(struct actor *self, struct call_id id)
{
    struct call *call = calls_find(&self->loop->calls, self, id.id);
    if (call == NULL || call->down == NULL)
        return TR_ENOENT;
    /* This only saves the watched actor's memory: without it the answer comes late and is
     * dropped. */
    struct message *forget = message_create(self, RUNTIME_DEMONITOR);
    if (forget != NULL) {
        ((struct runtime_demonitor *)message_head(forget))->call = id.id;
        loop_send(self, call->to, forget);
    }
    /* A DOWN that crosses the request on its way finds no entry, and is dropped as late. */
    calls_drop(&self->loop->calls, call);
    return 0;
}

/* Observers are no part of the job: their monitors must not fill the memory of its actors. */
static bool watches_enough(const struct actor *actor, uint32_t node)
{
    uint32_t count = 0;
    if (node < NODE_OBSERVERS)
        return false;
    for (const struct message *at = actor->watchers; at != NULL; at = at->next)
        count += at->frame.from.node == node;
    return count >= MONITOR_OBSERVER_WATCHES_MAX;
}

void monitor_keep(struct actor *actor, struct message *request)
{
    /* The credit goes back first: a kept request would else be charged to its link for as long as
     * the actor lives. */
    if (request->frame.flags & MESSAGE_CREDIT)
        loop_return_credit(actor->loop, request);
    if (watches_enough(actor, request->frame.from.node)) {
        loop_bounce(actor->loop, request, TR_EFULL);
        return;
    }
    request->next = actor->watchers;
    actor->watchers = request;
}

void monitor_forget(struct actor *actor, struct address watcher, uint64_t call)
{
    for (struct message **at = &actor->watchers; *at != NULL; at = &(*at)->next) {
        struct message *request = *at;
        if (request->frame.call == call && address_equal(request->frame.from, watcher)) {
            *at = request->next;
            loop_free_message(actor->loop, request);
            return;
        }
    }
}

void monitor_answer(struct actor *actor, int reason)
{
    struct message *request = actor->watchers;
    actor->watchers = NULL;
    while (request != NULL) {
        struct message *next = request->next;
        loop_bounce(actor->loop, request, reason);
        request = next;
    }
}
