/* SPDX-License-Identifier: Apache-2.0 */
/* A stream of the simulated network, as its two files see it. */
#ifndef RUNTIME_SIM_SIM_STREAM_H
#define RUNTIME_SIM_SIM_STREAM_H

#include "runtime/core/timer.h"
#include "runtime/sim/sim_pipe.h"

enum sim_state { SIM_LISTENING, SIM_CONNECTING, SIM_OPEN, SIM_DEAD };

struct sim_stream {
    struct stream stream;
    struct sim_net *net;
    struct sim_stream *next, *before; /* of the network */
    const struct node *node;
    uint32_t node_id;
    enum sim_state state;
    struct endpoint endpoint;          /* where it listens, or is to connect to */
    struct sim_stream *backlog, *last; /* of a listener: connections that wait, through `waiting` */
    struct sim_stream *waiting;
    uint32_t num_waiting;
    struct sim_stream *listener; /* in whose backlog it waits, or NULL */
    struct sim_stream *peer;     /* the other end; NULL: closed */
    uint32_t peer_id;            /* its node */
    uint64_t void_ns;            /* writing to a closed end is found out then; 0: not done yet */
    struct sim_pipe in;          /* on its way to us */
    struct timer timer;          /* the first chunk of `in` arrives, or connecting ends */
    bool timed;
};

uint64_t sim_net_now_ns(const struct sim_net *net);
/* A draw below n. */
uint64_t sim_net_draw(struct sim_net *net, uint64_t n);
/* When what leaves now arrives. */
uint64_t sim_net_arrival_ns(struct sim_net *net);
/* When the way from one node to the other is free again; not after now: it is. */
uint64_t sim_net_clogged_until_ns(const struct sim_net *net, uint32_t from, uint32_t to);

/* The timer follows from the pipe's first chunk. */
void sim_stream_schedule(struct sim_stream *self);
/* Tells what holds and is wanted. */
void sim_stream_update(struct sim_stream *self);
/* The bytes on their way to this end are lost from a drawn one on, then it learns of the reset. */
void sim_stream_break(struct sim_stream *self);
/* Its timer fired. */
void sim_stream_happen(struct sim_stream *self);

#endif
