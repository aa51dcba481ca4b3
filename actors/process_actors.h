/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The actors that play in this process, and the actor that starts them.
 *
 * The plan says what each process of a job plays; a job of one process has a plan too. One root
 * spawns what this process plays: the coordinator, its servers, its samplers, a trainer-proxy and
 * a reducer for each of its trainers, and the client, spread over the loops, and starts again what
 * fails. The session and the simulator run this same tree.
 *
 * Ownership: this struct owns the arguments of actors; it and what its options name outlive them.
 * Thread rules: the actor's; init and fini on any thread while no actor runs.
 */
#ifndef ACTORS_PROCESS_ACTORS_H
#define ACTORS_PROCESS_ACTORS_H

#include <stdatomic.h>

#include "actors/cluster/plan.h"
#include "actors/common/job_era.h"
#include "actors/data/client.h"
#include "actors/data/proxy.h"
#include "actors/data/sampler.h"
#include "actors/data/server.h"
#include "actors/data/tensor_shelf.h"
#include "actors/job/checkpoint_store.h"
#include "actors/job/coordinator.h"
#include "actors/job/first_contact.h"
#include "actors/job/membership.h"
#include "actors/job/reducer.h"

/* Actors that stand in front of the real ones, whose options they get. NULL: the real one. */
struct process_actors_stand_ins {
    const struct actor_ops *server, *checkpoint_store, *reducer;
};

struct process_actors_options {
    const struct book *book;
    const struct graph_meta *meta;
    struct snapshots *snapshots;
    struct batch_store *store;
    struct seed_lists *lists; /* proxy.h */
    const struct plan *plan;
    uint32_t process; /* of the plan; also the number of the node */
    uint32_t loops;   /* of the node */
    bool direct;      /* samplers and client read partitions of this process, not messages alone */
    bool flat;        /* batches go to the proxy as bytes, as from a sampler elsewhere */
    uint64_t recovery_ns;
    uint64_t call_ns;         /* sampler.h */
    uint64_t reply_bytes_max; /* sampler.h, proxy.h, client.h */
    size_t at_once_bytes;     /* sampler.h, proxy.h */
    /* The bound of replies on their way from other processes; 0: REPLY_BUDGET_BYTES_MAX
     * (reply_budget.h). */
    size_t replies_bytes_max;
    uint32_t slice_edges;                             /* server.h */
    const struct process_actors_stand_ins *stand_ins; /* the simulator's; NULL: none */
    size_t tensor_bytes_max;  /* of the tensors that its servers own; 0: tensor_shelf.h */
    void *faults;             /* of these, in their actors' options */
    struct files *files;      /* of checkpoints; NULL: files_posix */
    const char *checkpoints;  /* their folder; NULL: none are kept, or only trainers know */
    const char *kept;         /* the only folder that other hosts may keep copies in; NULL: none */
    const char *host;         /* "%h" in that folder; NULL: stands for itself */
    uint32_t checkpoint_keep; /* 0: coordinator.h's */
    struct job_progress *progress; /* NULL: nobody wants to know */
    /* Called once on the root's loop when all of these actors have gone, after actors.ended is set;
     * nothing here answers a call any more. NULL: nobody waits. */
    void (*ended)(void *arg);
    void *ended_arg;
    size_t mailbox_bytes_max; /* of servers, samplers, proxies and client; 0: ACTOR_MAILBOX_BYTES */
};

struct process_actors {
    struct process_actors_options options;
    struct process_actors_stand_ins stand_ins; /* all NULL where there are none */
    const struct plan_process *plays;
    uint32_t num_servers;
    struct server_options *servers;   /* [num_servers] */
    uint32_t *server_parts;           /* all partitions of this process, server after server */
    struct sampler_options *samplers; /* [plays->samplers.count] */
    struct proxy_options *proxies;    /* [plays->trainers.count] */
    struct reducer_options *reducers; /* [plays->trainers.count] */
    struct coordinator_options coordinator;
    struct client_options client;
    struct membership_options membership;
    struct first_contact_options first_contact;
    struct checkpoint_store_options store;
    atomic_bool ended; /* the job is over here, and all of these have gone */
    atomic_int
        reason; /* why, once that is set; 0: the job ended well here, or its owner stopped it */
    struct tensor_shelf *shelves; /* [num_servers] */
    struct account tensors;       /* of them */
    struct job_era era;
    struct account replies; /* on their way from other processes: see reply_budget.h */
};

/* TR_ENOMEM. process_actors_fini takes down whatever it left; all zeros is valid too. */
int process_actors_init(struct process_actors *actors,
                        const struct process_actors_options *options);
void process_actors_fini(struct process_actors *actors);

/* arg: struct process_actors. */
extern const struct actor_ops process_actors_ops;

#endif
