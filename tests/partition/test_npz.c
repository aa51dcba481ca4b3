/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Archives of both styles become the graph that their arrays say, in every order and type of
 * elements; what does not fit is refused by the array's name, and nothing is left behind.
 */
#include "tests/partition/raw_util.h"

#include <math.h>

#include "partition/import/npz_import.h"
#include "partition/raw/raw.h"
#include "partition/raw/reverse_pairs.h"
#include "tests/npz_files.h"

/* Five nodes; 1 -> 0 is the only reverse, 4 -> 4 a self-loop. */
static const int32_t EDGES[][2] = { { 0, 1 }, { 1, 0 }, { 2, 3 }, { 3, 4 }, { 4, 4 } };
static const int32_t INDPTR[] = { 0, 1, 2, 3, 4, 5 };
static const int32_t INDICES[] = { 1, 0, 3, 4, 4 };
static const int64_t SHAPE[] = { 5, 5 };
static const int64_t LABELS[] = { 0, 1, 0, 2, 1 };
static const float FEATURES[5][3] = {
    { 1, 0, 2 }, { 0, 0, 0 }, { 0, 3, 0 }, { 4, 5, 6 }, { 0, 0, 7 }
};
static const struct npz_import_options PLAIN;

static int import(struct scratch *scratch, const struct npz_import_options *options,
                  struct npz_facts *facts, struct error *error)
{
    char from[300], path[300];
    const struct raw_write_options write = { .replace = true };
    snprintf(from, sizeof from, "%s/a.npz", scratch->folder);
    snprintf(path, sizeof path, "%s/raw", scratch->folder);
    return npz_import(from, options, path, &write, facts, error);
}

/* Imports and opens what came of it. */
static struct raw_graph *made(struct scratch *scratch, const struct npz_import_options *options,
                              struct npz_facts *facts)
{
    struct error error = { 0 };
    struct raw_graph *graph = NULL;
    if (import(scratch, options, facts, &error) != 0 ||
        raw_open(at(scratch, "raw"), NULL, &graph, &error) != 0)
        fail_msg("%s", error.text);
    return graph;
}

static void refused(struct scratch *scratch, const struct npz_import_options *options, int code,
                    const char *word)
{
    struct error error = { 0 };
    struct npz_facts facts;
    assert_int_equal(files_remove_tree(files_posix, at(scratch, "raw"), NULL), 0);
    int rv = import(scratch, options, &facts, &error);
    if (rv != code)
        fail_msg("%d instead of %d: %s", rv, code, error.text);
    assert_says(&error, code, word);
    assert_int_equal(count_names(scratch), 1);
}

static void has_rows(struct raw_graph *graph, bool on_edges, const char *name, enum tr_dtype dtype,
                     uint64_t width, const void *expected)
{
    struct error error = { 0 };
    unsigned char rows[1000];
    int number = raw_find_table(graph, on_edges, 0, name);
    if (number < 0)
        fail_msg("there is no table '%s'", name);
    const struct raw_table *table = &graph->tables[number];
    assert_int_equal(table->dtype, dtype);
    assert_int_equal(table->width, width);
    assert_true(table->num_rows * table->row_bytes <= sizeof rows);
    assert_int_equal(raw_read_rows(graph, (uint32_t)number, 0, table->num_rows, rows, &error), 0);
    assert_memory_equal(rows, expected, (size_t)table->num_rows * table->row_bytes);
}

static void has_edges(struct raw_graph *graph, uint64_t count, const uint64_t *expected)
{
    struct error error = { 0 };
    uint64_t src[20], dst[20];
    assert_int_equal(graph->num_edges[0], count);
    assert_int_equal(raw_read_edges(graph, 0, 0, count, src, dst, &error), 0);
    for (uint64_t i = 0; i < count; i++) {
        assert_int_equal(src[i], expected[2 * i]);
        assert_int_equal(dst[i], expected[2 * i + 1]);
    }
}

static struct archive *begin(struct scratch *scratch)
{
    return npz_begin(at(scratch, "a.npz"));
}

