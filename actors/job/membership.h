/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Membership: a process as a member of the job.
 *
 * It is one of the coordinator's members, and when the job has ended the coordinator
 * stops it like every member: then it asks the root of its process for an orderly end. The
 * coordinator's own process has none; there the coordinator itself does so, after the last member.
 *
 * Ownership: the options outlive the actor and its restarts. Thread rules: an actor's.
 */
#ifndef ACTORS_JOB_MEMBERSHIP_H
#define ACTORS_JOB_MEMBERSHIP_H

#include "actors/cluster/plan.h"
#include "runtime/core/actor.h"

struct membership_options {
    const struct plan *plan;
    uint32_t process;
    struct address root;
};

/* arg: struct membership_options. */
extern const struct actor_ops membership_ops;

#endif
