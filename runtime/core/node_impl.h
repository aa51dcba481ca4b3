/* SPDX-License-Identifier: Apache-2.0 */
/* A node as the runtime's own files see it. */
#ifndef RUNTIME_CORE_NODE_IMPL_H
#define RUNTIME_CORE_NODE_IMPL_H

#include <pthread.h>
#include <stdatomic.h>

#include "runtime/core/loop.h"
#include "runtime/core/node.h"
#include "runtime/core/router.h"

struct node {
    struct env *env;
    uint32_t id, incarnation, num_loops;
    bool codec;
    struct kinds kinds;
    struct log_sink log;
    struct failpoints *failpoints;
    struct account message_account;
    struct loop *loops; /* [num_loops] */
    struct actor *root; /* on loop 0: parent of the directory and of the node's roots */
    struct address directory;
    struct router *router; /* NULL: other nodes are down */
    struct post kill_post; /* brings the deadline of a stop to loop 0 */
    struct timer kill_timer;
    /* Relaxed is enough for dumps (a flag); actors_live says with release/acquire that
     * a thread which sees 0 also sees what the last actor wrote. */
    _Atomic uint64_t dumps;
    atomic_uint actors_live;
    atomic_uint refusals; /* of messages and bodies; relaxed: it only spaces log lines */
    uint64_t stop_deadline_ns;
    pthread_mutex_t mutex; /* guards stopping, adoptions and failure */
    bool stopping, started;
    uint32_t adoptions; /* of roots that other threads spawned: on their way to loop 0 */
    bool dead;          /* the simulator killed it; nothing it does is seen outside */
    int failure;
};

/* Is there a way to that other node? */
static inline bool node_reaches(const struct node *node, uint32_t other)
{
    return node->router != NULL && node->router->ops->knows(node->router, other);
}

/* True when no actor lives. The caller then sees what the last one wrote. */
static inline bool node_is_empty(struct node *node)
{
    return atomic_load_explicit(&node->actors_live, memory_order_acquire) == 0;
}

/* The node dies where it stands, as a process does: its actors handle nothing more, and what they
 * send goes nowhere. Their open calls and waits complete with TR_ECANCELED and their fini runs,
 * which frees their memory. Play node_kill_turn (and the node's jobs) until it returns false. The
 * simulator alone, between turns. */
void node_kill(struct node *node);
bool node_kill_turn(struct node *node);

/* Any thread: a message without a home (a port's), its head all zeroes; NULL: memory is out. */
struct message *node_message_create(struct node *node, const struct kind *kind);

/* Any thread: frees a message without a home (a port's). Its body is gone. */
void node_free_message(struct node *node, struct message *message);

/* As node_spawn before the node starts, but it ends after all roots there are; *actor is it. */
int node_spawn_first(struct node *node, const struct actor_options *options,
                     struct address *address, struct actor **actor);

/* The node stops, with this reason (TR_E*), as if a root had failed with it. Any loop. */
void node_fail(struct node *node, int reason);

#endif
