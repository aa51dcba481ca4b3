/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tasks that make graphs ready, through the public API: what is generated or imported, then
 * partitioned, verifies; a cancelled task leaves nothing behind; failures have a message; options
 * are copied.
 */
#include <sys/stat.h>

#include <troupe/troupe.h>

#include "tests/partition/raw_util.h"

#define PARTS 3u
#define NODES 2000u
#define EDGES 16000u

/* A path in the scratch folder; freed by the caller. */
static char *in(void **state, const char *name)
{
    const struct scratch *scratch = *state;
    char *path = malloc(200);
    snprintf(path, 200, "%s/%s", scratch->folder, name);
    return path;
}

static bool is_there(const char *path)
{
    struct stat facts;
    return stat(path, &facts) == 0;
}

static int finish(struct tr_task *task, struct tr_error *error)
{
    int rv = tr_task_wait(task, TR_WAIT_FOREVER, error);
    tr_task_close(task);
    return rv;
}

static void ok(int rv, const struct tr_error *error)
{
    if (rv != 0)
        fail_msg("%s: %s", tr_error_name(rv), error->message);
}

static void generate(const char *out, enum tr_generate_kind kind, uint64_t edges)
{
    struct tr_error error = TR_ERROR_INIT;
    struct tr_generate_options options;
    struct tr_task *task;
    tr_generate_options_init(&options);
    /* Options are the caller's again as soon as the task has begun. */
    char *copied = strdup(out);
    options.out = copied;
    options.kind = kind;
    options.num_nodes = NODES;
    options.num_edges = edges;
    options.seed = 3;
    ok(tr_generate_start(&options, &task, &error), &error);
    memset(copied, 'x', strlen(copied));
    free(copied);
    ok(finish(task, &error), &error);
}

static void what_is_made_verifies(void **state)
{
    static const char *const METHODS[] = { "metis", "random" };
    static const char *const TABLES[] = { "train_mask" };
    struct tr_error error = TR_ERROR_INIT;
    struct tr_task *task;
    char *raw = in(state, "raw"), *copy = in(state, "copy"), *parts = in(state, "parts"),
         *book = in(state, "parts/g.json");
    for (int kind = TR_GENERATE_SKEW; kind <= TR_GENERATE_SBM; kind++) {
        struct tr_import_edges_options import = TR_IMPORT_EDGES_OPTIONS_INIT;
        struct tr_partition_options partition;
        struct tr_import_edges_report imported = TR_IMPORT_EDGES_REPORT_INIT;
        struct tr_partition_report made = TR_PARTITION_REPORT_INIT;
        struct tr_verify_report found = TR_VERIFY_REPORT_INIT;
        char name[20];
        tr_partition_options_init(&partition);
        snprintf(name, sizeof name, "raw%d", kind);
        free(raw);
        raw = in(state, name);
        generate(raw, kind, EDGES);

        import.path = raw;
        import.out = copy;
        import.replace = kind > 0;
        ok(tr_import_edges_start(&import, &task, &error), &error);
        ok(tr_task_wait(task, TR_WAIT_FOREVER, &error), &error);
        ok(tr_import_edges_result(task, &imported, &error), &error);
        assert_int_equal(imported.header_line, 0);
        assert_int_equal(tr_partition_result(task, &made, &error), TR_EINVAL);
        ok(finish(task, &error), &error);

        partition.raw = raw;
        partition.out = parts;
        partition.replace = kind > 0;
        partition.name = "g";
        partition.num_parts = PARTS;
        partition.method = METHODS[kind % 2];
        partition.balance_tables = TABLES;
        partition.num_balance_tables = kind % 2 == 0;
        partition.trainers = 2;
        ok(tr_partition_start(&partition, &task, &error), &error);
        ok(tr_task_wait(task, TR_WAIT_FOREVER, &error), &error);
        ok(tr_partition_result(task, &made, &error), &error);
        assert_int_equal(tr_verify_result(task, &found, &error), TR_EINVAL);
        tr_task_close(task);
        assert_int_equal(made.num_nodes, NODES);
        assert_int_equal(made.num_edges, EDGES);
        assert_true(made.node_balance >= 1 && made.cut_share >= 0 && made.cut_share <= 1);
        assert_int_equal(made.num_classes, kind % 2 == 0 ? 2 : 0);

        struct tr_verify_options verify = TR_VERIFY_OPTIONS_INIT;
        verify.path = book;
        verify.raw = copy; /* what was copied is the same graph */
        ok(tr_verify_start(&verify, &task, &error), &error);
        ok(tr_task_wait(task, TR_WAIT_FOREVER, &error), &error);
        ok(tr_verify_result(task, &found, &error), &error);
        tr_task_close(task);
        assert_int_equal(found.kind, TR_VERIFY_GRAPH);
        assert_int_equal(found.num_edges, EDGES);
        verify.raw = NULL;
        ok(tr_verify_start(&verify, &task, &error), &error);
        ok(tr_task_wait(task, TR_WAIT_FOREVER, &error), &error);
        ok(tr_verify_result(task, &found, &error), &error);
        tr_task_close(task);
        assert_int_equal(found.kind, TR_VERIFY_FILES);
        assert_true(found.num_files > 0 && found.bytes > 0);
    }
    free(book);
    free(parts);
    free(copy);
    free(raw);
}

