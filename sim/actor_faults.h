/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Actors as a user has them on a bad day: full, short of memory or slow for a while.
 *
 * Servers, checkpoint stores and reducers have actors that stand in for them: each refuses what is
 * asked, with a message or with a status alone, or holds it back, and else is the real actor.
 * Nothing here retries: a failure that the job shows to its trainers is a failure of the job.
 *
 * Everything runs in one thread, so this is plain memory.
 */
#ifndef SIM_ACTOR_FAULTS_H
#define SIM_ACTOR_FAULTS_H

#include "actors/process_actors.h"
#include "sim/draws.h"

#define ACTOR_FAULTS_ACTORS 8u /* of one role of a process; further ones share */

enum actor_fault { ACTOR_FULL, ACTOR_MEMORY, ACTOR_SLOW, ACTOR_FAULT_KINDS };

struct held_message;

/* The faults of the actors of one role in one process, through all its lives. All zeros: none. */
struct actor_faults {
    struct {
        uint64_t until_ns[ACTOR_FAULT_KINDS];
        uint64_t slow_ns; /* how long a message is held back while the actor is slow */
    } actors[ACTOR_FAULTS_ACTORS];
    struct held_message *held; /* of all lives that still run, in the order of their coming */
};

/* The faults of one process, to which the `faults` of the options of these actors point. */
struct process_faults {
    struct actor_faults servers, checkpoint_stores, reducers;
};

extern const struct process_actors_stand_ins faulty_actors;

/* A slow actor holds a message back for so long at most; a checkpoint store, as one whose disks are
 * cold, for longer than the first patience with it (coordinator_hosts.c) several times over. */
#define ACTOR_FAULTS_SLOW_NS UINT64_C(5000000000)
#define ACTOR_FAULTS_STORE_SLOW_NS (12 * ACTOR_FAULTS_SLOW_NS)

/* Draws which actors, what and how slow, for that long. slow_max_ns: a multiple of
 * ACTOR_FAULTS_SLOW_NS. Returns when the last message of it is served. */
uint64_t actor_faults_strike(struct actor_faults *faults, struct draws *draws, uint64_t now_ns,
                             uint64_t lasts_ns, uint64_t slow_max_ns);

#endif
