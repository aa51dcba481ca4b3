/*
 * A job spread over several nodes with links between them, in the real env or in the simulator:
 * who plays where is a layout, the graph is a random one.
 */
#ifndef TESTS_ACTORS_CLUSTER_FIXTURE_H
#define TESTS_ACTORS_CLUSTER_FIXTURE_H

#include "actors/process_actors.h"
#include "graph/graph_meta.h"
#include "runtime/core/env.h"
#include "runtime/sim/files_sim.h"
#include "runtime/core/node.h"
#include "schemas/messages.h"
#include "tests/actors/graphs.h"

#define SPREAD_NODES 300u /* of each type in each partition */
#define SPREAD_SEEDS (SPREAD_NODES * GRAPH_PARTS)
#define SPREAD_BATCH 25u
#define SPREAD_PROCESSES_MAX 4u
#define SPREAD_TRAINERS_MAX 2u
#define SPREAD_SECOND UINT64_C(1000000000)
#define SPREAD_DEAD_NS SPREAD_SECOND /* of silence: then a node is fenced, and ends */

/* What one process plays. */
struct spread_plays {
    uint32_t num_parts, parts[GRAPH_PARTS];
    struct plan_range samplers, trainers;
};

struct spread_layout {
    uint32_t num_processes, samplers, trainers, coordinator;
    bool direct;
    size_t at_once_bytes;
    const char *checkpoints; /* on simulated disks: one a process, which are hosts; NULL: none */
    bool one_disk;           /* the same for all */
    const struct actor_ops *keeper_ops; /* in front of the keeper's; NULL: those */
    struct spread_plays processes[SPREAD_PROCESSES_MAX];
};

/* Everything in one process, with one trainer and with two. */
extern const struct spread_layout spread_one, spread_one_of_two;

struct spread_party {
    struct node *node; /* NULL: it is down */
    struct address root; /* the cast's */
    struct cast cast;
    struct snapshots *snapshots;
    struct batch_bank *bank;
    uint32_t incarnation;
    struct files_sim *disk;
    struct files *files; /* NULL: the system's */
};

struct spread {
    const struct spread_layout *layout;
    char folder[64]; /* of the sockets; in the simulator a name that is no folder */
    bool simulated;
    struct env *env;
    struct kinds kinds;
    struct test_graph graph;
    struct graph_meta meta;
    struct plan plan;
    struct plan_process processes[SPREAD_PROCESSES_MAX];
    struct spread_party parties[SPREAD_PROCESSES_MAX];
};

/* Opens and starts all processes in an env, which is the spread's from now on. */
void spread_open(struct spread *spread, const struct spread_layout *layout, struct env *env,
                 bool simulated);
/* Stops those that are up, and checks that nothing is left. */
void spread_close(struct spread *spread);

/* The next incarnation of a process that is down. */
void spread_start(struct spread *spread, uint32_t process);
void spread_stop(struct spread *spread, uint32_t process, uint64_t grace_ns);
/* In the simulator: it dies at once. */
void spread_kill(struct spread *spread, uint32_t process);
/* Of a process that is down: it will start on an empty one. */
void spread_lose_disk(struct spread *spread, uint32_t process);

/* A trainer's loader: each process counts its own, so different ones use the same number. */
uint64_t spread_loader(const struct spread *spread, uint32_t trainer);
/* body: [2 * SPREAD_SEEDS] */
void spread_fill_open(const struct spread *spread, uint32_t trainer, struct msg_loader_open *head,
                      uint64_t *body);
struct batch_bank *spread_bank(struct spread *spread, uint32_t trainer);

/* Who trains in the simulator: an actor a trainer, in the trainer's process. */
struct spread_play {
    struct spread *spread;
    struct actor_options (*trainer)(void *arg, uint32_t rank); /* each time it starts */
    bool (*is_done)(const void *arg, uint32_t rank);
    void *arg;
};

/* The next incarnation of a process that is down, and its trainers. */
void spread_play_start(const struct spread_play *play, uint32_t process);
/* Only the trainers, where the process is up. */
void spread_play_start_trainers(const struct spread_play *play, uint32_t process);
bool spread_play_is_done(const struct spread_play *play);
/* Runs for a time, at most until all are done: then 0, else what env_sim_run says. A process that
 * ended because it counts as dead is started again, as a launcher does. */
int spread_play_run(const struct spread_play *play, uint64_t ns);

#endif
