/* The actors of a job in several nodes with links between them: whatever plays where, and whoever
 * dies meanwhile, the batches are those of one node. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "actors/cast.h"
#include "actors/failed.h"
#include "graph/digest.h"
#include "graph/graph_meta.h"
#include "runtime/env.h"
#include "runtime/links.h"
#include "runtime/node.h"
#include "runtime/port.h"
#include "schemas/messages.h"
#include "tests/actors/graphs.h"

#define NODES 300u
#define BATCH 25u
#define EPOCHS 2u
#define STEPS_MAX 64u
#define TRAINERS_MAX 2u
#define PROCESSES_MAX 4u
#define SECOND UINT64_C(1000000000)
#define WAIT_NS (60 * SECOND)

/* What one process plays. */
struct part_list {
    uint32_t num_parts, parts[GRAPH_PARTS];
    struct plan_range samplers, trainers;
};

struct layout {
    uint32_t num_processes, samplers, trainers, coordinator;
    bool direct;
    struct part_list processes[PROCESSES_MAX];
};

struct party {
    struct node *node;
    struct cast cast;
    struct snapshots *snapshots;
    struct batch_bank *bank;
    uint32_t incarnation;
};

struct digests {
    uint32_t count;
    uint64_t of[EPOCHS * STEPS_MAX];
};

struct world {
    char folder[64];
    struct env *env;
    struct kinds kinds;
    struct test_graph graph;
    struct graph_meta meta;
    const struct layout *layout;
    struct plan plan;
    struct plan_process processes[PROCESSES_MAX];
    struct party parties[PROCESSES_MAX];
    struct port *ports[TRAINERS_MAX];
    struct address proxies[TRAINERS_MAX];
    struct digests digests[TRAINERS_MAX];
};

static void check(int rv, const struct error *error)
{
    if (rv != 0)
        fail_msg("%s: %s", tr_error_name(rv), error->text);
}

static struct endpoint endpoint_of(const struct world *world, uint32_t process)
{
    struct endpoint endpoint = { .kind = ENDPOINT_UNIX };
    snprintf(endpoint.host, sizeof endpoint.host, "%s/%u", world->folder, process);
    return endpoint;
}

static void link_up(struct world *world, uint32_t process)
{
    struct links_peer peers[PROCESSES_MAX];
    struct endpoint own = endpoint_of(world, process);
    struct links_options options = { .cluster = "test", .listen = &own, .num_listen = 1,
                                     .peers = peers, .heartbeat_ns = SECOND / 5,
                                     .dead_ns = SECOND };
    struct error error = { 0 };
    for (uint32_t p = 0; p < world->plan.num_processes; p++)
        if (p != process)
            peers[options.num_peers++] = (struct links_peer){ .node = p,
                                                              .endpoint = endpoint_of(world, p) };
    if (world->plan.num_processes > 1)
        check(links_create(world->parties[process].node, &options, &error), &error);
}

static void load(struct world *world, uint32_t process)
{
    const struct plan_process *plays = &world->plan.processes[process];
    struct party *party = &world->parties[process];
    assert_int_equal(snapshots_create(&world->graph.book, &party->snapshots), 0);
    for (uint32_t i = 0; i < plays->num_parts; i++)
        assert_int_equal(snapshots_add(party->snapshots, &world->graph.parts[plays->parts[i]],
                                       NULL, NULL, NULL), 0);
    party->bank = batch_bank_create((size_t)1 << 28);
    assert_non_null(party->bank);
}

static void start_party(struct world *world, uint32_t process)
{
    struct party *party = &world->parties[process];
    const struct node_options node = { .id = process, .incarnation = ++party->incarnation,
                                       .loops = 2, .kinds = &world->kinds };
    const struct cast_options cast = {
        .book = &world->graph.book, .meta = &world->meta, .snapshots = party->snapshots,
        .bank = party->bank, .plan = &world->plan, .process = process, .loops = 2,
        .direct = world->layout->direct, .recovery_ns = WAIT_NS, .reply_bytes_max = 4096,
    };
    const struct actor_options root = { .ops = &cast_ops, .arg = &party->cast };
    struct address address;
    struct error error = { 0 };
    assert_int_equal(cast_init(&party->cast, &cast), 0);
    check(node_create(world->env, &node, &party->node, &error), &error);
    link_up(world, process);
    assert_int_equal(node_spawn(party->node, &root, &address), 0);
    assert_int_equal(node_start(party->node), 0);
}

