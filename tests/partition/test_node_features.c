/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Features in a file of their own, as text or as SciPy's archive: they become the rows and the labels
 * that the file says, in either form; what does not fit is refused by file and line, and nothing is
 * left behind.
 */
#include "tests/partition/raw_util.h"

#include "partition/raw/node_features.h"
#include "partition/table/table_import.h"
#include "tests/npz_files.h"

#define NODES 4
#define WIDTH 3

static const float ROWS[NODES][WIDTH] = { { 0.5, 0, 2 }, { 0, 1, 0 }, { 2, 0, -1 }, { 0, 0, 0 } };

static void has_rows(struct raw_graph *graph, const char *name, enum tr_dtype dtype, bool is_sparse,
                     const void *expected, size_t size)
{
    struct error error = { 0 };
    unsigned char rows[1000];
    int number = raw_find_table(graph, false, 0, name);
    if (number < 0)
        fail_msg("there is no table '%s'", name);
    const struct raw_table *table = &graph->tables[number];
    assert_int_equal(table->dtype, dtype);
    assert_int_equal(table->csr != NULL, is_sparse);
    assert_int_equal(table->num_rows * table->row_bytes, size);
    assert_int_equal(raw_read_rows(graph, (uint32_t)number, 0, table->num_rows, rows, &error), 0);
    assert_memory_equal(rows, expected, size);
}

/* Imports e.csv and the file of features `name`. */
static int import(struct scratch *scratch, const char *name, enum svmlight_base base,
                  enum raw_rows form, struct node_features_found *found, struct error *error)
{
    char edges[300], path[300], out[300];
    const struct raw_write_options write = { .replace = true };
    struct node_features features;
    struct raw_graph *graph = NULL;
    snprintf(edges, sizeof edges, "%s/e.csv", scratch->folder);
    snprintf(path, sizeof path, "%s/%s", scratch->folder, name);
    snprintf(out, sizeof out, "%s/raw", scratch->folder);
    int rv = node_features_read(&features, files_posix, path, base, NULL, error);
    if (rv != 0)
        return rv;
    rv = raw_open(edges, NULL, &graph, error);
    if (rv == 0)
        rv = node_features_fit(&features, graph, true, error);
    if (rv == 0)
        rv = raw_copy_with(graph, &features, form, NULL, out, &write, error);
    *found = features.found;
    raw_close(graph);
    node_features_fini(&features);
    return rv;
}

static struct raw_graph *made(struct scratch *scratch, const char *name, enum svmlight_base base,
                              enum raw_rows form, struct node_features_found *found)
{
    struct error error = { 0 };
    struct raw_graph *graph = NULL;
    if (import(scratch, name, base, form, found, &error) != 0 ||
        raw_open(at(scratch, "raw"), NULL, &graph, &error) != 0)
        fail_msg("%s", error.text);
    return graph;
}

static void refused(struct scratch *scratch, const char *name, enum svmlight_base base, int code,
                    const char *word)
{
    struct error error = { 0 };
    struct node_features_found found;
    int before = count_names(scratch);
    int rv = import(scratch, name, base, RAW_ROWS_SMALLER, &found, &error);
    if (rv != code)
        fail_msg("%d instead of %d: %s", rv, code, error.text);
    assert_says(&error, code, word);
    assert_int_equal(count_names(scratch), before);
}

/* Three nodes have edges: the rows say that there is a fourth one. */
static void put_edges(struct scratch *scratch)
{
    put_text(scratch, "e.csv", "0,1\n1,2\n");
}

