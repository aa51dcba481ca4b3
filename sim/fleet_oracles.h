/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The promises that every run of a cluster keeps, whatever its faults.
 *
 * Batches, sums, losses and weights are compared as they come (sim_trainer.c), order and answers
 * across links too (link_checker.c). Here is the rest; the first thing that is wrong stays in
 * fleet->error.
 */
#ifndef SIM_FLEET_ORACLES_H
#define SIM_FLEET_ORACLES_H

#include "sim/fleet.h"

/* Now and then: links and accounts are within their bounds. */
void fleet_oracles_look(struct fleet *fleet);

/* A process ended, in whatever way, and is not taken down yet: nothing of it is left. Messages that
 * never reached others are dropped by node_destroy, which asserts that then its pools are back to
 * zero. */
void fleet_oracles_buried(struct fleet *fleet, struct fleet_process *process);

/* The run ended with rc (0: the launcher has nothing left to do). */
void fleet_oracles_ended(struct fleet *fleet, int rc);

#endif
