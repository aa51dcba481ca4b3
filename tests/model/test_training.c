/* SPDX-License-Identifier: Apache-2.0 */
/* A whole training in this process: what its epochs, its result, its folder and an inference of its
 * model say fits together. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <troupe/checkpoint.h>
#include <troupe/generate.h>
#include <troupe/model.h>
#include <troupe/partition.h>

#include "api/event_queue.h"
#include "runtime/base/files.h"
#include "tests/api/outcome.h"
#include "tests/scratch.h"

/* The linker puts this before the allocator's, so that events of a task can find no memory. */
void *__real_calloc(size_t count, size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);

struct task_event_copy {
    struct queued_event queued;
    struct tr_model_event event;
};

static atomic_bool no_events;
static atomic_uint events_refused;

void *__wrap_calloc(size_t count, size_t bytes)
{
    if (!atomic_load(&no_events) || count != 1 || bytes != sizeof(struct task_event_copy))
        return __real_calloc(count, bytes);
    atomic_fetch_add(&events_refused, 1);
    return NULL;
}

#define NODES 1000
#define EDGES 6000
#define BATCH 100
#define EPOCHS 3u
/* Nothing needs so long: a hang is a failure. */
#define PATIENT_NS INT64_C(60000000000)

static char folder[40];
static char graph[64];

static void in(char *path, const char *name)
{
    snprintf(path, 64, "%s/%s", folder, name);
}

static int finish(struct tr_task *task)
{
    int rv = tr_task_wait(task, TR_WAIT_FOREVER, &failure);
    tr_task_close(task);
    return rv;
}

static int set_up(void **state)
{
    struct tr_generate_options generate;
    struct tr_partition_options partition;
    struct tr_task *task;
    char raw[64], parts[64];
    tr_generate_options_init(&generate);
    tr_partition_options_init(&partition);
    (void)state;
    assert_non_null(scratch_folder(folder, sizeof folder, "training"));
    in(raw, "raw");
    in(parts, "parts");
    in(graph, "parts/g.json");
    generate.out = raw;
    generate.kind = TR_GENERATE_SBM;
    generate.num_nodes = NODES;
    generate.num_edges = EDGES;
    ok(tr_generate_start(&generate, &task, &failure));
    ok(finish(task));
    partition.raw = raw;
    partition.out = parts;
    partition.name = "g";
    partition.method = "random";
    partition.num_parts = 2;
    ok(tr_partition_start(&partition, &task, &failure));
    ok(finish(task));
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    return files_remove_tree(files_posix, folder, NULL);
}

static struct tr_train_options options_of(const char *run)
{
    struct tr_train_options options;
    tr_train_options_init(&options);
    options.graph = graph;
    options.run = run;
    options.hidden = 8;
    options.batch_size = BATCH;
    options.epochs = EPOCHS;
    options.threads = options.loops = 1;
    return options;
}

static int train(const struct tr_train_options *options)
{
    struct tr_task *task;
    ok(tr_train_start(options, &task, &failure));
    return finish(task);
}

static void read_file(const char *run, const char *name, char **text, size_t *size)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", run, name);
    ok(files_read_all(files_posix, path, 1 << 20, text, size, NULL));
}

static uint32_t count_lines(const char *run)
{
    char *text;
    size_t size;
    uint32_t lines = 0;
    read_file(run, "metrics.jsonl", &text, &size);
    for (size_t i = 0; i < size; i++)
        lines += text[i] == '\n';
    free(text);
    return lines;
}

static void assert_same_scores(const struct tr_scores *a, const struct tr_scores *b)
{
    assert_true(a->labelled > 0);
    assert_int_equal(a->labelled, b->labelled);
    assert_true(fabs(a->loss - b->loss) < 1e-6 * fabs(a->loss));
    assert_true(a->accuracy == b->accuracy);
    assert_true(a->macro_f1 == b->macro_f1);
}

