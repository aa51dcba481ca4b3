/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a model makes of edges that were drawn by weights: an edge that stands for three is three edges
 * beside each other, of gcn one of which a third was drawn, and gradients are slopes of the loss.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model/drawn_edges.h"
#include "model/model.h"
#include "tests/model/made_batch.h"
#include "tests/model/model_slopes.h"

#define LAYERS 2u
#define SEEDS 9u
#define WIDTH 5u
#define CLASSES 3u

static const struct made_shape shape = { .layers = LAYERS,
                                         .seeds = SEEDS,
                                         .fanout_max = 4,
                                         .growth = 2,
                                         .width = WIDTH,
                                         .classes = CLASSES,
                                         .seed = 3 };

static const struct model_ntype NTYPE[] = { { "_N", WIDTH, 0 } };
static const struct model_etype ETYPE[] = { { "_N:_E:_N", 0, 0 } };
static const struct model_types TYPES = { 1, 1, NTYPE, ETYPE, { 0, 0 } };

static struct model *create(enum model_kind kind)
{
    struct model_config config = model_config_default();
    struct model *model;
    config.kind = kind;
    config.layers = LAYERS;
    config.inputs = WIDTH;
    config.hidden = 6;
    config.classes = CLASSES;
    config.dropout = 0;
    config.seed = 11;
    config.heads = kind == MODEL_GAT ? 2 : 1;
    config.types = model_kind_has_relations(kind) ? &TYPES : NULL;
    assert_int_equal(model_create(&model, &config, parallel_serial, NULL), 0);
    model_move_weights(model, model_params(model)->trained);
    return model;
}

/* A batch with the blocks of another, whose edges have weights or stand several times. */
struct variant {
    struct mini_batch batch;
    struct block blocks[LAYERS];
    struct block_edges edges[LAYERS];
    void *memory[LAYERS][3];
};

static uint32_t times_of(uint32_t edge)
{
    return 1 + edge % 3;
}

static void *take(size_t count, size_t size)
{
    void *memory = calloc(count + 1, size);
    assert_non_null(memory);
    return memory;
}

static struct variant *create_variant(const struct mini_batch *batch)
{
    struct variant *variant = take(1, sizeof *variant);
    variant->batch = *batch;
    variant->batch.blocks = variant->blocks;
    for (uint32_t l = 0; l < LAYERS; l++) {
        variant->edges[l] = batch->blocks[l].edges[0];
        variant->blocks[l] = batch->blocks[l];
        variant->blocks[l].edges = &variant->edges[l];
    }
    return variant;
}

static void destroy_variant(struct variant *variant)
{
    for (uint32_t l = 0; l < LAYERS; l++)
        for (int i = 0; i < 3; i++)
            free(variant->memory[l][i]);
    free(variant);
}

/* Each edge stands for times_of() edges; of gcn for as many as its node has edges for each drawn
 * one. */
static struct variant *weigh(const struct mini_batch *batch, bool as_even)
{
    struct variant *variant = create_variant(batch);
    for (uint32_t l = 0; l < LAYERS; l++) {
        struct block_edges *edges = &variant->edges[l];
        float *weights = variant->memory[l][0] = take(edges->num_edges, sizeof *weights);
        for (uint32_t d = 0; d < edges->num_dst; d++) {
            uint32_t drawn = edges->index[d + 1] - edges->index[d];
            for (uint32_t e = edges->index[d]; e < edges->index[d + 1]; e++)
                weights[e] = as_even ? (float)batch->nodes->in_degrees[d] / (float)drawn
                                     : (float)times_of(e);
        }
        edges->edge_weights = weights;
    }
    return variant;
}

static struct variant *repeat(const struct mini_batch *batch)
{
    struct variant *variant = create_variant(batch);
    for (uint32_t l = 0; l < LAYERS; l++) {
        const struct block_edges *from = &batch->blocks[l].edges[0];
        uint32_t *index = variant->memory[l][0] = take(from->num_dst + 1, sizeof *index);
        uint32_t *sources = variant->memory[l][1] = take(3 * (size_t)from->num_edges,
                                                         sizeof *sources);
        uint32_t at = 0;
        for (uint32_t d = 0; d < from->num_dst; d++) {
            for (uint32_t e = from->index[d]; e < from->index[d + 1]; e++)
                for (uint32_t i = 0; i < times_of(e); i++)
                    sources[at++] = from->sources[e];
            index[d + 1] = at;
        }
        variant->edges[l] = (struct block_edges){
            .num_dst = from->num_dst, .num_edges = at, .index = index, .sources = sources
        };
    }
    return variant;
}

static void assert_near(const float *a, const float *b, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!(fabsf(a[i] - b[i]) <= 2e-5f * (1 + fabsf(b[i]))))
            fail_msg("number %zu: %g and %g", i, (double)a[i], (double)b[i]);
}

