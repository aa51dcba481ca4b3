/* SPDX-License-Identifier: Apache-2.0 */
/* NAME.json that lies or is broken is refused with the path of the field. */
#include "tests/partition/graph_util.h"

static const char whole[] =
    "{\"graph_name\": \"g\", \"num_nodes\": 5, \"num_edges\": 3, \"part_method\": \"random\","
    " \"num_parts\": 2, \"halo_hops\": 1,"
    " \"node_map\": {\"_N\": [[0, 2], [2, 5]]}, \"edge_map\": {\"_N:_E:_N\": [[0, 1], [1, 3]]},"
    " \"ntypes\": {\"_N\": 0}, \"etypes\": {\"_N:_E:_N\": 0},"
    " \"part-0\": {\"node_feats\": \"p\", \"edge_feats\": \"p\", \"part_graph\": \"p\"},"
    " \"part-1\": {\"node_feats\": \"q\", \"edge_feats\": \"q\", \"part_graph\": \"q\"},"
    " \"troupe\": {\"format\": 1, \"seed\": \"18446744073709551615\", \"num_trainers\": 0,"
    " \"original_edge_ids\": true, \"column_tables\": [],"
    " \"node_data\": {\"_N\": {\"x\": {\"dtype\": \"float32\", \"shape\": [4]}}},"
    " \"edge_data\": {}}}";

/* The document with one text replaced by another. */
static void put_changed(struct scratch *scratch, const char *from, const char *to)
{
    char text[sizeof whole + 200];
    const char *at = strstr(whole, from);
    assert_non_null(at);
    snprintf(text, sizeof text, "%.*s%s%s", (int)(at - whole), whole, to, at + strlen(from));
    put_text(scratch, "g.json", text);
}

static void a_whole_document_is_read(void **state)
{
    struct scratch *scratch = *state;
    struct store *store;
    struct error error;
    put_text(scratch, "g.json", whole);
    assert_int_equal(store_open(at(scratch, "g.json"), &store, &error), 0);
    const struct book_file *file = store_book_file(store);
    assert_int_equal(file->book.num_nodes[0], 5);
    assert_int_equal(file->book.num_edges[0], 3);
    assert_int_equal(book_node_owner(&file->book, 0, 1), 0);
    assert_int_equal(book_node_owner(&file->book, 0, 2), 1);
    assert_int_equal(book_node_owner(&file->book, 0, 5), TR_ERANGE);
    assert_true(file->seed == UINT64_MAX);
    assert_int_equal(file->num_tables, 1);
    assert_int_equal(file->tables[0].shape[0], 4);
    /* What is read is written and read the same. */
    assert_int_equal(book_file_write(file, files_posix, at(scratch, "h.json"), &error), 0);
    store_close(store);
    assert_int_equal(store_open(at(scratch, "h.json"), &store, &error), 0);
    assert_int_equal(store_book(store)->num_parts, 2);
    assert_true(store_book_file(store)->seed == UINT64_MAX);
    store_close(store);
}

/* It is not taken for a broken one. */
static void a_document_that_is_not_there_is_named(void **state)
{
    struct scratch *scratch = *state;
    struct store *store;
    struct error error = { 0 };
    assert_int_equal(store_open(at(scratch, "none.json"), &store, &error), TR_ENOENT);
    assert_says(&error, TR_ENOENT, "none.json");
}