/* Outputs of all nodes, exactly, and each split's scores. */
static void infer(const char *run, struct tr_scores scores[3])
{
    struct tr_infer_options options;
    struct tr_rows rows = TR_ROWS_INIT;
    struct tr_task *task;
    tr_infer_options_init(&options);
    options.graph = graph;
    options.run = run;
    options.threads = options.loops = 1;
    ok(tr_infer_start(&options, &task, &failure));
    ok(tr_task_wait(task, TR_WAIT_FOREVER, &failure));
    ok(tr_infer_get_outputs(task, &rows, &failure));
    assert_int_equal(rows.num_rows, NODES);
    assert_int_equal(rows.dtype, TR_F32);
    for (int split = TR_SPLIT_TRAIN; split <= TR_SPLIT_TEST; split++) {
        const struct tr_scores none = TR_SCORES_INIT;
        scores[split] = none;
        ok(tr_infer_get_scores(task, (enum tr_split)split, &scores[split], &failure));
    }
    tr_task_close(task);
}

static void a_run_says_the_same_everywhere(void **state)
{
    char run[64];
    struct tr_train_epoch epoch = TR_TRAIN_EPOCH_INIT;
    struct tr_train_result result = TR_TRAIN_RESULT_INIT;
    struct tr_scores shown = TR_SCORES_INIT, best = TR_SCORES_INIT, test = TR_SCORES_INIT;
    struct tr_scores inferred[3];
    struct tr_task *task;
    (void)state;
    in(run, "run");
    struct tr_train_options options = options_of(run);
    options.evaluate_every = 2;
    ok(tr_train_start(&options, &task, &failure));
    ok(tr_task_wait(task, TR_WAIT_FOREVER, &failure));
    ok(tr_train_get_result(task, &result, &best, &test, &failure));
    assert_int_equal(result.epochs, EPOCHS);
    assert_true(result.has_best && result.tested && !result.stopped_early);
    infer(run, inferred);
    for (uint32_t e = 0; e < EPOCHS; e++) {
        ok(tr_train_get_epoch(task, e, &epoch, &shown, &failure));
        assert_int_equal(epoch.epoch, e);
        assert_int_equal(epoch.seeds, inferred[TR_SPLIT_TRAIN].labelled);
        assert_int_equal(epoch.steps, (epoch.seeds + BATCH - 1) / BATCH);
        assert_true(fabs(epoch.rate - 0.01) < 1e-8);
        assert_true(isfinite(epoch.train_loss) && epoch.seconds > 0);
        assert_int_equal(epoch.evaluated, e > 0); /* every other one, and the last */
        if (e == 0)
            assert_true(isnan(shown.accuracy) && !epoch.best);
        if (e == result.best_epoch) {
            assert_true(epoch.best);
            assert_same_scores(&shown, &best);
        }
    }
    assert_true(epoch.train_loss == result.train_loss);
    assert_int_equal(tr_train_get_epoch(task, EPOCHS, &epoch, &shown, &failure), TR_EEND);
    assert_same_scores(&best, &inferred[TR_SPLIT_VALIDATION]);
    assert_same_scores(&test, &inferred[TR_SPLIT_TEST]);
    assert_int_equal(count_lines(run), EPOCHS + 1); /* and the test's */
    tr_task_close(task);
    assert_int_equal(train(&options), TR_EEXIST);
}

/* Nothing is scored that nobody asked for, and the model is that of the last epoch. */
static void a_run_without_evaluation_has_no_scores(void **state)
{
    char run[64];
    struct tr_train_epoch epoch = TR_TRAIN_EPOCH_INIT;
    struct tr_train_result result = TR_TRAIN_RESULT_INIT;
    struct tr_scores best = TR_SCORES_INIT, test = TR_SCORES_INIT;
    struct tr_task *task;
    (void)state;
    in(run, "bare");
    struct tr_train_options options = options_of(run);
    options.evaluation = "none";
    options.drop_last = true;
    ok(tr_train_start(&options, &task, &failure));
    ok(tr_task_wait(task, TR_WAIT_FOREVER, &failure));
    ok(tr_train_get_result(task, &result, &best, &test, &failure));
    assert_int_equal(result.epochs, EPOCHS);
    assert_false(result.has_best || result.tested);
    assert_true(best.labelled == 0 && isnan(best.loss) && isnan(test.accuracy));
    ok(tr_train_get_epoch(task, 0, &epoch, NULL, &failure));
    assert_int_equal(epoch.seeds, epoch.steps * BATCH);
    tr_task_close(task);
    assert_int_equal(count_lines(run), EPOCHS);
}

