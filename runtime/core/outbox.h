/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An outbox: what waits for the end of the turn to move to one other loop (loop_flush_outboxes).
 *
 * Each message to another loop passes one, and another one on its way home, so this is inlined
 * where it is used. Invariant: a bit of loop->dirty is set exactly while that outbox holds
 * something.
 *
 * Thread rules: the giving loop's own.
 */
#ifndef RUNTIME_CORE_OUTBOX_H
#define RUNTIME_CORE_OUTBOX_H

#include <assert.h>

#include "runtime/core/buffer.h"
#include "runtime/core/loop.h"

struct outbox {
    struct messages messages;
    struct messages returned;
    struct buffer *buffers, *last_buffer;
};

static inline void outbox_mark(struct loop *loop, uint32_t target)
{
    loop->dirty[target / 64] |= UINT64_C(1) << (target % 64);
}

/* To the inbox of the target, of the same node, at the end of the turn. */
static inline void loop_hand_over(struct loop *loop, uint32_t target, struct message *message)
{
    messages_push(&loop->outboxes[target].messages, message);
    outbox_mark(loop, target);
}

/* Home to the loop that made it, at the end of the turn. */
static inline void loop_return_message(struct loop *loop, struct message *message)
{
    uint32_t home = message->home->index;
    assert(message->home->node == loop->node);
    messages_push(&loop->outboxes[home].returned, message);
    outbox_mark(loop, home);
}

static inline void loop_return_buffer(struct loop *loop, struct buffer *buffer)
{
    uint32_t home = buffer->home->index;
    struct outbox *outbox = &loop->outboxes[home];
    assert(buffer->home->node == loop->node);
    buffer->next = outbox->buffers;
    if (outbox->buffers == NULL)
        outbox->last_buffer = buffer;
    outbox->buffers = buffer;
    outbox_mark(loop, home);
}

#endif
