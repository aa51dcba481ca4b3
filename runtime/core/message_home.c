/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where messages come from and where they go back to.
 *
 * A message has one home for its life: the loop whose pool it was taken from, or none when a port's
 * thread made it. Freeing it gives up three things, in this order: the credit that its sender
 * waits for, the body, the cell. Each goes back once, wherever the message was freed. The cell is
 * the last, since the frame in it says whose the credit is, and the message where the body lies:
 * once the cell is given up, another message may be made of it.
 */
#include <stdlib.h>
#include <string.h>

#include "runtime/core/log.h"
#include "runtime/core/loop.h"
#include "runtime/core/node_impl.h"
#include "runtime/core/outbox.h"

struct message *loop_message_create(struct loop *loop, const struct kind *kind)
{
    if (loop->simulated && loop->env->ops->fails(loop->env))
        return NULL;
    struct message *message = message_pool_take(&loop->messages, kind->head_bytes);
    if (message == NULL) {
        log_refusal(loop->node, kind->name, kind->head_bytes);
        return NULL;
    }
    message->frame = (struct frame){
        .kind = kind->id,
        .flags = kind->lane == KIND_DATA ? MESSAGE_DATA : 0,
        .head_bytes = kind->head_bytes,
    };
    message->home = loop;
    message->body = NULL;
    message->body_offset = 0;
    memset(message->head, 0, kind->head_bytes);
    return message;
}

static size_t bytes_of(size_t head_bytes)
{
    return sizeof(struct message) + head_bytes;
}

struct message *node_message_create(struct node *node, const struct kind *kind)
{
    size_t bytes = bytes_of(kind->head_bytes);
    struct message *message = NULL;
    /* The account comes before the memory: checked afterwards, all threads at once could pass its
     * bound. */
    if (account_reserve(&node->message_account, bytes, NULL) == 0) {
        message = calloc(1, bytes);
        if (message == NULL)
            account_release(&node->message_account, bytes);
    }
    if (message == NULL) {
        log_refusal(node, kind->name, kind->head_bytes);
        return NULL;
    }
    message->frame.kind = kind->id;
    message->frame.flags = kind->lane == KIND_DATA ? MESSAGE_DATA : 0;
    message->frame.head_bytes = kind->head_bytes;
    return message;
}

void node_free_message(struct node *node, struct message *message)
{
    account_release(&node->message_account, bytes_of(message->frame.head_bytes));
    free(message);
}

void loop_return_credit(struct loop *loop, struct message *message)
{
    loop->node->router->ops->return_credit(loop, message);
}

void loop_free_message(struct loop *loop, struct message *message)
{
    if (message == NULL)
        return;
    if (message->frame.flags & MESSAGE_CREDIT)
        loop_return_credit(loop, message);
    if (message->body != NULL) {
        loop_buffer_release(loop, message->body);
        message->body = NULL;
    }
    /* The cell comes last: credit and body are read from it. */
    struct loop *home = message->home;
    if (home == loop) {
        counter_add(&loop->messages.given, 1);
        message_pool_give(&loop->messages, message);
    } else if (home == NULL) {
        node_free_message(loop->node, message);
    } else {
        loop_return_message(loop, message);
    }
}
