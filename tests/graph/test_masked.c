/* SPDX-License-Identifier: Apache-2.0 */
/* Draws of the edges that a mask allows: as draws of a row that has these alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "graph/key.h"
#include "graph/local_sample.h"
#include "graph/sample_masked.h"
#include "graph/samplers.h"
#include "tests/graph/edge_draws.h"
#include "tests/graph/statistics.h"

#define EDGES_MAX 6000u

/* One row whose columns are the places of the edges among the allowed, or EDGES_MAX. */
struct row {
    uint64_t index[2];
    uint32_t columns[EDGES_MAX];
    uint8_t mask[EDGES_MAX];
    struct feature_table table;
    struct csc csc;
    uint32_t degree, allowed;
};

/* One of `one_of` edges is allowed, in no order. */
static void make_row(struct row *row, uint32_t degree, uint32_t one_of)
{
    assert_true(degree <= EDGES_MAX);
    row->degree = degree;
    row->allowed = 0;
    for (uint32_t i = 0; i < degree; i++) {
        row->mask[i] = key_mix(i * 31 + degree) % one_of == 0 ? (uint8_t)(1 + i % 3) : 0;
        row->columns[i] = row->mask[i] != 0 ? row->allowed++ : EDGES_MAX;
    }
    row->index[0] = 0;
    row->index[1] = degree;
    row->table = edge_feature("keep", TR_U8, degree, row->mask);
    row->csc = (struct csc){
        .num_rows = 1, .num_edges = degree, .index = row->index, .indices = row->columns
    };
}

/* Draws the row by the number of a trial; returns how many edges came. */
static uint32_t draw(const struct row *row, struct sample_space *space, int32_t fanout,
                     bool replace, uint64_t trial, uint32_t *columns)
{
    static const uint32_t only = 0;
    uint32_t count;
    const struct sample_request request = { .method = &sample_uniform_method,
                                            .csc = &row->csc,
                                            .rows = &only,
                                            .num_rows = 1,
                                            .mask = &row->table,
                                            .term = SAMPLE_TERM(fanout, replace),
                                            .key_base = key_mix(trial + row->degree) };
    struct sample_result result = { .counts = &count, .columns = columns };
    assert_int_equal(sample_uniform(space, &request, &result), 0);
    assert_int_equal(result.num_edges, count);
    assert_true(count <= local_sample_bound(&request));
    for (uint32_t i = 0; i < count; i++)
        assert_true(columns[i] < row->allowed);
    for (uint32_t i = 1; i < count && !replace; i++)
        assert_true(columns[i] > columns[i - 1]);
    return count;
}

/* Degrees on both sides of where rows are read whole, and masks that leave many, few and too few
 * edges for the attempts. */
static const struct {
    uint32_t degree, one_of, k;
    uint64_t trials;
} CASES[] = {
    { 20, 2, 3, 100000 },  { 300, 3, 10, 100000 },  { 2048, 40, 5, 40000 }, { 2049, 40, 5, 40000 },
    { 3000, 2, 8, 60000 }, { 6000, 300, 4, 40000 }, { 6000, 50, 70, 4000 }, { 5000, 600, 3, 40000 },
};
#define NUM_CASES (sizeof CASES / sizeof *CASES)

static void allowed_edges_are_drawn_equally(void **state)
{
    (void)state;
    static struct row row;
    static uint64_t counts[EDGES_MAX];
    static uint32_t columns[EDGES_MAX];
    struct sample_space space = { 0 };
    uint64_t draws = 0;
    for (size_t c = 0; c < NUM_CASES; c++)
        for (int replace = 0; replace < 2; replace++) {
            uint32_t k = CASES[c].k;
            make_row(&row, CASES[c].degree, CASES[c].one_of);
            assert_true(row.allowed > k);
            memset(counts, 0, sizeof counts);
            for (uint64_t t = 0; t < CASES[c].trials; t++) {
                assert_int_equal(draw(&row, &space, (int32_t)k, replace != 0, t, columns), k);
                for (uint32_t i = 0; i < k; i++)
                    counts[columns[i]]++;
            }
            draws += CASES[c].trials * k;
            assert_uniform_scaled(counts, row.allowed, (double)CASES[c].trials * k,
                                  replace ? 1
                                          : (double)(row.allowed - k) / (double)(row.allowed - 1));
        }
    assert_true(draws > 1000000);
    sample_space_fini(&space);
}

