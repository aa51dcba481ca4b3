/* SPDX-License-Identifier: Apache-2.0 */
/* A child of fork() gets TR_EFORKED from every call at once, and its closes touch nothing. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <troupe/troupe.h>

#include "api_world.h"
#include "outcome.h"

/* Far more than a child needs, far less than the recovery deadline that a call would wait for. */
#define CHILD_SECONDS 60
#define FORKS 60

struct job {
    struct tr_session *session;
    struct tr_graph *graph;
    struct tr_nodes *nodes;
    struct tr_loader *loader;
    struct tr_group *group;
    struct tr_batch *batch;
    struct tr_sample_spec *spec;
    struct tr_raw *raw;
    uint64_t digest; /* of the batch */
    atomic_bool over;
};

/* The number of the first result that is another one; 0: none. */
static int find_other(const int *results, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (results[i] != TR_EFORKED)
            return (int)i + 1;
    return 0;
}

/* Calls on a spec and a raw graph; found by their numbers above 100. */
static int call_rest(struct job *job)
{
    struct tr_sample_options draw;
    struct tr_raw_info raw = TR_RAW_INFO_INIT;
    struct tr_ntype_info ntype = TR_NTYPE_INFO_INIT;
    struct tr_etype_info etype = TR_ETYPE_INFO_INIT;
    struct tr_table_info table = TR_TABLE_INFO_INIT;
    struct tr_graph_place place = TR_GRAPH_PLACE_INIT;
    struct tr_part_nodes part_nodes = TR_PART_NODES_INIT;
    struct tr_part_edges part_edges = TR_PART_EDGES_INIT;
    struct tr_rows rows = TR_ROWS_INIT;
    struct tr_error error = TR_ERROR_INIT;
    struct tr_sample_spec *spec;
    struct tr_nodes *nodes;
    struct tr_batch *batch;
    uint64_t id = 0, out, count;
    uint32_t number;
    float row[WORLD_WIDTH];
    tr_sample_options_init(&draw);
    draw.spec = job->spec;
    draw.seeds = &id;
    draw.num_seeds = 1;
    const int results[] = {
        tr_sample_spec_create(job->graph, 1, &spec, &error),
        tr_sample_spec_set_fanout(job->spec, 0, 0, 3, &error),
        tr_sample_spec_set_replace(job->spec, 0, 0, true, &error),
        tr_sample_spec_set_total(job->spec, 0, 0, 3, &error),
        tr_sample_spec_set_direction(job->spec, 0, 0, TR_IN_EDGES, &error),
        tr_sample_spec_add_table(job->spec, TR_OF_NODES, 0, "feat", TR_FOR_ALL, &error),
        tr_sample_spec_find_table(job->spec, TR_OF_NODES, 0, "feat", &number, &error),
        tr_sample(job->graph, &draw, TR_WAIT_FOREVER, &batch, &error),
        tr_graph_place(job->graph, &place, &error),
        tr_graph_wait_end(job->graph, 0, &error),
        tr_graph_map_parts(job->graph, &error),
        tr_graph_part_nodes(job->graph, 0, 0, &part_nodes, &error),
        tr_graph_part_edges(job->graph, 0, 0, &part_edges, &error),
        tr_graph_part_rows(job->graph, 0, 0, "feat", &rows, &error),
        tr_graph_part_edge_rows(job->graph, 0, 0, "feat", &rows, &error),
        tr_graph_serve_metrics(job->graph, "0", TR_WAIT_FOREVER, NULL, 0, &error),
        tr_nodes_part(job->nodes, 0, &number, &out, &count, &error),
        tr_nodes_range(job->nodes, 0, 1, &nodes, &error),
        tr_group_reduce(job->group, row, SIZE_MAX, TR_WAIT_FOREVER, &error),
        tr_group_done(job->group, TR_WAIT_FOREVER, &error),
        tr_group_complete(job->group, TR_WAIT_FOREVER, &error),
        tr_group_skip_save(job->group, 1, TR_EIO, TR_WAIT_FOREVER, &error),
        tr_raw_info(job->raw, &raw, &error),
        tr_raw_ntype(job->raw, 0, &ntype, &error),
        tr_raw_etype(job->raw, 0, &etype, &error),
        tr_raw_table(job->raw, 0, &table, &error),
        tr_raw_edges(job->raw, 0, 0, 1, &id, &out, &error),
        tr_raw_rows(job->raw, 0, 0, 1, row, &error),
    };
    int other = find_other(results, sizeof results / sizeof *results);
    return other != 0 ? 100 + other : 0;
}

