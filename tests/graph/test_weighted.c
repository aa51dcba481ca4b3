/* SPDX-License-Identifier: Apache-2.0 */
/* Draws by weights: against their definition, with the weights that estimates get, and refusals. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "graph/key.h"
#include "graph/local_sample.h"
#include "graph/logarithm.h"
#include "graph/on_demand.h"
#include "graph/samplers.h"
#include "graph/weight_sums.h"
#include "tests/graph/edge_draws.h"
#include "tests/graph/statistics.h"

#define EDGES_MAX 4000u
#define SETS_MAX 4096u /* of up to 12 edges */

/* A partition of one node, whose column is the place of each edge. */
struct world {
    struct graph_types types;
    uint64_t original_id, index[2];
    uint32_t columns[EDGES_MAX];
    double weights[EDGES_MAX];
    uint8_t mask[EDGES_MAX];
    struct feature_table tables[2];
    struct node_part nodes;
    struct edge_part edges;
    struct graph_part part;
    uint32_t degree;
};

static void open_world(struct world *w, const double *weights, uint32_t degree)
{
    *w = (struct world){ .degree = degree, .original_id = 5, .index = { 0, degree } };
    assert_int_equal(graph_types_init_homogeneous(&w->types), 0);
    for (uint32_t i = 0; i < degree; i++) {
        w->columns[i] = i;
        w->weights[i] = weights[i];
        w->mask[i] = 1;
    }
    w->tables[0] = edge_feature("w", TR_F64, degree, w->weights);
    w->tables[1] = edge_feature("keep", TR_U8, degree, w->mask);
    w->nodes = (struct node_part){ .num_nodes = 1, .original_ids = &w->original_id };
    w->edges = (struct edge_part){ .csc = { .num_rows = 1,
                                            .num_edges = degree,
                                            .index = w->index,
                                            .indices = w->columns,
                                            .first_edge = 700 },
                                   .num_features = 2,
                                   .features = w->tables };
    w->part = (struct graph_part){ .types = &w->types, .nodes = &w->nodes, .edges = &w->edges };
    w->part.on_demand = on_demand_create(&w->part, NULL);
    assert_non_null(w->part.on_demand);
}

static void close_world(struct world *w)
{
    on_demand_destroy(w->part.on_demand);
    graph_types_fini(&w->types);
}

static struct sample_term term_of(int32_t fanout, bool replace, bool masked)
{
    struct sample_term term = SAMPLE_TERM(fanout, replace);
    term.weights = 0;
    term.mask = masked ? 1 : SAMPLE_NO_TABLE;
    return term;
}

static int make(const struct world *w, const struct sample_term *term, struct error *error)
{
    const struct local_sample what = { .part = &w->part, .kind = SAMPLE_WEIGHTED, .term = *term };
    int rv;
    while ((rv = local_sample_make(&what, error)) == 1)
        ;
    return rv;
}

/* Draws the node's edges into columns and, where it is not NULL, their weights. */
static uint32_t draw(const struct world *w, struct sample_space *space,
                     const struct sample_term *term, const struct draw_key *key, uint32_t *columns,
                     float *weights)
{
    static const uint32_t row = 0;
    const struct local_sample what = { .part = &w->part,
                                       .draw = key,
                                       .kind = SAMPLE_WEIGHTED,
                                       .term = *term,
                                       .rows = &row,
                                       .num_rows = 1 };
    struct sample_request request;
    uint32_t count;
    struct sample_result result = { .counts = &count, .columns = columns, .edge_weights = weights };
    assert_int_equal(local_sample_prepare(&what, &request, NULL), 0);
    assert_int_equal(local_sample_draw(space, &request, &result), 0);
    assert_int_equal(result.num_edges, count);
    assert_true(count <= local_sample_bound(&request));
    return count;
}

static uint32_t draw_trial(const struct world *w, struct sample_space *space,
                           const struct sample_term *term, uint64_t trial, uint32_t *columns,
                           float *weights)
{
    const struct draw_key key = { .seed = trial };
    return draw(w, space, term, &key, columns, weights);
}