static void put_adjacency(struct archive *npz)
{
    static const float ones[] = { 1, 1, 1, 1, 1 };
    npz_add(npz, "adj_data", "<f4", "False", "(5,)", ones, sizeof ones);
    npz_add(npz, "adj_indices", "<i4", "False", "(5,)", INDICES, sizeof INDICES);
    npz_add(npz, "adj_indptr", "<i4", "False", "(6,)", INDPTR, sizeof INDPTR);
    npz_add(npz, "adj_shape", "<i8", "False", "(2,)", SHAPE, sizeof SHAPE);
}

static void put_edges(struct archive *npz)
{
    npz_add(npz, "edges", "<i4", "False", "(5, 2)", EDGES, sizeof EDGES);
}

static const uint64_t AS_IT_IS[] = { 0, 1, 1, 0, 2, 3, 3, 4, 4, 4 };

static void the_style_of_the_benchmark(void **state)
{
    static const double data[] = { 1, 2, 3, 4, 5, 2, 4, 7 };
    static const int32_t indptr[] = { 0, 2, 2, 3, 7, 8 }, indices[] = { 0, 2, 1, 0, 1, 2, 2, 2 };
    static const int64_t shape[] = { 5, 3 };
    struct npz_facts facts;
    struct archive *npz = begin(*state);
    put_adjacency(npz);
    npz_add(npz, "attr_data", "<f8", "False", "(8,)", data, sizeof data);
    npz_add(npz, "attr_indices", "<i4", "False", "(8,)", indices, sizeof indices);
    npz_add(npz, "attr_indptr", "<i4", "False", "(6,)", indptr, sizeof indptr);
    npz_add(npz, "attr_shape", "<i8", "False", "(2,)", shape, sizeof shape);
    npz_add(npz, "labels", "<i8", "False", "(5,)", LABELS, sizeof LABELS);
    /* A pickle that nothing needs: it is named, and not read. */
    npz_add(npz, "class_names", "|O", "False", "(3,)", "no", 2);
    npz_end(npz);
    struct raw_graph *graph = made(*state, &PLAIN, &facts);
    assert_int_equal(graph->num_nodes[0], 5);
    has_edges(graph, 5, AS_IT_IS);
    has_rows(graph, false, "feat", TR_F32, 3, FEATURES);
    has_rows(graph, false, "label", TR_I64, 1, LABELS);
    assert_int_equal(raw_find_table(graph, true, 0, "weight"), -1);
    assert_string_equal(facts.edges_name, "adj");
    assert_string_equal(facts.features_name, "attr");
    assert_string_equal(facts.unread, "class_names");
    assert_int_equal(facts.sparse_items, 8);
    assert_int_equal(facts.self_loops, 1);
    assert_int_equal(facts.pairs_seen, 3);
    assert_int_equal(facts.pairs_mutual, 1);
    npz_facts_fini(&facts);
    raw_close(graph);
}

static void put_masks(struct archive *npz, const char *shape, const uint8_t *bits, size_t size)
{
    npz_add(npz, "train_masks", "|b1", "False", shape, bits, size);
    npz_add(npz, "val_masks", "|u1", "False", shape, bits, size);
    npz_add(npz, "test_masks", "|b1", "False", shape, bits, size);
}

