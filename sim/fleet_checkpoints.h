/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The promises about checkpoints, held against what is on the disks of a simulated cluster.
 *
 * Where hosts have a disk each, a part counts when it is whole on the host of its rank or on the
 * next one, which keeps copies for it; where all see one folder, that is both. The first thing that
 * is wrong stays in fleet->error.
 */
#ifndef SIM_FLEET_CHECKPOINTS_H
#define SIM_FLEET_CHECKPOINTS_H

#include "sim/fleet.h"

/* An era has begun at that step: there is no newer checkpoint that is whole and counts. */
void fleet_checkpoints_restored(struct fleet *fleet, uint64_t step);

/* The job is over: what was committed is whole on both hosts of each part, and what failed left
 * nothing behind. */
void fleet_checkpoints_ended(struct fleet *fleet);

#endif