/* A run that goes on from a checkpoint ends where a run ends that was never stopped. */
static void a_run_that_goes_on_ends_alike(void **state)
{
    char run[64], checkpoints[80], *models[2], *metrics[2];
    size_t sizes[2], ignored;
    (void)state;
    in(run, "saved");
    struct tr_train_options options = options_of(run);
    options.checkpoint_every = 2;
    options.balanced_weights = true;
    ok(train(&options));
    snprintf(checkpoints, sizeof checkpoints, "%s/checkpoints", run);
    assert_true(tr_checkpoints_exist(checkpoints));
    read_file(run, "model.safetensors", &models[0], &sizes[0]);
    read_file(run, "metrics.jsonl", &metrics[0], &ignored);
    assert_int_equal(train(&options), TR_EEXIST);
    options.resume = true;
    ok(train(&options));
    read_file(run, "model.safetensors", &models[1], &sizes[1]);
    assert_int_equal(sizes[0], sizes[1]);
    assert_memory_equal(models[0], models[1], sizes[0]);
    assert_int_equal(count_lines(run), EPOCHS + 1);
    options.hidden = 9; /* another run */
    assert_int_equal(train(&options), TR_EMISMATCH);
    assert_non_null(strstr(failure.message, "options.hidden (it was 8, now 9)"));
    options.hidden = 8;
    options.epochs = EPOCHS - 1;
    assert_int_equal(train(&options), TR_EMISMATCH);
    options.epochs = EPOCHS;
    options.resume = false;
    options.replace = true;
    options.checkpoint_every = 0;
    options.balanced_weights = false;
    ok(train(&options));
    free(models[1]);
    read_file(run, "model.safetensors", &models[1], &sizes[1]);
    assert_int_equal(sizes[0], sizes[1]);
    assert_true(memcmp(models[0], models[1], sizes[0]) != 0); /* weights of classes count */
    free(models[0]);
    free(models[1]);
    free(metrics[0]);
}

/* A run that has ended goes on to more epochs, and ends as one that was begun with so many. */
static void a_run_that_grows_ends_as_a_longer_one(void **state)
{
    char run[64], whole[64], *models[2];
    size_t sizes[2];
    (void)state;
    in(run, "grown");
    in(whole, "whole");
    struct tr_train_options options = options_of(whole);
    options.epochs = 2 * EPOCHS;
    options.patience = 5;
    options.l2 = 0.001f;
    ok(train(&options));
    options.run = run;
    options.epochs = EPOCHS;
    options.patience = 2;
    options.checkpoint_every = 2;
    ok(train(&options));
    options.resume = true;
    options.epochs = 2 * EPOCHS;
    options.patience = 5;
    options.l2 = TR_TRAIN_REAL_CHOSEN; /* as the run has it */
    ok(train(&options));
    read_file(run, "model.safetensors", &models[0], &sizes[0]);
    read_file(whole, "model.safetensors", &models[1], &sizes[1]);
    assert_int_equal(sizes[0], sizes[1]);
    assert_memory_equal(models[0], models[1], sizes[0]);
    assert_int_equal(count_lines(run), 2 * EPOCHS + 1);
    options.epochs = TR_TRAIN_EPOCHS_CHOSEN; /* the length is the run's own, too */
    ok(train(&options));
    assert_int_equal(count_lines(run), 2 * EPOCHS + 1);
    options.epochs = EPOCHS;
    assert_int_equal(train(&options), TR_EMISMATCH);
    assert_non_null(strstr(failure.message, "options.epochs (it was 6, now 3)"));
    free(models[0]);
    free(models[1]);
}

/* A task that is cancelled while it trains leaves a checkpoint, and the run that goes on from it is
 * the one that was not interrupted. */
