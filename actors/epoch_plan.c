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

int epoch_plan_order(struct epoch_plan *plan, uint32_t epoch, const uint32_t **order)
{
    *order = NULL;
    if (!plan->shuffle)
        return 0;
    uint32_t *positions = plan->order.data;
    if (!plan->ordered || plan->epoch != epoch) {
        int rv = vec_reserve(&plan->order, plan->num_seeds, sizeof *positions, 0);
        if (rv != 0)
            return rv;
        positions = plan->order.data;
        for (uint64_t i = 0; i < plan->num_seeds; i++)
            positions[i] = (uint32_t)i;
        struct draw_key key = { .seed = plan->seed, .purpose = KEY_SHUFFLE, .epoch = epoch };
        permute_u32(positions, plan->num_seeds, key_base(&key));
        plan->ordered = true;
        plan->epoch = epoch;
    }
    *order = positions;
    return 0;
}

void epoch_plan_fini(struct epoch_plan *plan)
{
    vec_fini(&plan->order);
    plan->ordered = false;
}
