/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The status of a process, for display: which processes are up, what waits where, how much went
 * through.
 *
 * An actor called "status" on every process answers MSG_STATUS_REQUEST, from observers too, with a
 * JSON document; `troupe status` and `troupe top` show them. It asks a probe on each loop for the
 * mailboxes there, since an actor's state is its loop's alone.
 *
 *     {"node": 1, "incarnation": 5, "restarts": 0, "job": "name", "roles": "server",
 *      "uptime_seconds": 3.2, "era": 1, "epoch": 2, "epochs": 10, "step": 7, "steps": 100,
 *      "checkpoint": 107, "checkpoint_age_seconds": 4.5, "loss": 0.7, "score": 0.8,
 *      "score_name": "accuracy", "seeds": 7168, "seeds_per_second": 51200.0,
 *      "rss_bytes": 104857600, "cpu_seconds": 3.1, "cpus": 0.9,
 *      "batches_made": 0, "batches_taken": 0, "batch_bytes": 0,
 *      "counters": {"messages_live": 3, "sent": 9, ...},
 *      "links": [{"node": 0, "state": "up", "bytes_sent": 12, ..., "silent_seconds": 0.2}],
 *      "refused": {"accepted": 2, "refused": 0, "unproved": 0, "corrupt": 0, "observers": 0},
 *      "actors": [{"name": "server", "loop": 0, "messages": 0, "bytes": 0, "bytes_max": 1,
 *                  "calls": 0, "received": 4}]}
 *
 * A number of the job that a process does not know is 0. "checkpoint" is there once there is one,
 * its age where this process saw it committed, "loss" and the score once a trainer here has noted
 * one. "cpus" is the mean number of processors in use since the process joined. "restarts" of the
 * process are its launcher's, those among the counters are of its actors.
 *
 * Ownership: the options outlive the actor. Thread rules: an actor's; status_json on any thread.
 */
#ifndef ACTORS_REPORT_STATUS_H
#define ACTORS_REPORT_STATUS_H

#include <jansson.h>

#include "actors/common/job_progress.h"
#include "actors/data/batch_store.h"
#include "runtime/base/process_usage.h"
#include "runtime/core/actor.h"
#include "runtime/core/node.h"

#define STATUS_NAME "status"
#define STATUS_VERSION 1u
/* Requests at once; a person and a program or two. */
#define STATUS_ASKED_MAX 64u

struct status_options {
    const char *job;   /* the cluster's name */
    const char *roles; /* of this process */
    struct batch_store *store;
    struct job_progress *progress; /* may be NULL */
    uint32_t node, incarnation;
    uint32_t restarts; /* so often has a launcher started this process again */
    uint64_t begin_ns; /* of the env's clock */
    /* The wall clock's seconds since 1970-01-01 UTC at begin_ns; 0: they are not known. */
    double began_at;
    uint64_t begin_cpu_ns;                      /* that the process had used by then */
    void (*usage)(struct process_usage *usage); /* NULL: no usage is reported */
};

/* arg: struct status_options. */
extern const struct actor_ops status_ops;

/* The document without "actors", or NULL: memory is out. The node must not be destroyed. */
json_t *status_json(const struct status_options *options, struct node *node, uint64_t now_ns);

#endif
