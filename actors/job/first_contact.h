/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The first contact with every other process of the job, which one with trainers waits for.
 *
 * Training needs all of them: one that never began, since its command was refused or its host is not
 * there, leaves the trainers waiting. The links name it meanwhile, again and again; when the time is
 * over this actor says so, and ends the process by its root. It ends itself once every other process
 * has been connected: whether one is lost later is the affair of others.
 *
 * Ownership: the options outlive the actor and its restarts. Thread rules: an actor's.
 */
#ifndef ACTORS_JOB_FIRST_CONTACT_H
#define ACTORS_JOB_FIRST_CONTACT_H

#include "actors/cluster/plan.h"
#include "runtime/core/actor.h"

struct first_contact_options {
    const struct plan *plan; /* its first_ns bounds the wait */
    struct address root;     /* killed when the time is over */
};

/* arg: struct first_contact_options. */
extern const struct actor_ops first_contact_ops;

#endif
