/* SPDX-License-Identifier: Apache-2.0 */
/* Requests for rows and draws of a partition: what they find, how much they draw, and what each
 * that cannot be served is refused with. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "graph/local_rows.h"
#include "graph/local_sample.h"
#include "graph/samplers.h"

/* Two node types, of 5 nodes and of none; two edge types into the first. */
static const uint64_t ids[] = { 10, 11, 12, 13, 14 }, gaps[] = { 10, 11, 13, 14, 15 };
static const uint32_t in_degrees[] = { 0, 3, 1, 9, 2 }, out_degrees[] = { 5, 6, 7, 8, 9 };
static const float x[5][2] = { { 0, 1 }, { 2, 3 }, { 4, 5 }, { 6, 7 }, { 8, 9 } };
static const uint8_t y[5] = { 5, 6, 7, 8, 9 };
static const int64_t w[15] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14 };
static const uint64_t ranks[] = { 14, 12, 10 };
static const uint64_t bounds[] = { 0, 0, 3, 4, 13, 15 };
static const uint32_t columns[15] = { 0 };
static const uint64_t globals[] = { 7 };
/* The runs of ranks 20 to 26: three edges, one, three. */
static const struct edge_run runs[] = { { 20, 100 }, { 23, 5 }, { 24, 7 } };

static const struct feature_table node_tables[] = {
    { .name = "x", .dtype = TR_F32, .num_rows = 5, .width = 2, .row_bytes = 8, .rows = x },
    { .name = "y", .dtype = TR_U8, .num_rows = 5, .width = 1, .row_bytes = 1, .rows = y },
};
static const struct feature_table edge_table = {
    .name = "w", .dtype = TR_I64, .num_rows = 15, .width = 1, .row_bytes = 8, .rows = w
};

struct world {
    struct graph_types types;
    struct node_part nodes[2];
    struct edge_part edges[2];
    struct rank_slice slices[2];
    struct graph_part part;
};

static int set_up(void **state)
{
    static struct world world;
    world = (struct world){
        .nodes = { { .num_nodes = 5,
                     .global_begin = 10,
                     .original_ids = ids,
                     .in_degrees = in_degrees,
                     .out_degrees = out_degrees,
                     .num_features = 2,
                     .features = node_tables } },
        .slices = { { .ntype = 0, .num_ranks = 3, .ids = ranks }, { .ntype = 1 } },
    };
    world.edges[0] = (struct edge_part){
        .csc = { .num_rows = 5, .num_edges = 15, .index = bounds, .indices = columns },
        .runs = { 20, 7, 3, runs },
        .num_features = 1,
        .features = &edge_table
    };
    world.edges[1] = world.edges[0];
    world.edges[1].csc.column_global = globals;
    world.edges[1].num_features = 0;
    world.edges[1].runs = (struct edge_runs){ .num_ranks = 7 };
    graph_types_add_ntype(&world.types, "a", NULL);
    graph_types_add_ntype(&world.types, "b", NULL);
    graph_types_add_etype(&world.types, "a:to:a", NULL);
    graph_types_add_etype(&world.types, "b:of:a", NULL);
    world.part = (struct graph_part){ .part_id = 4,
                                      .types = &world.types,
                                      .nodes = world.nodes,
                                      .edges = world.edges,
                                      .num_slices = 2,
                                      .slices = world.slices };
    *state = &world;
    return 0;
}

static int tear_down(void **state)
{
    graph_types_fini(&((struct world *)*state)->types);
    return 0;
}

static void assert_says(const struct error *error, int code, const char *text)
{
    assert_int_equal(error->code, code);
    if (strstr(error->text, text) == NULL)
        fail_msg("'%s' does not say '%s'", error->text, text);
}