static void stop_party(struct world *world, uint32_t process, uint64_t grace_ns)
{
    struct party *party = &world->parties[process];
    if (party->node == NULL) /* it is dead already */
        return;
    node_stop(party->node, env_now_ns(world->env) + grace_ns);
    node_join(party->node);
    node_destroy(party->node);
    party->node = NULL;
    cast_fini(&party->cast);
}

static void make_plan(struct world *world)
{
    const struct layout *layout = world->layout;
    world->plan = (struct plan){ .num_parts = GRAPH_PARTS, .num_processes = layout->num_processes,
                                 .num_hosts = layout->num_processes,
                                 .samplers = layout->samplers, .trainers = layout->trainers,
                                 .coordinator = layout->coordinator,
                                 .processes = world->processes };
    for (uint32_t p = 0; p < layout->num_processes; p++) {
        const struct part_list *plays = &layout->processes[p];
        world->processes[p] = (struct plan_process){
            .host = p, .loops = 2, .servers = plays->num_parts, .parts = plays->parts,
            .num_parts = plays->num_parts, .samplers = plays->samplers,
            .trainers = plays->trainers,
        };
    }
}

/* The graph's column tables name nodes that no book has, its versions are not the book's; here
 * both are used. */
static void mend(struct test_graph *graph)
{
    for (uint32_t p = 0; p < GRAPH_PARTS; p++)
        graph->parts[p].version = 0;
    for (uint32_t p = 0; p < GRAPH_PARTS; p++)
        for (uint32_t e = 0; e < GRAPH_ETYPES; e++) {
            uint64_t *table = (uint64_t *)(uintptr_t)graph->parts[p].edges[e].csc.column_global;
            for (uint64_t i = 0; table != NULL && i < NODES * GRAPH_PARTS; i++)
                table[i] = i;
        }
}

static void open_world(struct world *world, const struct layout *layout)
{
    *world = (struct world){ .layout = layout };
    snprintf(world->folder, sizeof world->folder, "/tmp/troupe-cast-XXXXXX");
    assert_non_null(mkdtemp(world->folder));
    assert_int_equal(chmod(world->folder, 0700), 0);
    assert_int_equal(messages_register(&world->kinds, NULL), 0);
    struct error error = { 0 };
    check(env_event_create(1, &world->env, &error), &error);
    test_graph_init(&world->graph, 5, NODES, 12);
    mend(&world->graph);
    assert_int_equal(graph_meta_init(&world->meta, &world->graph.parts[0]), 0);
    for (uint32_t p = 0; p < GRAPH_PARTS; p++)
        graph_meta_add_part(&world->meta, &world->graph.parts[p]);
    make_plan(world);
    for (uint32_t p = 0; p < layout->num_processes; p++) {
        load(world, p);
        start_party(world, p);
    }
}

static void close_world(struct world *world)
{
    for (uint32_t t = 0; t < world->layout->trainers; t++) {
        port_close(world->ports[t]);
        port_destroy(world->ports[t]);
    }
    for (uint32_t p = 0; p < world->plan.num_processes; p++) {
        struct party *party = &world->parties[p];
        stop_party(world, p, 10 * SECOND);
        batch_bank_close(party->bank);
        assert_int_equal(batch_bank_used(party->bank), 0);
        batch_bank_release(party->bank);
        snapshots_destroy(party->snapshots);
    }
    env_destroy(world->env);
    graph_meta_fini(&world->meta);
    test_graph_fini(&world->graph);
    for (uint32_t p = 0; p < world->plan.num_processes; p++)
        unlink(endpoint_of(world, p).host);
    assert_int_equal(rmdir(world->folder), 0);
}

/* Each process counts its own, so different ones use the same number. */
static uint64_t loader_of(const struct world *world, uint32_t trainer)
{
    uint32_t process = plan_trainer_node(&world->plan, trainer);
    return 1 + trainer - world->plan.processes[process].trainers.first;
}

