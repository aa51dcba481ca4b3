/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Folders of the Open Graph Benchmark whose graph is in arrays, the rows of reverses, and files that
 * do not fit, which are refused by their names.
 */
#include "tests/partition/raw_util.h"

#include <math.h>

#include "partition/import/ogb_import.h"
#include "tests/npz_files.h"

static const int64_t EDGES[2][4] = { { 0, 1, 2, 2 }, { 1, 2, 2, 0 } };
static const int64_t THREE[] = { 3 }, FOUR[] = { 4 };
static const float FEATURES[3][2] = { { 1, 2 }, { 3, 4 }, { 5, 6 } };
static const float LABELS[] = { 1, NAN, 0 };

static void make(struct scratch *scratch, const char *folder)
{
    assert_int_equal(files_make_folders(files_posix, at(scratch, folder), NULL), 0);
}

static int import(struct scratch *scratch, bool undirected, struct ogb_facts *facts,
                  struct error *error)
{
    char from[300], path[300];
    const struct raw_write_options write = { .replace = true };
    const struct ogb_import_options options = { .undirected = undirected };
    snprintf(from, sizeof from, "%s/set", scratch->folder);
    snprintf(path, sizeof path, "%s/raw", scratch->folder);
    return ogb_import(from, &options, path, &write, facts, error);
}

static struct raw_graph *made(struct scratch *scratch, bool undirected, struct ogb_facts *facts)
{
    struct error error = { 0 };
    struct raw_graph *graph = NULL;
    if (import(scratch, undirected, facts, &error) != 0 ||
        raw_open(at(scratch, "raw"), NULL, &graph, &error) != 0)
        fail_msg("%s", error.text);
    return graph;
}

static void refused(struct scratch *scratch, int code, const char *word)
{
    struct error error = { 0 };
    struct ogb_facts facts;
    int rv = import(scratch, false, &facts, &error);
    if (rv != code)
        fail_msg("%d instead of %d: %s", rv, code, error.text);
    assert_says(&error, code, word);
    assert_false(files_exists(files_posix, at(scratch, "raw")));
}

static void has_rows(struct raw_graph *graph, bool on_edges, uint32_t type, const char *name,
                     enum tr_dtype dtype, size_t size, const void *expected)
{
    struct error error = { 0 };
    unsigned char rows[200];
    int number = raw_find_table(graph, on_edges, type, name);
    if (number < 0)
        fail_msg("there is no table '%s'", name);
    const struct raw_table *table = &graph->tables[number];
    assert_int_equal(table->dtype, dtype);
    assert_int_equal(table->num_rows * table->row_bytes, size);
    assert_int_equal(raw_read_rows(graph, (uint32_t)number, 0, table->num_rows, rows, &error), 0);
    assert_memory_equal(rows, expected, size);
}

static void put_data(struct scratch *scratch, const int64_t *nodes, bool fortran)
{
    int64_t turned[4][2];
    for (int i = 0; i < 8; i++)
        turned[i % 4][i / 4] = EDGES[i / 4][i % 4];
    struct archive *npz = npz_begin(at(scratch, "set/raw/data.npz"));
    npz_add(npz, "edge_index", "<i8", fortran ? "True" : "False", "(2, 4)",
            fortran ? (const void *)turned : EDGES, sizeof EDGES);
    npz_add(npz, "num_nodes_list", "<i8", "False", "(1,)", nodes, 8);
    npz_add(npz, "num_edges_list", "<i8", "False", "(1,)", FOUR, sizeof FOUR);
    npz_add(npz, "node_feat", "<f4", "False", "(3, 2)", FEATURES, sizeof FEATURES);
    npz_add(npz, "edge_weight", "<i8", "False", "(4,)", EDGES[0], sizeof EDGES[0]);
    npz_end(npz);
}

