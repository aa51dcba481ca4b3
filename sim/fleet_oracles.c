/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/fleet_oracles.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/fleet_checkpoints.h"

/* The bound of what one link holds: two windows of data, eight each of answers, small and large
 * (see LINK_DATA_WINDOWS, LINK_CONTROL_WINDOWS). */
#define LINK_WINDOWS 18u

/* No process of such a job has more, though its node was given no bound. */
#define MESSAGE_BYTES ((size_t)4 << 30)

static void look_at(struct fleet *fleet, struct fleet_process *process)
{
    struct links_status status[FLEET_PROCESSES_MAX];
    uint64_t bound = LINK_WINDOWS * fleet->plan.window_bytes;
    uint32_t count = links_status(process->node, status, FLEET_PROCESSES_MAX);
    for (uint32_t i = 0; i < count && i < FLEET_PROCESSES_MAX; i++)
        if (status[i].queued_bytes + status[i].retained_bytes > bound)
            fleet_fail(fleet,
                       "the link from process %" PRIu32 " to %" PRIu32 " holds %" PRIu64
                       " + %" PRIu64 " of %" PRIu64 " bytes",
                       process->number, status[i].node, status[i].queued_bytes,
                       status[i].retained_bytes, bound);
    struct account *messages = node_message_account(process->node);
    if (messages->bound_bytes > MESSAGE_BYTES || account_used(messages) > messages->bound_bytes)
        fleet_fail(fleet, "process %" PRIu32 ": the account of messages holds %zu of %zu bytes",
                   process->number, account_used(messages), messages->bound_bytes);
    size_t replies = account_used(&process->actors.replies);
    if (replies > fleet->plan.replies_bytes_max)
        fleet_fail(fleet,
                   "process %" PRIu32 ": replies of %zu bytes are on their way, %" PRIu64 " may be",
                   process->number, replies, fleet->plan.replies_bytes_max);
    if (batch_store_used(process->store) > fleet->plan.batch_bytes_max)
        fleet_fail(fleet, "process %" PRIu32 ": account \"batches\" holds %zu bytes",
                   process->number, batch_store_used(process->store));
}

void fleet_oracles_look(struct fleet *fleet)
{
    for (uint32_t p = 0; p < fleet->plan.plan.num_processes; p++)
        if (fleet->processes[p].node != NULL)
            look_at(fleet, &fleet->processes[p]);
}

/* An actor that waits for what does not come would be ended at the deadline, and nobody would see
 * that it waits in vain. */
static void look_at_stop(struct fleet *fleet, const struct fleet_process *process)
{
    uint64_t now_ns = env_sim_now_ns(fleet->env);
    bool stood_still = process->paused_until_ns > process->ending_ns;
    if (process->ending && !stood_still && now_ns >= process->ending_ns + FLEET_STOP_NS)
        fleet_fail(fleet,
                   "process %" PRIu32 " was asked to stop at %.6f, and had to be ended at "
                   "%.6f",
                   process->number, (double)process->ending_ns / 1e9, (double)now_ns / 1e9);
}

void fleet_oracles_buried(struct fleet *fleet, struct fleet_process *process)
{
    struct node_counters counters;
    /* This is asked first: it also brings home what is on its way. */
    bool stopped = node_is_stopped(process->node);
    node_counters(process->node, &counters);
    look_at_stop(fleet, process);
    if (!stopped || counters.actors_live != 0 || counters.calls_open != 0)
        fleet_fail(fleet, "process %" PRIu32 " left behind %" PRIu64 " actors, %" PRIu64 " calls",
                   process->number, counters.actors_live, counters.calls_open);
}

static void check_end(struct fleet *fleet, int rc)
{
    double seconds = (double)(env_sim_now_ns(fleet->env) - ENV_SECOND_NS) / 1e9;
    if (rc == TR_ETIMEDOUT)
        fleet_fail(fleet,
                   "step %" PRIu64 " of %" PRIu64 " was reached in %.1f virtual seconds, "
                   "and the job did not end",
                   fleet->furthest, fleet->plan.steps, seconds);
    else if (rc == TR_EEND)
        fleet_fail(fleet,
                   "deadlock at step %" PRIu64 " of %" PRIu64 ": nothing can happen any "
                   "more",
                   fleet->furthest, fleet->plan.steps);
    else if (rc == TR_ERANGE)
        fleet_fail(fleet, "livelock at step %" PRIu64 " of %" PRIu64 ": %" PRIu64 " events",
                   fleet->furthest, fleet->plan.steps, env_sim_steps(fleet->env));
    else if (rc != 0)
        fleet_fail(fleet, "the run ended with %s", tr_strerror(rc));
}

static void check_job(struct fleet *fleet)
{
    for (uint32_t p = 0; p < fleet->plan.plan.num_processes; p++)
        if (fleet->processes[p].node != NULL)
            fleet_fail(fleet, "process %" PRIu32 " still runs after the job", p);
    const struct fleet_tally *tally = &fleet->tally;
    if (tally->calls_opened != tally->calls_completed)
        fleet_fail(fleet, "%" PRIu64 " calls, %" PRIu64 " completions", tally->calls_opened,
                   tally->calls_completed);
    if (tally->monitors != tally->downs)
        fleet_fail(fleet, "%" PRIu64 " monitors, %" PRIu64 " DOWNs", tally->monitors, tally->downs);
}

/* The purpose of the whole job: the weights of the undisturbed run. */
static void check_model(struct fleet *fleet, struct files *files)
{
    const struct fleet_plan *plan = &fleet->plan;
    struct error error = { 0 };
    char *bytes = NULL;
    size_t count = 0;
    int rv = files_read_all(files, FLEET_MODEL, plan->values * sizeof(float), &bytes, &count,
                            &error);
    if (rv != 0)
        fleet_fail(fleet, "the model: %s", error.text);
    else if (count != plan->values * sizeof(float) ||
             expected_run_hash(plan, (const float *)(const void *)bytes) !=
                 fleet->expected.hashes[plan->steps])
        fleet_fail(fleet, "the model on the disk is not that of the undisturbed run");
    free(bytes);
}

/* The epochs of the run are on the disk from its beginning on, whatever fails later. */
static void check_metrics(struct fleet *fleet, struct files *files)
{
    if (!files_exists(files, FLEET_METRICS))
        fleet_fail(fleet, "%s: the run has no metrics", FLEET_METRICS);
}

static void check_run(struct fleet *fleet)
{
    /* Reads are whole from here on: these are the oracles' own. */
    struct fleet_disk *disk = fleet_disk_of(fleet, plan_trainer_node(&fleet->plan.plan, 0));
    files_sim_set_short(disk->files, 0);
    check_model(fleet, disk->looks);
    check_metrics(fleet, disk->looks);
}

void fleet_oracles_ended(struct fleet *fleet, int rc)
{
    check_end(fleet, rc);
    if (fleet->error.code == 0)
        check_job(fleet);
    if (fleet->error.code == 0 && fleet->complete)
        check_run(fleet);
    if (fleet->error.code == 0)
        fleet_checkpoints_ended(fleet);
}
