/* SPDX-License-Identifier: Apache-2.0 */
/* Sampling: against its definition by chi-square, and against a plain reference. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "graph/key.h"
#include "graph/local_sample.h"
#include "graph/samplers.h"
#include "graph/subset.h"
#include "tests/graph/statistics.h"

#define SCRATCH_WORDS (1u << 19)

/* How often each position is drawn over many nodes: a million draws at least. */
static void check_inclusion(uint32_t degree, uint32_t k)
{
    const uint64_t trials = 1000000 / k + 1;
    uint32_t *scratch = malloc(SCRATCH_WORDS * sizeof *scratch);
    uint32_t *positions = malloc(k * sizeof *positions);
    uint64_t *counts = calloc(degree, sizeof *counts);
    assert_true(subset_scratch_words(k) <= SCRATCH_WORDS);
    for (uint64_t t = 0; t < trials; t++) {
        subset_draw(positions, k, degree, key_node(k, t), scratch);
        for (uint32_t i = 0; i < k; i++) {
            assert_true(positions[i] < degree && (i == 0 || positions[i] > positions[i - 1]));
            counts[positions[i]]++;
        }
    }
    assert_uniform_scaled(counts, degree, (double)trials * k,
                          (double)(degree - k) / (double)(degree - 1));
    free(counts);
    free(positions);
    free(scratch);
}

