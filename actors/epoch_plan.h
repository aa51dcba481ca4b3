/*
 * Which seeds an epoch's batches take: the deal of one trainer.
 *
 * With T trainers and B seeds a trainer, step s of an epoch takes the seeds [s*B*T, (s+1)*B*T) of
 * the epoch's order, and the trainers take equal shares of them in the order of their ranks; the
 * last step's seeds are spread evenly too, or dropped. The order is the node set's own
 * (by original ID), permuted with the key (seed, shuffle, epoch) when shuffling: the same for
 * all ranks and on every placement.
 *
 * Thread rules: pure, but for the cached order, which its owner uses alone.
 */
#ifndef ACTORS_EPOCH_PLAN_H
#define ACTORS_EPOCH_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "actors/vec.h"

struct epoch_plan {
    uint64_t num_seeds; /* below 2^32 */
    uint64_t seed;
    uint32_t batch_size;
    uint32_t rank;
    uint32_t world;
    bool shuffle;
    bool drop_last;
    /* The cached order of one epoch. */
    bool ordered;
    uint32_t epoch;
    struct vec order; /* uint32_t[num_seeds] */
};

/* Steps of an epoch. */
uint64_t epoch_plan_steps(const struct epoch_plan *plan);

/* The seeds of this rank in a step: [*begin, *begin + *count) of the epoch's order, and how many
 * all ranks have together. */
void epoch_plan_step(const struct epoch_plan *plan, uint64_t step, uint64_t *begin,
                     uint32_t *count, uint32_t *step_seeds);

/* Positions of the epoch's order [num_seeds], or *order NULL: their own order. TR_ENOMEM. */
int epoch_plan_order(struct epoch_plan *plan, uint32_t epoch, const uint32_t **order);

void epoch_plan_fini(struct epoch_plan *plan);

#endif