static void the_style_of_heterophilous_graphs(void **state)
{
    static const uint8_t rows[] = { 1, 0, 0, 1, 0, 0, 1, 1, 0, 0 };
    static const uint8_t columns[] = { 1, 0, 0, 1, 0, 1, 1, 0, 0, 0 };
    static const float turned[3][5] = { { 1, 0, 0, 4, 0 }, { 0, 0, 3, 5, 0 }, { 2, 0, 0, 6, 7 } };
    static const int32_t edges_turned[2][5] = { { 0, 1, 2, 3, 4 }, { 1, 0, 3, 4, 4 } };
    for (int turn = 0; turn < 2; turn++) {
        struct npz_facts facts;
        struct archive *npz = begin(*state);
        if (turn) {
            npz_add(npz, "edges", "<i4", "False", "(2, 5)", edges_turned, sizeof edges_turned);
            npz_add(npz, "node_features", "<f4", "True", "(5, 3)", turned, sizeof turned);
            put_masks(npz, "(5, 2)", columns, sizeof columns);
        } else {
            put_edges(npz);
            npz_add(npz, "node_features", "<f4", "False", "(5, 3)", FEATURES, sizeof FEATURES);
            put_masks(npz, "(2, 5)", rows, sizeof rows);
        }
        npz_add(npz, "node_labels", "<i8", "False", "(5, 1)", LABELS, sizeof LABELS);
        npz_end(npz);
        for (uint32_t split = 0; split < 2; split++) {
            const struct npz_import_options options = { .split = split };
            struct raw_graph *graph = made(*state, &options, &facts);
            has_edges(graph, 5, AS_IT_IS);
            has_rows(graph, false, "feat", TR_F32, 3, FEATURES);
            has_rows(graph, false, "label", TR_I64, 1, LABELS);
            has_rows(graph, false, "train_mask", TR_U8, 1, rows + (size_t)5 * split);
            has_rows(graph, false, "val_mask", TR_U8, 1, rows + (size_t)5 * split);
            has_rows(graph, false, "test_mask", TR_U8, 1, rows + (size_t)5 * split);
            assert_int_equal(facts.num_splits, 2);
            assert_null(facts.unread);
            npz_facts_fini(&facts);
            raw_close(graph);
        }
        const struct npz_import_options third = { .split = 2 };
        refused(*state, &third, TR_EINVAL, "has 2 splits, numbered from 0");
    }
}

/* One test mask beside several splits of the others, as WikiCS has it, is that of each split. */
static void a_mask_of_all_splits(void **state)
{
    static const uint8_t splits[] = { 1, 0, 0, 1, 0, 0, 1, 1, 0, 0 }, one[] = { 0, 0, 0, 0, 1 };
    const struct npz_import_options second = { .split = 1 }, third = { .split = 2 };
    struct npz_facts facts;
    struct archive *npz = begin(*state);
    put_edges(npz);
    npz_add(npz, "train_masks", "|b1", "False", "(2, 5)", splits, sizeof splits);
    npz_add(npz, "test_mask", "|b1", "False", "(5,)", one, sizeof one);
    npz_end(npz);
    struct raw_graph *graph = made(*state, &second, &facts);
    has_rows(graph, false, "train_mask", TR_U8, 1, splits + 5);
    has_rows(graph, false, "test_mask", TR_U8, 1, one);
    assert_int_equal(facts.num_splits, 2);
    npz_facts_fini(&facts);
    raw_close(graph);
    refused(*state, &third, TR_EINVAL, "has 2 splits");
    npz = begin(*state);
    put_edges(npz);
    npz_add(npz, "test_mask", "|b1", "False", "(5,)", one, sizeof one);
    npz_end(npz);
    refused(*state, &second, TR_EINVAL, "has 1 splits");
}

/* An edge list in Fortran's order, and every type of IDs. */
static void edges_of_any_type(void **state)
{
    static const uint8_t bytes[] = { 0, 1, 1, 0, 2, 3, 3, 4, 4, 4 };
    static const int64_t wide[] = { 0, 1, 2, 3, 4, 1, 0, 3, 4, 4 };
    for (int turn = 0; turn < 2; turn++) {
        struct npz_facts facts;
        struct archive *npz = begin(*state);
        if (turn)
            npz_add(npz, "edge_index", "<i8", "True", "(5, 2)", wide, sizeof wide);
        else
            npz_add(npz, "edge_index", "|u1", "False", "(5, 2)", bytes, sizeof bytes);
        npz_end(npz);
        struct raw_graph *graph = made(*state, &PLAIN, &facts);
        assert_int_equal(graph->num_nodes[0], 5);
        has_edges(graph, 5, AS_IT_IS);
        npz_facts_fini(&facts);
        raw_close(graph);
    }
}

