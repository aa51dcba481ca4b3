/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The gradient that model_step() computes is the slope of the loss, for each
 * kind of layer, loss and depth; and no number of threads and no variant of the
 * loops changes a bit of it.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model/model.h"
#include "tests/model/made_batch.h"
#include "tests/model/made_graph.h"
#include "tests/model/model_slopes.h"

#define SHARED_SEEDS 41u /* of a step, that its trainers share */

static struct model_config configure(enum model_kind kind, enum model_loss loss, uint32_t layers)
{
    struct model_config config = model_config_default();
    config.kind = kind;
    config.loss = loss;
    config.layers = layers;
    config.inputs = 5;
    config.hidden = 7;
    config.classes = 3;
    config.dropout = 0;
    config.seed = 11;
    return config;
}

static const struct made_shape small_shape = {
    .layers = 1, .seeds = 9, .fanout_max = 4, .growth = 2, .width = 5, .classes = 3, .seed = 3
};

/* A relu that switches within the step bends a few slopes, so almost all must agree. */
static void check_slopes(const struct model_config *config, const struct made_shape *shape)
{
    struct mini_batch *batch = made_batch_create(shape);
    struct model *model;
    assert_int_equal(model_create(&model, config, parallel_serial, NULL), 0);
    size_t count = model_params(model)->trained; /* behind them stand sums of statistics */
    model_move_weights(model, count);
    const struct model_slopes slopes = model_slopes_of(model, batch, count);
    assert_true(slopes.magnitude > 1e-3);
    if (slopes.wrong * 50 > count)
        fail_msg("%s, %u layers: %zu of %zu slopes differ", model_kind_name(config->kind),
                 config->layers, slopes.wrong, count);
    model_destroy(model);
    made_batch_destroy(batch);
}

static void test_slopes(void **state)
{
    (void)state;
    for (int kind = MODEL_SAGE; kind <= MODEL_GCN; kind++) {
        for (int loss = MODEL_SOFTMAX; loss <= MODEL_SIGMOID; loss++) {
            for (uint32_t layers = 1; layers <= 3; layers++) {
                struct model_config config = configure((enum model_kind)kind, (enum model_loss)loss,
                                                       layers);
                struct made_shape shape = small_shape;
                shape.layers = layers;
                shape.targets = loss == MODEL_SIGMOID;
                check_slopes(&config, &shape);
            }
        }
    }
}

/* Deep enough for layers from hidden rows to hidden rows, which alone are residual. */
static void test_slopes_of_residual_and_normed_layers(void **state)
{
    (void)state;
    for (int kind = MODEL_SAGE; kind <= MODEL_GCN; kind++) {
        for (int extra = 1; extra < 6; extra++) {
            struct model_config config = configure((enum model_kind)kind, MODEL_SOFTMAX, 4);
            config.residual = extra & 1;
            config.norm = extra >= 4   ? MODEL_NORM_BATCH
                          : extra >= 2 ? MODEL_NORM_LAYER
                                       : MODEL_NORM_NONE;
            config.dropout = extra == 3 ? 0.3f : 0;
            struct made_shape shape = small_shape;
            shape.layers = 4;
            check_slopes(&config, &shape);
        }
    }
}

/* A residual layer whose weights are zero passes its rows on, through relu alone. */
static void test_a_residual_layer_adds_its_input(void **state)
{
    (void)state;
    struct made_shape shape = small_shape;
    shape.layers = 3;
    struct mini_batch *batch = made_batch_create(&shape);
    for (int kind = MODEL_SAGE; kind <= MODEL_GCN; kind++) {
        struct model_config config = configure((enum model_kind)kind, MODEL_SOFTMAX, 3);
        struct model *models[2];
        float sums[2] = { 0, 0 };
        for (int residual = 0; residual < 2; residual++) {
            const float *logits;
            config.residual = residual;
            assert_int_equal(model_create(&models[residual], &config, parallel_serial, NULL), 0);
            const struct layer_params *middle = &model_params(models[residual])->layers[1];
            memset(model_weights(models[residual]) + middle->self, 0,
                   (middle->end - middle->self) * sizeof(float));
            assert_int_equal(model_forward(models[residual], batch, &logits, NULL), 0);
            for (uint32_t i = 0; i < shape.seeds * 3; i++)
                sums[residual] += fabsf(logits[i]);
            model_destroy(models[residual]);
        }
        assert_true(sums[0] == 0); /* nothing came through, and biases are zero */
        assert_true(sums[1] > 0.01f);
    }
    made_batch_destroy(batch);
}