/* A batch does not change, and has no thread behind it. */
static int read_batch(const struct job *job)
{
    struct tr_block block = TR_BLOCK_INIT;
    struct tr_rows rows = TR_ROWS_INIT;
    uint64_t digest;
    int rv = tr_batch_block(job->batch, 0, 0, &block, &failure);
    if (rv == 0)
        rv = tr_batch_features(job->batch, 0, &rows, &failure);
    if (rv == 0)
        rv = tr_batch_digest(job->batch, &digest, &failure);
    return rv == 0 && digest == job->digest ? 0 : 201;
}

/* The number of the first call that gave something else; 0: none. */
static int call_all(struct job *job)
{
    struct tr_feature_info info = TR_FEATURE_INFO_INIT;
    struct tr_checkpoint checkpoint = TR_CHECKPOINT_INIT;
    struct tr_error error = TR_ERROR_INIT;
    struct tr_loader_options options;
    struct tr_graph *graph;
    struct tr_nodes *nodes;
    struct tr_loader *loader;
    struct tr_group *group;
    struct tr_batch *batch;
    uint64_t id = 0, out;
    size_t sizes[4] = { 0 };
    float row[WORLD_WIDTH];
    uint32_t degree;
    tr_loader_options_init(&options);
    const int results[] = {
        tr_session_dump(job->session, &error),
        tr_graph_open(job->session, "/nowhere.json", TR_WAIT_FOREVER, &graph, &error),
        tr_graph_feature(job->graph, 0, 0, &info, &error),
        tr_graph_find_feature(job->graph, 0, "feat", &info, &error),
        tr_graph_find_feature(job->graph, 0, "none", &info, &error),
        tr_graph_edge_feature(job->graph, 0, 0, &info, &error),
        tr_graph_find_edge_feature(job->graph, 0, "none", &info, &error),
        tr_graph_fetch(job->graph, 0, "feat", &id, 1, TR_WAIT_FOREVER, row, &error),
        tr_graph_fetch_edges(job->graph, 0, "none", &id, 1, TR_WAIT_FOREVER, row, &error),
        tr_graph_original_ids(job->graph, 0, &id, 1, TR_WAIT_FOREVER, &out, &error),
        tr_graph_degrees(job->graph, 0, &id, 1, TR_WAIT_FOREVER, &degree, NULL, &error),
        tr_graph_find_edges(job->graph, 0, &id, 1, TR_WAIT_FOREVER, &out, NULL, &error),
        tr_graph_original_edge_ids(job->graph, 0, &id, 1, TR_WAIT_FOREVER, &out, &error),
        tr_graph_in_degrees(job->graph, 0, &id, 1, TR_WAIT_FOREVER, &out, &error),
        tr_graph_in_edges(job->graph, 0, &id, 1, TR_WAIT_FOREVER, 0, &out, NULL, NULL, &error),
        tr_graph_out_degrees(job->graph, 0, &id, 1, TR_WAIT_FOREVER, &out, &error),
        tr_graph_out_edges(job->graph, 0, &id, 1, TR_WAIT_FOREVER, 0, &out, NULL, NULL, &error),
        tr_graph_edges_between(job->graph, 0, &id, &id, 1, TR_WAIT_FOREVER, &out, &error),
        tr_graph_edge_subgraph(job->graph, &id, sizes, TR_WAIT_FOREVER, &out, &out, &out, sizes,
                               &error),
        tr_graph_in_subgraph(job->graph, &id, sizes, TR_WAIT_FOREVER, 0, sizes, NULL, NULL, NULL,
                             &error),
        tr_nodes_all(job->graph, 0, TR_WAIT_FOREVER, &nodes, &error),
        tr_nodes_masked(job->graph, 0, "train_mask", TR_WAIT_FOREVER, &nodes, &error),
        tr_nodes_listed(job->graph, 0, &id, 1, TR_WAIT_FOREVER, &nodes, &error),
        tr_nodes_deal(job->nodes, NULL, 0, 1, TR_WAIT_FOREVER, &nodes, &error),
        tr_nodes_join(&job->nodes, 1, &nodes, &error),
        tr_pairs_listed(job->graph, 0, &id, &id, 1, &nodes, &error),
        tr_edges_listed(job->graph, 0, &id, 1, &nodes, &error),
        tr_edges_all(job->graph, 0, &nodes, &error),
        tr_edges_range(job->graph, 0, 0, 1, &nodes, &error),
        tr_edges_ids(job->nodes, 0, 1, TR_WAIT_FOREVER, &out, &error),
        tr_pairs_ids(job->nodes, 0, 1, &out, &out, &error),
        tr_nodes_ids(job->nodes, 0, 1, TR_WAIT_FOREVER, &out, &error),
        tr_nodes_original_ids(job->nodes, 0, 1, TR_WAIT_FOREVER, &out, &error),
        tr_loader_open(job->graph, job->nodes, &options, TR_WAIT_FOREVER, &loader, &error),
        tr_loader_begin(job->loader, 3, &error),
        tr_loader_begin_at(job->loader, 3, 1, &error),
        tr_loader_next(job->loader, TR_WAIT_FOREVER, &batch, &error),
        tr_loader_cancel(job->loader, &error),
        tr_group_open(job->graph, 0, &group, &error),
        tr_group_restore(job->group, TR_WAIT_FOREVER, &checkpoint, &error),
        tr_group_reduce(job->group, row, 1, TR_WAIT_FOREVER, &error),
        tr_group_barrier(job->group, "here", TR_WAIT_FOREVER, &error),
        tr_group_save(job->group, 1, row, 1, TR_WAIT_FOREVER, &error),
        tr_group_finish(job->group, TR_WAIT_FOREVER, &error),
    };
    int other = find_other(results, sizeof results / sizeof *results);
    if (other != 0)
        return other;
    return error.code == TR_EFORKED && error.message[0] != '\0' ? call_rest(job) : 100;
}

