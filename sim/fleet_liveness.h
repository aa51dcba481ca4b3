/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Liveness of a simulated cluster: while no fault is under way the job gets on, within bounds that
 * follow from the deadlines of the real program.
 *
 * Getting on is what nothing takes back: a step that no trainer had done before, a checkpoint that
 * was committed, the result, the end. Steps that are done again after a rollback are none, so a job
 * that rolls back for ever is found too.
 *
 * Plain memory of the fleet's thread.
 */
#ifndef SIM_FLEET_LIVENESS_H
#define SIM_FLEET_LIVENESS_H

#include <stdbool.h>
#include <stdint.h>

struct fleet;
struct fleet_plan;

struct fleet_liveness {
    uint64_t progress_ns;         /* bound of the time until it gets on, */
    uint64_t end_ns;              /* and until all have ended once the result is written, */
    uint64_t stopped_ns;          /* or once it is to stop */
    uint64_t calm_ns;             /* when the last fault that has begun is over */
    uint64_t stop_ns;             /* when it was to stop; 0: it is not */
    uint64_t since_ns;            /* when the job got on last, */
    uint64_t furthest, committed; /* which was to here */
    bool complete;
};

void fleet_liveness_init(struct fleet_liveness *liveness, const struct fleet_plan *plan,
                         uint64_t now_ns);

/* A fault has begun, and is over at until_ns. */
void fleet_liveness_fault(struct fleet_liveness *liveness, uint64_t until_ns);

/* All of the job is to end from now on. */
void fleet_liveness_stop(struct fleet_liveness *liveness, uint64_t now_ns);

/* No launcher lives until then; what the last one left behind ends by itself. */
void fleet_liveness_down(struct fleet_liveness *liveness, uint64_t until_ns);

/* Looks how far the job is; after each event, so that the time is that of the event. */
void fleet_liveness_note(struct fleet *fleet, uint64_t now_ns);

/* When it must have got on, unless another fault begins before. */
uint64_t fleet_liveness_due_ns(const struct fleet_liveness *liveness);

/* Fails the run of a job that did not get on in time. */
void fleet_liveness_check(struct fleet *fleet, uint64_t now_ns);

#endif