static void logarithms_are_exact_and_the_same_everywhere(void **state)
{
    (void)state;
    uint64_t hash = 0;
    for (uint64_t i = 0; i < 1000000; i++) {
        uint64_t drawn = key_draw(3, i);
        double x = (double)((drawn >> 11) + 1) * 0x1p-53;
        x = i % 4 == 1 ? 1 - x / 1024 : i % 4 == 2 ? x * 1e-200 : i % 4 == 3 ? x * 1e200 : x;
        double got = logarithm(x), wanted = log(x);
        uint64_t bits;
        /* The C library's own error is below 2^-52. */
        assert_true(fabs(got - wanted) <= fabs(wanted) * 0x1p-50);
        memcpy(&bits, &got, sizeof bits);
        hash = key_mix(hash ^ bits);
    }
    assert_true(logarithm(1) == 0);
    assert_int_equal(hash, UINT64_C(0x76c55e056bb2bc40)); /* as recorded once */
}

/* Each edge has as many coins as its share of the weights, and its coins draw it. */
static void coins_have_the_shares_of_weights(void **state)
{
    (void)state;
    static struct world w;
    static double weights[EDGES_MAX];
    for (uint32_t degree = 1; degree <= EDGES_MAX; degree += degree / 3 + 1) {
        double total = 0;
        uint32_t tiny = 0, drawn[WEIGHT_COINS_AT_ONCE];
        int64_t coins = 0;
        for (uint32_t i = 0; i < degree; i++) {
            uint64_t bits = key_draw(degree, i);
            weights[i] = bits % 4 == 0 ? 0 : pow(10, (double)(bits >> 8 & 0xff) / 16 - 8);
            weights[i] = degree == 1 ? 3 : weights[i];
            total += weights[i];
        }
        open_world(&w, weights, degree);
        const struct sample_term term = term_of(1, true, false);
        const struct on_demand_key key = { ON_DEMAND_WEIGHTS, 0, 0, SAMPLE_NO_TABLE };
        assert_int_equal(make(&w, &term, NULL), 0);
        const struct weight_sums *sums = on_demand_weights(w.part.on_demand, &key);
        assert_non_null(sums);
        const struct weight_row row = weight_row_at(sums, 0, degree);
        for (uint32_t i = 0; i < degree; i++)
            tiny += weights[i] > 0 && weights[i] / total * (double)WEIGHT_COINS < 1;
        for (uint32_t i = 0; i < degree; i++) {
            uint32_t own = weight_coins(&row, i);
            double error = own - weights[i] / total * (double)WEIGHT_COINS;
            assert_true(fabs(error) <= 1 + tiny);
            assert_int_equal(own == 0, weights[i] == 0);
            if (own > 0) {
                assert_int_equal(weight_edge(&row, (int32_t)coins), i);
                assert_int_equal(weight_edge(&row, (int32_t)(coins + own - 1)), i);
            }
            coins += own;
        }
        assert_int_equal(coins, WEIGHT_COINS);
        for (uint64_t t = 0; t < 100; t++) {
            weight_edges(&row, key_mix(t), WEIGHT_COINS_AT_ONCE, drawn);
            for (uint32_t i = 0; i < WEIGHT_COINS_AT_ONCE; i++)
                assert_int_equal(drawn[i], weight_edge(&row, weight_coin(key_mix(t), i)));
        }
        close_world(&w);
    }
}

static void replaced_draws_follow_the_weights(void **state)
{
    (void)state;
    static const double weights[] = { 1, 0, 5, 2.5, 0.25, 0, 40, 7, 1 };
    enum { DEGREE = sizeof weights / sizeof *weights };
    static struct world w;
    uint64_t counts[DEGREE] = { 0 }, pairs[DEGREE * DEGREE] = { 0 };
    double shares[DEGREE], pair_shares[DEGREE * DEGREE], total = 0;
    uint32_t columns[20];
    float given[20];
    struct sample_space space = { 0 };
    const struct sample_term term = term_of(20, true, false);
    open_world(&w, weights, DEGREE);
    assert_int_equal(make(&w, &term, NULL), 0);
    for (uint32_t i = 0; i < DEGREE; i++)
        total += weights[i];
    for (uint32_t i = 0; i < DEGREE; i++)
        shares[i] = weights[i] / total;
    for (uint32_t i = 0; i < DEGREE * DEGREE; i++)
        pair_shares[i] = shares[i / DEGREE] * shares[i % DEGREE];
    for (uint64_t t = 0; t < 100000; t++) {
        assert_int_equal(draw_trial(&w, &space, &term, t, columns, given), 20);
        for (int i = 0; i < 20; i++) {
            counts[columns[i]]++;
            double wanted = total / (20 * weights[columns[i]]);
            assert_true(fabs(given[i] - wanted) <= wanted * 1e-6);
        }
        for (int i = 0; i < 20; i += 2)
            pairs[columns[i] * DEGREE + columns[i + 1]]++;
    }
    assert_shares(counts, shares, DEGREE, 2e6);
    assert_shares(pairs, pair_shares, DEGREE * DEGREE, 1e6);
    sample_space_fini(&space);
    close_world(&w);
}

