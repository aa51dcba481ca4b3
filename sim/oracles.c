/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/oracles.h"

#include <inttypes.h>

void oracles_step(struct world *world)
{
    size_t batches = batch_store_used(world->store);
    if (batches > world->scenario.batch_bytes_max)
        world_fail(world, "account \"batches\" holds %zu of %zu bytes", batches,
                   world->scenario.batch_bytes_max);
    size_t bound = node_message_account(world->node)->bound_bytes;
    size_t messages = account_used(node_message_account(world->node));
    if (messages > bound)
        world_fail(world, "the account of messages holds %zu of %zu bytes", messages, bound);
}

void oracles_ended(struct world *world, int rc)
{
    int failure = node_failure(world->node);
    if (failure != 0)
        world_fail(world, "the node failed: %s", tr_strerror(failure));
    else if (rc == TR_ETIMEDOUT)
        world_fail(
            world, "%" PRIu32 " of %" PRIu32 " trainers finished in %" PRIu64 " virtual seconds",
            world->finished, world->scenario.clients, (uint64_t)(ORACLES_LIMIT_NS / ENV_SECOND_NS));
    else if (rc == TR_EEND)
        world_fail(world,
                   "deadlock: %" PRIu32 " of %" PRIu32 " trainers finished, and nothing "
                   "can happen any more",
                   world->finished, world->scenario.clients);
    else if (rc == TR_ERANGE)
        world_fail(world,
                   "livelock: %" PRIu64 " steps, %" PRIu32 " of %" PRIu32 " trainers finished",
                   env_sim_steps(world->env), world->finished, world->scenario.clients);
    else if (rc != 0)
        world_fail(world, "the run ended with %s", tr_strerror(rc));
}

void oracles_stopped(struct world *world)
{
    struct node_counters counters;
    const struct tally *tally = &world->tally;
    /* This is asked first: it also brings home what is on its way. */
    bool stopped = node_is_stopped(world->node);
    node_counters(world->node, &counters);
    if (!stopped)
        world_fail(world, "the node did not stop: %" PRIu64 " actors live", counters.actors_live);
    if (counters.actors_live != 0 || counters.messages_live != 0 || counters.buffers_live != 0 ||
        counters.calls_open != 0)
        world_fail(world,
                   "left behind: %" PRIu64 " actors, %" PRIu64 " messages, %" PRIu64
                   " buffers, %" PRIu64 " calls",
                   counters.actors_live, counters.messages_live, counters.buffers_live,
                   counters.calls_open);
    if (tally->calls_opened != tally->calls_completed)
        world_fail(world, "%" PRIu64 " calls, %" PRIu64 " completions", tally->calls_opened,
                   tally->calls_completed);
    if (tally->monitors != tally->downs)
        world_fail(world, "%" PRIu64 " monitors, %" PRIu64 " DOWNs", tally->monitors, tally->downs);
}

void oracles_released(struct world *world)
{
    if (batch_store_used(world->store) != 0)
        world_fail(world, "%zu bytes of batches are left", batch_store_used(world->store));
}
