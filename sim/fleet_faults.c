/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/fleet_faults.h"

#include <inttypes.h>
#include <stdio.h>

#include "actors/common/part_locator.h"
#include "runtime/core/directory.h"
#include "sim/draws.h"

#define MS UINT64_C(1000000)
#define CORRUPT_PPM 2000u

static uint32_t draw_process(const struct fleet *fleet, struct draws *draws)
{
    return (uint32_t)draws_below(draws, fleet->plan.plan.num_processes);
}

static void fleet_fault_note(struct fleet *fleet, const struct fleet_strike *strike,
                             uint32_t process)
{
    fleet->tally.faults++;
    if (fleet->verbose != NULL)
        fprintf(fleet->verbose, "    %10.6f fault: %s, process %" PRIu32 "\n",
                (double)env_sim_now_ns(fleet->env) / 1e9, fleet_fault_name(strike->fault), process);
}

static void kill_one(struct fleet *fleet, uint32_t process)
{
    if (fleet->processes[process].node != NULL)
        fleet_kill(fleet, process);
}

static void kill_some(struct fleet *fleet, uint32_t process, struct draws *draws)
{
    bool all = draws_chance(draws, 10);
    for (uint32_t p = 0; p < fleet->plan.plan.num_processes; p++)
        if (all || p == process)
            kill_one(fleet, p);
}

/* All processes of a host die at once, and in most cases the disk with them. More often it is the
 * host of a trainer, whose part is then on another one alone. */
static void kill_host(struct fleet *fleet, uint32_t process, struct draws *draws)
{
    const struct plan *plan = &fleet->plan.plan;
    if (plan->trainers > 0 && draws_chance(draws, 60))
        process = plan_trainer_node(plan, (uint32_t)draws_below(draws, plan->trainers));
    uint32_t host = fleet->plan.processes[process].host;
    bool replaced = draws_chance(draws, 70) && fleet_disks_may_be_replaced(fleet);
    /* All die before the disk goes, which they have mounted. */
    for (uint32_t p = 0; p < fleet->plan.plan.num_processes; p++)
        if (fleet->plan.processes[p].host == host)
            kill_one(fleet, p);
    if (!replaced || fleet->error.code != 0)
        return;
    fleet_disks_replace(fleet, host);
    if (fleet->verbose != NULL)
        fprintf(fleet->verbose, "    %10.6f host %" PRIu32 " is replaced by an empty one\n",
                (double)env_sim_now_ns(fleet->env) / 1e9, host);
}

static void stand_still(struct fleet *fleet, uint32_t process, uint64_t until_ns)
{
    struct fleet_process *it = &fleet->processes[process];
    if (it->node == NULL)
        return;
    it->paused_until_ns = until_ns;
    for (uint32_t l = 0; l < node_loops(it->node); l++)
        env_sim_pause(fleet->env, it->node, l, until_ns);
}

static void clog_way(struct fleet *fleet, uint32_t from, uint64_t until_ns, struct draws *draws)
{
    uint32_t to = draw_process(fleet, draws);
    if (to == from)
        return;
    env_sim_net_clog(fleet->env, from, to, until_ns);
    if (draws_chance(draws, 50))
        env_sim_net_clog(fleet->env, to, from, until_ns);
}

static void fleet_fault_reset(struct fleet *fleet, struct draws *draws)
{
    for (uint64_t n = draws_between(draws, 1, 6); n > 0; n--)
        (void)env_sim_net_reset(fleet->env);
}

static void fleet_fault_jump(struct fleet *fleet, struct draws *draws)
{
    int64_t ms = (int64_t)draws_scale(draws, 1, UINT64_C(100000000));
    env_sim_wall_jump(fleet->env, draws_chance(draws, 50) ? ms : -ms);
}

static void kill_found(struct actor *self, void *arg, int status, struct address address)
{
    (void)arg;
    if (status == 0)
        (void)actor_kill(self, address, TR_EIO);
    actor_exit(self, 0);
}