static void a_run_that_is_cancelled_goes_on_alike(void **state)
{
    (void)state;
    for (uint32_t trainers = 1; trainers <= 2; trainers++) {
        char run[64], whole[64], checkpoints[80], *models[2];
        struct tr_model_event event = TR_MODEL_EVENT_INIT;
        struct tr_task *task;
        size_t sizes[2];
        in(run, trainers == 1 ? "left-1" : "left-2");
        in(whole, trainers == 1 ? "stayed-1" : "stayed-2");
        struct tr_train_options options = options_of(whole);
        options.epochs = 60;
        options.trainers = trainers;
        ok(train(&options));
        options.run = run;
        options.checkpoint_at_cancel = true;
        ok(tr_train_start(&options, &task, &failure));
        do
            ok(tr_model_next_event(task, PATIENT_NS, &event, &failure));
        while (event.kind != TR_MODEL_EPOCH);
        tr_task_cancel(task);
        int rv = tr_task_wait(task, TR_WAIT_FOREVER, &failure);
        tr_task_close(task);
        /* A run whose last step was made meanwhile ends as if nobody had asked. */
        if (rv != 0) {
            assert_int_equal(rv, TR_ECANCELED);
            assert_non_null(strstr(failure.message, "continue with options.resume"));
            snprintf(checkpoints, sizeof checkpoints, "%s/checkpoints", run);
            assert_true(tr_checkpoints_exist(checkpoints));
            options.resume = true;
            ok(train(&options));
        }
        read_file(run, "model.safetensors", &models[0], &sizes[0]);
        read_file(whole, "model.safetensors", &models[1], &sizes[1]);
        assert_int_equal(sizes[0], sizes[1]);
        assert_memory_equal(models[0], models[1], sizes[0]);
        assert_int_equal(count_lines(run), 60 + 1);
        free(models[0]);
        free(models[1]);
    }
}

/* The weights to begin with are those of the other run: without a step they are what is written. */
static void a_run_begins_with_the_weights_of_another(void **state)
{
    char from[64], run[64], *models[2];
    size_t sizes[2];
    (void)state;
    in(from, "teacher");
    in(run, "pupil");
    struct tr_train_options options = options_of(from);
    ok(train(&options));
    options.run = run;
    options.from = from;
    options.seed = 5;
    options.epochs = 0;
    options.trainers = 2;
    ok(train(&options));
    read_file(from, "model.safetensors", &models[0], &sizes[0]);
    read_file(run, "model.safetensors", &models[1], &sizes[1]);
    assert_int_equal(sizes[0], sizes[1]);
    assert_memory_equal(models[0], models[1], sizes[0]);
    free(models[0]);
    free(models[1]);
    options.replace = true;
    options.hidden = 9;
    assert_int_equal(train(&options), TR_EMISMATCH);
    assert_non_null(strstr(failure.message, "tensor 'layers.0.neigh.weight' has the shape [8, "));
    assert_non_null(strstr(failure.message, ", and the model takes [9, "));
    assert_non_null(strstr(failure.message, "is sage of 2 layers, 8 wide"));
    options.hidden = 8;
    options.model = "gcn";
    assert_int_equal(train(&options), TR_EMISMATCH);
    assert_non_null(strstr(failure.message, "no tensor 'layers.0.weight'"));
    options.from = folder; /* which is no run */
    assert_int_equal(train(&options), TR_ENOENT);
    options = options_of(run); /* a run goes on with the same beginning alone */
    options.replace = true;
    options.from = from;
    options.checkpoint_every = 2;
    ok(train(&options));
    options.replace = false;
    options.resume = true;
    ok(train(&options));
    options.from = NULL;
    assert_int_equal(train(&options), TR_EMISMATCH);
    assert_non_null(strstr(failure.message, "options.from (its content was another)"));
}