static struct message *make_open(struct world *world, uint32_t trainer)
{
    size_t count = NODES * GRAPH_PARTS;
    struct message *request = port_message(world->ports[trainer], MSG_LOADER_OPEN);
    uint64_t *body = port_body_alloc(world->ports[trainer], request, 2 * count * sizeof *body);
    assert_non_null(body);
    for (size_t i = 0; i < count; i++) {
        body[i] = i;
        body[count + i] = world->graph.parts[i / NODES].nodes[0].original_ids[i % NODES];
    }
    *(struct msg_loader_open *)message_head(request) = (struct msg_loader_open){
        .loader = loader_of(world, trainer),
        .seed = 11,
        .num_seeds = count,
        .num_layers = 2,
        .fanout = { 3, 4 },
        .batch_size = BATCH,
        .rank = trainer,
        .world = world->layout->trainers,
        .features = 0,
        .labels = MSG_MASK_ALL,
        .flags = MSG_LOADER_SHUFFLE | MSG_LOADER_ORIGINAL_IDS | MSG_LOADER_EDGE_IDS |
                 MSG_LOADER_DEGREES,
        .prefetch = 4,
    };
    return request;
}

static uint64_t soon(struct port *port)
{
    return port_now_ns(port) + WAIT_NS;
}

static uint64_t open_loader(struct world *world, uint32_t trainer)
{
    uint32_t process = plan_trainer_node(&world->plan, trainer);
    char name[DIRECTORY_NAME_MAX];
    struct message *reply;
    assert_int_equal(port_open(world->parties[process].node, 0, &world->ports[trainer]), 0);
    struct port *port = world->ports[trainer];
    proxy_name(trainer, name);
    assert_int_equal(port_find(port, name, soon(port), &world->proxies[trainer]), 0);
    assert_int_equal(port_call(port, world->proxies[trainer], make_open(world, trainer),
                               soon(port), &reply), 0);
    assert_int_equal(reply->frame.kind, MSG_LOADER_OPENED);
    uint64_t steps = ((const struct msg_loader_opened *)message_head(reply))->num_batches;
    port_release(port, reply);
    assert_true(steps > 4 && steps < STEPS_MAX);
    return steps;
}

static void ask(struct world *world, uint32_t trainer, uint32_t epoch, uint64_t step)
{
    struct port *port = world->ports[trainer];
    struct message *request = port_message(port, MSG_BATCH_REQUEST), *reply;
    struct error error = { 0 };
    *(struct msg_batch_request *)message_head(request) =
        (struct msg_batch_request){ .loader = loader_of(world, trainer), .batch = step, .epoch = epoch };
    int rv = port_call(port, world->proxies[trainer], request, soon(port), &reply);
    if (rv != 0)
        fail_msg("trainer %u, batch %u of epoch %u: %s", trainer, (unsigned)step, epoch,
                 tr_strerror(rv));
    rv = failed_read(reply, &error);
    port_release(port, reply);
    check(rv, &error);
}

static void take(struct world *world, uint32_t trainer, uint32_t epoch, uint64_t step)
{
    struct party *party = &world->parties[plan_trainer_node(&world->plan, trainer)];
    struct digests *digests = &world->digests[trainer];
    uint64_t loader = loader_of(world, trainer);
    struct sampled_batch *batch = batch_bank_collect(party->bank, loader, epoch, step);
    for (; batch == NULL; batch = batch_bank_collect(party->bank, loader, epoch, step))
        ask(world, trainer, epoch, step);
    assert_int_equal(batch_digest(&batch->space.batch, &digests->of[digests->count++]), 0);
    sampled_batch_release(batch);
}

/* strike is called in the middle of the first epoch, with the batches that are on their way. */
static void run(const struct layout *layout, void (*strike)(struct world *world),
                struct digests digests[TRAINERS_MAX])
{
    struct world *world = calloc(1, sizeof *world);
    uint64_t steps = 0;
    assert_non_null(world);
    open_world(world, layout);
    for (uint32_t t = 0; t < layout->trainers; t++)
        steps = open_loader(world, t);
    for (uint32_t epoch = 0; epoch < EPOCHS; epoch++)
        for (uint64_t step = 0; step < steps; step++) {
            if (strike != NULL && epoch == 0 && step == steps / 2)
                strike(world);
            for (uint32_t t = 0; t < layout->trainers; t++)
                take(world, t, epoch, step);
        }
    memcpy(digests, world->digests, sizeof world->digests);
    close_world(world);
    free(world);
}

static const struct layout one_process = {
    .num_processes = 1, .samplers = 1, .trainers = 1, .direct = true,
    .processes = { { 2, { 0, 1 }, { 0, 1 }, { 0, 1 } } },
};

static const struct layout one_of_two_trainers = {
    .num_processes = 1, .samplers = 2, .trainers = 2, .direct = true,
    .processes = { { 2, { 0, 1 }, { 0, 2 }, { 0, 2 } } },
};

