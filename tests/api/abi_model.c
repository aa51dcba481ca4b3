/* SPDX-License-Identifier: Apache-2.0 */
/* Programs and libraries of different versions (abi.h): libtroupe-model, and the checkpoints that a
 * training leaves. */
#include "abi.h"

#define EPOCHS 2u

static struct tr_task *train(const char *graph, const char *run, const char *checkpoints)
{
    struct tr_task *task;
    int rv;
    ABI_OPTIONS(tr_train_options, options);
    assert_null(options.it.model);
    options.it.graph = graph;
    options.it.run = run;
    options.it.epochs = EPOCHS;
    options.it.hidden = 4;
    options.it.batch_size = WORLD_NODES;
    options.it.threads = options.it.loops = 1;
    options.it.checkpoints = checkpoints;
    options.it.checkpoint_every = 1;
    ABI_REFUSES(options, "tr_train_options", tr_train_start(&options.it, &task, &failure));
    ok(tr_train_start(&options.it, &task, &failure));
    do {
        ABI_OUT(tr_model_event, event, TR_MODEL_EVENT_INIT);
        rv = tr_model_next_event(task, TR_WAIT_FOREVER, &event.it, &failure);
        if (rv == 0)
            ABI_CHECK(event);
    } while (rv == 0);
    assert_int_equal(rv, TR_EEND);
    ok(tr_task_wait(task, TR_WAIT_FOREVER, &failure));
    return task;
}

static void check_results(struct tr_task *task)
{
    ABI_OUT(tr_train_epoch, epoch, TR_TRAIN_EPOCH_INIT);
    ABI_OUT(tr_train_result, result, TR_TRAIN_RESULT_INIT);
    ABI_OUT(tr_scores, validation, TR_SCORES_INIT);
    ABI_OUT(tr_scores, test, TR_SCORES_INIT);
    ABI_FILLS(epoch, tr_train_get_epoch(task, 1, &epoch.it, &validation.it, &failure));
    ABI_CHECK(validation);
    ABI_FILLS(result, tr_train_get_result(task, &result.it, NULL, &test.it, &failure));
    ABI_CHECK(test);
    assert_int_equal(epoch.it.epoch, 1);
    assert_int_equal(result.it.epochs, EPOCHS);
    assert_true(result.it.tested && test.it.labelled > 0 && validation.it.labelled > 0);
}

static void infer(const char *graph, const char *run)
{
    struct tr_task *task;
    ABI_OPTIONS(tr_infer_options, options);
    ABI_OUT(tr_rows, rows, TR_ROWS_INIT);
    ABI_OUT(tr_scores, scores, TR_SCORES_INIT);
    options.it.graph = graph;
    options.it.run = run;
    options.it.threads = options.it.loops = 1;
    ABI_REFUSES(options, "tr_infer_options", tr_infer_start(&options.it, &task, &failure));
    ok(tr_infer_start(&options.it, &task, &failure));
    ok(tr_task_wait(task, TR_WAIT_FOREVER, &failure));
    ABI_FILLS(rows, tr_infer_get_outputs(task, &rows.it, &failure));
    ABI_FILLS(scores, tr_infer_get_scores(task, TR_SPLIT_TEST, &scores.it, &failure));
    assert_int_equal(rows.it.num_rows, WORLD_NODES);
    assert_true(scores.it.labelled > 0);
    tr_task_close(task);
}

static void read_model(const char *run)
{
    struct tr_model *model;
    ABI_OUT(tr_model_info, info, TR_MODEL_INFO_INIT);
    ABI_OUT(tr_tensor, tensor, TR_TENSOR_INIT);
    ok(tr_model_open(run, &model, &failure));
    ABI_FILLS(info, tr_model_info(model, &info.it, &failure));
    ABI_FILLS(tensor, tr_model_tensor(model, 0, &tensor.it, &failure));
    assert_int_equal(info.it.hidden, 4);
    assert_true(tensor.it.bytes > 0);
    tr_model_close(model);
}

