/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A scenario: everything about one run that is chosen from its seed before it begins.
 *
 * The graph, its placement, the actors of each loop, what each trainer asks for, how large the
 * accounts and mailboxes are, and which faults come. The rest that is left to chance, the order of
 * turns and the lateness of timers, is the simulator's, from the same seed.
 *
 * Ownership: the struct owns what it points to. Immutable after scenario_init.
 */
#ifndef SIM_SCENARIO_H
#define SIM_SCENARIO_H

#include <stdio.h>

#include "runtime/core/message_pool.h"
#include "runtime/sim/env_sim.h"
#include "sim/reference.h"
#include "sim/sim_graph.h"

#define SCENARIO_CLIENTS_MAX 3u
#define SCENARIO_HOLD_MAX 6u

/* The plan of one trainer. */
struct client_plan {
    struct wanted_loader loader;
    uint32_t loop;
    uint32_t epochs;
    uint32_t hold;                /* batches it keeps before it releases the oldest */
    uint32_t keep;                /* 1: what it holds outlives the node */
    uint64_t look_ns;             /* a request's deadline */
    uint64_t think_ns;            /* most time it spends on a batch */
    uint32_t disturbances;        /* times it cancels, begins another epoch, reopens or naps */
    uint32_t disturbance_percent; /* of its batches */
    uint64_t quit_after;          /* batches, then it closes; 0: all epochs */
};

enum fault {
    FAULT_KILL_SERVER = 1,
    FAULT_KILL_SAMPLER = 2,
    FAULT_KILL_PROXY = 4,
    FAULT_KILL_COORDINATOR = 8,
    FAULT_MEMORY = 16, /* allocations of messages fail for a while */
    FAULT_PAUSE = 32,  /* one loop stands still */
    FAULT_STOP = 64,   /* all loops stand still, as a stopped process does */
};

struct fault_plan {
    uint32_t faults;   /* enum fault, the ones that may come */
    uint32_t count;    /* how many come */
    uint64_t gap_ns;   /* most time between two */
    uint64_t pause_ns; /* longest pause */
    uint32_t memory_ppm;
};

/* Servers that are full, short of memory or slow for a while. */
struct server_fault_plan {
    uint32_t count;    /* how often */
    uint64_t gap_ns;   /* most time between two */
    uint64_t lasts_ns; /* longest */
};

struct scenario {
    uint64_t seed;
    struct sim_graph raw;
    uint32_t parts, servers, samplers, loops, checkers, clients;
    bool direct, codec;
    size_t batch_bytes_max, mailbox_bytes_max, message_bytes_max;
    uint64_t reply_bytes_max, call_ns;
    uint32_t slice_edges;
    uint64_t stop_at_ns; /* the node is stopped in the middle of its work; 0: when it is done */
    struct client_plan client[SCENARIO_CLIENTS_MAX];
    struct fault_plan faults;
    struct server_fault_plan server_faults;
    struct env_sim_options env;
};

void scenario_init(struct scenario *scenario, uint64_t seed);
void scenario_fini(struct scenario *scenario);

/* A line for a person. */
void scenario_print(const struct scenario *scenario, FILE *out);

#endif