static int hit_start(struct actor *self, const void *arg)
{
    const struct fleet_victim *victim = arg;
    if (directory_lookup(self, victim->name, kill_found, NULL) != 0)
        actor_exit(self, 0);
    return 0;
}

static int hit_receive(struct actor *self, struct message *message)
{
    message_release(self, message);
    return 0;
}

static const struct actor_ops hit_ops = { .name = "hit",
                                          .start = hit_start,
                                          .receive = hit_receive };

/* The name of an actor of that process, or of one that it has not. */
static void draw_victim(struct fleet *fleet, uint32_t process, struct draws *draws, char *name)
{
    const struct plan_process *plays = &fleet->plan.processes[process];
    uint32_t one = (uint32_t)draws_below(draws, 3);
    switch (draws_below(draws, 5)) {
    case 0:
        server_part_name(plays->num_parts > 0 ? plays->parts[one % plays->num_parts] : 0, name);
        break;
    case 1:
        sampler_name(plays->samplers.first + one, name, DIRECTORY_NAME_MAX);
        break;
    case 2:
        proxy_name(plays->trainers.first + one, name);
        break;
    case 3:
        reducer_name(plays->trainers.first + one, name, DIRECTORY_NAME_MAX);
        break;
    default:
        snprintf(name, DIRECTORY_NAME_MAX, COORDINATOR_NAME);
        break;
    }
}

static void fleet_fault_hit(struct fleet *fleet, uint32_t process, struct draws *draws)
{
    struct fleet_victim *victim = &fleet->victims[fleet->next_strike - 1];
    struct fleet_process *it = &fleet->processes[process];
    const struct actor_options options = { .ops = &hit_ops, .arg = victim };
    struct address address;
    if (it->node == NULL || it->ending)
        return;
    draw_victim(fleet, process, draws, victim->name);
    (void)node_spawn(it->node, &options, &address); /* memory may be short */
}

/* Few processes have a checkpoint store or a reducer, so that half of the strikes are on all. */
static void strike_some(struct fleet *fleet, const struct fleet_strike *strike, uint32_t process,
                        struct draws *draws)
{
    bool all = draws_chance(draws, 50);
    uint64_t now_ns = env_sim_now_ns(fleet->env);
    for (uint32_t p = 0; p < fleet->plan.plan.num_processes; p++) {
        struct process_faults *faults = &fleet->processes[p].faults;
        struct draws same = *draws;
        if (!all && p != process)
            continue;
        if (strike->fault == FLEET_REDUCERS) {
            (void)actor_faults_strike(&faults->reducers, &same, now_ns, strike->lasts_ns, 1);
            continue;
        }
        struct draws again = same; /* looks are hit as the rest, so that old seeds draw the same */
        (void)actor_faults_strike(&faults->checkpoint_stores, &same, now_ns, strike->lasts_ns, 1);
        fleet_liveness_fault(&fleet->liveness,
                             actor_faults_strike(&faults->checkpoint_looks, &again, now_ns,
                                                 strike->lasts_ns + ACTOR_FAULTS_LOOK_LONGER_NS,
                                                 ACTOR_FAULTS_LOOK_SLOWER));
    }
}

