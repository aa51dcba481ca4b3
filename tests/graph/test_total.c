/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Draws over all edge types together: of each row so many in all, evenly among the edges of all types
 * by chi-square, whichever types are asked, and as full as the edges that are not left out allow.
 */
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
#include "tests/graph/statistics.h"

#define ROWS 24u
#define TYPES 4u
#define EDGES_MAX 4000u
#define DRAWN_MAX (ROWS * 600u)

/* Edge types 0, 1 and 3 enter type "d", or leave it where they are drawn along out-edges; type 2 does
 * neither. The IDs of out-edges stand in no order. */
struct world {
    struct graph_types types;
    uint64_t original_ids[ROWS], index[TYPES][ROWS + 1], edge_ids[TYPES][EDGES_MAX];
    uint32_t columns[TYPES][EDGES_MAX], rows[ROWS];
    struct node_part nodes[2];
    struct edge_part edges[TYPES];
    struct graph_part part;
    bool out;
};

static void make_world(struct world *w, bool out, const uint32_t degrees[TYPES][ROWS])
{
    static const char *const names[2][TYPES] = { { "s:a:d", "d:b:d", "d:c:s", "s:e:d" },
                                                 { "d:a:s", "d:b:d", "s:c:d", "d:e:s" } };
    memset(w, 0, sizeof *w);
    w->out = out;
    assert_int_equal(graph_types_add_ntype(&w->types, "s", NULL), 0);
    assert_int_equal(graph_types_add_ntype(&w->types, "d", NULL), 0);
    for (uint32_t e = 0; e < TYPES; e++) {
        assert_int_equal(graph_types_add_etype(&w->types, names[out][e], NULL), 0);
        uint64_t at = 0;
        for (uint32_t r = 0; r < ROWS; r++) {
            for (uint32_t i = 0; i < degrees[e][r]; i++, at++) {
                w->columns[e][at] = (uint32_t)at;
                w->edge_ids[e][at] = out ? at * 1009 % EDGES_MAX : 100 * e + at;
            }
            w->index[e][r + 1] = at;
        }
        assert_true(at < EDGES_MAX);
        if (out)
            w->edges[e].out = (struct out_edges){ ROWS,           at, w->index[e], w->columns[e],
                                                  w->edge_ids[e], 0,  EDGES_MAX,   EDGES_MAX };
        else
            w->edges[e].csc = (struct csc){ .num_rows = ROWS,
                                            .num_edges = at,
                                            .index = w->index[e],
                                            .indices = w->columns[e],
                                            .first_edge = UINT64_C(100) * e };
    }
    for (uint32_t r = 0; r < ROWS; r++) {
        w->original_ids[r] = 5 * r;
        w->rows[r] = (7 * r) % ROWS;
    }
    w->nodes[1] = (struct node_part){ .num_nodes = ROWS, .original_ids = w->original_ids };
    w->part = (struct graph_part){ .types = &w->types, .nodes = w->nodes, .edges = w->edges };
}

struct drawn {
    uint32_t counts[ROWS], columns[DRAWN_MAX];
    uint64_t edge_ids[DRAWN_MAX];
};

static void draw(const struct world *w, uint32_t etype, const struct draw_key *key, int32_t fanout,
                 bool replace, uint32_t num_rows, const struct sample_excluded *excluded,
                 struct sample_space *space, struct drawn *drawn)
{
    struct local_sample what = {
        .part = &w->part,
        .draw = key,
        .kind = SAMPLE_UNIFORM,
        .etype = etype,
        .term = SAMPLE_TERM(fanout, replace),
        .rows = w->rows,
        .num_rows = num_rows,
        .excluded = excluded == NULL ? NULL : excluded[etype].ids,
        .num_excluded = excluded == NULL ? 0 : excluded[etype].count,
        .excluded_by_type = excluded,
    };
    struct sample_request request;
    struct sample_result result = { .counts = drawn->counts,
                                    .columns = drawn->columns,
                                    .edge_ids = drawn->edge_ids };
    what.term.flags |= SAMPLE_TOTAL;
    what.term.direction = w->out ? SAMPLE_OUT : SAMPLE_IN;
    assert_int_equal(local_sample_prepare(&what, &request, NULL), 0);
    assert_true(local_sample_bound(&request) <= DRAWN_MAX);
    assert_int_equal(local_sample_draw(space, &request, &result), 0);
    assert_true(result.num_edges <= local_sample_bound(&request));
}

static bool is_left_out(uint32_t etype, uint64_t edge, uint32_t row)
{
    return row % 5 == etype || key_mix(edge + etype) % 3 == 0;
}

/* By increasing IDs, of each type. */
static void list_left_out(const struct world *w, uint64_t ids[TYPES][EDGES_MAX],
                          struct sample_excluded *excluded)
{
    for (uint32_t e = 0; e < TYPES; e++) {
        static uint32_t row_of[2 * EDGES_MAX];
        memset(row_of, 0xff, sizeof row_of);
        excluded[e] = (struct sample_excluded){ ids[e], 0 };
        for (uint32_t r = 0; r < ROWS; r++)
            for (uint64_t i = w->index[e][r]; i < w->index[e][r + 1]; i++)
                row_of[w->edge_ids[e][i]] = r;
        for (uint64_t id = 0; id < 2 * EDGES_MAX; id++)
            if (row_of[id] != UINT32_MAX && is_left_out(e, id, row_of[id]))
                ids[e][excluded[e].count++] = id;
    }
}

