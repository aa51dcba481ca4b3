/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The simulator's network: streams whose bytes travel in virtual time, with faults on demand.
 *
 * A connection is two ends; each holds what is on its way to it: a bounded ring of bytes and a
 * queue of chunks with the times at which they arrive, in order. Reads and writes are short at
 * drawn bytes. Endpoints are found by their exact text: give each node hosts or paths of its own.
 * A host that ends in ".invalid" has no address.
 *
 * Everything is drawn from the env's seed, and what happens goes into its trace.
 *
 * Ownership: env_sim has one. Thread rules: one thread.
 */
#ifndef RUNTIME_SIM_SIM_NET_H
#define RUNTIME_SIM_SIM_NET_H

#include "runtime/core/stream_impl.h"
#include "runtime/core/timers.h"

struct env;
struct node;
struct sim_stream;

#define SIM_NET_PIPE_BYTES_MAX ((size_t)256 << 10) /* on the way in one direction; drawn below it */
#define SIM_NET_CHUNKS 64u    /* on the way in one direction; more travel together */
#define SIM_NET_BACKLOG 4096u /* connections that wait to be accepted: SOMAXCONN, as sockets ask */
#define SIM_NET_DELAY_NS UINT64_C(100000) /* of most chunks at most; one of 64 takes 100 times it */

/* Nothing gets from one node to another before a time. */
struct sim_clog {
    struct sim_clog *next;
    uint32_t from, to;
    uint64_t until_ns;
};

struct sim_net {
    struct env *env;
    struct sim_stream *streams;
    struct timers events;
    struct sim_clog *clogs;
    uint64_t delay_ns_max;
    uint32_t corrupt_ppm;
    uint32_t refusing; /* the node that refuses until then */
    uint64_t refusing_until_ns;
    uint16_t next_port;
};

void sim_net_init(struct sim_net *net, struct env *env);
/* All streams must have been closed. */
void sim_net_fini(struct sim_net *net);

/* When something happens next; UINT64_MAX: nothing does. */
uint64_t sim_net_next_ns(const struct sim_net *net);
/* Lets the first thing happen that is due. */
void sim_net_step(struct sim_net *net, uint64_t now_ns);

/* The node died: its connections break, none of its listeners is found. */
void sim_net_kill(struct sim_net *net, const struct node *node);
/* Its actors are gone: frees the streams that were detached from them when it died. */
void sim_net_forget(struct sim_net *net, const struct node *node);

/* env_sim.c: the network of a simulated env. */
struct sim_net *env_sim_net(struct env *env);

extern const struct stream_ops sim_net_ops;

#endif
