/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Invariants of what is held back:
 *  1. A held message is on its faults' list from its coming until it is served or its actor ends.
 *     The list is in the order of coming.
 *  2. Where a role keeps order, a message is served after all that the actor held before it, and
 *     what comes while the actor holds any is held too: reducers rely on the order in which a
 *     sender sends. Requests to servers may overtake each other, but for those for tensors.
 */
#include "sim/actor_faults.h"

#include <stdlib.h>

#include "actors/common/error_reply.h"
#include "actors/data/server_work.h"
#include "actors/job/checkpoint_store_state.h"
#include "actors/job/reducer_state.h"
#include "runtime/core/call.h"
#include "runtime/core/timer.h"

struct role {
    const struct actor_ops *ops; /* of the real actor */
    bool in_order;
    /* The faults of this actor, and its number among them. */
    struct actor_faults *(*find)(struct actor *self, uint32_t *number);
};

struct held_message {
    struct held_message *next, **link;
    const struct role *role;
    struct actor *self;
    struct message *message;
    struct timer timer;
};

static void append_held(struct actor_faults *faults, struct held_message *held)
{
    struct held_message **end = &faults->held;
    while (*end != NULL)
        end = &(*end)->next;
    held->link = end;
    *end = held;
}

static void remove_held(struct held_message *held)
{
    timer_stop(&held->timer);
    *held->link = held->next;
    if (held->next != NULL)
        held->next->link = held->link;
    free(held);
}

static struct held_message *oldest_held(const struct actor_faults *faults, const struct actor *self)
{
    struct held_message *held = faults->held;
    while (held != NULL && held->self != self)
        held = held->next;
    return held;
}

static void serve_held(struct actor *self, void *arg)
{
    struct held_message *last = arg, *held;
    const struct role *role = last->role;
    uint32_t number;
    struct actor_faults *faults = role->find(self, &number);
    bool is_last;
    do {
        held = role->in_order ? oldest_held(faults, self) : last;
        /* This is asked before the message is freed; and it leaves the list before it is served,
         * since invariant 1 ends there. */
        is_last = held == last;
        struct message *message = held->message;
        remove_held(held);
        (void)role->ops->receive(self, message);
    } while (!is_last);
}

static int fault_hold(struct actor *self, const struct role *role, struct actor_faults *faults,
                      struct message *message, uint64_t ns)
{
    struct held_message *held = calloc(1, sizeof *held);
    if (held == NULL)
        return role->ops->receive(self, message);
    *held = (struct held_message){ .role = role, .self = self, .message = message };
    append_held(faults, held);
    timer_start(self, &held->timer, actor_now_ns(self) + ns, serve_held, held);
    return 0;
}

static int fault_refuse(struct actor *self, const struct role *role, struct message *request,
                        int code)
{
    struct error error;
    if (actor_random(self) % 2 == 0) {
        actor_refuse(self, request, code);
        return 0;
    }
    error_set(&error, code, "%s: %s for a while", role->ops->name,
              code == TR_EFULL ? "full" : "short of memory");
    error_reply_send(self, request, &error);
    return 0;
}

static int fault_receive(struct actor *self, const struct role *role, struct message *message)
{
    uint32_t number;
    struct actor_faults *faults = role->find(self, &number);
    number %= ACTOR_FAULTS_ACTORS;
    const uint64_t *until_ns = faults->actors[number].until_ns;
    uint64_t now_ns = actor_now_ns(self);
    /* A mailbox bounds the data lane alone. */
    if ((message->frame.flags & MESSAGE_DATA) == 0)
        return role->ops->receive(self, message);
    /* A refused message has no place in an order, so it is refused first; one that is held, or
     * comes behind one that is held, is behind that. */
    if (now_ns < until_ns[ACTOR_FULL])
        return fault_refuse(self, role, message, TR_EFULL);
    if (now_ns < until_ns[ACTOR_MEMORY])
        return fault_refuse(self, role, message, TR_ENOMEM);
    if (now_ns < until_ns[ACTOR_SLOW])
        return fault_hold(self, role, faults, message, faults->actors[number].slow_ns);
    if (role->in_order && oldest_held(faults, self) != NULL)
        return fault_hold(self, role, faults, message, 0);
    return role->ops->receive(self, message);
}

static void release_held(struct actor *self, const struct role *role)
{
    uint32_t number;
    struct held_message *held;
    if (actor_state(self) == NULL)
        return;
    struct actor_faults *faults = role->find(self, &number);
    while ((held = oldest_held(faults, self)) != NULL) {
        message_release(self, held->message);
        remove_held(held);
    }
}

static void fault_fini(struct actor *self, const struct role *role)
{
    /* Held messages go before the actor's own fini, which frees the state that find() reads. */
    release_held(self, role);
    role->ops->fini(self);
}

static struct actor_faults *server_faults(struct actor *self, uint32_t *number)
{
    const struct server *server = actor_state(self);
    struct process_faults *faults = server->options->faults;
    *number = server->options->rank;
    return &faults->servers;
}

static const struct role server_role = { &server_ops, false, server_faults };
/* What is done with tensors depends on what was done before. */
static const struct role server_tensor_role = { &server_ops, true, server_faults };

