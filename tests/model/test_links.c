/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A model of links: the gradient of its loss is the slope, which edges are held out follows from the
 * ends alone, neither a batch nor a pass over the whole graph sees one that is held out, and scores are
 * those of a plain reference.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "graph/key.h"
#include "model/exact.h"
#include "model/link_filter.h"
#include "model/link_loss.h"
#include "model/link_scores.h"
#include "model/model.h"
#include "tests/model/made_batch.h"
#include "tests/model/made_graph.h"
#include "tests/model/model_slopes.h"
#include "tests/model/typed_batch.h"

#define SEEDS 12u
#define PAIRS 17u
#define WIDTH 19u /* no multiple of the columns that a thread takes */
#define NODES 400u
#define FEATURES 6u

static struct batch_pairs make_pairs_with(uint32_t seeds, uint32_t count, uint32_t negatives,
                                          enum negative_ends which, uint64_t seed)
{
    uint64_t key = key_mix(seed + 5), draw = 0;
    uint32_t *ends = malloc((2 + 2 * (size_t)negatives) * count * sizeof *ends + 1);
    assert_non_null(ends);
    for (uint32_t i = 0; i < (2 + 2 * negatives) * count; i++)
        ends[i] = (uint32_t)key_below(key, &draw, seeds);
    const struct negatives_rule rule = { .each = negatives, .ends = which };
    uint32_t drawn = negatives_each(&rule, PAIR_DESTINATION) * count;
    return (struct batch_pairs){ .count = count,
                                 .sources = ends,
                                 .destinations = ends + count,
                                 .negatives_rule = rule,
                                 .count_negatives = drawn,
                                 .negatives = ends + 2 * (size_t)count,
                                 .count_negative_sources = negatives_each(&rule, PAIR_SOURCE) *
                                                           count,
                                 .negative_sources = ends + 2 * (size_t)count + drawn };
}

static struct batch_pairs make_pairs(uint32_t seeds, uint32_t count, uint32_t negatives,
                                     uint64_t seed)
{
    return make_pairs_with(seeds, count, negatives, NEGATIVE_DESTINATIONS, seed);
}

static void free_pairs(const struct batch_pairs *pairs)
{
    free((void *)(uintptr_t)pairs->sources);
}

static void fill_rows(float *rows, size_t count, float scale, uint64_t seed)
{
    for (size_t i = 0; i < count; i++)
        rows[i] = scale * (2 * key_float(key_mix(seed), i) - 1);
}

/* Outputs [2][SEEDS][WIDTH], of sources and of destinations; within a type both are the first. */
static double loss_of(const float *outputs, bool typed, const struct batch_pairs *pairs,
                      float *grads)
{
    struct loss_sum loss;
    const size_t second = typed ? SEEDS * WIDTH : 0;
    const struct link_ends sources = { outputs, grads, SEEDS };
    const struct link_ends destinations = { outputs + second, grads + second, SEEDS };
    assert_int_equal(
        link_loss_compute(parallel_serial, &sources, &destinations, WIDTH, pairs, PAIRS, &loss), 0);
    assert_int_equal(loss.labelled, pairs->count);
    return loss.sum / PAIRS;
}

/* Nodes come in many pairs, as source, destination and negative, of themselves too. */
static void check_slopes_of_loss(const struct batch_pairs *pairs, bool typed)
{
    float outputs[2 * SEEDS * WIDTH], grads[2 * SEEDS * WIDTH], ignored[2 * SEEDS * WIDTH];
    fill_rows(outputs, 2 * SEEDS * WIDTH, 1, 3);
    loss_of(outputs, typed, pairs, grads);
    for (size_t i = 0; i < (typed ? 2 : 1) * (size_t)SEEDS * WIDTH; i++) {
        const float old = outputs[i], step = 1e-2f;
        outputs[i] = old + step;
        double high = loss_of(outputs, typed, pairs, ignored), high_at = (double)outputs[i];
        outputs[i] = old - step;
        double low = loss_of(outputs, typed, pairs, ignored), low_at = (double)outputs[i];
        outputs[i] = old;
        double slope = (high - low) / (high_at - low_at);
        assert_true(fabs(slope - (double)grads[i]) < 1e-4 + 1e-3 * fabs(slope));
    }
}