static void fleet_fault_strike(struct fleet *fleet, const struct fleet_strike *strike)
{
    struct draws draws = draws_of(strike->draw, 1);
    /* The process is drawn first, whatever the fault makes of it: the draws that follow are
     * those of old seeds. */
    uint32_t process = draw_process(fleet, &draws);
    uint64_t until_ns = env_sim_now_ns(fleet->env) + strike->lasts_ns;
    fleet_fault_note(fleet, strike, process);
    fleet_liveness_fault(&fleet->liveness, until_ns);
    switch (strike->fault) {
    case FLEET_KILL:
        kill_some(fleet, process, &draws);
        break;
    case FLEET_PAUSE:
        if (draws_chance(&draws, 25)) /* only its training threads: heartbeats go on */
            fleet->processes[process].trainers_until_ns = until_ns;
        else
            stand_still(fleet, process, until_ns);
        break;
    case FLEET_CLOG:
        clog_way(fleet, process, until_ns, &draws);
        break;
    case FLEET_RESET:
        fleet_fault_reset(fleet, &draws);
        break;
    case FLEET_CORRUPT:
        env_sim_net_corrupt(fleet->env, CORRUPT_PPM);
        fleet->corrupt_until_ns = until_ns;
        break;
    case FLEET_REFUSE:
        env_sim_net_refuse(fleet->env, process, until_ns);
        (void)env_sim_net_reset(fleet->env);
        break;
    case FLEET_WALL:
        fleet_fault_jump(fleet, &draws);
        break;
    case FLEET_MEMORY:
        env_sim_set_alloc_fail(fleet->env, FLEET_MEMORY_PPM);
        fleet->memory_until_ns = until_ns;
        break;
    case FLEET_DISK_FULL:
        fleet_disks_fill(fleet, process, &draws, until_ns);
        break;
    case FLEET_SYNC_FAIL:
        fleet_disks_fail_syncs(fleet, process, &draws, until_ns);
        break;
    case FLEET_SERVERS:
        (void)actor_faults_strike(&fleet->processes[process].faults.servers, &draws,
                                  env_sim_now_ns(fleet->env), strike->lasts_ns, 1);
        break;
    case FLEET_CHECKPOINT_STORES:
    case FLEET_REDUCERS:
        strike_some(fleet, strike, process, &draws);
        break;
    case FLEET_STOP:
        fleet_launch_stop(fleet, strike);
        break;
    case FLEET_LAUNCHER:
        fleet_launch_kill(fleet, strike);
        break;
    case FLEET_HOST:
        kill_host(fleet, process, &draws);
        break;
    case FLEET_CARRIER:
        fleet_launch_lose(fleet, process);
        break;
    case FLEET_SIGNAL:
        fleet_launch_signal(fleet, process);
        break;
    default:
        fleet_fault_hit(fleet, process, &draws);
        break;
    }
}

static bool has_ended(uint64_t *until_ns, uint64_t now_ns)
{
    bool ended = *until_ns != 0 && *until_ns <= now_ns;
    if (ended)
        *until_ns = 0;
    return ended;
}

static void fleet_fault_mend(struct fleet *fleet, uint64_t now_ns)
{
    if (has_ended(&fleet->corrupt_until_ns, now_ns))
        env_sim_net_corrupt(fleet->env, 0);
    if (has_ended(&fleet->memory_until_ns, now_ns))
        env_sim_set_alloc_fail(fleet->env, 0);
    fleet_disks_mend(fleet, now_ns);
}

bool fleet_faults_are_due(const struct fleet *fleet)
{
    return fleet->next_strike < fleet->plan.num_strikes && fleet->strike_at_ns == UINT64_MAX &&
           fleet->furthest >= fleet->plan.strikes[fleet->next_strike].at_step;
}

void fleet_faults_tend(struct fleet *fleet)
{
    uint64_t now_ns = env_sim_now_ns(fleet->env);
    fleet_fault_mend(fleet, now_ns);
    if (fleet_faults_are_due(fleet))
        fleet->strike_at_ns = now_ns + fleet->plan.strikes[fleet->next_strike].after_ns;
    if (fleet->strike_at_ns > now_ns)
        return;
    fleet->strike_at_ns = UINT64_MAX;
    fleet_fault_strike(fleet, &fleet->plan.strikes[fleet->next_strike++]);
}

static uint64_t fleet_fault_earlier(uint64_t a, uint64_t b)
{
    return b != 0 && b < a ? b : a;
}

uint64_t fleet_faults_next_ns(const struct fleet *fleet)
{
    uint64_t next_ns = fleet_fault_earlier(fleet->strike_at_ns, fleet->corrupt_until_ns);
    next_ns = fleet_fault_earlier(next_ns, fleet->memory_until_ns);
    return fleet_fault_earlier(next_ns, fleet_disks_next_ns(fleet));
}

void fleet_faults_end(struct fleet *fleet)
{
    fleet_fault_mend(fleet, UINT64_MAX);
}
