/* SPDX-License-Identifier: Apache-2.0 */
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
 * A set below 2^16 seeds is shuffled as a list. The order of a larger one is a keyed bijection
 * (graph/bijection.h), which is asked for one seed at a time: no order of it is ever in memory, so
 * an epoch of 2^40 seeds begins at once.
 *
 * Thread rules: plans are pure; an order is used by one thread at a time.
 */
#ifndef ACTORS_DATA_EPOCH_PLAN_H
#define ACTORS_DATA_EPOCH_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "graph/bijection.h"
#include "graph/vec.h"
#include "runtime/base/error.h"

/* From so many seeds on an order is a bijection. The number is part of every result: never change
 * it. */
#define EPOCH_LISTED_MAX (UINT64_C(1) << 16)

struct epoch_plan {
    uint64_t num_seeds; /* at most BIJECTION_MAX */
    uint64_t seed;
    uint32_t batch_size;
    uint32_t rank;
    uint32_t world;
    bool shuffle;
    bool drop_last;
    uint64_t all_seeds; /* 0: num_seeds; else they were dealt, and num_seeds are this rank's */
};

/* The order of one epoch of a plan that shuffles. All zeros is one that was not made. */
struct epoch_order {
    bool ready;
    bool listed;
    uint32_t epoch;
    struct vec positions;       /* uint32_t[num_seeds], where it is listed */
    struct bijection bijection; /* where it is not */
};

/* Batches of two epochs are under way at the end of an epoch. */
#define EPOCH_ORDERS 2u

/* The orders that are used now: of epoch e in orders[e % EPOCH_ORDERS]. All zeros has none yet. */
struct epoch_orders {
    struct epoch_order orders[EPOCH_ORDERS];
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

/* Makes the order of an epoch, in a millisecond. TR_ENOMEM. */
int epoch_order_make(struct epoch_order *order, const struct epoch_plan *plan, uint32_t epoch);

/* Which seed stands at a place of the order: about 100 ns where it is not listed. */
uint64_t epoch_order_at(const struct epoch_order *order, uint64_t place);

void epoch_order_fini(struct epoch_order *order);

/* The order of an epoch, made where it is not there; NULL: the plan does not shuffle. It stays
 * until another epoch takes its place. TR_ENOMEM. */
int epoch_orders_find(struct epoch_orders *orders, const struct epoch_plan *plan, uint32_t epoch,
                      const struct epoch_order **out);

void epoch_orders_fini(struct epoch_orders *orders);

#endif