static void test_slopes_of_loss(void **state)
{
    (void)state;
    for (uint32_t negatives = 1; negatives <= 4; negatives++)
        for (enum negative_ends ends = 0; ends < NEGATIVE_ENDS; ends++) {
            struct batch_pairs pairs = make_pairs_with(SEEDS, PAIRS, negatives, ends, negatives);
            check_slopes_of_loss(&pairs, false);
            check_slopes_of_loss(&pairs, true);
            free_pairs(&pairs);
        }
}

/* The mean over a pair and its negatives, which a plain sum gives too. */
static void test_loss_is_the_mean_of_entropies(void **state)
{
    (void)state;
    struct batch_pairs pairs = make_pairs(SEEDS, PAIRS, 3, 8);
    float outputs[SEEDS * WIDTH], grads[SEEDS * WIDTH];
    fill_rows(outputs, SEEDS * WIDTH, 1, 4);
    double expected = 0;
    for (uint32_t i = 0; i < PAIRS; i++)
        for (uint32_t j = 0; j < 4; j++) {
            uint32_t other = j == 0 ? pairs.destinations[i] : pairs.negatives[3 * i + j - 1];
            double score = 0;
            for (uint32_t c = 0; c < WIDTH; c++)
                score += (double)outputs[pairs.sources[i] * WIDTH + c] *
                         (double)outputs[other * WIDTH + c];
            double chance = 1 / (1 + exp(-score));
            expected -= log(j == 0 ? chance : 1 - chance) / 4;
        }
    assert_true(fabs(loss_of(outputs, false, &pairs, grads) - expected / PAIRS) < 1e-6);
    free_pairs(&pairs);
}

/* Scores far beyond what an exponential can take. */
static void test_loss_of_large_scores_is_finite(void **state)
{
    (void)state;
    struct batch_pairs pairs = make_pairs(SEEDS, PAIRS, 2, 9);
    float outputs[SEEDS * WIDTH], grads[SEEDS * WIDTH];
    fill_rows(outputs, SEEDS * WIDTH, 1e4f, 5);
    assert_true(isfinite(loss_of(outputs, false, &pairs, grads)));
    for (size_t i = 0; i < SEEDS * WIDTH; i++)
        assert_true(isfinite(grads[i]));
    assert_true(link_entropy(1e6, true) == 0 && link_entropy(1e6, false) == 1e6);
    free_pairs(&pairs);
}

static void test_threads_change_no_bit(void **state)
{
    (void)state;
    enum { MANY_SEEDS = 500, MANY_PAIRS = 1000 };
    struct batch_pairs pairs = make_pairs(MANY_SEEDS, MANY_PAIRS, 2, 1);
    size_t count = (size_t)MANY_SEEDS * WIDTH;
    float *outputs = malloc(count * sizeof *outputs), *grads[2];
    assert_non_null(outputs);
    fill_rows(outputs, count, 1, 6);
    double sums[2];
    for (int threads = 0; threads < 2; threads++) {
        struct parallel *parallel = threads_create(threads == 0 ? 1 : 5);
        struct loss_sum loss;
        grads[threads] = malloc(count * sizeof **grads);
        assert_non_null(grads[threads]);
        const struct link_ends ends = { outputs, grads[threads], MANY_SEEDS };
        assert_int_equal(link_loss_compute(parallel, &ends, &ends, WIDTH, &pairs, 1, &loss), 0);
        sums[threads] = loss.sum;
        threads_destroy(parallel);
    }
    assert_true(sums[0] == sums[1]);
    assert_memory_equal(grads[0], grads[1], count * sizeof **grads);
    free(outputs);
    free(grads[0]);
    free(grads[1]);
    free_pairs(&pairs);
}

static struct model_config configure(enum model_kind kind, uint32_t layers)
{
    struct model_config config = model_config_default();
    config.task = MODEL_LINKS;
    config.loss = MODEL_SIGMOID;
    config.kind = kind;
    config.layers = layers;
    config.inputs = FEATURES;
    config.hidden = 7;
    config.classes = 7;
    config.dropout = 0;
    config.seed = 11;
    return config;
}

static struct model *make_model_of(const struct model_config *config)
{
    struct model *model;
    assert_int_equal(model_create(&model, config, parallel_serial, NULL), 0);
    size_t count;
    model_gradients(model, &count);
    model_move_weights(model, count);
    return model;
}

