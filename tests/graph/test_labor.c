/* SPDX-License-Identifier: Apache-2.0 */
/* LABOR-0 and its Poisson form: against a plain reading of their definition, and in distribution. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "graph/key.h"
#include "graph/local_sample.h"
#include "graph/on_demand.h"
#include "graph/samplers.h"
#include "tests/graph/edge_draws.h"
#include "tests/graph/statistics.h"

#define ROWS 40u
#define SOURCES 3000u
#define EDGES_MAX 20000u

/* A partition whose rows have random sources, parallel edges among them, of which the global IDs are
 * any permutation of the original ones. */
struct world {
    struct graph_types types;
    uint64_t original_ids[ROWS], index[ROWS + 1], sources[SOURCES], num_nodes[2];
    uint32_t columns[EDGES_MAX], rows[ROWS];
    uint64_t column_global[SOURCES];
    uint8_t mask[EDGES_MAX];
    struct feature_table keep;
    struct node_part nodes[2];
    struct edge_part edges;
    struct graph_part part;
};

static int read_ids(void *arg, uint32_t ntype, uint64_t first, size_t count, uint64_t *ids,
                    struct error *error)
{
    const struct world *w = arg;
    if (w->mask[0] == 77)
        return error_set(error, TR_ENOENT, "partition 4 is not here");
    assert_int_equal(ntype, 0);
    memcpy(ids, w->sources + first, count * sizeof *ids);
    return 0;
}

static void open_world(struct world *w, uint64_t seed, bool moved, bool wide)
{
    uint64_t draw = 0, edges = 0;
    *w = (struct world){ .num_nodes = { SOURCES, ROWS } };
    assert_int_equal(graph_types_add_ntype(&w->types, "s", NULL), 0);
    assert_int_equal(graph_types_add_ntype(&w->types, "d", NULL), 0);
    assert_int_equal(graph_types_add_etype(&w->types, "s:e:d", NULL), 0);
    for (uint32_t i = 0; i < SOURCES; i++)
        w->sources[i] = moved ? (i * UINT64_C(1009) + 17) % SOURCES : i;
    for (uint32_t r = 0; r < ROWS; r++) {
        uint32_t degree = r % 9 == 0   ? 0
                          : r % 9 == 1 ? 1500
                                       : (uint32_t)key_below(seed, &draw, 60 * (r % 9));
        w->index[r] = edges;
        w->rows[r] = (r * 7) % ROWS;
        w->original_ids[r] = r * 5;
        for (uint32_t i = 0; i < degree; i++)
            w->columns[edges + i] = i % 11 == 10 ? w->columns[edges + i / 2]
                                                 : (uint32_t)key_below(seed, &draw, SOURCES);
        for (uint32_t i = 0; i < degree; i++)
            w->mask[edges + i] = key_below(seed, &draw, 3) == 0;
        edges += degree;
    }
    assert_true(edges < EDGES_MAX);
    w->index[ROWS] = edges;
    for (uint32_t i = 0; i < SOURCES; i++)
        w->column_global[i] = SOURCES - 1 - i;
    w->keep = edge_feature("keep", TR_BOOL, edges, w->mask);
    w->nodes[1] = (struct node_part){ .num_nodes = ROWS, .original_ids = w->original_ids };
    w->edges = (struct edge_part){ .csc = { .num_rows = ROWS,
                                            .num_edges = edges,
                                            .index = w->index,
                                            .indices = w->columns,
                                            .column_global = wide ? w->column_global : NULL },
                                   .num_features = 1,
                                   .features = &w->keep };
    w->part = (struct graph_part){ .types = &w->types, .nodes = w->nodes, .edges = &w->edges };
    const struct original_ids_of ids = { w, read_ids, w->num_nodes };
    w->part.on_demand = on_demand_create(&w->part, &ids);
    assert_non_null(w->part.on_demand);
}

static void close_world(struct world *w)
{
    on_demand_destroy(w->part.on_demand);
    graph_types_fini(&w->types);
}