static void positions_are_drawn_equally(void **state)
{
    (void)state;
    static const struct {
        uint32_t degree, k;
    } cases[] = {
        { 2, 1 },          { 3, 2 },        { 10, 1 },     { 10, 9 },      { 16, 8 },
        { 17, 16 },        { 100, 15 },     { 64, 63 },    { 65, 64 },     { 66, 65 },
        { 200, 100 },      { 1000, 999 },   { 100000, 1 }, { 100000, 15 }, { 100000, 99999 },
        { 100000, 50000 }, { 70000, 1000 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_inclusion(cases[i].degree, cases[i].k);
}

/* All subsets of few positions, as bit masks. */
static void check_subsets(uint32_t degree, uint32_t k)
{
    const uint64_t trials = 1000000 / k + 1;
    uint64_t counts[1 << 10] = { 0 }, found[1 << 10], cells = 0, expected_cells = 1;
    for (uint64_t t = 0; t < trials; t++) {
        uint32_t positions[10], mask = 0;
        subset_draw(positions, k, degree, key_node(degree, t), NULL);
        for (uint32_t i = 0; i < k; i++)
            mask |= 1u << positions[i];
        counts[mask]++;
    }
    for (uint32_t i = 0; i < 1u << 10; i++) {
        if (counts[i] > 0)
            found[cells++] = counts[i];
    }
    for (uint32_t i = 1; i <= k; i++)
        expected_cells = expected_cells * (degree - k + i) / i;
    assert_int_equal(cells, expected_cells);
    assert_uniform(found, cells, (double)trials);
}

static void subsets_are_drawn_equally(void **state)
{
    (void)state;
    check_subsets(4, 2);
    check_subsets(6, 3);
    check_subsets(7, 6);
    check_subsets(10, 5);
    check_subsets(10, 8);
    check_subsets(10, 9);
}

/* With k = degree - 2 the two positions left out are a uniform pair: all pairs at any size. */
static void check_pairs(uint32_t degree, uint64_t trials)
{
    uint32_t k = degree - 2, positions[128], scratch[1024];
    uint64_t *counts = calloc((size_t)degree * degree, sizeof *counts), cells = 0;
    assert_true(subset_scratch_words(k) <= 1024);
    for (uint64_t t = 0; t < trials; t++) {
        uint32_t missing[2] = { 0 }, found = 0, p = 0;
        subset_draw(positions, k, degree, key_node(degree, t), scratch);
        for (uint32_t i = 0; i < degree; i++) {
            if (p < k && positions[p] == i)
                p++;
            else
                missing[found++ & 1] = i;
        }
        assert_int_equal(found, 2);
        counts[missing[0] * degree + missing[1]]++;
    }
    for (uint32_t a = 0; a < degree; a++) {
        for (uint32_t b = a + 1; b < degree; b++)
            counts[cells++] = counts[a * degree + b];
    }
    assert_uniform(counts, cells, (double)trials);
    free(counts);
}

static void pairs_are_drawn_equally(void **state)
{
    (void)state;
    check_pairs(10, 125000);
    check_pairs(18, 62500);
    check_pairs(34, 40000);
    check_pairs(66, 40000); /* the last done in vectors */
    check_pairs(70, 40000); /* with a set */
}

/* The subset by definition: Floyd's algorithm with no cleverness. */
static void plain_subset(uint32_t *positions, uint32_t k, uint32_t degree, uint64_t node_key)
{
    uint8_t *in = calloc(degree, 1);
    uint64_t draw = 0;
    for (uint32_t last = degree - k; last < degree; last++) {
        uint64_t drawn = key_below(node_key, &draw, last + UINT64_C(1));
        in[in[drawn] ? last : drawn] = 1;
    }
    for (uint32_t i = 0, n = 0; i < degree; i++) {
        if (in[i])
            positions[n++] = i;
    }
    free(in);
}

/* A small graph whose columns tell row and position apart. */
struct graph {
    struct csc csc;
    uint64_t index[302];
    uint32_t *indices;
    uint64_t original_ids[301];
    uint64_t column_global[1000];
    uint32_t rows[700];
};

static void make_graph(struct graph *graph)
{
    uint64_t edges = 0, draw = 0;
    for (uint32_t row = 0; row < 301; row++) {
        graph->index[row] = edges;
        graph->original_ids[row] = row * 1000003;
        edges += row % 7 == 0 ? 0 : row % 50 == 1 ? 9000 : key_below(31, &draw, 40);
    }
    graph->index[301] = edges;
    graph->indices = malloc(edges * sizeof *graph->indices);
    for (uint64_t e = 0; e < edges; e++)
        graph->indices[e] = (uint32_t)key_below(37, &draw, 1000);
    for (uint32_t i = 0; i < 1000; i++)
        graph->column_global[i] = (UINT64_C(1) << 33) + i * 5;
    for (uint32_t i = 0; i < 700; i++)
        graph->rows[i] = (uint32_t)key_below(41, &draw, 301);
    graph->csc = (struct csc){ .num_rows = 301,
                               .num_edges = edges,
                               .index = graph->index,
                               .indices = graph->indices,
                               .first_edge = 12345 };
}

/* Draws one row of a request into positions; returns the count. */
static uint32_t plain_row(const struct sample_request *request, uint32_t row, uint32_t *positions)
{
    uint64_t begin = request->csc->index[row];
    uint32_t degree = (uint32_t)(request->csc->index[row + 1] - begin), k = sample_fanout(request);
    uint64_t id = request->original_ids ? request->original_ids[row] : request->global_begin + row;
    uint64_t key = key_node(request->key_base, id), draw = 0;
    if (degree == 0 || k == SAMPLE_ALL || (!sample_replaces(request) && degree <= k)) {
        for (uint32_t i = 0; i < degree; i++)
            positions[i] = i;
        return degree;
    }
    if (!sample_replaces(request) && k > 0)
        plain_subset(positions, k, degree, key);
    for (uint32_t i = 0; sample_replaces(request) && i < k; i++)
        positions[i] = (uint32_t)key_below(key, &draw, degree);
    return k;
}

static void check_request(struct sample_space *space, const struct sample_request *request,
                          bool edge_ids, uint32_t *positions)
{
    uint64_t bound = local_sample_bound(request), at = 0;
    bool wide = request->csc->column_global != NULL;
    struct sample_result result = {
        .counts = malloc(request->num_rows * sizeof(uint32_t) + 1),
        .columns = wide ? NULL : malloc(bound * sizeof(uint32_t) + 1),
        .wide_columns = wide ? malloc(bound * sizeof(uint64_t) + 1) : NULL,
        .edge_ids = edge_ids ? malloc(bound * sizeof(uint64_t) + 1) : NULL,
    };
    if (!wide)
        memset(result.columns, 0xee, bound * sizeof(uint32_t));
    assert_int_equal(sample_check(request), 0);
    assert_int_equal(sample_uniform(space, request, &result), 0);
    assert_true(result.num_edges <= bound);
    /* A reply of one row has room for its edges alone. */
    for (uint64_t e = result.num_edges; !wide && e < bound; e++)
        assert_int_equal(result.columns[e], 0xeeeeeeee);
    if (sample_fanout(request) == SAMPLE_ALL)
        assert_int_equal(result.num_edges, bound);
    for (uint32_t i = 0; i < request->num_rows; i++) {
        uint32_t row = request->rows[i], count = plain_row(request, row, positions);
        assert_int_equal(result.counts[i], count);
        for (uint32_t e = 0; e < count; e++, at++) {
            uint64_t edge = request->csc->index[row] + positions[e];
            uint32_t column = request->csc->indices[edge];
            if (edge_ids)
                assert_int_equal(result.edge_ids[at], request->csc->first_edge + edge);
            if (wide)
                assert_int_equal(result.wide_columns[at], request->csc->column_global[column]);
            else
                assert_int_equal(result.columns[at], column);
        }
    }
    assert_int_equal(at, result.num_edges);
    free(result.counts);
    free(result.columns);
    free(result.wide_columns);
    free(result.edge_ids);
}

static void sample_equals_the_reference(void **state)
{
    (void)state;
    static const uint32_t fanouts[] = { 0,  1,  2,   3,    4,    5,    6,    7,
                                        8,  9,  10,  15,   16,   17,   25,   39,
                                        64, 65, 100, 4000, 5000, 8999, 9000, SAMPLE_ALL };
    static const uint32_t sizes[] = { 0, 1, 63, 64, 65, 128, 200, 700 };
    struct graph *graph = malloc(sizeof *graph);
    struct sample_space space = { 0 };
    uint32_t *positions = malloc(10000 * sizeof *positions);
    make_graph(graph);
    for (size_t f = 0; f < sizeof fanouts / sizeof *fanouts; f++) {
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            for (int way = 0; way < 16; way++) {
                if (fanouts[f] > 100 && sizes[s] > 65)
                    continue; /* slow in the reference, and nothing new */
                graph->csc.column_global = way & 1 ? graph->column_global : NULL;
                struct sample_request request = {
                    .method = &sample_uniform_method,
                    .csc = &graph->csc,
                    .rows = graph->rows,
                    .num_rows = sizes[s],
                    .original_ids = way & 2 ? graph->original_ids : NULL,
                    .global_begin = 77,
                    .term = SAMPLE_TERM((int32_t)fanouts[f], (way & 4) != 0),
                    .key_base = f * 8 + s
                };
                check_request(&space, &request, (way & 8) == 0, positions);
            }
        }
    }
    sample_space_fini(&space);
    free(positions);
    free(graph->indices);
    free(graph);
}

/* Rows that all have more neighbours than are drawn: as many draws as a block of rows has room for,
 * one row's more, and one row that alone has as many or more. */
static void blocks_that_are_just_full_equal_the_reference(void **state)
{
    (void)state;
    static const uint32_t fanouts[] = { 63, 64, 65, 128, 2048, 4095, 4096, 4097 };
    struct graph *graph = malloc(sizeof *graph);
    uint32_t *positions = malloc(10000 * sizeof *positions);
    make_graph(graph);
    for (uint32_t i = 0; i < 130; i++)
        graph->rows[i] = i % 2 == 0 ? 51 : 101; /* of 9000 neighbours each */
    for (size_t f = 0; f < sizeof fanouts / sizeof *fanouts; f++) {
        for (int way = 0; way < 4; way++) {
            struct sample_space space = { 0 };
            graph->csc.column_global = way & 1 ? graph->column_global : NULL;
            struct sample_request request = { .method = &sample_uniform_method,
                                              .csc = &graph->csc,
                                              .rows = graph->rows,
                                              .num_rows = fanouts[f] > 128 ? 5 : 130,
                                              .term = SAMPLE_TERM((int32_t)fanouts[f],
                                                                  (way & 2) != 0),
                                              .key_base = f };
            check_request(&space, &request, true, positions);
            sample_space_fini(&space);
        }
    }
    free(positions);
    free(graph->indices);
    free(graph);
}

/* Draws with replacement are independent: each of the degree^2 pairs comes equally often. */
static void replaced_draws_are_independent(void **state)
{
    (void)state;
    uint64_t index[2] = { 0, 7 }, pairs[49] = { 0 }, total = 0;
    uint32_t indices[7] = { 0, 1, 2, 3, 4, 5, 6 }, row = 0, counts, columns[10];
    struct csc csc = { .num_rows = 1, .num_edges = 7, .index = index, .indices = indices };
    struct sample_space space = { 0 };
    for (uint64_t t = 0; t < 100000; t++) {
        struct sample_request request = { .csc = &csc,
                                          .rows = &row,
                                          .num_rows = 1,
                                          .term = SAMPLE_TERM(10, true),
                                          .key_base = key_mix(t) };
        struct sample_result result = { .counts = &counts, .columns = columns };
        assert_int_equal(sample_uniform(&space, &request, &result), 0);
        assert_int_equal(counts, 10);
        for (int i = 0; i < 10; i += 2, total++)
            pairs[columns[i] * 7 + columns[i + 1]]++;
    }
    assert_uniform(pairs, 49, (double)total);
    sample_space_fini(&space);
}

static void bad_requests_are_refused(void **state)
{
    (void)state;
    uint64_t index[3] = { 0, 0, 0 };
    uint32_t rows[2] = { 1, 2 };
    struct csc csc = { .num_rows = 2, .index = index };
    struct sample_request request = { .method = &sample_uniform_method,
                                      .csc = &csc,
                                      .rows = rows,
                                      .num_rows = 2,
                                      .term = SAMPLE_TERM(3, false) };
    assert_int_equal(sample_check(&request), TR_ERANGE);
    request.num_rows = 1;
    assert_int_equal(sample_check(&request), 0);
    request.term.fanout = SAMPLE_FANOUT_MAX + 1;
    assert_int_equal(sample_check(&request), TR_ETOOBIG);
    request.term.fanout = SAMPLE_EVERY;
    assert_int_equal(sample_check(&request), 0);
    csc.num_rows = 0;
    assert_int_equal(sample_check(&request), TR_ERANGE);
    request.num_rows = 0;
    assert_int_equal(sample_check(&request), 0);
    assert_int_equal(local_sample_bound(&request), 0);
}

/* Floyd's algorithm as it is written down, in the order of positions. */
static void draw_plainly(uint32_t *positions, uint32_t k, uint32_t degree, uint64_t node_key)
{
    unsigned char *taken = calloc(degree, 1);
    uint64_t draw = 0;
    for (uint32_t last = degree - k; last < degree; last++) {
        uint32_t drawn = (uint32_t)key_below(node_key, &draw, last + UINT64_C(1));
        taken[taken[drawn] ? last : drawn] = 1;
    }
    for (uint32_t at = 0, i = 0; at < degree; at++) {
        if (taken[at])
            positions[i++] = at;
    }
    free(taken);
}

static void every_method_draws_what_the_algorithm_says(void **state)
{
    (void)state;
    static const uint32_t more[] = { 1, 2, 3, 7, 20, 300 };
    uint32_t *scratch = malloc(SCRATCH_WORDS * sizeof *scratch);
    uint32_t got[80], wanted[80];
    for (uint32_t k = 1; k <= 70; k++) {
        for (uint32_t i = 0; i < 6 * 200; i++) {
            uint32_t degree = k + more[i % 6];
            subset_draw(got, k, degree, key_node(k, i), scratch);
            draw_plainly(wanted, k, degree, key_node(k, i));
            assert_memory_equal(got, wanted, k * sizeof *got);
        }
    }
    /* Positions beyond the greatest signed number are in order too. */
    for (uint32_t k = 1; k <= 70; k++) {
        subset_draw(got, k, SUBSET_DEGREE_MAX, key_node(k, 0), scratch);
        for (uint32_t i = 1; i < k; i++)
            assert_true(got[i] > got[i - 1]);
    }
    free(scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_requests_are_refused),
        cmocka_unit_test(sample_equals_the_reference),
        cmocka_unit_test(blocks_that_are_just_full_equal_the_reference),
        cmocka_unit_test(every_method_draws_what_the_algorithm_says),
        cmocka_unit_test(positions_are_drawn_equally),
        cmocka_unit_test(subsets_are_drawn_equally),
        cmocka_unit_test(pairs_are_drawn_equally),
        cmocka_unit_test(replaced_draws_are_independent),
    };
    return cmocka_run_group_tests_name("sample", tests, NULL, NULL);
}