static struct model *make_model(enum model_kind kind, uint32_t layers)
{
    const struct model_config config = configure(kind, layers);
    return make_model_of(&config);
}

/* Through all layers; a relu that switches within the step bends a few slopes. */
static void test_slopes_of_models(void **state)
{
    (void)state;
    for (int kind = MODEL_SAGE; kind <= MODEL_GAT; kind++) {
        const struct made_shape shape = { .layers = 2,
                                          .seeds = SEEDS,
                                          .fanout_max = 4,
                                          .growth = 2,
                                          .width = FEATURES,
                                          .classes = 3,
                                          .seed = 3 };
        struct mini_batch *batch = made_batch_create(&shape);
        const struct batch_pairs pairs = make_pairs(SEEDS, PAIRS, 2, 2);
        batch->num_pair_types = 1;
        batch->pairs = &pairs;
        batch->step_seeds = PAIRS;
        struct model *model = make_model((enum model_kind)kind, 2);
        size_t count;
        model_gradients(model, &count);
        const struct model_slopes slopes = model_slopes_of(model, batch, count);
        assert_true(slopes.magnitude > 1e-3);
        assert_true(slopes.wrong * 50 <= count);
        model_destroy(model);
        free_pairs(&pairs);
        made_batch_destroy(batch);
    }
}

static void expect_refused(struct model *model, const struct mini_batch *batch)
{
    struct loss_sum loss;
    struct error error = { 0 };
    assert_int_equal(model_step(model, batch, &loss, &error), TR_EMISMATCH);
    assert_true(error.text[0] != '\0');
}

/* Authors write papers and papers are by authors, which is the same; who cites and knows whom is
 * not. */
enum { WRITES, CITES, BY, KNOWS };
static const struct model_ntype NTYPES[] = { { "paper", FEATURES, 0 }, { "author", 0, 80 } };
static const struct model_etype ETYPES[] = { { "author:writes:paper", 1, 0 },
                                             { "paper:cites:paper", 0, 0 },
                                             { "paper:by:author", 0, 1 },
                                             { "author:knows:author", 1, 1 } };
static const struct model_types TYPES = { 2, 4, NTYPES, ETYPES, { 1, 0 } };
static const struct link_types WRITTEN = { .etype = WRITES, .reverse = BY, .ntypes = { 1, 0 } };

static struct mini_batch *make_typed_batch(uint64_t seed)
{
    const struct typed_shape shape = {
        .types = &TYPES, .layers = 2, .seeds = SEEDS, .fanout_max = 4, .classes = 3, .seed = seed
    };
    return typed_batch_create(&shape);
}

/* Ends of two types, either of which is drawn. */
static void test_slopes_of_typed_models(void **state)
{
    (void)state;
    for (int kind = MODEL_RGCN; kind <= MODEL_GAT; kind++)
        for (enum negative_ends ends = 0; ends < NEGATIVE_ENDS; ends++) {
            struct mini_batch *batch = make_typed_batch(7);
            struct batch_pairs pairs = make_pairs_with(SEEDS, PAIRS, 3, ends, 2);
            batch->num_pair_types = 1;
            batch->pairs = &pairs;
            batch->step_seeds = PAIRS;
            struct model_config config = configure((enum model_kind)kind, 2);
            config.types = &TYPES;
            struct model *model = make_model_of(&config);
            size_t count;
            model_gradients(model, &count);
            const struct model_slopes slopes = model_slopes_of(model, batch, count);
            assert_true(slopes.learned > 100);
            assert_true(slopes.wrong * 50 <= slopes.learned);
            pairs.etype = CITES; /* there are no outputs that score it */
            expect_refused(model, batch);
            model_destroy(model);
            free_pairs(&pairs);
            typed_batch_destroy(batch);
        }
}