static void read_checkpoints(const char *folder)
{
    struct tr_checkpoints *list;
    unsigned char head[TR_TRAINER_HEAD_BYTES];
    ABI_OUT(tr_checkpoints_info, info, TR_CHECKPOINTS_INFO_INIT);
    ABI_OUT(tr_checkpoint_info, one, TR_CHECKPOINT_INFO_INIT);
    ABI_OUT(tr_checkpoint_part_info, part, TR_CHECKPOINT_PART_INFO_INIT);
    ABI_OUT(tr_trainer_position, position, TR_TRAINER_POSITION_INIT);
    ok(tr_checkpoints_open(folder, &list, &failure));
    ABI_FILLS(info, tr_checkpoints_info(list, &info.it, &failure));
    ABI_FILLS(one, tr_checkpoints_get(list, 0, &one.it, &failure));
    ABI_FILLS(part, tr_checkpoints_part(list, 0, 0, &part.it, &failure));
    ok(tr_checkpoints_read(list, 0, 0, 0, sizeof head, head, &failure));
    ABI_FILLS(position, tr_trainer_position_read(head, &position.it, &failure));
    assert_true(info.it.count > 0 && part.it.here);
    assert_int_equal(one.it.num_parts, 1);
    assert_true(position.it.steps > 0);
    tr_checkpoints_close(list);
}

static void read_run(const char *folder, const char *graph)
{
    struct tr_run *run;
    const char *name, *value;
    ABI_OUT(tr_run_info, info, TR_RUN_INFO_INIT);
    ABI_OUT(tr_run_epoch, epoch, TR_RUN_EPOCH_INIT);
    ABI_OUT(tr_run_event, event, TR_RUN_EVENT_INIT);
    ABI_OUT(tr_scores, test, TR_SCORES_INIT);
    ABI_OUT(tr_scores, validation, TR_SCORES_INIT);
    assert_true(tr_run_named(folder));
    ok(tr_run_open(folder, &run, &failure));
    ABI_FILLS(info, tr_run_info(run, &info.it, &failure));
    ABI_FILLS(epoch, tr_run_get_epoch(run, 1, &epoch.it, &validation.it, &failure));
    ABI_CHECK(validation);
    ABI_FILLS(test, tr_run_get_test(run, &test.it, &failure));
    assert_string_equal(info.it.graph, graph);
    assert_int_equal(info.it.num_epochs, EPOCHS);
    assert_true(info.it.complete && info.it.has_model && info.it.tested && info.it.parameters > 0);
    assert_int_equal(epoch.it.epoch, 2);
    assert_true(epoch.it.evaluated && validation.it.labelled > 0 && test.it.labelled > 0);
    assert_string_equal(tr_run_value(run, "hidden"), "4");
    assert_null(tr_run_value(run, "nothing"));
    ok(tr_run_option(run, 0, &name, &value, &failure));
    assert_string_equal(tr_run_value(run, name), value);
    refused(tr_run_option(run, info.it.num_options, &name, &value, &failure), TR_ERANGE, "option");
    refused(tr_run_get_epoch(run, EPOCHS, &epoch.it, NULL, &failure), TR_ERANGE, "epoch 2");
    assert_true(tr_run_num_events(run) > 0);
    ABI_FILLS(event, tr_run_get_event(run, 0, &event.it, &failure));
    assert_string_equal(event.it.event, "begun");
    tr_run_close(run);
}

static void write_report(const char *run, const char *graph)
{
    struct tr_task *task;
    char page[256];
    const char *const runs[] = { run };
    ABI_IN(tr_report_options, options, TR_REPORT_OPTIONS_INIT);
    ABI_OUT(tr_report_result, result, TR_REPORT_RESULT_INIT);
    ABI_OUT(tr_report_graph, one, TR_REPORT_GRAPH_INIT);
    options.it.out = abi_path(page, "abi.html");
    options.it.runs = runs;
    options.it.num_runs = 1;
    ABI_REFUSES(options, "tr_report_options", tr_report_start(&options.it, &task, &failure));
    ok(tr_report_start(&options.it, &task, &failure));
    ok(tr_task_wait(task, TR_WAIT_FOREVER, &failure));
    ABI_FILLS(result, tr_report_get_result(task, &result.it, &failure));
    ABI_FILLS(one, tr_report_get_graph(task, 0, &one.it, &failure));
    assert_int_equal(result.it.runs, 1);
    assert_int_equal(result.it.graphs, 1);
    assert_string_equal(one.it.path, graph);
    assert_null(one.it.why);
    refused(tr_report_get_graph(task, 1, &one.it, &failure), TR_ERANGE, "there is no graph 1");
    tr_task_close(task);
}

void a_model_is_trained_and_inferred(void **state)
{
    char graph[256], run[256], checkpoints[256];
    (void)state;
    world_partition(PARTITION_RANDOM, 2, graph);
    abi_path(run, "abi-run");
    abi_path(checkpoints, "abi-checkpoints");
    struct tr_task *task = train(graph, run, checkpoints);
    check_results(task);
    tr_task_close(task);
    infer(graph, run);
    read_model(run);
    read_run(run, graph);
    write_report(run, graph);
    read_checkpoints(checkpoints);
}