static void tables_are_found_by_number(void **state)
{
    struct world *world = *state;
    static const struct {
        uint32_t type, table;
        struct local_table found;
    } cases[] = {
        { 0, 0, { .rows = x, .num_rows = 5, .row_bytes = 8, .width = 2, .element_bytes = 4 } },
        { 0, 1, { .rows = y, .num_rows = 5, .row_bytes = 1, .width = 1, .element_bytes = 1 } },
        { 0,
          TABLE_ORIGINAL_ID,
          { .rows = ids, .num_rows = 5, .row_bytes = 8, .width = 1, .element_bytes = 8 } },
        { 0,
          TABLE_IN_DEGREE,
          { .rows = in_degrees, .num_rows = 5, .row_bytes = 4, .width = 1, .element_bytes = 4 } },
        { 0,
          TABLE_OUT_DEGREE,
          { .rows = out_degrees, .num_rows = 5, .row_bytes = 4, .width = 1, .element_bytes = 4 } },
        { 1,
          TABLE_OUT_DEGREE,
          { .rows = NULL,
            .num_rows = 0,
            .row_bytes = 4,
            .width = 1,
            .element_bytes = 4 } }, /* of no nodes */
        { 0,
          TABLE_RANKS,
          { .rows = ranks, .num_rows = 3, .row_bytes = 8, .width = 1, .element_bytes = 8 } },
        { 1,
          TABLE_RANKS + 1,
          { .rows = NULL, .num_rows = 0, .row_bytes = 8, .width = 1, .element_bytes = 8 } },
        { 0,
          TABLE_EDGES,
          { .rows = w, .num_rows = 15, .row_bytes = 8, .width = 1, .element_bytes = 8 } },
        { 0,
          TABLE_EDGE_ENDS,
          { .rows = NULL, .num_rows = 15, .row_bytes = 16, .width = 2, .element_bytes = 8 } },
        { 0,
          TABLE_EDGE_SOURCES,
          { .rows = NULL, .num_rows = 15, .row_bytes = 8, .width = 1, .element_bytes = 8 } },
        { 0,
          TABLE_IN_EDGES,
          { .rows = NULL, .num_rows = 5, .row_bytes = 16, .width = 2, .element_bytes = 8 } },
        { 0,
          TABLE_EDGE_RANKS,
          { .rows = NULL, .num_rows = 7, .row_bytes = 8, .width = 1, .element_bytes = 8 } },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct local_table table;
        struct error error = { 0 };
        assert_int_equal(
            local_table_find(&world->part, cases[i].type, cases[i].table, &table, &error), 0);
        assert_ptr_equal(table.rows, cases[i].found.rows);
        assert_int_equal(table.num_rows, cases[i].found.num_rows);
        assert_int_equal(table.row_bytes, cases[i].found.row_bytes);
        assert_int_equal(table.width, cases[i].found.width);
        assert_int_equal(table.element_bytes, cases[i].found.element_bytes);
    }
    assert_ptr_equal(node_part_feature(&world->nodes[0], "y"), &node_tables[1]);
    assert_null(node_part_feature(&world->nodes[0], "w"));
    assert_ptr_equal(edge_part_feature(&world->edges[0], "w"), &edge_table);
    assert_null(edge_part_feature(&world->edges[1], "w"));
}

