/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The source of faults: an actor that, at moments chosen from the seed, kills actors of the job,
 * lets allocations fail for a while, or lets loops stand still.
 *
 * Its deeds are drawn from the scenario's own stream. It ends nothing for good: the job has to
 * go on after each fault, and be finished in the end.
 */
#ifndef SIM_FAULTS_H
#define SIM_FAULTS_H

#include "sim/world.h"

/* arg: struct world. */
extern const struct actor_ops faults_ops;

#endif
