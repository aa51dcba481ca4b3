/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The loop learns, keeps the best epoch, stops when told to, and stops cleanly on errors.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "graph/key.h"
#include "model/exact.h"
#include "model/state.h"
#include "model/trainer.h"
#include "tests/model/made_batch.h"
#include "tests/model/made_graph.h"

#define NODES 1200
#define CLASSES 4
#define BATCH 64

struct source {
    struct batch_source base;
    struct made_graph *graph;
    uint32_t fanout;
    uint32_t epoch;
    uint32_t next;
    uint32_t end;  /* nodes [0, end) are seeds */
    uint32_t held; /* batches given and not released */
    int fail_at;   /* next() fails for this seed; -1: never */
};

static int start_epoch(struct batch_source *self, uint32_t epoch, struct error *error)
{
    (void)error;
    struct source *source = (struct source *)self;
    source->epoch = epoch;
    source->next = 0;
    return 0;
}

static int next_batch(struct batch_source *self, const struct mini_batch **out, struct error *error)
{
    struct source *source = (struct source *)self;
    if (source->next >= source->end)
        return TR_EEND;
    if ((int)source->next == source->fail_at)
        return error_set(error, TR_EPEERDOWN, "no more");
    uint32_t seeds[BATCH], count = 0;
    for (; count < BATCH && source->next < source->end; source->next++)
        seeds[count++] = source->next;
    struct mini_batch *batch = made_graph_batch(source->graph, seeds, count, 2, source->fanout,
                                                key_mix(source->epoch * 1000 + source->next));
    batch->epoch = source->epoch;
    batch->index = source->next / BATCH;
    source->held++;
    *out = batch;
    return 0;
}

static void release(struct batch_source *self, const struct mini_batch *batch)
{
    ((struct source *)self)->held--;
    made_batch_destroy((struct mini_batch *)(uintptr_t)batch);
}

static int start_at(struct batch_source *self, uint32_t epoch, uint64_t step, struct error *error)
{
    int rc = start_epoch(self, epoch, error);
    ((struct source *)self)->next = (uint32_t)step * BATCH;
    return rc;
}

static struct source make_source(struct made_graph *graph, uint32_t end, uint32_t fanout)
{
    return (struct source){
        { start_epoch, next_batch, release, start_at }, graph, fanout, 0, 0, end, 0, -1
    };
}

static struct model_config configure(enum model_kind kind)
{
    struct model_config config = model_config_default();
    config.kind = kind;
    config.inputs = 8;
    config.hidden = 16;
    config.classes = CLASSES;
    config.seed = 2;
    return config;
}

static struct made_graph *make_graph(void)
{
    return made_graph_create(NODES, 8, CLASSES, 8, 0.85, 0.35, 6);
}

/* Evaluations whose scores are written down beforehand. */
struct script {
    const double *scores;
    uint32_t count;
    float first_weight[16]; /* at each evaluation */
    uint32_t reports;
    struct epoch_report last;
    uint32_t cancel_after; /* steps */
    uint32_t steps;
};

static int scripted(void *arg, struct model *model, struct scores *scores, struct error *error)
{
    (void)error;
    struct script *script = arg;
    script->first_weight[script->count] = model_weights(model)[0];
    *scores = (struct scores){ .labelled = 1,
                               .loss = 1,
                               .accuracy = script->scores[script->count++] };
    return 0;
}

static int noted(void *arg, const struct epoch_report *report, struct error *error)
{
    (void)error;
    struct script *script = arg;
    script->reports++;
    script->last = *report;
    return 0;
}

static bool cancelled(void *arg)
{
    struct script *script = arg;
    return script->cancel_after > 0 && ++script->steps >= script->cancel_after;
}

