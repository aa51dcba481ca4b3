/* SPDX-License-Identifier: Apache-2.0 */
#include <troupe/process.h>

#include "sim/fleet.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "actors/cluster/process_notice.h"
#include "sim/fleet_oracles.h"
#include "sim/link_checker.h"
#include "sim/sim_reader.h"
#include "sim/sim_trainer.h"
#include "sim/sim_writer.h"

/* As a session waits for its client before its graph is open. */
#define START_NS (30 * ENV_SECOND_NS)
#define NOTICE_BYTES_MAX 128u

void fleet_say(struct fleet_process *process, const char *format, ...)
{
    struct fleet *fleet = process->checker.fleet;
    char line[NOTICE_BYTES_MAX];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    uint64_t now_ns = env_sim_now_ns(fleet->env);
    fleet_launch_line(fleet, process->number, line);
    if (fleet->verbose != NULL)
        fprintf(fleet->verbose, "    %10.6f process %" PRIu32 " says: %s\n", (double)now_ns / 1e9,
                process->number, line);
}

static void write_log(void *arg, enum log_level level, const char *component, const char *line)
{
    const struct fleet_process *process = arg;
    const struct fleet *fleet = process->checker.fleet;
    fprintf(fleet->verbose, "    %10.6f process %" PRIu32 " log %d %s: %s\n",
            (double)env_sim_now_ns(fleet->env) / 1e9, process->number, (int)level, component, line);
}

static void fleet_load(struct fleet *fleet, struct fleet_process *process)
{
    const struct plan_process *plays = &fleet->plan.processes[process->number];
    int rv = snapshots_create(&fleet->partitions.book, &process->snapshots);
    if (rv == 0)
        snapshots_set_ids(process->snapshots, sim_partitions_read_ids, &fleet->partitions);
    for (uint32_t i = 0; i < plays->num_parts && rv == 0; i++)
        rv = snapshots_add(process->snapshots, &fleet->partitions.parts[plays->parts[i]], NULL,
                           NULL, NULL);
    process->files = files_sim_mount(fleet_disk_of(fleet, process->number)->files);
    if (process->files != NULL)
        process->files->failpoints = &process->failpoints;
    process->store = batch_store_create(fleet->plan.batch_bytes_max);
    process->lists = seed_lists_create();
    assert(rv == 0 && process->files != NULL && process->store != NULL && process->lists != NULL);
}

/* The process dies here: what it did before is as a kill leaves it, what it does until the end of
 * this step reaches neither disk nor network. */
_Static_assert(FAILPOINTS_COUNT <= 64, "the set of those that struck is one word");

static void fleet_doom(struct fleet *fleet, struct fleet_process *process, enum failpoint point)
{
    process->doomed = true;
    fleet->struck |= UINT64_C(1) << point;
    fleet->tally.faults++;
    if (fleet->verbose != NULL)
        fprintf(fleet->verbose, "    %10.6f fault: death at %s, process %" PRIu32 "\n",
                (double)env_sim_now_ns(fleet->env) / 1e9, failpoint_name(point), process->number);
    files_sim_kill(process->files);
    fleet_disk_of(fleet, process->number)->disturbed = true;
    env_sim_cut(fleet->env, process->node);
}

static void fleet_reached(struct failpoints *self, enum failpoint point)
{
    struct fleet_process *process = (struct fleet_process *)(void *)self;
    struct fleet *fleet = process->checker.fleet;
    const struct fleet_plan *plan = &fleet->plan;
    if (process->doomed)
        return;
    for (uint32_t i = 0; i < plan->num_failpoints; i++)
        /* Passes are counted for each plan of the point, though the process dies of one alone. */
        if (plan->failpoints[i].point == point &&
            ++fleet->failpoint_passes[i] == plan->failpoints[i].nth && !process->doomed)
            fleet_doom(fleet, process, point);
}

static void make_cast(struct fleet *fleet, struct fleet_process *process)
{
    const struct fleet_plan *plan = &fleet->plan;
    const struct process_actors_options options = {
        .book = &fleet->partitions.book,
        .meta = &fleet->partitions.meta,
        .snapshots = process->snapshots,
        .store = process->store,
        .lists = process->lists,
        .plan = &plan->plan,
        .process = process->number,
        .loops = plan->processes[process->number].loops,
        .direct = plan->direct,
        .flat = plan->flat,
        .recovery_ns = 600 * ENV_SECOND_NS,
        .call_ns = plan->call_ns,
        .reply_bytes_max = plan->reply_bytes_max,
        .replies_bytes_max = plan->replies_bytes_max,
        .slice_edges = plan->slice_edges,
        .stand_ins = &faulty_actors,
        .faults = &process->faults,
        .files = process->files,
        .checkpoints = FLEET_CHECKPOINTS,
        .kept = FLEET_CHECKPOINTS,
        .checkpoint_keep = plan->keep,
    };
    int rv = process_actors_init(&process->actors, &options);
    assert(rv == 0);
}

