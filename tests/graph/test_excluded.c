/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Draws that leave edges out: by every sampler, as full as the other edges allow and distributed as
 * draws of a row that has those alone; where the sampler's numbers do not depend on tables of whole
 * rows, with the bits of these.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "graph/excluded.h"
#include "graph/key.h"
#include "graph/on_demand.h"
#include "tests/graph/edge_draws.h"
#include "tests/graph/statistics.h"

#define ROWS 40u
#define SOURCES 5000u
#define EDGES_MAX 40000u
#define FIRST_EDGE UINT64_C(700)

/* A partition of some rows, with a weight and a mask of each edge. */
struct world {
    struct graph_types types;
    uint64_t original_ids[ROWS], index[ROWS + 1], num_nodes[2];
    uint32_t columns[EDGES_MAX], rows[ROWS];
    float weights[EDGES_MAX];
    uint8_t mask[EDGES_MAX];
    struct feature_table tables[EDGE_TABLES];
    struct node_part nodes[2];
    struct edge_part edges;
    struct graph_part part;
};

static void finish_world(struct world *w)
{
    uint64_t edges = w->index[ROWS];
    assert_int_equal(graph_types_add_ntype(&w->types, "s", NULL), 0);
    assert_int_equal(graph_types_add_ntype(&w->types, "d", NULL), 0);
    assert_int_equal(graph_types_add_etype(&w->types, "s:e:d", NULL), 0);
    w->num_nodes[0] = SOURCES;
    w->num_nodes[1] = ROWS;
    w->tables[EDGE_WEIGHTS] = edge_feature("w", TR_F32, edges, w->weights);
    w->tables[EDGE_MASK] = edge_feature("keep", TR_U8, edges, w->mask);
    for (uint32_t r = 0; r < ROWS; r++) {
        w->rows[r] = (r * 7) % ROWS;
        w->original_ids[r] = r * 5;
    }
    w->nodes[1] = (struct node_part){ .num_nodes = ROWS, .original_ids = w->original_ids };
    w->edges = (struct edge_part){ .csc = { .num_rows = ROWS,
                                            .num_edges = edges,
                                            .index = w->index,
                                            .indices = w->columns,
                                            .first_edge = FIRST_EDGE },
                                   .num_features = EDGE_TABLES,
                                   .features = w->tables };
    w->part = (struct graph_part){ .types = &w->types, .nodes = w->nodes, .edges = &w->edges };
    const struct original_ids_of ids = { w, read_same_ids, w->num_nodes };
    w->part.on_demand = on_demand_create(&w->part, &ids);
    assert_non_null(w->part.on_demand);
}

static void close_world(struct world *w)
{
    on_demand_destroy(w->part.on_demand);
    graph_types_fini(&w->types);
    memset(w, 0, sizeof *w);
}

static void put_edge(struct world *w, uint64_t *edges, uint32_t column, float weight, uint8_t mask)
{
    assert_true(*edges < EDGES_MAX);
    w->columns[*edges] = column;
    w->weights[*edges] = weight;
    w->mask[(*edges)++] = mask;
}

/* Rows without edges, short and long ones, parallel edges among them. */
static void make_whole(struct world *w, uint64_t seed)
{
    uint64_t draw = 0, edges = 0;
    for (uint32_t r = 0; r < ROWS; r++) {
        uint32_t degree = r % 9 == 0   ? 0
                          : r % 9 == 1 ? 3000
                                       : (uint32_t)key_below(seed, &draw, 12 * (r % 9));
        w->index[r] = edges;
        for (uint32_t i = 0; i < degree; i++) {
            uint32_t column = i % 11 == 10 ? w->columns[edges - 5]
                                           : (uint32_t)key_below(seed, &draw, SOURCES);
            float weight = key_below(seed, &draw, 5) == 0 ? 0
                                                          : (float)(1 + key_below(seed, &draw, 30));
            put_edge(w, &edges, column, weight, key_below(seed, &draw, 3) != 0);
        }
    }
    w->index[ROWS] = edges;
    finish_world(w);
}

/* Which edges are left out: of some rows all, of others none, one, or one of three. */
static bool leaves_out(uint64_t seed, const struct world *w, uint32_t row, uint64_t edge)
{
    uint64_t among = key_mix(seed ^ edge * 77) % 3, at = edge - w->index[row];
    return row % 5 == 0 || (row % 5 == 1 && at == 2) || (row % 5 == 2 && among == 0) ||
           (row % 5 == 3 && among != 0);
}

/* The same without those edges; lists their IDs, those of other partitions around them. */
static uint64_t leave_out(const struct world *whole, uint64_t seed, struct world *left,
                          uint64_t *excluded)
{
    uint64_t count = 0, edges = 0;
    excluded[count++] = 3;
    excluded[count++] = FIRST_EDGE - 1;
    for (uint32_t r = 0; r < ROWS; r++) {
        left->index[r] = edges;
        for (uint64_t e = whole->index[r]; e < whole->index[r + 1]; e++)
            if (leaves_out(seed, whole, r, e))
                excluded[count++] = FIRST_EDGE + e;
            else
                put_edge(left, &edges, whole->columns[e], whole->weights[e], whole->mask[e]);
    }
    left->index[ROWS] = edges;
    excluded[count++] = FIRST_EDGE + whole->index[ROWS];
    finish_world(left);
    return count;
}