static void test_errors_end_the_run_and_release_batches(void **state)
{
    (void)state;
    struct made_graph *graph = make_graph();
    struct source source = make_source(graph, 300, 3);
    struct model_config config = configure(MODEL_SAGE);
    struct model *model;
    struct trainer_result result;
    struct trainer_plan plan = { .epochs = 3 };
    struct error error;
    assert_int_equal(model_create(&model, &config, parallel_serial, NULL), 0);
    source.fail_at = BATCH;
    assert_int_equal(trainer_run(model, &source.base, &plan, NULL, &result, &error), TR_EPEERDOWN);
    assert_int_equal(source.held, 0);
    source.fail_at = -1;
    graph->labels[70] = CLASSES;
    assert_int_equal(trainer_run(model, &source.base, &plan, NULL, &result, &error), TR_ERANGE);
    assert_int_equal(source.held, 0);
    graph->labels[70] = 0;
    struct script script = { .cancel_after = 7 };
    struct trainer_hooks hooks = { .arg = &script, .cancelled = cancelled, .epoch_done = noted };
    assert_int_equal(trainer_run(model, &source.base, &plan, &hooks, &result, &error),
                     TR_ECANCELED);
    assert_int_equal(source.held, 0);
    assert_int_equal(result.epochs_run, 1);
    assert_int_equal(script.reports, 1);
    model_weights(model)[0] = nanf("");
    assert_int_equal(trainer_run(model, &source.base, &plan, NULL, &result, &error), TR_ERANGE);
    assert_non_null(strstr(error.text, "not finite"));
    assert_int_equal(source.held, 0);
    model_destroy(model);
    made_graph_destroy(graph);
}

static void test_patience_stops_and_best_weights_return(void **state)
{
    (void)state;
    const double scores[] = { 0.3, 0.5, 0.4, 0.5, 0.45, 0.9 };
    struct made_graph *graph = make_graph();
    struct source source = make_source(graph, 200, 3);
    struct model_config config = configure(MODEL_GCN);
    struct model *model;
    struct script script = { .scores = scores };
    struct trainer_hooks hooks = { .arg = &script, .evaluate = scripted, .epoch_done = noted };
    struct trainer_plan plan = { .epochs = 6, .patience = 3 };
    struct trainer_result result;
    assert_int_equal(model_create(&model, &config, parallel_serial, NULL), 0);
    assert_int_equal(trainer_run(model, &source.base, &plan, &hooks, &result, NULL), 0);
    assert_true(result.stopped_early);
    assert_int_equal(result.epochs_run, 5);
    assert_int_equal(result.best_epoch, 1);
    assert_true(model_weights(model)[0] == script.first_weight[1]);
    assert_true(script.first_weight[1] != script.first_weight[4]);
    assert_int_equal(script.last.epoch, 4);
    assert_int_equal(script.last.steps, 4);
    assert_int_equal(script.last.seeds, 200);
    assert_false(script.last.best);
    model_destroy(model);
    made_graph_destroy(graph);
}

static void test_every_other_epoch_is_evaluated_and_the_last(void **state)
{
    (void)state;
    const double scores[] = { 0.3, 0.5, 0.7 };
    struct made_graph *graph = make_graph();
    struct source source = make_source(graph, 64, 3);
    struct model_config config = configure(MODEL_SAGE);
    struct model *model;
    struct script script = { .scores = scores };
    struct trainer_hooks hooks = { .arg = &script, .evaluate = scripted };
    struct trainer_plan plan = { .epochs = 5, .evaluate_every = 2 };
    struct trainer_result result;
    assert_int_equal(model_create(&model, &config, parallel_serial, NULL), 0);
    assert_int_equal(trainer_run(model, &source.base, &plan, &hooks, &result, NULL), 0);
    assert_int_equal(script.count, 3);
    assert_int_equal(result.best_epoch, 4);
    model_destroy(model);
    made_graph_destroy(graph);
}

