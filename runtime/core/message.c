/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/core/message.h"

#include <assert.h>
#include <string.h>

#include "runtime/core/actor_impl.h"
#include "runtime/core/loop.h"
#include "runtime/core/node_impl.h"

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