/* The probability of each set of k: the sum over all orders of successive draws. */
static void enumerate(const double *weights, uint32_t degree, uint32_t k, uint32_t set, double p,
                      double *sets)
{
    double left = 0;
    if (k == 0) {
        sets[set] += p;
        return;
    }
    for (uint32_t i = 0; i < degree; i++)
        left += set >> i & 1 ? 0 : weights[i];
    for (uint32_t i = 0; i < degree; i++)
        if (!(set >> i & 1) && weights[i] > 0)
            enumerate(weights, degree, k - 1, set | 1u << i, p * weights[i] / left, sets);
}

/* By keys alone; by attempts; by attempts that a heavy edge, or two, mostly ends. */
static const struct {
    uint32_t degree, k;
    double weights[12];
    uint64_t trials;
} CASES[] = {
    { 5, 2, { 1, 2, 3, 4, 5 }, 1000000 },
    { 6, 3, { 10, 1, 0, 1, 2, 0.5 }, 1000000 },
    { 9, 3, { 1, 2, 3, 4, 5, 6, 7, 8, 9 }, 1000000 },
    { 10, 2, { 1, 0, 1, 30, 1, 2, 0, 1, 1, 1 }, 1000000 },
    { 8, 2, { 2000, 1, 2, 1, 1, 3, 1, 1 }, 1000000 },
    { 12, 4, { 5000, 1, 2, 1, 7000, 3, 1, 1, 1, 0, 2, 1 }, 1000000 },
};
#define NUM_CASES (sizeof CASES / sizeof *CASES)

static void successive_draws_are_those_of_the_definition(void **state)
{
    (void)state;
    static struct world w;
    static uint64_t counts[SETS_MAX], cells[SETS_MAX];
    static double sets[SETS_MAX], shares[SETS_MAX];
    struct sample_space space = { 0 };
    for (size_t c = 0; c < NUM_CASES; c++) {
        uint32_t degree = CASES[c].degree, k = CASES[c].k, columns[12], num = 0;
        const struct sample_term term = term_of((int32_t)k, false, false);
        double rest = 0;
        uint64_t in_rest = 0;
        memset(sets, 0, sizeof sets);
        memset(counts, 0, sizeof counts);
        enumerate(CASES[c].weights, degree, k, 0, 1, sets);
        open_world(&w, CASES[c].weights, degree);
        assert_int_equal(make(&w, &term, NULL), 0);
        for (uint64_t t = 0; t < CASES[c].trials; t++) {
            uint32_t set = 0;
            assert_int_equal(draw_trial(&w, &space, &term, t, columns, NULL), k);
            for (uint32_t i = 0; i < k; i++) {
                assert_true(i == 0 || columns[i] > columns[i - 1]);
                set |= 1u << columns[i];
            }
            counts[set]++;
        }
        /* Sets that hardly come are one cell. */
        for (uint32_t i = 0; i < SETS_MAX; i++) {
            bool rare = sets[i] * (double)CASES[c].trials < 10;
            assert_true(sets[i] > 0 || counts[i] == 0);
            rest += rare ? sets[i] : 0;
            in_rest += rare ? counts[i] : 0;
            shares[num] = sets[i];
            cells[num] = counts[i];
            num += !rare;
        }
        if (rest * (double)CASES[c].trials >= 5) {
            shares[num] = rest;
            cells[num++] = in_rest;
        } else {
            shares[num - 1] += rest;
            cells[num - 1] += in_rest;
        }
        assert_shares(cells, shares, num, (double)CASES[c].trials);
        close_world(&w);
    }
    sample_space_fini(&space);
}