struct drawn {
    uint32_t counts[ROWS], columns[EDGES_MAX];
    uint64_t edge_ids[EDGES_MAX], num_edges;
    float weights[EDGES_MAX];
};

static void draw(const struct world *w, uint32_t kind, const struct sample_term *term,
                 const struct draw_key *key, uint32_t num_rows, const uint64_t *excluded,
                 uint64_t num_excluded, struct sample_space *space, struct drawn *drawn)
{
    const struct local_sample what = { .part = &w->part,
                                       .draw = key,
                                       .kind = kind,
                                       .term = *term,
                                       .rows = w->rows,
                                       .num_rows = num_rows,
                                       .excluded = excluded,
                                       .num_excluded = num_excluded };
    struct sample_result result = { .counts = drawn->counts,
                                    .columns = drawn->columns,
                                    .edge_ids = drawn->edge_ids };
    draw_edges_of(&what, space, &result, drawn->weights);
    drawn->num_edges = result.num_edges;
}

/* Whether rows draw as those of a graph without the edges do, to the bit. */
static bool draws_the_same(const struct draw_way *way)
{
    bool labor = way->kind == SAMPLE_LABOR || way->kind == SAMPLE_LABOR_POISSON;
    return labor || (way->kind == SAMPLE_UNIFORM && way->mask == SAMPLE_NO_TABLE);
}

/* Edges of a row that may be drawn. */
static uint32_t count_allowed(const struct draw_way *way, const struct world *w, uint32_t row)
{
    uint32_t allowed = 0;
    for (uint64_t e = w->index[row]; e < w->index[row + 1]; e++)
        allowed += (way->weights == SAMPLE_NO_TABLE || w->weights[e] > 0) &&
                   (way->mask == SAMPLE_NO_TABLE || w->mask[e] != 0);
    return allowed;
}

static void check_row(const struct draw_way *way, const struct world *whole,
                      const struct world *left, uint64_t seed, int32_t fanout, uint32_t i,
                      const struct drawn *drawn, uint64_t at)
{
    uint32_t row = whole->rows[i], most = count_allowed(way, left, row);
    bool all = fanout == SAMPLE_EVERY || (!way->replace && most <= (uint32_t)fanout);
    if (way->kind != SAMPLE_LABOR_POISSON || all)
        assert_int_equal(drawn->counts[i], all ? most : most == 0 ? 0 : (uint32_t)fanout);
    for (uint32_t e = 0; e < drawn->counts[i]; e++) {
        uint64_t edge = drawn->edge_ids[at + e] - FIRST_EDGE;
        assert_true(edge >= whole->index[row] && edge < whole->index[row + 1]);
        assert_false(leaves_out(seed, whole, row, edge));
        assert_int_equal(drawn->columns[at + e], whole->columns[edge]);
        assert_true(way->mask == SAMPLE_NO_TABLE || whole->mask[edge] != 0);
        assert_true(way->weights == SAMPLE_NO_TABLE || whole->weights[edge] > 0);
        if (!way->replace && e > 0)
            assert_true(drawn->edge_ids[at + e] > drawn->edge_ids[at + e - 1]);
    }
}

static void draws_are_full_and_rows_draw_as_if_the_edges_were_not_there(void **state)
{
    static struct world whole, left;
    static struct drawn drawn, expected, plain;
    static uint64_t excluded[EDGES_MAX];
    static const int32_t fanouts[] = { 0, 1, 4, 20, 800, SAMPLE_EVERY };
    struct sample_space space = { 0 };
    (void)state;
    for (uint64_t seed = 1; seed < 4; seed++) {
        make_whole(&whole, seed);
        uint64_t count = leave_out(&whole, seed, &left, excluded);
        for (size_t w = 0; w < NUM_DRAW_WAYS; w++)
            for (size_t f = 0; f < sizeof fanouts / sizeof *fanouts; f++) {
                const struct draw_way *way = &DRAW_WAYS[w];
                const struct draw_key key = { .seed = seed, .hop = (uint32_t)f, .batch = w };
                const struct sample_term term = draw_term(way, fanouts[f]);
                uint64_t at = 0, plainly = 0;
                draw(&whole, way->kind, &term, &key, ROWS, excluded, count, &space, &drawn);
                draw(&whole, way->kind, &term, &key, ROWS, NULL, 0, &space, &plain);
                for (uint32_t i = 0; i < ROWS; i++) {
                    check_row(way, &whole, &left, seed, fanouts[f], i, &drawn, at);
                    /* Who else is listed changes nothing. */
                    if (whole.rows[i] % 5 == 4) {
                        assert_int_equal(drawn.counts[i], plain.counts[i]);
                        assert_memory_equal(drawn.edge_ids + at, plain.edge_ids + plainly,
                                            drawn.counts[i] * sizeof *drawn.edge_ids);
                    }
                    at += drawn.counts[i];
                    plainly += plain.counts[i];
                }
                if (!draws_the_same(way))
                    continue;
                draw(&left, way->kind, &term, &key, ROWS, NULL, 0, &space, &expected);
                assert_memory_equal(drawn.counts, expected.counts, sizeof drawn.counts);
                assert_memory_equal(drawn.columns, expected.columns,
                                    drawn.num_edges * sizeof *drawn.columns);
            }
        close_world(&left);
        close_world(&whole);
    }
    sample_space_fini(&space);
}

