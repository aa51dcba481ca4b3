/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/fleet_run.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#include "runtime/core/dump.h"
#include "sim/fleet.h"
#include "sim/fleet_faults.h"
#include "sim/fleet_oracles.h"
#include "sim/link_checker.h"
#include "sim/sim_writer.h"

/* Bounds are looked at every so many events. */
#define LOOK_EVERY 64u

bool fleet_run_is_for(uint64_t seed)
{
    switch (seed % 10) {
    case 0:
    case 1:
    case 2:
    case 4:
    case 7:
        return true;
    default:
        return false;
    }
}

static void open_world(struct fleet *fleet)
{
    const struct fleet_plan *plan = &fleet->plan;
    struct draws draws = draws_of(plan->seed, 99);
    sim_partitions_init(&fleet->partitions, &plan->raw, plan->plan.num_parts, &draws);
    wanted_loader_rank(&fleet->plan.loader, &fleet->partitions);
    wanted_loader_list(&fleet->plan.loader, &fleet->partitions);
    expected_run_init(&fleet->expected, plan);
    int rv = messages_register(&fleet->kinds, NULL);
    if (rv == 0)
        rv = link_checker_register(&fleet->kinds, NULL);
    if (rv == 0)
        rv = env_sim_create(plan->seed, &plan->env, &fleet->env);
    assert(rv == 0);
    fleet_disks_init(fleet);
    fleet->made = calloc(plan->steps + 1, sizeof *fleet->made);
    assert(fleet->made != NULL);
    env_sim_net_delay(fleet->env, plan->net_delay_ns);
    for (uint32_t p = 0; p < plan->plan.num_processes; p++) {
        struct endpoint *endpoint = &fleet->endpoints[p];
        endpoint->kind = plan->tcp ? ENDPOINT_TCP : ENDPOINT_UNIX;
        endpoint->port = plan->tcp ? (uint16_t)(7000 + p) : 0;
        snprintf(endpoint->host, sizeof endpoint->host,
                 plan->tcp ? "host%" PRIu32 : "/run/%" PRIu32, p);
    }
}

static void close_world(struct fleet *fleet)
{
    free(fleet->made);
    fleet_disks_fini(fleet);
    env_destroy(fleet->env);
    expected_run_fini(&fleet->expected);
    sim_ledgers_free(fleet->ledgers);
    sim_partitions_fini(&fleet->partitions);
    fleet_launch_fini(fleet);
}

/* Its process has ended, or the job has, and the process is to follow; or its trainers took too long
 * to leave. */
static bool needs_care(const struct fleet_process *process, uint64_t now_ns)
{
    bool late = process->leaves && now_ns >= process->leave_ns;
    return process->node != NULL &&
           (process->doomed || node_is_stopped(process->node) ||
            (!process->ending && (late || atomic_load(&process->actors.ended))));
}

static uint64_t next_leave_ns(const struct fleet *fleet)
{
    uint64_t next_ns = UINT64_MAX;
    for (uint32_t p = 0; p < fleet->plan.plan.num_processes; p++) {
        const struct fleet_process *process = &fleet->processes[p];
        if (process->node != NULL && process->leaves && !process->ending &&
            process->leave_ns < next_ns)
            next_ns = process->leave_ns;
    }
    return next_ns;
}

static bool needs_tending(void *arg)
{
    struct fleet *fleet = arg;
    fleet_liveness_note(fleet, env_sim_now_ns(fleet->env));
    if (env_sim_steps(fleet->env) % LOOK_EVERY == 0)
        fleet_oracles_look(fleet);
    for (uint32_t p = 0; p < fleet->plan.plan.num_processes; p++)
        if (needs_care(&fleet->processes[p], env_sim_now_ns(fleet->env)))
            return true;
    return fleet->error.code != 0 || fleet->said || fleet_faults_are_due(fleet);
}

/* See process_fail(): a process that was started with another job's files is not started again. */
static int exit_code_of(int failure)
{
    return failure == TR_EMISMATCH ? 2 : failure != 0;
}

static void tend_process(struct fleet *fleet, uint32_t number)
{
    struct fleet_process *process = &fleet->processes[number];
    /* A doomed process is dead, whatever its node has come to meanwhile; one that has stopped is
     * not asked to. */
    if (process->node != NULL && process->doomed) {
        fleet_kill(fleet, number);
        return;
    }
    if (process->node != NULL && node_is_stopped(process->node)) {
        bool fails = process->left > 0 || process->signalled;
        int failure = fleet_reap(fleet, number);
        fleet_launch_end(fleet, number, fails ? 1 : exit_code_of(failure), 0);
        if (fleet->verbose != NULL)
            fprintf(fleet->verbose, "    %10.6f process %" PRIu32 " ended with %s\n",
                    (double)env_sim_now_ns(fleet->env) / 1e9, number,
                    failure != 0 ? tr_error_name(failure) : "0");
    } else if (needs_care(process, env_sim_now_ns(fleet->env))) {
        fleet_ask_to_stop(fleet, number);
    }
}

/* Nothing will be launched any more, and nothing runs. */
static bool is_over(const struct fleet *fleet)
{
    for (uint32_t p = 0; p < fleet->plan.plan.num_processes; p++)
        if (fleet->processes[p].node != NULL)
            return false;
    return fleet->launch.over;
}