static struct local_sample what_of(const struct world *w, uint32_t kind, int32_t fanout,
                                   bool masked, const struct draw_key *key)
{
    struct local_sample what = { .part = &w->part,
                                 .draw = key,
                                 .kind = kind,
                                 .term = SAMPLE_TERM(fanout, false),
                                 .rows = w->rows,
                                 .num_rows = ROWS };
    what.term.mask = masked ? 0 : SAMPLE_NO_TABLE;
    return what;
}

static int make(const struct local_sample *what, struct error *error)
{
    int rv;
    while ((rv = local_sample_make(what, error)) == 1)
        ;
    return rv;
}

static uint64_t source_of(const struct world *w, uint64_t edge)
{
    uint32_t column = w->columns[edge];
    return w->sources[w->edges.csc.column_global != NULL ? w->column_global[column] : column];
}

/* What a row draws, by the definition; returns the count. */
static uint32_t draw_plainly(const struct world *w, const struct local_sample *what, uint32_t row,
                             uint32_t salt, uint32_t *positions)
{
    struct draw_key key = *what->draw;
    key.purpose = KEY_SOURCES;
    key.type = 0;
    uint64_t base = key_occurrence(key_base(&key), salt), begin = w->index[row];
    uint32_t degree = (uint32_t)(w->index[row + 1] - begin), allowed = 0, count = 0;
    uint32_t k = (uint32_t)what->term.fanout;
    bool masked = what->term.mask == 0, poisson = what->kind == SAMPLE_LABOR_POISSON;
    for (uint32_t p = 0; p < degree; p++)
        allowed += !masked || w->mask[begin + p];
    for (uint32_t p = 0; p < degree; p++) {
        uint64_t number = key_node(base, source_of(w, begin + p));
        uint32_t before = 0;
        if (masked && !w->mask[begin + p])
            continue;
        for (uint32_t q = 0; q < degree; q++) {
            uint64_t other = key_node(base, source_of(w, begin + q));
            before += (!masked || w->mask[begin + q]) &&
                      (other < number || (other == number && q < p));
        }
        bool below = (unsigned __int128)number * allowed < (unsigned __int128)k << 64;
        if (allowed <= k || (poisson ? below : before < k))
            positions[count++] = p;
    }
    return count;
}

static void draws_are_those_of_the_definition(void **state)
{
    (void)state;
    static struct world w;
    static uint32_t columns[EDGES_MAX], positions[EDGES_MAX];
    static uint64_t wide_columns[EDGES_MAX], edge_ids[EDGES_MAX];
    static const int32_t fanouts[] = { 0, 1, 3, 10, 25, 100, 700, SAMPLE_EVERY };
    struct sample_space space = { 0 };
    uint32_t counts[ROWS], salts[ROWS];
    for (uint32_t i = 0; i < ROWS; i++)
        salts[i] = i % 4 == 3 ? i : 0;
    for (int way = 0; way < 16; way++) {
        bool wide = way & 1, masked = way & 4;
        uint32_t kind = way & 8 ? SAMPLE_LABOR_POISSON : SAMPLE_LABOR;
        open_world(&w, (uint64_t)way, (way & 2) != 0, wide);
        for (size_t f = 0; f < sizeof fanouts / sizeof *fanouts; f++) {
            const struct draw_key key = { .seed = f, .hop = 1, .batch = 5 };
            struct local_sample what = what_of(&w, kind, fanouts[f], masked, &key);
            struct sample_request request;
            struct sample_result result = { .counts = counts,
                                            .columns = columns,
                                            .wide_columns = wide_columns,
                                            .edge_ids = edge_ids };
            what.with.salts = f % 2 == 0 ? NULL : salts;
            what.row_fields = f % 2 == 0 ? 0 : SAMPLE_ROW_SALT;
            assert_int_equal(make(&what, NULL), 0);
            assert_int_equal(local_sample_prepare(&what, &request, NULL), 0);
            assert_int_equal(local_sample_draw(&space, &request, &result), 0);
            assert_true(result.num_edges <= local_sample_bound(&request));
            uint64_t at = 0;
            for (uint32_t i = 0; i < ROWS; i++) {
                uint32_t row = w.rows[i], salt = f % 2 == 0 ? 0 : salts[i];
                uint32_t count = draw_plainly(&w, &what, row, salt, positions);
                assert_int_equal(counts[i], count);
                for (uint32_t e = 0; e < count; e++, at++) {
                    uint64_t edge = w.index[row] + positions[e];
                    assert_int_equal(edge_ids[at], edge);
                    if (wide)
                        assert_int_equal(wide_columns[at], w.column_global[w.columns[edge]]);
                    else
                        assert_int_equal(columns[at], w.columns[edge]);
                }
            }
            assert_int_equal(at, result.num_edges);
        }
        close_world(&w);
    }
    sample_space_fini(&space);
}

