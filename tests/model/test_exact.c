/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exact inference gives the same bits for every partitioning, thread count and storage type,
 * and the same numbers as one batch with all neighbours; sampled GCN estimates it without bias.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "graph/key.h"
#include "model/exact.h"
#include "tests/model/made_batch.h"
#include "tests/model/made_graph.h"

#define NODES 1500
#define WIDTH 6
#define CLASSES 3

/* Hidden layers that are wider than the features aggregate first, narrower ones multiply. */
enum { WIDE = 19, NARROW = 4 };

/* What is done to rows of features before the first layer. */
enum prepared { AS_STORED, NORMALISED, STANDARDISED, IN_LOGARITHMS, EVERY_WAY };

static struct model *make_model(enum model_kind kind, uint32_t layers, uint32_t hidden,
                                enum prepared prepared, struct parallel *parallel)
{
    struct model_config config = model_config_default();
    config.kind = kind;
    config.layers = layers;
    config.inputs = WIDTH;
    config.hidden = hidden;
    config.classes = CLASSES;
    config.normalise = prepared == NORMALISED;
    config.standardise = prepared == STANDARDISED || prepared == IN_LOGARITHMS;
    config.logarithms = prepared == IN_LOGARITHMS;
    config.seed = 4;
    struct model *model;
    assert_int_equal(model_create(&model, &config, parallel, NULL), 0);
    size_t count;
    model_gradients(model, &count);
    for (size_t i = 0; i < count; i++)
        model_weights(model)[i] += 0.02f * (float)(i % 5) - 0.04f;
    return model;
}

static struct made_graph *make_graph(void)
{
    return made_graph_create(NODES, 6, CLASSES, WIDTH, 0.6, 0.5, 21);
}

static struct made_parts *cut(const struct made_graph *graph, uint32_t count, uint64_t seed,
                              enum tr_dtype dtype)
{
    uint32_t owners[NODES];
    for (uint32_t v = 0; v < NODES; v++)
        owners[v] = (uint32_t)(key_mix(seed + v) % count);
    return made_parts_create(graph, owners, count, dtype);
}

static struct exact_graph view(const struct made_parts *parts)
{
    return (struct exact_graph){ .parts = (const struct graph_part *const *)parts->parts,
                                 .num_parts = parts->count,
                                 .features = "feat" };
}

static struct exact *open_exact(struct model *model, const struct made_parts *parts)
{
    struct exact_graph graph = view(parts);
    struct exact *exact;
    assert_int_equal(exact_create(&exact, model, &graph, NULL), 0);
    return exact;
}

static void infer(enum model_kind kind, uint32_t hidden, enum prepared prepared,
                  struct parallel *parallel, const struct made_parts *parts, struct tensor *logits)
{
    struct model *model = make_model(kind, 3, hidden, prepared, parallel);
    struct exact *exact = open_exact(model, parts);
    struct error error;
    assert_int_equal(exact_infer(exact, logits, &error), 0);
    exact_destroy(exact);
    assert_int_equal(logits->rows, NODES);
    assert_int_equal(logits->cols, CLASSES);
    model_destroy(model);
}

/* Leaves one feature in twelve, as words in a bag. */
static void thin_out(struct made_graph *graph)
{
    for (uint32_t v = 0; v < NODES; v++) {
        for (uint32_t i = 0; i < WIDTH; i++) {
            if (v % 2 == 0 || v % WIDTH != i)
                graph->features[v * WIDTH + i] = 0;
        }
    }
}

static void check_placements(const struct made_graph *graph, enum model_kind kind, uint32_t hidden,
                             enum prepared prepared)
{
    struct made_parts *whole = cut(graph, 1, 0, TR_F32);
    struct tensor expected = { 0 }, logits = { 0 };
    infer(kind, hidden, prepared, parallel_serial, whole, &expected);
    made_parts_destroy(whole);
    for (uint32_t count = 2; count <= 8; count += 3) {
        struct made_parts *parts = cut(graph, count, count, count == 5 ? TR_F64 : TR_F32);
        struct parallel *threads = threads_create(count % 4 + 1);
        infer(kind, hidden, prepared, threads, parts, &logits);
        assert_memory_equal(logits.data, expected.data, NODES * CLASSES * sizeof(float));
        threads_destroy(threads);
        made_parts_destroy(parts);
    }
    tensor_fini(&logits);
    tensor_fini(&expected);
}

