/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A job fixture over several nodes with links between them, in the real env or in the simulator:
 * a layout says which roles are where, the graph is a random one.
 */
#ifndef TESTS_ACTORS_CLUSTER_FIXTURE_H
#define TESTS_ACTORS_CLUSTER_FIXTURE_H

#include "actors/process_actors.h"
#include "graph/graph_meta.h"
#include "runtime/core/env.h"
#include "runtime/core/node.h"
#include "runtime/sim/files_sim.h"
#include "schemas/messages.h"
#include "tests/actors/graphs.h"

#define CLUSTER_FIXTURE_NODES 300u /* of each type in each partition */
#define CLUSTER_FIXTURE_SEEDS (CLUSTER_FIXTURE_NODES * GRAPH_PARTS)
#define CLUSTER_FIXTURE_BATCH 25u
#define CLUSTER_FIXTURE_PROCESSES_MAX 4u
#define CLUSTER_FIXTURE_TRAINERS_MAX 2u
#define CLUSTER_FIXTURE_SECOND UINT64_C(1000000000)
#define CLUSTER_FIXTURE_DEAD_NS \
    CLUSTER_FIXTURE_SECOND /* of silence: then a node is fenced, and ends */

/* The roles of one process. */
struct cluster_fixture_plays {
    uint32_t num_parts, parts[GRAPH_PARTS];
    struct plan_range samplers, trainers;
};

struct cluster_fixture_layout {
    uint32_t num_processes, samplers, trainers, coordinator;
    bool direct;
    size_t at_once_bytes;
    const char *checkpoints; /* on simulated disks: one a process, which are hosts; NULL: none */
    bool one_disk;           /* the same for all */
    const struct actor_ops *checkpoint_store_ops; /* in front of the store's; NULL: those */
    struct cluster_fixture_plays processes[CLUSTER_FIXTURE_PROCESSES_MAX];
};

/* Everything in one process, with one trainer and with two. */
extern const struct cluster_fixture_layout cluster_fixture_one, cluster_fixture_one_of_two;

struct cluster_fixture_party {
    struct node *node;   /* NULL: it is down */
    struct address root; /* the actors's */
    struct process_actors actors;
    struct snapshots *snapshots;
    struct batch_store *store;
    struct seed_lists *lists;
    uint32_t incarnation;
    struct files_sim *disk;
    struct files *files; /* NULL: the system's */
};

struct cluster_fixture {
    const struct cluster_fixture_layout *layout;
    char folder[64]; /* of the sockets; in the simulator a name that is no folder */
    bool simulated;
    struct env *env;
    struct kinds kinds;
    struct test_graph graph;
    struct graph_meta meta;
    struct plan plan;
    struct plan_process processes[CLUSTER_FIXTURE_PROCESSES_MAX];
    struct cluster_fixture_party parties[CLUSTER_FIXTURE_PROCESSES_MAX];
};

/* Opens and starts all processes in an env, which is the fixture's from now on. */
void cluster_fixture_open(struct cluster_fixture *fixture,
                          const struct cluster_fixture_layout *layout, struct env *env,
                          bool simulated);
/* Stops those that are up, and checks that nothing is left. */
void cluster_fixture_close(struct cluster_fixture *fixture);

/* The next incarnation of a process that is down. */
void cluster_fixture_start(struct cluster_fixture *fixture, uint32_t process);
void cluster_fixture_stop(struct cluster_fixture *fixture, uint32_t process, uint64_t grace_ns);
/* In the simulator: it dies at once. */
void cluster_fixture_kill(struct cluster_fixture *fixture, uint32_t process);
/* Empties the disk of a process that is down: it will start on an empty one. */
void cluster_fixture_lose_disk(struct cluster_fixture *fixture, uint32_t process);

/* A trainer's loader: each process counts its own, so different ones use the same number. */
uint64_t cluster_fixture_loader(const struct cluster_fixture *fixture, uint32_t trainer);
/* Bytes of the body, and head and body of the message that opens it, after its seeds are put into
 * the lists of the trainer's process. */
size_t cluster_fixture_open_bytes(const struct cluster_fixture *fixture);
void cluster_fixture_fill_open(const struct cluster_fixture *fixture, uint32_t trainer,
                               struct msg_loader_open *head, uint64_t *body);
struct batch_store *cluster_fixture_store(struct cluster_fixture *fixture, uint32_t trainer);

/* The trainers in the simulator: an actor a trainer, in the trainer's process. */
struct cluster_fixture_play {
    struct cluster_fixture *fixture;
    struct actor_options (*trainer)(void *arg, uint32_t rank); /* each time it starts */
    bool (*is_done)(const void *arg, uint32_t rank);
    void *arg;
};

/* The next incarnation of a process that is down, and its trainers. */
void cluster_fixture_play_start(const struct cluster_fixture_play *play, uint32_t process);
/* Only the trainers, where the process is up. */
void cluster_fixture_play_start_trainers(const struct cluster_fixture_play *play, uint32_t process);
bool cluster_fixture_play_is_done(const struct cluster_fixture_play *play);
/* Runs for a time, at most until all are done: then 0, else what env_sim_run says. A process that
 * ended because it counts as dead is started again, as a launcher does. */
int cluster_fixture_play_run(const struct cluster_fixture_play *play, uint64_t ns);

#endif
