#include "tests/actors/cluster_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "runtime/sim/env_sim.h"
#include "runtime/net/links.h"

#define RECOVERY_NS (600 * SPREAD_SECOND)
#define STOP_NS (10 * SPREAD_SECOND)

const struct spread_layout spread_one = {
    .num_processes = 1, .samplers = 1, .trainers = 1, .direct = true,
    .processes = { { 2, { 0, 1 }, { 0, 1 }, { 0, 1 } } },
};

const struct spread_layout spread_one_of_two = {
    .num_processes = 1, .samplers = 2, .trainers = 2, .direct = true,
    .processes = { { 2, { 0, 1 }, { 0, 2 }, { 0, 2 } } },
};

static void check(int rv, const struct error *error)
{
    if (rv != 0)
        fail_msg("%s: %s", tr_error_name(rv), error->text);
}

static bool is_stopped(void *node)
{
    return node_is_stopped(node);
}

static struct endpoint endpoint_of(const struct spread *spread, uint32_t process)
{
    struct endpoint endpoint = { .kind = ENDPOINT_UNIX };
    snprintf(endpoint.host, sizeof endpoint.host, "%s/%u", spread->folder, process);
    return endpoint;
}

static void link_up(struct spread *spread, uint32_t process)
{
    struct links_peer peers[SPREAD_PROCESSES_MAX];
    struct endpoint own = endpoint_of(spread, process);
    struct links_options options = { .cluster = "test", .listen = &own, .num_listen = 1,
                                     .peers = peers, .heartbeat_ns = SPREAD_SECOND / 5,
                                     .dead_ns = SPREAD_DEAD_NS };
    struct error error = { 0 };
    for (uint32_t p = 0; p < spread->plan.num_processes; p++)
        if (p != process)
            peers[options.num_peers++] = (struct links_peer){ .node = p,
                                                              .endpoint = endpoint_of(spread, p) };
    if (spread->plan.num_processes > 1)
        check(links_create(spread->parties[process].node, &options, &error), &error);
}

static void load(struct spread *spread, uint32_t process)
{
    const struct plan_process *plays = &spread->plan.processes[process];
    struct spread_party *party = &spread->parties[process];
    assert_int_equal(snapshots_create(&spread->graph.book, &party->snapshots), 0);
    for (uint32_t i = 0; i < plays->num_parts; i++)
        assert_int_equal(snapshots_add(party->snapshots, &spread->graph.parts[plays->parts[i]],
                                       NULL, NULL, NULL), 0);
    party->bank = batch_bank_create((size_t)1 << 28);
    assert_non_null(party->bank);
}

void spread_start(struct spread *spread, uint32_t process)
{
    struct spread_party *party = &spread->parties[process];
    if (spread->layout->checkpoints != NULL) {
        party->files = files_sim_mount(party->disk);
        assert_non_null(party->files);
    }
    const struct node_options node = { .id = process, .incarnation = ++party->incarnation,
                                       .loops = 2, .kinds = &spread->kinds };
    const struct cast_options cast = {
        .book = &spread->graph.book, .meta = &spread->meta, .snapshots = party->snapshots,
        .bank = party->bank, .plan = &spread->plan, .process = process, .loops = 2,
        .direct = spread->layout->direct, .recovery_ns = RECOVERY_NS, .reply_bytes_max = 4096,
        .at_once_bytes = spread->layout->at_once_bytes,
        .files = party->files, .checkpoints = spread->layout->checkpoints,
        .kept = spread->layout->checkpoints, .host = "here",
        .keeper_ops = spread->layout->keeper_ops,
    };
    const struct actor_options root = { .ops = &cast_ops, .arg = &party->cast };
    struct error error = { 0 };
    assert_int_equal(cast_init(&party->cast, &cast), 0);
    check(node_create(spread->env, &node, &party->node, &error), &error);
    link_up(spread, process);
    assert_int_equal(node_spawn(party->node, &root, &party->root), 0);
    assert_int_equal(node_start(party->node), 0);
}