static void test_placement_changes_nothing(void **state)
{
    (void)state;
    struct made_graph *graph = make_graph();
    for (int i = 0; i < 2 * EVERY_WAY; i++) {
        enum prepared prepared = (enum prepared)(i / 2);
        check_placements(graph, i % 2 ? MODEL_SAGE : MODEL_GCN, WIDE, prepared);
        check_placements(graph, i % 2 ? MODEL_SAGE : MODEL_GCN, NARROW, prepared);
    }
    thin_out(graph);
    check_placements(graph, MODEL_SAGE, NARROW, NORMALISED);
    check_placements(graph, MODEL_GCN, NARROW, AS_STORED);
    made_graph_destroy(graph);
}

static void check_equals_batch(const struct made_graph *graph, uint32_t hidden)
{
    struct made_parts *parts = cut(graph, 3, 5, TR_F32);
    uint32_t seeds[NODES];
    for (uint32_t v = 0; v < NODES; v++)
        seeds[v] = (v * 7 + 3) % NODES;
    struct mini_batch *batch = made_graph_batch(graph, seeds, NODES, 2, 0, 1);
    for (int i = 0; i < 2 * EVERY_WAY; i++) {
        struct model *model = make_model(i % 2 ? MODEL_SAGE : MODEL_GCN, 2, hidden,
                                         (enum prepared)(i / 2), parallel_serial);
        struct exact *all = open_exact(model, parts);
        struct tensor exact = { 0 };
        const float *logits;
        assert_int_equal(exact_infer(all, &exact, NULL), 0);
        assert_int_equal(model_forward(model, batch, &logits, NULL), 0);
        for (uint32_t at = 0; at < NODES * CLASSES; at++) {
            double a = (double)logits[at];
            double b = (double)tensor_row(&exact, seeds[at / CLASSES])[at % CLASSES];
            assert_true(fabs(a - b) < 1e-5 * (1 + fabs(a)));
        }
        tensor_fini(&exact);
        exact_destroy(all);
        model_destroy(model);
    }
    made_batch_destroy(batch);
    made_parts_destroy(parts);
}

/* Whichever comes first in a layer, aggregation or product, and however features are kept. */
static void test_equals_a_batch_of_all_neighbours(void **state)
{
    (void)state;
    struct made_graph *graph = make_graph();
    check_equals_batch(graph, WIDE);
    check_equals_batch(graph, NARROW);
    thin_out(graph);
    check_equals_batch(graph, WIDE);
    check_equals_batch(graph, NARROW);
    made_graph_destroy(graph);
}

/* A pass reads the weights of now and nothing of the passes before. */
static void test_passes_are_independent(void **state)
{
    (void)state;
    struct made_graph *graph = make_graph();
    struct made_parts *parts = cut(graph, 2, 5, TR_F32);
    struct model *model = make_model(MODEL_SAGE, 3, NARROW, NORMALISED, parallel_serial);
    struct exact *exact = open_exact(model, parts);
    struct tensor first = { 0 }, again = { 0 };
    assert_int_equal(exact_infer(exact, &first, NULL), 0);
    model_weights(model)[0] += 0.5f;
    assert_int_equal(exact_infer(exact, &again, NULL), 0);
    assert_memory_not_equal(first.data, again.data, NODES * CLASSES * sizeof(float));
    model_weights(model)[0] -= 0.5f;
    struct exact *fresh = open_exact(model, parts);
    assert_int_equal(exact_infer(fresh, &first, NULL), 0);
    assert_int_equal(exact_infer(exact, &again, NULL), 0);
    assert_memory_equal(first.data, again.data, NODES * CLASSES * sizeof(float));
    tensor_fini(&first);
    tensor_fini(&again);
    exact_destroy(fresh);
    exact_destroy(exact);
    model_destroy(model);
    made_parts_destroy(parts);
    made_graph_destroy(graph);
}