static void texts_of_either_base(void **state)
{
    static const char *const TEXTS[] = {
        "# made by hand\n2 1:.5 3:2 # a comment\n\n0 2:1\n1 3:-1 1:2\n0\n",
        "2 0:.5 2:2\r\n0 1:1 0:0\r\n+1 2:-1e0 0:2\r\n0",
    };
    static const int64_t LABELS[] = { 2, 0, 1, 0 };
    put_edges(*state);
    for (int base = 0; base < 2; base++) {
        for (int form = RAW_ROWS_DENSE; form <= RAW_ROWS_SPARSE; form++) {
            struct node_features_found found;
            put_text(*state, "f.svm", TEXTS[!base]);
            struct raw_graph *graph = made(*state, "f.svm", SVMLIGHT_BASE_FIND, (enum raw_rows)form,
                                           &found);
            assert_int_equal(found.base, base);
            assert_int_equal(found.num_classes, 3);
            assert_int_equal(found.written.items, 5);
            assert_int_equal(graph->num_nodes[0], NODES);
            assert_int_equal(graph->num_names, 0);
            has_rows(graph, "feat", TR_F32, form == RAW_ROWS_SPARSE, ROWS, sizeof ROWS);
            has_rows(graph, "label", TR_I64, false, LABELS, sizeof LABELS);
            raw_close(graph);
        }
    }
    /* Said, where no index shows it. */
    struct node_features_found found;
    put_text(*state, "f.svm", "0 1:1\n1 2:1\n0\n");
    struct raw_graph *graph = made(*state, "f.svm", SVMLIGHT_BASE_0, RAW_ROWS_DENSE, &found);
    assert_int_equal(found.columns, 3);
    raw_close(graph);
    put_text(*state, "f.svm", "0 1:1\n1 0:1\n0\n");
    refused(*state, "f.svm", SVMLIGHT_BASE_1, TR_ERANGE, "f.svm: line 2: the index is 0");
}

static void labels_by_rule(void **state)
{
    static const struct {
        const char *text;
        enum node_features_labels outcome;
        int64_t labels[3];
        const char *names; /* NULL: the classes are counted */
    } CASES[] = {
        { "-1 1:1\n1 1:1\n+1\n", NODE_LABELS_WRITTEN, { 0, 1, 1 }, "-1\n1\n" },
        { "-1 1:1\n1 1:1\n0\n", NODE_LABELS_WRITTEN, { -1, 1, 0 }, NULL },
        { "7 1:1\n-3 1:1\n7\n", NODE_LABELS_WRITTEN, { 1, 0, 1 }, "-3\n7\n" },
        { "1 1:1\n2 1:1\n1\n", NODE_LABELS_WRITTEN, { 0, 1, 0 }, "1\n2\n" },
        { "0 1:1\n0 1:1\n0\n", NODE_LABELS_ONE, { 0 }, NULL },
        { "-1 1:1\n0 1:1\n0\n", NODE_LABELS_ONE, { 0 }, NULL },
        { "0 1:1\n.5 1:1\n0\n", NODE_LABELS_FRACTION, { 0 }, NULL },
        { "0 1:1\n1e300 1:1\n0\n", NODE_LABELS_FRACTION, { 0 }, NULL },
    };
    put_edges(*state);
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        struct node_features_found found;
        struct error error = { 0 };
        put_text(*state, "f.svm", CASES[i].text);
        struct raw_graph *graph = made(*state, "f.svm", SVMLIGHT_BASE_FIND, RAW_ROWS_SMALLER,
                                       &found);
        assert_int_equal(found.labels, CASES[i].outcome);
        bool written = CASES[i].outcome == NODE_LABELS_WRITTEN;
        assert_int_equal(raw_find_table(graph, false, 0, "label") >= 0, written);
        if (written)
            has_rows(graph, "label", TR_I64, false, CASES[i].labels, sizeof CASES[i].labels);
        assert_int_equal(graph->num_names, CASES[i].names != NULL);
        if (CASES[i].names != NULL) {
            struct name_list list;
            uint64_t offsets[3];
            char text[64];
            assert_int_equal(name_list_open(&list, files_posix, graph->names[0].stem, 2, &error),
                             0);
            assert_int_equal(name_list_offsets(&list, 0, 2, offsets, &error), 0);
            assert_int_equal(name_list_text(&list, offsets, 2, text, &error), 0);
            assert_memory_equal(text, CASES[i].names, strlen(CASES[i].names));
            name_list_close(&list);
        }
        raw_close(graph);
    }
}