static void compare(const struct layout *alone, const struct layout *spread,
                    void (*strike)(struct world *world))
{
    struct digests wanted[TRAINERS_MAX] = { { 0 } }, got[TRAINERS_MAX] = { { 0 } };
    run(alone, NULL, wanted);
    run(spread, strike, got);
    for (uint32_t t = 0; t < alone->trainers; t++) {
        assert_true(wanted[t].count > 8 && wanted[t].of[0] != wanted[t].of[1]);
        assert_int_equal(got[t].count, wanted[t].count);
        assert_memory_equal(got[t].of, wanted[t].of, wanted[t].count * sizeof wanted[t].of[0]);
    }
}

static void servers_apart(void **state)
{
    static const struct layout layout = {
        .num_processes = 2, .samplers = 1, .trainers = 1, .direct = true,
        .processes = { { 1, { 0 }, { 0, 1 }, { 0, 1 } }, { 1, { 1 }, { 1, 0 }, { 1, 0 } } },
    };
    (void)state;
    compare(&one_process, &layout, NULL);
}

static void samplers_apart_from_trainers(void **state)
{
    static const struct layout layout = {
        .num_processes = 3, .samplers = 2, .trainers = 1, .coordinator = 2, .direct = true,
        .processes = { { 2, { 0, 1 }, { 0, 0 }, { 0, 0 } }, { 0, { 0 }, { 0, 2 }, { 0, 0 } },
                       { 0, { 0 }, { 2, 0 }, { 0, 1 } } },
    };
    (void)state;
    compare(&one_process, &layout, NULL);
}

static void two_trainers_apart(void **state)
{
    static const struct layout layout = {
        .num_processes = 2, .samplers = 2, .trainers = 2, .direct = true,
        .processes = { { 1, { 0 }, { 0, 1 }, { 0, 1 } }, { 1, { 1 }, { 1, 1 }, { 1, 1 } } },
    };
    /* One has no sampler of its own. */
    static const struct layout borrowed = {
        .num_processes = 2, .samplers = 1, .trainers = 2, .coordinator = 1,
        .processes = { { 1, { 1 }, { 0, 1 }, { 0, 1 } }, { 1, { 0 }, { 1, 0 }, { 1, 1 } } },
    };
    (void)state;
    compare(&one_of_two_trainers, &layout, NULL);
    compare(&one_of_two_trainers, &borrowed, NULL);
}

static void kill_first(struct world *world)
{
    stop_party(world, 0, 0);
    start_party(world, 0);
}

static void a_server_dies_and_comes_back(void **state)
{
    static const struct layout layout = {
        .num_processes = 2, .samplers = 1, .trainers = 1, .coordinator = 1,
        .processes = { { 2, { 0, 1 }, { 0, 0 }, { 0, 0 } }, { 0, { 0 }, { 0, 1 }, { 0, 1 } } },
    };
    (void)state;
    compare(&one_process, &layout, kill_first);
}

/* Its replica, or the other sampler, does all from then on. */
static void leave_first_dead(struct world *world)
{
    stop_party(world, 0, 0);
}

static void a_replica_takes_over(void **state)
{
    static const struct layout layout = {
        .num_processes = 3, .samplers = 1, .trainers = 1, .coordinator = 2,
        .processes = { { 2, { 0, 1 }, { 0, 0 }, { 0, 0 } }, { 2, { 0, 1 }, { 0, 0 }, { 0, 0 } },
                       { 0, { 0 }, { 0, 1 }, { 0, 1 } } },
    };
    (void)state;
    compare(&one_process, &layout, NULL);
    compare(&one_process, &layout, leave_first_dead);
}

static void another_sampler_takes_over(void **state)
{
    static const struct layout layout = {
        .num_processes = 3, .samplers = 2, .trainers = 1, .coordinator = 2,
        .processes = { { 0, { 0 }, { 0, 1 }, { 0, 0 } }, { 1, { 1 }, { 1, 1 }, { 0, 0 } },
                       { 1, { 0 }, { 2, 0 }, { 0, 1 } } },
    };
    (void)state;
    compare(&one_process, &layout, leave_first_dead);
    compare(&one_process, &layout, kill_first);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(servers_apart),
        cmocka_unit_test(samplers_apart_from_trainers),
        cmocka_unit_test(two_trainers_apart),
        cmocka_unit_test(a_server_dies_and_comes_back),
        cmocka_unit_test(a_replica_takes_over),
        cmocka_unit_test(another_sampler_takes_over),
    };
    return cmocka_run_group_tests_name("cast_plan", tests, NULL, NULL);
}