static void test_slopes_with_dropout_and_class_weights(void **state)
{
    (void)state;
    const float weights[] = { 0.5f, 2.0f, 1.0f };
    struct model_config config = configure(MODEL_SAGE, MODEL_SOFTMAX, 2);
    config.class_weights = weights;
    config.dropout = 0.4f; /* The mask is a function of the batch: the loss stays smooth. */
    config.input_dropout = 0.3f;
    config.normalise = true;
    struct made_shape shape = small_shape;
    shape.layers = 2;
    check_slopes(&config, &shape);
}

/* A model that standardises learns what one learns of features that are standardised already, and
 * never changes by what it does so. */
static void test_columns_are_standardised_and_stay(void **state)
{
    enum { WIDTH = 5 };
    /* Means, factors, and of three columns' logarithms the centres and units. */
    const float columns[4 * WIDTH] = { 1, -2,   0, 1e4f, 0.5f, 2, 0.25f, 1, 1e-4f, 100,
                                       0, 0.5f, 3, 0,    -1,   1, 1e-3f, 0, 50,    0 };
    struct model_config config = configure(MODEL_SAGE, MODEL_SOFTMAX, 2);
    struct made_shape shape = small_shape;
    struct model *plain, *model;
    (void)state;
    shape.layers = 2;
    config.input_dropout = 0.3f;
    config.l2 = 0.1f;
    config.weight_decay = 0.1f;
    struct mini_batch *raw = made_batch_create(&shape), *ready = made_batch_create(&shape);
    float *rows = ready->nodes->features.rows;
    for (uint32_t i = 0; i < ready->nodes->num_nodes * WIDTH; i++) {
        uint32_t column = i % WIDTH;
        double unit = (double)columns[3 * WIDTH + column];
        double away = (double)rows[i] - (double)columns[2 * WIDTH + column];
        if (unit != 0)
            rows[i] = (float)copysign(log1p(fabs(away / unit)), away);
        rows[i] = (rows[i] - columns[column]) * columns[WIDTH + column];
    }
    assert_int_equal(model_create(&plain, &config, parallel_serial, NULL), 0);
    config.standardise = config.logarithms = true;
    assert_int_equal(model_create(&model, &config, parallel_serial, NULL), 0);
    size_t learned = model_params(plain)->count;
    assert_int_equal(model_params(model)->count, learned + 4 * WIDTH);
    assert_int_equal(model_standardise_with(model, columns), 0);
    for (int step = 0; step < 4; step++) {
        assert_true(model_step_loss(plain, ready) == model_step_loss(model, raw));
        model_apply(plain, 0.01);
        model_apply(model, 0.01);
    }
    assert_memory_equal(model_weights(plain), model_weights(model), learned * sizeof(float));
    assert_memory_equal(model_weights(model) + learned, columns, sizeof columns);
    memset(model_weights(model), 0, model_params(model)->count * sizeof(float));
    model_reset(model);
    assert_memory_equal(model_weights(model) + learned, columns, sizeof columns);
    model_destroy(plain);
    model_destroy(model);
    made_batch_destroy(raw);
    made_batch_destroy(ready);
}

struct outcome {
    double loss;
    size_t count;
    float *weights;
};