static void texts_that_are_wrong(void **state)
{
    static const struct {
        const char *text;
        int code;
        const char *says;
    } WRONG[] = {
        { "", TR_EFORMAT, "holds no row" },
        { "# nothing\n", TR_EFORMAT, "holds no row" },
        { "1\n2\n", TR_EFORMAT, "holds no element, only labels" },
        { "1 1:1\n1:1 2:1\n", TR_EFORMAT, "line 2: begins with an element, '1:'" },
        { "1,2 1:1\n", TR_EUNSUPPORTED, "line 1: has several labels" },
        { "cat 1:1\n", TR_EFORMAT, "line 1: the label has to be a finite number, not 'cat'" },
        { "1 1:1 2\n", TR_EFORMAT, "line 1: INDEX:VALUE is needed where '2' stands" },
        { "1 1:1:1\n", TR_EFORMAT, "two colons behind '1'" },
        { "1 1:\n", TR_EFORMAT, "the value has to be a finite number, not ''" },
        { "1 1:nan\n", TR_EFORMAT, "the value has to be a finite number, not 'nan'" },
        { "1 1:1e39\n", TR_ERANGE, "the value 1e39 is too large" },
        { "1 -1:1\n", TR_EFORMAT, "the index '-1' is not a whole number" },
        { "1 :1\n", TR_EFORMAT, "the index '' is not a whole number" },
        { "1 2147483648:1\n", TR_ERANGE, "the index 2147483648 is above 2147483647" },
        { "1 99999999999999999999999:1\n", TR_ERANGE, "is above 2147483647" },
        { "1 1:1\n1 3:1 2:1 3:0\n", TR_EFORMAT, "line 2: has two elements of index 3" },
        { "1 1:1\n1 2:1\n", TR_EMISMATCH, "f.svm: has 2 rows for the 3 nodes" },
    };
    put_edges(*state);
    for (size_t i = 0; i < sizeof WRONG / sizeof *WRONG; i++) {
        put_text(*state, "f.svm", WRONG[i].text);
        refused(*state, "f.svm", SVMLIGHT_BASE_FIND, WRONG[i].code, WRONG[i].says);
    }
    refused(*state, "none.svm", SVMLIGHT_BASE_FIND, TR_ENOENT, "none.svm");
    put_text(*state, "e.csv", "1,2\n2,3\n");
    put_text(*state, "f.svm", "1 1:1\n1 2:1\n0 1:2\n");
    refused(*state, "f.svm", SVMLIGHT_BASE_FIND, TR_EMISMATCH, "set first_id");
}

static const int32_t INDPTR[] = { 0, 2, 3, 6, 6 }, INDICES[] = { 2, 0, 1, 2, 0, 2 };
static const double DATA[] = { 2, .5, 1, 1, 2, -2 };
static const int64_t SHAPE[] = { NODES, WIDTH };

static void put_archive(struct scratch *scratch, const char *format, const char *without)
{
    struct archive *npz = npz_begin(at(scratch, "f.npz"));
    if (strcmp(without, "indices") != 0)
        npz_add(npz, "indices", "<i4", "False", "(6,)", INDICES, sizeof INDICES);
    npz_add(npz, "indptr", "<i4", "False", "(5,)", INDPTR, sizeof INDPTR);
    if (strcmp(without, "format") != 0)
        npz_add(npz, "format", "|S3", "False", "()", format, 3);
    npz_add(npz, "shape", "<i8", "False", "(2,)", SHAPE, sizeof SHAPE);
    if (strcmp(without, "data") != 0)
        npz_add(npz, "data", "<f8", "False", "(6,)", DATA, sizeof DATA);
    npz_end(npz);
}

