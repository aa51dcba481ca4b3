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
    atomic_bool over;
};

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
    float row[WORLD_WIDTH];
    uint32_t degree;
    tr_loader_options_init(&options);
    const int results[] = {
        tr_session_dump(job->session, &error),
        tr_graph_open(job->session, "/nowhere.json", TR_WAIT_FOREVER, &graph, &error),
        tr_graph_feature(job->graph, 0, 0, &info, &error),
        tr_graph_find_feature(job->graph, 0, "feat", &info, &error),
        tr_graph_fetch(job->graph, 0, "feat", &id, 1, TR_WAIT_FOREVER, row, &error),
        tr_graph_original_ids(job->graph, 0, &id, 1, TR_WAIT_FOREVER, &out, &error),
        tr_graph_degrees(job->graph, 0, &id, 1, TR_WAIT_FOREVER, &degree, NULL, &error),
        tr_nodes_all(job->graph, 0, TR_WAIT_FOREVER, &nodes, &error),
        tr_nodes_masked(job->graph, 0, "train_mask", TR_WAIT_FOREVER, &nodes, &error),
        tr_nodes_listed(job->graph, 0, &id, 1, TR_WAIT_FOREVER, &nodes, &error),
        tr_nodes_deal(job->nodes, NULL, 0, 1, &nodes, &error),
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
    for (size_t i = 0; i < sizeof results / sizeof *results; i++)
        if (results[i] != TR_EFORKED)
            return (int)i + 1;
    return error.code == TR_EFORKED && error.message[0] != '\0' ? 0 : 100;
}

static int play_child(struct job *job)
{
    alarm(CHILD_SECONDS); /* one that hangs dies of it */
    int rv = call_all(job);
    tr_session_interrupt(job->session);
    tr_session_resume(job->session);
    tr_batch_release(job->batch);
    tr_group_close(job->group);
    tr_loader_close(job->loader);
    tr_nodes_close(job->nodes);
    tr_graph_close(job->graph);
    tr_session_close(job->session);
    /* What was closed in the child is there all the same. */
    return rv != 0 ? rv : call_all(job);
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
    ok(tr_loader_open(job->graph, job->nodes, &options, TR_WAIT_FOREVER, &job->loader, &failure));
    ok(tr_group_open(job->graph, 0, &job->group, &failure));
    ok(tr_loader_next(job->loader, TR_WAIT_FOREVER, &job->batch, &failure));
}

static void close_job(struct job *job)
{
    tr_batch_release(job->batch);
    tr_group_close(job->group);
    tr_loader_close(job->loader);
    tr_nodes_close(job->nodes);
    tr_graph_close(job->graph);
    tr_session_close(job->session);
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

static void it_forks_at_any_moment(void **state)
{
    pthread_t threads[2];
    struct job job;
    (void)state;
    open_job(&job);
    assert_int_equal(pthread_create(&threads[0], NULL, load, &job), 0);
    assert_int_equal(pthread_create(&threads[1], NULL, fetch, &job), 0);
    for (int i = 0; i < FORKS; i++)
        fork_once(&job);
    atomic_store(&job.over, true);
    for (int i = 0; i < 2; i++) {
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
        snprintf(says, sizeof says, "ids[0] = %u ", WORLD_NODES + i);
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
