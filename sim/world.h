/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state that the actors of a simulation share: the scenario, what stands around the job, and
 * the tally that oracles read afterwards.
 *
 * Everything runs in one thread, so this is plain memory.
 */
#ifndef SIM_WORLD_H
#define SIM_WORLD_H

#include "actors/process_actors.h"
#include "runtime/core/node.h"
#include "sim/actor_faults.h"
#include "sim/scenario.h"

/* Kinds of the checkers' own; above those of the job. */
#define WORLD_KIND_DATA (KINDS_MAX - 2)
#define WORLD_KIND_URGENT (KINDS_MAX - 1)

/* The proxy of the job's one trainer. */
#define WORLD_PROXY "proxy/0"

/* The counts of a run. */
struct tally {
    uint64_t batches;
    uint64_t calls_opened, calls_completed;
    uint64_t monitors, downs;
    uint64_t faults;
    uint64_t failures_told; /* batches that found the account full, and were asked for again */
    uint64_t disturbances;
    uint64_t excluding; /* single draws that left edges out */
    uint64_t outlived;  /* a bit for each trainer: of sim_result */
};

struct world {
    struct scenario scenario;
    struct env *env;
    struct node *node;
    struct kinds kinds;
    struct sim_partitions partitions;
    struct reference reference;
    struct snapshots *snapshots;
    struct batch_store *store;
    struct seed_lists *lists;
    struct plan plan;
    struct process_actors actors;
    struct process_faults faults;
    uint64_t next_loader;
    uint32_t finished; /* trainers */
    /* A bit for each trainer that is in the middle of an epoch, and for those in the middle of whose
     * present one a server died. */
    uint64_t in_epoch, bereft;
    struct sampled_batch *kept[SCENARIO_CLIENTS_MAX * (SCENARIO_HOLD_MAX + 1)];
    uint32_t num_kept;
    struct tally tally;
    struct error error; /* the first thing that was wrong */
};

/* Remembers the first thing that is wrong. */
__attribute__((format(printf, 2, 3))) void world_fail(struct world *world, const char *format, ...);

/* A stream of draws for an actor, by its purpose and number. */
struct draws world_draws(const struct world *world, uint32_t purpose, uint32_t number);

enum {
    WORLD_DRAWS_PLACE = 100,
    WORLD_DRAWS_CLIENT,
    WORLD_DRAWS_FAULTS,
    WORLD_DRAWS_PROBE,
    WORLD_DRAWS_SERVERS
};

#endif