static void difference_is_found(void **state)
{
    struct tr_error error = TR_ERROR_INIT;
    struct tr_task *task;
    struct tr_partition_options partition;
    struct tr_verify_options verify = TR_VERIFY_OPTIONS_INIT;
    struct tr_verify_report found = TR_VERIFY_REPORT_INIT;
    char command[300];
    tr_partition_options_init(&partition);
    char *raw = in(state, "raw"), *other = in(state, "other"), *parts = in(state, "parts"),
         *book = in(state, "parts/g.json");
    generate(raw, TR_GENERATE_SBM, EDGES);
    generate(other, TR_GENERATE_SBM, EDGES + 2);
    partition.raw = raw;
    partition.out = parts;
    partition.name = "g";
    partition.method = "random";
    partition.num_parts = PARTS;
    ok(tr_partition_start(&partition, &task, &error), &error);
    ok(finish(task, &error), &error);
    verify.path = book;
    verify.raw = other;
    ok(tr_verify_start(&verify, &task, &error), &error);
    assert_int_equal(tr_task_wait(task, TR_WAIT_FOREVER, &error), TR_EMISMATCH);
    assert_int_equal(tr_verify_result(task, &found, &error), TR_EMISMATCH);
    tr_task_close(task);
    snprintf(command, sizeof command, "rm -r %s/part1", parts);
    assert_int_equal(system(command), 0);
    verify.raw = NULL;
    ok(tr_verify_start(&verify, &task, &error), &error);
    assert_int_equal(finish(task, &error), TR_ENOENT);
    assert_non_null(strstr(error.message, "part1"));
    verify.some = true;
    ok(tr_verify_start(&verify, &task, &error), &error);
    ok(tr_task_wait(task, TR_WAIT_FOREVER, &error), &error);
    ok(tr_verify_result(task, &found, &error), &error);
    tr_task_close(task);
    assert_int_equal(found.elsewhere, 1);
    free(book);
    free(parts);
    free(other);
    free(raw);
}

/* So large that no machine writes it before the cancel comes; closing cancels too. */
static void cancelled_task_leaves_nothing(void **state)
{
    struct tr_error error = TR_ERROR_INIT;
    struct tr_generate_options options;
    char *out = in(state, "raw");
    tr_generate_options_init(&options);
    options.out = out;
    options.num_nodes = NODES;
    options.num_edges = UINT64_C(1) << 40;
    for (int close_alone = 0; close_alone < 2; close_alone++) {
        struct tr_task *task;
        struct tr_task_progress progress = TR_TASK_PROGRESS_INIT;
        ok(tr_generate_start(&options, &task, &error), &error);
        while (progress.done == 0)
            ok(tr_task_progress(task, &progress, &error), &error);
        assert_string_equal(progress.unit, "edges");
        assert_int_equal(progress.total, options.num_edges);
        assert_int_equal(tr_task_wait(task, 0, &error), TR_ETIMEDOUT);
        if (!close_alone) {
            tr_task_cancel(task);
            assert_int_equal(tr_task_wait(task, TR_WAIT_FOREVER, &error), TR_ECANCELED);
        }
        tr_task_close(task);
        assert_int_equal(count_names(*state), 0);
    }
    free(out);
}