/* As launch/own_process.c has it. */
static void say_silent(void *arg, uint32_t node, uint32_t incarnation)
{
    fleet_say(arg, NOTICE_SILENT NOTICE_SILENT_WRITE, node, incarnation);
}

static void link_up(struct fleet *fleet, struct fleet_process *process)
{
    const struct fleet_plan *plan = &fleet->plan;
    struct links_peer peers[FLEET_PROCESSES_MAX];
    struct error error = { 0 };
    struct links_options options = {
        .cluster = "simulated",
        .listen = &fleet->endpoints[process->number],
        .num_listen = 1,
        .peers = peers,
        .insecure_network = true,
        .heartbeat_ns = plan->heartbeat_ns,
        .dead_ns = plan->dead_ns,
        .window_bytes = plan->window_bytes,
        .silent = plan->watches ? say_silent : NULL,
        .silent_arg = process,
    };
    for (uint32_t p = 0; p < plan->plan.num_processes; p++)
        if (p != process->number)
            peers[options.num_peers++] = (struct links_peer){ .node = p,
                                                              .endpoint = fleet->endpoints[p] };
    int rv = links_create(process->node, &options, &error);
    assert(rv == 0);
}

static void make_node(struct fleet *fleet, struct fleet_process *process)
{
    struct node_options options = {
        .id = process->number,
        .incarnation = process->incarnation,
        .loops = fleet->plan.processes[process->number].loops,
        .kinds = &fleet->kinds,
        .codec = fleet->plan.codec,
        .failpoints = &process->failpoints,
    };
    if (fleet->verbose != NULL)
        options.log = (struct log_sink){ write_log, process, LOG_LEVEL_DEBUG };
    int rv = node_create(fleet->env, &options, &process->node, NULL);
    assert(rv == 0);
}

static void fleet_spawn(struct fleet_process *process, const struct actor_ops *ops, const void *arg,
                        uint32_t number)
{
    struct address address;
    const struct actor_options options = { .ops = ops,
                                           .arg = arg,
                                           .loop = number % node_loops(process->node) };
    int rv = node_spawn(process->node, &options, &address);
    assert(rv == 0);
}

static void client_found(struct actor *self, void *arg, int status, struct address address)
{
    const struct fleet_seat *seat = arg;
    (void)address;
    if (status == 0)
        fleet_say(seat->process, "%s process %" PRIu32, NOTICE_READY, seat->process->number);
    actor_exit(self, 0);
}

/* A process is ready when its graph is open, which is when its client answers. */
static int start_opener(struct actor *self, const void *arg)
{
    if (directory_wait(self, CLIENT_NAME, actor_now_ns(self) + START_NS, client_found,
                       (void *)(uintptr_t)arg) != 0)
        actor_exit(self, 0);
    return 0;
}

static int fleet_drop(struct actor *self, struct message *message)
{
    message_release(self, message);
    return 0;
}

static const struct actor_ops opener_ops = { .name = "opener",
                                             .start = start_opener,
                                             .receive = fleet_drop };

static void spawn_all(struct fleet *fleet, struct fleet_process *process)
{
    struct plan_range trainers = fleet->plan.processes[process->number].trainers;
    fleet_spawn(process, &process_actors_ops, &process->actors, 0);
    fleet_spawn(process, &opener_ops, &process->checker, 0);
    for (uint32_t i = 0; i < trainers.count; i++) {
        process->trainers[i] = (struct fleet_seat){ fleet, process, trainers.first + i };
        fleet_spawn(process, &sim_trainer_ops, &process->trainers[i], i);
    }
    if (fleet->plan.messages > 0)
        fleet_spawn(process, &link_checker_ops, &process->checker, process->number);
    for (uint32_t i = 0; i < fleet->plan.readers; i++) {
        process->readers[i] = (struct fleet_seat){ fleet, process, i };
        fleet_spawn(process, &sim_reader_ops, &process->readers[i], i);
    }
    if (fleet->plan.writes > 0) {
        process->writer = (struct fleet_seat){ fleet, process, 0 };
        fleet_spawn(process, &sim_writer_ops, &process->writer, 0);
    }
}