static int server_start(struct actor *self, const void *arg)
{
    return server_ops.start(self, arg);
}

static int server_receive(struct actor *self, struct message *message)
{
    bool ordered = message->frame.kind >= MSG_TENSOR_REQUEST &&
                   message->frame.kind <= MSG_TENSOR_STORE;
    return fault_receive(self, ordered ? &server_tensor_role : &server_role, message);
}

static void server_stop(struct actor *self)
{
    server_ops.stop(self);
}

static void server_fini(struct actor *self)
{
    fault_fini(self, &server_role);
}

static const struct actor_ops faulty_server_ops = {
    .name = "server",
    .start = server_start,
    .receive = server_receive,
    .stop = server_stop,
    .fini = server_fini,
};

static struct actor_faults *checkpoint_store_faults(struct actor *self, uint32_t *number)
{
    const struct checkpoint_store *store = actor_state(self);
    struct process_faults *faults = store->options->faults;
    *number = 0;
    return &faults->checkpoint_stores;
}

static const struct role checkpoint_store_role = { &checkpoint_store_ops, true,
                                                   checkpoint_store_faults };

static struct actor_faults *checkpoint_look_faults(struct actor *self, uint32_t *number)
{
    const struct checkpoint_store *store = actor_state(self);
    struct process_faults *faults = store->options->faults;
    *number = 0;
    return &faults->checkpoint_looks;
}

/* A look reads a whole part, takes much longer than anything else, and is pure: what comes behind
 * it overtakes it. */
static const struct role checkpoint_look_role = { &checkpoint_store_ops, false,
                                                  checkpoint_look_faults };

static int checkpoint_store_start(struct actor *self, const void *arg)
{
    return checkpoint_store_ops.start(self, arg);
}

static void count_asked(struct actor *self, uint32_t kind)
{
    const struct checkpoint_store *store = actor_state(self);
    struct checkpoint_requests *asked = &((struct process_faults *)store->options->faults)->asked;
    asked->copies += kind == MSG_CHECKPOINT_COPY;
    asked->fetches += kind == MSG_CHECKPOINT_FETCH;
    asked->drops += kind == MSG_CHECKPOINT_DROP;
}

static int checkpoint_store_receive(struct actor *self, struct message *message)
{
    count_asked(self, message->frame.kind);
    bool looks = message->frame.kind == MSG_CHECKPOINT_LOOK;
    return fault_receive(self, looks ? &checkpoint_look_role : &checkpoint_store_role, message);
}

static void checkpoint_store_fini(struct actor *self)
{
    release_held(self, &checkpoint_look_role);
    fault_fini(self, &checkpoint_store_role);
}

static const struct actor_ops faulty_checkpoint_store_ops = {
    .name = "checkpoints",
    .start = checkpoint_store_start,
    .receive = checkpoint_store_receive,
    .fini = checkpoint_store_fini,
};

static struct actor_faults *reducer_faults(struct actor *self, uint32_t *number)
{
    const struct reducer *reducer = actor_state(self);
    struct process_faults *faults = reducer->options->faults;
    *number = reducer->options->rank;
    return &faults->reducers;
}

static const struct role reducer_role = { &reducer_ops, true, reducer_faults };

static int reducer_start(struct actor *self, const void *arg)
{
    return reducer_ops.start(self, arg);
}

static int reducer_receive(struct actor *self, struct message *message)
{
    return fault_receive(self, &reducer_role, message);
}

static void reducer_stop(struct actor *self)
{
    reducer_ops.stop(self);
}

static void reducer_fini(struct actor *self)
{
    fault_fini(self, &reducer_role);
}

static const struct actor_ops faulty_reducer_ops = {
    .name = "reducer",
    .start = reducer_start,
    .receive = reducer_receive,
    .stop = reducer_stop,
    .fini = reducer_fini,
};

const struct process_actors_stand_ins faulty_actors = {
    .server = &faulty_server_ops,
    .checkpoint_store = &faulty_checkpoint_store_ops,
    .reducer = &faulty_reducer_ops,
};

uint64_t actor_faults_strike(struct actor_faults *faults, struct draws *draws, uint64_t now_ns,
                             uint64_t lasts_ns, uint64_t slower)
{
    enum actor_fault fault = (enum actor_fault)draws_below(draws, ACTOR_FAULT_KINDS);
    bool all = draws_chance(draws, 50);
    uint32_t one = (uint32_t)draws_below(draws, ACTOR_FAULTS_ACTORS);
    uint64_t slow_ns = slower * draws_scale(draws, UINT64_C(100000), UINT64_C(5000000000));
    if (slow_ns > ACTOR_FAULTS_SLOW_NS)
        slow_ns = ACTOR_FAULTS_SLOW_NS;
    for (uint32_t i = 0; i < ACTOR_FAULTS_ACTORS; i++) {
        if (!all && i != one)
            continue;
        faults->actors[i].until_ns[fault] = now_ns + lasts_ns;
        faults->actors[i].slow_ns = slow_ns;
    }
    return now_ns + lasts_ns + (fault == ACTOR_SLOW ? slow_ns : 0);
}
