/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/run.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/core/dump.h"
#include "sim/faults.h"
#include "sim/fleet_run.h"
#include "sim/oracles.h"
#include "sim/runtime_checker.h"
#include "sim/sim_client.h"

/* As a session's. */
#define RECOVERY_NS (600 * ENV_SECOND_NS)
#define DUMP_NS UINT64_C(1000000)
#define STOP_NS (10 * ENV_SECOND_NS)

/* Arguments of actors: they outlive the node. */
struct casting {
    struct client_args clients[SCENARIO_CLIENTS_MAX];
    struct runtime_checker_args checkers[PROBES_MAX];
};

static void write_log(void *arg, enum log_level level, const char *component, const char *line)
{
    fprintf(arg, "    log %d %s: %s\n", (int)level, component, line);
}

static void open_graph(struct world *world)
{
    struct draws draws = world_draws(world, WORLD_DRAWS_PLACE, 0);
    sim_partitions_init(&world->partitions, &world->scenario.raw, world->scenario.parts, &draws);
    for (uint32_t c = 0; c < world->scenario.clients; c++) {
        wanted_loader_rank(&world->scenario.client[c].loader, &world->partitions);
        wanted_loader_list(&world->scenario.client[c].loader, &world->partitions);
    }
    reference_init(&world->reference, &world->scenario.raw);
    int rv = snapshots_create(&world->partitions.book, &world->snapshots);
    for (uint32_t p = 0; p < world->scenario.parts && rv == 0; p++)
        rv = snapshots_add(world->snapshots, &world->partitions.parts[p], NULL, NULL, NULL);
    assert(rv == 0);
}

static void close_graph(struct world *world)
{
    snapshots_destroy(world->snapshots);
    reference_fini(&world->reference);
    sim_partitions_fini(&world->partitions);
}

static void make_cast(struct world *world)
{
    const struct scenario *s = &world->scenario;
    const struct process_actors_options options = {
        .book = &world->partitions.book,
        .meta = &world->partitions.meta,
        .snapshots = world->snapshots,
        .store = world->store,
        .lists = world->lists,
        .plan = &world->plan,
        .loops = s->loops,
        .direct = s->direct,
        .flat = s->codec,
        .recovery_ns = RECOVERY_NS,
        .call_ns = s->call_ns,
        .reply_bytes_max = s->reply_bytes_max,
        .slice_edges = s->slice_edges,
        .stand_ins = &faulty_actors,
        .faults = &world->faults,
        .mailbox_bytes_max = s->mailbox_bytes_max,
    };
    int rv = plan_init_single(&world->plan, s->parts, s->servers, s->samplers, 1, s->loops);
    if (rv == 0)
        rv = process_actors_init(&world->actors, &options);
    assert(rv == 0);
}

static void make_node(struct world *world, FILE *verbose)
{
    const struct scenario *s = &world->scenario;
    struct node_options options = {
        .loops = s->loops,
        .kinds = &world->kinds,
        .codec = s->codec,
        .message_bytes_max = s->message_bytes_max,
    };
    if (verbose != NULL)
        options.log = (struct log_sink){ write_log, verbose, LOG_LEVEL_DEBUG };
    int rv = messages_register(&world->kinds, NULL);
    if (rv == 0)
        rv = runtime_checker_register(&world->kinds, NULL);
    if (rv == 0)
        rv = env_sim_create(s->seed, &s->env, &world->env);
    if (rv == 0)
        rv = node_create(world->env, &options, &world->node, NULL);
    assert(rv == 0);
}

static struct address run_spawn(struct world *world, const struct actor_ops *ops, const void *arg,
                                uint32_t loop, size_t mailbox_bytes_max)
{
    const struct actor_options options = { .ops = ops,
                                           .arg = arg,
                                           .loop = loop % world->scenario.loops,
                                           .mailbox_bytes_max = mailbox_bytes_max };
    struct address address;
    int rv = node_spawn(world->node, &options, &address);
    assert(rv == 0);
    return address;
}

static void spawn_all(struct world *world, struct casting *casting)
{
    const struct scenario *s = &world->scenario;
    struct address checkers[PROBES_MAX];
    /* Roots end in the reverse order: faults strike no more when trainers end, and what trainers
     * ask is there until they have ended. All of them are spawned before the node starts, as a
     * session spawns its own. */
    run_spawn(world, &process_actors_ops, &world->actors, 0, 0);
    for (uint32_t i = 0; i < s->clients; i++) {
        casting->clients[i] = (struct client_args){ world, i };
        run_spawn(world, &client_ops, &casting->clients[i], s->client[i].loop, 0);
    }
    for (uint32_t i = 0; i < s->checkers; i++) {
        casting->checkers[i] = (struct runtime_checker_args){ .world = world, .number = i };
        checkers[i] = run_spawn(world, &runtime_checker_ops, &casting->checkers[i], i, 8192);
    }
    for (uint32_t i = 0; i < s->checkers; i++)
        memcpy(casting->checkers[i].peers, checkers, s->checkers * sizeof checkers[0]);
    run_spawn(world, &faults_ops, world, 0, 0);
}