static void edges_by_rule(void **state)
{
    static const uint64_t both[] = { 0, 1, 1, 0, 2, 3, 3, 2, 3, 4, 4, 3 };
    static const float weights[] = { 1, 2, 3, 4, 5 };
    static const float doubled[] = { 1, 1, 2, 2, 3, 3, 4, 4, 5 };
    static const float kept[] = { 1, 1, 3, 3, 4, 4 };
    const struct npz_import_options merged = { .undirected = true,
                                               .loops = RAW_LOOPS_DROP,
                                               .duplicates = RAW_DUPLICATES_MERGE };
    const struct npz_import_options undirected = { .undirected = true };
    const struct npz_import_options no_loops = { .loops = RAW_LOOPS_ERROR };
    const struct npz_import_options no_repeats = { .undirected = true,
                                                   .duplicates = RAW_DUPLICATES_ERROR };
    struct npz_facts facts;
    struct archive *npz = begin(*state);
    put_edges(npz);
    npz_end(npz);
    struct raw_graph *graph = made(*state, &merged, &facts);
    has_edges(graph, 6, both);
    assert_int_equal(facts.duplicates, 2);
    npz_facts_fini(&facts);
    raw_close(graph);
    refused(*state, &no_loops, TR_EFORMAT, "leads from node 4 to itself");
    refused(*state, &no_repeats, TR_EFORMAT, "is there more than once");

    npz = begin(*state);
    npz_add(npz, "adj_matrix.data", "<f4", "False", "(5,)", weights, sizeof weights);
    npz_add(npz, "adj_matrix.indices", "<i4", "False", "(5,)", INDICES, sizeof INDICES);
    npz_add(npz, "adj_matrix.indptr", "<i4", "False", "(6,)", INDPTR, sizeof INDPTR);
    npz_add(npz, "adj_matrix.shape", "<i8", "False", "(2,)", SHAPE, sizeof SHAPE);
    npz_end(npz);
    graph = made(*state, &undirected, &facts);
    assert_int_equal(graph->num_edges[0], 9);
    has_rows(graph, true, "weight", TR_F32, 1, doubled);
    npz_facts_fini(&facts);
    raw_close(graph);
    /* Of edges that are merged the first one's weight stays. */
    graph = made(*state, &merged, &facts);
    has_edges(graph, 6, both);
    has_rows(graph, true, "weight", TR_F32, 1, kept);
    npz_facts_fini(&facts);
    raw_close(graph);
}

/* One array beside the edges, and the words of its refusal. */
struct wrong {
    const char *name, *descr, *order, *shape;
    size_t size; /* of its elements, from `data` */
    int code;
    const char *says;
};

static void arrays_that_do_not_fit(void **state)
{
    static const int64_t data[10] = { 0, 1, 2, 7, -1 };
    static const float nan_data[15] = { 1, 2, 3, 4, NAN };
    static const struct wrong WRONG[] = {
        { "features", "|O", "False", "(5,)", 40, TR_EUNSUPPORTED,
          "features: holds Python objects" },
        { "labels", "<U9", "False", "(5,)", 40, TR_EUNSUPPORTED,
          "labels: holds texts; save their numbers" },
        { "labels", ">i8", "False", "(5,)", 40, TR_EUNSUPPORTED, "labels: descr '>i8'" },
        { "labels", "<i8", "False", "(5,)", 32, TR_EFORMAT, "labels: ends inside" },
        { "labels", "<i8", "False", "(4,)", 40, TR_EMISMATCH, "labels: shape: 4 rows for 5 nodes" },
        { "labels", "<i8", "False", "(5,)", 48, TR_EFORMAT, "labels: holds more than" },
        { "features", "<f4", "False", "(5, 3)", 0, TR_EFORMAT, "row 1, column 1: is not finite" },
        { "features", "<f4", "False", "(5, 99999999999)", 40, TR_ETOOBIG, "features: has rows of" },
        { "features", "<f4", "True", "(5, 1, 2)", 40, TR_EUNSUPPORTED,
          "3 dimensions in Fortran's" },
        { "features", "<f4", "True", "(5, 99999999999)", 40, TR_ETOOBIG, "held in memory" },
        { "train_mask", "<i8", "False", "(5,)", 40, TR_EFORMAT,
          "node 2 has 2; a mask holds 0 and 1" },
        { "train_mask", "<f4", "False", "(5,)", 20, TR_EFORMAT, "holds floats" },
        { "train_masks", "|b1", "False", "(3, 4)", 12, TR_EMISMATCH, "a mask of 5 nodes is" },
    };
    for (size_t i = 0; i < sizeof WRONG / sizeof *WRONG; i++) {
        const struct wrong *wrong = &WRONG[i];
        struct archive *npz = begin(*state);
        put_adjacency(npz);
        if (wrong->size > 0)
            npz_add(npz, wrong->name, wrong->descr, wrong->order, wrong->shape, data, wrong->size);
        else
            npz_add(npz, wrong->name, wrong->descr, wrong->order, wrong->shape, nan_data,
                    sizeof nan_data);
        npz_end(npz);
        refused(*state, &PLAIN, wrong->code, wrong->says);
    }
}