static void archives_of_scipy(void **state)
{
    struct node_features_found found;
    put_edges(*state);
    for (int form = RAW_ROWS_DENSE; form <= RAW_ROWS_SPARSE; form++) {
        put_archive(*state, "csr", form == RAW_ROWS_DENSE ? "" : "format");
        struct raw_graph *graph = made(*state, "f.npz", SVMLIGHT_BASE_FIND, (enum raw_rows)form,
                                       &found);
        assert_int_equal(found.labels, NODE_LABELS_NONE);
        assert_int_equal(found.written.items, 5);
        has_rows(graph, "feat", TR_F32, form == RAW_ROWS_SPARSE, ROWS, sizeof ROWS);
        raw_close(graph);
    }
    put_archive(*state, "csc", "");
    refused(*state, "f.npz", SVMLIGHT_BASE_FIND, TR_EUNSUPPORTED, "save matrix.tocsr()");
    put_archive(*state, "csr", "data");
    refused(*state, "f.npz", SVMLIGHT_BASE_FIND, TR_EFORMAT, "has no array 'data'");
    put_archive(*state, "csr", "indices");
    refused(*state, "f.npz", SVMLIGHT_BASE_FIND, TR_EFORMAT, "has no array 'indices'");
    put_text(*state, "e.csv", "0,1\n1,4\n");
    put_archive(*state, "csr", "");
    refused(*state, "f.npz", SVMLIGHT_BASE_FIND, TR_EMISMATCH, "f.npz: has 4 rows for the 5 nodes");
}

static int import_table(struct scratch *scratch, const char *nodes, enum table_unknown unknown,
                        struct table_found *found, struct error *error)
{
    char edges[300], table[300], features[300], out[300];
    const struct raw_write_options write = { .replace = true };
    snprintf(edges, sizeof edges, "%s/e.csv", scratch->folder);
    snprintf(table, sizeof table, "%s/n.csv", scratch->folder);
    snprintf(features, sizeof features, "%s/f.svm", scratch->folder);
    snprintf(out, sizeof out, "%s/raw", scratch->folder);
    put_text(scratch, "n.csv", nodes);
    const struct table_options options = { .edges = edges,
                                           .nodes = table,
                                           .node_features = features,
                                           .unknown = unknown,
                                           .rows = RAW_ROWS_SPARSE };
    return table_import(&options, out, &write, found, error);
}

/* Rows are those of the nodes table; what it lacks has none. */
static void rows_of_a_table(void **state)
{
    static const int64_t LABELS[] = { 1, 0, 1, -1 }, OWN[] = { 0, 0, 1, -1 };
    struct table_found found;
    struct error error = { 0 };
    struct raw_graph *graph;
    put_text(*state, "e.csv", "src,dst\nc,b\na,b\nd,a\n");
    put_text(*state, "f.svm", "1 1:.5 3:2\n0 2:1\n1 3:-1 1:2\n");
    assert_int_equal(
        import_table(*state, "id,age\na,5\nb,6\nc,7\n", TABLE_UNKNOWN_ADD, &found, &error), 0);
    assert_int_equal(found.num_features, WIDTH);
    assert_int_equal(found.num_classes, 2);
    assert_int_equal(found.features.labels, NODE_LABELS_WRITTEN);
    assert_int_equal(found.columns[3].role, TABLE_DROPPED);
    table_found_fini(&found);
    assert_int_equal(raw_open(at(*state, "raw"), NULL, &graph, &error), 0);
    has_rows(graph, "feat", TR_F32, true, ROWS, sizeof ROWS);
    has_rows(graph, "label", TR_I64, false, LABELS, sizeof LABELS);
    raw_close(graph);
    assert_int_equal(
        import_table(*state, "id,label\na,x\nb,x\nc,y\n", TABLE_UNKNOWN_ADD, &found, &error), 0);
    assert_int_equal(found.features.labels, NODE_LABELS_OTHER);
    table_found_fini(&found);
    assert_int_equal(raw_open(at(*state, "raw"), NULL, &graph, &error), 0);
    has_rows(graph, "label", TR_I64, false, OWN, sizeof OWN);
    raw_close(graph);
    assert_int_equal(import_table(*state, "id,age\na,5\nb,6\n", TABLE_UNKNOWN_ADD, &found, &error),
                     TR_EMISMATCH);
    assert_says(&error, TR_EMISMATCH, "f.svm: has 3 rows for the 2 nodes of");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(texts_of_either_base, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(labels_by_rule, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(texts_that_are_wrong, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(archives_of_scipy, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(rows_of_a_table, scratch_setup, scratch_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