/* One linear layer: the mean over many drawn batches must come close to the exact outputs, by
 * the standard error that the batches themselves show. */
static void test_sampled_gcn_is_unbiased(void **state)
{
    (void)state;
    enum { DRAWS = 4000, SEEDS = 60 };
    struct made_graph *graph = make_graph();
    struct made_parts *parts = cut(graph, 2, 5, TR_F32);
    struct model *model = make_model(MODEL_GCN, 1, WIDE, AS_STORED, parallel_serial);
    struct exact *all = open_exact(model, parts);
    struct tensor exact = { 0 };
    assert_int_equal(exact_infer(all, &exact, NULL), 0);
    uint32_t seeds[SEEDS];
    for (uint32_t i = 0; i < SEEDS; i++)
        seeds[i] = i;
    double sums[SEEDS * CLASSES] = { 0 }, squares[SEEDS * CLASSES] = { 0 };
    for (uint32_t d = 0; d < DRAWS; d++) {
        struct mini_batch *batch = made_graph_batch(graph, seeds, SEEDS, 1, 2, key_mix(d + 9));
        const float *logits;
        assert_int_equal(model_forward(model, batch, &logits, NULL), 0);
        for (int i = 0; i < SEEDS * CLASSES; i++) {
            double deviation = (double)logits[i] - (double)exact.data[i];
            sums[i] += deviation;
            squares[i] += deviation * deviation;
        }
        made_batch_destroy(batch);
    }
    double spread = 0;
    for (int i = 0; i < SEEDS * CLASSES; i++) {
        double mean = sums[i] / DRAWS, error = sqrt(squares[i]) / DRAWS;
        spread += error;
        assert_true(fabs(mean) < 4.5 * error + 1e-6); /* p < 1e-5 a figure, 180 figures */
    }
    assert_true(spread > 1e-3); /* Something was sampled. */
    tensor_fini(&exact);
    exact_destroy(all);
    model_destroy(model);
    made_parts_destroy(parts);
    made_graph_destroy(graph);
}

static void check_no_exact(struct model *model, const struct exact_graph *graph, int expected)
{
    struct exact *exact;
    struct error error;
    assert_int_equal(exact_create(&exact, model, graph, &error), expected);
    assert_null(exact);
    assert_int_equal(error.code, expected);
}

static void test_bad_graphs_are_refused(void **state)
{
    (void)state;
    struct made_graph *graph = make_graph();
    struct made_parts *parts = cut(graph, 3, 5, TR_F32);
    struct model *model = make_model(MODEL_SAGE, 1, WIDE, AS_STORED, parallel_serial);
    struct exact_graph all = view(parts);
    all.num_parts = 2;
    check_no_exact(model, &all, TR_EFORMAT);
    const struct graph_part *twice[] = { parts->parts[0], parts->parts[1], parts->parts[1] };
    struct exact_graph doubled = { .parts = twice, .num_parts = 3, .features = "feat" };
    check_no_exact(model, &doubled, TR_EFORMAT);
    all.num_parts = 3;
    parts->types.num_etypes = 2;
    check_no_exact(model, &all, TR_EUNSUPPORTED);
    parts->types.num_etypes = 1;
    model_destroy(model);
    made_parts_destroy(parts);
    made_graph_destroy(graph);
}

static void check_features(struct model *model, const struct made_parts *parts, const char *name,
                           int expected)
{
    struct exact_graph graph = view(parts);
    struct exact *exact;
    struct tensor logits = { 0 };
    struct error error;
    graph.features = name;
    assert_int_equal(exact_create(&exact, model, &graph, NULL), 0);
    for (int times = 0; times < 2; times++) {
        assert_int_equal(exact_infer(exact, &logits, &error), expected);
        assert_non_null(strstr(error.text, name));
    }
    tensor_fini(&logits);
    exact_destroy(exact);
}