static void close_job(struct job *job)
{
    tr_batch_release(job->batch);
    tr_sample_spec_destroy(job->spec);
    tr_raw_close(job->raw);
    tr_group_close(job->group);
    tr_loader_close(job->loader);
    tr_nodes_close(job->nodes);
    tr_graph_close(job->graph);
    tr_session_close(job->session);
}

static int play_child(struct job *job)
{
    alarm(CHILD_SECONDS); /* one that hangs dies of it */
    int rv = call_all(job);
    tr_session_interrupt(job->session);
    tr_session_resume(job->session);
    close_job(job);
    /* The handles that were closed in the child are there all the same. */
    if (rv == 0)
        rv = call_all(job);
    return rv != 0 ? rv : read_batch(job);
}

static void fork_once(struct job *job)
{
    int status;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(play_child(job));
    assert_int_equal(waitpid(child, &status, 0), child);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        fail_msg("the child ended with status %x", (unsigned)status);
}

static void open_job(struct job *job)
{
    struct tr_checkpoint checkpoint = TR_CHECKPOINT_INIT;
    struct tr_loader_options options;
    char path[256];
    *job = (struct job){ 0 };
    world_partition(PARTITION_RANDOM, 3, path);
    ok(tr_session_open(NULL, &job->session, &failure));
    ok(tr_graph_open(job->session, path, TR_WAIT_FOREVER, &job->graph, &failure));
    ok(tr_nodes_all(job->graph, 0, TR_WAIT_FOREVER, &job->nodes, &failure));
    tr_loader_options_init(&options);
    options.batch_size = 20;
    options.features = "feat";
    options.original_ids = true; /* by which the digest knows nodes */
    ok(tr_loader_open(job->graph, job->nodes, &options, TR_WAIT_FOREVER, &job->loader, &failure));
    ok(tr_group_open(job->graph, 0, &job->group, &failure));
    /* A trainer alone that has restored knows sums without asking anybody. */
    ok(tr_group_restore(job->group, TR_WAIT_FOREVER, &checkpoint, &failure));
    ok(tr_loader_next(job->loader, TR_WAIT_FOREVER, &job->batch, &failure));
    ok(tr_batch_digest(job->batch, &job->digest, &failure));
    ok(tr_sample_spec_create(job->graph, 1, &job->spec, &failure));
    snprintf(path, sizeof path, "%s/raw", world_folder());
    ok(tr_raw_open(path, NULL, &job->raw, &failure));
}

static void a_child_gets_eforked_and_the_parent_goes_on(void **state)
{
    struct job job;
    struct tr_batch *batch;
    (void)state;
    open_job(&job);
    fork_once(&job);
    ok(tr_loader_next(job.loader, TR_WAIT_FOREVER, &batch, &failure));
    assert_int_equal(tr_batch_index(batch), 1);
    tr_batch_release(batch);
    close_job(&job);
}

