/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The figures that `troupe status` and `troupe top` show of a process: the figures of the document
 * that its actor "status" answered with (actors/report/status.h).
 *
 * The document comes from outside: whatever it holds, what is missing or of another type is 0.
 *
 * Ownership: a view borrows from the plan. Thread rules: one thread at a time.
 */
#ifndef LAUNCH_STATUS_VIEW_H
#define LAUNCH_STATUS_VIEW_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "actors/cluster/cluster.h"
#include "actors/common/job_progress.h"

struct status_view {
    const char *host, *roles;
    char planned[64];
    bool up;
    uint32_t incarnation, links_up, links;
    uint64_t sent_bytes, received_bytes, queued_bytes, credit_bytes; /* of its links */
    uint64_t mailbox_messages, mailbox_bytes, mailbox_messages_max, batch_bytes, made, taken;
    uint64_t restarts, process_restarts; /* of its actors, and of itself */
    double uptime_s, lag_ms;
    /* Its trainers, where it has some; the job as it knows it. */
    struct job_progress_now progress;
    double seeds_per_s, checkpoint_age_s; /* below 0: not known */
    uint64_t rss_bytes;
    double cpu_s, cpus;
};

/* One link of the document. */
struct status_link_view {
    uint32_t process;
    bool up;
    uint64_t sent_bytes, received_bytes, queued_bytes;
    double silent_s;
};

/* The document of a reply, or NULL: it is none. The caller gives it up. */
json_t *status_view_parse(const void *bytes, size_t size);

/* Adds what a process knows of the job to what others know. Trainers are at most a step apart; a
 * process that has not heard of an era yet knows nothing new. */
void status_view_add_job(struct job_progress_now *job, json_t *document);

/* The link of that number of a document, which may be NULL. False: it has no such link. */
bool status_view_link(json_t *document, uint32_t number, struct status_link_view *link);

/* document NULL: the process does not answer. */
void status_view_fill(const struct cluster_plan *plan, uint32_t process, json_t *document,
                      uint64_t round_trip_ns, struct status_view *view);

#endif