static void turn_launcher(struct fleet *fleet)
{
    /* The flag is cleared before the launcher's turn: what is said in it is taken care of in
     * another. */
    fleet->said = false;
    fleet_launch_turn(fleet);
    fleet->launched = is_over(fleet);
}

static void fleet_tend(struct fleet *fleet)
{
    /* The launcher decides when it knows of all ends of this turn, by themselves and by faults;
     * and whether the job gets on in time is asked when all was done for it. */
    for (uint32_t p = 0; p < fleet->plan.plan.num_processes && fleet->error.code == 0; p++)
        tend_process(fleet, p);
    if (fleet->error.code == 0)
        fleet_faults_tend(fleet);
    if (fleet->error.code == 0)
        turn_launcher(fleet);
    if (fleet->error.code == 0 && !fleet->launched)
        fleet_liveness_check(fleet, env_sim_now_ns(fleet->env));
}

static int fleet_play(struct fleet *fleet)
{
    uint64_t limit_ns = ENV_SECOND_NS + fleet->plan.limit_ns;
    int rc = 0;
    for (;;) {
        fleet_tend(fleet);
        if (fleet->launched || fleet->error.code != 0)
            return 0;
        uint64_t next_ns = fleet_faults_next_ns(fleet), wake_ns = fleet_launch_wake_ns(fleet);
        uint64_t until_ns = next_ns < wake_ns ? next_ns : wake_ns;
        uint64_t due_ns = fleet_liveness_due_ns(&fleet->liveness);
        uint64_t leave_ns = next_leave_ns(fleet);
        until_ns = until_ns < due_ns ? until_ns : due_ns;
        until_ns = until_ns < leave_ns ? until_ns : leave_ns;
        bool last = until_ns >= limit_ns;
        rc = env_sim_run(fleet->env, needs_tending, fleet, last ? limit_ns : until_ns);
        if (rc == TR_EEND && !last)
            env_sim_wait(fleet->env, until_ns); /* for the launcher, all being dead */
        else if (rc != 0 && (rc != TR_ETIMEDOUT || last))
            return rc;
    }
}

static bool is_stuck(const struct fleet *fleet)
{
    return fleet->error.code != 0 &&
           env_sim_now_ns(fleet->env) >= fleet_liveness_due_ns(&fleet->liveness);
}

/* Dumps, for display, which actor waits for what in a job that does not end. */
static void fleet_dump(struct fleet *fleet)
{
    uint64_t until_ns = env_sim_now_ns(fleet->env) + ENV_SECOND_NS;
    for (uint32_t p = 0; p < fleet->plan.plan.num_processes; p++)
        if (fleet->processes[p].node != NULL)
            node_dump_request(fleet->processes[p].node);
    (void)env_sim_run(fleet->env, NULL, NULL, until_ns);
}

static void fill_result(const struct fleet *fleet, struct sim_result *result)
{
    result->steps = env_sim_steps(fleet->env);
    result->virtual_ns = env_sim_now_ns(fleet->env) - ENV_SECOND_NS;
    result->batches = fleet->tally.batches;
    result->faults = fleet->tally.faults;
    result->restarts = fleet->tally.starts - fleet->plan.plan.num_processes +
                       fleet->tally.actor_restarts;
    result->failures_told = fleet->tally.failures_told;
    result->skips = fleet->tally.skips;
    result->reads = fleet->tally.reads;
    result->queries = fleet->tally.queries;
    result->writes = fleet->tally.writes;
    result->launches = fleet->tally.launches;
    result->spent = fleet->tally.spent;
    result->stopped = fleet->tally.stopped;
    result->killed = fleet->tally.killed;
    result->replaced = fleet->disks.replaced;
    result->interrupts = fleet->tally.interrupts;
    result->shuts = fleet->tally.shuts;
    result->leaves = fleet->tally.leaves;
    result->signals = fleet->tally.signals;
    for (uint32_t p = 0; p < fleet->plan.plan.num_processes; p++) {
        const struct checkpoint_requests *asked = &fleet->processes[p].faults.asked;
        result->copies += asked->copies;
        result->fetches += asked->fetches;
        result->drops += asked->drops;
    }
    result->trace = env_sim_trace(fleet->env);
    result->struck = fleet->struck;
    result->error = fleet->error;
}

/* The rest of a run that went wrong is left: taking it down would only assert. */
void fleet_run(uint64_t seed, const struct sim_failpoints *die_at, FILE *verbose,
               struct sim_result *result)
{
    struct fleet *fleet = calloc(1, sizeof *fleet);
    assert(fleet != NULL);
    *result = (struct sim_result){ .seed = seed };
    fleet_plan_init(&fleet->plan, seed, die_at);
    fleet->verbose = verbose;
    fleet->strike_at_ns = UINT64_MAX;
    if (verbose != NULL)
        fleet_plan_print(&fleet->plan, verbose);
    open_world(fleet);
    fleet_launch_init(fleet);
    fleet_liveness_init(&fleet->liveness, &fleet->plan, env_sim_now_ns(fleet->env));
    int rc = fleet_play(fleet);
    if ((rc != 0 || is_stuck(fleet)) && verbose != NULL)
        fleet_dump(fleet);
    fleet_faults_end(fleet);
    fleet_oracles_ended(fleet, rc);
    fill_result(fleet, result);
    if (fleet->error.code != 0)
        return;
    close_world(fleet);
    fleet_plan_fini(&fleet->plan);
    free(fleet);
}
