/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Draws along out-edges: with the edges' own IDs, evenly among all or among those that are not left
 * out, by chi-square; and what they are refused with.
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

#define ROWS 30u
#define NODES 500u /* of the destination type, in all partitions */
#define EDGES_MAX 3000u

/* A partition of some sources. The IDs of their edges stand in no order, since the edges lie with
 * their destinations. */
struct world {
    struct graph_types types;
    uint64_t original_ids[ROWS], index[ROWS + 1], edge_ids[EDGES_MAX];
    uint32_t destinations[EDGES_MAX], rows[ROWS];
    struct node_part nodes[2];
    struct edge_part edges;
    struct graph_part part;
};

static void make_world(struct world *w, const uint32_t *degrees)
{
    uint64_t at = 0;
    memset(w, 0, sizeof *w);
    assert_int_equal(graph_types_add_ntype(&w->types, "s", NULL), 0);
    assert_int_equal(graph_types_add_ntype(&w->types, "d", NULL), 0);
    assert_int_equal(graph_types_add_etype(&w->types, "s:e:d", NULL), 0);
    for (uint32_t r = 0; r < ROWS; r++) {
        w->original_ids[r] = 3 * r;
        w->rows[r] = (7 * r) % ROWS;
        for (uint32_t i = 0; i < degrees[r]; i++, at++) {
            w->destinations[at] = (uint32_t)(key_mix(at) % NODES);
            w->edge_ids[at] = at * 1009 % EDGES_MAX; /* each once: EDGES_MAX is no multiple of it */
        }
        w->index[r + 1] = at;
    }
    assert_true(at <= EDGES_MAX);
    w->nodes[0] = (struct node_part){ .num_nodes = ROWS, .original_ids = w->original_ids };
    w->edges.out = (struct out_edges){ .num_rows = ROWS,
                                       .num_edges = at,
                                       .index = w->index,
                                       .destinations = w->destinations,
                                       .edge_ids = w->edge_ids,
                                       .nodes_end = NODES,
                                       .edges_end = EDGES_MAX };
    w->part = (struct graph_part){ .types = &w->types, .nodes = w->nodes, .edges = &w->edges };
}

struct drawn {
    uint32_t counts[ROWS], columns[64 * EDGES_MAX];
    uint64_t edge_ids[64 * EDGES_MAX];
};

static struct local_sample what_of(const struct world *w, const struct draw_key *key,
                                   int32_t fanout, bool replace)
{
    struct local_sample what = { .part = &w->part,
                                 .draw = key,
                                 .kind = SAMPLE_UNIFORM,
                                 .term = SAMPLE_TERM(fanout, replace),
                                 .rows = w->rows,
                                 .num_rows = ROWS };
    what.term.direction = SAMPLE_OUT;
    return what;
}

static int draw(const struct local_sample *what, struct sample_space *space, struct drawn *drawn)
{
    struct sample_request request;
    struct sample_result result = { .counts = drawn->counts,
                                    .columns = drawn->columns,
                                    .edge_ids = drawn->edge_ids };
    assert_int_equal(local_sample_prepare(what, &request, NULL), 0);
    int rv = local_sample_draw(space, &request, &result);
    assert_true(result.num_edges <= local_sample_bound(&request));
    return rv;
}

/* One of three edges; of every fifth row all. */
static bool is_left_out(uint64_t edge, uint32_t row)
{
    return row % 5 == 0 || key_mix(edge) % 3 == 0;
}

static uint64_t list_left_out(const struct world *w, uint64_t *ids)
{
    static bool out[EDGES_MAX];
    uint64_t count = 0;
    memset(out, 0, sizeof out);
    for (uint32_t r = 0; r < ROWS; r++)
        for (uint64_t i = w->index[r]; i < w->index[r + 1]; i++)
            out[w->edge_ids[i]] = is_left_out(w->edge_ids[i], r);
    for (uint64_t id = 0; id < EDGES_MAX; id++)
        if (out[id])
            ids[count++] = id;
    return count;
}

/* The drawn edges are the row's, each with its own ID, none of those that are left out, in the order
 * of the row where none comes twice; and there are as many as there can be. */
static void check_row(const struct world *w, uint32_t row, int32_t fanout, bool replace, bool left,
                      const uint32_t *columns, const uint64_t *edge_ids, uint32_t count)
{
    uint32_t most = 0;
    uint64_t before = 0;
    for (uint64_t i = w->index[row]; i < w->index[row + 1]; i++)
        most += !left || !is_left_out(w->edge_ids[i], row);
    bool all = fanout == SAMPLE_EVERY || (!replace && most <= (uint32_t)fanout);
    assert_int_equal(count, all ? most : most == 0 ? 0 : (uint32_t)fanout);
    for (uint32_t e = 0; e < count; e++) {
        uint64_t at = w->index[row];
        while (at < w->index[row + 1] && w->edge_ids[at] != edge_ids[e])
            at++;
        assert_true(at < w->index[row + 1]);
        assert_int_equal(columns[e], w->destinations[at]);
        assert_false(left && is_left_out(edge_ids[e], row));
        if (!replace && e > 0)
            assert_true(at > before);
        before = at;
    }
}

