/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/core/message.h"

#include <assert.h>
#include <string.h>

#include "runtime/core/actor_impl.h"
#include "runtime/core/log.h"
#include "runtime/core/loop.h"
#include "runtime/core/node_impl.h"

/* The 1st, 2nd, 4th, 8th ... refusal is logged. */
void node_note_refusal(struct node *node, const char *what, size_t bytes)
{
    struct account *account = &node->message_account;
    unsigned before = atomic_fetch_add_explicit(&node->refusals, 1, memory_order_relaxed);
    if ((before & (before + 1)) != 0)
        return;
    log_write(node, LOG_LEVEL_WARN,
              "node %u: no memory for a %s of %zu bytes: account \"%s\" has %zu of %zu bytes in "
              "use",
              node->id, what, bytes, account->name, account_used(account), account->bound_bytes);
}

struct message *loop_message_create(struct loop *loop, const struct kind *kind)
{
    if (loop->simulated && loop->env->ops->fails(loop->env))
        return NULL;
    struct message *message = message_pool_take(&loop->messages, kind->head_bytes);
    if (message == NULL) {
        node_note_refusal(loop->node, kind->name, kind->head_bytes);
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

struct buffer *loop_buffer_create(struct loop *loop, size_t bytes)
{
    if (loop->simulated && loop->env->ops->fails(loop->env))
        return NULL;
    struct buffer *buffer = buffer_pool_take(&loop->buffers, bytes);
    if (buffer != NULL)
        buffer->home = loop;
    else
        node_note_refusal(loop->node, "body", bytes);
    return buffer;
}

struct message *message_create(struct actor *self, uint32_t kind)
{
    const struct kind *found = kinds_find(&self->loop->node->kinds, kind);
    assert(found != NULL);
    return loop_message_create(self->loop, found);
}

void *message_body_alloc(struct actor *self, struct message *message, size_t bytes)
{
    struct buffer *buffer = buffer_create(self, bytes);
    if (buffer == NULL)
        return NULL;
    message_body_attach(message, buffer, bytes);
    return buffer->data;
}

void message_body_attach(struct message *message, struct buffer *buffer, size_t bytes)
{
    assert(message->body == NULL && bytes <= buffer->capacity);
    message->body = buffer;
    message->body_offset = 0;
    message->frame.body_bytes = bytes;
}

struct buffer *message_body_detach(struct message *message)
{
    struct buffer *buffer = message->body;
    message->body = NULL;
    message->frame.body_bytes = 0;
    return buffer;
}

struct message *message_copy(struct actor *self, const struct message *message)
{
    struct message *copy = message_create(self, message->frame.kind);
    if (copy == NULL)
        return NULL;
    memcpy(copy->head, message->head, message->frame.head_bytes);
    if (message->body != NULL) {
        copy->body = buffer_acquire(message->body);
        copy->body_offset = message->body_offset;
        copy->frame.body_bytes = message->frame.body_bytes;
    }
    return copy;
}

void message_release(struct actor *self, struct message *message)
{
    if (message != NULL)
        loop_bounce(self->loop, message, TR_EPEERDOWN);
}