void fleet_boot(struct fleet *fleet, uint32_t number, uint32_t incarnation)
{
    struct fleet_process *process = &fleet->processes[number];
    assert(process->node == NULL);
    /* Its actors are as busy as they were: what made them so outlives a process. */
    *process = (struct fleet_process){ .failpoints = { fleet_reached },
                                       .faults = process->faults,
                                       .number = number,
                                       .incarnation = incarnation,
                                       .checker = { fleet, process, 0 } };
    /* A process that finds no memory for its first actors just ends: nothing to see. */
    env_sim_set_alloc_fail(fleet->env, 0);
    fleet_load(fleet, process);
    make_cast(fleet, process);
    make_node(fleet, process);
    /* Links come before the actors that ask other nodes, and all come before the start, as
     * api/graph.c has it. */
    link_up(fleet, process);
    spawn_all(fleet, process);
    int rv = node_start(process->node);
    assert(rv == 0);
    if (fleet->memory_until_ns != 0)
        env_sim_set_alloc_fail(fleet->env, FLEET_MEMORY_PPM);
    fleet->tally.starts++;
}

void fleet_complete(struct fleet_process *process)
{
    struct fleet *fleet = process->checker.fleet;
    for (uint32_t rank = 0; rank < fleet->plan.plan.trainers; rank++)
        if (fleet->reached[rank] != fleet->plan.steps)
            fleet_fail(fleet,
                       "the result was written when trainer %" PRIu32 " was at step %" PRIu64
                       " of %" PRIu64,
                       rank, fleet->reached[rank], fleet->plan.steps);
    fleet->written = true;
    fleet->complete = !process->orphan; /* else nobody hears of it */
    fleet_say(process, "%s", NOTICE_COMPLETE);
}

void fleet_ask_to_leave(struct fleet *fleet, uint32_t number)
{
    struct fleet_process *process = &fleet->processes[number];
    bool trains = fleet->plan.plan.processes[number].trainers.count > 0;
    if (!trains || process->met > 0 || fleet->plan.seed < FLEET_LEAVES_FROM) {
        fleet_ask_to_stop(fleet, number);
    } else if (process->node != NULL && !process->ending && !process->leaves) {
        process->leaves = true;
        process->leave_ns = env_sim_now_ns(fleet->env) + TR_PROCESS_LINGER_NS;
    }
}

void fleet_leave(struct fleet_process *process)
{
    struct fleet *fleet = process->checker.fleet;
    if (++process->left < fleet->plan.plan.processes[process->number].trainers.count)
        return;
    process->leaves = true;
    process->leave_ns = env_sim_now_ns(fleet->env);
}

void fleet_ask_to_stop(struct fleet *fleet, uint32_t number)
{
    struct fleet_process *process = &fleet->processes[number];
    if (process->node == NULL || process->ending)
        return;
    process->ending = true;
    process->ending_ns = env_sim_now_ns(fleet->env);
    node_stop(process->node, process->ending_ns + FLEET_STOP_NS);
}

int fleet_reap(struct fleet *fleet, uint32_t number)
{
    struct fleet_process *process = &fleet->processes[number];
    struct node_counters counters;
    int failure = node_failure(process->node);
    fleet_oracles_buried(fleet, process);
    if (fleet->error.code != 0)
        return failure;
    node_counters(process->node, &counters);
    fleet->tally.actor_restarts += counters.restarts;
    node_destroy(process->node);
    process->node = NULL;
    process_actors_fini(&process->actors);
    /* The store is closed first: idle batches are charged until then. */
    batch_store_close(process->store);
    if (batch_store_used(process->store) != 0)
        fleet_fail(fleet, "process %" PRIu32 ": %zu bytes of batches are left", number,
                   batch_store_used(process->store));
    batch_store_release(process->store);
    seed_lists_destroy(process->lists);
    snapshots_destroy(process->snapshots);
    return failure;
}

void fleet_kill(struct fleet *fleet, uint32_t number)
{
    struct fleet_process *process = &fleet->processes[number];
    if (process->node == NULL)
        return;
    process->doomed = true; /* it passes no more points while it is taken down */
    /* Disk and network go first: what actors do while they are taken down reaches neither. */
    files_sim_kill(process->files);
    fleet_disk_of(fleet, number)->disturbed = true;
    env_sim_kill(fleet->env, process->node);
    fleet->tally.deaths++;
    (void)fleet_reap(fleet, number);
    process->died = true;
}