static void tables_that_are_not_there_are_refused(void **state)
{
    struct world *world = *state;
    static const struct {
        uint32_t type, table;
        int rv;
        const char *says;
    } cases[] = {
        { 0, 2, TR_ERANGE, "partition 4: table 2 of type a asked for, it has 2" },
        { 1, 0, TR_ERANGE, "table 0 of type b asked for, it has 0" },
        { 2, 0, TR_ERANGE, "partition 4: node type 2 asked for, the graph has 2" },
        { 2, TABLE_IN_DEGREE, TR_ERANGE, "node type 2 asked for" },
        { 0, TABLE_EDGES + 1, TR_ERANGE, "table 1 of type to asked for, it has 1" },
        { 1, TABLE_EDGES, TR_ERANGE, "table 0 of type of asked for, it has 0" },
        { 0, TABLE_OUT_EDGES, TR_EUNSUPPORTED,
          "of type to were not written; partition again with" },
        { 1, TABLE_OUT_PLACES, TR_EUNSUPPORTED, "partition 4: out-edges of type of were not" },
        { 2, TABLE_OUT_EDGES, TR_ERANGE, "partition 4: edge type 2 asked for, the graph has 2" },
        { 2, TABLE_IN_EDGES, TR_ERANGE, "partition 4: edge type 2 asked for, the graph has 2" },
        { 2, TABLE_EDGE_SOURCES, TR_ERANGE, "partition 4: edge type 2 asked for, the graph has 2" },
        { 2, TABLE_EDGE_ENDS, TR_ERANGE, "partition 4: edge type 2 asked for, the graph has 2" },
        { 0, TABLE_EDGE_ENDS + 1, TR_ERANGE, "asked for, it has 2" },
        { 2, TABLE_EDGES, TR_ERANGE, "partition 4: edge type 2 asked for, the graph has 2" },
        { 1, TABLE_EDGE_RANKS, TR_ENOENT, "partition 4: no runs of edges of type of are loaded" },
        { 2, TABLE_EDGE_RANKS, TR_ERANGE, "partition 4: edge type 2 asked for, the graph has 2" },
        { 0, TABLE_EDGE_RANKS + 1, TR_ERANGE, "asked for, it has 2" },
        { 1, TABLE_RANKS, TR_ENOENT, "no table of ranks 0 of node type b" },
        { 0, TABLE_RANKS + 1, TR_ENOENT, "no table of ranks 1 of node type a" },
        { 0, TABLE_RANKS + 2, TR_ENOENT, "partition 4: no table of ranks 2 of node type a" },
    };
    struct local_table table;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct error error = { 0 };
        assert_int_equal(
            local_table_find(&world->part, cases[i].type, cases[i].table, &table, &error),
            cases[i].rv);
        assert_says(&error, cases[i].rv, cases[i].says);
    }
    struct error error = { 0 };
    world->nodes[0].original_ids = NULL;
    world->nodes[0].in_degrees = NULL;
    world->nodes[0].out_degrees = NULL;
    world->slices[0].ids = NULL;
    assert_int_equal(local_table_find(&world->part, 0, TABLE_ORIGINAL_ID, &table, &error),
                     TR_ENOENT);
    assert_says(&error, TR_ENOENT, "partition 4: the original IDs of node type a are not loaded");
    assert_int_equal(local_table_find(&world->part, 0, TABLE_IN_DEGREE, &table, &error), TR_ENOENT);
    assert_says(&error, TR_ENOENT, "the degrees of node type a are not loaded");
    assert_int_equal(local_table_find(&world->part, 0, TABLE_OUT_DEGREE, &table, &error),
                     TR_ENOENT);
    assert_int_equal(local_table_find(&world->part, 0, TABLE_RANKS, &table, &error), TR_ENOENT);
    assert_int_equal(local_table_find(&world->part, 1, TABLE_ORIGINAL_ID, &table, &error), 0);
}

/* Files of out-edges are mapped unread, so what stands in them is looked at before it is given. */
static void out_edges_are_checked_where_they_are_read(void **state)
{
    static const uint64_t index[] = { 0, 2, 3 };
    static const uint32_t destinations[] = { 1, 4, 5 }, good[] = { 1, 0 }, bad[] = { 0, 2, 1 };
    static const uint64_t edge_ids[] = { 14, 3, 2 }, wrong_ids[] = { 14, 15, 2 };
    struct world *world = *state;
    struct local_table table;
    struct error error = { 0 };
    uint64_t out[4];
    world->edges[0].out = (struct out_edges){ 2, 3, index, destinations, edge_ids, 20, 5, 15 };
    assert_int_equal(local_table_find(&world->part, 0, TABLE_OUT_PLACES, &table, &error), 0);
    assert_int_equal(table.num_rows, 3);
    assert_int_equal(table.row_bytes, 16);
    assert_int_equal(local_rows_check(&world->part, &table, good, 2, &error), 0);
    local_rows_read(&table, good, 2, out);
    assert_true(out[0] == 3 && out[1] == 4 && out[2] == 14 && out[3] == 1);
    assert_int_equal(local_rows_check(&world->part, &table, bad, 3, &error), TR_EFORMAT);
    assert_says(&error, TR_EFORMAT, "partition 4: out-edge 2 is edge 2 to node 5, which are not");
    world->edges[0].out.edge_ids = wrong_ids;
    assert_int_equal(local_rows_check(&world->part, &table, good, 2, &error), TR_EFORMAT);
    assert_says(&error, TR_EFORMAT, "out-edge 1 is edge 15 to node 4");
    assert_int_equal(local_table_find(&world->part, 0, TABLE_OUT_EDGES, &table, &error), 0);
    local_rows_scatter(&table, good, good, 2, out);
    assert_true(out[2] == 22 && out[3] == 1 && out[0] == 20 && out[1] == 2);
}

