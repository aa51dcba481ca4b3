/*
 * What stands for a training thread in a simulated cluster: an actor that does, message by message,
 * what a training loop does through a group and a loader (troupe/group.h, troupe/loader.h).
 *
 * It is restored, takes batches in order, learns, reduces, applies, saves now and then, and starts
 * again from the last checkpoint when it is told that its group was rolled back. Batches, sums,
 * losses and weights are compared with the undisturbed run (lessons.h) at every step. What a user
 * would see as passing is asked for again; anything else is remembered as wrong.
 */
#ifndef SIM_TRAINEE_H
#define SIM_TRAINEE_H

#include "runtime/actor.h"

/* arg: struct fleet_seat. */
extern const struct actor_ops trainee_ops;

#endif