/* Compressed rows whose parts do not go together. */
static void rows_that_do_not_fit(void **state)
{
    static const int32_t falls[] = { 0, 2, 1, 3, 4, 5 }, ends[] = { 0, 1, 2, 3, 4, 4 };
    static const int32_t begins[] = { 1, 1, 2, 3, 4, 5 }, outside[] = { 1, 0, 5, 4, 4 };
    static const int64_t wide[] = { 5, 6 }, huge[] = { 5, (int64_t)1 << 40 };
    static const struct {
        const int32_t *indptr, *indices;
        const int64_t *shape;
        const char *says;
        int code;
    } WRONG[] = {
        { falls, INDICES, SHAPE, "adj_indptr: element 2 is 1; they rise", TR_EFORMAT },
        { ends, INDICES, SHAPE, "adj_indptr: element 5 is 4; they rise", TR_EFORMAT },
        { begins, INDICES, SHAPE, "adj_indptr: element 0 is 1; they rise", TR_EFORMAT },
        { INDPTR, outside, SHAPE, "adj_indices: element 2 is 5; there are 5 columns", TR_ERANGE },
        { INDPTR, INDICES, wide, "is 5 by 6; an adjacency matrix is square", TR_EFORMAT },
    };
    for (size_t i = 0; i < sizeof WRONG / sizeof *WRONG; i++) {
        struct archive *npz = begin(*state);
        npz_add(npz, "adj_indptr", "<i4", "False", "(6,)", WRONG[i].indptr, sizeof INDPTR);
        npz_add(npz, "adj_indices", "<i4", "False", "(5,)", WRONG[i].indices, sizeof INDICES);
        npz_add(npz, "adj_shape", "<i8", "False", "(2,)", WRONG[i].shape, sizeof SHAPE);
        npz_end(npz);
        refused(*state, &PLAIN, WRONG[i].code, WRONG[i].says);
    }
    struct archive *npz = begin(*state);
    put_adjacency(npz);
    npz_add(npz, "attr_indptr", "<i4", "False", "(6,)", INDPTR, sizeof INDPTR);
    npz_add(npz, "attr_indices", "<i4", "False", "(5,)", INDICES, sizeof INDICES);
    npz_add(npz, "attr_shape", "<i8", "False", "(2,)", huge, sizeof huge);
    npz_end(npz);
    refused(*state, &PLAIN, TR_ETOOBIG, "save fewer columns");
    /* Each is a float32, and what they add up to is none. */
    static const int32_t doubled[] = { 0, 0, 2, 2, 2, 2 }, columns[] = { 1, 1 };
    static const float large[] = { 3e38f, 3e38f };
    npz = begin(*state);
    put_adjacency(npz);
    npz_add(npz, "attr_data", "<f4", "False", "(2,)", large, sizeof large);
    npz_add(npz, "attr_indices", "<i4", "False", "(2,)", columns, sizeof columns);
    npz_add(npz, "attr_indptr", "<i4", "False", "(6,)", doubled, sizeof doubled);
    npz_add(npz, "attr_shape", "<i8", "False", "(2,)", SHAPE, sizeof SHAPE);
    npz_end(npz);
    refused(*state, &PLAIN, TR_ERANGE, "row 1 has entries of one column that add up to more");
    npz = begin(*state);
    npz_add(npz, "adj_indptr", "<i4", "False", "(6,)", INDPTR, sizeof INDPTR);
    npz_end(npz);
    refused(*state, &PLAIN, TR_EFORMAT, "holds adj_indptr but no adj_shape");
}