/* The first row that is not there is named; the last one that is there is read. */
static void rows_are_checked_and_read(void **state)
{
    struct world *world = *state;
    struct local_table table;
    assert_int_equal(local_table_find(&world->part, 0, 0, &table, NULL), 0);
    static const uint32_t good[] = { 4, 0, 4 };
    struct error error = { 0 };
    float out[3][2];
    assert_int_equal(local_rows_check(&world->part, &table, good, 3, &error), 0);
    assert_int_equal(local_rows_check(&world->part, &table, NULL, 0, &error), 0);
    local_rows_read(&table, good, 3, out);
    assert_true(out[0][1] == 9 && out[1][0] == 0 && out[2][0] == 8);
    static const uint32_t bad[][3] = { { 5, 0, 9 }, { 4, 6, 9 }, { 0, 1, 7 } };
    static const char *const says[] = { "row 5 of a table asked for, it has 5 rows", "row 6 of",
                                        "partition 4: row 7 of" };
    for (int i = 0; i < 3; i++) {
        assert_int_equal(local_rows_check(&world->part, &table, bad[i], 3, &error), TR_ERANGE);
        assert_says(&error, TR_ERANGE, says[i]);
    }
}

/* Nodes without edges stand before the first edge, between two and after none. */
static void ends_are_those_of_the_edges(void **state)
{
    struct world *world = *state;
    static const uint32_t positions[] = { 14, 0, 2, 3, 4, 12, 13, 3 };
    static const uint64_t destinations[] = { 14, 11, 11, 12, 13, 13, 14, 12 };
    static const uint32_t places[] = { 7, 6, 5, 4, 3, 2, 1, 0 };
    enum { COUNT = sizeof positions / sizeof *positions };
    uint64_t ends[COUNT][2], scattered[COUNT][2];
    struct local_table table;
    struct error error = { 0 };
    for (uint32_t etype = 0; etype < 2; etype++) {
        uint64_t source = etype == 0 ? 0 : 7; /* the column, or what its table says */
        assert_int_equal(local_table_find(&world->part, etype, TABLE_EDGE_ENDS, &table, NULL), 0);
        assert_int_equal(local_rows_check(&world->part, &table, positions, COUNT, &error), 0);
        assert_int_equal(local_rows_cost(&table), EDGE_ENDS_COST);
        local_rows_read(&table, positions, COUNT, ends);
        local_rows_scatter(&table, positions, places, COUNT, scattered);
        for (uint32_t i = 0; i < COUNT; i++) {
            assert_int_equal(ends[i][0], source);
            assert_int_equal(ends[i][1], destinations[i]);
            assert_memory_equal(scattered[places[i]], ends[i], sizeof ends[i]);
        }
        static const uint32_t beyond[] = { 14, 15 };
        assert_int_equal(local_rows_check(&world->part, &table, beyond, 2, &error), TR_ERANGE);
    }
    assert_int_equal(local_table_find(&world->part, 0, 0, &table, NULL), 0);
    assert_int_equal(local_rows_cost(&table), 1);
}

static void edges_are_those_of_their_ranks(void **state)
{
    struct world *world = *state;
    static const uint32_t rows[] = { 6, 0, 3, 2, 4, 1, 5 }, beyond[] = { 6, 7 };
    static const uint64_t edges[] = { 9, 100, 5, 102, 7, 101, 8 };
    static const uint32_t places[] = { 6, 5, 4, 3, 2, 1, 0 };
    uint64_t ids_read[7], scattered[7];
    struct local_table table;
    struct error error = { 0 };
    assert_int_equal(local_table_find(&world->part, 0, TABLE_EDGE_RANKS, &table, NULL), 0);
    assert_int_equal(local_rows_check(&world->part, &table, rows, 7, &error), 0);
    assert_int_equal(local_rows_check(&world->part, &table, beyond, 2, &error), TR_ERANGE);
    assert_int_equal(local_rows_cost(&table), EDGE_ENDS_COST);
    local_rows_read(&table, rows, 7, ids_read);
    local_rows_scatter(&table, rows, places, 7, scattered);
    for (uint32_t i = 0; i < 7; i++) {
        assert_int_equal(ids_read[i], edges[i]);
        assert_int_equal(scattered[places[i]], edges[i]);
    }
}