static void each_lie_is_named(void **state)
{
    static const struct {
        const char *from, *to, *word;
    } lies[] = {
        { "\"num_nodes\": 5", "\"num_nodes\": 6", "node_map" },
        { "\"num_nodes\": 5", "\"num_nodes\": -5", "num_nodes" },
        { "\"num_parts\": 2", "\"num_parts\": 0", "num_parts" },
        { "\"num_parts\": 2", "\"num_parts\": 3", "node_map" },
        { "\"num_parts\": 2", "\"num_parts\": 99999999", "num_parts" },
        { "\"num_parts\": 2", "\"num_parts\": \"2\"", "num_parts" },
        { "[[0, 2], [2, 5]]", "[[0, 2], [3, 5]]", "node_map" },
        { "[[0, 2], [2, 5]]", "[[0, 2], [5, 2]]", "node_map" },
        { "[[0, 2], [2, 5]]", "[[0, 2], [2]]", "node_map" },
        { "[[0, 2], [2, 5]]", "[[0, 2], [2, 9223372036854775807]]", "node_map" },
        { "[[0, 1], [1, 3]]", "[[0, 1], [1, 4]]", "edge_map" },
        { "\"ntypes\": {\"_N\": 0}", "\"ntypes\": {\"_N\": 1}", "ntypes" },
        { "\"ntypes\": {\"_N\": 0}", "\"ntypes\": {\"a/b\": 0}", "ntypes" },
        { "\"etypes\": {\"_N:_E:_N\": 0}", "\"etypes\": {\"_N:_E:_M\": 0}", "etypes" },
        { "\"part-1\"", "\"part-2\"", "part-1" },
        { "\"part_graph\": \"q\"", "\"part_graph\": 4", "part_graph" },
        { "\"format\": 1", "\"format\": 2", "format" },
        { "\"troupe\"", "\"trouper\"", "troupe" },
        { "\"18446744073709551615\"", "\"x\"", "seed" },
        { "\"original_edge_ids\": true", "\"original_edge_ids\": 1", "original_edge_ids" },
        { "float32", "float33", "dtype" },
        { "[4]", "[4, -1]", "shape" },
        { "[4]", "[2147483647, 2147483647]", "shape" },
        { "[4]", "[1, 1, 1, 1, 1]", "shape" },
        { "\"node_data\": {\"_N\"", "\"node_data\": {\"_M\"", "node_data" },
        { "\"column_tables\": []", "\"column_tables\": [\"x\"]", "column_tables" },
        { "}}}", "}}", "JSON" },
    };
    struct scratch *scratch = *state;
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        struct store *store;
        struct error error = { 0 };
        put_changed(scratch, lies[i].from, lies[i].to);
        int rv = store_open(at(scratch, "g.json"), &store, &error);
        if (rv == 0 || strstr(error.text, lies[i].word) == NULL)
            fail_msg("%s -> %s: %d '%s'", lies[i].from, lies[i].to, rv, error.text);
        assert_non_null(strstr(error.text, "g.json"));
    }
}

static void owners_skip_empty_partitions(void **state)
{
    (void)state;
    struct graph_types types;
    struct book book;
    const uint64_t nodes[] = { 0, 3, 0, 0, 2, 0 }, edges[6] = { 0 };
    assert_int_equal(graph_types_init_homogeneous(&types), 0);
    assert_int_equal(book_init(&book, "g", &types, 6, nodes, edges), 0);
    for (uint64_t id = 0; id < 5; id++)
        assert_int_equal(book_node_owner(&book, 0, id), id < 3 ? 1 : 4);
    assert_int_equal(book_node_owner(&book, 0, 5), TR_ERANGE);
    assert_int_equal(book_edge_owner(&book, 0, 0), TR_ERANGE);
    book_fini(&book);
    const uint64_t huge[] = { INT64_MAX, 1 };
    assert_int_equal(book_init(&book, "g", &types, 2, huge, edges), TR_ENOMEM);
    assert_int_equal(book_init(&book, "g", &types, 0, huge, edges), TR_ERANGE);
    graph_types_fini(&types);
}

int main(void)
{
#define SCRATCH(test) cmocka_unit_test_setup_teardown(test, scratch_setup, scratch_teardown)
    const struct CMUnitTest tests[] = {
        SCRATCH(a_whole_document_is_read),
        SCRATCH(a_document_that_is_not_there_is_named),
        SCRATCH(each_lie_is_named),
        cmocka_unit_test(owners_skip_empty_partitions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
