/* SPDX-License-Identifier: Apache-2.0 */
/* A report as a program starts it: its options are checked before anything is read, and a page
 * that cannot be written leaves nothing. */
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

#include <troupe/report.h>
#include <troupe/run.h>

#include "runtime/base/files.h"
#include "tests/scratch.h"

static char folder[128], run_path[160], page_path[160];
static const char *const runs[] = { run_path };

static void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static const char *in_folder(char text[256], const char *name)
{
    snprintf(text, 256, "%s/%s", folder, name);
    return text;
}

static int make_run(void **state)
{
    char path[256];
    (void)state;
    assert_non_null(scratch_folder(folder, sizeof folder, "report"));
    snprintf(run_path, sizeof run_path, "%s/run", folder);
    snprintf(page_path, sizeof page_path, "%s/page.html", folder);
    assert_int_equal(mkdir(run_path, 0700), 0);
    write_text(in_folder(path, "run/config.json"),
               "{\"troupe\":\"0.1.0\",\"graph\":\"gone/g.json\",\"kernels\":\"plain\","
               "\"run\":{\"hidden\":4}}");
    write_text(in_folder(path, "run/metrics.jsonl"),
               "{\"epoch\":1,\"steps\":2,\"train_loss\":0.5,\"seconds\":0.1}\n");
    return 0;
}

static int remove_run(void **state)
{
    (void)state;
    return files_remove_tree(files_posix, folder, NULL);
}

static struct tr_report_options options_of_one_run(void)
{
    struct tr_report_options options = TR_REPORT_OPTIONS_INIT;
    options.out = page_path;
    options.runs = runs;
    options.num_runs = 1;
    return options;
}

static void expect_refused(const struct tr_report_options *options, const char *text)
{
    struct tr_error error = TR_ERROR_INIT;
    struct tr_task *task;
    assert_int_equal(tr_report_start(options, &task, &error), TR_EINVAL);
    assert_null(task);
    assert_non_null(strstr(error.message, text));
}

static void options_are_checked_before_anything_is_read(void **state)
{
    struct tr_report_options options = options_of_one_run();
    const char *const unnamed[] = { run_path, "" };
    (void)state;
    options.out = NULL;
    expect_refused(&options, "options.out");
    options.out = "";
    expect_refused(&options, "options.out");
    options = options_of_one_run();
    options.num_runs = 0;
    expect_refused(&options, "options.runs: 0 runs; give 1 to 32");
    options.num_runs = TR_REPORT_RUNS_MAX + 1;
    expect_refused(&options, "options.runs: 33 runs");
    options.num_runs = 2;
    options.runs = unnamed;
    expect_refused(&options, "options.runs: number 1 is not named");
    options = options_of_one_run();
    options.num_classes = 1;
    expect_refused(&options, "options.classes");
    options.classes = unnamed;
    options.num_classes = TR_REPORT_CLASSES_MAX + 1;
    expect_refused(&options, "options.classes: 65 files; give at most 64");
}

/* The outcome of a report, and its message. */
static int outcome(const struct tr_report_options *options, struct tr_error *error)
{
    struct tr_task *task;
    assert_int_equal(tr_report_start(options, &task, error), 0);
    int rv = tr_task_wait(task, TR_WAIT_FOREVER, error);
    struct tr_report_result result = TR_REPORT_RESULT_INIT;
    assert_int_equal(tr_report_get_result(task, &result, NULL), rv);
    tr_task_close(task);
    return rv;
}

static void a_page_replaces_a_page_and_nothing_else(void **state)
{
    struct tr_report_options options = options_of_one_run();
    struct tr_error error = TR_ERROR_INIT;
    char path[256], missing[256];
    const char *const none[] = { in_folder(missing, "nowhere") };
    (void)state;
    options.runs = none;
    assert_int_equal(outcome(&options, &error), TR_ENOENT);
    assert_non_null(strstr(error.message, "nowhere/config.json is missing"));
    assert_int_not_equal(access(page_path, F_OK), 0);
    options.runs = runs;
    assert_int_equal(outcome(&options, &error), 0);
    assert_int_equal(outcome(&options, &error), 0);
    options.out = in_folder(path, "run/metrics.jsonl");
    assert_int_equal(outcome(&options, &error), TR_EEXIST);
    assert_non_null(strstr(error.message, "another file of that name"));
    options.out = in_folder(path, "run");
    assert_int_equal(outcome(&options, &error), TR_EINVAL);
}

static void a_graph_that_is_gone_is_said_with_its_reason(void **state)
{
    struct tr_report_options options = options_of_one_run();
    struct tr_report_graph graph = TR_REPORT_GRAPH_INIT;
    struct tr_task *task;
    (void)state;
    assert_int_equal(tr_report_start(&options, &task, NULL), 0);
    assert_int_equal(tr_task_wait(task, TR_WAIT_FOREVER, NULL), 0);
    assert_int_equal(tr_report_get_graph(task, 0, &graph, NULL), 0);
    assert_string_equal(graph.path, "gone/g.json");
    assert_non_null(strstr(graph.why, "gone/g.json"));
    assert_int_equal(tr_report_get_graph(task, 1, &graph, NULL), TR_ERANGE);
    tr_task_close(task);
}

static int no_work(struct tr_task *task, void *arg, struct tr_error *error)
{
    (void)task;
    (void)arg;
    (void)error;
    return 0;
}

static void another_task_is_no_report(void **state)
{
    struct tr_task_work work = TR_TASK_WORK_INIT;
    struct tr_report_result result = TR_REPORT_RESULT_INIT;
    struct tr_error error = TR_ERROR_INIT;
    struct tr_task *task;
    (void)state;
    work.name = "other";
    work.run = no_work;
    assert_int_equal(tr_task_start(&work, NULL, &task, &error), 0);
    assert_int_equal(tr_report_get_result(task, &result, &error), TR_EINVAL);
    assert_string_equal(error.message, "the task writes no report");
    tr_task_close(task);
}

static void a_run_that_has_only_begun_is_read(void **state)
{
    struct tr_run_info info = TR_RUN_INFO_INIT;
    struct tr_run_epoch epoch = TR_RUN_EPOCH_INIT;
    struct tr_scores scores = TR_SCORES_INIT;
    struct tr_error error = TR_ERROR_INIT;
    struct tr_run *run;
    (void)state;
    assert_int_equal(tr_run_open(run_path, &run, &error), 0);
    assert_int_equal(tr_run_info(run, &info, &error), 0);
    assert_false(info.complete || info.tested || info.has_model || info.has_best);
    assert_int_equal(tr_run_get_epoch(run, 0, &epoch, &scores, &error), 0);
    assert_int_equal(epoch.steps, 2);
    assert_false(epoch.evaluated);
    assert_int_equal(tr_run_get_test(run, &scores, &error), TR_EEND);
    tr_run_close(run);
    assert_false(tr_run_named(folder));
    assert_int_equal(tr_run_open(folder, &run, &error), TR_ENOENT);
    assert_null(run);
    assert_int_equal(tr_run_open(NULL, &run, &error), TR_EINVAL);
    tr_run_close(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_are_checked_before_anything_is_read),
        cmocka_unit_test(a_page_replaces_a_page_and_nothing_else),
        cmocka_unit_test(a_graph_that_is_gone_is_said_with_its_reason),
        cmocka_unit_test(another_task_is_no_report),
        cmocka_unit_test(a_run_that_has_only_begun_is_read),
    };
    return cmocka_run_group_tests(tests, make_run, remove_run);
}
