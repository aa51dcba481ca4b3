/* SPDX-License-Identifier: Apache-2.0 */
#include "actors/data/epoch_plan.h"

#include <inttypes.h>

#include "graph/key.h"
#include "graph/permute.h"
#include "schemas/messages.h"

static uint64_t all_seeds(const struct epoch_plan *plan)
{
    return plan->all_seeds != 0 ? plan->all_seeds : plan->num_seeds;
}

/* Then no rank runs out of seeds before the last step, and none has any left after it. */
static bool is_even(const struct epoch_plan *plan)
{
    uint64_t share = all_seeds(plan) / plan->world;
    bool rest = all_seeds(plan) % plan->world != 0;
    return plan->num_seeds == share || (rest && plan->num_seeds == share + 1);
}

int epoch_plan_init(struct epoch_plan *plan, const struct msg_loader_open *open,
                    struct error *error)
{
    *plan = (struct epoch_plan){
        .num_seeds = open->num_seeds,
        .seed = open->seed,
        .batch_size = open->batch_size,
        .rank = open->rank,
        .world = open->world,
        .shuffle = (open->flags & MSG_LOADER_SHUFFLE) != 0,
        .drop_last = (open->flags & MSG_LOADER_DROP_LAST) != 0,
        .all_seeds = open->all_seeds,
    };
    /* The world is checked first: the checks below divide by it. */
    if (open->batch_size == 0 || open->world == 0 || open->rank >= open->world)
        return error_set(
            error, TR_EINVAL,
            "loader: batch size %" PRIu32 ", rank %" PRIu32 " of %" PRIu32
            " trainers; give a batch size of 1 or more, and a rank below the number of trainers",
            open->batch_size, open->rank, open->world);
    if (open->num_seeds > BIJECTION_MAX || open->all_seeds > BIJECTION_MAX)
        return error_set(error, TR_ETOOBIG,
                         "loader: %" PRIu64 " seeds; a loader takes at most 2^40", all_seeds(plan));
    if (all_seeds(plan) > UINT32_MAX && (uint64_t)plan->batch_size * plan->world > UINT32_MAX)
        return error_set(error, TR_ETOOBIG,
                         "loader: batches of %" PRIu32 " seeds for each of %" PRIu32
                         " trainers have 2^32 seeds or more together; give a smaller batch size",
                         plan->batch_size, plan->world);
    if (open->all_seeds != 0 && !is_even(plan))
        return error_set(error, TR_EINVAL,
                         "loader: one trainer has %" PRIu64 " of the %" PRIu64 " seeds of %" PRIu32
                         " trainers; their numbers may differ by 1 at most",
                         open->num_seeds, open->all_seeds, open->world);
    return 0;
}

uint64_t epoch_plan_steps(const struct epoch_plan *plan)
{
    uint64_t step = (uint64_t)plan->batch_size * plan->world;
    if (plan->drop_last)
        return all_seeds(plan) / step;
    return all_seeds(plan) / step + (all_seeds(plan) % step != 0);
}

void epoch_plan_step(const struct epoch_plan *plan, uint64_t step, uint64_t *begin, uint32_t *count,
                     uint32_t *step_seeds)
{
    uint64_t size = (uint64_t)plan->batch_size * plan->world;
    uint64_t first = step * size;
    uint64_t seeds = all_seeds(plan) - first;
    seeds = seeds < size ? seeds : size;
    *step_seeds = (uint32_t)seeds;
    if (plan->all_seeds != 0) {
        *begin = step * plan->batch_size;
        uint64_t left = plan->num_seeds - *begin;
        *count = left < plan->batch_size ? (uint32_t)left : plan->batch_size;
        return;
    }
    uint64_t from = seeds * plan->rank / plan->world;
    uint64_t to = seeds * (plan->rank + UINT64_C(1)) / plan->world;
    *begin = first + from;
    *count = (uint32_t)(to - from);
}

/* Small enough for a list in one turn, a millisecond of it; too small for few rounds to mix. */
static bool is_listed(uint64_t num_seeds)
{
    return num_seeds < EPOCH_LISTED_MAX;
}

int epoch_order_make(struct epoch_order *order, const struct epoch_plan *plan, uint32_t epoch)
{
    const struct draw_key key = { .seed = plan->seed,
                                  .purpose = KEY_SHUFFLE,
                                  .epoch = epoch,
                                  .rank = plan->all_seeds != 0 ? plan->rank : 0 };
    /* The order is not ready until all of it is made: without memory neither the old one nor
     * this one is there. */
    order->ready = false;
    order->epoch = epoch;
    order->listed = is_listed(plan->num_seeds);
    if (order->listed) {
        int rv = vec_reserve(&order->positions, plan->num_seeds, sizeof(uint32_t), 0);
        if (rv != 0)
            return rv;
        uint32_t *positions = order->positions.data;
        for (uint32_t i = 0; i < plan->num_seeds; i++)
            positions[i] = i;
        permute_u32(positions, plan->num_seeds, key_base(&key));
    } else {
        bijection_init(&order->bijection, plan->num_seeds, key_base(&key));
    }
    order->ready = true;
    return 0;
}

uint64_t epoch_order_at(const struct epoch_order *order, uint64_t place)
{
    return order->listed ? ((const uint32_t *)order->positions.data)[place]
                         : bijection_map(&order->bijection, place);
}

void epoch_order_fini(struct epoch_order *order)
{
    vec_fini(&order->positions);
    order->ready = false;
}

int epoch_orders_find(struct epoch_orders *orders, const struct epoch_plan *plan, uint32_t epoch,
                      const struct epoch_order **out)
{
    struct epoch_order *order = &orders->orders[epoch % EPOCH_ORDERS];
    *out = NULL;
    if (!plan->shuffle)
        return 0;
    if (!order->ready || order->epoch != epoch) {
        int rv = epoch_order_make(order, plan, epoch);
        if (rv != 0)
            return rv;
    }
    *out = order;
    return 0;
}

void epoch_orders_fini(struct epoch_orders *orders)
{
    for (uint32_t i = 0; i < EPOCH_ORDERS; i++)
        epoch_order_fini(&orders->orders[i]);
}
