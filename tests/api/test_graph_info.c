/* SPDX-License-Identifier: Apache-2.0 */
/* The facts of a graph, and partitions that are read in place: all nodes, edges and rows of them
 * are those of the graph that was partitioned. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <troupe/part.h>
#include <troupe/troupe.h>

#include "tests/api/api_world.h"
#include "tests/api/outcome.h"

#define PARTS 3u

static struct tr_session *session;
static struct tr_graph *graph;

static int set_up(void **state)
{
    char path[256];
    world_setup(state);
    world_partition(PARTITION_RANDOM, PARTS, path);
    ok(tr_session_open(NULL, &session, &failure));
    ok(tr_graph_open(session, path, TR_WAIT_FOREVER, &graph, &failure));
    return 0;
}

static int tear_down(void **state)
{
    tr_graph_close(graph);
    tr_session_close(session);
    return world_teardown(state);
}

static void a_graph_says_where_its_book_is(void **state)
{
    (void)state;
    struct tr_book *book;
    struct tr_book_info info = TR_BOOK_INFO_INIT;
    ok(tr_book_open(tr_graph_path(graph), &book, &failure));
    ok(tr_book_info(book, &info, &failure));
    assert_int_equal(info.num_nodes, WORLD_NODES);
    tr_book_close(book);
}

static void types_and_counts_up_to_the_last(void **state)
{
    (void)state;
    assert_int_equal(tr_graph_num_ntypes(graph), 1);
    assert_int_equal(tr_graph_num_etypes(graph), 1);
    assert_int_equal(tr_graph_num_parts(graph), PARTS);
    assert_string_equal(tr_graph_ntype_name(graph, 0), "_N");
    assert_string_equal(tr_graph_etype_name(graph, 0), "_E");
    assert_null(tr_graph_ntype_name(graph, 1));
    assert_null(tr_graph_etype_name(graph, 1));
    assert_int_equal(tr_graph_num_nodes(graph, 0), WORLD_NODES);
    assert_int_equal(tr_graph_num_edges(graph, 0), WORLD_EDGES);
    assert_int_equal(tr_graph_num_nodes(graph, 1), 0);
    assert_int_equal(tr_graph_num_edges(graph, 1), 0);
    assert_int_equal(tr_graph_num_features(graph, 1), 0);
    assert_int_equal(tr_graph_num_edge_features(graph, 0), 0);
    assert_int_equal(tr_graph_num_edge_features(graph, 1), 0);
}

static void features_by_number_and_by_name(void **state)
{
    uint32_t count = tr_graph_num_features(graph, 0);
    struct tr_feature_info info = TR_FEATURE_INFO_INIT, found = TR_FEATURE_INFO_INIT;
    (void)state;
    assert_true(count >= 2);
    for (uint32_t i = 0; i < count; i++) {
        ok(tr_graph_feature(graph, 0, i, &info, &failure));
        ok(tr_graph_find_feature(graph, 0, info.name, &found, &failure));
        assert_ptr_equal(found.name, info.name);
        assert_int_equal(found.width, info.width);
        assert_int_equal(found.dtype, info.dtype);
        assert_int_equal(found.row_bytes, info.row_bytes);
    }
    ok(tr_graph_find_feature(graph, 0, "feat", &info, &failure));
    assert_int_equal(info.width, WORLD_WIDTH);
    assert_int_equal(info.dtype, TR_F32);
    assert_int_equal(info.row_bytes, WORLD_WIDTH * sizeof(float));
    assert_int_equal(tr_graph_feature(graph, 0, count, &info, &failure), TR_ERANGE);
    assert_int_equal(tr_graph_feature(graph, 1, 0, &info, &failure), TR_ERANGE);
    assert_int_equal(tr_graph_find_feature(graph, 0, "nothing", &info, &failure), TR_ENOENT);
    assert_non_null(strstr(failure.message, "node type '_N'"));
    assert_int_equal(tr_graph_find_feature(graph, 1, "feat", &info, &failure), TR_ENOENT);
    assert_non_null(strstr(failure.message, "node type '?'"));
}

/* Every node is of one partition, whose rows are its own and whose edges end there. */
static void partitions_are_the_whole_graph(void **state)
{
    static float features[WORLD_NODES * WORLD_WIDTH];
    static int64_t labels[WORLD_NODES];
    static uint8_t seen[WORLD_NODES];
    uint64_t nodes_before = 0, edges_before = 0, in_degrees = 0;
    (void)state;
    world_truth(features, labels);
    ok(tr_graph_map_parts(graph, &failure));
    for (uint32_t p = 0; p < PARTS; p++) {
        struct tr_part_nodes nodes = TR_PART_NODES_INIT;
        struct tr_part_edges edges = TR_PART_EDGES_INIT;
        struct tr_rows rows = TR_ROWS_INIT;
        ok(tr_graph_part_nodes(graph, p, 0, &nodes, &failure));
        ok(tr_graph_part_edges(graph, p, 0, &edges, &failure));
        ok(tr_graph_part_rows(graph, p, 0, "feat", &rows, &failure));
        assert_int_equal(nodes.first_id, nodes_before);
        assert_int_equal(edges.first_edge, edges_before);
        assert_int_equal(edges.num_rows, nodes.num_nodes);
        assert_int_equal(edges.index[0], 0);
        assert_int_equal(edges.index[edges.num_rows], edges.num_edges);
        assert_int_equal(rows.num_rows, nodes.num_nodes);
        assert_int_equal(rows.width, WORLD_WIDTH);
        assert_int_equal(rows.dtype, TR_F32);
        for (uint64_t i = 0; i < nodes.num_nodes; i++) {
            uint64_t id = nodes.original_ids[i];
            assert_true(id < WORLD_NODES && seen[id]++ == 0);
            assert_int_equal(nodes.in_degrees[i], edges.index[i + 1] - edges.index[i]);
            in_degrees += nodes.in_degrees[i];
            assert_memory_equal((const char *)rows.rows + i * rows.row_bytes,
                                &features[id * WORLD_WIDTH], WORLD_WIDTH * sizeof(float));
        }
        for (uint64_t e = 0; e < edges.num_edges; e++)
            assert_true((edges.source_ids != NULL ? edges.source_ids[edges.sources[e]]
                                                  : edges.sources[e]) < WORLD_NODES);
        nodes_before += nodes.num_nodes;
        edges_before += edges.num_edges;
    }
    assert_int_equal(nodes_before, WORLD_NODES);
    assert_int_equal(edges_before, WORLD_EDGES);
    assert_int_equal(in_degrees, WORLD_EDGES);
}