static void test_bad_features_and_nodes_are_refused(void **state)
{
    (void)state;
    struct made_graph *graph = make_graph();
    struct made_parts *parts = cut(graph, 3, 5, TR_F32);
    struct model *model = make_model(MODEL_SAGE, 1, WIDE, AS_STORED, parallel_serial);
    check_features(model, parts, "none", TR_ENOENT);
    check_features(model, parts, "label", TR_EMISMATCH);
    struct exact *exact = open_exact(model, parts);
    struct tensor logits = { 0 };
    struct scores scores;
    struct error error;
    assert_int_equal(exact_infer(exact, &logits, &error), 0);
    const uint64_t beyond[] = { NODES };
    assert_int_equal(exact_scores(exact, &logits, "label", beyond, 1, &scores, &error), TR_ERANGE);
    assert_int_equal(exact_scores(exact, &logits, "other", beyond, 0, &scores, &error), 0);
    assert_int_equal(scores.labelled, 0);
    tensor_fini(&logits);
    exact_destroy(exact);
    model_destroy(model);
    made_parts_destroy(parts);
    made_graph_destroy(graph);
}

static bool count_down(void *arg)
{
    int *left = arg;
    return (*left)-- <= 0;
}

/* Wherever it is interrupted it says so, and the next pass is whole. */
static void test_a_pass_can_be_interrupted(void **state)
{
    (void)state;
    struct made_graph *graph = make_graph();
    struct made_parts *parts = cut(graph, 2, 5, TR_F32);
    struct model *model = make_model(MODEL_SAGE, 2, WIDE, NORMALISED, parallel_serial);
    int left = 0;
    const struct cancel cancel = { .asked = count_down, .arg = &left };
    struct exact_graph all = view(parts);
    struct tensor expected = { 0 }, logits = { 0 };
    struct exact *exact, *calm = open_exact(model, parts);
    struct error error;
    all.cancel = &cancel;
    assert_int_equal(exact_infer(calm, &expected, NULL), 0);
    assert_int_equal(exact_create(&exact, model, &all, NULL), 0);
    int rc = TR_ECANCELED, interrupted = 0;
    for (int asked = 0; rc != 0 && asked < 100; asked++) {
        left = asked;
        rc = exact_infer(exact, &logits, &error);
        if (rc == 0)
            break;
        assert_int_equal(rc, TR_ECANCELED);
        assert_non_null(strstr(error.text, "interrupted"));
        interrupted++;
    }
    assert_int_equal(rc, 0);
    assert_true(interrupted > 3);
    assert_memory_equal(logits.data, expected.data, NODES * CLASSES * sizeof(float));
    tensor_fini(&logits);
    tensor_fini(&expected);
    exact_destroy(calm);
    exact_destroy(exact);
    model_destroy(model);
    made_parts_destroy(parts);
    made_graph_destroy(graph);
}

/* Residual and normed layers are the same over whole graphs as over batches that have all. */
static void test_residual_and_normed_layers(void **state)
{
    (void)state;
    struct made_graph *graph = make_graph();
    struct made_parts *parts = cut(graph, 3, 5, TR_F32);
    uint32_t seeds[NODES];
    for (uint32_t v = 0; v < NODES; v++)
        seeds[v] = v;
    struct mini_batch *batch = made_graph_batch(graph, seeds, NODES, 4, 0, 1);
    for (int way = 0; way < 6; way++) {
        struct model_config config = model_config_default();
        struct model *model;
        struct tensor outputs = { 0 };
        const float *logits;
        config.kind = way % 2 == 0 ? MODEL_SAGE : MODEL_GCN;
        config.layers = 4;
        config.inputs = WIDTH;
        config.hidden = way / 2 == 0 ? WIDE : NARROW;
        config.classes = CLASSES;
        config.residual = true;
        config.norm = way < 4 ? MODEL_NORM_LAYER : MODEL_NORM_BATCH;
        assert_int_equal(model_create(&model, &config, parallel_serial, NULL), 0);
        for (size_t i = 0; i < model_params(model)->count; i++)
            model_weights(model)[i] += 0.02f * (float)(i % 5) - 0.04f;
        struct exact *exact = open_exact(model, parts);
        assert_int_equal(exact_infer(exact, &outputs, NULL), 0);
        assert_int_equal(model_forward(model, batch, &logits, NULL), 0);
        for (uint32_t i = 0; i < NODES * CLASSES; i++)
            assert_true(fabsf(logits[i] - outputs.data[i]) < 1e-3f);
        assert_true(outputs.data[0] != outputs.data[CLASSES]);
        tensor_fini(&outputs);
        exact_destroy(exact);
        model_destroy(model);
    }
    made_batch_destroy(batch);
    made_parts_destroy(parts);
    made_graph_destroy(graph);
}

