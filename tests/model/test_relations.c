/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Models of relations: their gradients are the slopes of the loss, for each kind of layer, of types
 * with features and with learned rows; what they compute is the definition, written down plainly; and
 * no number of threads and no variant of the loops changes a bit of it.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model/model.h"
#include "tests/model/made_batch.h"
#include "tests/model/model_slopes.h"
#include "tests/model/typed_batch.h"

/* Papers have features, authors learned rows; a relation within a type, and one each way between. */
static const struct model_ntype NTYPES[] = { { "paper", 5, 0 }, { "author", 0, 80 } };
static const struct model_etype ETYPES[] = { { "author:writes:paper", 1, 0 },
                                             { "paper:cites:paper", 0, 0 },
                                             { "paper:by:author", 0, 1 },
                                             { "author:knows:author", 1, 1 } };
static const struct model_types TYPES = { 2, 4, NTYPES, ETYPES, { 0, 0 } };
static const struct model_types TO_AUTHORS = { 2, 4, NTYPES, ETYPES, { 1, 1 } };

/* One relation of one type, which gat gives each node itself as a neighbour. */
static const struct model_ntype ONLY_NTYPE[] = { { "_N", 5, 0 } };
static const struct model_etype ONLY_ETYPE[] = { { "_N:_E:_N", 0, 0 } };
static const struct model_types ONLY = { 1, 1, ONLY_NTYPE, ONLY_ETYPE, { 0, 0 } };

static struct model_config configure(enum model_kind kind, const struct model_types *types,
                                     uint32_t layers)
{
    struct model_config config = model_config_default();
    config.kind = kind;
    config.layers = layers;
    config.inputs = 5;
    config.hidden = 6;
    config.classes = 3;
    config.dropout = 0;
    config.seed = 11;
    config.types = types;
    config.heads = kind == MODEL_GAT ? 2 : 1;
    return config;
}

static struct mini_batch *make_batch(const struct model_config *config)
{
    const struct typed_shape shape = { .types = config->types,
                                       .layers = config->layers,
                                       .seeds = 9,
                                       .fanout_max = 3,
                                       .classes = config->classes,
                                       .seed = 9 };
    return typed_batch_create(&shape);
}

/* As in test_step.c. A relu that switches within the step bends the slopes of all that leads to it. */
static void check_slopes(const struct model_config *config)
{
    struct mini_batch *batch = make_batch(config);
    struct model *model;
    struct error error = { 0 };
    if (model_create(&model, config, parallel_serial, &error) != 0)
        fail_msg("%s", error.text);
    const size_t count = model_params(model)->trained;
    model_move_weights(model, count);
    const struct model_slopes slopes = model_slopes_of(model, batch, count);
    /* Most are of nodes that the batch does not have. */
    assert_true(slopes.learned > 20);
    if (slopes.wrong * 20 > slopes.learned)
        fail_msg("%s, %u layers, %u bases: %zu of %zu slopes differ, %zu of them not 0",
                 model_kind_name(config->kind), config->layers, config->bases, slopes.wrong, count,
                 slopes.learned);
    model_destroy(model);
    typed_batch_destroy(batch);
}

static void gradients_of_rgcn_are_slopes(void **state)
{
    (void)state;
    for (uint32_t layers = 1; layers <= 3; layers++) {
        for (uint32_t bases = 0; bases <= 2; bases += 2) {
            struct model_config config = configure(MODEL_RGCN, &TYPES, layers);
            config.bases = bases;
            check_slopes(&config);
            config.types = &TO_AUTHORS;
            check_slopes(&config);
        }
    }
}

static void gradients_of_gat_are_slopes(void **state)
{
    (void)state;
    const struct model_types *const kinds[] = { &TYPES, &TO_AUTHORS, &ONLY };
    for (uint32_t layers = 1; layers <= 3; layers++) {
        for (size_t i = 0; i < 3; i++) {
            struct model_config config = configure(MODEL_GAT, kinds[i], layers);
            check_slopes(&config);
        }
    }
}

static void gradients_through_norms_are_slopes(void **state)
{
    (void)state;
    for (int kind = MODEL_RGCN; kind <= MODEL_GAT; kind++) {
        for (int norm = MODEL_NORM_NONE; norm <= MODEL_NORM_BATCH; norm++) {
            struct model_config config = configure((enum model_kind)kind, &TYPES, 3);
            config.norm = (enum model_norm)norm;
            config.residual = norm != MODEL_NORM_LAYER;
            config.bases = kind == MODEL_RGCN && norm == MODEL_NORM_BATCH ? 2 : 0;
            config.dropout = norm == MODEL_NORM_LAYER ? 0.3f : 0;
            check_slopes(&config);
        }
    }
}

