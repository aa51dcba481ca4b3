/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Actors: state touched by one loop alone, changed by messages alone.
 *
 * An actor is pinned to a loop of its node. Its callbacks run there, one at a time, each within
 * 10 ms (ACTOR_TURN_NS, counted when exceeded); longer or blocking work is a job for the crew.
 * Its mailbox has two lanes: control is handled first and never refused; data is bounded in bytes:
 * at the bound a request is answered TR_EFULL, a plain message is dropped, counted and logged.
 * Order is kept per (sender, receiver, lane).
 *
 * A life: start -> receive ... -> stop -> fini. An orderly stop ends the children first, the last
 * spawned first, while the actor still serves them; then asks the actor itself. When an actor ends,
 * in this order: its calls and monitors complete with TR_ECANCELED, its timers stop, its streams
 * fall silent, its jobs are cancelled; its children end; when children and jobs are gone, fini
 * runs, its streams are closed, requests left in its mailbox are answered TR_EPEERDOWN, and its
 * monitors get their DOWN.
 *
 * Ownership: ops and arg are the spawner's and outlive the actor and its restarts.
 * Thread rules: everything that takes `self` runs on self's loop, inside one of its callbacks.
 */
#ifndef RUNTIME_CORE_ACTOR_H
#define RUNTIME_CORE_ACTOR_H

#include <stddef.h>
#include <stdint.h>

#include "runtime/base/failpoint.h"
#include "runtime/core/address.h"
#include "runtime/core/message.h"

#define ACTOR_TURN_NS 10000000u                 /* what one callback may take */
#define ACTOR_MESSAGES_A_TURN 64u               /* then the next actor of the loop has its turn */
#define ACTOR_MAILBOX_BYTES ((size_t)256 << 20) /* data lane, when options say nothing */
#define ACTOR_NAME_MAX 64u

struct actor;
struct node;
struct account;

struct actor_ops {
    const char *name;
    /* Makes the state (actor_set_state). A failure ends the actor with that reason: fini still
     * runs, so start leaves the state in a shape that fini can take down. */
    int (*start)(struct actor *self, const void *arg);
    /* Owns the message: replies, keeps, forwards or releases it. A failure ends the actor. */
    int (*receive)(struct actor *self, struct message *message);
    /* Orderly stop was asked: finish what is open, then call actor_exit(self, 0), now or later.
     * NULL: the actor exits at once. Not called when the actor fails or was never started. */
    void (*stop)(struct actor *self);
    /* Frees the state and releases the messages that the actor keeps. Runs for every actor, also
     * one whose start failed or never ran: then the state is NULL or what start left.
     * May be NULL. */
    void (*fini)(struct actor *self);
};

enum actor_restart {
    ACTOR_RESTART_NEVER,      /* its end concerns only its monitors */
    ACTOR_RESTART_ON_FAILURE, /* started again by its parent unless it ended with reason 0 */
    ACTOR_RESTART_ALWAYS,     /* started again unless its parent stops it */
};

struct actor_options {
    const struct actor_ops *ops;
    const void *arg;
    const char *name; /* of this one, for dumps and logs; NULL: ops->name; copied */
    uint32_t loop;    /* index in its node */
    enum actor_restart restart;
    size_t mailbox_bytes_max; /* 0: ACTOR_MAILBOX_BYTES */
};

/* Spawns a child of self (see supervisor.h). Its address is valid at once; messages wait for its
 * start. TR_ENOMEM, TR_EFULL (slots), TR_ECLOSED (self or the node is stopping). */
int actor_spawn(struct actor *self, const struct actor_options *options, struct address *address);

/* Spawns a root actor: one without a parent; its failure stops the node, with that reason.
 * Before node_start or after, from any thread that is not a loop (an actor spawns children). Roots
 * end in the reverse order of their spawning. */
int node_spawn(struct node *node, const struct actor_options *options, struct address *address);

/* Sends; consumes the message whatever the result. 0 says that it is on its way, not that it
 * arrived. TR_EPEERDOWN: the address is none, or of a node that nobody can reach from here. */
int actor_send(struct actor *self, struct address to, struct message *message);

/* Ends self after the callback that runs: reason 0 is a normal end, TR_E* a failure. The first
 * reason counts. */
void actor_exit(struct actor *self, int reason);

/* Asks another actor for an orderly stop. A child of self is not started again, and the request
 * needs no memory. Else TR_ENOMEM, or TR_EPEERDOWN for an unreachable node. */
int actor_stop(struct actor *self, struct address who);

/* Ends another actor at once with this reason (TR_E*), as if it had failed. */
int actor_kill(struct actor *self, struct address who, int reason);

void actor_set_state(struct actor *self, void *state);
void *actor_state(const struct actor *self);
struct address actor_address(const struct actor *self);
struct node *actor_node(const struct actor *self);

/* Whether a message of that kind may be sent again when nobody knows what became of it (kind.h). */
bool actor_may_repeat(const struct actor *self, uint32_t kind);

/* The actor passes that step (failpoint.h). */
void actor_failpoint(const struct actor *self, enum failpoint point);
const char *actor_name(const struct actor *self);

/* For fini: why self ends. 0: well. */
int actor_reason(const struct actor *self);

/* The node's clock as of this turn: monotonic ns, the same on all loops of a node. Deadlines are
 * times of this clock. */
uint64_t actor_now_ns(const struct actor *self);

/* A random number from the env (for jitter and the like; never for sampling, which is keyed). */
uint64_t actor_random(struct actor *self);

#endif
