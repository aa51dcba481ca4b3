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

struct probe_args {
    struct world *world;
    uint32_t number;
    struct address peers[PROBES_MAX]; /* of all probes: set before the node starts */
};

/* arg: struct probe_args. */
extern const struct actor_ops probe_ops;

/* Adds the kinds that they send. */
int probe_register(struct kinds *kinds, struct error *error);

#endif
