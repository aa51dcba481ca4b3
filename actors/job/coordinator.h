/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The coordinator: the members, barriers, the end of the job.
 *
 * A pure state machine. Members join under a role and a rank; each is monitored, and its one DOWN
 * removes it. A barrier instance is (name, sequence): it ends in one way for all, either when all
 * `count` ranks came or at the earliest deadline among those that came, and a repeated request
 * gets the first answer. The job ends when all trainers said so, or one that the job's result is
 * written, or the first that it failed; then every member is asked to stop and the coordinator ends
 * after the last.
 *
 * Eras: reducers (a trainer each) work in one era together. It ends when one of them goes down,
 * joins anew or asks to be restored: all are notified, and what they do in it is refused with
 * TR_EROLLBACK. The next begins when all of them asked to be restored, from the newest checkpoint
 * that is whole. A coordinator that was started again knows no era until members join that are in
 * one: it rolls nobody back by itself. Trainers say where checkpoints are kept and how many (0: 2).
 *
 * In a plan of several hosts the checkpoint is chosen among what their checkpoint stores have, and
 * a manifest is on two hosts before a checkpoint counts as made (coordinator_hosts.c).
 *
 * Ownership: the options outlive the actor and its restarts. Thread rules: an actor's.
 */
#ifndef ACTORS_JOB_COORDINATOR_H
#define ACTORS_JOB_COORDINATOR_H

#include <stdint.h>

#include "actors/cluster/plan.h"
#include "actors/common/process_member.h"
#include "runtime/core/actor.h"

/* Actors that joined; above any cluster in use, and a list that grows beyond it is a leak. */
#define COORDINATOR_MEMBERS_MAX 65536u
/* Barrier names in use: programs name a handful. */
#define COORDINATOR_BARRIERS_MAX 1024u
/* Clients of sequenced requests (sequenced.h): a rank asks for a few things, under some names. */
#define COORDINATOR_CLIENTS_MAX (4 * COORDINATOR_MEMBERS_MAX)
#define COORDINATOR_CLIENTS_BYTES ((size_t)64 << 20)

struct files;
struct plan;
struct job_progress;

struct coordinator_options {
    uint32_t trainers; /* the job is done when that many ranks said so; 0: only failures end it */
    struct plan_marks marks; /* those of members have to be equal */
    struct files *files;     /* NULL: files_posix */
    struct address root;     /* asked to stop when the job has ended; none: nobody */
    const struct plan *plan; /* NULL, or of one host: all checkpoints are in this one's folder */
    uint32_t process;        /* of the plan: the coordinator's */
    const char *host;        /* "%h" in the folder; NULL: stands for itself */
    struct job_progress *progress; /* may be NULL */
    uint64_t recovery_ns; /* how long trainers wait for others; 0: COORDINATOR_RECOVERY_NS */
};

/* As a session has it: by then a rank that waits for a trainer that does not come gives up. */
#define COORDINATOR_RECOVERY_NS (UINT64_C(600) * 1000000000)

/* arg: struct coordinator_options. */
extern const struct actor_ops coordinator_ops;

#endif
