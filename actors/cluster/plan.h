/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plan: which process of a cluster plays which part.
 *
 * A process is a node; its number is its place in the plan. One process that plays everything is a
 * plan too, so nothing above knows whether there are others.
 *
 *     partition p   is served by the processes plan_part_nodes() lists, equals of each other
 *     sampler s     lives in process plan_sampler_node()
 *     trainer r     lives in process plan_trainer_node(), with its proxy and reducer
 *     coordinator   lives in process plan->coordinator
 *
 * Ownership: plan_fini frees it. Immutable once made. Thread rules: any thread.
 */
#ifndef ACTORS_CLUSTER_PLAN_H
#define ACTORS_CLUSTER_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/base/error.h"

#define PLAN_PROCESSES_MAX 65536u /* far above a job that links all of them with each other */

/* Consecutive numbers. */
struct plan_range {
    uint32_t first, count;
};

struct plan_process {
    uint32_t host;         /* its processes stand together, and may share files and memory */
    uint32_t loops;        /* 0: one a processor */
    uint32_t servers;      /* server actors; they share out `parts` */
    const uint32_t *parts; /* [num_parts] that it serves, ascending */
    uint32_t num_parts;
    struct plan_range samplers; /* of the job's samplers */
    struct plan_range trainers; /* ranks */
};

/* All processes of a job have these in common before one may believe another. */
struct plan_marks {
    uint64_t plan;  /* a hash of all roles */
    uint64_t graph; /* of the book of its partitions */
};

struct plan {
    uint32_t num_parts, num_processes, num_hosts;
    uint32_t samplers, trainers; /* of the whole job */
    uint32_t coordinator;        /* process */
    /* How long a process waits for the first coordinator and, where it has trainers, for the first
     * answer of each process; and for a coordinator that it lost; 0: as process_member.h has it. */
    uint64_t first_ns, lost_ns;
    struct plan_marks marks;
    struct plan_process *processes;
    uint32_t *parts; /* what the processes' parts point into */
};

/* Everything in one process. servers 0: one a partition. */
int plan_init_single(struct plan *plan, uint32_t num_parts, uint32_t servers, uint32_t samplers,
                     uint32_t trainers, uint32_t loops);
void plan_fini(struct plan *plan);

/* Marks a plan for the graph of that hash. Plans that were not marked are not compared. */
void plan_mark(struct plan *plan, uint64_t graph_hash);

/* The processes that serve a partition, those of `near`'s host first and `near` itself before
 * all, then in an order that spreads the load by `near`; returns how many there are. */
uint32_t plan_part_nodes(const struct plan *plan, uint32_t part, uint32_t near, uint32_t *nodes,
                         uint32_t most);

/* The one process that owns what programs write into a partition's rows: of those that serve it, the
 * first. PLAN_NO_NODE: none does. */
#define PLAN_NO_NODE UINT32_MAX
uint32_t plan_part_owner(const struct plan *plan, uint32_t part);

uint32_t plan_sampler_node(const struct plan *plan, uint32_t sampler);
uint32_t plan_trainer_node(const struct plan *plan, uint32_t rank);

/* The first process of a host, which keeps the host's checkpoints; PLAN_NO_NODE: it has none. */
uint32_t plan_host_node(const struct plan *plan, uint32_t host);
/* The same of the next host after that one, which keeps copies for it; PLAN_NO_NODE: there is no
 * other. plan may be NULL. */
uint32_t plan_second_node(const struct plan *plan, uint32_t host);

/* The samplers that draw for a trainer: those of its process; else those of its host; else an even
 * share of all. Never none when there is a sampler at all. */
struct plan_range plan_trainer_samplers(const struct plan *plan, uint32_t rank);

#endif