void spread_stop(struct spread *spread, uint32_t process, uint64_t grace_ns)
{
    struct spread_party *party = &spread->parties[process];
    if (party->node == NULL)
        return;
    node_stop(party->node, env_now_ns(spread->env) + grace_ns);
    if (spread->simulated)
        (void)env_sim_run(spread->env, is_stopped, party->node,
                          env_sim_now_ns(spread->env) + 2 * STOP_NS);
    else
        node_join(party->node);
    assert_true(node_is_stopped(party->node));
    node_destroy(party->node);
    party->node = NULL;
    cast_fini(&party->cast);
}

void spread_kill(struct spread *spread, uint32_t process)
{
    struct spread_party *party = &spread->parties[process];
    if (party->files != NULL)
        files_sim_kill(party->files);
    env_sim_kill(spread->env, party->node);
    node_destroy(party->node);
    party->node = NULL;
    cast_fini(&party->cast);
}

void spread_lose_disk(struct spread *spread, uint32_t process)
{
    struct spread_party *party = &spread->parties[process];
    assert_null(party->node);
    files_sim_destroy(party->disk);
    assert_int_equal(files_sim_create(spread->env, &party->disk), 0);
}

static void make_disks(struct spread *spread)
{
    const struct spread_layout *layout = spread->layout;
    for (uint32_t p = 0; p < layout->num_processes && layout->checkpoints != NULL; p++) {
        if (p > 0 && layout->one_disk)
            spread->parties[p].disk = spread->parties[0].disk;
        else
            assert_int_equal(files_sim_create(spread->env, &spread->parties[p].disk), 0);
    }
}

static void destroy_disks(struct spread *spread)
{
    const struct spread_layout *layout = spread->layout;
    for (uint32_t p = 0; p < layout->num_processes && layout->checkpoints != NULL; p++)
        if (p == 0 || !layout->one_disk)
            files_sim_destroy(spread->parties[p].disk);
}