static void archives_of_something_else(void **state)
{
    struct archive *npz = begin(*state);
    npz_put(npz, "readme.txt", "hello", 5);
    npz_end(npz);
    refused(*state, &PLAIN, TR_EFORMAT, "'readme.txt', which is not a .npy file");
    npz = begin(*state);
    npz_add(npz, "weights", "<i8", "False", "(5,)", LABELS, sizeof LABELS);
    npz_end(npz);
    refused(*state, &PLAIN, TR_EFORMAT, "holds no edges: neither adj_indptr");
    npz = begin(*state);
    npz_add(npz, "val_mask", "|b1", "False", "(5,)", LABELS, 5);
    npz_add(npz, "train_mask", "|b1", "False", "(5,)", LABELS, 5);
    npz_end(npz);
    refused(*state, &PLAIN, TR_EFORMAT,
            "holds a split ('train_mask') and no edges: import the archive of its graph");
    npz = begin(*state);
    put_edges(npz);
    put_edges(npz);
    npz_end(npz);
    refused(*state, &PLAIN, TR_EEXIST, "two arrays 'edges'");
    npz = begin(*state);
    npz_put(npz, "edges.npy", "\x93NUMPY\1\0\0\0", 10);
    npz_end(npz);
    refused(*state, &PLAIN, TR_EFORMAT, "ends inside its header");
    npz = begin(*state);
    npz_put(npz, "edges.npy", "not an array at all", 19);
    npz_end(npz);
    refused(*state, &PLAIN, TR_EFORMAT, "edges: not a .npy file");
    npz = begin(*state);
    npz_add(npz, "edges", "<i8", "False", "(0, 2)", "", 0);
    npz_end(npz);
    refused(*state, &PLAIN, TR_EFORMAT, "holds no edge");
    put_text(*state, "a.npz", "0 1\n");
    refused(*state, &PLAIN, TR_EFORMAT, "looks like no archive");
}

static void has_names(const struct raw_graph *graph, enum names_of of, uint64_t count,
                      const char *expected)
{
    struct error error = { 0 };
    for (uint32_t i = 0; i < graph->num_names; i++) {
        struct name_list list;
        uint64_t offsets[8];
        char text[200];
        if (graph->names[i].key.of != of)
            continue;
        assert_int_equal(graph->names[i].count, count);
        assert_int_equal(name_list_open(&list, files_posix, graph->names[i].stem, count, &error),
                         0);
        assert_int_equal(name_list_offsets(&list, 0, count, offsets, &error), 0);
        assert_int_equal(name_list_text(&list, offsets, count, text, &error), 0);
        assert_int_equal(offsets[count], strlen(expected));
        assert_memory_equal(text, expected, strlen(expected));
        name_list_close(&list);
        return;
    }
    fail_msg("there are no such names");
}