static void test_other_batches_are_refused(void **state)
{
    (void)state;
    const struct made_shape shape = {
        .layers = 1, .seeds = SEEDS, .fanout_max = 4, .growth = 2, .width = FEATURES, .classes = 3
    };
    struct mini_batch *batch = made_batch_create(&shape);
    struct model *model = make_model(MODEL_SAGE, 1);
    const struct batch_pairs pairs = make_pairs(SEEDS, PAIRS, 2, 2);
    struct batch_pairs tried = pairs;
    expect_refused(model, batch); /* seeds that are nodes */
    batch->num_pair_types = 1;
    batch->pairs = &tried;
    batch->step_seeds = PAIRS - 1;
    expect_refused(model, batch);
    batch->step_seeds = PAIRS;
    tried.negatives_rule.each = tried.count_negatives = 0;
    expect_refused(model, batch);
    tried = pairs;
    tried.negatives_rule.of = NEGATIVES_OF_BATCH;
    expect_refused(model, batch);
    tried = pairs;
    tried.negatives_rule.ends = NEGATIVE_SOURCES; /* there are none */
    expect_refused(model, batch);
    tried = pairs;
    tried.etype = 1;
    expect_refused(model, batch);
    tried = pairs;
    ((uint32_t *)(uintptr_t)pairs.negatives)[3] = SEEDS;
    expect_refused(model, batch);
    model_destroy(model);
    free_pairs(&pairs);
    made_batch_destroy(batch);
}

static void test_split(void **state)
{
    (void)state;
    struct link_split split = link_split_make(NULL);
    size_t counts[LINK_PARTS] = { 0 }, all = 0;
    for (uint64_t a = 0; a < 500; a++) {
        assert_int_equal(link_split_part(&split, a, a), LINK_TRAIN);
        for (uint64_t b = 0; b < a; b++, all++) {
            enum link_split_part part = link_split_part(&split, a, b);
            assert_int_equal(part, link_split_part(&split, b, a));
            counts[part]++;
        }
    }
    /* Five deviations of so many draws. */
    double off = 5 * sqrt(0.1 * 0.9 * (double)all);
    assert_true(fabs((double)counts[LINK_TEST] - 0.1 * (double)all) < off);
    assert_true(fabs((double)counts[LINK_VALIDATION] - 0.1 * (double)all) < off);
}

/* With masks, the pairs of the table are held apart in both directions, and no others. */
static void test_pairs_held_apart(void **state)
{
    (void)state;
    enum { SIDE = 40, HELD = 300 };
    struct link_split split = link_split_make(NULL);
    bool held[SIDE][SIDE] = { { false } };
    uint64_t places[1024], key = key_mix(3), draw = 0;
    assert_int_equal(pair_table_room(HELD), 1024);
    memset(places, 0xff, sizeof places);
    split.apart = (struct pair_table){ places, 1023 };
    for (int i = 0; i < HELD; i++) {
        uint64_t a = key_below(key, &draw, SIDE), b = key_below(key, &draw, SIDE);
        held[a][b] = held[b][a] = true;
        *pair_table_find(&split.apart, pair_name(a, b)) = pair_name(a, b);
    }
    for (uint64_t a = 0; a < SIDE; a++)
        for (uint64_t b = 0; b < SIDE; b++)
            assert_int_equal(link_split_passes(&split, 0, a, b), !held[a][b]);
}

static struct made_graph *make_graph(void)
{
    return made_graph_create(NODES, 8, 3, FEATURES, 0.6, 0.5, 21);
}

static bool is_pair(const struct batch_pairs *pairs, uint32_t a, uint32_t b)
{
    for (uint32_t i = 0; i < pairs->count; i++)
        if ((pairs->sources[i] == a && pairs->destinations[i] == b) ||
            (pairs->sources[i] == b && pairs->destinations[i] == a))
            return true;
    return false;
}

/* All edges that pass, in their order, and no other. */
static void check_layer(const struct link_split *split, const struct mini_batch *batch,
                        const struct block_edges *before, const struct block_edges *after)
{
    uint32_t kept = 0;
    const uint64_t *ids = batch->nodes->original_ids;
    assert_int_equal(after->num_dst, before->num_dst);
    for (uint32_t d = 0; d < before->num_dst; d++) {
        assert_int_equal(after->index[d], kept);
        for (uint32_t e = before->index[d]; e < before->index[d + 1]; e++) {
            uint32_t s = before->sources[e];
            if (link_split_part(split, ids[s], ids[d]) != LINK_TRAIN || is_pair(batch->pairs, s, d))
                continue;
            assert_true(kept < after->num_edges);
            assert_int_equal(after->sources[kept++], s);
        }
    }
    assert_int_equal(after->index[before->num_dst], kept);
    assert_int_equal(after->num_edges, kept);
}

