/* SPDX-License-Identifier: Apache-2.0 */
/* Two nodes of the simulator, 0 and 1, that know all kinds of messages, and a link between them. */
#ifndef TESTS_ACTORS_LINKED_PAIR_H
#define TESTS_ACTORS_LINKED_PAIR_H

#include "runtime/core/env.h"
#include "runtime/core/node.h"
#include "runtime/sim/env_sim.h"
#include "schemas/messages.h"

/* It stays where it was opened: the nodes point into it. */
struct linked_pair {
    struct env *env;
    struct kinds kinds;
    struct node *nodes[2];
};

/* Both nodes have begun; the link comes up once they run. */
void linked_pair_open(struct linked_pair *pair, uint64_t seed);

/* Runs both for so long. */
void linked_pair_run(struct linked_pair *pair, uint64_t ns);

/* Stops both, and checks that no call is open. */
void linked_pair_close(struct linked_pair *pair);

#endif
