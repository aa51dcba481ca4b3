/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A router: how the messages of a node reach the actors of other nodes, as the core sees it.
 *
 * The core knows no connection, no TLS and no peer: it asks the router whether a node can be
 * reached and hands over what is for it. runtime/net fills these functions with links. A node
 * without a router runs all the same: other nodes are down then (TR_EPEERDOWN), as dead ones are.
 *
 * The router owes the core:
 *   - A message that it took is sent, bounced (loop_bounce) or freed; it never stays where it is.
 *   - Order holds between two actors in each lane.
 *   - When an incarnation of another node is dead, each loop completes the calls and monitors that
 *     wait for it and forgets its watchers, once, and after the last message that came from it.
 *
 * A loop calls the router only for what is due on it, so that a turn without messages for elsewhere
 * costs one test of a number. The router sets bits of loop->router_due on that loop's own thread;
 * the function that a bit stands for clears it.
 *
 * Ownership: the node's, from node_attach_router on. Thread rules: where a function takes a loop,
 * on that loop's thread; the rest from any.
 */
#ifndef RUNTIME_CORE_ROUTER_H
#define RUNTIME_CORE_ROUTER_H

#include <stdbool.h>
#include <stdint.h>

/* The largest message that a router has to carry when nothing else is agreed. A node's account of
 * messages has room for some of them, else one could never be received. */
#define ROUTER_MESSAGE_BYTES (UINT64_C(64) << 20)

struct loop;
struct message;
struct router;

enum router_due {
    ROUTER_RUN_DOWNS = 1,     /* this loop was notified of dead incarnations */
    ROUTER_FLUSH = 2,         /* there is something to write */
    ROUTER_DELIVER_DOWNS = 4, /* this loop has to notify all loops of dead incarnations */
};

struct router_ops {
    /* Can messages for that node be handed to `send`? Any loop asks it for each message. */
    bool (*knows)(const struct router *router, uint32_t node);

    /* On the loop that all messages for that node go through (router_loop). Consumes. */
    void (*send)(struct loop *loop, struct message *message);

    /* The steps of a turn, in this order; loop_turn says why. */
    void (*run_downs)(struct loop *loop);
    void (*flush)(struct loop *loop);
    void (*deliver_downs)(struct loop *loop);

    /* A message that the router charged to its sender (MESSAGE_CREDIT) left its mailbox, was
     * kept by the runtime or dropped: the sender may send more. Clears the flag. */
    void (*return_credit)(struct loop *loop, struct message *message);

    /* Writes its accounts and peers to the log of its node. */
    void (*dump)(struct router *router);

    /* All loops have ended: bounces or frees every message that it still has. */
    void (*drop_leftovers)(struct router *router);
    void (*destroy)(struct router *router);
};

/* The router's own struct has it first. */
struct router {
    const struct router_ops *ops;
};

/* The loop, of num_loops, that messages for that node go through: one for each node, so that order
 * holds. */
static inline uint32_t router_loop(uint32_t node, uint32_t num_loops)
{
    return node % num_loops;
}

#endif