static void count_degrees(const struct made_graph *graph, const struct link_split *split,
                          uint32_t *degrees)
{
    memset(degrees, 0, 2 * NODES * sizeof *degrees);
    for (uint32_t v = 0; v < NODES; v++)
        for (uint32_t e = graph->index[v]; e < graph->index[v + 1]; e++)
            if (link_split_passes(split, 0, graph->sources[e], v)) {
                degrees[v]++;
                degrees[NODES + graph->sources[e]]++;
            }
}

static void test_filter(void **state)
{
    (void)state;
    struct made_graph *graph = make_graph();
    struct link_split split = link_split_make(NULL);
    struct link_filter filter = { 0 };
    uint32_t degrees[2 * NODES], seeds[SEEDS];
    count_degrees(graph, &split, degrees);
    split.in_degrees = degrees;
    split.out_degrees = degrees + NODES;
    for (uint32_t round = 0; round < 5; round++) {
        /* Seeds that are each other's neighbours, pairs of which some are edges. */
        for (uint32_t i = 0; i < SEEDS; i++)
            seeds[i] = 40 * round + i;
        struct mini_batch *batch = made_graph_batch(graph, seeds, SEEDS, 2, 0, round);
        struct batch_nodes nodes = batch->nodes[0];
        nodes.original_ids = nodes.ids;
        struct block_edges edges[2] = { *batch->blocks[0].edges, *batch->blocks[1].edges };
        struct batch_view view = { .batch = *batch, .nodes = &nodes, .edges = edges };
        view.batch.nodes = &nodes;
        uint32_t ends[2 * SEEDS], count = 0;
        const struct block_edges *last = batch->blocks[1].edges;
        for (uint32_t d = 0; d < SEEDS; d++)
            for (uint32_t e = last->index[d]; e < last->index[d + 1] && count < SEEDS; e++)
                if (last->sources[e] < SEEDS) {
                    ends[count] = last->sources[e];
                    ends[SEEDS + count++] = d;
                }
        view.batch.pairs = &view.pairs;
        view.pairs = (struct batch_pairs){ .count = count,
                                           .sources = ends,
                                           .destinations = ends + SEEDS };
        assert_int_equal(link_filter_batch(&filter, &split, &view, NULL), 0);
        check_layer(&split, &view.batch, batch->blocks[0].edges, &edges[0]);
        check_layer(&split, &view.batch, batch->blocks[1].edges, &edges[1]);
        assert_true(edges[0].num_edges < batch->blocks[0].edges->num_edges);
        for (uint32_t i = 0; i < nodes.num_nodes; i++) {
            assert_int_equal(nodes.in_degrees[i], degrees[nodes.ids[i]]);
            assert_int_equal(nodes.out_degrees[i], degrees[NODES + nodes.ids[i]]);
        }
        made_batch_destroy(batch);
    }
    link_filter_fini(&filter);
    made_graph_destroy(graph);
}

/* Edges that are seeds of the batch, as its pairs, up to so many. */
static struct batch_pairs find_pairs(const struct mini_batch *batch, uint32_t *sources,
                                     uint32_t *destinations, uint32_t most)
{
    const struct block_edges *edges = &batch->blocks[batch->num_layers - 1].edges[WRITES];
    uint32_t count = 0;
    for (uint32_t d = 0; d < edges->num_dst; d++)
        for (uint32_t e = edges->index[d]; e < edges->index[d + 1] && count < most; e += 2)
            if (edges->sources[e] < SEEDS) {
                sources[count] = edges->sources[e];
                destinations[count++] = d;
            }
    return (struct batch_pairs){ .count = count, .sources = sources, .destinations = destinations };
}

/* An author and a paper: of one pair, and held apart? */
static bool is_hidden(const struct link_split *split, const struct mini_batch *batch,
                      uint32_t author, uint32_t paper)
{
    for (uint32_t i = 0; i < batch->pairs->count; i++)
        if (batch->pairs->sources[i] == author && batch->pairs->destinations[i] == paper)
            return true;
    return link_split_part(split, batch->nodes[1].original_ids[author],
                           batch->nodes[0].original_ids[paper]) != LINK_TRAIN;
}