static void names_of_nodes_classes_and_columns(void **state)
{
    /* "a", "b\u00e9", "\u20ac", "\U0001f600", "" */
    static const uint32_t nodes[5][2] = {
        { 'a', 0 }, { 'b', 0xe9 }, { 0x20ac, 0 }, { 0x1f600, 0 }, { 0, 0 }
    };
    static const struct {
        const char *name, *descr, *shape;
        uint32_t first;
        int code;
        const char *says;
    } WRONG[] = {
        { "node_names", "<U2", "(4,)", 'a', TR_EMISMATCH,
          "node_names: shape: 4 names for 5 nodes" },
        { "node_names", "<U1", "(5, 1)", 'a', TR_EFORMAT, "node_names: has 2 dimensions" },
        { "node_names", "<U2", "(5,)", 0xd800, TR_EFORMAT,
          "element 0 is not the number of a character" },
        { "node_names", "<U2", "(5,)", 0x110000, TR_EFORMAT, "element 0 is not the number of" },
        { "node_names", "<U2", "(5,)", '\n', TR_EFORMAT,
          "node_names: element 0 cannot be kept as a name" },
        { "class_names", "|S4", "(5,)", 0xff, TR_EFORMAT,
          "class_names: element 0 cannot be kept as a name" },
        { "attr_names", "|S4", "(5,)", 'a', TR_EMISMATCH, "5 names for 3 columns of features" },
    };
    struct npz_facts facts;
    struct archive *npz = begin(*state);
    put_edges(npz);
    npz_add(npz, "node_features", "<f4", "False", "(5, 3)", FEATURES, sizeof FEATURES);
    npz_add(npz, "node_labels", "<i8", "False", "(5,)", LABELS, sizeof LABELS);
    npz_add(npz, "node_names", "<U2", "False", "(5,)", nodes, sizeof nodes);
    npz_add(npz, "class_names", "|S3", "False", "(3,)", "cat\0\0\0dog", 9);
    npz_add(npz, "attr_names", "|S2", "False", "(3,)", "x\0\xc3\xa9z\0", 6);
    npz_end(npz);
    struct raw_graph *graph = made(*state, &PLAIN, &facts);
    assert_null(facts.unread);
    npz_facts_fini(&facts);
    has_names(graph, NAMES_NODES, 5, "a\nb\xc3\xa9\n\xe2\x82\xac\n\xf0\x9f\x98\x80\n\n");
    has_names(graph, NAMES_VALUES, 3, "cat\n\ndog\n");
    has_names(graph, NAMES_COLUMNS, 3, "x\n\xc3\xa9\nz\n");
    raw_close(graph);
    for (size_t i = 0; i < sizeof WRONG / sizeof *WRONG; i++) {
        uint32_t texts[5][2] = { { WRONG[i].first, 0 }, { 'b', 0 }, { 'c', 0 }, { 'd', 0 }, { 0 } };
        npz = begin(*state);
        put_edges(npz);
        npz_add(npz, "node_features", "<f4", "False", "(5, 3)", FEATURES, sizeof FEATURES);
        npz_add(npz, "node_labels", "<i8", "False", "(5,)", LABELS, sizeof LABELS);
        size_t size = strcmp(WRONG[i].shape, "(4,)") == 0                    ? 32
                      : WRONG[i].descr[1] == 'S' || WRONG[i].descr[2] == '1' ? 20
                                                                             : 40;
        npz_add(npz, WRONG[i].name, WRONG[i].descr, "False", WRONG[i].shape, texts, size);
        npz_end(npz);
        refused(*state, &PLAIN, WRONG[i].code, WRONG[i].says);
    }
    /* Pickles, and names of what is not there, are left out in no silence. */
    npz = begin(*state);
    put_edges(npz);
    npz_add(npz, "node_names", "|O", "False", "(5,)", "pickle", 6);
    npz_add(npz, "attr_names", "|S2", "False", "(3,)", "abcdef", 6);
    npz_add(npz, "class_names", "|S2", "False", "(3,)", "abcdef", 6);
    npz_end(npz);
    graph = made(*state, &PLAIN, &facts);
    assert_string_equal(facts.unread, "node_names, attr_names, class_names");
    assert_int_equal(graph->num_names, 0);
    npz_facts_fini(&facts);
    raw_close(graph);
}

/* A sample keeps the share of pairs with edges both ways, whatever the order of edges. */
static void pairs_of_a_large_graph(void **state)
{
    struct reverse_pairs pairs;
    uint64_t seen, mutual;
    (void)state;
    assert_int_equal(reverse_pairs_init(&pairs), 0);
    for (uint64_t i = 0; i < 1000000; i++)
        reverse_pairs_add(&pairs, i, i + 1 + i % 3);
    for (uint64_t i = 0; i < 1000000; i += 4)
        reverse_pairs_add(&pairs, i + 1 + i % 3, i);
    reverse_pairs_count(&pairs, &seen, &mutual);
    reverse_pairs_fini(&pairs);
    assert_in_range(seen, REVERSE_PAIRS_MAX / 8, REVERSE_PAIRS_MAX / 2);
    assert_in_range(mutual, seen * 23 / 100, seen * 27 / 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_style_of_the_benchmark, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(the_style_of_heterophilous_graphs, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(a_mask_of_all_splits, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(edges_of_any_type, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(edges_by_rule, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(arrays_that_do_not_fit, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(rows_that_do_not_fit, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(archives_of_something_else, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(names_of_nodes_classes_and_columns, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test(pairs_of_a_large_graph),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