/* The mean of estimates of a sum over the row is that sum, within 3.3 standard errors. */
static void check_estimate(const double *weights, uint32_t degree, int32_t k, bool replace,
                           uint64_t trials)
{
    static struct world w;
    static uint32_t columns[EDGES_MAX];
    static float given[EDGES_MAX];
    struct sample_space space = { 0 };
    const struct sample_term term = term_of(k, replace, false);
    double truth = 0, sum = 0, squares = 0;
    open_world(&w, weights, degree);
    assert_int_equal(make(&w, &term, NULL), 0);
    for (uint32_t i = 0; i < degree; i++)
        truth += weights[i] > 0 ? i % 7 + 1 : 0;
    for (uint64_t t = 0; t < trials; t++) {
        double estimate = 0;
        uint32_t count = draw_trial(&w, &space, &term, t, columns, given);
        for (uint32_t i = 0; i < count; i++)
            estimate += (double)given[i] * (columns[i] % 7 + 1);
        sum += estimate;
        squares += estimate * estimate;
    }
    double mean = sum / (double)trials;
    /* Where values are as the weights, every estimate is the sum, but for rounding. */
    double variance = squares / (double)trials - mean * mean;
    double spread = variance > 0 ? sqrt(variance / (double)trials) : 0;
    if (fabs(mean - truth) > 3.3 * spread + truth * 1e-6)
        print_message("mean %g, sum %g, error %g\n", mean, truth, spread);
    assert_true(fabs(mean - truth) <= 3.3 * spread + truth * 1e-6);
    sample_space_fini(&space);
    close_world(&w);
}

static void edge_weights_make_estimates_without_bias(void **state)
{
    (void)state;
    static double many[EDGES_MAX];
    for (size_t c = 0; c < NUM_CASES; c++) {
        check_estimate(CASES[c].weights, CASES[c].degree, (int32_t)CASES[c].k, false, 300000);
        check_estimate(CASES[c].weights, CASES[c].degree, (int32_t)CASES[c].k, true, 300000);
        /* All of them come. */
        check_estimate(CASES[c].weights, CASES[c].degree, 12, false, 2);
        check_estimate(CASES[c].weights, CASES[c].degree, SAMPLE_EVERY, false, 2);
    }
    for (uint32_t i = 0; i < EDGES_MAX; i++)
        many[i] = key_draw(9, i) % 9 == 0 ? 0 : (double)(key_draw(10, i) % 50 + 1);
    check_estimate(many, EDGES_MAX, 10, false, 40000);
    check_estimate(many, EDGES_MAX, 10, true, 40000);
    check_estimate(many, EDGES_MAX, 100, false, 2000); /* too many to compare */
}

/* Behind an edge beside which all others vanish from the total, these get weights of what is left. */
static void a_heavy_edge_spoils_no_weights(void **state)
{
    (void)state;
    static struct world w;
    double weights[40], others = 0;
    uint32_t columns[4];
    float given[4];
    struct sample_space space = { 0 };
    const struct sample_term term = term_of(4, false, false);
    for (uint32_t i = 0; i < 40; i++) {
        weights[i] = i == 17 ? 1e19 : i % 5 + 1;
        others += i == 17 ? 0 : weights[i];
    }
    open_world(&w, weights, 40);
    assert_int_equal(make(&w, &term, NULL), 0);
    for (uint64_t t = 0; t < 1000; t++) {
        bool heavy = false;
        assert_int_equal(draw_trial(&w, &space, &term, t, columns, given), 4);
        for (int i = 0; i < 4; i++) {
            double weight = weights[columns[i]];
            heavy |= columns[i] == 17;
            assert_true(columns[i] != 17 || given[i] == 1);
            assert_true(columns[i] == 17 || (given[i] >= 0.25 && given[i] <= others / weight));
        }
        assert_true(heavy);
    }
    sample_space_fini(&space);
    close_world(&w);
}

/* Where a heavy edge is excluded, the others are drawn as their own weights say, though all of them
 * together are less than a coin of the whole row. */