/* Scores of chosen nodes against counting by hand. */
static void test_scores_count_right_answers(void **state)
{
    (void)state;
    struct made_graph *graph = make_graph();
    struct made_parts *parts = cut(graph, 3, 5, TR_F32);
    struct model *model = make_model(MODEL_SAGE, 1, WIDE, AS_STORED, parallel_serial);
    struct exact *exact = open_exact(model, parts);
    struct tensor logits = { 0 };
    struct scores scores;
    uint64_t ids[100];
    uint32_t right = 0;
    assert_int_equal(exact_infer(exact, &logits, NULL), 0);
    for (uint32_t i = 0; i < 100; i++) {
        ids[i] = i * 13;
        const float *z = tensor_row(&logits, ids[i]);
        uint32_t best = z[1] > z[0];
        best = z[2] > z[best] ? 2 : best;
        right += best == ids[i] % CLASSES;
    }
    assert_int_equal(exact_scores(exact, &logits, "label", ids, 100, &scores, NULL), 0);
    assert_int_equal(scores.labelled, 100);
    assert_true(fabs(scores.accuracy - right / 100.0) < 1e-12);
    tensor_fini(&logits);
    exact_destroy(exact);
    model_destroy(model);
    made_parts_destroy(parts);
    made_graph_destroy(graph);
}

/* Without features the biases and the shape of the graph are all there is. */
static void test_features_of_no_width(void **state)
{
    (void)state;
    struct made_graph *graph = make_graph();
    struct made_parts *parts = cut(graph, 2, 5, TR_F32);
    uint32_t seeds[NODES];
    for (uint32_t v = 0; v < NODES; v++)
        seeds[v] = v;
    struct mini_batch *batch = made_graph_batch(graph, seeds, NODES, 2, 0, 1);
    struct batch_nodes nodes = *batch->nodes;
    nodes.features = (struct batch_rows){ .num_rows = NODES };
    struct mini_batch bare = *batch;
    bare.nodes = &nodes;
    for (int kind = MODEL_SAGE; kind <= MODEL_GCN; kind++) {
        struct model_config config = model_config_default();
        config.kind = (enum model_kind)kind;
        config.classes = CLASSES;
        struct model *model;
        struct tensor exact = { 0 };
        struct loss_sum loss;
        const float *logits;
        size_t count;
        assert_int_equal(model_create(&model, &config, parallel_serial, NULL), 0);
        assert_int_equal(model_step(model, &bare, &loss, NULL), 0);
        model_gradients(model, &count);
        for (size_t i = 0; i < count; i++)
            model_weights(model)[i] += 0.01f * (float)(i % 3);
        struct exact *all = open_exact(model, parts);
        assert_int_equal(exact_infer(all, &exact, NULL), 0);
        assert_int_equal(model_forward(model, &bare, &logits, NULL), 0);
        for (uint32_t i = 0; i < NODES * CLASSES; i++)
            assert_true(fabsf(logits[i] - exact.data[i]) < 1e-4f);
        assert_true(exact.data[0] != 0);
        tensor_fini(&exact);
        exact_destroy(all);
        model_destroy(model);
    }
    made_batch_destroy(batch);
    made_parts_destroy(parts);
    made_graph_destroy(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bad_graphs_are_refused),
        cmocka_unit_test(test_bad_features_and_nodes_are_refused),
        cmocka_unit_test(test_placement_changes_nothing),
        cmocka_unit_test(test_equals_a_batch_of_all_neighbours),
        cmocka_unit_test(test_a_pass_can_be_interrupted),
        cmocka_unit_test(test_passes_are_independent),
        cmocka_unit_test(test_features_of_no_width),
        cmocka_unit_test(test_sampled_gcn_is_unbiased),
        cmocka_unit_test(test_residual_and_normed_layers),
        cmocka_unit_test(test_scores_count_right_answers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
