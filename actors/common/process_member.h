/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Being a member of the job: finds the coordinator, joins, and joins again when it was restarted.
 *
 * Ownership: the memory is the caller's (embedded in an actor's state), for the actor's life.
 * Thread rules: an actor's.
 */
#ifndef ACTORS_COMMON_PROCESS_MEMBER_H
#define ACTORS_COMMON_PROCESS_MEMBER_H

#include <stdbool.h>
#include <stdint.h>

#include "actors/cluster/plan.h"
#include "runtime/core/actor.h"
#include "runtime/core/timer.h"
#include "schemas/messages.h"

#define COORDINATOR_NAME "coordinator" /* in the directory */

/* How long a member waits for a coordinator that it lost before it ends: time to restart one. */
#define MEMBER_JOIN_NS UINT64_C(30000000000)
/* It waits longer for the first one, whose process may have a large partition to load before. */
#define MEMBER_FIRST_JOIN_NS UINT64_C(600000000000)
/* A restarted member may come before the end of its past life is known: it asks again. */
#define MEMBER_RETRY_NS UINT64_C(50000000)

struct process_member {
    uint32_t role; /* MSG_ROLE_* */
    uint32_t rank;
    const struct plan *plan; /* where the coordinator is; NULL: in this process */
    /* Killed by a member that gives up: without a coordinator the process has no job, and starting
     * the member again would change nothing. None: only the member ends. */
    struct address root;
    struct address coordinator; /* none: not joined */
    uint32_t era;               /* the job's, as of the last joining */
    uint32_t restored;          /* what msg_join says; a reducer's business, as all of these */
    uint32_t seen;
    uint64_t passed_name, passed_sequence, over_name, over_sequence;
    /* May be NULL: the first time and after each restart of the coordinator. */
    void (*joined)(struct actor *self, struct process_member *member);
    /* Below: process_member.c's. */
    uint64_t until_ns; /* then it gives up */
    bool lost;         /* it has had a coordinator */
    struct timer timer;
    struct timer stopping;
};

/* A member's orderly stop: its coordinator says that the job is over here, so the whole process
 * ends (root, unless it is none), whatever members of it have joined at the moment. */
void process_member_stop(struct actor *self, struct process_member *member);

/* Set role, rank, plan, root and joined, zero the rest. An actor that cannot join ends with the
 * reason. */
int process_member_join(struct actor *self, struct process_member *member);

#endif
