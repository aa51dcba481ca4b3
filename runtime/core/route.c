/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a message finds its actor: checks, routing, delivery and refusal.
 *
 * Invariants:
 *   - Every function here consumes the message: it is in a mailbox, in an outbox, with the router,
 *     or on its way home when the function returns.
 *   - A request is answered once: by the actor that received it, or by loop_bounce. Bouncing turns
 *     the request itself into its answer, so refusing needs no memory and cannot fail; an answer is
 *     no request, so bouncing ends after one step.
 *   - Order holds between two actors in each lane: what one sends the other always takes the same
 *     way (mailbox, outbox or router), and each of these keeps order.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/core/actor_impl.h"
#include "runtime/core/log.h"
#include "runtime/core/loop.h"
#include "runtime/core/node_impl.h"
#include "runtime/core/outbox.h"
#include "runtime/core/run_queue.h"

/* The head through its bytes and back, as a link would do it. */
static int route_recode(const struct kind *kind, struct message *message)
{
    unsigned char bytes[KIND_ENCODED_BYTES_MAX];
    int count = kind->encode(message->head, bytes, sizeof bytes);
    if (count < 0)
        return count;
    /* The order is that for bytes from elsewhere: decode reads only what verify has proven, and
     * check only what was decoded. */
    int rc = kind->verify(bytes, (size_t)count);
    if (rc < 0)
        return rc;
    memset(message->head, 0, kind->head_bytes);
    rc = kind->decode(bytes, (size_t)count, message->head);
    if (rc < 0 || kind->check == NULL)
        return rc;
    return kind->check(message->head, message_body(message), message->frame.body_bytes);
}

int loop_check(struct loop *loop, struct message *message)
{
    const struct kind *kind = kinds_find(&loop->node->kinds, message->frame.kind);
    assert(kind != NULL && kind->head_bytes == message->frame.head_bytes);
    if (message->frame.body_bytes > kind->body_bytes_max)
        return TR_ETOOBIG;
    return loop->codec && kind->encode != NULL ? route_recode(kind, message) : 0;
}

int loop_send(struct actor *self, struct address to, struct message *message)
{
    int rc = loop_check(self->loop, message);
    if (rc < 0) {
        /* The message is freed, not bounced: it names no sender yet, and the caller gets the
         * code. */
        loop_free_message(self->loop, message);
        return rc;
    }
    message->frame.from = self->address;
    message->frame.to = to;
    return loop_route(self->loop, message);
}

int loop_route(struct loop *loop, struct message *message)
{
    struct node *node = loop->node;
    struct address to = message->frame.to;
    /* A killed node's messages go nowhere, not even inside it. */
    if (node->dead) {
        loop_free_message(loop, message);
        return TR_EPEERDOWN;
    }
    counter_add(&loop->sent, 1);
    /* This node comes first. An address of one of its past lives belongs to no actor here and must
     * not go to the router either: it ends below, as stale. */
    if (to.node == node->id && to.incarnation == node->incarnation &&
        address_loop(to) < node->num_loops) {
        uint32_t target = address_loop(to);
        if (target == loop->index) {
            loop_deliver(loop, message);
        } else {
            loop_hand_over(loop, target, message);
        }
        return 0;
    }
    if (to.node != node->id && !address_is_none(to) && node_reaches(node, to.node)) {
        uint32_t target = router_loop(to.node, node->num_loops);
        if (target == loop->index) {
            node->router->ops->send(loop, message);
        } else {
            loop_hand_over(loop, target, message);
        }
        return 0;
    }
    counter_add(&loop->stale, 1);
    loop_bounce(loop, message, TR_EPEERDOWN);
    return TR_EPEERDOWN;
}

void loop_bounce(struct loop *loop, struct message *message, int status)
{
    /* This comes first: no call waits for an answer to a plain message, and a reply whose caller
     * has gone would be answered by another reply, and so on. */
    if ((message->frame.flags & MESSAGE_REQUEST) == 0) {
        loop_free_message(loop, message);
        return;
    }
    /* The credit goes first: it is computed from the sender, the lane and the size, which are
     * overwritten below. */
    if (message->frame.flags & MESSAGE_CREDIT)
        loop_return_credit(loop, message);
    if (message->body != NULL) {
        loop_buffer_release(loop, message->body);
        message->body = NULL;
    }
    struct address from = message->frame.from;
    message->frame.from = message->frame.to;
    message->frame.to = from;
    message->frame.flags = MESSAGE_REPLY;
    message->frame.status = (int8_t)status;
    message->frame.body_bytes = 0;
    message->frame.deadline_ns = 0;
    loop_route(loop, message);
}