static void check_arrays(void **state, bool fortran)
{
    static const int64_t weights[] = { 0, 0, 1, 1, 2, 2, 2 };
    static const uint64_t expected[] = { 0, 1, 1, 0, 1, 2, 2, 1, 2, 2, 2, 0, 0, 2 };
    static const uint8_t train[] = { 1, 0, 1 };
    struct error error = { 0 };
    struct ogb_facts facts;
    uint64_t src[7], dst[7];
    make(*state, "set/raw");
    make(*state, "set/split/time");
    put_data(*state, THREE, fortran);
    struct archive *npz = npz_begin(at(*state, "set/raw/node-label.npz"));
    npz_add(npz, "node_label", "<f4", "False", "(3, 1)", LABELS, sizeof LABELS);
    npz_end(npz);
    put_text(*state, "set/split/time/train.csv", "2\n0\n");
    struct raw_graph *graph = made(*state, true, &facts);
    assert_int_equal(graph->num_edges[0], 7);
    assert_int_equal(raw_read_edges(graph, 0, 0, 7, src, dst, &error), 0);
    for (int i = 0; i < 7; i++) {
        assert_int_equal(src[i], expected[2 * i]);
        assert_int_equal(dst[i], expected[2 * i + 1]);
    }
    has_rows(graph, true, 0, "weight", TR_I64, sizeof weights, weights);
    has_rows(graph, false, 0, "feat", TR_F32, sizeof FEATURES, FEATURES);
    has_rows(graph, false, 0, "label", TR_F32, sizeof LABELS, LABELS);
    has_rows(graph, false, 0, "train_mask", TR_U8, sizeof train, train);
    assert_string_equal(facts.split, "time");
    assert_int_equal(facts.self_loops, 1);
    assert_int_equal(facts.pairs_seen, 3);
    assert_int_equal(facts.pairs_mutual, 0);
    ogb_facts_fini(&facts);
    raw_close(graph);
}

static void a_graph_in_arrays(void **state)
{
    check_arrays(state, false);
}

/* As NumPy saves the transposed array of pairs. */
static void edges_may_stand_in_the_order_of_fortran(void **state)
{
    check_arrays(state, true);
}

static void labels_with_fractions_are_refused(void **state)
{
    static const float labels[] = { 0, 1.5f, 1 };
    make(*state, "set/raw");
    put_data(*state, THREE, false);
    struct archive *npz = npz_begin(at(*state, "set/raw/node-label.npz"));
    npz_add(npz, "node_label", "<f4", "False", "(3, 1)", labels, sizeof labels);
    npz_end(npz);
    refused(*state, TR_EUNSUPPORTED,
            "row 1 is 1.5, not the number of a class; amounts are not learned");
}

static void a_graph_of_types_in_arrays(void **state)
{
    static const int64_t two[] = { 2 };
    struct ogb_facts facts;
    make(*state, "set/raw");
    struct archive *npz = npz_begin(at(*state, "set/raw/num_nodes_dict.npz"));
    npz_add(npz, "a", "<i8", "False", "(1,)", THREE, sizeof THREE);
    npz_add(npz, "b", "<i8", "False", "(1,)", two, sizeof two);
    npz_end(npz);
    npz = npz_begin(at(*state, "set/raw/edge_index_dict.npz"));
    npz_add(npz, "a___to___a", "<i8", "False", "(2, 4)", EDGES, sizeof EDGES);
    npz_add(npz, "b___of___a", "<i8", "False", "(2, 1)", EDGES, 16);
    npz_end(npz);
    npz = npz_begin(at(*state, "set/raw/node_feat_dict.npz"));
    npz_add(npz, "a", "<f4", "False", "(3, 2)", FEATURES, sizeof FEATURES);
    npz_end(npz);
    npz = npz_begin(at(*state, "set/raw/edge_reltype.npz"));
    npz_add(npz, "a___to___a", "<i8", "False", "(4, 1)", EDGES, 32);
    npz_end(npz);
    struct raw_graph *graph = made(*state, false, &facts);
    assert_int_equal(graph->types.num_ntypes, 2);
    assert_int_equal(graph->types.num_etypes, 2);
    assert_int_equal(graph->num_edges[0], 4);
    assert_int_equal(graph->num_edges[1], 1);
    has_rows(graph, false, 0, "feat", TR_F32, sizeof FEATURES, FEATURES);
    has_rows(graph, true, 0, "reltype", TR_I64, 32, EDGES);
    assert_true(facts.heterogeneous);
    assert_null(facts.split);
    ogb_facts_fini(&facts);
    raw_close(graph);
}