/* A row of which edges 1, 4, 5 and 9 are left out, the heaviest and one of weight 0 among them. */
static const float FEW[] = { 3, 900, 1, 0, 0, 7, 2, 5, 0.5f, 40, 1 };
enum { DEGREE = sizeof FEW / sizeof *FEW, LEFT_OUT = 4 };
static const uint64_t OUT[LEFT_OUT] = { FIRST_EDGE + 1, FIRST_EDGE + 4, FIRST_EDGE + 5,
                                        FIRST_EDGE + 9 };

static bool is_out(uint32_t edge)
{
    return edge == 1 || edge == 4 || edge == 5 || edge == 9;
}

static void make_few(struct world *w, bool even)
{
    uint64_t edges = 0;
    for (uint32_t i = 0; i < DEGREE; i++)
        put_edge(w, &edges, i, even ? 1 : FEW[i], 1);
    for (uint32_t r = 1; r <= ROWS; r++)
        w->index[r] = edges;
    finish_world(w);
}

/* The share of each pair among two draws of the weights that are left. */
static void pair_shares(const struct world *w, bool replace, double *shares)
{
    double total = 0;
    for (uint32_t i = 0; i < DEGREE; i++)
        total += is_out(i) ? 0 : (double)w->weights[i];
    for (uint32_t a = 0; a < DEGREE; a++)
        for (uint32_t b = 0; b < DEGREE; b++) {
            double first = is_out(a) || is_out(b) ? 0 : (double)w->weights[a] / total;
            double left = replace ? total : total - (double)w->weights[a];
            double pair = !replace && a == b ? 0 : first * (double)w->weights[b] / left;
            shares[a * DEGREE + b] = pair;
        }
    /* Without replacement they come in the order of the row. */
    for (uint32_t a = 0; a < DEGREE && !replace; a++)
        for (uint32_t b = a + 1; b < DEGREE; b++) {
            shares[a * DEGREE + b] += shares[b * DEGREE + a];
            shares[b * DEGREE + a] = 0;
        }
}

/* Pairs of draws by weights, by masks and evenly, against their definition; and what edge weights
 * estimate. */
static void pairs_of_draws_have_the_shares_of_what_is_left(void **state)
{
    static struct world w;
    static struct drawn drawn;
    struct sample_space space = { 0 };
    (void)state;
    for (size_t i = 0; i < NUM_DRAW_WAYS; i++) {
        const struct draw_way *way = &DRAW_WAYS[i];
        const struct sample_term term = draw_term(way, 2);
        uint64_t counts[DEGREE * DEGREE] = { 0 }, n = 500000;
        double shares[DEGREE * DEGREE], sum = 0, squares = 0, truth = 0;
        if (way->kind == SAMPLE_LABOR_POISSON) /* draws no pairs; the bits above are tested */
            continue;
        make_few(&w, way->kind != SAMPLE_WEIGHTED);
        pair_shares(&w, way->replace, shares);
        for (uint32_t e = 0; e < DEGREE; e++)
            truth += is_out(e) || w.weights[e] == 0 ? 0 : e % 7 + 1;
        for (uint64_t t = 0; t < n; t++) {
            const struct draw_key key = { .seed = t };
            draw(&w, way->kind, &term, &key, 1, OUT, LEFT_OUT, &space, &drawn);
            assert_int_equal(drawn.counts[0], 2);
            counts[drawn.columns[0] * DEGREE + drawn.columns[1]]++;
            double estimate = 0;
            for (int d = 0; way->kind == SAMPLE_WEIGHTED && d < 2; d++)
                estimate += (double)drawn.weights[d] * (drawn.columns[d] % 7 + 1);
            sum += estimate;
            squares += estimate * estimate;
        }
        assert_shares(counts, shares, DEGREE * DEGREE, (double)n);
        double mean = sum / (double)n;
        double spread = sqrt((squares / (double)n - mean * mean) / (double)n);
        if (way->kind == SAMPLE_WEIGHTED)
            assert_true(fabs(mean - truth) <= 3.3 * spread + truth * 1e-6);
        close_world(&w);
    }
    sample_space_fini(&space);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(draws_are_full_and_rows_draw_as_if_the_edges_were_not_there),
        cmocka_unit_test(pairs_of_draws_have_the_shares_of_what_is_left),
    };
    return cmocka_run_group_tests_name("excluded", tests, NULL, NULL);
}