/* One row of distinct sources: edges are drawn evenly, and pairs of them. */
static void a_row_alone_draws_evenly(void **state)
{
    (void)state;
    enum { DEGREE = 60, K = 5 };
    static struct world w;
    static const uint64_t trials = 250000;
    uint64_t counts[DEGREE] = { 0 }, pairs[DEGREE * DEGREE] = { 0 }, cells = 0, edges = 0;
    uint32_t columns[DEGREE], count;
    struct sample_space space = { 0 };
    for (int poisson = 0; poisson < 2; poisson++) {
        open_world(&w, 3, true, false);
        for (uint32_t r = 0; r <= ROWS; r++)
            w.index[r] = r == 0 ? 0 : DEGREE;
        w.edges.csc.num_edges = DEGREE;
        for (uint32_t i = 0; i < DEGREE; i++)
            w.columns[i] = i;
        memset(counts, 0, sizeof counts);
        memset(pairs, 0, sizeof pairs);
        edges = cells = 0;
        for (uint64_t t = 0; t < trials; t++) {
            const struct draw_key key = { .seed = t };
            struct local_sample what = what_of(&w, poisson ? SAMPLE_LABOR_POISSON : SAMPLE_LABOR, K,
                                               false, &key);
            struct sample_request request;
            struct sample_result result = { .counts = &count, .columns = columns };
            what.num_rows = 1;
            assert_int_equal(make(&what, NULL), 0);
            assert_int_equal(local_sample_prepare(&what, &request, NULL), 0);
            assert_int_equal(local_sample_draw(&space, &request, &result), 0);
            assert_true(poisson || count == K);
            for (uint32_t a = 0; a < count; a++) {
                counts[columns[a]]++;
                for (uint32_t b = a + 1; b < count; b++)
                    pairs[columns[a] * DEGREE + columns[b]]++;
            }
            edges += count;
        }
        for (uint32_t a = 0; a < DEGREE; a++)
            for (uint32_t b = a + 1; b < DEGREE; b++)
                pairs[cells++] = pairs[a * DEGREE + b];
        double p = (double)K / DEGREE, n = (double)trials;
        if (poisson) {
            /* Each edge by itself: the count is a binomial sum, and pairs come with p * p. */
            assert_true(fabs((double)edges - n * K) < 3.3 * sqrt(n * K * (1 - p)));
            double off = 0, pair_off = 0;
            for (uint32_t i = 0; i < DEGREE; i++)
                off += ((double)counts[i] - n * p) * ((double)counts[i] - n * p) /
                       (n * p * (1 - p));
            assert_true(off < chi_square_limit(DEGREE));
            for (uint64_t i = 0; i < cells; i++)
                pair_off += ((double)pairs[i] - n * p * p) * ((double)pairs[i] - n * p * p) /
                            (n * p * p * (1 - p * p));
            assert_true(pair_off <
                        pairs_limit(DEGREE, p * p, p * p * p, p * p * p * p, p * p * (1 - p * p)));
        } else {
            assert_uniform_scaled(counts, DEGREE, n * K, (double)(DEGREE - K) / (DEGREE - 1));
            double pair_off = 0, expected = n * K * (K - 1) / ((double)DEGREE * (DEGREE - 1));
            for (uint64_t i = 0; i < cells; i++)
                pair_off += ((double)pairs[i] - expected) * ((double)pairs[i] - expected) /
                            expected;
            /* Of so many things, K at once: the probabilities of two, three and four of them. */
            double two = p * (K - 1) / (DEGREE - 1), three = two * (K - 2) / (DEGREE - 2);
            double four = three * (K - 3) / (DEGREE - 3);
            assert_true(pair_off < pairs_limit(DEGREE, two, three, four, two));
        }
        close_world(&w);
    }
    sample_space_fini(&space);
}

