/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The promises that every run keeps, whatever its faults.
 *
 * Each oracle that finds something wrong says so in world->error (the first one stays). Batches
 * are compared as they come (client.c), order per sender and lane as numbers come
 * (runtime_checker.c).
 */
#ifndef SIM_ORACLES_H
#define SIM_ORACLES_H

#include "sim/world.h"

/* A job that takes longer, pauses included, does not end: virtual ns. */
#define ORACLES_LIMIT_NS (2000 * ENV_SECOND_NS)
/* An orderly stop takes no longer; above the deadline that it is given. */
#define ORACLES_STOP_NS (60 * ENV_SECOND_NS)

/* At every step: accounts are within their bounds. */
void oracles_step(struct world *world);

/* env_sim_run ended with rc, the trainers finished or not. */
void oracles_ended(struct world *world, int rc);

/* The node was stopped, orderly, and everybody was notified; not destroyed yet. */
void oracles_stopped(struct world *world);

/* Node, proxy and loaders are gone, kept batches released, the store closed. */
void oracles_released(struct world *world);

#endif