/* Nodes of the last third, which training never saw. */
static double held_out_accuracy(struct model *model, struct made_graph *graph)
{
    uint32_t owners[NODES] = { 0 };
    struct made_parts *parts = made_parts_create(graph, owners, 1, TR_F32);
    struct exact_graph all = { .parts = (const struct graph_part *const *)parts->parts,
                               .num_parts = 1,
                               .features = "feat" };
    struct exact *exact;
    struct tensor logits = { 0 };
    struct scores scores;
    uint64_t ids[NODES / 3];
    for (uint32_t i = 0; i < NODES / 3; i++)
        ids[i] = NODES - 1 - i;
    assert_int_equal(exact_create(&exact, model, &all, NULL), 0);
    assert_int_equal(exact_infer(exact, &logits, NULL), 0);
    assert_int_equal(exact_scores(exact, &logits, "label", ids, NODES / 3, &scores, NULL), 0);
    tensor_fini(&logits);
    exact_destroy(exact);
    made_parts_destroy(parts);
    return scores.accuracy;
}

static void test_it_learns_what_features_alone_do_not_say(void **state)
{
    (void)state;
    for (int kind = MODEL_SAGE; kind <= MODEL_GCN; kind++) {
        struct made_graph *graph = make_graph();
        struct source source = make_source(graph, NODES / 2, 6);
        struct model_config config = configure((enum model_kind)kind);
        struct model *model;
        struct trainer_plan plan = { .epochs = 12 };
        struct trainer_result result;
        struct scores sampled;
        assert_int_equal(model_create(&model, &config, parallel_serial, NULL), 0);
        double before = held_out_accuracy(model, graph);
        assert_int_equal(trainer_run(model, &source.base, &plan, NULL, &result, NULL), 0);
        double after = held_out_accuracy(model, graph);
        assert_int_equal(trainer_evaluate(model, &source.base, 99, &sampled, NULL), 0);
        if (before > 0.6 || after < 0.88 || sampled.accuracy < 0.85)
            fail_msg("%s: accuracy %.3f, then %.3f; sampled %.3f", model_kind_name(config.kind),
                     before, after, sampled.accuracy);
        assert_int_equal(sampled.labelled, NODES / 2);
        model_destroy(model);
        made_graph_destroy(graph);
    }
}

#define SAVES_MAX 64

/* What a run saved and wrote, to go on from. */
struct saves {
    void *bytes[SAVES_MAX];
    size_t counts[SAVES_MAX];
    uint32_t count;
    uint64_t log; /* as long as a log would be: a line an epoch */
    uint64_t evaluations;
};

static int keep(void *arg, uint64_t steps, const void *bytes, size_t count, struct error *error)
{
    (void)error;
    struct saves *saves = arg;
    assert_true(saves->count < SAVES_MAX && steps > 0);
    saves->bytes[saves->count] = malloc(count);
    assert_non_null(saves->bytes[saves->count]);
    memcpy(saves->bytes[saves->count], bytes, count);
    saves->counts[saves->count++] = count;
    return 0;
}

static uint64_t mark(void *arg)
{
    return ((struct saves *)arg)->log;
}

static int go_back(void *arg, uint64_t to, struct error *error)
{
    (void)error;
    ((struct saves *)arg)->log = to;
    return 0;
}

static int write_line(void *arg, const struct epoch_report *report, struct error *error)
{
    (void)error;
    struct saves *saves = arg;
    uint64_t bits;
    memcpy(&bits, &report->train_loss, sizeof bits);
    saves->log = saves->log * 31 + bits;
    return 0;
}

/* The weights say how good it is: the same scores for the same weights. */
static int judge(void *arg, struct model *model, struct scores *scores, struct error *error)
{
    (void)error;
    ((struct saves *)arg)->evaluations++;
    *scores = (struct scores){ .labelled = 1,
                               .loss = 1,
                               .accuracy = fabs((double)model_weights(model)[1]) };
    return 0;
}

