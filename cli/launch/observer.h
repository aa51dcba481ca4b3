/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An observer of a job: a node that is not in the plan, connects to every process, and asks each for
 * its status again and again.
 *
 * Ownership: observer_open makes it, observer_close ends it. Thread rules: one thread; the asking is done
 * by an actor on a loop of the observer's own.
 */
#ifndef CLI_LAUNCH_OBSERVER_H
#define CLI_LAUNCH_OBSERVER_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "actors/cluster/cluster.h"

/* A process that does not answer in this time is shown as down; it is asked again. */
#define OBSERVER_ANSWER_NS UINT64_C(3000000000)
#define OBSERVER_EVERY_NS UINT64_C(1000000000)

struct observer;

/* graph: for the number of partitions; NULL: as the cluster file says. host: whose keys are used,
 * where the cluster has certificates; NULL: this host's. */
int observer_open(const char *cluster, const char *graph, const char *host,
                  struct observer **observer, struct error *error);
void observer_close(struct observer *observer);

const struct cluster_plan *observer_plan(const struct observer *observer);

/* What was seen of a process last. */
struct observer_seen {
    json_t *document;       /* a reference of the caller's; NULL: it does not answer */
    uint64_t round_trip_ns; /* of the last answer */
    uint64_t at_ns;         /* when it came */
    uint64_t answers;       /* and failures: so often was it asked */
};
void observer_look(struct observer *observer, uint32_t process, struct observer_seen *seen);

/* Waits until each process answered or failed to `times` times, or that long. */
void observer_wait(struct observer *observer, uint64_t times, uint64_t timeout_ns);

#endif
