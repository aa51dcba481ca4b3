/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Weights of edges: gradients are slopes of the loss, weights of 1 change no bit, weights of 2 none
 * of sage's, no thread, kernel, type or partitioning changes one, and a weight that is none is
 * refused with its edge.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "graph/key.h"
#include "model/edge_weights.h"
#include "model/exact.h"
#include "model/gcn.h"
#include "model/model.h"
#include "tests/model/made_batch.h"
#include "tests/model/made_graph.h"
#include "tests/model/model_slopes.h"

#define NODES 900u
#define WIDTH 5u
#define CLASSES 3u

static const struct made_shape shape = { .layers = 2,
                                         .seeds = 9,
                                         .fanout_max = 4,
                                         .growth = 2,
                                         .width = WIDTH,
                                         .classes = CLASSES,
                                         .weighted = true,
                                         .seed = 3 };

static struct model_config configure(enum model_kind kind, uint32_t layers)
{
    struct model_config config = model_config_default();
    config.kind = kind;
    config.layers = layers;
    config.inputs = WIDTH;
    config.hidden = 7;
    config.classes = CLASSES;
    config.dropout = 0;
    config.seed = 11;
    config.edge_weights = true;
    return config;
}

/* Of every node of a batch whose IDs count from 0: drawn, or those of its degrees. */
static struct weighted_norms norms_of(const struct mini_batch *batch, bool by_degrees)
{
    uint32_t n = batch->nodes->num_nodes;
    struct weighted_norms norms = { n, malloc((n + 1) * sizeof(float)),
                                    malloc((n + 1) * sizeof(float)) };
    assert_true(norms.in != NULL && norms.out != NULL);
    for (uint32_t i = 0; i < n; i++) {
        norms.in[i] = by_degrees ? gcn_norm(batch->nodes->in_degrees[i])
                                 : 0.15f + 0.3f * key_float(5, i);
        norms.out[i] = by_degrees ? gcn_norm(batch->nodes->out_degrees[i])
                                  : 0.15f + 0.3f * key_float(6, i);
    }
    return norms;
}

static void check_slopes(enum model_kind kind, uint32_t layers)
{
    struct made_shape wide = shape;
    wide.layers = layers;
    struct mini_batch *batch = made_batch_create(&wide);
    struct weighted_norms norms = norms_of(batch, false);
    struct model_config config = configure(kind, layers);
    struct model *model;
    assert_int_equal(model_create(&model, &config, parallel_serial, NULL), 0);
    model_set_norms(model, &norms);
    size_t count;
    model_gradients(model, &count);
    model_move_weights(model, count);
    const struct model_slopes slopes = model_slopes_of(model, batch, count);
    assert_true(slopes.magnitude > 1e-3);
    if (slopes.wrong * 50 > count)
        fail_msg("%s, %u layers: %zu of %zu slopes differ", model_kind_name(kind), layers,
                 slopes.wrong, count);
    weighted_norms_fini(&norms);
    model_destroy(model);
    made_batch_destroy(batch);
}

static void gradients_are_slopes(void **state)
{
    (void)state;
    for (int kind = MODEL_SAGE; kind <= MODEL_GCN; kind++)
        for (uint32_t layers = 1; layers <= 3; layers++)
            check_slopes((enum model_kind)kind, layers);
}

/* All of them become the same. */
static void set_weights(struct mini_batch *batch, float weight)
{
    for (uint32_t t = 0; t < batch->num_tables; t++)
        for (uint32_t e = 0; e < batch->tables[t].rows.num_rows; e++)
            ((float *)batch->tables[t].rows.rows)[e] = weight;
}

struct outcome {
    double loss;
    size_t count;
    float *weights;
};

static struct outcome train(const struct model_config *config, const struct mini_batch *batch,
                            const struct weighted_norms *norms, struct parallel *parallel,
                            const struct kernels *kernels)
{
    struct model *model;
    assert_int_equal(model_create(&model, config, parallel, NULL), 0);
    model_set_norms(model, config->edge_weights ? norms : NULL);
    if (kernels != NULL)
        model_use_kernels(model, kernels);
    struct outcome outcome = { 0 };
    for (int step = 0; step < 3; step++) {
        outcome.loss = model_step_loss(model, batch);
        model_apply(model, 0.01);
    }
    model_gradients(model, &outcome.count);
    outcome.weights = malloc(outcome.count * sizeof(float));
    assert_non_null(outcome.weights);
    memcpy(outcome.weights, model_weights(model), outcome.count * sizeof(float));
    model_destroy(model);
    return outcome;
}

