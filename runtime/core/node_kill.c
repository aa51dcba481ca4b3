/* SPDX-License-Identifier: Apache-2.0 */
/* How a node dies in the simulator: every actor at once, and nobody is notified. */
#include <assert.h>

#include "runtime/core/actor_impl.h"
#include "runtime/core/node_impl.h"

static void each_actor(struct node *node, void (*visit)(struct actor *actor))
{
    for (uint32_t i = 0; i < node->num_loops; i++) {
        struct slots *slots = &node->loops[i].inbox.slots;
        for (uint32_t j = 0; j < slots->actors_capacity; j++)
            if (slots->actors[j] != NULL)
                visit(slots->actors[j]);
    }
}

/* One that is exiting receives nothing and does not start. */
static void mark(struct actor *actor)
{
    actor->killed = true;
    actor_exit(actor, TR_ECANCELED);
}

static void settle(struct actor *actor)
{
    actor_settle(actor);
}

void node_kill(struct node *node)
{
    assert(node->env->simulated && !node->dead);
    /* The mark comes first: from here on nothing is sent, so nothing of the ends below is seen
     * outside, and no actor is made. */
    node->dead = true;
    pthread_mutex_lock(&node->mutex);
    node->stopping = true;
    pthread_mutex_unlock(&node->mutex);
    /* All are marked before anything moves: an actor that is exiting neither starts nor
     * receives. */
    each_actor(node, mark);
    /* Some are still on the way to their loop, and are marked when they have arrived. */
    for (uint32_t i = 0; i < node->num_loops; i++)
        loop_drain(&node->loops[i]);
    each_actor(node, mark);
    each_actor(node, settle);
}

bool node_kill_turn(struct node *node)
{
    for (uint32_t i = 0; i < node->num_loops; i++)
        loop_turn(&node->loops[i]);
    return !node_is_stopped(node);
}
