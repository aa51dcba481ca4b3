/* SPDX-License-Identifier: Apache-2.0 */
/* The common parts of the runtime's tests: kinds of their own and nodes in both envs. */
#ifndef TESTS_RUNTIME_SUPPORT_H
#define TESTS_RUNTIME_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/core/actor.h"
#include "runtime/core/call.h"
#include "runtime/core/env.h"
#include "runtime/core/node.h"
#include "runtime/core/router.h"
#include "runtime/sim/env_sim.h"

enum { KIND_NUMBER = 64, KIND_ASK, KIND_ANSWER, KIND_URGENT, KIND_BULK, KIND_ORDER };

struct number {
    uint64_t value;
    uint64_t sender;
};

/* The kinds above, in a static table that tests may share. */
const struct kinds *support_kinds(void);

/* A router that knows every node and hands what is for it to `send`, which consumes it. The test's:
 * it outlives the node. */
struct support_router {
    struct router router;
    void (*send)(void *arg, struct loop *loop, struct message *message);
    void *arg;
};
void support_attach_router(struct node *node, struct support_router *router);

/* A node in the simulator. */
struct node *support_sim_node(struct env *env, uint32_t id, uint32_t loops);

/* Sends a number. */
int support_send(struct actor *self, struct address to, uint32_t kind, uint64_t value);

/* The receive of an actor that expects nothing: it releases the message. */
int support_discard(struct actor *self, struct message *message);

/* Nothing lives, and nothing is in use. */
void support_check_zero(struct node *node);

/* Stops a simulated node, lets it drain, and checks that all pools are back to zero. */
void support_sim_finish(struct env *env, struct node *node);

/* The same for a node on threads; returns the reason it ended with. */
int support_finish(struct node *node);

#endif