/* The first run that makes a slice unreadable is found, wherever its fault is. */
static void runs_that_are_none_are_found(void **state)
{
    static const struct {
        struct edge_run runs[3];
        uint64_t first, bad;
    } cases[] = {
        { { { 20, 100 }, { 23, 5 }, { 24, 7 } }, 20, 3 },
        { { { 20, 100 }, { 23, 5 }, { 24, 100 } }, 20, 3 }, /* the last three edges */
        { { { 20, 100 }, { 23, 5 }, { 24, 101 } }, 20, 2 }, /* beyond them */
        { { { 20, 101 }, { 23, 5 }, { 24, 7 } }, 20, 0 },
        { { { 20, 100 }, { 23, 103 }, { 24, 7 } }, 20, 1 },
        { { { 20, 100 }, { 23, UINT64_MAX }, { 24, 7 } }, 20, 1 },
        { { { 21, 100 }, { 23, 5 }, { 24, 7 } }, 20, 0 }, /* begins too late */
        { { { 19, 90 }, { 23, 5 }, { 24, 7 } }, 20, 0 },
        { { { 20, 100 }, { 20, 5 }, { 24, 7 } }, 20, 1 }, /* twice the same rank */
        { { { 20, 100 }, { 23, 5 }, { 22, 7 } }, 20, 2 },
        { { { 20, 100 }, { 23, 5 }, { 27, 7 } }, 20, 2 }, /* outside */
        { { { 20, 100 }, { UINT64_MAX, 5 }, { 24, 7 } }, 20, 1 },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct edge_runs slice = { cases[i].first, 7, 3, cases[i].runs };
        assert_int_equal(edge_runs_check(&slice, 103), cases[i].bad);
    }
    const struct edge_runs empty = { 20, 0, 0, NULL }, none = { 20, 0, 1, cases[0].runs };
    assert_int_equal(edge_runs_check(&empty, 103), 0);
    assert_int_equal(edge_runs_check(&none, 103), 0); /* its only run is wrong */
}

static struct local_sample draws(const struct world *world, int32_t fanout)
{
    static const uint32_t rows[] = { 3, 0, 1, 4, 2 }; /* of 9, 0, 3, 2 and 1 edges */
    static const struct draw_key key = { .seed = 1, .hop = 1 };
    return (struct local_sample){ .part = &world->part,
                                  .draw = &key,
                                  .term = SAMPLE_TERM(fanout, false),
                                  .rows = rows,
                                  .num_rows = 5 };
}

