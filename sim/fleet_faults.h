/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The disturbances of a simulated cluster from outside: the faults of its plan, each when the job
 * has got so far, and the ends of those that last.
 *
 * Between runs of the simulator alone, as a kill is.
 */
#ifndef SIM_FLEET_FAULTS_H
#define SIM_FLEET_FAULTS_H

#include "sim/fleet.h"

/* Does what is due now. */
void fleet_faults_tend(struct fleet *fleet);

/* When there is something to do next; UINT64_MAX: not before the job gets on. */
uint64_t fleet_faults_next_ns(const struct fleet *fleet);

/* The job got to where the next fault waits for it. */
bool fleet_faults_are_due(const struct fleet *fleet);

/* Ends all that is under way. */
void fleet_faults_end(struct fleet *fleet);

#endif