static void make_plan(struct spread *spread)
{
    const struct spread_layout *layout = spread->layout;
    spread->plan = (struct plan){ .num_parts = GRAPH_PARTS, .num_processes = layout->num_processes,
                                 .num_hosts = layout->num_processes,
                                 .samplers = layout->samplers, .trainers = layout->trainers,
                                 .coordinator = layout->coordinator,
                                 .processes = spread->processes };
    for (uint32_t p = 0; p < layout->num_processes; p++) {
        const struct spread_plays *plays = &layout->processes[p];
        spread->processes[p] = (struct plan_process){
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
            for (uint64_t i = 0; table != NULL && i < SPREAD_NODES * GRAPH_PARTS; i++)
                table[i] = i;
        }
}

void spread_open(struct spread *spread, const struct spread_layout *layout, struct env *env,
                 bool simulated)
{
    *spread = (struct spread){ .layout = layout, .env = env, .simulated = simulated };
    snprintf(spread->folder, sizeof spread->folder, "/tmp/troupe-spread-XXXXXX");
    if (!simulated)
        assert_non_null(mkdtemp(spread->folder));
    assert_int_equal(messages_register(&spread->kinds, NULL), 0);
    test_graph_init(&spread->graph, 5, SPREAD_NODES, 12);
    mend(&spread->graph);
    assert_int_equal(graph_meta_init(&spread->meta, &spread->graph.parts[0]), 0);
    for (uint32_t p = 0; p < GRAPH_PARTS; p++)
        graph_meta_add_part(&spread->meta, &spread->graph.parts[p]);
    make_plan(spread);
    make_disks(spread);
    for (uint32_t p = 0; p < layout->num_processes; p++) {
        load(spread, p);
        spread_start(spread, p);
    }
}

void spread_close(struct spread *spread)
{
    for (uint32_t p = 0; p < spread->plan.num_processes; p++) {
        struct spread_party *party = &spread->parties[p];
        spread_stop(spread, p, STOP_NS);
        batch_bank_close(party->bank);
        assert_int_equal(batch_bank_used(party->bank), 0);
        batch_bank_release(party->bank);
        snapshots_destroy(party->snapshots);
    }
    destroy_disks(spread);
    env_destroy(spread->env);
    graph_meta_fini(&spread->meta);
    test_graph_fini(&spread->graph);
    for (uint32_t p = 0; p < spread->plan.num_processes && !spread->simulated; p++)
        unlink(endpoint_of(spread, p).host);
    if (!spread->simulated)
        assert_int_equal(rmdir(spread->folder), 0);
}

uint64_t spread_loader(const struct spread *spread, uint32_t trainer)
{
    uint32_t process = plan_trainer_node(&spread->plan, trainer);
    return 1 + trainer - spread->plan.processes[process].trainers.first;
}

void spread_fill_open(const struct spread *spread, uint32_t trainer, struct msg_loader_open *head,
                      uint64_t *body)
{
    for (size_t i = 0; i < SPREAD_SEEDS; i++) {
        const struct graph_part *part = &spread->graph.parts[i / SPREAD_NODES];
        body[i] = i;
        body[SPREAD_SEEDS + i] = part->nodes[0].original_ids[i % SPREAD_NODES];
    }
    *head = (struct msg_loader_open){
        .loader = spread_loader(spread, trainer),
        .seed = 11,
        .num_seeds = SPREAD_SEEDS,
        .num_layers = 2,
        .fanout = { 3, 4 },
        .batch_size = SPREAD_BATCH,
        .rank = trainer,
        .world = spread->layout->trainers,
        .features = 0,
        .labels = MSG_MASK_ALL,
        .flags = MSG_LOADER_SHUFFLE | MSG_LOADER_ORIGINAL_IDS | MSG_LOADER_EDGE_IDS |
                 MSG_LOADER_DEGREES,
        .prefetch = 4,
    };
}

struct batch_bank *spread_bank(struct spread *spread, uint32_t trainer)
{
    return spread->parties[plan_trainer_node(&spread->plan, trainer)].bank;
}

void spread_play_start_trainers(const struct spread_play *play, uint32_t process)
{
    struct plan_range here = play->spread->plan.processes[process].trainers;
    for (uint32_t i = here.first; i < here.first + here.count; i++) {
        const struct actor_options options = play->trainer(play->arg, i);
        struct address address;
        assert_int_equal(node_spawn(play->spread->parties[process].node, &options, &address), 0);
    }
}

void spread_play_start(const struct spread_play *play, uint32_t process)
{
    spread_start(play->spread, process);
    spread_play_start_trainers(play, process);
}

bool spread_play_is_done(const struct spread_play *play)
{
    for (uint32_t i = 0; i < play->spread->layout->trainers; i++)
        if (!play->is_done(play->arg, i))
            return false;
    return true;
}

static bool has_ended(const struct spread *spread, uint32_t process)
{
    struct node *node = spread->parties[process].node;
    return node != NULL && node_is_stopped(node);
}

/* All are done, or a node ended: it was silent for too long, and heard that it counts as dead. */
static bool is_over(void *arg)
{
    const struct spread_play *play = arg;
    for (uint32_t p = 0; p < play->spread->layout->num_processes; p++)
        if (has_ended(play->spread, p))
            return true;
    return spread_play_is_done(play);
}

static void start_ended(const struct spread_play *play)
{
    for (uint32_t p = 0; p < play->spread->layout->num_processes; p++) {
        if (!has_ended(play->spread, p))
            continue;
        assert_int_equal(node_failure(play->spread->parties[p].node), TR_EPEERDOWN);
        spread_stop(play->spread, p, 0);
        spread_play_start(play, p);
    }
}

int spread_play_run(const struct spread_play *play, uint64_t ns)
{
    struct env *env = play->spread->env;
    uint64_t until_ns = env_sim_now_ns(env) + ns;
    int rv = 0;
    while (!spread_play_is_done(play) &&
           (rv = env_sim_run(env, is_over, (void *)(uintptr_t)play, until_ns)) == 0)
        start_ended(play);
    return spread_play_is_done(play) ? 0 : rv;
}
