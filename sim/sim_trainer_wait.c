/* SPDX-License-Identifier: Apache-2.0 */
/* The waits of a simulated trainer beside those for answers: for time, and for actors to be
 * registered. */
#include "sim/sim_trainer_state.h"

#define FIND_NS ENV_SECOND_NS

static void sim_trainer_wake(struct actor *self, void *arg)
{
    struct sim_trainer *t = arg;
    (void)self;
    t->go(t);
}

void sim_trainer_go_later(struct sim_trainer *t, uint64_t after_ns)
{
    timer_start(t->self, &t->timer, actor_now_ns(t->self) + after_ns, sim_trainer_wake, t);
}

void sim_trainer_find(struct sim_trainer *t, const char *name, directory_found *found)
{
    if (directory_wait(t->self, name, actor_now_ns(t->self) + FIND_NS, found, t) != 0)
        sim_trainer_go_later(t, SIM_TRAINER_AGAIN_NS);
}
