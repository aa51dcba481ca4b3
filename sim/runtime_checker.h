/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Probes watch what the runtime promises while a job runs and faults come.
 *
 * They number what they send each other and find it in order per (sender, lane); they call and
 * monitor actors of the job that live, die and start again, cancel some, and count: one
 * completion for each call, one DOWN for each monitor.
 */
#ifndef SIM_RUNTIME_CHECKER_H
#define SIM_RUNTIME_CHECKER_H

#include "sim/world.h"

#define PROBES_MAX 4u

struct runtime_checker_args {
    struct world *world;
    uint32_t number;
    struct address peers[PROBES_MAX]; /* of all checkers: set before the node starts */
};

/* arg: struct runtime_checker_args. */
extern const struct actor_ops runtime_checker_ops;

/* Adds the kinds that they send. */
int runtime_checker_register(struct kinds *kinds, struct error *error);

#endif