struct actor *loop_actor(struct loop *loop, struct address address)
{
    const struct slots *slots = &loop->inbox.slots;
    uint32_t index = address_index(address);
    if (index >= slots->actors_capacity || address_loop(address) != loop->index)
        return NULL;
    struct actor *actor = slots->actors[index];
    return actor != NULL && address_equal(actor->address, address) ? actor : NULL;
}

/* The cost of a message in the data lane to its receiver's mailbox. */
static size_t mailbox_cost(const struct message *message)
{
    return sizeof *message + message->frame.head_bytes + message->frame.body_bytes;
}

static void note_dropped(struct loop *loop, const struct actor *actor)
{
    counter_add(&loop->dropped_full, 1);
    uint64_t count = counter_get(&loop->dropped_full);
    if ((count & (count - 1)) == 0)
        log_write(loop->node, LOG_LEVEL_WARN, "actors",
                  "actor %s: mailbox is full (%zu of %zu bytes); %llu messages dropped on loop %u",
                  actor->name, actor->mailbox_bytes, actor->mailbox_bytes_max,
                  (unsigned long long)count, loop->index);
}

/* A message has come into the mailbox. */
static void mailbox_filled(struct loop *loop, struct actor *actor)
{
    counter_add(&loop->mailbox_messages, 1);
    counter_raise(&loop->mailbox_messages_max, actor->control.count + actor->data.count);
    loop_queue(loop, actor);
}

static void put_data(struct loop *loop, struct actor *actor, struct message *message)
{
    size_t cost = mailbox_cost(message);
    /* One message always fits, else a bound below its size would be a deadlock. */
    if (actor->mailbox_bytes > 0 && actor->mailbox_bytes + cost > actor->mailbox_bytes_max) {
        /* This comes before the bounce, which consumes the message. A request is not dropped: it is
         * answered. */
        if ((message->frame.flags & MESSAGE_REQUEST) == 0)
            note_dropped(loop, actor);
        loop_bounce(loop, message, TR_EFULL);
        return;
    }
    actor->mailbox_bytes += cost;
    counter_add(&loop->mailbox_bytes, cost);
    messages_push(&actor->data, message);
    mailbox_filled(loop, actor);
}

struct message *mailbox_pop(struct actor *actor)
{
    struct message *message = messages_pop(&actor->control);
    if (message == NULL) {
        message = messages_pop(&actor->data);
        if (message != NULL) {
            actor->mailbox_bytes -= mailbox_cost(message);
            counter_sub(&actor->loop->mailbox_bytes, mailbox_cost(message));
        }
    }
    if (message != NULL)
        counter_sub(&actor->loop->mailbox_messages, 1);
    /* The credit goes back when the message leaves the mailbox, not when it is freed: an actor may
     * keep a request for long, and its sender would wait for all that time. */
    if (message != NULL && (message->frame.flags & MESSAGE_CREDIT))
        loop_return_credit(actor->loop, message);
    return message;
}

/* True: it was meant for the runtime itself, which has it now. A reply never is: whatever its kind,
 * it ends a call and nothing else. */
static bool is_the_runtimes(struct loop *loop, struct actor *actor, struct message *message)
{
    if (message->frame.flags & MESSAGE_REPLY)
        return false;
    const struct kind *kind = kinds_find(&loop->node->kinds, message->frame.kind);
    if (kind == NULL || kind->handle == NULL)
        return false;
    kind->handle(loop, actor, message);
    return true;
}

void loop_deliver(struct loop *loop, struct message *message)
{
    /* This comes first, since the slots are those of this node: the message only moves to the loop
     * of its link. */
    if (message->frame.to.node != loop->node->id) {
        if (loop->node->dead)
            loop_free_message(loop, message); /* it was on its way to this loop at the death */
        else
            loop->node->router->ops->send(loop, message);
        return;
    }
    struct actor *actor = loop_actor(loop, message->frame.to);
    if (loop->simulated)
        loop->env->ops->trace(loop->env,
                              (uint64_t)message->frame.from.slot << 32 | message->frame.to.slot,
                              (uint64_t)message->frame.kind << 32 | message->frame.flags);
    if (actor == NULL) {
        counter_add(&loop->stale, 1);
        loop_bounce(loop, message, TR_EPEERDOWN);
        return;
    }
    counter_add(&loop->delivered, 1);
    /* The runtime's own messages come before the phase is checked: a monitor that reaches an ending
     * actor must still get the reason of its end. */
    if (message->frame.kind < KIND_ROOMS_FIRST && is_the_runtimes(loop, actor, message))
        return;
    if (actor->phase == ACTOR_ENDING) {
        loop_bounce(loop, message, TR_EPEERDOWN);
    } else if (message->frame.flags & MESSAGE_DATA) {
        put_data(loop, actor, message);
    } else {
        messages_push(&actor->control, message);
        mailbox_filled(loop, actor);
    }
}
