/* SPDX-License-Identifier: Apache-2.0 */
/* Several linked nodes in one process. */
#ifndef TESTS_RUNTIME_LINK_SUPPORT_H
#define TESTS_RUNTIME_LINK_SUPPORT_H

#include <pthread.h>

#include "runtime/core/endpoint.h"
#include "runtime/event/env_event.h"
#include "runtime/net/links.h"
#include "tests/runtime/support.h"

#define CLUSTER_NODES_MAX 8u

struct cluster {
    struct env *env;
    struct node *nodes[CLUSTER_NODES_MAX];
    uint32_t num_nodes, num_peers, loops;
    char folder[64];
    enum endpoint_kind kind;
    struct endpoint endpoints[CLUSTER_NODES_MAX];
    struct links_options links; /* what cluster_open_with was given */
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    uint32_t done;
};

/* The kinds of support.h, with encodings. */
const struct kinds *link_kinds(void);

/* Nodes 0 .. count - 1 on threads, each listening, all linked. */
void cluster_open(struct cluster *cluster, uint32_t count, uint32_t loops, enum endpoint_kind kind);

/* The same; heartbeats and window are of these options. */
void cluster_open_with(struct cluster *cluster, uint32_t count, uint32_t loops,
                       enum endpoint_kind kind, const struct links_options *options);

/* The nodes know of so many peers, of which the test itself may play some; unix sockets. */
void cluster_open_for(struct cluster *cluster, uint32_t count, uint32_t peers, uint32_t loops,
                      const struct links_options *options);

/* One node of it again, with this incarnation; it is not started. */
void cluster_make(struct cluster *cluster, uint32_t id, uint32_t incarnation);

/* The place id is taken by a node of another number (an observer's). */
void cluster_make_as(struct cluster *cluster, uint32_t id, uint32_t number, uint32_t incarnation);

struct address cluster_spawn(struct cluster *cluster, uint32_t node, const struct actor_ops *ops,
                             const void *arg, uint32_t loop);
void cluster_start(struct cluster *cluster);

/* Any thread: one more is done. */
void cluster_done(struct cluster *cluster);

/* Waits until so many are done; fails after a minute. */
void cluster_wait(struct cluster *cluster, uint32_t count);

/* Stops all nodes and checks that nothing is left. */
void cluster_close(struct cluster *cluster);

/* An actor that registers as "echo" and sends every ask back, body and all. */
extern const struct actor_ops echo_ops;

#endif