static void compare(enum model_kind kind, const struct mini_batch *a, const struct mini_batch *b)
{
    struct model *models[2] = { create(kind), create(kind) };
    const struct mini_batch *batches[2] = { a, b };
    const float *logits[2], *grads[2];
    size_t count = 0;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(model_forward(models[i], batches[i], &logits[i], NULL), 0);
    }
    assert_near(logits[0], logits[1], SEEDS * CLASSES);
    for (int i = 0; i < 2; i++) {
        model_step_loss(models[i], batches[i]);
        grads[i] = model_gradients(models[i], &count);
    }
    assert_near(grads[0], grads[1], count);
    for (int i = 0; i < 2; i++)
        model_destroy(models[i]);
}

static void edges_count_as_often_as_they_stand_for(void **state)
{
    (void)state;
    struct mini_batch *batch = made_batch_create(&shape);
    struct variant *weighed = weigh(batch, false), *repeated = repeat(batch);
    compare(MODEL_SAGE, &weighed->batch, &repeated->batch);
    compare(MODEL_RGCN, &weighed->batch, &repeated->batch);
    compare(MODEL_GAT, &weighed->batch, &repeated->batch);
    destroy_variant(weighed);
    destroy_variant(repeated);
    weighed = weigh(batch, true);
    compare(MODEL_GCN, &weighed->batch, batch);
    compare(MODEL_SAGE, &weighed->batch, batch);
    destroy_variant(weighed);
    made_batch_destroy(batch);
}

/* Otherwise what a batch with weights has in common with one without would prove nothing. */
static void they_change_what_comes_out(void **state)
{
    (void)state;
    struct mini_batch *batch = made_batch_create(&shape);
    struct variant *weighed = weigh(batch, false);
    for (int kind = MODEL_SAGE; kind <= MODEL_GAT; kind++) {
        struct model *model = create((enum model_kind)kind);
        const float *logits;
        float before[SEEDS * CLASSES];
        assert_int_equal(model_forward(model, batch, &logits, NULL), 0);
        memcpy(before, logits, sizeof before);
        assert_int_equal(model_forward(model, &weighed->batch, &logits, NULL), 0);
        assert_memory_not_equal(before, logits, sizeof before);
        /* Nothing of them stays with the model. */
        assert_int_equal(model_forward(model, batch, &logits, NULL), 0);
        assert_memory_equal(before, logits, sizeof before);
        model_destroy(model);
    }
    destroy_variant(weighed);
    made_batch_destroy(batch);
}

static void gradients_are_slopes(void **state)
{
    (void)state;
    struct mini_batch *batch = made_batch_create(&shape);
    struct variant *weighed = weigh(batch, false);
    for (int kind = MODEL_SAGE; kind <= MODEL_GAT; kind++) {
        struct model *model = create((enum model_kind)kind);
        size_t count = model_params(model)->trained;
        const struct model_slopes slopes = model_slopes_of(model, &weighed->batch, count);
        assert_true(slopes.magnitude > 1e-3);
        if (slopes.wrong * 20 > count)
            fail_msg("%s: %zu of %zu slopes differ", model_kind_name((enum model_kind)kind),
                     slopes.wrong, count);
        model_destroy(model);
    }
    destroy_variant(weighed);
    made_batch_destroy(batch);
}

static void edges_pass_by_their_weight_and_their_mask(void **state)
{
    (void)state;
    const float often[] = { 1, 0, 2, 0.5f };
    const uint8_t kept[] = { 1, 1, 0, 1 };
    struct feature_table tables[] = {
        { .name = "often",
          .dtype = TR_F32,
          .num_rows = 4,
          .width = 1,
          .row_bytes = 4,
          .rows = often },
        { .name = "kept",
          .dtype = TR_BOOL,
          .num_rows = 4,
          .width = 1,
          .row_bytes = 1,
          .rows = kept },
        { .name = "wide", .dtype = TR_U8, .num_rows = 2, .width = 2, .row_bytes = 2, .rows = kept },
    };
    struct edge_part edges[] = { { .num_features = 3, .features = tables }, { .num_features = 0 } };
    const struct graph_types types = { .num_ntypes = 1, .num_etypes = 2 };
    const struct graph_part part = { .types = &types, .edges = edges };
    const struct graph_part *const parts[] = { &part };
    struct drawn_edges *drawn;
    struct error error = { 0 };
    assert_int_equal(drawn_edges_find(parts, 1, "often", "kept", &drawn, &error), 0);
    for (uint64_t e = 0; e < 4; e++) {
        assert_int_equal(drawn_edges_pass(&drawn[0], e), often[e] > 0 && kept[e] != 0);
        assert_true(drawn_edges_pass(&drawn[1], e)); /* which has neither feature */
    }
    free(drawn);
    assert_int_equal(drawn_edges_find(parts, 1, "often", "none", &drawn, &error), TR_ENOENT);
    assert_non_null(strstr(error.text, "'none' (options.draw_mask)"));
    assert_int_equal(drawn_edges_find(parts, 1, "wide", NULL, &drawn, &error), TR_EMISMATCH);
    assert_null(drawn);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(edges_count_as_often_as_they_stand_for),
        cmocka_unit_test(they_change_what_comes_out),
        cmocka_unit_test(gradients_are_slopes),
        cmocka_unit_test(edges_pass_by_their_weight_and_their_mask),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