/* Two trainers share each step, and come to one model, the same whenever it is asked for. */
static void trainers_of_a_task_share_its_steps(void **state)
{
    char run[64], *models[2];
    size_t sizes[2];
    (void)state;
    in(run, "two");
    struct tr_train_options options = options_of(run);
    options.trainers = options.threads = 2;
    options.evaluation = "sampled";
    options.reproducible = true;
    for (int i = 0; i < 2; i++) {
        struct tr_train_epoch epoch = TR_TRAIN_EPOCH_INIT;
        struct tr_train_result result = TR_TRAIN_RESULT_INIT;
        struct tr_scores best = TR_SCORES_INIT, test = TR_SCORES_INIT;
        struct tr_task *task;
        ok(tr_train_start(&options, &task, &failure));
        ok(tr_task_wait(task, TR_WAIT_FOREVER, &failure));
        ok(tr_train_get_epoch(task, EPOCHS - 1, &epoch, NULL, &failure));
        ok(tr_train_get_result(task, &result, &best, &test, &failure));
        assert_int_equal(epoch.steps, (epoch.seeds + 2 * BATCH - 1) / (2 * BATCH));
        assert_true(isfinite(epoch.train_loss) && epoch.evaluated);
        assert_true(result.has_best && best.labelled > 0 && isfinite(best.loss));
        assert_true(result.tested && test.labelled > 0 && isfinite(test.loss));
        tr_task_close(task);
        read_file(run, "model.safetensors", &models[i], &sizes[i]);
        options.replace = true;
        options.checkpoint_every = 1; /* which changes nothing of the result */
        options.deal = "shuffle";     /* as where the graph has no deal for so many */
    }
    assert_int_equal(sizes[0], sizes[1]);
    assert_memory_equal(models[0], models[1], sizes[0]);
    free(models[0]);
    free(models[1]);
    options.checkpoint_every = 0;
    options.deal = "affinity";
    assert_int_equal(train(&options), TR_ENOENT);
    assert_non_null(strstr(failure.message, "deal for 0 trainers, not for 2"));
}

#define LOOK_US 1000

static void look_until(bool reached, uint32_t *looks)
{
    assert_true(reached || ++*looks < PATIENT_NS / 1000 / LOOK_US);
    usleep(reached ? 0 : LOOK_US);
}

/* A program that confirms what it is asked to is asked, also where there was no memory for the
 * event. */
static void a_program_is_asked_to_confirm_when_there_is_memory(void **state)
{
    char run[64];
    struct tr_train_result result = TR_TRAIN_RESULT_INIT;
    struct tr_model_event event = TR_MODEL_EVENT_INIT;
    struct tr_task *task;
    unsigned refused;
    uint32_t looks = 0;
    bool done;
    (void)state;
    in(run, "asked");
    struct tr_train_options options = options_of(run);
    options.evaluation = "none";
    options.confirm = true;
    atomic_store(&no_events, true);
    ok(tr_train_start(&options, &task, &failure));
    /* The result is there just before the event that asks, which comes after this many. */
    do {
        refused = atomic_load(&events_refused);
        done = tr_train_get_result(task, &result, NULL, NULL, NULL) == 0;
        look_until(done, &looks);
    } while (!done);
    while (atomic_load(&events_refused) == refused)
        look_until(false, &looks);
    atomic_store(&no_events, false);
    ok(tr_model_next_event(task, PATIENT_NS, &event, &failure));
    assert_int_equal(event.kind, TR_MODEL_TRAINED);
    assert_int_equal(event.number, EPOCHS);
    assert_int_equal(event.dropped, EPOCHS + 2); /* and that the graph was open, and of what size */
    ok(tr_train_confirm(task, &failure));
    ok(finish(task));
}

static void a_run_stops_when_nothing_gets_better(void **state)
{
    char run[64];
    struct tr_train_result result = TR_TRAIN_RESULT_INIT;
    struct tr_task *task;
    (void)state;
    in(run, "patient");
    struct tr_train_options options = options_of(run);
    options.lr = 0; /* every epoch is as good as the first */
    options.epochs = 20;
    options.patience = 3;
    ok(tr_train_start(&options, &task, &failure));
    ok(tr_task_wait(task, TR_WAIT_FOREVER, &failure));
    ok(tr_train_get_result(task, &result, NULL, NULL, &failure));
    assert_true(result.stopped_early);
    assert_int_equal(result.best_epoch, 0);
    assert_int_equal(result.epochs, 4);
    tr_task_close(task);
}