static bool same(const struct outcome *a, const struct outcome *b)
{
    return memcmp(&a->loss, &b->loss, sizeof a->loss) == 0 && a->count == b->count &&
           memcmp(a->weights, b->weights, a->count * sizeof(float)) == 0;
}

static void weights_of_one_change_no_bit(void **state)
{
    (void)state;
    for (int kind = MODEL_SAGE; kind <= MODEL_GCN; kind++) {
        struct mini_batch *batch = made_batch_create(&shape);
        struct weighted_norms norms = norms_of(batch, true);
        struct model_config config = configure((enum model_kind)kind, shape.layers);
        struct outcome drawn = train(&config, batch, &norms, parallel_serial, NULL);
        set_weights(batch, 1);
        struct outcome ones = train(&config, batch, &norms, parallel_serial, NULL);
        set_weights(batch, 2);
        struct outcome twos = train(&config, batch, &norms, parallel_serial, NULL);
        config.edge_weights = false;
        struct outcome plain = train(&config, batch, NULL, parallel_serial, NULL);
        assert_true(same(&ones, &plain));
        assert_false(same(&drawn, &plain));
        /* A mean does not see a factor; a sum does. */
        assert_int_equal(same(&twos, &plain), kind == MODEL_SAGE);
        free(drawn.weights);
        free(ones.weights);
        free(twos.weights);
        free(plain.weights);
        weighted_norms_fini(&norms);
        made_batch_destroy(batch);
    }
}

/* Neighbours that weigh nothing together are none. */
static void weights_of_zero_leave_the_own_row(void **state)
{
    (void)state;
    struct mini_batch *batch = made_batch_create(&shape);
    struct model_config config = configure(MODEL_SAGE, shape.layers);
    struct model *model;
    const float *logits;
    float first[9 * CLASSES];
    assert_int_equal(model_create(&model, &config, parallel_serial, NULL), 0);
    set_weights(batch, 0);
    assert_int_equal(model_forward(model, batch, &logits, NULL), 0);
    memcpy(first, logits, sizeof first);
    for (uint32_t l = 0; l < shape.layers; l++) {
        const struct layer_params *layer = &model_params(model)->layers[l];
        memset(model_weights(model) + layer->terms[0].weight, 0,
               (layer->bias - layer->terms[0].weight) * sizeof(float));
    }
    assert_int_equal(model_forward(model, batch, &logits, NULL), 0);
    for (uint32_t i = 0; i < 9 * CLASSES; i++)
        assert_true(logits[i] == first[i]);
    assert_true(first[0] != 0);
    /* A sum whose inverse is no number counts as 0. */
    set_weights(batch, 1e-42f);
    assert_int_equal(model_forward(model, batch, &logits, NULL), 0);
    for (uint32_t i = 0; i < 9 * CLASSES; i++)
        assert_true(isfinite(logits[i]));
    model_destroy(model);
    made_batch_destroy(batch);
}

static void threads_and_variants_change_nothing(void **state)
{
    (void)state;
    struct made_shape large = shape;
    large.seeds = 2500;
    large.width = 21;
    struct mini_batch *batch = made_batch_create(&large);
    struct weighted_norms norms = norms_of(batch, false);
    for (int kind = MODEL_SAGE; kind <= MODEL_GCN; kind++) {
        struct model_config config = configure((enum model_kind)kind, shape.layers);
        config.inputs = large.width;
        config.hidden = 35;
        struct outcome first = train(&config, batch, &norms, parallel_serial, kernels_variant(0));
        for (size_t i = 1; kernels_variant(i) != NULL; i++) {
            struct outcome other = train(&config, batch, &norms, parallel_serial,
                                         kernels_variant(i));
            assert_true(same(&first, &other));
            free(other.weights);
        }
        for (size_t workers = 2; workers <= 4; workers++) {
            struct parallel *threads = threads_create(workers);
            struct outcome other = train(&config, batch, &norms, threads, NULL);
            assert_true(same(&first, &other));
            free(other.weights);
            threads_destroy(threads);
        }
        free(first.weights);
    }
    weighted_norms_fini(&norms);
    made_batch_destroy(batch);
}

static void float64_weights_are_the_same(void **state)
{
    (void)state;
    struct mini_batch *batch = made_batch_create(&shape);
    struct model_config config = configure(MODEL_SAGE, shape.layers);
    struct outcome narrow = train(&config, batch, NULL, parallel_serial, NULL);
    for (uint32_t t = 0; t < batch->num_tables; t++) {
        struct batch_rows *rows = (struct batch_rows *)(uintptr_t)&batch->tables[t].rows;
        double *wide = malloc((rows->num_rows + 1) * sizeof *wide);
        assert_non_null(wide);
        for (uint32_t e = 0; e < rows->num_rows; e++)
            wide[e] = (double)((float *)rows->rows)[e];
        free(rows->rows);
        *rows = (struct batch_rows){ TR_F64, rows->num_rows, 1, sizeof *wide, wide };
    }
    struct outcome converted = train(&config, batch, NULL, parallel_serial, NULL);
    assert_true(same(&narrow, &converted));
    free(narrow.weights);
    free(converted.weights);
    made_batch_destroy(batch);
}