/* All types' shares of a row add up to the draw; each edge is the row's and may be drawn. */
static void check_draws(const struct world *w, int32_t fanout, bool replace, bool left, size_t seed)
{
    static struct drawn drawn;
    static uint64_t ids[TYPES][EDGES_MAX];
    static const uint32_t together[] = { 0, 1, 3 };
    struct sample_excluded excluded[TYPES];
    struct sample_space space = { 0 };
    uint32_t sums[ROWS] = { 0 }, most[ROWS] = { 0 };
    const struct draw_key key = { .seed = seed };
    list_left_out(w, ids, excluded);
    for (size_t t = 0; t < 3; t++) {
        const uint32_t e = together[t];
        draw(w, e, &key, fanout, replace, ROWS, left ? excluded : NULL, &space, &drawn);
        for (uint32_t i = 0, at = 0; i < ROWS; at += drawn.counts[i++]) {
            const uint32_t row = w->rows[i];
            sums[i] += drawn.counts[i];
            for (uint64_t k = w->index[e][row]; k < w->index[e][row + 1]; k++)
                most[i] += !left || !is_left_out(e, w->edge_ids[e][k], row);
            for (uint32_t k = at; k < at + drawn.counts[i]; k++) {
                const uint32_t place = drawn.columns[k];
                assert_true(place >= w->index[e][row] && place < w->index[e][row + 1]);
                assert_int_equal(drawn.edge_ids[k], w->edge_ids[e][place]);
                assert_false(left && is_left_out(e, drawn.edge_ids[k], row));
                assert_true(replace || k == at || place > drawn.columns[k - 1]);
            }
        }
    }
    for (uint32_t i = 0; i < ROWS; i++) {
        bool all = fanout == SAMPLE_EVERY || (!replace && most[i] <= (uint32_t)fanout);
        assert_int_equal(sums[i], all ? most[i] : most[i] == 0 ? 0 : (uint32_t)fanout);
    }
    sample_space_fini(&space);
}

static void types_share_one_draw(void **state)
{
    static struct world w;
    static const int32_t fanouts[] = { 0, 1, 5, 90, SAMPLE_EVERY };
    uint32_t degrees[TYPES][ROWS];
    (void)state;
    for (uint32_t e = 0; e < TYPES; e++)
        for (uint32_t r = 0; r < ROWS; r++)
            degrees[e][r] = r == 0 ? 0 : r % 5 == 1 ? 100 * (e == 1) : (r * (e + 1)) % 17;
    for (int out = 0; out < 2; out++) {
        make_world(&w, out != 0, degrees);
        for (size_t f = 0; f < sizeof fanouts / sizeof *fanouts; f++)
            for (int i = 0; i < 4; i++)
                check_draws(&w, fanouts[f], i % 2 == 1, i / 2 == 1, 4 * f + (size_t)i);
        graph_types_fini(&w.types);
    }
}

/* Two edges of twelve, five of one type, four of another and three of a third: each pair as likely as
 * the others, half a million times. Of the second type none but two may be left. */
static void check_pairs(bool out, bool replace, bool left)
{
    enum { EDGES = 12, TRIALS = 500000 };
    static struct world w;
    static struct drawn drawn;
    static const uint32_t degrees[TYPES][ROWS] = { { 5 }, { 4 }, { 9 }, { 3 } };
    static const uint32_t first[TYPES] = { 0, 5, 0, 9 }, together[] = { 0, 1, 3 };
    struct sample_space space = { 0 };
    struct sample_excluded excluded[TYPES] = { { 0 } };
    uint64_t counts[EDGES * EDGES] = { 0 }, gone[2];
    double shares[EDGES * EDGES] = { 0 }, n = left ? EDGES - 2 : EDGES;
    make_world(&w, out, degrees);
    /* Places 0 and 3 of the second type. */
    uint64_t a = w.edge_ids[1][0], b = w.edge_ids[1][3];
    gone[0] = a < b ? a : b, gone[1] = a < b ? b : a;
    excluded[1] = (struct sample_excluded){ gone, 2 };
    for (uint32_t x = 0; x < EDGES; x++)
        for (uint32_t y = x; y < EDGES; y++)
            if (!left || (x != 5 && x != 8 && y != 5 && y != 8))
                shares[x * EDGES + y] = replace  ? (x == y ? 1 : 2) / (n * n)
                                        : x == y ? 0
                                                 : 2 / (n * (n - 1));
    for (uint64_t t = 0; t < TRIALS; t++) {
        const struct draw_key key = { .seed = t, .hop = replace, .epoch = left };
        uint32_t pair[2], found = 0;
        for (size_t i = 0; i < 3; i++) {
            draw(&w, together[i], &key, 2, replace, 1, left ? excluded : NULL, &space, &drawn);
            for (uint32_t k = 0; k < drawn.counts[0]; k++) {
                assert_true(found < 2);
                pair[found++] = first[together[i]] + drawn.columns[k];
            }
        }
        assert_int_equal(found, 2);
        uint32_t low = pair[0] < pair[1] ? pair[0] : pair[1];
        counts[low * EDGES + (pair[0] + pair[1] - low)]++;
    }
    assert_shares(counts, shares, EDGES * EDGES, TRIALS);
    sample_space_fini(&space);
    graph_types_fini(&w.types);
}

static void pairs_of_edges_of_any_types_are_drawn_equally(void **state)
{
    (void)state;
    for (int i = 0; i < 8; i++)
        check_pairs(i / 4 == 1, i % 2 == 1, i / 2 % 2 == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(types_share_one_draw),
        cmocka_unit_test(pairs_of_edges_of_any_types_are_drawn_equally),
    };
    return cmocka_run_group_tests_name("total", tests, NULL, NULL);
}