static void an_excluded_heavy_edge_spoils_no_shares(void **state)
{
    (void)state;
    static struct world w;
    static const double weights[] = { 1, 2, 1e15, 0, 3, 4 };
    static const double shares[] = { 0.1, 0.2, 0, 0, 0.3, 0.4 };
    static const uint64_t heavy = 702;
    static const uint32_t row = 0;
    for (int replace = 0; replace < 2; replace++) {
        uint64_t counts[6] = { 0 };
        struct sample_space space = { 0 };
        const struct sample_term term = term_of(replace ? 4 : 1, replace, false);
        open_world(&w, weights, 6);
        assert_int_equal(make(&w, &term, NULL), 0);
        for (uint64_t t = 0; t < 250000; t++) {
            const struct draw_key key = { .seed = t };
            uint32_t columns[4], count;
            float given[4];
            struct sample_result result = { .counts = &count,
                                            .columns = columns,
                                            .edge_weights = given };
            const struct local_sample what = { .part = &w.part,
                                               .draw = &key,
                                               .kind = SAMPLE_WEIGHTED,
                                               .term = term,
                                               .rows = &row,
                                               .num_rows = 1,
                                               .excluded = &heavy,
                                               .num_excluded = 1 };
            struct sample_request request;
            assert_int_equal(local_sample_prepare(&what, &request, NULL), 0);
            assert_int_equal(local_sample_draw(&space, &request, &result), 0);
            assert_int_equal(count, term.fanout);
            for (uint32_t i = 0; i < count; i++) {
                double wanted = 10 / (count * weights[columns[i]]);
                assert_true(fabs(given[i] - wanted) <= wanted * 1e-6);
                counts[columns[i]]++;
            }
        }
        assert_shares(counts, shares, 6, 250000.0 * term.fanout);
        sample_space_fini(&space);
        close_world(&w);
    }
}

/* The largest weights that a row may have are multiplied by nothing. */
static void weights_near_the_largest_double_give_numbers(void **state)
{
    (void)state;
    static struct world w;
    static const double weights[] = { 1e308, 1e307, 2e307, 1, 1e307, 1e307 };
    struct sample_space space = { 0 };
    open_world(&w, weights, 6);
    for (int32_t k = 1; k < 6; k++)
        for (int replace = 0; replace < 2; replace++) {
            const struct sample_term term = term_of(k, replace, false);
            assert_int_equal(make(&w, &term, NULL), 0);
            for (uint64_t t = 0; t < 1000; t++) {
                uint32_t columns[6];
                float given[6];
                uint32_t count = draw_trial(&w, &space, &term, t, columns, given);
                for (uint32_t i = 0; i < count; i++)
                    assert_true(given[i] > 0 && (columns[i] == 3 || given[i] < 20));
            }
        }
    sample_space_fini(&space);
    close_world(&w);
}

/* Weights draw the same edges, with the same weights in the block, as the weights times any power of
 * two: where k of them are more than a double holds, and where their inverses are. */
static void the_scale_of_weights_changes_nothing(void **state)
{
    (void)state;
    static const double scales[] = { 0x1p1018, 0x1p-1030, 0x1p-1074 };
    static struct world w, scaled;
    struct sample_space space = { 0 };
    for (size_t s = 0; s < sizeof scales / sizeof *scales; s++)
        for (int32_t k = 2; k < 12; k += 3) {
            const struct sample_term term = term_of(k, false, false);
            double weights[12], times[12];
            uint32_t columns[2][12];
            float given[2][12];
            for (uint32_t i = 0; i < 12; i++) {
                weights[i] = i == 3 ? 32 : i % 3;
                weights[i] = i == 7 ? 4 : weights[i];
                times[i] = weights[i] * scales[s];
            }
            open_world(&w, weights, 12);
            open_world(&scaled, times, 12);
            assert_int_equal(make(&w, &term, NULL), 0);
            assert_int_equal(make(&scaled, &term, NULL), 0);
            for (uint64_t t = 0; t < 200; t++) {
                uint32_t count = draw_trial(&w, &space, &term, t, columns[0], given[0]);
                assert_int_equal(draw_trial(&scaled, &space, &term, t, columns[1], given[1]),
                                 count);
                assert_memory_equal(columns[0], columns[1], count * sizeof(uint32_t));
                for (uint32_t i = 0; i < count; i++)
                    assert_true(given[0][i] > 0 && given[0][i] == given[1][i]);
            }
            close_world(&w);
            close_world(&scaled);
        }
    sample_space_fini(&space);
}

/* Nor does a heavy edge beside weights whose inverses are more than a double holds: the others are
 * drawn as they are beside any. */
