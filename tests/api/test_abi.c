/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs and libraries of different versions. The sources are built twice: against the headers as
 * they are, for a library whose structs have grown; and with OF_A_LATER_VERSION against grown
 * headers, for the library as it is.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <troupe/troupe.h>

#include "api_world.h"

#define GUARD 0xa5
#define GUARD_BYTES 64

static struct world world;
static struct tr_error failure = TR_ERROR_INIT;

static void ok(int rv)
{
    if (rv != 0)
        fail_msg("%s: %s", tr_error_name(rv), failure.message);
}

/* A struct of this program, and behind it what the library must not touch. */
#define GUARDED(tag, name, init)          \
    struct {                              \
        struct tag it;                    \
        unsigned char guard[GUARD_BYTES]; \
    } name = { .it = init };              \
    memset(name.guard, GUARD, sizeof name.guard)

static void check_guard(const unsigned char guard[GUARD_BYTES])
{
    for (size_t i = 0; i < GUARD_BYTES; i++)
        assert_int_equal(guard[i], GUARD);
}

struct job {
    struct tr_session *session;
    struct tr_graph *graph;
    struct tr_nodes *nodes;
    struct tr_loader *loader;
    struct tr_group *group;
};

static void open_job(struct job *job)
{
    struct tr_session_options session;
    struct tr_loader_options loader;
    char path[256];
    world_partition(&world, PARTITION_RANDOM, 2, path);
    tr_session_options_init(&session);
    assert_int_equal(session.size, sizeof session);
    assert_true(session.direct);
    session.seed = 5;
    ok(tr_session_open(&session, &job->session, &failure));
    ok(tr_graph_open(job->session, path, TR_WAIT_FOREVER, &job->graph, &failure));
    ok(tr_nodes_all(job->graph, 0, TR_WAIT_FOREVER, &job->nodes, &failure));
    tr_loader_options_init(&loader);
    assert_int_equal(loader.batch_size, 1024);
    loader.batch_size = 100;
    loader.features = "feat";
    loader.original_ids = true;
    ok(tr_loader_open(job->graph, job->nodes, &loader, TR_WAIT_FOREVER, &job->loader, &failure));
    ok(tr_group_open(job->graph, 0, &job->group, &failure));
}

static void close_job(struct job *job)
{
    tr_group_close(job->group);
    tr_loader_close(job->loader);
    tr_nodes_close(job->nodes);
    tr_graph_close(job->graph);
    tr_session_close(job->session);
}

static void a_whole_program_runs(void **state)
{
    struct job job;
    struct tr_batch *batch;
    uint64_t batches = 0, digest;
    (void)state;
    open_job(&job);
    while (tr_loader_next(job.loader, TR_WAIT_FOREVER, &batch, &failure) == 0) {
        GUARDED(tr_block, block, TR_BLOCK_INIT);
        GUARDED(tr_rows, rows, TR_ROWS_INIT);
        ok(tr_batch_block(batch, 0, 0, &block.it));
        ok(tr_batch_features(batch, 0, &rows.it));
        ok(tr_batch_digest(batch, &digest));
        check_guard(block.guard);
        check_guard(rows.guard);
        assert_int_equal(block.it.size, sizeof block.it);
        assert_int_equal(rows.it.size, sizeof rows.it);
        assert_int_equal(block.it.num_dst, tr_batch_num_seeds(batch, 0));
        assert_int_equal(rows.it.width, WORLD_WIDTH);
        assert_non_null(block.it.sources);
#ifdef OF_A_LATER_VERSION
        assert_int_equal(block.it.of_a_later_version, 0);
        assert_int_equal(rows.it.of_a_later_version, 0);
#endif
        tr_batch_release(batch);
        batches++;
    }
    assert_int_equal(batches, WORLD_NODES / 100);
    GUARDED(tr_feature_info, info, TR_FEATURE_INFO_INIT);
    ok(tr_graph_find_feature(job.graph, 0, "label", &info.it, &failure));
    check_guard(info.guard);
    assert_string_equal(info.it.name, "label");
    GUARDED(tr_checkpoint, checkpoint, TR_CHECKPOINT_INIT);
    ok(tr_group_restore(job.group, TR_WAIT_FOREVER, &checkpoint.it, &failure));
    check_guard(checkpoint.guard);
    assert_null(checkpoint.it.bytes);
    close_job(&job);
}

