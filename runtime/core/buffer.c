/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/core/buffer.h"

#include <assert.h>

#include "runtime/core/actor_impl.h"
#include "runtime/core/loop.h"
#include "runtime/core/node_impl.h"
#include "runtime/core/outbox.h"

struct buffer *loop_buffer_create(struct loop *loop, size_t bytes)
{
    if (loop->simulated && loop->env->ops->fails(loop->env))
        return NULL;
    struct buffer *buffer = buffer_pool_take(&loop->buffers, bytes);
    if (buffer != NULL)
        buffer->home = loop;
    else
        log_refusal(loop->node, "body", bytes);
    return buffer;
}

struct buffer *buffer_create(struct actor *self, size_t bytes)
{
    return loop_buffer_create(self->loop, bytes);
}

struct buffer *buffer_acquire(struct buffer *buffer)
{
    /* Relaxed: the caller holds a reference already, so nothing is published by this. */
    atomic_fetch_add_explicit(&buffer->references, 1, memory_order_relaxed);
    return buffer;
}

/* True when it was the last. Release: our reads and writes of the data come before the buffer is
 * used again; acquire: so do those of all threads that released before. */
static bool release_is_last(struct buffer *buffer)
{
    unsigned before = atomic_fetch_sub_explicit(&buffer->references, 1, memory_order_acq_rel);
    assert(before > 0);
    return before == 1;
}

void loop_buffer_release(struct loop *loop, struct buffer *buffer)
{
    if (buffer == NULL || !release_is_last(buffer))
        return;
    if (buffer->home == NULL)
        buffer_destroy_any(buffer);
    else if (buffer->home == loop)
        buffer_pool_give(&loop->buffers, buffer);
    else
        loop_return_buffer(loop, buffer);
}

void buffer_release(struct actor *self, struct buffer *buffer)
{
    loop_buffer_release(self->loop, buffer);
}

void buffer_release_any(struct buffer *buffer)
{
    if (buffer == NULL || !release_is_last(buffer))
        return;
    if (buffer->home == NULL)
        buffer_destroy_any(buffer);
    else
        loop_return_to_home(buffer->home, NULL, buffer);
}