static size_t check_typed_edges(const struct link_split *split, const struct mini_batch *batch,
                                uint32_t etype, const struct block_edges *before,
                                const struct block_edges *after)
{
    uint32_t kept = 0;
    for (uint32_t d = 0; d < before->num_dst; d++) {
        for (uint32_t e = before->index[d]; e < before->index[d + 1]; e++) {
            uint32_t s = before->sources[e];
            if ((etype == WRITES && is_hidden(split, batch, s, d)) ||
                (etype == BY && is_hidden(split, batch, d, s)))
                continue;
            assert_true(kept < after->num_edges);
            assert_int_equal(after->sources[kept++], s);
        }
        assert_int_equal(after->index[d + 1], kept);
    }
    assert_int_equal(after->num_edges, kept);
    return before->num_edges - kept;
}

/* Of the type that is scored, and of the one that has its reverses; all others pass. */
static void test_filter_of_types(void **state)
{
    (void)state;
    struct link_split split = link_split_make(&WRITTEN);
    struct link_filter filter = { 0 };
    size_t hidden[4] = { 0 };
    for (uint64_t seed = 0; seed < 8; seed++) {
        struct mini_batch *batch = make_typed_batch(seed);
        uint32_t ends[2 * SEEDS];
        struct batch_nodes nodes[2] = { batch->nodes[0], batch->nodes[1] };
        struct block_edges edges[8];
        for (uint32_t l = 0; l < 2; l++)
            memcpy(edges + 4 * (size_t)l, batch->blocks[l].edges, 4 * sizeof *edges);
        const struct batch_pairs pairs = find_pairs(batch, ends, ends + SEEDS, SEEDS);
        batch->num_pair_types = 1;
        batch->pairs = &pairs;
        struct batch_view view = { .batch = *batch, .nodes = nodes, .edges = edges };
        assert_int_equal(link_filter_batch(&filter, &split, &view, NULL), 0);
        for (uint32_t l = 0; l < 2; l++)
            for (uint32_t e = 0; e < 4; e++)
                hidden[e] += check_typed_edges(&split, batch, e, &batch->blocks[l].edges[e],
                                               &edges[4 * (size_t)l + e]);
        typed_batch_destroy(batch);
    }
    assert_true(hidden[WRITES] > 0 && hidden[BY] > 0);
    assert_true(hidden[CITES] == 0 && hidden[KNOWS] == 0);
    link_filter_fini(&filter);
}

/* A pair of two types has an order: node 3 of the one is not node 3 of the other. */
static void test_split_of_types(void **state)
{
    (void)state;
    struct link_split split = link_split_make(&WRITTEN);
    size_t counts[LINK_PARTS] = { 0 }, turned = 0, same = 0;
    for (uint64_t a = 0; a < 300; a++)
        for (uint64_t b = 0; b < 300; b++) {
            enum link_split_part part = link_split_part(&split, a, b);
            counts[part]++;
            turned += part != link_split_part(&split, b, a);
            same += a == b && part != LINK_TRAIN;
            assert_int_equal(link_split_passes(&split, WRITES, a, b), part == LINK_TRAIN);
            assert_int_equal(link_split_passes(&split, BY, b, a), part == LINK_TRAIN);
            assert_true(link_split_passes(&split, CITES, a, b));
        }
    double off = 5 * sqrt(0.1 * 0.9 * 90000);
    assert_true(fabs((double)counts[LINK_TEST] - 9000) < off);
    assert_true(fabs((double)counts[LINK_VALIDATION] - 9000) < off);
    assert_true(turned > 0 && same > 0);
}

/* Takes the edges that are held out from the graph itself. */
static void drop_held_out(struct made_graph *graph, const struct link_split *split)
{
    uint32_t kept = 0, begin = 0;
    uint32_t degrees[2 * NODES];
    count_degrees(graph, split, degrees);
    for (uint32_t v = 0; v < NODES; v++) {
        uint32_t end = graph->index[v + 1];
        for (uint32_t e = begin; e < end; e++)
            if (link_split_passes(split, 0, graph->sources[e], v))
                graph->sources[kept++] = graph->sources[e];
        begin = end;
        graph->index[v + 1] = kept;
    }
    memcpy(graph->in_degrees, degrees, sizeof degrees / 2);
    memcpy(graph->out_degrees, degrees + NODES, sizeof degrees / 2);
}

