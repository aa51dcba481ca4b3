/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/core/dump.h"

#include "runtime/core/actor_impl.h"
#include "runtime/core/dump_impl.h"
#include "runtime/core/log.h"
#include "runtime/core/node_impl.h"

static const char *const phases[] = { "starting", "running", "draining", "ending" };

static uint32_t count_calls(const struct actor *actor)
{
    uint32_t count = 0;
    for (const struct call *call = actor->calls; call != NULL; call = call->next)
        count++;
    return count;
}

static void dump_actor(struct loop *loop, const struct actor *actor)
{
    log_write(loop->node, LOG_LEVEL_INFO, "dump",
              "loop %u actor %s slot %u generation %u %s: mailbox %zu control, %zu data "
              "(%zu of %zu bytes), %u calls open, %llu received",
              loop->index, actor->name, address_index(actor->address), actor->address.generation,
              phases[actor->phase], actor->control.count, actor->data.count, actor->mailbox_bytes,
              actor->mailbox_bytes_max, count_calls(actor), (unsigned long long)actor->received);
}

void dump_account(struct node *node, struct account *account)
{
    pthread_mutex_lock(&account->mutex);
    size_t used_bytes = account->used_bytes;
    size_t peak_bytes = account->peak_bytes;
    uint64_t refusals = account->refusals;
    pthread_mutex_unlock(&account->mutex);
    log_write(node, LOG_LEVEL_INFO, "dump",
              "account %s: %zu of %zu bytes, %zu at its peak, %llu times refused", account->name,
              used_bytes, account->bound_bytes, peak_bytes, (unsigned long long)refusals);
}

static void dump_node(struct node *node)
{
    dump_account(node, &node->message_account);
    if (node->router != NULL)
        node->router->ops->dump(node->router);
}

void loop_dump(struct loop *loop)
{
    const struct slots *slots = &loop->inbox.slots;
    /* The request counts as served before the dump is written: one that comes meanwhile gets its
     * own. */
    loop->dumps = atomic_load_explicit(&loop->node->dumps, memory_order_relaxed);
    log_write(
        loop->node, LOG_LEVEL_INFO, "dump",
        "node %u loop %u: %llu sent, %llu delivered, %llu messages and %llu bodies "
        "taken and not back, %llu turns too long",
        loop->node->id, loop->index, (unsigned long long)counter_get(&loop->sent),
        (unsigned long long)counter_get(&loop->delivered),
        (unsigned long long)(counter_get(&loop->messages.taken) -
                             counter_get(&loop->messages.given)),
        (unsigned long long)(counter_get(&loop->buffers.taken) - counter_get(&loop->buffers.given)),
        (unsigned long long)counter_get(&loop->long_turns));
    if (loop->index == 0)
        dump_node(loop->node);
    for (uint32_t i = 0; i < slots->actors_capacity; i++)
        if (slots->actors[i] != NULL)
            dump_actor(loop, slots->actors[i]);
}

void dump_visit(struct actor *self, void (*visit)(void *arg, const struct dump_actor *actor),
                void *arg)
{
    const struct slots *slots = &self->loop->inbox.slots;
    for (uint32_t i = 0; i < slots->actors_capacity; i++) {
        const struct actor *actor = slots->actors[i];
        if (actor == NULL)
            continue;
        const struct dump_actor seen = {
            .name = actor->name,
            .control_messages = actor->control.count,
            .data_messages = actor->data.count,
            .data_bytes = actor->mailbox_bytes,
            .data_bytes_max = actor->mailbox_bytes_max,
            .calls = count_calls(actor),
            .received = actor->received,
        };
        visit(arg, &seen);
    }
}

void node_dump_request(struct node *node)
{
    /* The request is counted before the wakes: a loop that falls asleep in between reads the number
     * under the mutex that its wake takes. */
    atomic_fetch_add_explicit(&node->dumps, 1, memory_order_relaxed);
    for (uint32_t i = 0; i < node->num_loops; i++)
        loop_wake(&node->loops[i]);
}