static void draws_that_cannot_be_made_are_refused(void **state)
{
    struct world *world = *state;
    static const uint32_t beyond[] = { 4, 5, 6 };
    struct local_sample cases[12];
    static const struct {
        int rv;
        const char *says;
    } wanted[] = {
        { TR_ERANGE, "partition 4: edge type 2 asked for, the graph has 2" },
        { TR_ERANGE, "partition 4: fanout -2 asked for; give -1 (all) or more" },
        { TR_EUNSUPPORTED, "partition 4: sampler 99 is not one of this version's" },
        { TR_EUNSUPPORTED, "partition 4: the uniform sampler has no times of rows" },
        { TR_EUNSUPPORTED, "the uniform sampler has no exclusions" },
        { TR_EUNSUPPORTED, "the uniform sampler has no weights" },
        { TR_EINVAL, "partition 4: mask \"w\" has " },
        { TR_EUNSUPPORTED, "the uniform sampler has no other flags than to replace and in total" },
        { TR_EUNSUPPORTED, "partition 4: it was written without the out-edges of type 0" },
        { TR_ETOOBIG, "fanout 16777217 asked for, the most is 16777216" },
        { TR_ERANGE, "partition 4: row 5 of edge type 0 asked for, it has 5 rows" },
        { 0, "" },
    };
    for (int i = 0; i < 12; i++)
        cases[i] = draws(world, 2);
    cases[0].etype = 2;
    cases[1].term.fanout = -2;
    cases[2].kind = 99;
    cases[3].row_fields = SAMPLE_ROW_TIME | SAMPLE_ROW_SALT;
    cases[4].row_fields = SAMPLE_ROW_EXCLUDE;
    cases[5].term.weights = 0;
    cases[6].term.mask = 0;
    cases[7].term.flags = SAMPLE_TOTAL << 1;
    cases[8].term.direction = SAMPLE_OUT;
    cases[9].term.fanout = (int32_t)SAMPLE_FANOUT_MAX + 1;
    cases[10].rows = beyond;
    cases[10].num_rows = 3;
    cases[11].row_fields = SAMPLE_ROW_SALT;
    cases[11].term.fanout = (int32_t)SAMPLE_FANOUT_MAX;
    for (int i = 0; i < 12; i++) {
        struct sample_request request;
        struct error error = { 0 };
        assert_int_equal(local_sample_prepare(&cases[i], &request, &error), wanted[i].rv);
        assert_says(&error, wanted[i].rv, wanted[i].says);
    }
}

/* Original IDs are looked up only where they are not as the rows: draws are keyed by them. */
static void draws_are_keyed_by_original_ids(void **state)
{
    struct world *world = *state;
    static const uint64_t later[] = { 11, 12, 13, 14, 15 };
    struct sample_request request, other;
    struct local_sample what = draws(world, 2);
    assert_int_equal(local_sample_prepare(&what, &request, NULL), 0);
    assert_null(request.original_ids);
    assert_int_equal(request.global_begin, 10);
    world->nodes[0].original_ids = gaps;
    assert_int_equal(local_sample_prepare(&what, &request, NULL), 0);
    assert_ptr_equal(request.original_ids, gaps);
    world->nodes[0].original_ids = later;
    assert_int_equal(local_sample_prepare(&what, &request, NULL), 0);
    assert_ptr_equal(request.original_ids, later);
    what.etype = 1; /* each edge type has draws of its own */
    assert_int_equal(local_sample_prepare(&what, &other, NULL), 0);
    assert_true(request.key_base != other.key_base);
    assert_int_equal(local_sample_column_bytes(&world->part, 0, SAMPLE_IN), 4);
    assert_int_equal(local_sample_column_bytes(&world->part, 1, SAMPLE_IN), 8);
}