static void infer(enum model_kind kind, const struct made_graph *graph, uint32_t num_parts,
                  const struct link_split *links, struct tensor *logits)
{
    uint32_t owners[NODES];
    for (uint32_t v = 0; v < NODES; v++)
        owners[v] = (uint32_t)(key_mix(v) % num_parts);
    struct made_parts *parts = made_parts_create(graph, owners, num_parts, TR_F32);
    struct model *model = make_model(kind, 2);
    const struct exact_graph whole = { .parts = (const struct graph_part *const *)parts->parts,
                                       .num_parts = parts->count,
                                       .features = "feat",
                                       .links = links };
    struct exact *exact;
    assert_int_equal(exact_create(&exact, model, &whole, NULL), 0);
    assert_int_equal(exact_infer(exact, logits, NULL), 0);
    exact_destroy(exact);
    model_destroy(model);
    made_parts_destroy(parts);
}

/* A pass over the graph gives what it gives over the graph that lacks the held-out edges. */
static void test_whole_graph_without_held_out_edges(void **state)
{
    (void)state;
    struct link_split split = link_split_make(NULL);
    uint32_t degrees[2 * NODES];
    for (int kind = MODEL_SAGE; kind <= MODEL_GAT; kind++) {
        struct made_graph *graph = make_graph(), *less = make_graph();
        count_degrees(graph, &split, degrees);
        split.in_degrees = degrees;
        split.out_degrees = degrees + NODES;
        drop_held_out(less, &split);
        struct tensor whole = { 0 }, expected = { 0 }, seen = { 0 };
        infer((enum model_kind)kind, graph, 1, NULL, &whole);
        infer((enum model_kind)kind, less, 1, NULL, &expected);
        for (uint32_t parts = 1; parts <= 3; parts += 2) {
            infer((enum model_kind)kind, graph, parts, &split, &seen);
            assert_memory_equal(seen.data, expected.data, NODES * 7 * sizeof(float));
        }
        assert_memory_not_equal(whole.data, expected.data, NODES * 7 * sizeof(float));
        tensor_fini(&whole);
        tensor_fini(&expected);
        tensor_fini(&seen);
        made_graph_destroy(graph);
        made_graph_destroy(less);
    }
}

/* Pair i is (i, i + 1) of so many nodes. */
static struct link_pairs make_path(uint32_t count)
{
    struct link_pairs pairs = { .count = count,
                                .sources = malloc(count * sizeof(uint32_t)),
                                .destinations = malloc(count * sizeof(uint32_t)) };
    assert_non_null(pairs.sources);
    assert_non_null(pairs.destinations);
    for (uint32_t i = 0; i < count; i++) {
        pairs.sources[i] = i;
        pairs.destinations[i] = i + 1;
    }
    return pairs;
}

static void score(const float *rows, size_t nodes, size_t width, const struct link_pairs *pairs,
                  struct scores *scores)
{
    const struct tensor outputs = { .data = (float *)(uintptr_t)rows,
                                    .rows = nodes,
                                    .cols = width };
    struct parallel *parallel = threads_create(3);
    struct scores serial;
    assert_int_equal(link_scores_of(parallel_serial, &outputs, &outputs, pairs, LINK_TEST, &serial),
                     0);
    assert_int_equal(link_scores_of(parallel, &outputs, &outputs, pairs, LINK_TEST, scores), 0);
    assert_memory_equal(&serial, scores, sizeof serial);
    threads_destroy(parallel);
}