static void edges_come_with_their_own_ids(void **state)
{
    static struct world w;
    static struct drawn drawn;
    static uint64_t excluded[EDGES_MAX];
    static const int32_t fanouts[] = { 0, 1, 4, 60, SAMPLE_EVERY };
    struct sample_space space = { 0 };
    uint32_t degrees[ROWS];
    (void)state;
    for (uint32_t r = 0; r < ROWS; r++)
        degrees[r] = r % 7 == 0 ? 0 : r % 7 == 1 ? 200 : r;
    make_world(&w, degrees);
    uint64_t count = list_left_out(&w, excluded);
    for (size_t f = 0; f < 4 * (sizeof fanouts / sizeof *fanouts); f++) {
        const struct draw_key key = { .seed = f };
        bool replace = f % 2 == 1, left = f / 2 % 2 == 1;
        struct local_sample what = what_of(&w, &key, fanouts[f / 4], replace);
        what.excluded = left ? excluded : NULL;
        what.num_excluded = left ? count : 0;
        assert_int_equal(draw(&what, &space, &drawn), 0);
        for (uint32_t i = 0, at = 0; i < ROWS; at += drawn.counts[i++])
            check_row(&w, w.rows[i], fanouts[f / 4], replace, left, drawn.columns + at,
                      drawn.edge_ids + at, drawn.counts[i]);
    }
    sample_space_fini(&space);
    graph_types_fini(&w.types);
}

#define DEGREE 12u

/* Each pair of two draws of a row of twelve, of which four are left out or none: half a million
 * pairs. */
static void check_pairs(bool replace, bool left)
{
    static struct world w;
    static struct drawn drawn;
    static const bool out[DEGREE] = { [1] = true, [4] = true, [5] = true, [11] = true };
    const uint32_t degrees[ROWS] = { DEGREE };
    const uint64_t trials = 500000;
    struct sample_space space = { 0 };
    uint64_t counts[DEGREE * DEGREE] = { 0 }, excluded[DEGREE], count = 0;
    double shares[DEGREE * DEGREE] = { 0 }, n = left ? 8 : 12;
    make_world(&w, degrees);
    for (uint64_t id = 0; id < EDGES_MAX; id++)
        for (uint32_t i = 0; left && i < DEGREE; i++)
            if (out[i] && w.edge_ids[i] == id)
                excluded[count++] = id;
    for (uint32_t a = 0; a < DEGREE; a++)
        for (uint32_t b = replace ? 0 : a + 1; b < DEGREE; b++)
            if (!left || (!out[a] && !out[b]))
                shares[a * DEGREE + b] = replace ? 1 / (n * n) : 2 / (n * (n - 1));
    for (uint64_t t = 0; t < trials; t++) {
        const struct draw_key key = { .seed = t, .hop = replace, .epoch = left };
        struct local_sample what = what_of(&w, &key, 2, replace);
        what.excluded = excluded;
        what.num_excluded = count;
        what.num_rows = 1;
        assert_int_equal(draw(&what, &space, &drawn), 0);
        uint64_t pair[2] = { 0 };
        for (int d = 0; d < 2; d++)
            while (w.edge_ids[pair[d]] != drawn.edge_ids[d])
                pair[d]++;
        counts[pair[0] * DEGREE + pair[1]]++;
    }
    assert_shares(counts, shares, DEGREE * DEGREE, (double)trials);
    sample_space_fini(&space);
    graph_types_fini(&w.types);
}

static void pairs_are_drawn_equally(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++)
        check_pairs(i % 2 == 1, i / 2 == 1);
}

static void assert_refused(const struct local_sample *what, int rv, const char *says)
{
    struct sample_request request;
    struct error error = { 0 };
    assert_int_equal(local_sample_prepare(what, &request, &error), rv);
    if (strstr(error.text, says) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", error.text, says);
}

/* Without an index there is nothing to draw from; features of the edges are not here; what a file
 * says is none of the graph's. */
static void what_cannot_be_drawn_is_refused(void **state)
{
    static struct world w;
    static struct drawn drawn;
    const struct draw_key key = { .seed = 1 };
    const uint32_t degrees[ROWS] = { 3, 2 }, beyond = ROWS;
    struct sample_space space = { 0 };
    (void)state;
    make_world(&w, degrees);
    struct local_sample what = what_of(&w, &key, 2, false);
    what.rows = &beyond;
    what.num_rows = 1;
    assert_refused(&what, TR_ERANGE, "row 30 of edge type 0 asked for, it has 30 rows");
    what = what_of(&w, &key, 2, false);
    what.term.mask = 0;
    assert_refused(&what, TR_EUNSUPPORTED, "import the graph with --reverse-types");
    what.term.mask = SAMPLE_NO_TABLE;
    what.kind = SAMPLE_WEIGHTED;
    what.term.weights = 0;
    assert_refused(&what, TR_EUNSUPPORTED, "draws along out-edges have no weights and no mask");
    what.kind = SAMPLE_LABOR;
    what.term.weights = SAMPLE_NO_TABLE;
    assert_refused(&what, TR_EUNSUPPORTED, "the labor sampler has no draws along out-edges");
    what = what_of(&w, &key, 2, false);
    w.edge_ids[4] = EDGES_MAX;
    assert_int_equal(draw(&what, &space, &drawn), TR_EFORMAT);
    w.edge_ids[4] = 0;
    w.destinations[4] = NODES;
    assert_int_equal(draw(&what, &space, &drawn), TR_EFORMAT);
    w.edges.out.index = NULL;
    assert_refused(&what, TR_EUNSUPPORTED, "partition again with --out-edges");
    sample_space_fini(&space);
    graph_types_fini(&w.types);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(edges_come_with_their_own_ids),
        cmocka_unit_test(pairs_are_drawn_equally),
        cmocka_unit_test(what_cannot_be_drawn_is_refused),
    };
    return cmocka_run_group_tests_name("out_draws", tests, NULL, NULL);
}
