#include "actors/epoch_plan.h"

#include "graph/key.h"
#include "graph/permute.h"

uint64_t epoch_plan_steps(const struct epoch_plan *plan)
{
    uint64_t step = (uint64_t)plan->batch_size * plan->world;
    if (plan->drop_last)
        return plan->num_seeds / step;
    return plan->num_seeds / step + (plan->num_seeds % step != 0);
}

void epoch_plan_step(const struct epoch_plan *plan, uint64_t step, uint64_t *begin,
                     uint32_t *count, uint32_t *step_seeds)
{
    uint64_t size = (uint64_t)plan->batch_size * plan->world;
    uint64_t first = step * size;
    uint64_t seeds = plan->num_seeds - first;
    seeds = seeds < size ? seeds : size;
    uint64_t from = seeds * plan->rank / plan->world;
    uint64_t to = seeds * (plan->rank + UINT64_C(1)) / plan->world;
    *begin = first + from;
    *count = (uint32_t)(to - from);
    *step_seeds = (uint32_t)seeds;
}

int epoch_order_begin(struct epoch_order *order, const struct epoch_plan *plan, uint32_t epoch)
{
    const struct draw_key key = { .seed = plan->seed, .purpose = KEY_SHUFFLE, .epoch = epoch };
    order->ready = false;
    order->epoch = epoch;
    order->key = key_base(&key);
    order->draw = 0;
    order->filled = 0;
    order->left = plan->num_seeds;
    return vec_reserve(&order->positions, plan->num_seeds, sizeof(uint32_t), 0);
}

bool epoch_order_work(struct epoch_order *order, const struct epoch_plan *plan, size_t most)
{
    uint32_t *positions = order->positions.data;
    size_t end = plan->num_seeds - order->filled;
    end = order->filled + (end < most ? end : most);
    most -= end - order->filled;
    for (; order->filled < end; order->filled++)
        positions[order->filled] = (uint32_t)order->filled;
    if (most > 0)
        order->ready = !permute_u32_piece(positions, &order->left, &order->draw, order->key, most);
    return !order->ready;
}

void epoch_order_fini(struct epoch_order *order)
{
    vec_fini(&order->positions);
    order->ready = false;
}