static struct made_parts *cut(const struct made_graph *graph, uint32_t count)
{
    uint32_t owners[NODES];
    for (uint32_t v = 0; v < NODES; v++)
        owners[v] = (uint32_t)(key_mix(count + v) % count);
    return made_parts_create(graph, owners, count, TR_F32);
}

static const struct graph_part *const *parts_of(const struct made_parts *parts)
{
    return (const struct graph_part *const *)parts->parts;
}

static struct model *make_model(enum model_kind kind, bool weighted, struct parallel *parallel)
{
    struct model_config config = configure(kind, 3);
    struct model *model;
    config.edge_weights = weighted;
    assert_int_equal(model_create(&model, &config, parallel, NULL), 0);
    for (size_t i = 0; i < model_params(model)->count; i++)
        model_weights(model)[i] += 0.02f * (float)(i % 5) - 0.04f;
    return model;
}

static void infer(struct model *model, const struct made_parts *parts, struct tensor *outputs)
{
    struct weighted_norms norms = { 0 };
    struct exact_graph graph = { .parts = parts_of(parts),
                                 .num_parts = parts->count,
                                 .features = "feat",
                                 .edge_weight = "weight" };
    struct exact *exact;
    if (model_configuration(model)->edge_weights) {
        assert_int_equal(
            weighted_norms_init(&norms, graph.parts, graph.num_parts, "weight", NULL, NULL), 0);
        model_set_norms(model, &norms);
    }
    assert_int_equal(exact_create(&exact, model, &graph, NULL), 0);
    assert_int_equal(exact_infer(exact, outputs, NULL), 0);
    exact_destroy(exact);
    model_set_norms(model, NULL);
    weighted_norms_fini(&norms);
}

/* The same bits for every cut, and the numbers of one batch with all neighbours. */
static void check_exact(struct made_graph *graph, enum model_kind kind)
{
    uint32_t seeds[NODES];
    const float *logits;
    struct weighted_norms norms;
    struct tensor whole = { 0 }, outputs = { 0 };
    struct model *model = make_model(kind, true, parallel_serial);
    struct made_parts *one = cut(graph, 1);
    infer(model, one, &whole);
    for (uint32_t count = 2; count <= 5; count += 3) {
        struct made_parts *parts = cut(graph, count);
        struct parallel *threads = threads_create(count);
        struct model *other = make_model(kind, true, threads);
        infer(other, parts, &outputs);
        assert_memory_equal(outputs.data, whole.data, NODES * CLASSES * sizeof(float));
        model_destroy(other);
        threads_destroy(threads);
        made_parts_destroy(parts);
    }
    for (uint32_t v = 0; v < NODES; v++)
        seeds[v] = v;
    struct mini_batch *batch = made_graph_batch(graph, seeds, NODES, 3, 0, 1);
    assert_int_equal(weighted_norms_init(&norms, parts_of(one), 1, "weight", NULL, NULL), 0);
    model_set_norms(model, &norms);
    assert_int_equal(model_forward(model, batch, &logits, NULL), 0);
    for (uint32_t i = 0; i < NODES * CLASSES; i++)
        assert_true(fabsf(logits[i] - whole.data[i]) < 1e-3f);
    assert_true(whole.data[0] != whole.data[CLASSES]);
    made_batch_destroy(batch);
    weighted_norms_fini(&norms);
    tensor_fini(&whole);
    tensor_fini(&outputs);
    made_parts_destroy(one);
    model_destroy(model);
}

static void exact_inference_is_the_same_on_any_cut(void **state)
{
    (void)state;
    struct made_graph *graph = made_graph_create(NODES, 6, CLASSES, WIDTH, 0.6, 0.5, 21);
    made_graph_weigh(graph, 8);
    check_exact(graph, MODEL_SAGE);
    check_exact(graph, MODEL_GCN);
    made_graph_destroy(graph);
}