/* As many rows as fit, of which all are counted as what they may draw. */
static void rows_fit_into_a_bound_of_edges(void **state)
{
    struct world *world = *state;
    static const struct {
        int32_t fanout;
        uint64_t edges_max;
        uint32_t rows;
        uint64_t edges;
    } cases[] = {
        { -1, 0, 0, 0 },   { -1, 8, 0, 0 },   { -1, 9, 2, 9 },   { -1, 11, 2, 9 },
        { -1, 12, 3, 12 }, { -1, 13, 3, 12 }, { -1, 14, 4, 14 }, { -1, 15, 5, 15 },
        { -1, 99, 5, 15 }, { 2, 0, 0, 0 },    { 2, 1, 0, 0 },    { 2, 2, 1, 2 },
        { 2, 9, 4, 8 },    { 2, 10, 5, 10 },  { 2, 99, 5, 10 },  { 0, 0, 5, 0 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct local_sample what = draws(world, cases[i].fanout);
        struct sample_request request;
        uint64_t edges = 77;
        assert_int_equal(local_sample_prepare(&what, &request, NULL), 0);
        assert_int_equal(local_sample_fit(&request, cases[i].edges_max, &edges), cases[i].rows);
        assert_int_equal(edges, cases[i].edges);
    }
}

/* Memory for a draw: what the rows may draw, and no more than their degrees where a fanout is
 * larger than nearly all of these. */
static void draws_are_bounded_by_fanouts_and_degrees(void **state)
{
    struct world *world = *state;
    static const struct {
        int32_t fanout;
        bool replace;
        uint64_t row_edges, bound;
    } cases[] = {
        { 0, false, 0, 0 },
        { 2, false, 2, 10 },
        { 2, true, 2, 10 },
        { 256, false, 256, 1280 },
        { 257, false, 257, 15 },
        { 257, true, 257, 1028 }, /* one row has no edges */
        { (int32_t)SAMPLE_FANOUT_MAX, false, SAMPLE_FANOUT_MAX, 15 },
        { SAMPLE_EVERY, false, SAMPLE_ANY_DEGREE, 15 },
        { SAMPLE_EVERY, true, SAMPLE_ANY_DEGREE, 15 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct local_sample what = draws(world, cases[i].fanout);
        struct sample_request request;
        what.term = SAMPLE_TERM(cases[i].fanout, cases[i].replace);
        assert_int_equal(local_sample_prepare(&what, &request, NULL), 0);
        assert_int_equal(local_sample_row_edges(&request), cases[i].row_edges);
        assert_int_equal(local_sample_bound(&request), cases[i].bound);
    }
}

/* A row draws as many edges as its bound says. */
static void rows_draw_as_many_as_are_counted(void **state)
{
    struct world *world = *state;
    for (int32_t fanout = -1; fanout < 11; fanout++)
        for (int replace = 0; replace < 2; replace++) {
            struct local_sample what = draws(world, fanout);
            what.term = SAMPLE_TERM(fanout, replace != 0);
            struct sample_request request;
            struct sample_space space = { 0 };
            uint32_t counts[5], drawn[64];
            struct sample_result result = { .counts = counts, .columns = drawn };
            assert_int_equal(local_sample_prepare(&what, &request, NULL), 0);
            assert_int_equal(local_sample_draw(&space, &request, &result), 0);
            for (uint32_t i = 0; i < 5; i++)
                assert_int_equal(local_sample_count(&request, i), counts[i]);
            sample_space_fini(&space);
        }
}

/* A spec is for a graph of so many edge types, and each of its terms and tables is looked at. */
static void a_spec_is_checked_against_its_graph(void **state)
{
    struct world *world = *state;
    struct sample_spec spec;
    struct graph_meta meta;
    struct error error = { 0 };
    assert_int_equal(graph_meta_init(&meta, &world->part), 0);
    assert_int_equal(sample_spec_alloc(&spec, 2, 2), 0);
    struct graph_types more = world->types;
    more.num_etypes = 3;
    assert_int_equal(sample_spec_check(&spec, &world->types, "here", &error), 0);
    assert_int_equal(sample_spec_check(&spec, &more, "here", &error), TR_EMISMATCH);
    assert_says(&error, TR_EMISMATCH, "here: fanouts of 2 edge types, the graph has 3");
    for (uint32_t i = 0; i < 4; i++) {
        spec.terms[i].direction = SAMPLE_OUT;
        assert_int_equal(sample_spec_check(&spec, &world->types, "here", &error), 0);
        spec.terms[i].mask = 0;
        assert_int_equal(sample_spec_check(&spec, &world->types, "here", &error), TR_EUNSUPPORTED);
        assert_says(&error, TR_EUNSUPPORTED, "draws along out-edges have no weights and no");
        assert_non_null(strstr(error.text, i < 2 ? "here: layer 0, edges of type "
                                                 : "here: layer 1, edges of type "));
        assert_non_null(strstr(error.text, world->types.etypes[i % 2].name));
        spec.terms[i].mask = SAMPLE_NO_TABLE;
        spec.kind = SAMPLE_LABOR;
        assert_int_equal(sample_spec_check(&spec, &world->types, "here", &error), TR_EUNSUPPORTED);
        assert_says(&error, TR_EUNSUPPORTED,
                    "the labor sampler has no draws along out-edges; import the graph with "
                    "--reverse-types, and draw along the in-edges");
        spec.kind = SAMPLE_UNIFORM;
        spec.terms[i].direction = SAMPLE_IN;
    }
    /* Both edge types enter the first node type: what one draws in total, the other does too. */
    for (uint32_t i = 0; i < 4; i++) {
        spec.terms[i].flags = SAMPLE_TOTAL;
        assert_int_equal(sample_spec_check(&spec, &world->types, "here", &error),
                         i % 2 == 0 ? TR_EINVAL : 0);
    }
    assert_says(&error, TR_EINVAL, "here: layer 1: edges of type to are drawn in total with those");
    spec.terms[3].fanout = 4;
    assert_int_equal(sample_spec_check(&spec, &world->types, "here", &error), TR_EINVAL);
    spec.terms[2].fanout = 4;
    assert_int_equal(sample_spec_check(&spec, &world->types, "here", &error), 0);
    spec.terms[2].mask = 0;
    assert_int_equal(sample_spec_check(&spec, &world->types, "here", &error), TR_EUNSUPPORTED);
    assert_says(&error, TR_EUNSUPPORTED,
                "draws over all edge types together have no weights and no mask; give each edge "
                "type a fanout of its own");
    spec.terms[2].mask = SAMPLE_NO_TABLE;
    spec.kind = SAMPLE_LABOR;
    assert_int_equal(sample_spec_check(&spec, &world->types, "here", &error), TR_EUNSUPPORTED);
    assert_says(
        &error, TR_EUNSUPPORTED,
        "the labor sampler has no draws over all edge types together; give each edge type a "
        "fanout of its own");
    spec.kind = SAMPLE_UNIFORM;
    for (uint32_t i = 0; i < 4; i++)
        spec.terms[i] = SAMPLE_TERM(0, false);
    /* Names are x, y and w. */
    static const struct {
        struct sample_table table;
        int rv;
        const char *says;
    } cases[] = {
        { { SAMPLE_OF_NODES, 0, 1, SAMPLE_FOR_ALL }, 0, "" },
        { { SAMPLE_OF_EDGES, 0, 2, SAMPLE_FOR_ALL }, 0, "" },
        { { SAMPLE_OF_NODES, 2, 0, SAMPLE_FOR_ALL }, TR_ERANGE, "here: table 1 is of node type 2" },
        { { SAMPLE_OF_EDGES, 2, 2, SAMPLE_FOR_ALL }, TR_ERANGE, "here: table 1 is of edge type 2" },
        { { SAMPLE_OF_NODES, 0, 2, SAMPLE_FOR_ALL },
          TR_ENOENT,
          "here: table 1: node type 0 has no such feature" },
        { { SAMPLE_OF_NODES, 1, 0, SAMPLE_FOR_ALL }, TR_ENOENT, "node type 1 has no" },
        { { SAMPLE_OF_EDGES, 1, 2, SAMPLE_FOR_ALL }, TR_ENOENT, "edge type 1 has no" },
    };
    assert_int_equal(sample_spec_add_table(&spec, &cases[0].table), 0);
    assert_int_equal(sample_spec_add_table(&spec, &cases[0].table), 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        error = (struct error){ 0 };
        spec.tables[1] = cases[i].table;
        assert_int_equal(sample_tables_check(&spec, &meta, "here", &error), cases[i].rv);
        assert_says(&error, cases[i].rv, cases[i].says);
    }
    spec.tables[1] = cases[0].table;
    spec.tables[0] = cases[2].table;
    assert_int_equal(sample_tables_check(&spec, &meta, "here", &error), TR_ERANGE);
    assert_says(&error, TR_ERANGE, "here: table 0 is of node type 2");
    sample_spec_free(&spec);
    graph_meta_fini(&meta);
}

#define WORLD(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WORLD(tables_are_found_by_number),
        WORLD(tables_that_are_not_there_are_refused),
        WORLD(rows_are_checked_and_read),
        WORLD(out_edges_are_checked_where_they_are_read),
        WORLD(ends_are_those_of_the_edges),
        WORLD(edges_are_those_of_their_ranks),
        WORLD(runs_that_are_none_are_found),
        WORLD(draws_that_cannot_be_made_are_refused),
        WORLD(draws_are_keyed_by_original_ids),
        WORLD(rows_fit_into_a_bound_of_edges),
        WORLD(draws_are_bounded_by_fanouts_and_degrees),
        WORLD(rows_draw_as_many_as_are_counted),
        WORLD(a_spec_is_checked_against_its_graph),
    };
    return cmocka_run_group_tests_name("local", tests, NULL, NULL);
}
