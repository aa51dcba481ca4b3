/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Draws of every sampler whose keys differ in one thing: another seed, batch, epoch, rank, hop, edge
 * type, direction, occurrence of the node, or node. Each pair of two such draws is as likely as the
 * product of what the sampler's definition says of one, by chi-square; and so is one draw.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "graph/key.h"
#include "graph/on_demand.h"
#include "tests/graph/edge_draws.h"
#include "tests/graph/statistics.h"

#define ROWS 64u
#define DEGREE 6u
#define EDGES (ROWS * DEGREE)
#define FANOUT 2u
/* Of each thing in which keys differ: 38400 pairs of draws, of two edges each. */
#define TRIALS 600u
#define FIRST_EDGE UINT64_C(700)

/* By the place of an edge in its row. */
static const float WEIGHT[DEGREE] = { 2, 3, 0, 4, 5, 3 };
static const uint8_t KEEP[DEGREE] = { 1, 1, 1, 0, 1, 1 };
#define LEFT_OUT 1u

/* A partition of two edge types, whose rows have as many edges of sources that no other row has. */
struct world {
    struct graph_types types;
    uint64_t original_ids[ROWS], index[ROWS + 1], edge_ids[EDGES], excluded[ROWS], num_nodes;
    uint32_t columns[EDGES], rows[ROWS];
    float weights[EDGES];
    uint8_t mask[EDGES];
    struct feature_table tables[EDGE_TABLES];
    struct node_part nodes;
    struct edge_part edges[2];
    struct graph_part part;
};

static void open_world(struct world *w)
{
    *w = (struct world){ .num_nodes = EDGES };
    assert_int_equal(graph_types_add_ntype(&w->types, "n", NULL), 0);
    assert_int_equal(graph_types_add_etype(&w->types, "n:e:n", NULL), 0);
    assert_int_equal(graph_types_add_etype(&w->types, "n:f:n", NULL), 0);
    for (uint32_t r = 0; r < ROWS; r++) {
        w->original_ids[r] = r;
        w->rows[r] = r;
        w->index[r + 1] = (r + 1) * DEGREE;
        w->excluded[r] = FIRST_EDGE + r * DEGREE + LEFT_OUT;
    }
    for (uint32_t e = 0; e < EDGES; e++) {
        w->columns[e] = e;
        w->edge_ids[e] = FIRST_EDGE + e;
        w->weights[e] = WEIGHT[e % DEGREE];
        w->mask[e] = KEEP[e % DEGREE];
    }
    w->tables[EDGE_WEIGHTS] = edge_feature("w", TR_F32, EDGES, w->weights);
    w->tables[EDGE_MASK] = edge_feature("keep", TR_U8, EDGES, w->mask);
    w->nodes = (struct node_part){ .num_nodes = ROWS, .original_ids = w->original_ids };
    for (int t = 0; t < 2; t++)
        w->edges[t] = (struct edge_part){ .csc = { .num_rows = ROWS,
                                                   .num_edges = EDGES,
                                                   .index = w->index,
                                                   .indices = w->columns,
                                                   .first_edge = FIRST_EDGE },
                                          .out = { .num_rows = ROWS,
                                                   .num_edges = EDGES,
                                                   .index = w->index,
                                                   .destinations = w->columns,
                                                   .edge_ids = w->edge_ids,
                                                   .nodes_end = EDGES,
                                                   .edges_end = FIRST_EDGE + EDGES },
                                          .num_features = EDGE_TABLES,
                                          .features = w->tables };
    w->part = (struct graph_part){ .types = &w->types, .nodes = &w->nodes, .edges = w->edges };
    const struct original_ids_of ids = { w, read_same_ids, &w->num_nodes };
    w->part.on_demand = on_demand_create(&w->part, &ids);
    assert_non_null(w->part.on_demand);
}

static void close_world(struct world *w)
{
    on_demand_destroy(w->part.on_demand);
    graph_types_fini(&w->types);
}

/* Two draws in the order of the row, or as they came with replacement; of a Poisson draw, which of the
 * first two edges came that may. */
#define OUTCOMES (DEGREE * DEGREE)