static void exact_weights_of_one_change_no_bit(void **state)
{
    (void)state;
    struct made_graph *graph = made_graph_create(NODES, 6, CLASSES, WIDTH, 0.6, 0.5, 21);
    made_graph_weigh(graph, 8);
    for (uint32_t e = 0; e < graph->index[NODES]; e++)
        graph->weights[e] = 1;
    struct made_parts *parts = cut(graph, 3);
    for (int kind = MODEL_SAGE; kind <= MODEL_GCN; kind++) {
        struct tensor ones = { 0 }, plain = { 0 };
        struct model *weighted = make_model((enum model_kind)kind, true, parallel_serial);
        struct model *not = make_model((enum model_kind)kind, false, parallel_serial);
        infer(weighted, parts, &ones);
        infer(not, parts, &plain);
        assert_memory_equal(ones.data, plain.data, NODES * CLASSES * sizeof(float));
        tensor_fini(&ones);
        tensor_fini(&plain);
        model_destroy(weighted);
        model_destroy(not );
    }
    made_parts_destroy(parts);
    made_graph_destroy(graph);
}

static void bad_weights_are_refused_with_their_edge(void **state)
{
    static const float BAD[] = { -1, NAN, INFINITY, -INFINITY, 2e28f, -1e-30f };
    (void)state;
    struct made_graph *graph = made_graph_create(NODES, 6, CLASSES, WIDTH, 0.6, 0.5, 21);
    made_graph_weigh(graph, 8);
    uint32_t node = 400, seeds[] = { 400 };
    while (graph->index[node] == graph->index[node + 1])
        node++;
    seeds[0] = node;
    uint32_t edge = graph->index[node + 1] - 1;
    struct weighted_norms norms;
    struct model *model = make_model(MODEL_SAGE, true, parallel_serial);
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        char named[80];
        struct error error = { 0 };
        const float *logits;
        graph->weights[edge] = BAD[i];
        struct made_parts *parts = cut(graph, 3);
        struct mini_batch *batch = made_graph_batch(graph, seeds, 1, 3, 0, 1);
        snprintf(named, sizeof named, "from node %u to node %u weighs", graph->sources[edge], node);
        assert_int_equal(edge_weights_check(parts_of(parts), 3, "weight", NULL, &error), TR_ERANGE);
        assert_non_null(strstr(error.text, named));
        assert_int_equal(weighted_norms_init(&norms, parts_of(parts), 3, "weight", NULL, &error),
                         TR_ERANGE);
        assert_int_equal(model_forward(model, batch, &logits, &error), TR_ERANGE);
        assert_non_null(strstr(error.text, "weighs"));
        made_batch_destroy(batch);
        made_parts_destroy(parts);
    }
    graph->weights[edge] = EDGE_WEIGHT_MAX;
    struct made_parts *parts = cut(graph, 3);
    assert_int_equal(edge_weights_check(parts_of(parts), 3, "weight", NULL, NULL), 0);
    struct error error = { 0 };
    assert_int_equal(edge_weights_check(parts_of(parts), 3, "other", NULL, &error), TR_ENOENT);
    assert_non_null(strstr(error.text, "'other'"));
    made_parts_destroy(parts);
    model_destroy(model);
    made_graph_destroy(graph);
}

static void batches_without_them_are_refused(void **state)
{
    (void)state;
    struct mini_batch *batch = made_batch_create(&shape);
    struct error error = { 0 };
    const float *logits;
    struct model_config config = configure(MODEL_GCN, shape.layers);
    struct model *model;
    assert_int_equal(model_create(&model, &config, parallel_serial, NULL), 0);
    assert_int_equal(model_forward(model, batch, &logits, &error), TR_EMISMATCH);
    assert_non_null(strstr(error.text, "weighted degrees"));
    struct weighted_norms norms = norms_of(batch, false);
    norms.num_nodes--;
    model_set_norms(model, &norms);
    assert_int_equal(model_forward(model, batch, &logits, &error), TR_EMISMATCH);
    norms.num_nodes++;
    uint32_t tables = batch->num_tables;
    batch->num_tables = 1;
    assert_int_equal(model_forward(model, batch, &logits, &error), TR_EMISMATCH);
    assert_non_null(strstr(error.text, "layer 1"));
    batch->num_tables = tables;
    assert_int_equal(model_forward(model, batch, &logits, &error), 0);
    weighted_norms_fini(&norms);
    model_destroy(model);
    made_batch_destroy(batch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_are_slopes),
        cmocka_unit_test(weights_of_one_change_no_bit),
        cmocka_unit_test(weights_of_zero_leave_the_own_row),
        cmocka_unit_test(threads_and_variants_change_nothing),
        cmocka_unit_test(float64_weights_are_the_same),
        cmocka_unit_test(exact_inference_is_the_same_on_any_cut),
        cmocka_unit_test(exact_weights_of_one_change_no_bit),
        cmocka_unit_test(bad_weights_are_refused_with_their_edge),
        cmocka_unit_test(batches_without_them_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
