/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A trainer in the simulator: it does what a training thread does through a loader, as a state
 * machine on a loop: opens it, takes batches in order, holds some, cancels, begins other epochs,
 * closes. Every batch is compared with the reference as it comes.
 *
 * A failure that a user would see as passing (memory short, an account full, a peer down) is
 * asked for again, as a user would; any other is remembered as wrong.
 */
#ifndef SIM_SIM_CLIENT_H
#define SIM_SIM_CLIENT_H

#include "sim/world.h"

struct client_args {
    struct world *world;
    uint32_t number;
};

/* arg: struct client_args. */
extern const struct actor_ops client_ops;

#endif
