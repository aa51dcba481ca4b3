/*
 * Which seeds an epoch's batches take: the deal of one trainer.
 *
 * With T trainers and B seeds a trainer, step s of an epoch takes the seeds [s*B*T, (s+1)*B*T) of
 * the epoch's order, and the trainers take equal shares of them in the order of their ranks; the
 * last step's seeds are spread evenly too, or dropped. The order is the node set's own
 * (by original ID), permuted with the key (seed, shuffle, epoch) when shuffling: the same for
 * all ranks and on every placement.
 *
 * Or the seeds were dealt before, once: each trainer has a group of its own, whose sizes differ by
 * at most 1, and takes B of them a step in the order of the key (seed, shuffle, epoch, rank).
 * There are as many steps as above, and the last one is as even; a trainer may have no seed in it.
 *
 * The order of a large set takes long to make, so it is made in pieces, which a thread of the crew
 * may do.
 *
 * Thread rules: plans are pure; an order is used by one thread at a time.
 */
#ifndef ACTORS_DATA_EPOCH_PLAN_H
#define ACTORS_DATA_EPOCH_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "graph/vec.h"
#include "runtime/base/error.h"

struct epoch_plan {
    uint64_t num_seeds; /* below 2^32 */
    uint64_t seed;
    uint32_t batch_size;
    uint32_t rank;
    uint32_t world;
    bool shuffle;
    bool drop_last;
    uint64_t all_seeds; /* 0: num_seeds; else they were dealt, and num_seeds are this rank's */
};

/* The order of one epoch of a plan that shuffles. All zeros is one that was not begun. */
struct epoch_order {
    bool ready;
    uint32_t epoch;
    uint64_t key;
    uint64_t draw;
    size_t filled, left;
    struct vec positions; /* uint32_t[num_seeds] */
};

struct msg_loader_open;

/* The plan of a loader. TR_EINVAL, TR_ETOOBIG: it has none that all ranks can follow. */
int epoch_plan_init(struct epoch_plan *plan, const struct msg_loader_open *open,
                    struct error *error);

/* Steps of an epoch. */
uint64_t epoch_plan_steps(const struct epoch_plan *plan);

/* The seeds of this rank in a step: [*begin, *begin + *count) of the epoch's order (of its own
 * where they were dealt), and how many all ranks have together. */
void epoch_plan_step(const struct epoch_plan *plan, uint64_t step, uint64_t *begin, uint32_t *count,
                     uint32_t *step_seeds);

/* Begins to make the order of an epoch. TR_ENOMEM. */
int epoch_order_begin(struct epoch_order *order, const struct epoch_plan *plan, uint32_t epoch);

/* A piece of at most `most` seeds, of about 10 ns each in the cache and 100 ns out of it: whether
 * there is more to do. order->ready when there is not. */
bool epoch_order_work(struct epoch_order *order, const struct epoch_plan *plan, size_t most);

void epoch_order_fini(struct epoch_order *order);

#endif