static bool is_done(void *arg)
{
    struct world *world = arg;
    const struct scenario *s = &world->scenario;
    /* The oracles come before all else: bounds are checked after the last step too. */
    oracles_step(world);
    return world->error.code != 0 || world->finished == s->clients ||
           (s->stop_at_ns != 0 && env_sim_now_ns(world->env) >= ENV_SECOND_NS + s->stop_at_ns) ||
           node_is_stopped(world->node);
}

static void stop_node(struct world *world)
{
    uint64_t now_ns = env_sim_now_ns(world->env);
    /* Memory and loops come back first: what does not end in time then has nothing but itself to
     * wait for. */
    env_sim_set_alloc_fail(world->env, 0);
    for (uint32_t i = 0; i < world->scenario.loops; i++)
        env_sim_pause(world->env, world->node, i, 0);
    node_stop(world->node, now_ns + STOP_NS);
    int rc = env_sim_run(world->env, NULL, NULL, now_ns + ORACLES_STOP_NS);
    if (rc != TR_EEND && rc != TR_ETIMEDOUT)
        world_fail(world, "stopping ended with %s", tr_strerror(rc));
}

static void release_kept(struct world *world)
{
    for (uint32_t i = 0; i < world->num_kept; i++)
        sampled_batch_release(world->kept[i]);
}

static void fill_result(const struct world *world, struct sim_result *result)
{
    struct node_counters counters;
    node_counters(world->node, &counters);
    result->steps = env_sim_steps(world->env);
    result->virtual_ns = env_sim_now_ns(world->env) - ENV_SECOND_NS;
    result->batches = world->tally.batches;
    result->excluding = world->tally.excluding;
    result->outlived = world->tally.outlived;
    result->faults = world->tally.faults;
    result->restarts = counters.restarts;
    result->failures_told = world->tally.failures_told;
}

/* Dumps, for display, which actor waits for what. The verdict and the figures are made by now. */
static void run_dump(struct world *world)
{
    node_dump_request(world->node);
    (void)env_sim_run(world->env, NULL, NULL, env_sim_now_ns(world->env) + DUMP_NS);
}

static void run_play(struct world *world, FILE *verbose, struct sim_result *result)
{
    struct casting casting = { 0 };
    make_node(world, verbose);
    make_cast(world);
    spawn_all(world, &casting);
    int rc = node_start(world->node);
    assert(rc == 0);
    rc = env_sim_run(world->env, is_done, world, ORACLES_LIMIT_NS);
    /* The verdict and the figures are those of the run, before the stop adds steps to them; the
     * trace is of all, so that a second run repeats the stop too. */
    oracles_ended(world, rc);
    fill_result(world, result);
    if (world->error.code != 0 && verbose != NULL)
        run_dump(world);
    stop_node(world);
    oracles_stopped(world);
    result->trace = env_sim_trace(world->env);
}

/* Objects of a node that did not stop, or that leaks, are asserted on when they are taken down:
 * then the verdict is all that is brought home, and their memory is left. */
static void take_down(struct world *world)
{
    /* Kept batches go back before the store is asked what is left; the node goes before the env
     * below it, and before what its actors were given. */
    release_kept(world);
    node_destroy(world->node);
    env_destroy(world->env);
    process_actors_fini(&world->actors);
    plan_fini(&world->plan);
    batch_store_close(world->store);
    oracles_released(world);
}

void sim_run(uint64_t seed, FILE *verbose, struct sim_result *result)
{
    if (fleet_run_is_for(seed)) {
        fleet_run(seed, NULL, verbose, result);
        return;
    }
    struct world *world = calloc(1, sizeof *world);
    assert(world != NULL);
    *result = (struct sim_result){ .seed = seed };
    scenario_init(&world->scenario, seed);
    if (verbose != NULL)
        scenario_print(&world->scenario, verbose);
    world->next_loader = 1;
    world->store = batch_store_create(world->scenario.batch_bytes_max);
    world->lists = seed_lists_create();
    assert(world->store != NULL && world->lists != NULL);
    open_graph(world);
    run_play(world, verbose, result);
    bool sound = world->error.code == 0;
    if (sound)
        take_down(world);
    result->error = world->error;
    if (!sound)
        return;
    if (world->error.code == 0)
        batch_store_release(world->store);
    seed_lists_destroy(world->lists);
    close_graph(world);
    scenario_fini(&world->scenario);
    free(world);
}

void sim_run_twice(uint64_t seed, FILE *verbose, struct sim_result *result)
{
    struct sim_result again;
    sim_run(seed, verbose, result);
    if (result->error.code != 0)
        return;
    sim_run(seed, NULL, &again);
    if (again.error.code != 0)
        error_prefix(&again.error, "the second run");
    else if (again.trace != result->trace || again.steps != result->steps)
        error_set(&again.error, TR_EMISMATCH,
                  "the same seed ran differently: %" PRIu64 " steps, trace %016" PRIx64
                  ", then %" PRIu64 " steps, trace %016" PRIx64,
                  result->steps, result->trace, again.steps, again.trace);
    result->error = again.error;
}

void sim_run_failpoints(uint64_t seed, const struct sim_failpoints *die_at, FILE *verbose,
                        struct sim_result *result)
{
    fleet_run(seed, die_at, verbose, result);
}
