/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/actors/cluster_fixture.h"
#include "tests/scratch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "runtime/net/links.h"
#include "runtime/sim/env_sim.h"

#define RECOVERY_NS (600 * CLUSTER_FIXTURE_SECOND)
#define STOP_NS (10 * CLUSTER_FIXTURE_SECOND)

const struct cluster_fixture_layout cluster_fixture_one = {
    .num_processes = 1,
    .samplers = 1,
    .trainers = 1,
    .direct = true,
    .processes = { { 2, { 0, 1 }, { 0, 1 }, { 0, 1 } } },
};

const struct cluster_fixture_layout cluster_fixture_one_of_two = {
    .num_processes = 1,
    .samplers = 2,
    .trainers = 2,
    .direct = true,
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

static struct endpoint endpoint_of(const struct cluster_fixture *fixture, uint32_t process)
{
    struct endpoint endpoint = { .kind = ENDPOINT_UNIX };
    snprintf(endpoint.host, sizeof endpoint.host, "%s/%u", fixture->folder, process);
    return endpoint;
}

static void link_up(struct cluster_fixture *fixture, uint32_t process)
{
    struct links_peer peers[CLUSTER_FIXTURE_PROCESSES_MAX];
    struct endpoint own = endpoint_of(fixture, process);
    struct links_options options = { .cluster = "test",
                                     .listen = &own,
                                     .num_listen = 1,
                                     .peers = peers,
                                     .heartbeat_ns = CLUSTER_FIXTURE_SECOND / 5,
                                     .dead_ns = CLUSTER_FIXTURE_DEAD_NS };
    struct error error = { 0 };
    for (uint32_t p = 0; p < fixture->plan.num_processes; p++)
        if (p != process)
            peers[options.num_peers++] = (struct links_peer){ .node = p,
                                                              .endpoint = endpoint_of(fixture, p) };
    if (fixture->plan.num_processes > 1)
        check(links_create(fixture->parties[process].node, &options, &error), &error);
}

static void load(struct cluster_fixture *fixture, uint32_t process)
{
    const struct plan_process *plays = &fixture->plan.processes[process];
    struct cluster_fixture_party *party = &fixture->parties[process];
    assert_int_equal(snapshots_create(&fixture->graph.book, &party->snapshots), 0);
    for (uint32_t i = 0; i < plays->num_parts; i++)
        assert_int_equal(snapshots_add(party->snapshots, &fixture->graph.parts[plays->parts[i]],
                                       NULL, NULL, NULL),
                         0);
    party->store = batch_store_create((size_t)1 << 28);
    party->lists = seed_lists_create();
    assert_true(party->store != NULL && party->lists != NULL);
}

void cluster_fixture_start(struct cluster_fixture *fixture, uint32_t process)
{
    struct cluster_fixture_party *party = &fixture->parties[process];
    if (fixture->layout->checkpoints != NULL) {
        party->files = files_sim_mount(party->disk);
        assert_non_null(party->files);
    }
    const struct node_options node = {
        .id = process, .incarnation = ++party->incarnation, .loops = 2, .kinds = &fixture->kinds
    };
    const struct process_actors_stand_ins stand_ins = {
        .checkpoint_store = fixture->layout->checkpoint_store_ops
    };
    const struct process_actors_options actors = {
        .book = &fixture->graph.book,
        .meta = &fixture->meta,
        .snapshots = party->snapshots,
        .store = party->store,
        .lists = party->lists,
        .plan = &fixture->plan,
        .process = process,
        .loops = 2,
        .direct = fixture->layout->direct,
        .recovery_ns = RECOVERY_NS,
        .reply_bytes_max = 4096,
        .at_once_bytes = fixture->layout->at_once_bytes,
        .files = party->files,
        .checkpoints = fixture->layout->checkpoints,
        .kept = fixture->layout->checkpoints,
        .host = "here",
        .stand_ins = &stand_ins,
    };
    const struct actor_options root = { .ops = &process_actors_ops, .arg = &party->actors };
    struct error error = { 0 };
    assert_int_equal(process_actors_init(&party->actors, &actors), 0);
    check(node_create(fixture->env, &node, &party->node, &error), &error);
    link_up(fixture, process);
    assert_int_equal(node_spawn(party->node, &root, &party->root), 0);
    assert_int_equal(node_start(party->node), 0);
}

void cluster_fixture_stop(struct cluster_fixture *fixture, uint32_t process, uint64_t grace_ns)
{
    struct cluster_fixture_party *party = &fixture->parties[process];
    if (party->node == NULL)
        return;
    node_stop(party->node, env_now_ns(fixture->env) + grace_ns);
    if (fixture->simulated)
        (void)env_sim_run(fixture->env, is_stopped, party->node,
                          env_sim_now_ns(fixture->env) + 2 * STOP_NS);
    else
        node_join(party->node);
    assert_true(node_is_stopped(party->node));
    node_destroy(party->node);
    party->node = NULL;
    process_actors_fini(&party->actors);
}

void cluster_fixture_kill(struct cluster_fixture *fixture, uint32_t process)
{
    struct cluster_fixture_party *party = &fixture->parties[process];
    if (party->files != NULL)
        files_sim_kill(party->files);
    env_sim_kill(fixture->env, party->node);
    node_destroy(party->node);
    party->node = NULL;
    process_actors_fini(&party->actors);
}

void cluster_fixture_lose_disk(struct cluster_fixture *fixture, uint32_t process)
{
    struct cluster_fixture_party *party = &fixture->parties[process];
    assert_null(party->node);
    files_sim_destroy(party->disk);
    assert_int_equal(files_sim_create(fixture->env, &party->disk), 0);
}

static void make_disks(struct cluster_fixture *fixture)
{
    const struct cluster_fixture_layout *layout = fixture->layout;
    for (uint32_t p = 0; p < layout->num_processes && layout->checkpoints != NULL; p++) {
        if (p > 0 && layout->one_disk)
            fixture->parties[p].disk = fixture->parties[0].disk;
        else
            assert_int_equal(files_sim_create(fixture->env, &fixture->parties[p].disk), 0);
    }
}

static void destroy_disks(struct cluster_fixture *fixture)
{
    const struct cluster_fixture_layout *layout = fixture->layout;
    for (uint32_t p = 0; p < layout->num_processes && layout->checkpoints != NULL; p++)
        if (p == 0 || !layout->one_disk)
            files_sim_destroy(fixture->parties[p].disk);
}

static void make_plan(struct cluster_fixture *fixture)
{
    const struct cluster_fixture_layout *layout = fixture->layout;
    fixture->plan = (struct plan){ .num_parts = GRAPH_PARTS,
                                   .num_processes = layout->num_processes,
                                   .num_hosts = layout->num_processes,
                                   .samplers = layout->samplers,
                                   .trainers = layout->trainers,
                                   .coordinator = layout->coordinator,
                                   .processes = fixture->processes };
    for (uint32_t p = 0; p < layout->num_processes; p++) {
        const struct cluster_fixture_plays *plays = &layout->processes[p];
        fixture->processes[p] = (struct plan_process){
            .host = p,
            .loops = 2,
            .servers = plays->num_parts,
            .parts = plays->parts,
            .num_parts = plays->num_parts,
            .samplers = plays->samplers,
            .trainers = plays->trainers,
        };
    }
}

/* The graph's column tables name nodes that no book has; here they are used. */
static void mend(struct test_graph *graph)
{
    for (uint32_t p = 0; p < GRAPH_PARTS; p++)
        for (uint32_t e = 0; e < GRAPH_ETYPES; e++) {
            uint64_t *table = (uint64_t *)(uintptr_t)graph->parts[p].edges[e].csc.column_global;
            for (uint64_t i = 0; table != NULL && i < CLUSTER_FIXTURE_NODES * GRAPH_PARTS; i++)
                table[i] = i;
        }
}

void cluster_fixture_open(struct cluster_fixture *fixture,
                          const struct cluster_fixture_layout *layout, struct env *env,
                          bool simulated)
{
    *fixture = (struct cluster_fixture){ .layout = layout, .env = env, .simulated = simulated };
    scratch_template(fixture->folder, sizeof fixture->folder, "fixture");
    if (!simulated)
        assert_non_null(mkdtemp(fixture->folder));
    assert_int_equal(messages_register(&fixture->kinds, NULL), 0);
    test_graph_init(&fixture->graph, 5, CLUSTER_FIXTURE_NODES, 12);
    mend(&fixture->graph);
    assert_int_equal(graph_meta_init(&fixture->meta, &fixture->graph.parts[0]), 0);
    for (uint32_t p = 0; p < GRAPH_PARTS; p++)
        graph_meta_add_part(&fixture->meta, &fixture->graph.parts[p]);
    make_plan(fixture);
    make_disks(fixture);
    for (uint32_t p = 0; p < layout->num_processes; p++) {
        load(fixture, p);
        cluster_fixture_start(fixture, p);
    }
}

void cluster_fixture_close(struct cluster_fixture *fixture)
{
    for (uint32_t p = 0; p < fixture->plan.num_processes; p++) {
        struct cluster_fixture_party *party = &fixture->parties[p];
        cluster_fixture_stop(fixture, p, STOP_NS);
        batch_store_close(party->store);
        assert_int_equal(batch_store_used(party->store), 0);
        batch_store_release(party->store);
        seed_lists_destroy(party->lists);
        snapshots_destroy(party->snapshots);
    }
    destroy_disks(fixture);
    env_destroy(fixture->env);
    graph_meta_fini(&fixture->meta);
    test_graph_fini(&fixture->graph);
    for (uint32_t p = 0; p < fixture->plan.num_processes && !fixture->simulated; p++)
        unlink(endpoint_of(fixture, p).host);
    if (!fixture->simulated)
        assert_int_equal(rmdir(fixture->folder), 0);
}

uint64_t cluster_fixture_loader(const struct cluster_fixture *fixture, uint32_t trainer)
{
    uint32_t process = plan_trainer_node(&fixture->plan, trainer);
    return 1 + trainer - fixture->plan.processes[process].trainers.first;
}

static void fill_spec(const struct cluster_fixture *fixture, struct sample_spec *spec)
{
    const struct sample_term three = SAMPLE_TERM(3, false), four = SAMPLE_TERM(4, false);
    assert_int_equal(sample_spec_alloc(spec, 2, fixture->graph.book.types.num_etypes), 0);
    sample_spec_set_layer(spec, 0, &three);
    sample_spec_set_layer(spec, 1, &four);
}

size_t cluster_fixture_open_bytes(const struct cluster_fixture *fixture)
{
    struct sample_spec spec;
    fill_spec(fixture, &spec);
    size_t bytes = sample_spec_bytes(&spec);
    sample_spec_free(&spec);
    return bytes;
}

void cluster_fixture_fill_open(const struct cluster_fixture *fixture, uint32_t trainer,
                               struct msg_loader_open *head, uint64_t *body)
{
    uint32_t process = plan_trainer_node(&fixture->plan, trainer);
    struct seed_list *list = seed_list_create(CLUSTER_FIXTURE_SEEDS);
    assert_non_null(list);
    for (size_t i = 0; i < CLUSTER_FIXTURE_SEEDS; i++)
        list->ids[i] = i;
    assert_int_equal(seed_lists_put(fixture->parties[process].lists,
                                    cluster_fixture_loader(fixture, trainer), &list, 1),
                     0);
    seed_list_release(list);
    *head = (struct msg_loader_open){
        .loader = cluster_fixture_loader(fixture, trainer),
        .seed = 11,
        .num_seeds = CLUSTER_FIXTURE_SEEDS,
        .batch_size = CLUSTER_FIXTURE_BATCH,
        .rank = trainer,
        .world = fixture->layout->trainers,
        .features = 0,
        .labels = MSG_MASK_ALL,
        .flags = MSG_LOADER_SHUFFLE | MSG_LOADER_ORIGINAL_IDS | MSG_LOADER_EDGE_IDS |
                 MSG_LOADER_DEGREES,
        .prefetch = 4,
        .spec_bytes = (uint32_t)cluster_fixture_open_bytes(fixture),
    };
    struct sample_spec spec;
    fill_spec(fixture, &spec);
    sample_spec_write(&spec, body);
    sample_spec_free(&spec);
}

struct batch_store *cluster_fixture_store(struct cluster_fixture *fixture, uint32_t trainer)
{
    return fixture->parties[plan_trainer_node(&fixture->plan, trainer)].store;
}

void cluster_fixture_play_start_trainers(const struct cluster_fixture_play *play, uint32_t process)
{
    struct plan_range here = play->fixture->plan.processes[process].trainers;
    for (uint32_t i = here.first; i < here.first + here.count; i++) {
        const struct actor_options options = play->trainer(play->arg, i);
        struct address address;
        assert_int_equal(node_spawn(play->fixture->parties[process].node, &options, &address), 0);
    }
}

void cluster_fixture_play_start(const struct cluster_fixture_play *play, uint32_t process)
{
    cluster_fixture_start(play->fixture, process);
    cluster_fixture_play_start_trainers(play, process);
}

bool cluster_fixture_play_is_done(const struct cluster_fixture_play *play)
{
    for (uint32_t i = 0; i < play->fixture->layout->trainers; i++)
        if (!play->is_done(play->arg, i))
            return false;
    return true;
}

static bool has_ended(const struct cluster_fixture *fixture, uint32_t process)
{
    struct node *node = fixture->parties[process].node;
    return node != NULL && node_is_stopped(node);
}

/* All are done, or a node ended: it was silent for too long, and heard that it counts as dead. */
static bool is_over(void *arg)
{
    const struct cluster_fixture_play *play = arg;
    for (uint32_t p = 0; p < play->fixture->layout->num_processes; p++)
        if (has_ended(play->fixture, p))
            return true;
    return cluster_fixture_play_is_done(play);
}

static void start_ended(const struct cluster_fixture_play *play)
{
    for (uint32_t p = 0; p < play->fixture->layout->num_processes; p++) {
        if (!has_ended(play->fixture, p))
            continue;
        assert_int_equal(node_failure(play->fixture->parties[p].node), TR_EPEERDOWN);
        cluster_fixture_stop(play->fixture, p, 0);
        cluster_fixture_play_start(play, p);
    }
}

int cluster_fixture_play_run(const struct cluster_fixture_play *play, uint64_t ns)
{
    struct env *env = play->fixture->env;
    uint64_t until_ns = env_sim_now_ns(env) + ns;
    int rv = 0;
    while (!cluster_fixture_play_is_done(play) &&
           (rv = env_sim_run(env, is_over, (void *)(uintptr_t)play, until_ns)) == 0)
        start_ended(play);
    return cluster_fixture_play_is_done(play) ? 0 : rv;
}
