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

/* What checkpoint stores of other hosts were asked for. */
struct checkpoint_requests {
    uint64_t copies, fetches, drops;
};

/* The faults of one process, to which the `faults` of the options of these actors point. */
struct process_faults {
    struct actor_faults servers, checkpoint_stores, reducers;
    struct actor_faults checkpoint_looks; /* of the checkpoint stores, apart from their rest */
    struct checkpoint_requests asked;     /* of its checkpoint store */
};

extern const struct process_actors_stand_ins faulty_actors;

/* A slow actor holds a message back for so long at most: several times the first patience with a
 * checkpoint store (coordinator_hosts.c). */
#define ACTOR_FAULTS_SLOW_NS UINT64_C(40000000000)
/* A store whose disks are cold answers at once what it knows, and reads parts for long. */
#define ACTOR_FAULTS_LOOK_SLOWER 1000u
/* They stay cold for so much longer: until those that died meanwhile look. */
#define ACTOR_FAULTS_LOOK_LONGER_NS UINT64_C(20000000000)

/* Draws which actors, what and how slow, for that long; what is drawn as slow is so many times
 * slower. Returns when the last message that it holds back is served. */
uint64_t actor_faults_strike(struct actor_faults *faults, struct draws *draws, uint64_t now_ns,
                             uint64_t lasts_ns, uint64_t slower);

#endif
