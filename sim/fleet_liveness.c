/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/fleet_liveness.h"

#include <inttypes.h>

#include "sim/fleet.h"

/* Pauses between attempts, greetings of links, what the disk and the network take. */
#define SLACK_NS (5 * ENV_SECOND_NS)

/*
 * The times that may have to pass, one after the other, before the job gets on:
 *
 *     2 * dead_ns            a process that stands still is noticed; a dead one can hide another
 *     LAUNCHER_GRACE_NS      a process that ended well is missed by those that go on
 *     LAUNCHER_PAUSE_MAX_NS  one that failed again and again is started
 *
 * and then all steps are done again, where no checkpoint was committed. Nobody has to wait for the
 * time in which a member looks for a coordinator: its launcher starts one long before.
 *
 * Once the result is written:
 *
 *     LAUNCHER_GRACE_NS      processes end by themselves
 *     LAUNCHER_GRACE_NS      those that did not were asked to stop, and are killed
 *
 * The last is three times where trainers, samplers and servers are asked one after the other. That
 * alone is left where the job is to stop, whatever faults are under way: who does not end is killed.
 */
void fleet_liveness_init(struct fleet_liveness *liveness, const struct fleet_plan *plan,
                         uint64_t now_ns)
{
    *liveness = (struct fleet_liveness){
        .progress_ns = 2 * plan->dead_ns + LAUNCHER_GRACE_NS + LAUNCHER_PAUSE_MAX_NS +
                       2 * plan->steps * plan->think_ns + SLACK_NS,
        .end_ns = (1 + LAUNCHER_ROLES) * LAUNCHER_GRACE_NS + SLACK_NS,
        .stopped_ns = LAUNCHER_ROLES * LAUNCHER_GRACE_NS + SLACK_NS,
        .calm_ns = now_ns,
        .since_ns = now_ns,
    };
}

void fleet_liveness_fault(struct fleet_liveness *liveness, uint64_t until_ns)
{
    if (until_ns > liveness->calm_ns)
        liveness->calm_ns = until_ns;
}

void fleet_liveness_stop(struct fleet_liveness *liveness, uint64_t now_ns)
{
    liveness->stop_ns = now_ns;
}

void fleet_liveness_down(struct fleet_liveness *liveness, uint64_t until_ns)
{
    liveness->stop_ns = 0;
    fleet_liveness_fault(liveness, until_ns);
    liveness->calm_ns += FLEET_STOP_NS;
}

void fleet_liveness_note(struct fleet *fleet, uint64_t now_ns)
{
    struct fleet_liveness *liveness = &fleet->liveness;
    if (fleet->furthest == liveness->furthest && fleet->committed == liveness->committed &&
        fleet->complete == liveness->complete)
        return;
    liveness->furthest = fleet->furthest;
    liveness->committed = fleet->committed;
    liveness->complete = fleet->complete;
    liveness->since_ns = now_ns;
}

uint64_t fleet_liveness_due_ns(const struct fleet_liveness *liveness)
{
    if (liveness->stop_ns != 0)
        return liveness->stop_ns + liveness->stopped_ns;
    uint64_t from_ns = liveness->since_ns > liveness->calm_ns ? liveness->since_ns
                                                              : liveness->calm_ns;
    return from_ns + (liveness->complete ? liveness->end_ns : liveness->progress_ns);
}

void fleet_liveness_check(struct fleet *fleet, uint64_t now_ns)
{
    const struct fleet_liveness *liveness = &fleet->liveness;
    fleet_liveness_note(fleet, now_ns);
    if (now_ns < fleet_liveness_due_ns(liveness))
        return;
    if (liveness->stop_ns != 0)
        fleet_fail(fleet, "the job was to stop at %.6f, and has not ended at %.6f",
                   (double)liveness->stop_ns / 1e9, (double)now_ns / 1e9);
    fleet_fail(fleet,
               "the job did not get on in time: step %" PRIu64 " of %" PRIu64 " was reached "
               "at %.6f%s, the last fault was over at %.6f, now it is %.6f",
               liveness->furthest, fleet->plan.steps, (double)liveness->since_ns / 1e9,
               liveness->complete ? " and the result is written" : "",
               (double)liveness->calm_ns / 1e9, (double)now_ns / 1e9);
}