static void what_no_partition_has_is_refused(void **state)
{
    struct tr_part_nodes nodes = TR_PART_NODES_INIT;
    struct tr_part_edges edges = TR_PART_EDGES_INIT;
    struct tr_rows rows = TR_ROWS_INIT;
    (void)state;
    assert_int_equal(tr_graph_part_nodes(graph, PARTS, 0, &nodes, &failure), TR_ERANGE);
    assert_string_equal(failure.message, "the graph has no partition 3: it has 3");
    assert_int_equal(tr_graph_part_nodes(graph, 0, 1, &nodes, &failure), TR_ERANGE);
    assert_string_equal(failure.message, "the graph has no node type 1");
    assert_int_equal(tr_graph_part_edges(graph, PARTS, 0, &edges, &failure), TR_ERANGE);
    assert_int_equal(tr_graph_part_edges(graph, 0, 1, &edges, &failure), TR_ERANGE);
    assert_string_equal(failure.message, "the graph has no edge type 1");
    assert_int_equal(tr_graph_part_rows(graph, PARTS, 0, "feat", &rows, &failure), TR_ERANGE);
    assert_int_equal(tr_graph_part_rows(graph, 0, 1, "feat", &rows, &failure), TR_ERANGE);
    assert_int_equal(tr_graph_part_rows(graph, 2, 0, "nothing", &rows, &failure), TR_ENOENT);
    assert_string_equal(failure.message, "partition 2 has no node feature 'nothing'");
    assert_int_equal(tr_graph_part_edge_rows(graph, PARTS, 0, "w", &rows, &failure), TR_ERANGE);
    assert_int_equal(tr_graph_part_edge_rows(graph, 0, 1, "w", &rows, &failure), TR_ERANGE);
    assert_string_equal(failure.message, "the graph has no edge type 1");
    assert_int_equal(tr_graph_part_edge_rows(graph, 2, 0, "nothing", &rows, &failure), TR_ENOENT);
    assert_string_equal(failure.message, "partition 2 has no edge feature 'nothing'");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_graph_says_where_its_book_is),
        cmocka_unit_test(types_and_counts_up_to_the_last),
        cmocka_unit_test(features_by_number_and_by_name),
        cmocka_unit_test(partitions_are_the_whole_graph),
        cmocka_unit_test(what_no_partition_has_is_refused),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