static void failures_have_a_message(void **state)
{
    struct tr_error error = TR_ERROR_INIT;
    struct tr_task *task;
    char *raw = in(state, "raw"), *parts = in(state, "parts"), *nowhere = in(state, "nowhere");
    struct tr_generate_options gen;
    tr_generate_options_init(&gen);
    assert_int_equal(tr_generate_start(&gen, &task, &error), TR_EINVAL);
    assert_null(task);
    gen.size = 0;
    assert_int_equal(tr_generate_start(&gen, &task, &error), TR_EINVAL);
    gen.size = sizeof gen;
    gen.out = raw;
    gen.num_nodes = 0;
    gen.num_edges = 5;
    ok(tr_generate_start(&gen, &task, &error), &error);
    assert_true(finish(task, &error) < 0);
    assert_false(is_there(raw));
    generate(raw, TR_GENERATE_SBM, EDGES);
    gen.num_nodes = NODES;
    ok(tr_generate_start(&gen, &task, &error), &error);
    assert_int_equal(finish(task, &error), TR_EEXIST);
    assert_non_null(strstr(error.message, raw));

    struct tr_partition_options partition;
    struct tr_partition_report made = TR_PARTITION_REPORT_INIT;
    tr_partition_options_init(&partition);
    assert_int_equal(tr_partition_start(&partition, &task, &error), TR_EINVAL);
    partition.raw = nowhere;
    partition.out = parts;
    partition.num_parts = PARTS;
    ok(tr_partition_start(&partition, &task, &error), &error);
    assert_int_equal(tr_task_wait(task, TR_WAIT_FOREVER, &error), TR_ENOENT);
    assert_int_equal(tr_partition_result(task, &made, &error), TR_ENOENT);
    assert_non_null(strstr(error.message, nowhere));
    tr_task_close(task);
    partition.raw = raw;
    partition.num_parts = TR_PARTS_MAX + 1;
    ok(tr_partition_start(&partition, &task, &error), &error);
    assert_true(finish(task, &error) < 0);
    partition.num_parts = PARTS;
    partition.method = nowhere;
    ok(tr_partition_start(&partition, &task, &error), &error);
    assert_int_equal(finish(task, &error), TR_ENOENT);
    partition.num_balance_tables = 1;
    assert_int_equal(tr_partition_start(&partition, &task, &error), TR_EINVAL);
    assert_false(is_there(parts));

    struct tr_import_edges_options import = TR_IMPORT_EDGES_OPTIONS_INIT;
    import.out = parts;
    assert_int_equal(tr_import_edges_start(&import, &task, &error), TR_EINVAL);
    import.path = nowhere;
    ok(tr_import_edges_start(&import, &task, &error), &error);
    assert_int_equal(finish(task, &error), TR_ENOENT);
    struct tr_import_debian_options debian = TR_IMPORT_DEBIAN_OPTIONS_INIT;
    debian.out = parts;
    debian.from = nowhere;
    ok(tr_import_debian_start(&debian, &task, &error), &error);
    assert_int_equal(finish(task, &error), TR_ENOENT);

    struct tr_split_options split;
    struct tr_split_report masks = TR_SPLIT_REPORT_INIT;
    tr_split_options_init(&split);
    assert_int_equal(tr_split_start(&split, &task, &error), TR_EINVAL);
    assert_null(task);
    split.raw = nowhere;
    ok(tr_split_start(&split, &task, &error), &error);
    assert_int_equal(tr_task_wait(task, TR_WAIT_FOREVER, &error), TR_ENOENT);
    assert_int_equal(tr_split_result(task, &masks, &error), TR_ENOENT);
    assert_non_null(strstr(error.message, nowhere));
    tr_task_close(task);
    split.raw = raw;
    ok(tr_split_start(&split, &task, &error), &error);
    assert_int_equal(finish(task, &error), TR_EEXIST);
    split.replace = true;
    split.train_share++;
    ok(tr_split_start(&split, &task, &error), &error);
    assert_int_equal(finish(task, &error), TR_EINVAL);

    struct tr_feature_options feature = TR_FEATURE_OPTIONS_INIT;
    struct tr_feature_report features = TR_FEATURE_REPORT_INIT;
    assert_int_equal(tr_feature_start(&feature, &task, &error), TR_EINVAL);
    feature.raw = nowhere;
    feature.kind = (enum tr_feature_kind)7;
    assert_int_equal(tr_feature_start(&feature, &task, &error), TR_EINVAL);
    assert_null(task);
    feature.kind = TR_FEATURE_RANDOM;
    ok(tr_feature_start(&feature, &task, &error), &error);
    assert_int_equal(tr_task_wait(task, TR_WAIT_FOREVER, &error), TR_ENOENT);
    assert_int_equal(tr_feature_result(task, &features, &error), TR_ENOENT);
    tr_task_close(task);
    feature.raw = raw;
    ok(tr_feature_start(&feature, &task, &error), &error);
    assert_int_equal(finish(task, &error), TR_EINVAL);
    feature.kind = TR_FEATURE_DEGREE;
    feature.name = "degree";
    ok(tr_feature_start(&feature, &task, &error), &error);
    ok(tr_task_wait(task, TR_WAIT_FOREVER, &error), &error);
    assert_int_equal(tr_split_result(task, &masks, &error), TR_EINVAL);
    ok(tr_feature_result(task, &features, &error), &error);
    assert_int_equal(features.width, 2);
    tr_task_close(task);

    struct tr_verify_options verify = TR_VERIFY_OPTIONS_INIT;
    assert_int_equal(tr_verify_start(&verify, &task, &error), TR_EINVAL);
    verify.path = nowhere;
    ok(tr_verify_start(&verify, &task, &error), &error);
    assert_int_equal(finish(task, &error), TR_ENOENT);
    verify.raw = raw;
    verify.some = true;
    assert_int_equal(tr_verify_start(&verify, &task, &error), TR_EINVAL);
    free(nowhere);
    free(parts);
    free(raw);
}