static struct outcome train(const struct model_config *config, const struct mini_batch *batch,
                            struct parallel *parallel, const struct kernels *kernels)
{
    struct model *model;
    assert_int_equal(model_create(&model, config, parallel, NULL), 0);
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

static void check_equal(const struct outcome *a, const struct outcome *b)
{
    assert_memory_equal(&a->loss, &b->loss, sizeof a->loss);
    assert_int_equal(a->count, b->count);
    assert_memory_equal(a->weights, b->weights, a->count * sizeof(float));
}

/* Large enough for several blocks of rows and several lanes. */
static const struct made_shape large_shape = {
    .layers = 2, .seeds = 2500, .fanout_max = 6, .growth = 4, .width = 21, .classes = 5, .seed = 8
};

static void test_threads_and_variants_change_nothing(void **state)
{
    (void)state;
    struct mini_batch *batch = made_batch_create(&large_shape);
    for (int way = 0; way < 3; way++) {
        enum model_kind kind = way == 1 ? MODEL_GCN : MODEL_SAGE;
        struct model_config config = configure(kind, MODEL_SOFTMAX, 2);
        config.inputs = large_shape.width;
        config.hidden = 35;
        config.classes = large_shape.classes;
        config.dropout = 0.5f;
        config.input_dropout = 0.1f;
        config.norm = way == 0 ? MODEL_NORM_LAYER : way == 1 ? MODEL_NORM_NONE : MODEL_NORM_BATCH;
        struct outcome first = train(&config, batch, parallel_serial, kernels_variant(0));
        for (size_t i = 1; kernels_variant(i) != NULL; i++) {
            struct outcome other = train(&config, batch, parallel_serial, kernels_variant(i));
            check_equal(&first, &other);
            free(other.weights);
        }
        for (size_t workers = 1; workers <= 4; workers++) {
            struct parallel *threads = threads_create(workers);
            struct outcome other = train(&config, batch, threads, NULL);
            check_equal(&first, &other);
            free(other.weights);
            threads_destroy(threads);
        }
        free(first.weights);
    }
    made_batch_destroy(batch);
}

static void assert_no_gradient(struct model *model)
{
    size_t count;
    const float *grads = model_gradients(model, &count);
    for (size_t i = 0; i < count; i++)
        assert_true(grads[i] == 0);
}

static void test_no_seeds_give_zero_gradients(void **state)
{
    (void)state;
    struct made_shape shape = small_shape;
    shape.seeds = 0;
    shape.layers = 2;
    struct mini_batch *batch = made_batch_create(&shape);
    batch->step_seeds = 7; /* The other trainers' seeds. */
    struct model_config config = configure(MODEL_GCN, MODEL_SOFTMAX, 2);
    struct model *model;
    assert_int_equal(model_create(&model, &config, parallel_serial, NULL), 0);
    assert_true(model_step_loss(model, batch) == 0);
    assert_no_gradient(model);
    model_destroy(model);
    made_batch_destroy(batch);
}

static struct model *make_batch_normed(void)
{
    struct model_config config = configure(MODEL_SAGE, MODEL_SOFTMAX, 2);
    struct model *model;
    config.norm = MODEL_NORM_BATCH;
    assert_int_equal(model_create(&model, &config, parallel_serial, NULL), 0);
    return model;
}

static const float *running_of(struct model *model)
{
    return model_weights(model) + model_params(model)->layers[0].running;
}

/* The offers of all trainers are added up as gradients are, and each takes the same from the sum: a
 * mean by rows, of which the first step is all, the second a half. */
static void test_running_statistics_are_shared(void **state)
{
    (void)state;
    const uint32_t width = 7;
    struct made_shape shapes[2] = { small_shape, small_shape };
    struct mini_batch *batches[2];
    struct model *models[2];
    float means[2][7], variances[2][7], rows[2];
    for (int t = 0; t < 2; t++) {
        shapes[t].layers = 2;
        shapes[t].seed += (uint64_t)t;
        shapes[t].seeds = t == 0 ? 9 : 4;
        batches[t] = made_batch_create(&shapes[t]);
        batches[t]->step_seeds = 13;
        models[t] = make_batch_normed();
        for (uint32_t i = 0; i < width; i++)
            assert_true(running_of(models[t])[i] == 0 && running_of(models[t])[width + i] == 1);
    }
    for (int step = 0; step < 2; step++) {
        size_t count;
        float *grads[2], before[15];
        memcpy(before, running_of(models[0]), sizeof before);
        for (int t = 0; t < 2; t++) {
            model_step_loss(models[t], batches[t]);
            grads[t] = model_gradients(models[t], &count);
            const float *offer = grads[t] + model_params(models[t])->layers[0].running;
            rows[t] = offer[2 * width];
            assert_true(rows[t] == (float)batches[t]->blocks[0].num_dst[0]);
            for (uint32_t i = 0; i < width; i++) {
                means[t][i] = offer[i] / rows[t];
                variances[t][i] = offer[width + i] / rows[t];
                assert_true(variances[t][i] > 0);
            }
        }
        for (size_t i = 0; i < count; i++)
            grads[0][i] = grads[1][i] = grads[0][i] + grads[1][i];
        for (int t = 0; t < 2; t++)
            model_apply(models[t], 0.01);
        assert_memory_equal(model_weights(models[0]), model_weights(models[1]),
                            count * sizeof(float));
        const float *running = running_of(models[0]);
        float share = step == 0 ? 1 : 0.5f, all = rows[0] + rows[1];
        for (uint32_t i = 0; i < width; i++) {
            float mean = (means[0][i] * rows[0] + means[1][i] * rows[1]) / all;
            float variance = (variances[0][i] * rows[0] + variances[1][i] * rows[1]) / all;
            assert_true(fabsf(running[i] - before[i] - share * (mean - before[i])) < 1e-5f);
            assert_true(fabsf(running[width + i] - before[width + i] -
                              share * (variance - before[width + i])) < 1e-5f);
        }
        assert_true(running[2 * width] == (float)(step + 1));
    }
    for (int t = 0; t < 2; t++) {
        model_destroy(models[t]);
        made_batch_destroy(batches[t]);
    }
}

/* A share of a step without a seed offers nothing, and a row alone is normalised to zeros. */
static void test_batches_of_no_row_and_of_one(void **state)
{
    (void)state;
    struct made_shape shape = small_shape;
    shape.layers = 2;
    for (uint32_t seeds = 0; seeds < 2; seeds++) {
        shape.seeds = seeds;
        shape.growth = 0; /* no other row beside the seed's */
        struct mini_batch *batch = made_batch_create(&shape);
        batch->step_seeds = 7;
        struct model *model = make_batch_normed();
        const float *running = running_of(model);
        size_t count;
        double loss = model_step_loss(model, batch);
        const float *grads = model_gradients(model, &count);
        assert_true(seeds == 0 ? loss == 0 : loss > 0 && isfinite(loss));
        for (size_t i = 0; i < count; i++)
            assert_true(seeds == 0 ? grads[i] == 0 : isfinite(grads[i]));
        model_apply(model, 0.01);
        assert_true(running[14] == (float)seeds);
        for (uint32_t i = 0; i < 7; i++)
            assert_true(running[7 + i] == (seeds == 0 ? 1 : 0));
        model_destroy(model);
        made_batch_destroy(batch);
    }
}

/* Decay and moments are of what is trained, and the second step moves running values as the first. */
static void test_decay_leaves_running_statistics(void **state)
{
    (void)state;
    struct made_shape shape = small_shape;
    shape.layers = 2;
    struct mini_batch *batch = made_batch_create(&shape);
    struct model_config config = configure(MODEL_SAGE, MODEL_SOFTMAX, 2);
    config.norm = MODEL_NORM_BATCH;
    float seen[2][15];
    for (int decays = 0; decays < 2; decays++) {
        struct model *model;
        config.l2 = config.weight_decay = decays ? 0.5f : 0;
        assert_int_equal(model_create(&model, &config, parallel_serial, NULL), 0);
        model_step_loss(model, batch);
        model_apply(model, 0.01);
        memcpy(seen[decays], running_of(model), sizeof seen[decays]);
        model_destroy(model);
    }
    assert_memory_equal(seen[0], seen[1], sizeof seen[0]);
    made_batch_destroy(batch);
}

static void test_misfits_are_refused(void **state)
{
    (void)state;
    struct model_config config = configure(MODEL_GCN, MODEL_SOFTMAX, 1);
    struct model *model;
    struct error error = { 0 };
    struct loss_sum loss;
    const float *logits;
    config.layers = 0;
    assert_int_equal(model_create(&model, &config, parallel_serial, &error), TR_ERANGE);
    assert_null(model);
    assert_non_null(strstr(error.text, "layers"));
    config.layers = 1;
    assert_int_equal(model_create(&model, &config, parallel_serial, &error), 0);
    struct mini_batch *batch = made_batch_create(&small_shape);
    struct batch_nodes nodes = batch->nodes[0];
    struct mini_batch changed = *batch;
    changed.nodes = &nodes;
    changed.num_etypes = 2;
    assert_int_equal(model_forward(model, &changed, &logits, &error), TR_EUNSUPPORTED);
    changed.num_etypes = 1;
    changed.num_layers = 2;
    assert_int_equal(model_forward(model, &changed, &logits, &error), TR_EMISMATCH);
    changed.num_layers = 1;
    nodes.features.width = 4;
    assert_int_equal(model_forward(model, &changed, &logits, &error), TR_EMISMATCH);
    nodes.features.width = 5;
    nodes.features.num_rows--;
    assert_int_equal(model_forward(model, &changed, &logits, &error), TR_EMISMATCH);
    nodes.features.num_rows++;
    nodes.in_degrees = NULL;
    assert_int_equal(model_forward(model, &changed, &logits, &error), TR_EMISMATCH);
    nodes.in_degrees = batch->nodes[0].in_degrees;
    changed.step_seeds--;
    assert_int_equal(model_step(model, &changed, &loss, &error), TR_EMISMATCH);
    changed.step_seeds++;
    float *labels = nodes.labels.rows;
    labels[2] = 3;
    assert_int_equal(model_step(model, &changed, &loss, &error), TR_ERANGE);
    assert_non_null(strstr(error.text, "row 2 is 3"));
    labels[2] = 1.5f;
    assert_int_equal(model_step(model, &changed, &loss, &error), TR_ERANGE);
    nodes.labels.width = 2;
    assert_int_equal(model_step(model, &changed, &loss, &error), TR_EMISMATCH);
    nodes.labels.rows = NULL;
    assert_int_equal(model_step(model, &changed, &loss, &error), TR_EMISMATCH);
    made_batch_destroy(batch);
    model_destroy(model);
}

/* Rows that no label covers leave the gradient as if they were not there. */
static void test_unlabelled_rows_add_nothing(void **state)
{
    (void)state;
    struct model_config config = configure(MODEL_SAGE, MODEL_SOFTMAX, 1);
    struct mini_batch *batch = made_batch_create(&small_shape);
    float *labels = batch->nodes->labels.rows;
    struct model *model;
    assert_int_equal(model_create(&model, &config, parallel_serial, NULL), 0);
    for (uint32_t i = 1; i < small_shape.seeds; i++)
        labels[i] = i % 2 ? -1.0f : nanf("");
    struct loss_sum loss;
    assert_int_equal(model_step(model, batch, &loss, NULL), 0);
    assert_int_equal(loss.labelled, 1);
    labels[0] = -1;
    assert_int_equal(model_step(model, batch, &loss, NULL), 0);
    assert_int_equal(loss.labelled, 0);
    assert_true(loss.sum == 0);
    assert_no_gradient(model);
    model_destroy(model);
    made_batch_destroy(batch);
}

/* With one destination and no edge, SAGE is W_self h + b. */
static void test_zero_neighbours_have_zero_mean(void **state)
{
    (void)state;
    struct model_config config = configure(MODEL_SAGE, MODEL_SOFTMAX, 1);
    struct made_shape shape = small_shape;
    shape.fanout_max = 0;
    struct mini_batch *batch = made_batch_create(&shape);
    struct model *model;
    const float *logits;
    assert_int_equal(model_create(&model, &config, parallel_serial, NULL), 0);
    assert_int_equal(model_forward(model, batch, &logits, NULL), 0);
    const float *self = model_weights(model) + model_params(model)->layers[0].self;
    const float *row = batch->nodes->features.rows;
    for (uint32_t c = 0; c < 3; c++) {
        double sum = 0;
        for (uint32_t i = 0; i < 5; i++)
            sum += (double)self[c * 5 + i] * (double)row[i];
        assert_true(fabs(sum - (double)logits[c]) < 1e-5);
    }
    model_destroy(model);
    made_batch_destroy(batch);
}

/* Gradients of one share of a step's seeds, which are [begin, end) of them,
 * added to sums. */
static void add_share(struct model *model, const struct made_graph *graph, uint32_t begin,
                      uint32_t end, double *sums)
{
    uint32_t seeds[SHARED_SEEDS];
    for (uint32_t i = begin; i < end; i++)
        seeds[i - begin] = 3 * i;
    struct mini_batch *batch = made_graph_batch(graph, seeds, end - begin, 2, 0, 1);
    struct loss_sum loss;
    size_t count;
    batch->step_seeds = SHARED_SEEDS; /* of all trainers */
    assert_int_equal(model_step(model, batch, &loss, NULL), 0);
    const float *gradients = model_gradients(model, &count);
    for (size_t i = 0; i < count; i++)
        sums[i] += (double)gradients[i];
    made_batch_destroy(batch);
}

/* However a step's seeds are shared out, and however unevenly, its trainers'
 * gradients add up to those of one trainer that has them all. */
static void test_shares_of_a_step_add_up(void **state)
{
    (void)state;
    static const uint32_t ends[][5] = {
        { SHARED_SEEDS }, { 5, SHARED_SEEDS }, { 1, 9, SHARED_SEEDS }, { 1, 2, 4, 30, SHARED_SEEDS }
    };
    struct made_graph *graph = made_graph_create(200, 4, 3, 5, 0.7, 0.5, 9);
    for (int kind = MODEL_SAGE; kind <= MODEL_GCN; kind++) {
        struct model_config config = configure((enum model_kind)kind, MODEL_SOFTMAX, 2);
        struct model *model;
        size_t count;
        assert_int_equal(model_create(&model, &config, parallel_serial, NULL), 0);
        model_gradients(model, &count);
        double *whole = calloc(count, sizeof *whole), *sums = calloc(count, sizeof *sums);
        double magnitude = 0;
        assert_true(whole != NULL && sums != NULL);
        add_share(model, graph, 0, SHARED_SEEDS, whole);
        for (size_t i = 0; i < count; i++)
            magnitude += fabs(whole[i]) / (double)count;
        assert_true(magnitude > 1e-3);
        for (size_t s = 0; s < sizeof ends / sizeof *ends; s++) {
            uint32_t begin = 0;
            memset(sums, 0, count * sizeof *sums);
            for (uint32_t i = 0; begin < SHARED_SEEDS; begin = ends[s][i++])
                add_share(model, graph, begin, ends[s][i], sums);
            for (size_t i = 0; i < count; i++)
                if (fabs(sums[i] - whole[i]) > 1e-5 * (magnitude + fabs(whole[i])))
                    fail_msg("%s, gradient %zu of %zu shares: %g, of the whole step %g",
                             model_kind_name(config.kind), i, s, sums[i], whole[i]);
        }
        free(whole);
        free(sums);
        model_destroy(model);
    }
    made_graph_destroy(graph);
}

static double loss_with_dropout(struct mini_batch *batch, uint32_t epoch, uint64_t index,
                                uint32_t rank, uint64_t seed)
{
    struct model_config config = configure(MODEL_SAGE, MODEL_SOFTMAX, 3);
    struct model *model;
    config.dropout = 0.5f;
    config.input_dropout = 0.25f;
    assert_int_equal(model_create(&model, &config, parallel_serial, NULL), 0);
    config.seed = seed; /* the weights stay */
    struct model *other;
    assert_int_equal(model_create(&other, &config, parallel_serial, NULL), 0);
    memcpy(model_weights(other), model_weights(model), model_params(model)->count * sizeof(float));
    batch->epoch = epoch;
    batch->index = index;
    batch->rank = rank;
    double loss = model_step_loss(other, batch);
    model_destroy(model);
    model_destroy(other);
    return loss;
}

/* The elements that are dropped follow from seed, epoch, rank and step, and from nothing else: a
 * run that goes on drops what it would have dropped, on any version. */
static void test_what_is_dropped_stays_what_it_was(void **state)
{
    static const struct {
        uint32_t epoch;
        uint64_t index;
        uint32_t rank;
        uint64_t seed;
        double loss;
    } cases[] = {
        { 0, 0, 0, 11, 1.892555201 }, { 1, 0, 0, 11, 1.656463256 }, { 0, 1, 0, 11, 1.249828641 },
        { 0, 0, 1, 11, 2.194397859 }, { 0, 0, 0, 12, 2.115049974 },
    };
    struct made_shape shape = small_shape;
    (void)state;
    shape.layers = 3;
    struct mini_batch *batch = made_batch_create(&shape);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double loss = loss_with_dropout(batch, cases[i].epoch, cases[i].index, cases[i].rank,
                                        cases[i].seed);
        if (fabs(loss - cases[i].loss) > 1e-5 * loss)
            fail_msg("case %zu: the loss is %.9f", i, loss);
    }
    made_batch_destroy(batch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_misfits_are_refused),
        cmocka_unit_test(test_slopes),
        cmocka_unit_test(test_slopes_of_residual_and_normed_layers),
        cmocka_unit_test(test_a_residual_layer_adds_its_input),
        cmocka_unit_test(test_running_statistics_are_shared),
        cmocka_unit_test(test_batches_of_no_row_and_of_one),
        cmocka_unit_test(test_decay_leaves_running_statistics),
        cmocka_unit_test(test_columns_are_standardised_and_stay),
        cmocka_unit_test(test_slopes_with_dropout_and_class_weights),
        cmocka_unit_test(test_threads_and_variants_change_nothing),
        cmocka_unit_test(test_no_seeds_give_zero_gradients),
        cmocka_unit_test(test_shares_of_a_step_add_up),
        cmocka_unit_test(test_unlabelled_rows_add_nothing),
        cmocka_unit_test(test_zero_neighbours_have_zero_mean),
        cmocka_unit_test(test_what_is_dropped_stays_what_it_was),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