static void the_lightest_edges_are_drawn_by_their_weights(void **state)
{
    (void)state;
    static struct world w, scaled;
    struct sample_space space = { 0 };
    const struct sample_term term = term_of(5, false, false);
    double weights[20], times[20];
    uint32_t columns[2][5];
    for (uint32_t i = 0; i < 20; i++) {
        weights[i] = i == 3 ? 0x1p900 : i + 1;
        times[i] = i == 3 ? 1 : weights[i] * 0x1p-1074;
    }
    open_world(&w, weights, 20);
    open_world(&scaled, times, 20);
    assert_int_equal(make(&w, &term, NULL), 0);
    assert_int_equal(make(&scaled, &term, NULL), 0);
    for (uint64_t t = 0; t < 1000; t++) {
        assert_int_equal(draw_trial(&w, &space, &term, t, columns[0], NULL), 5);
        assert_int_equal(draw_trial(&scaled, &space, &term, t, columns[1], NULL), 5);
        assert_memory_equal(columns[0], columns[1], sizeof columns[0]);
    }
    sample_space_fini(&space);
    close_world(&w);
    close_world(&scaled);
}

/* Without replacement as many come as have a positive weight and are allowed, at most k. */
static void draws_are_full_where_they_can_be(void **state)
{
    (void)state;
    static struct world w;
    static double weights[EDGES_MAX];
    static uint32_t columns[EDGES_MAX];
    static float given[EDGES_MAX];
    struct sample_space space = { 0 };
    static const uint32_t degrees[] = { 1, 2, 9, 100, 4000 };
    for (size_t d = 0; d < sizeof degrees / sizeof *degrees; d++)
        for (uint64_t one_of = 1; one_of < 10000; one_of *= 9) {
            uint32_t degree = degrees[d], positive = 0, allowed = 0;
            for (uint32_t i = 0; i < degree; i++) {
                weights[i] = key_draw(one_of, i) % one_of == 0 ? (double)(i % 3 + 1) : 0;
                positive += weights[i] > 0;
            }
            open_world(&w, weights, degree);
            for (uint32_t i = 0; i < degree; i++) {
                w.mask[i] = i % 2 == 0;
                allowed += w.mask[i] && weights[i] > 0;
            }
            for (int masked = 0; masked < 2; masked++) {
                uint32_t n = masked ? allowed : positive;
                static const int32_t fanouts[] = { 0, 1, 2, 7, 64, 65, 2000, 3000, SAMPLE_EVERY };
                for (size_t f = 0; f < sizeof fanouts / sizeof *fanouts; f++)
                    for (int replace = 0; replace < 2; replace++) {
                        const struct sample_term term = term_of(fanouts[f], replace, masked);
                        assert_int_equal(make(&w, &term, NULL), 0);
                        uint32_t k = (uint32_t)fanouts[f];
                        bool all = fanouts[f] < 0 || (!replace && n <= k);
                        uint32_t wanted = all ? n : n == 0 ? 0 : k;
                        uint32_t count = draw_trial(&w, &space, &term, d, columns, given);
                        assert_int_equal(count, wanted);
                        for (uint32_t i = 0; i < count; i++) {
                            assert_true(weights[columns[i]] > 0 && (!masked || w.mask[columns[i]]));
                            assert_true(given[i] > 0 && (!all || given[i] == 1));
                            assert_true(replace || i == 0 || columns[i] > columns[i - 1]);
                        }
                    }
            }
            close_world(&w);
        }
    sample_space_fini(&space);
}

/* Draws whose keys differ in one thing are independent: each pair of first draws is as likely as the
 * product says. */
static void draws_of_other_keys_are_independent(void **state)
{
    (void)state;
    static const double weights[] = { 1, 2, 3, 4 };
    static struct world w;
    struct sample_space space = { 0 };
    const struct sample_term term = term_of(1, false, false);
    double shares[16];
    open_world(&w, weights, 4);
    assert_int_equal(make(&w, &term, NULL), 0);
    for (uint32_t i = 0; i < 16; i++)
        shares[i] = weights[i / 4] * weights[i % 4] / 100;
    for (int field = 0; field < 4; field++) {
        uint64_t pairs[16] = { 0 };
        for (uint64_t t = 0; t < 250000; t++) {
            struct draw_key key = { .seed = t };
            uint32_t a, b;
            assert_int_equal(draw(&w, &space, &term, &key, &a, NULL), 1);
            key.hop = field == 0;
            key.batch = field == 1;
            key.epoch = field == 2;
            key.rank = field == 3;
            assert_int_equal(draw(&w, &space, &term, &key, &b, NULL), 1);
            pairs[a * 4 + b]++;
        }
        assert_shares(pairs, shares, 16, 250000);
    }
    sample_space_fini(&space);
    close_world(&w);
}