/* Rows of one hop share numbers; hops, batches, epochs, ranks and occurrences have others. */
static void numbers_of_other_keys_are_independent(void **state)
{
    (void)state;
    enum { DEGREE = 4 };
    static struct world w;
    struct sample_space space = { 0 };
    uint32_t columns[2], counts[2];
    const uint32_t rows[2] = { 0, 1 };
    open_world(&w, 3, true, false);
    for (uint32_t r = 0; r <= ROWS; r++)
        w.index[r] = r < 3 ? r * DEGREE : 2 * DEGREE;
    w.edges.csc.num_edges = 2 * DEGREE;
    for (uint32_t i = 0; i < 2 * DEGREE; i++)
        w.columns[i] = i % DEGREE;
    for (int field = 0; field < 6; field++) {
        uint64_t pairs[DEGREE * DEGREE] = { 0 };
        for (uint64_t t = 0; t < 100000; t++) {
            uint32_t salts[2] = { 0, field == 4 }, first = 0;
            for (int second = 0; second < 2; second++) {
                struct draw_key key = { .seed = t };
                key.hop = second && field == 0;
                key.batch = second && field == 1;
                key.epoch = second && field == 2;
                key.rank = second && field == 3;
                struct local_sample what = what_of(&w, SAMPLE_LABOR, 1, false, &key);
                struct sample_request request;
                struct sample_result result = { .counts = counts, .columns = columns };
                what.rows = rows;
                what.num_rows = 2;
                what.with.salts = salts;
                what.row_fields = SAMPLE_ROW_SALT;
                assert_int_equal(make(&what, NULL), 0);
                assert_int_equal(local_sample_prepare(&what, &request, NULL), 0);
                assert_int_equal(local_sample_draw(&space, &request, &result), 0);
                assert_int_equal(result.num_edges, 2);
                if (field != 4) /* whatever the destination */
                    assert_int_equal(columns[0], columns[1]);
                if (second == 0)
                    first = columns[0];
            }
            if (field == 4) /* an occurrence */
                first = columns[1];
            pairs[first * DEGREE + columns[0]]++;
            if (field == 5) /* the same again */
                assert_int_equal(first, columns[0]);
        }
        if (field < 5)
            assert_uniform(pairs, DEGREE * DEGREE, 100000);
    }
    sample_space_fini(&space);
    close_world(&w);
}

static void original_ids_that_are_not_here_are_named(void **state)
{
    (void)state;
    static struct world w;
    const struct draw_key key = { .seed = 1 };
    struct error error = { 0 };
    open_world(&w, 3, true, false);
    w.mask[0] = 77;
    const struct local_sample what = what_of(&w, SAMPLE_LABOR, 2, false, &key);
    assert_int_equal(make(&what, &error), TR_ENOENT);
    assert_string_equal(error.text,
                        "a LABOR sampler needs the original IDs of all nodes: partition 4 "
                        "is not here");
    close_world(&w);
    struct sample_term term = SAMPLE_TERM(2, true);
    assert_int_equal(sample_method_check(SAMPLE_LABOR, 0, &term, "here", &error), TR_EUNSUPPORTED);
    assert_string_equal(error.text,
                        "here: the labor sampler has no draws with replacement; draw without, or "
                        "draw by the sampler of neighbors");
    term = SAMPLE_TERM(2, false);
    term.weights = 0;
    assert_int_equal(sample_method_check(SAMPLE_LABOR, 0, &term, "here", &error), TR_EUNSUPPORTED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(original_ids_that_are_not_here_are_named),
        cmocka_unit_test(draws_are_those_of_the_definition),
        cmocka_unit_test(a_row_alone_draws_evenly),
        cmocka_unit_test(numbers_of_other_keys_are_independent),
    };
    return cmocka_run_group_tests_name("labor", tests, NULL, NULL);
}