/* The weight of each edge for the way; 0: it is never drawn. */
static uint32_t weigh(const struct draw_way *way, bool excludes, double *weights)
{
    uint32_t allowed = 0;
    for (uint32_t i = 0; i < DEGREE; i++) {
        bool out = (excludes && i == LEFT_OUT) || (way->mask == EDGE_MASK && KEEP[i] == 0);
        weights[i] = out ? 0 : way->weights == EDGE_WEIGHTS ? (double)WEIGHT[i] : 1;
        allowed += weights[i] > 0;
    }
    return allowed;
}

static void define_shares(const struct draw_way *way, bool excludes, double *shares)
{
    double weights[DEGREE], total = 0;
    uint32_t allowed = weigh(way, excludes, weights);
    memset(shares, 0, OUTCOMES * sizeof *shares);
    if (way->kind == SAMPLE_LABOR_POISSON) {
        double p = (double)FANOUT / allowed;
        for (uint32_t i = 0; i < 4; i++)
            shares[i] = (i & 1 ? p : 1 - p) * (i & 2 ? p : 1 - p);
        return;
    }
    for (uint32_t i = 0; i < DEGREE; i++)
        total += weights[i];
    for (uint32_t a = 0; a < DEGREE; a++)
        for (uint32_t b = 0; b < DEGREE; b++) {
            double left = way->replace ? total : total - weights[a];
            uint32_t first = !way->replace && b < a ? b : a, second = first == a ? b : a;
            if (way->replace || a != b)
                shares[first * DEGREE + second] += weights[a] / total * weights[b] / left;
        }
}

static uint32_t outcome_of(const struct draw_way *way, bool excludes, const uint32_t *columns,
                           uint32_t count)
{
    if (way->kind != SAMPLE_LABOR_POISSON) {
        assert_int_equal(count, FANOUT);
        return columns[0] % DEGREE * DEGREE + columns[1] % DEGREE;
    }
    double weights[DEGREE];
    uint32_t found = 0, outcome = 0;
    weigh(way, excludes, weights);
    for (uint32_t i = 0; found < 2; i++) {
        if (weights[i] == 0)
            continue;
        for (uint32_t e = 0; e < count; e++)
            outcome |= columns[e] % DEGREE == i ? 1u << found : 0;
        found++;
    }
    return outcome;
}

/* The one thing in which the second of two draws differs. */
enum thing {
    THING_SEED,
    THING_BATCH,
    THING_EPOCH,
    THING_RANK,
    THING_HOP,
    THING_OCCURRENCE,
    THING_NODE,
    THING_TYPE,
    THING_DIRECTION,
    THINGS
};

/* LABOR's numbers are of sources, whatever the edge type; it draws along no out-edges, as masks and
 * weights do not. */
static bool differs_by(const struct draw_way *way, enum thing thing)
{
    bool labor = way->kind == SAMPLE_LABOR || way->kind == SAMPLE_LABOR_POISSON;
    if (thing == THING_DIRECTION)
        return way->kind == SAMPLE_UNIFORM && way->mask == SAMPLE_NO_TABLE;
    return thing != THING_TYPE || !labor;
}

/* What each row draws, the first or the second time. */
static void draw(const struct world *w, const struct draw_way *way, bool excludes, enum thing thing,
                 uint32_t trial, bool second, struct sample_space *space, uint32_t *outcomes)
{
    const struct draw_key key = { .seed = trial + thing * TRIALS +
                                          (second && thing == THING_SEED ? UINT64_C(1) << 40 : 0),
                                  .batch = second && thing == THING_BATCH,
                                  .epoch = second && thing == THING_EPOCH,
                                  .rank = second && thing == THING_RANK,
                                  .hop = second && thing == THING_HOP };
    uint32_t columns[EDGES], counts[ROWS], salts[ROWS];
    struct local_sample what = { .part = &w->part,
                                 .draw = &key,
                                 .kind = way->kind,
                                 .etype = second && thing == THING_TYPE,
                                 .term = draw_term(way, FANOUT),
                                 .rows = w->rows,
                                 .num_rows = ROWS };
    what.term.direction = second && thing == THING_DIRECTION ? SAMPLE_OUT : SAMPLE_IN;
    for (uint32_t r = 0; r < ROWS; r++)
        salts[r] = second;
    if (thing == THING_OCCURRENCE) {
        what.with.salts = salts;
        what.row_fields = SAMPLE_ROW_SALT;
    }
    if (excludes) {
        what.excluded = w->excluded;
        what.num_excluded = ROWS;
    }
    float weights[EDGES];
    struct sample_result result = { .counts = counts, .columns = columns };
    draw_edges_of(&what, space, &result, weights);
    for (uint32_t r = 0, at = 0; r < ROWS; at += counts[r++])
        outcomes[r] = outcome_of(way, excludes, columns + at, counts[r]);
}

