/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checkers watch what links promise between the processes of a simulated cluster: one in each
 * process, and each has to do with all others.
 *
 * A checker numbers the messages that it sends another, in each lane, and finds those of others in
 * order and without repeats; in the control lane without gaps (the data lane drops what exceeds its
 * bound). It calls others, which send the body back, and cancels some calls; it watches others die.
 * Each call ends once, each watch with one DOWN.
 */
#ifndef SIM_LINK_CHECKER_H
#define SIM_LINK_CHECKER_H

#include "runtime/core/actor.h"
#include "runtime/core/kind.h"

/* arg: struct fleet_seat. */
extern const struct actor_ops link_checker_ops;

/* Adds the kinds that they send. */
int link_checker_register(struct kinds *kinds, struct error *error);

#endif
