/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A node: one process's worth of actors: its loops, directory, accounts and kinds.
 *
 * Nothing is global, so two nodes can live in one process (and thousands in the simulator).
 *
 *     node_create -> node_spawn (roots) -> node_start -> ...
 *         -> node_stop -> node_join -> node_destroy
 *
 * Ownership: the creator's. Thread rules: create, join and destroy from the owner's thread;
 * node_stop, node_spawn and the counters from any.
 */
#ifndef RUNTIME_CORE_NODE_H
#define RUNTIME_CORE_NODE_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/base/failpoint.h"
#include "runtime/core/account.h"
#include "runtime/core/actor.h"
#include "runtime/core/env.h"
#include "runtime/core/kind.h"
#include "runtime/core/log.h"

struct node_options {
    uint32_t id;
    uint32_t incarnation;      /* 0: 1 */
    uint32_t loops;            /* 1 .. ADDRESS_LOOPS_MAX; 0: 1 */
    const struct kinds *kinds; /* of the rooms below; copied; NULL: none */
    bool codec;                /* encode, verify and decode every message inside the process too */
    size_t message_bytes_max;  /* pooled messages and bodies of all loops; 0: this process's share
                                * of half of the memory that the machine gives. Beyond it there are
                                * none: TR_ENOMEM for the sender, and links don't read on */
    uint32_t sharers;          /* processes of the job that share that memory; 0: 1 */
    struct log_sink log;
    struct failpoints *failpoints; /* NULL: nothing happens at them */
};

struct node_counters {
    uint64_t messages_live; /* taken from pools and not given back */
    uint64_t buffers_live;
    uint64_t calls_open; /* monitors included */
    uint64_t actors_live;
    uint64_t sent, delivered;
    uint64_t dropped_full;    /* plain messages refused by a full mailbox */
    uint64_t dropped_expired; /* requests whose deadline passed before they started */
    uint64_t stale;           /* messages for a past life */
    uint64_t late_replies;
    uint64_t long_turns; /* callbacks over ACTOR_TURN_NS */
    uint64_t wakes;      /* writes to an eventfd */
    uint64_t restarts;
    uint64_t mailbox_messages;     /* that wait for actors */
    uint64_t mailbox_bytes;        /* of those that mailboxes bound */
    uint64_t mailbox_messages_max; /* the most that have waited in one mailbox */
};

int node_create(struct env *env, const struct node_options *options, struct node **node,
                struct error *error);

/* Gives the node a way to others (router.h), which node_destroy destroys; once, before node_start.
 * Without one all other nodes are down. */
struct router;
void node_attach_router(struct node *node, struct router *router);

/* Starts the loops. Roots spawned before start with them. TR_ENOMEM: no thread could be made; the
 * node has ended then and waits for node_destroy. */
int node_start(struct node *node);

/* Asks for an orderly stop: new roots are refused, roots end last spawned first, children before
 * parents, each draining. At the deadline (of env_now_ns) what still lives is ended at once. */
void node_stop(struct node *node, uint64_t deadline_ns);

/* True when every actor ended and the loops are done (poll it, or env_sim_run until it). */
bool node_is_stopped(struct node *node);

/* Waits for the end, which a node that never started comes to in this call; 0, or the reason of the
 * root that failed. Not for the simulator. */
int node_join(struct node *node);

/* The reason of the first root that failed, or 0. */
int node_failure(struct node *node);

/* After it stopped (or was never started). Asserts that pools are back to zero. NULL ignored. */
void node_destroy(struct node *node);

struct env *node_env(const struct node *node);
uint32_t node_loops(const struct node *node);

/* The account that pooled messages and bodies are charged to. */
struct account *node_message_account(struct node *node);

/* Sums over loops; exact when the node is stopped, else a recent picture. */
void node_counters(struct node *node, struct node_counters *counters);

#endif