static void bad_weights_are_refused_by_name(void **state)
{
    (void)state;
    static struct world w;
    static const double bad[] = { -1, (double)INFINITY, (double)NAN };
    static const char *const values[] = { "-1", "inf", "nan" };
    static const uint64_t original[] = { 90, 91, 82, 93 };
    const struct sample_term term = term_of(1, false, false);
    for (int i = 0; i < 3; i++)
        for (int again = 0; again < 2; again++) {
            double weights[] = { 1, 2, bad[i], bad[i] };
            char text[200];
            struct error error = { 0 };
            open_world(&w, weights, 4);
            w.edges.original_edge_ids = again == 0 ? NULL : original;
            snprintf(text, sizeof text,
                     "edges of type %s: partition 0: weight \"w\" of edge 702%s is %s; weights are "
                     "finite numbers, 0 or more",
                     w.types.etypes[0].name, again == 0 ? "" : ", with the original ID 82,",
                     values[i]);
            assert_int_equal(make(&w, &term, &error), TR_EINVAL);
            /* glibc may say "-nan". */
            assert_true(i == 2 || strcmp(error.text, text) == 0);
            assert_non_null(strstr(error.text, "edge 702"));
            error.text[0] = 0;
            assert_int_equal(make(&w, &term, &error), TR_EINVAL);
            assert_non_null(strstr(error.text, "edge 702"));
            close_world(&w);
        }
    double huge[] = { 1e308, 1e308 };
    struct error error = { 0 };
    open_world(&w, huge, 2);
    assert_int_equal(make(&w, &term, &error), TR_EINVAL);
    assert_non_null(strstr(error.text, "edges 700 to 701, of one node, add up to more"));
    w.tables[0].dtype = TR_F16;
    assert_int_equal(make(&w, &term, &error), TR_EINVAL);
    assert_string_equal(error.text,
                        "partition 0: weights \"w\" have 1 of float16 for an edge; weights "
                        "have one float32, float64 or integer");
    close_world(&w);
}

/* Rows are refused, never read without tables. */
static void draws_wait_for_their_tables(void **state)
{
    (void)state;
    static struct world w;
    static const uint32_t row = 0;
    const double weights[] = { 1, 2 };
    const struct draw_key key = { .seed = 1 };
    struct sample_request request;
    struct error error = { 0 };
    open_world(&w, weights, 2);
    const struct local_sample what = { .part = &w.part,
                                       .draw = &key,
                                       .kind = SAMPLE_WEIGHTED,
                                       .term = term_of(1, false, false),
                                       .rows = &row,
                                       .num_rows = 1 };
    assert_int_equal(local_sample_prepare(&what, &request, &error), TR_EUNSUPPORTED);
    assert_string_equal(error.text, "partition 0: what the weighted sampler draws by was not made");
    assert_int_equal(local_sample_make(&what, &error), 0);
    assert_int_equal(local_sample_prepare(&what, &request, &error), 0);
    close_world(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_weights_are_refused_by_name),
        cmocka_unit_test(draws_wait_for_their_tables),
        cmocka_unit_test(logarithms_are_exact_and_the_same_everywhere),
        cmocka_unit_test(coins_have_the_shares_of_weights),
        cmocka_unit_test(draws_are_full_where_they_can_be),
        cmocka_unit_test(replaced_draws_follow_the_weights),
        cmocka_unit_test(successive_draws_are_those_of_the_definition),
        cmocka_unit_test(edge_weights_make_estimates_without_bias),
        cmocka_unit_test(a_heavy_edge_spoils_no_weights),
        cmocka_unit_test(an_excluded_heavy_edge_spoils_no_shares),
        cmocka_unit_test(weights_near_the_largest_double_give_numbers),
        cmocka_unit_test(the_scale_of_weights_changes_nothing),
        cmocka_unit_test(the_lightest_edges_are_drawn_by_their_weights),
        cmocka_unit_test(draws_of_other_keys_are_independent),
    };
    return cmocka_run_group_tests_name("weighted", tests, NULL, NULL);
}