/* A text of one type with a file of another content, and the words of its refusal. */
static void files_that_do_not_fit(void **state)
{
    static const struct {
        const char *name, *text;
        int code;
        const char *says;
    } WRONG[] = {
        { "edge", "0,1\n3,1\n", TR_ERANGE, "edge.csv: line 2: the source" },
        { "edge", "0,1\n1 2\n", TR_EFORMAT, "edge.csv: line 2: a comma and a destination" },
        { "edge", "0,1\n1,2,3\n", TR_EFORMAT, "edge.csv: line 2: has more than is needed" },
        { "edge", "0,1\n", TR_EMISMATCH, "edge.csv: holds 1 edges" },
        { "num-node-list", "3\n4\n", TR_EUNSUPPORTED, "second graph" },
        { "num-edge-list", "x\n", TR_EFORMAT, "num-edge-list.csv: line 1: the count is needed" },
        { "node-feat", "0.5\n1\n", TR_EMISMATCH, "node-feat.csv: has 2 rows for 3 nodes" },
        { "node-feat", "0.5\n1\n1\n1\n", TR_EMISMATCH, "node-feat.csv: has at least 4 rows" },
        { "node-feat", "0.5,1\n1\n1,1\n", TR_EFORMAT, "has 1 columns, the first one 2" },
        { "node-feat", "0.5\nnan\n1\n", TR_EFORMAT,
          "node-feat.csv: row 1, column 0 is not finite" },
        { "node-feat", "0.5\nx\n1\n", TR_EFORMAT, "line 2: a number is needed, not 'x'" },
        { "edge-feat", "1\n2\n3\n", TR_EMISMATCH,
          "edge-feat.csv: has at least 3 rows for 2 edges" },
        { "node_year", "1\n", TR_EMISMATCH, "node_year.csv: has 1 rows for 3 nodes" },
    };
    for (size_t i = 0; i < sizeof WRONG / sizeof *WRONG; i++) {
        char name[100];
        make(*state, "set/raw");
        put_text(*state, "set/raw/edge.csv", "0,1\n1,2\n");
        put_text(*state, "set/raw/num-node-list.csv", "3\n");
        put_text(*state, "set/raw/num-edge-list.csv", "2\n");
        snprintf(name, sizeof name, "set/raw/%s.csv", WRONG[i].name);
        put_text(*state, name, WRONG[i].text);
        refused(*state, WRONG[i].code, WRONG[i].says);
        assert_int_equal(files_remove_tree(files_posix, at(*state, "set"), NULL), 0);
    }
    make(*state, "set/raw");
    put_data(*state, FOUR, false);
    refused(*state, TR_EMISMATCH, "node_feat: has 3 rows for 4 nodes");
    put_data(*state, EDGES[0] + 2, false);
    refused(*state, TR_ERANGE, "edge 2: the source 2 is not a node: there are 2");
    assert_int_equal(files_remove_tree(files_posix, at(*state, "set"), NULL), 0);
    make(*state, "set/raw");
    put_text(*state, "set/raw/edge.csv", "0,1\n1,2\n");
    refused(*state, TR_ENOENT, "num-node-list.csv.gz: is not there");
}

/* What strtod gives, for numbers of every length. */
static void numbers_as_they_are_written(void **state)
{
    static const float expected[] = { 0.1f,
                                      -0.057943f,
                                      1e10f,
                                      1.2345678901234567f,
                                      3.0f,
                                      -2.5e-7f,
                                      123456789012345678901234567890.0f };
    static const char row[] = "0.1,-0.057943,1e10,1.23456789012345678901,3,-2.5E-7,"
                              "123456789012345678901234567890\r\n";
    char text[3 * sizeof row] = "";
    struct ogb_facts facts;
    float rows[3][7];
    make(*state, "set/raw");
    put_text(*state, "set/raw/edge.csv", "0,1\n1,2\n");
    put_text(*state, "set/raw/num-node-list.csv", "3\n");
    put_text(*state, "set/raw/num-edge-list.csv", "2\n");
    for (int i = 0; i < 3; i++) {
        strcat(text, row);
        memcpy(rows[i], expected, sizeof expected);
    }
    put_text(*state, "set/raw/node-feat.csv", text);
    put_text(*state, "set/raw/node_year.csv", "9007199254740993\n-4\n+5\n");
    put_text(*state, "set/raw/node_age.csv", "1\n2\n3\n");
    put_text(*state, "set/raw/node_zone.csv", "1\n2\n3\n");
    static const int64_t years[] = { 9007199254740993, -4, 5 };
    struct raw_graph *graph = made(*state, false, &facts);
    has_rows(graph, false, 0, "feat", TR_F32, sizeof rows, rows);
    has_rows(graph, false, 0, "year", TR_I64, sizeof years, years);
    /* Whatever the order in which the folder lists its files. */
    assert_int_equal(raw_find_table(graph, false, 0, "age"), 1);
    assert_int_equal(raw_find_table(graph, false, 0, "year"), 2);
    assert_int_equal(raw_find_table(graph, false, 0, "zone"), 3);
    ogb_facts_fini(&facts);
    raw_close(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_graph_in_arrays, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(edges_may_stand_in_the_order_of_fortran, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(labels_with_fractions_are_refused, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(a_graph_of_types_in_arrays, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(files_that_do_not_fit, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(numbers_as_they_are_written, scratch_setup,
                                        scratch_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