/* apt-cache is spawned with a program path of its own, and what it says when it fails counts. */
static void apt_that_is_missing_or_fails_is_said(void **state)
{
    struct tr_error error = TR_ERROR_INIT;
    struct tr_task *task;
    struct tr_import_debian_options debian = TR_IMPORT_DEBIAN_OPTIONS_INIT;
    char *out = in(state, "raw"), *program = in(state, "apt-cache");
    char *before = strdup(getenv("PATH"));
    debian.out = out;
    setenv("PATH", ((struct scratch *)*state)->folder, 1);
    ok(tr_import_debian_start(&debian, &task, &error), &error);
    assert_int_equal(finish(task, &error), TR_ENOENT);
    assert_non_null(strstr(error.message, "apt-cache"));
    FILE *script = fopen(program, "w");
    fputs("#!/bin/sh\necho 'Package: a'\necho 'Section: x'\necho\nexit 3\n", script);
    fclose(script);
    assert_int_equal(chmod(program, 0755), 0);
    ok(tr_import_debian_start(&debian, &task, &error), &error);
    assert_int_equal(finish(task, &error), TR_ECHILD);
    setenv("PATH", before, 1);
    free(before);
    free(program);
    free(out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(failures_have_a_message, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(cancelled_task_leaves_nothing, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(apt_that_is_missing_or_fails_is_said, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(difference_is_found, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(what_is_made_verifies, scratch_setup, scratch_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