/* Bits of a step: outputs, gradients, loss. */
static void check_same_bits(const struct model_config *config)
{
    struct mini_batch *batch = make_batch(config);
    struct parallel *threads = threads_create(3);
    struct model *models[2];
    struct loss_sum loss[2];
    size_t count;
    assert_int_equal(model_create(&models[0], config, parallel_serial, NULL), 0);
    assert_int_equal(model_step(models[0], batch, &loss[0], NULL), 0);
    for (size_t v = 0; kernels_variant(v) != NULL; v++) {
        assert_int_equal(model_create(&models[1], config, threads, NULL), 0);
        model_use_kernels(models[1], kernels_variant(v));
        assert_int_equal(model_step(models[1], batch, &loss[1], NULL), 0);
        assert_memory_equal(&loss[0].sum, &loss[1].sum, sizeof loss[0].sum);
        const float *first = model_gradients(models[0], &count);
        assert_memory_equal(first, model_gradients(models[1], &count), count * sizeof *first);
        model_destroy(models[1]);
    }
    model_destroy(models[0]);
    threads_destroy(threads);
    typed_batch_destroy(batch);
}

static void threads_and_loops_change_no_bit(void **state)
{
    (void)state;
    for (int kind = MODEL_RGCN; kind <= MODEL_GAT; kind++) {
        struct model_config config = configure((enum model_kind)kind, &TYPES, 2);
        config.hidden = 20;
        config.dropout = 0.4f;
        config.bases = kind == MODEL_RGCN ? 3 : 0;
        check_same_bits(&config);
    }
}

/* rows[count] += matrix rows of another; the plain definition, in float64. */
static void add_product(double *to, const float *matrix, const float *row, uint32_t out,
                        uint32_t in, double scale)
{
    for (uint32_t o = 0; o < out; o++)
        for (uint32_t i = 0; i < in; i++)
            to[o] += scale * (double)matrix[(size_t)o * in + i] * (double)row[i];
}

static const float *row_of(const struct model *model, const struct mini_batch *batch,
                           uint32_t ntype, uint32_t row)
{
    const struct params *params = model_params(model);
    const struct batch_nodes *nodes = &batch->nodes[ntype];
    const struct embedding_params *embedding = &params->embeddings[ntype];
    const float *weights = model_weights((struct model *)(uintptr_t)model);
    if (embedding->rows > 0)
        return weights + embedding->weight + nodes->original_ids[row] * params->config->hidden;
    return (const float *)nodes->features.rows + (size_t)row * nodes->features.width;
}

/* One layer: W_self h_v + sum over relations of the mean of W_r h_u + b. */
static void rgcn_is_the_sum_over_relations_of_means(void **state)
{
    (void)state;
    struct model_config config = configure(MODEL_RGCN, &TYPES, 1);
    struct mini_batch *batch = make_batch(&config);
    struct model *model;
    const float *logits;
    assert_int_equal(model_create(&model, &config, parallel_serial, NULL), 0);
    const struct layer_params *layer = params_part(model_params(model), 0, TYPES.targets[0]);
    const float *weights = model_weights(model);
    for (uint32_t c = 0; c < config.classes; c++)
        model_weights(model)[layer->bias + c] = 0.25f * (float)c;
    assert_int_equal(model_forward(model, batch, &logits, NULL), 0);
    for (uint32_t d = 0; d < batch->nodes[0].num_seeds; d++) {
        double expected[3] = { 0, 0.25, 0.5 };
        add_product(expected, weights + layer->self, row_of(model, batch, 0, d), 3, 5, 1);
        for (uint32_t t = 0; t < layer->num_terms; t++) {
            const struct term_params *term = &layer->terms[t];
            const struct block_edges *edges = &batch->blocks[0].edges[term->etype];
            uint32_t begin = edges->index[d], end = edges->index[d + 1];
            for (uint32_t e = begin; e < end; e++) {
                if (!term->one_hot) {
                    add_product(expected, weights + term->weight,
                                row_of(model, batch, term->src, edges->sources[e]), 3, term->in,
                                1.0 / (end - begin));
                    continue;
                }
                /* The product of a matrix and a one-hot row. */
                uint64_t id = batch->nodes[term->src].original_ids[edges->sources[e]];
                for (uint32_t c = 0; c < 3; c++)
                    expected[c] += (double)weights[term->weight + id * 3 + c] / (end - begin);
            }
        }
        for (uint32_t c = 0; c < 3; c++)
            assert_true(fabs(expected[c] - (double)logits[d * 3 + c]) < 1e-5);
    }
    assert_int_equal(layer->num_terms, 2); /* those into the seeds' type alone */
    model_destroy(model);
    typed_batch_destroy(batch);
}

static double leaky(double x)
{
    return x > 0 ? x : 0.2 * x;
}