static void a_job_is_launched_and_observed(void **state)
{
    struct tr_launch_options options = TR_LAUNCH_OPTIONS_INIT;
    struct tr_observer_options observing = TR_OBSERVER_OPTIONS_INIT;
    struct tr_process_options place;
    struct tr_launch *launch;
    struct tr_observer *observer;
    struct tr_process *process;
    char graph[256], file[128];
    (void)state;
    tr_process_options_init(&place);
    world_partition(&world, PARTITION_RANDOM, 2, graph);
    snprintf(file, sizeof file, "%s/c.json", world.dir);
    FILE *to = fopen(file, "w");
    assert_non_null(to);
    fprintf(to,
            "{\"name\": \"job\", \"graph\": \"%s\", \"hosts\": [{\"name\": \"a\", \"unix\": "
            "\"%s/s\"}]}",
            graph, world.dir);
    assert_int_equal(fclose(to), 0);
    options.cluster = observing.cluster = place.cluster = file;
    place.process = 0;
    options.program = "/bin/true";
    GUARDED(tr_launch_info, info, TR_LAUNCH_INFO_INIT);
    ok(tr_launch_open(&options, &launch, &failure));
    ok(tr_launch_info(launch, &info.it, &failure));
    check_guard(info.guard);
    assert_string_equal(info.it.name, "job");
    assert_int_equal(info.it.num_processes, 1);
    tr_launch_close(launch);
    GUARDED(tr_job_status, job, TR_JOB_STATUS_INIT);
    GUARDED(tr_process_status, status, TR_PROCESS_STATUS_INIT);
    ok(tr_observer_open(&observing, 0, &observer, &failure));
    ok(tr_observer_job(observer, &job.it, &failure));
    ok(tr_observer_process(observer, 0, &status.it, &failure));
    check_guard(job.guard);
    check_guard(status.guard);
    assert_int_equal(job.it.num_processes, 1);
    assert_false(status.it.up);
    tr_observer_close(observer);
    GUARDED(tr_process_info, mine, TR_PROCESS_INFO_INIT);
    ok(tr_process_open(&place, 0, &process, &failure));
    ok(tr_process_info(process, &mine.it, &failure));
    check_guard(mine.guard);
    assert_string_equal(mine.it.name, "job");
    tr_process_close(process);
}

static void errors_keep_to_their_size(void **state)
{
    (void)state;
    struct tr_session *session;
    GUARDED(tr_error, error, TR_ERROR_INIT);
    struct tr_session_options options;
    tr_session_options_init(&options);
    options.loops = 1000;
    assert_int_equal(tr_session_open(&options, &session, &error.it), TR_ERANGE);
    check_guard(error.guard);
    assert_int_equal(error.it.code, TR_ERANGE);
    assert_non_null(strstr(error.it.message, "1000"));
}

static void what_nobody_initialised_is_refused(void **state)
{
    struct tr_session_options options;
    struct tr_session *session;
    (void)state;
    tr_session_options_init(&options);
    options.size = 0;
    assert_int_equal(tr_session_open(&options, &session, &failure), TR_EINVAL);
    assert_non_null(strstr(failure.message, "tr_session_options"));
    options.size = SIZE_MAX;
    assert_int_equal(tr_session_open(&options, &session, &failure), TR_EINVAL);
}

#ifdef OF_A_LATER_VERSION
static void only_what_is_unknown_is_refused(void **state)
{
    struct tr_session_options options;
    struct tr_session *session;
    (void)state;
    tr_session_options_init(&options);
    assert_int_equal(options.of_a_later_version, 0);
    options.of_a_later_version = 1;
    assert_int_equal(tr_session_open(&options, &session, &failure), TR_EUNSUPPORTED);
    assert_non_null(strstr(failure.message, "tr_session_options"));
    assert_null(session);
}
#endif

static int setup(void **state)
{
    (void)state;
    world_init(&world);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    world_fini(&world);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_whole_program_runs),
        cmocka_unit_test(a_job_is_launched_and_observed),
        cmocka_unit_test(errors_keep_to_their_size),
        cmocka_unit_test(what_nobody_initialised_is_refused),
#ifdef OF_A_LATER_VERSION
        cmocka_unit_test(only_what_is_unknown_is_refused),
#endif
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