static void train_saving(struct made_graph *graph, enum model_optimiser optimiser,
                         const void *saved, size_t saved_count, struct saves *saves,
                         struct model **model, struct trainer_result *result)
{
    struct model_config config = configure(MODEL_SAGE);
    config.optimiser = optimiser;
    config.momentum = 0.5f;
    assert_int_equal(model_create(model, &config, parallel_serial, NULL), 0);
    struct source source = make_source(graph, 300, 4);
    const struct trainer_hooks hooks = { .arg = saves,
                                         .evaluate = judge,
                                         .epoch_done = write_line,
                                         .save = keep,
                                         .mark = mark,
                                         .rewind = go_back };
    const struct trainer_plan plan = {
        .epochs = 4, .save_every = 3, .job = 77, .saved = saved, .saved_count = saved_count
    };
    assert_int_equal(trainer_run(*model, &source.base, &plan, &hooks, result, NULL), 0);
    assert_int_equal(source.held, 0);
}

static void free_saves(struct saves *saves)
{
    for (uint32_t i = 0; i < saves->count; i++)
        free(saves->bytes[i]);
}

static void a_resumed_run_ends_like_one_that_was_not_interrupted(void **unused)
{
    (void)unused;
    struct made_graph *graph = make_graph();
    for (int optimiser = 0; optimiser < 2; optimiser++) {
        struct saves first = { 0 };
        struct model *whole;
        struct trainer_result wanted;
        train_saving(graph, (enum model_optimiser)optimiser, NULL, 0, &first, &whole, &wanted);
        assert_int_equal(first.count, 4 * 5 / 3);
        size_t bytes = model_params(whole)->count * sizeof(float);
        for (uint32_t i = 0; i < first.count; i++) {
            struct saves again = { .log = 999 };
            struct model *resumed;
            struct trainer_result result;
            train_saving(graph, (enum model_optimiser)optimiser, first.bytes[i], first.counts[i],
                         &again, &resumed, &result);
            assert_memory_equal(model_weights(resumed), model_weights(whole), bytes);
            assert_true(again.log == first.log);
            assert_int_equal(again.count, first.count - i - 1);
            assert_int_equal(result.best_epoch, wanted.best_epoch);
            assert_int_equal(result.epochs_run, wanted.epochs_run);
            model_destroy(resumed);
            free_saves(&again);
        }
        model_destroy(whole);
        free_saves(&first);
    }
    made_graph_destroy(graph);
}

static void saved_bytes_of_something_else_are_refused(void **unused)
{
    (void)unused;
    struct made_graph *graph = make_graph();
    struct saves saves = { 0 };
    struct model *model;
    struct trainer_result result;
    train_saving(graph, MODEL_ADAM, NULL, 0, &saves, &model, &result);
    struct trainer_position at;
    struct error error = { 0 };
    size_t params = model_params(model)->count;
    float *best = malloc(params * sizeof *best), *before = malloc(params * sizeof *before);
    assert_non_null(best);
    assert_non_null(before);
    memcpy(before, model_weights(model), params * sizeof *before);
    unsigned char *bytes = saves.bytes[0];
    size_t count = saves.counts[0];
    assert_int_equal(state_read(model, best, &at, 78, bytes, count, &error), TR_EMISMATCH);
    for (size_t cut = 0; cut < count; cut += 1 + cut / 3)
        assert_int_equal(state_read(model, best, &at, 77, bytes, cut, &error), TR_EFORMAT);
    bytes[0] ^= 1;
    assert_int_equal(state_read(model, best, &at, 77, bytes, count, &error), TR_EFORMAT);
    bytes[0] ^= 1;
    assert_memory_equal(model_weights(model), before, params * sizeof *before);
    assert_int_equal(state_read(model, best, &at, 77, bytes, count, &error), 0);
    free(best);
    free(before);
    model_destroy(model);
    free_saves(&saves);
    made_graph_destroy(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_resumed_run_ends_like_one_that_was_not_interrupted),
        cmocka_unit_test(saved_bytes_of_something_else_are_refused),
        cmocka_unit_test(test_errors_end_the_run_and_release_batches),
        cmocka_unit_test(test_patience_stops_and_best_weights_return),
        cmocka_unit_test(test_every_other_epoch_is_evaluated_and_the_last),
        cmocka_unit_test(test_it_learns_what_features_alone_do_not_say),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