/* A model that scores all alike gains nothing; one whose edges score above all else, all. */
static void test_scores_that_are_known(void **state)
{
    (void)state;
    enum { MANY = 100000, HELD = 600 };
    struct link_pairs pairs = make_path(HELD);
    float *rows = calloc(2 * (size_t)MANY, sizeof *rows);
    assert_non_null(rows);
    struct scores scores;
    score(rows, MANY, 2, &pairs, &scores);
    assert_int_equal(scores.labelled, HELD);
    assert_true(scores.roc_auc == 0.5 && scores.accuracy == 0.5);
    assert_true(fabs(scores.loss - log(2)) < 1e-12 && fabs(scores.mrr - 1.0 / 51) < 1e-12);
    /* Ends of pairs look one way, all others the opposite one; few others are drawn among them. */
    for (size_t i = 0; i < MANY; i++)
        rows[2 * i] = i <= HELD ? 10 : -10;
    score(rows, MANY, 2, &pairs, &scores);
    assert_true(scores.roc_auc > 0.99 && scores.accuracy > 0.99 && scores.macro_f1 > 0.99);
    assert_true(scores.mrr > 0.7 && scores.loss < 1);
    /* And the other way round: every edge scores below. */
    for (size_t i = 0; i <= HELD; i++)
        rows[2 * i] = i % 2 == 0 ? 10 : -10;
    for (size_t i = HELD + 1; i < MANY; i++)
        rows[2 * i] = 0;
    score(rows, MANY, 2, &pairs, &scores);
    assert_true(scores.roc_auc < 0.01 && scores.mrr < 0.02);
    /* Outputs that are no numbers tell nothing. */
    for (size_t i = 0; i < 2 * (size_t)MANY; i++)
        rows[i] = NAN;
    score(rows, MANY, 2, &pairs, &scores);
    assert_true(scores.accuracy <= 0.5 && fabs(scores.mrr - 1.0 / 101) < 1e-12);
    const struct link_pairs none = { 0 };
    score(rows, MANY, 2, &none, &scores);
    assert_true(scores.labelled == 0 && isnan(scores.roc_auc) && isnan(scores.mrr));
    free(rows);
    free(pairs.sources);
    free(pairs.destinations);
}

/* Rows of small whole numbers, so that many scores are equal. */
static void test_scores_of_reference(void **state)
{
    (void)state;
    enum { SOME = 60, HELD = 50 };
    struct link_pairs pairs = make_path(HELD);
    float rows[2 * SOME];
    for (size_t i = 0; i < 2 * SOME; i++)
        rows[i] = (float)(key_mix(i + 9) % 5) - 2;
    const struct draw_key key = { .purpose = KEY_NEGATIVES, .type = LINK_TEST };
    double own[HELD], first[HELD], mrr = 0, above = 0, right = 0;
    for (uint32_t i = 0; i < HELD; i++) {
        const float *a = rows + 2 * (size_t)i, *b = a + 2;
        uint64_t draw = 0;
        double before = 0;
        own[i] = (double)(a[0] * b[0] + a[1] * b[1]);
        for (uint32_t j = 0; j < LINK_NEGATIVES; j++) {
            const float *c = rows + 2 * key_below(key_node(key_base(&key), i), &draw, SOME);
            double other = (double)(a[0] * c[0] + a[1] * c[1]);
            before += other > own[i] ? 1 : other == own[i] ? 0.5 : 0;
            first[i] = j == 0 ? other : first[i];
        }
        mrr += 1 / (1 + before) / HELD;
        right += (own[i] > 0) + (first[i] <= 0);
    }
    for (uint32_t i = 0; i < HELD; i++)
        for (uint32_t j = 0; j < HELD; j++)
            above += own[i] > first[j] ? 1 : own[i] == first[j] ? 0.5 : 0;
    struct scores scores;
    score(rows, SOME, 2, &pairs, &scores);
    assert_true(fabs(scores.mrr - mrr) < 1e-12);
    assert_true(fabs(scores.roc_auc - above / HELD / HELD) < 1e-12);
    assert_true(fabs(scores.accuracy - right / 2 / HELD) < 1e-12);
    free(pairs.sources);
    free(pairs.destinations);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slopes_of_loss),
        cmocka_unit_test(test_loss_is_the_mean_of_entropies),
        cmocka_unit_test(test_loss_of_large_scores_is_finite),
        cmocka_unit_test(test_threads_change_no_bit),
        cmocka_unit_test(test_slopes_of_models),
        cmocka_unit_test(test_slopes_of_typed_models),
        cmocka_unit_test(test_other_batches_are_refused),
        cmocka_unit_test(test_split),
        cmocka_unit_test(test_pairs_held_apart),
        cmocka_unit_test(test_split_of_types),
        cmocka_unit_test(test_filter),
        cmocka_unit_test(test_filter_of_types),
        cmocka_unit_test(test_whole_graph_without_held_out_edges),
        cmocka_unit_test(test_scores_that_are_known),
        cmocka_unit_test(test_scores_of_reference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