static void check_pairs(const struct world *w, const struct draw_way *way, bool excludes,
                        enum thing thing, const double *shares, uint64_t *singles)
{
    static uint64_t pairs[OUTCOMES * OUTCOMES];
    static double products[OUTCOMES * OUTCOMES];
    struct sample_space space = { 0 };
    uint32_t one[ROWS], other[ROWS];
    memset(pairs, 0, sizeof pairs);
    for (uint32_t t = 0; t < TRIALS; t++) {
        draw(w, way, excludes, thing, t, false, &space, one);
        if (thing == THING_NODE) {
            draw(w, way, excludes, thing, t + TRIALS * THINGS, false, &space, other);
            for (uint32_t r = 0; r < ROWS; r += 2) {
                pairs[one[r] * OUTCOMES + one[r + 1]]++;
                pairs[other[r] * OUTCOMES + other[r + 1]]++;
            }
        } else {
            draw(w, way, excludes, thing, t, true, &space, other);
            for (uint32_t r = 0; r < ROWS; r++)
                pairs[one[r] * OUTCOMES + other[r]]++;
        }
        for (uint32_t r = 0; r < ROWS; r++) {
            singles[one[r]]++;
            singles[other[r]]++;
        }
    }
    for (uint32_t i = 0; i < OUTCOMES * OUTCOMES; i++)
        products[i] = shares[i / OUTCOMES] * shares[i % OUTCOMES];
    assert_shares(pairs, products, OUTCOMES * OUTCOMES, TRIALS * ROWS);
    sample_space_fini(&space);
}

static void check_way(const struct world *w, const struct draw_way *way, bool excludes)
{
    uint64_t singles[OUTCOMES] = { 0 }, total = 0;
    double shares[OUTCOMES];
    define_shares(way, excludes, shares);
    for (enum thing thing = 0; thing < THINGS; thing++)
        if (differs_by(way, thing))
            check_pairs(w, way, excludes, thing, shares, singles);
    for (uint32_t i = 0; i < OUTCOMES; i++)
        total += singles[i];
    assert_true(FANOUT * total >= 1000000);
    assert_shares(singles, shares, OUTCOMES, (double)total);
}

static void draws_of_other_keys_are_independent(void **state)
{
    static struct world w;
    (void)state;
    open_world(&w);
    for (size_t i = 0; i < 2 * NUM_DRAW_WAYS; i++)
        check_way(&w, &DRAW_WAYS[i / 2], i % 2 == 1);
    close_world(&w);
}

/* A batch has fewer sources so. */
static void labor_draws_the_same_whatever_the_edge_type(void **state)
{
    static struct world w;
    struct sample_space space = { 0 };
    uint32_t one[ROWS], other[ROWS];
    (void)state;
    open_world(&w);
    for (size_t i = 0; i < NUM_DRAW_WAYS; i++)
        for (uint32_t t = 0; t < 20 && !differs_by(&DRAW_WAYS[i], THING_TYPE); t++) {
            draw(&w, &DRAW_WAYS[i], false, THING_TYPE, t, false, &space, one);
            draw(&w, &DRAW_WAYS[i], false, THING_TYPE, t, true, &space, other);
            assert_memory_equal(one, other, sizeof one);
        }
    sample_space_fini(&space);
    close_world(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(draws_of_other_keys_are_independent),
        cmocka_unit_test(labor_draws_the_same_whatever_the_edge_type),
    };
    return cmocka_run_group_tests_name("independence", tests, NULL, NULL);
}
