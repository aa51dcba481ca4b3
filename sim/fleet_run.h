/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One run of a cluster: a seed in, a verdict out. run.c chooses between this and one process.
 */
#ifndef SIM_FLEET_RUN_H
#define SIM_FLEET_RUN_H

#include <stdbool.h>

#include "sim/run.h"

/* Whether this seed is one of a cluster: a person sees it from its last digit (half of them). */
bool fleet_run_is_for(uint64_t seed);

/* die_at: its fail-points; NULL: those that the seed draws. */
void fleet_run(uint64_t seed, const struct sim_failpoints *die_at, FILE *verbose,
               struct sim_result *result);

#endif