/* One layer over one relation: the mean over heads of what each attends to, itself included. */
static void gat_attends_by_the_softmax_of_its_edges(void **state)
{
    (void)state;
    struct model_config config = configure(MODEL_GAT, &ONLY, 1);
    struct mini_batch *batch = make_batch(&config);
    struct model *model;
    const float *logits;
    assert_int_equal(model_create(&model, &config, parallel_serial, NULL), 0);
    assert_int_equal(model_forward(model, batch, &logits, NULL), 0);
    const struct layer_params *layer = params_part(model_params(model), 0, 0);
    const struct term_params *term = &layer->terms[0];
    const float *weights = model_weights(model), *vectors = weights + term->attention;
    const struct block_edges *edges = &batch->blocks[0].edges[0];
    assert_false(layer->has_self);
    for (uint32_t d = 0; d < batch->nodes[0].num_seeds; d++) {
        double expected[3] = { 0 };
        uint32_t count = edges->index[d + 1] - edges->index[d];
        for (uint32_t h = 0; h < 2; h++) {
            double powers[8], products[8][3] = { { 0 } }, own[3] = { 0 }, sum = 0;
            const float *matrix = weights + term->weight + (size_t)h * 3 * 5;
            add_product(own, matrix, row_of(model, batch, 0, d), 3, 5, 1);
            for (uint32_t e = 0; e <= count; e++) {
                uint32_t source = e == count ? d : edges->sources[edges->index[d] + e];
                double score = 0;
                add_product(products[e], matrix, row_of(model, batch, 0, source), 3, 5, 1);
                for (uint32_t c = 0; c < 3; c++)
                    score += (double)vectors[h * 3 + c] * products[e][c] +
                             (double)vectors[6 + h * 3 + c] * own[c];
                powers[e] = e < count && source == d ? 0 : exp(leaky(score));
                sum += powers[e];
            }
            for (uint32_t e = 0; e <= count; e++)
                for (uint32_t c = 0; c < 3; c++)
                    expected[c] += powers[e] / sum * products[e][c] / 2;
        }
        for (uint32_t c = 0; c < 3; c++)
            assert_true(fabs(expected[c] - (double)logits[d * 3 + c]) < 1e-5);
    }
    model_destroy(model);
    typed_batch_destroy(batch);
}

static void what_does_not_fit_is_refused(void **state)
{
    (void)state;
    struct error error = { 0 };
    struct model *model;
    struct model_config config = configure(MODEL_SAGE, &TYPES, 2);
    assert_int_equal(model_create(&model, &config, parallel_serial, &error), TR_EUNSUPPORTED);
    assert_non_null(strstr(error.text, "which rgcn and gat take"));
    config = configure(MODEL_GAT, &TYPES, 2);
    config.heads = 4;
    assert_int_equal(model_create(&model, &config, parallel_serial, &error), TR_EINVAL);
    config = configure(MODEL_GAT, &TYPES, 2);
    config.bases = 2;
    assert_int_equal(model_create(&model, &config, parallel_serial, &error), TR_EINVAL);
    const struct model_ntype many[] = { { "paper", 5, 0 }, { "author", 0, MODEL_EMBEDDED_MAX } };
    const struct model_types large = { 2, 4, many, ETYPES, { 0, 0 } };
    config = configure(MODEL_RGCN, &large, 2);
    assert_int_equal(model_create(&model, &config, parallel_serial, &error), TR_ETOOBIG);
    assert_non_null(strstr(error.text, "author"));
    /* A batch of another graph. */
    config = configure(MODEL_RGCN, &TYPES, 2);
    struct mini_batch *batch = make_batch(&config);
    const float *logits;
    assert_int_equal(model_create(&model, &config, parallel_serial, NULL), 0);
    batch->num_ntypes = 1;
    assert_int_equal(model_forward(model, batch, &logits, &error), TR_EMISMATCH);
    batch->num_ntypes = 2;
    ((uint64_t *)(uintptr_t)batch->nodes[1].original_ids)[0] = 80;
    assert_int_equal(model_forward(model, batch, &logits, &error), TR_EMISMATCH);
    assert_non_null(strstr(error.text, "node 80 of type 'author'"));
    model_destroy(model);
    typed_batch_destroy(batch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_of_rgcn_are_slopes),
        cmocka_unit_test(gradients_of_gat_are_slopes),
        cmocka_unit_test(gradients_through_norms_are_slopes),
        cmocka_unit_test(threads_and_loops_change_no_bit),
        cmocka_unit_test(rgcn_is_the_sum_over_relations_of_means),
        cmocka_unit_test(gat_attends_by_the_softmax_of_its_edges),
        cmocka_unit_test(what_does_not_fit_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