/* Where every neighbour is drawn, sampling is exact: each node's outputs, and its scores. */
static void sampled_and_exact_outputs_meet_where_all_is_drawn(void **state)
{
    char run[64];
    struct tr_infer_options infer;
    struct tr_task *tasks[2];
    struct tr_rows rows[2] = { TR_ROWS_INIT, TR_ROWS_INIT };
    struct tr_scores scores[2] = { TR_SCORES_INIT, TR_SCORES_INIT };
    (void)state;
    in(run, "all");
    struct tr_train_options options = options_of(run);
    options.model = "gcn";
    options.fanout[0] = options.fanout[1] = TR_FANOUT_ALL;
    ok(train(&options));
    tr_infer_options_init(&infer);
    infer.graph = graph;
    infer.run = run;
    infer.threads = infer.loops = 1;
    for (int i = 0; i < 2; i++) {
        infer.sampled = i == 1;
        ok(tr_infer_start(&infer, &tasks[i], &failure));
        ok(tr_task_wait(tasks[i], TR_WAIT_FOREVER, &failure));
        ok(tr_infer_get_outputs(tasks[i], &rows[i], &failure));
        ok(tr_infer_get_scores(tasks[i], TR_SPLIT_TEST, &scores[i], &failure));
        assert_int_equal(rows[i].num_rows, NODES);
    }
    assert_int_equal(rows[0].width, rows[1].width);
    for (size_t i = 0; i < NODES * rows[0].width; i++) {
        float exact = ((const float *)rows[0].rows)[i], drawn = ((const float *)rows[1].rows)[i];
        assert_true(fabsf(exact - drawn) < 1e-4f * (1 + fabsf(exact)));
    }
    assert_int_equal(scores[0].labelled, scores[1].labelled);
    assert_true(fabs(scores[0].loss - scores[1].loss) < 1e-4);
    tr_task_close(tasks[0]);
    tr_task_close(tasks[1]);
}

static void an_inference_is_of_a_run_and_a_graph(void **state)
{
    struct tr_infer_options options;
    struct tr_task *task;
    struct tr_scores scores = TR_SCORES_INIT;
    (void)state;
    for (int missing = 0; missing < 2; missing++) {
        tr_infer_options_init(&options);
        options.graph = missing == 0 ? NULL : graph;
        options.run = missing == 1 ? NULL : folder;
        assert_int_equal(tr_infer_start(&options, &task, &failure), TR_EINVAL);
        assert_null(task);
    }
    options.run = folder; /* which is no run */
    ok(tr_infer_start(&options, &task, &failure));
    assert_int_equal(tr_task_wait(task, TR_WAIT_FOREVER, &failure), TR_ENOENT);
    assert_int_equal(tr_infer_get_scores(task, TR_SPLIT_TEST, &scores, &failure), TR_EEND);
    tr_task_close(task);
}

static void what_a_graph_lacks_is_named(void **state)
{
    char run[64];
    (void)state;
    in(run, "none");
    struct tr_train_options options = options_of(run);
    options.val_mask = "no_mask";
    assert_int_equal(train(&options), TR_ENOENT);
    assert_non_null(strstr(failure.message, "no_mask"));
    options = options_of(run);
    options.replace = true;
    options.features = "nothing";
    assert_int_equal(train(&options), TR_ENOENT);
    assert_non_null(strstr(failure.message, "nothing"));
    options = options_of(run);
    options.replace = true;
    options.labels = "feat"; /* not one number a node */
    assert_int_equal(train(&options), TR_EMISMATCH);
    assert_non_null(strstr(failure.message, "feat"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_says_the_same_everywhere),
        cmocka_unit_test(a_run_without_evaluation_has_no_scores),
        cmocka_unit_test(a_run_that_goes_on_ends_alike),
        cmocka_unit_test(a_run_that_grows_ends_as_a_longer_one),
        cmocka_unit_test(a_run_that_is_cancelled_goes_on_alike),
        cmocka_unit_test(a_run_begins_with_the_weights_of_another),
        cmocka_unit_test(trainers_of_a_task_share_its_steps),
        cmocka_unit_test(a_program_is_asked_to_confirm_when_there_is_memory),
        cmocka_unit_test(a_run_stops_when_nothing_gets_better),
        cmocka_unit_test(sampled_and_exact_outputs_meet_where_all_is_drawn),
        cmocka_unit_test(an_inference_is_of_a_run_and_a_graph),
        cmocka_unit_test(what_a_graph_lacks_is_named),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests_name("training", tests, set_up, tear_down);
}