/* Each pair of allowed edges comes equally often, ordered where draws are with replacement. */
static void pairs_are_drawn_equally(void **state)
{
    (void)state;
    static struct row row;
    uint32_t columns[2];
    struct sample_space space = { 0 };
    static const uint32_t degrees[] = { 24, 2500 };
    for (int d = 0; d < 2; d++)
        for (int replace = 0; replace < 2; replace++) {
            make_row(&row, degrees[d], d == 0 ? 3 : 300);
            uint32_t n = row.allowed, cells = 0;
            uint64_t *counts = calloc((size_t)n * n, sizeof *counts);
            assert_true(counts != NULL && n > 3 && n < 40);
            for (uint64_t t = 0; t < 500000; t++) {
                assert_int_equal(draw(&row, &space, 2, replace != 0, t, columns), 2);
                counts[columns[0] * n + columns[1]]++;
            }
            for (uint32_t a = 0; a < n; a++)
                for (uint32_t b = replace ? 0 : a + 1; b < n; b++)
                    counts[cells++] = counts[a * n + b];
            assert_uniform(counts, cells, 500000);
            free(counts);
        }
    sample_space_fini(&space);
}

/* Where no more are allowed than are drawn, all of them come; where none are, none. */
static void draws_are_full_where_they_can_be(void **state)
{
    (void)state;
    static struct row row;
    static uint32_t columns[EDGES_MAX];
    struct sample_space space = { 0 };
    static const uint32_t degrees[] = { 1, 5, 60, 2048, 2049, 6000 };
    for (size_t d = 0; d < sizeof degrees / sizeof *degrees; d++)
        for (uint32_t one_of = 1; one_of <= 100000; one_of *= 10) {
            make_row(&row, degrees[d], one_of);
            uint32_t n = row.allowed;
            assert_int_equal(draw(&row, &space, 0, false, d, columns), 0);
            assert_int_equal(draw(&row, &space, SAMPLE_EVERY, false, d, columns), n);
            assert_int_equal(draw(&row, &space, SAMPLE_EVERY, true, d, columns), n);
            assert_int_equal(draw(&row, &space, (int32_t)n, false, d, columns), n);
            for (uint32_t i = 0; i < n; i++)
                assert_int_equal(columns[i], i);
            assert_int_equal(draw(&row, &space, (int32_t)n + 1, false, d, columns), n);
            assert_int_equal(draw(&row, &space, 9, true, d, columns), n > 0 ? 9 : 0);
            if (n > 1)
                assert_int_equal(draw(&row, &space, (int32_t)n - 1, false, d, columns), n - 1);
        }
    sample_space_fini(&space);
}

/* A short row of which all is allowed draws as one without a mask. */
static void a_mask_that_allows_all_changes_nothing(void **state)
{
    (void)state;
    static struct row row;
    uint32_t masked[70], plain[70], counts;
    static const uint32_t only = 0;
    struct sample_space space = { 0 };
    make_row(&row, 1000, 1);
    for (uint64_t t = 0; t < 200; t++)
        for (int replace = 0; replace < 2; replace++)
            for (uint32_t k = 1; k <= 70; k += 3) {
                const struct sample_request request = { .csc = &row.csc,
                                                        .rows = &only,
                                                        .num_rows = 1,
                                                        .term = SAMPLE_TERM((int32_t)k, replace),
                                                        .key_base = key_mix(t + row.degree) };
                struct sample_result result = { .counts = &counts, .columns = plain };
                assert_int_equal(sample_uniform(&space, &request, &result), 0);
                assert_int_equal(draw(&row, &space, (int32_t)k, replace != 0, t, masked), k);
                assert_memory_equal(masked, plain, k * sizeof *plain);
            }
    sample_space_fini(&space);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(draws_are_full_where_they_can_be),
        cmocka_unit_test(a_mask_that_allows_all_changes_nothing),
        cmocka_unit_test(allowed_edges_are_drawn_equally),
        cmocka_unit_test(pairs_are_drawn_equally),
    };
    return cmocka_run_group_tests_name("masked", tests, NULL, NULL);
}
