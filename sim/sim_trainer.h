/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A trainer of a simulated cluster: the loop of `troupe train` (model/training_loop.h), performed
 * by an actor with messages in place of blocking calls (troupe/group.h, troupe/loader.h), so that
 * what comes after each operation and each failure is what the command does.
 *
 * Batches, sums, losses and weights are compared with the undisturbed run (expected_run.h) at every
 * step. Rank 0 keeps a run: a record of its epochs, the best model and the final one, on the disk
 * of its process, which may be full or read-only for a while.
 */
#ifndef SIM_SIM_TRAINER_H
#define SIM_SIM_TRAINER_H

#include "runtime/core/actor.h"

/* arg: struct fleet_seat. */
extern const struct actor_ops sim_trainer_ops;

#endif
