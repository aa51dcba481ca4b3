/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Between loops: what waits in outboxes for the end of a turn, and what inboxes are given.
 *
 * Invariants:
 *   - A loop touches another one only here and under that one's inbox mutex.
 *   - A thread that puts something in that needs a turn looks at `sleeping` under the same mutex
 *     and clears it, so exactly one of those that find a loop asleep wakes it. Memory that comes
 *     home wakes no loop: the next turn, whatever it is for, finds it.
 *   - The wake itself is made after the mutex is given back. The loop may have run for another
 *     reason by then, and have ended: `wakers`, counted under the mutex, keeps its driver.
 */
#include "runtime/core/inbox.h"

#include <sched.h>

#include "runtime/core/loop.h"
#include "runtime/core/node_impl.h"
#include "runtime/core/outbox.h"

/* Under the inbox's mutex. True: the caller calls make_wake once it gave the mutex back. */
static bool claim_wake(struct inbox *inbox)
{
    if (!inbox->sleeping)
        return false;
    inbox->sleeping = false;
    /* The wake is counted under the mutex: the loop may take what was put in, and end, before the
     * wake is made, and loop_await_wakers has to know of it by then. */
    atomic_fetch_add_explicit(&inbox->wakers, 1, memory_order_relaxed);
    return true;
}

static void make_wake(struct loop *loop)
{
    /* The wake is made outside of the mutex: the loop would wake up only to wait for it. */
    loop->env->ops->loop_wake(loop->env, loop->driver);
    /* This is the last touch of the loop, which loop_await_wakers lets go. */
    atomic_fetch_sub_explicit(&loop->inbox.wakers, 1, memory_order_release);
}

void loop_await_wakers(struct loop *loop)
{
    while (atomic_load_explicit(&loop->inbox.wakers, memory_order_acquire) > 0)
        sched_yield(); /* each is one write to an eventfd that never blocks */
}

static void flush(struct loop *loop, uint32_t target)
{
    struct outbox *outbox = &loop->outboxes[target];
    struct loop *to = &loop->node->loops[target];
    struct inbox *inbox = &to->inbox;
    pthread_mutex_lock(&inbox->mutex);
    /* This is asked before the splice, which empties the outbox. */
    bool wake = outbox->messages.first != NULL && claim_wake(inbox);
    messages_splice(&inbox->messages, &outbox->messages);
    messages_splice(&inbox->returned, &outbox->returned);
    if (outbox->buffers != NULL) {
        outbox->last_buffer->next = inbox->buffers;
        inbox->buffers = outbox->buffers;
        outbox->buffers = outbox->last_buffer = NULL;
    }
    atomic_store_explicit(&inbox->filled, true, memory_order_relaxed);
    pthread_mutex_unlock(&inbox->mutex);
    if (wake) {
        counter_add(&loop->wakes, 1);
        make_wake(to);
    }
}

void loop_flush_outboxes(struct loop *loop)
{
    for (uint32_t word = 0; word < 4; word++)
        while (loop->dirty[word] != 0) {
            uint32_t bit = (uint32_t)__builtin_ctzll(loop->dirty[word]);
            loop->dirty[word] &= loop->dirty[word] - 1;
            flush(loop, word * 64 + bit);
        }
}

void loop_wake(struct loop *loop)
{
    pthread_mutex_lock(&loop->inbox.mutex);
    bool wake = claim_wake(&loop->inbox);
    pthread_mutex_unlock(&loop->inbox.mutex);
    if (wake)
        make_wake(loop);
}

void loop_post(struct loop *loop, struct post *post)
{
    struct inbox *inbox = &loop->inbox;
    post->next = NULL;
    pthread_mutex_lock(&inbox->mutex);
    /* The post goes behind those that are there: posters count on their order (node_stop,
     * node_spawn_root). */
    if (inbox->posts == NULL)
        inbox->posts = post;
    else
        inbox->last_post->next = post;
    inbox->last_post = post;
    bool wake = claim_wake(inbox);
    atomic_store_explicit(&inbox->filled, true, memory_order_relaxed);
    pthread_mutex_unlock(&inbox->mutex);
    if (wake)
        make_wake(loop);
}

void loop_return_to_home(struct loop *home, struct message *message, struct buffer *buffer)
{
    struct inbox *inbox = &home->inbox;
    pthread_mutex_lock(&inbox->mutex);
    if (message != NULL)
        messages_push(&inbox->returned, message);
    if (buffer != NULL) {
        buffer->next = inbox->buffers;
        inbox->buffers = buffer;
    }
    atomic_store_explicit(&inbox->filled, true, memory_order_relaxed);
    pthread_mutex_unlock(&inbox->mutex);
}