/* Takes locks of loader, graph, session, store and ports without a pause. */
static void *load(void *arg)
{
    struct job *job = arg;
    struct tr_batch *batch;
    while (!atomic_load(&job->over)) {
        int rv = tr_loader_next(job->loader, TR_WAIT_FOREVER, &batch, &failure);
        if (rv == TR_EEND)
            continue;
        if (rv != 0)
            return (void *)(intptr_t)rv;
        tr_batch_release(batch);
    }
    return NULL;
}

static void *fetch(void *arg)
{
    struct job *job = arg;
    float row[WORLD_WIDTH];
    for (uint64_t id = 0; !atomic_load(&job->over); id = (id + 1) % WORLD_NODES) {
        int rv = tr_graph_fetch(job->graph, 0, "feat", &id, 1, TR_WAIT_FOREVER, row, &failure);
        if (rv != 0)
            return (void *)(intptr_t)rv;
    }
    return NULL;
}

/* Takes the locks of the group. */
static void *reduce(void *arg)
{
    struct job *job = arg;
    while (!atomic_load(&job->over)) {
        float value = 1;
        int rv = tr_group_reduce(job->group, &value, 1, TR_WAIT_FOREVER, &failure);
        if (rv != 0)
            return (void *)(intptr_t)rv;
    }
    return NULL;
}

static void it_forks_at_any_moment(void **state)
{
    pthread_t threads[3];
    struct job job;
    (void)state;
    open_job(&job);
    assert_int_equal(pthread_create(&threads[0], NULL, load, &job), 0);
    assert_int_equal(pthread_create(&threads[1], NULL, fetch, &job), 0);
    assert_int_equal(pthread_create(&threads[2], NULL, reduce, &job), 0);
    for (int i = 0; i < FORKS; i++)
        fork_once(&job);
    atomic_store(&job.over, true);
    for (int i = 0; i < 3; i++) {
        void *rv;
        pthread_join(threads[i], &rv);
        ok((int)(intptr_t)rv);
    }
    close_job(&job);
}

/* A child may have a session of its own. */
static int open_own(void)
{
    struct job job;
    alarm(CHILD_SECONDS);
    open_job(&job);
    close_job(&job);
    return 0;
}

static void a_child_may_open_its_own(void **state)
{
    struct job job;
    int status;
    (void)state;
    open_job(&job);
    close_job(&job);
    pid_t child = fork();
    if (child == 0)
        _exit(open_own());
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

#define THREADS 1000

struct errand {
    struct job *job;
    uint32_t number;
    int rv;
    struct tr_error error;
};

static void *fail_with_own(void *arg)
{
    struct errand *errand = arg;
    const uint64_t id = (uint64_t)WORLD_NODES + errand->number;
    float row[WORLD_WIDTH];
    errand->rv = tr_graph_fetch(errand->job->graph, 0, "feat", &id, 1, TR_WAIT_FOREVER, row,
                                &errand->error);
    return NULL;
}

/* However many others fail meanwhile, each keeps the message of its own failure. */
static void a_thousand_threads_have_errors_of_their_own(void **state)
{
    static struct errand errands[THREADS];
    static pthread_t threads[THREADS];
    pthread_attr_t small;
    struct job job;
    (void)state;
    open_job(&job);
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 1u << 18);
    for (uint32_t i = 0; i < THREADS; i++) {
        errands[i] = (struct errand){ .job = &job, .number = i, .error = TR_ERROR_INIT };
        assert_int_equal(pthread_create(&threads[i], &small, fail_with_own, &errands[i]), 0);
    }
    pthread_attr_destroy(&small);
    for (uint32_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (uint32_t i = 0; i < THREADS; i++) {
        char says[32];
        snprintf(says, sizeof says, "ids[0] = %u:", WORLD_NODES + i);
        assert_int_equal(errands[i].rv, TR_ERANGE);
        assert_int_equal(errands[i].error.code, TR_ERANGE);
        if (strstr(errands[i].error.message, says) == NULL)
            fail_msg("\"%s\" does not say \"%s\"", errands[i].error.message, says);
    }
    close_job(&job);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_child_gets_eforked_and_the_parent_goes_on),
        cmocka_unit_test(it_forks_at_any_moment),
        cmocka_unit_test(a_child_may_open_its_own),
        cmocka_unit_test(a_thousand_threads_have_errors_of_their_own),
    };
    return cmocka_run_group_tests(tests, world_setup, world_teardown);
}
