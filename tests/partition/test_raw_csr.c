/* SPDX-License-Identifier: Apache-2.0 */
/* Sparse tables of raw graphs: dense rows are those of a dense table, copies stay sparse, and an
 * array that is not as it must be is refused before anything is read by it. */
#include "tests/partition/raw_util.h"

#include <math.h>

#include "partition/raw/raw_csr.h"
#include "partition/raw/raw_write.h"

#define NODES 4
#define WIDTH 6

/* Of four nodes, the second of which has nothing: { 1 at 0, 2 at 5 }, {}, { 3 at 2 }, { 4 at 0 } */
static const int64_t index_of[NODES + 1] = { 0, 2, 2, 3, 4 };
static const int32_t columns_of[] = { 0, 5, 2, 0 };
static const float values_of[] = { 1, 2, 3, 4 };
static const float dense_of[NODES][WIDTH] = {
    { 1, 0, 0, 0, 0, 2 }, { 0 }, { 0, 0, 3, 0, 0, 0 }, { 4, 0, 0, 0, 0, 0 }
};

struct arrays {
    const char *index_descr, *columns_descr;
    const void *index, *columns;
    const float *values; /* NULL: ones */
    uint64_t num_index, num_columns, num_values;
    const char *entry; /* of the table in metadata.json; NULL: as it must be */
};

static struct arrays right_arrays(void)
{
    return (struct arrays){ "<i8", "<i4", index_of, columns_of, values_of, NODES + 1, 4, 4, NULL };
}

static void put_array(struct scratch *scratch, const char *name, const char *descr, uint64_t count,
                      const void *data)
{
    struct error error = { 0 };
    remove(at(scratch, name));
    assert_int_equal(npy_write(files_posix, at(scratch, name), descr, 1, &count, data, &error), 0);
}

static int open_graph(struct scratch *scratch, const struct arrays *arrays, struct raw_graph **raw,
                      struct error *error)
{
    static const int32_t edges[2] = { 0, 1 };
    const uint64_t shape[2] = { 1, 2 };
    char text[2000], plain[400];
    struct error inner = { 0 };
    remove(at(scratch, "e.npy"));
    assert_int_equal(npy_write(files_posix, at(scratch, "e.npy"), "<i4", 2, shape, edges, &inner),
                     0);
    put_array(scratch, "p.npy", arrays->index_descr, arrays->num_index, arrays->index);
    put_array(scratch, "i.npy", arrays->columns_descr, arrays->num_columns, arrays->columns);
    if (arrays->values != NULL)
        put_array(scratch, "d.npy", "<f4", arrays->num_values, arrays->values);
    snprintf(plain, sizeof plain,
             "{\"format\": {\"name\": \"csr\"}, \"dtype\": \"float32\", \"shape\": [4, 6],"
             " \"data\": [\"p.npy\", \"i.npy\"%s]}",
             arrays->values != NULL ? ", \"d.npy\"" : "");
    snprintf(text, sizeof text,
             "{\"graph_name\": \"g\", \"node_type\": [\"n\"], \"num_nodes_per_type\": [4],"
             " \"edge_type\": [\"n:to:n\"], \"num_edges_per_type\": [1],"
             " \"edges\": {\"n:to:n\": {\"format\": {\"name\": \"numpy\"}, \"data\": [\"e.npy\"]}},"
             " \"node_data\": {\"n\": {\"feat\": %s}}}",
             arrays->entry != NULL ? arrays->entry : plain);
    put_text(scratch, "metadata.json", text);
    *error = (struct error){ 0 };
    return raw_open(scratch->folder, NULL, raw, error);
}

static void assert_rows(struct raw_graph *raw, bool ones)
{
    struct error error = { 0 };
    float rows[NODES][WIDTH];
    for (uint64_t begin = 0; begin < NODES; begin++)
        for (uint64_t count = 0; begin + count <= NODES; count++) {
            memset(rows, 0xee, sizeof rows);
            assert_int_equal(raw_read_rows(raw, 0, begin, count, rows, &error), 0);
            for (uint64_t i = 0; i < count; i++)
                for (int c = 0; c < WIDTH; c++)
                    assert_true(rows[i][c] ==
                                (ones ? dense_of[begin + i][c] != 0 : dense_of[begin + i][c]));
        }
}

static void rows_are_those_of_a_dense_table(void **state)
{
    static const int32_t narrow[] = { 0, 2, 2, 3, 4 };
    static const int64_t wide[] = { 0, 5, 2, 0 };
    for (int i = 0; i < 4; i++) {
        struct arrays arrays = right_arrays();
        struct raw_graph *raw;
        struct error error;
        if (i & 1)
            arrays.values = NULL;
        if (i & 2) {
            arrays.index_descr = "<i4";
            arrays.index = narrow;
            arrays.columns_descr = "<i8";
            arrays.columns = wide;
        }
        if (open_graph(*state, &arrays, &raw, &error) != 0)
            fail_msg("%s", error.text);
        assert_non_null(raw->tables[0].csr);
        assert_int_equal(raw->tables[0].csr->nnz, 4);
        assert_int_equal(raw->tables[0].row_bytes, sizeof dense_of[0]);
        assert_rows(raw, i & 1);
        raw_close(raw);
    }
}

static void copies_stay_sparse(void **state)
{
    for (int ones = 0; ones < 2; ones++) {
        struct arrays arrays = right_arrays();
        struct raw_graph *raw;
        struct error error;
        char path[200];
        if (ones)
            arrays.values = NULL;
        assert_int_equal(open_graph(*state, &arrays, &raw, &error), 0);
        snprintf(path, sizeof path, "%s/copy%d", ((struct scratch *)*state)->folder, ones);
        if (raw_copy(raw, path, NULL, &error) != 0)
            fail_msg("%s", error.text);
        raw_close(raw);
        assert_int_equal(raw_open(path, NULL, &raw, &error), 0);
        assert_non_null(raw->tables[0].csr);
        assert_int_equal(raw->tables[0].csr->has_values, !ones);
        assert_rows(raw, ones);
        raw_close(raw);
    }
}

/* What is known when the graph is opened. */
static void lengths_are_checked_at_open(void **state)
{
    static const struct {
        const char *entry, *words;
        int code;
        uint64_t num_index, num_values;
    } cases[] = {
        { NULL, "index of 4 sparse rows", TR_EMISMATCH, 4, 4 },
        { NULL, "3 elements, the columns of the sparse table are 4", TR_EMISMATCH, 5, 3 },
        { "{\"format\": {\"name\": \"csr\"}, \"dtype\": \"float32\", \"shape\": [5, 6], \"data\": "
          "[\"p.npy\", \"i.npy\"]}",
          "5 rows, the type has 4", TR_EMISMATCH, 5, 4 },
        { "{\"format\": {\"name\": \"csr\"}, \"dtype\": \"float32\", \"shape\": [4, 1], \"data\": "
          "[\"p.npy\", \"i.npy\"]}",
          "1 columns; a sparse table has 2 to 2147483647", TR_EUNSUPPORTED, 5, 4 },
        { "{\"format\": {\"name\": \"csr\"}, \"dtype\": \"float32\", \"shape\": [4, 2147483648], "
          "\"data\": [\"p.npy\", \"i.npy\"]}",
          "2147483648 columns", TR_EUNSUPPORTED, 5, 4 },
        { "{\"format\": {\"name\": \"csr\"}, \"dtype\": \"float32\", \"shape\": [4], \"data\": "
          "[\"p.npy\", \"i.npy\"]}",
          "rows and columns are needed", TR_EFORMAT, 5, 4 },
        { "{\"format\": {\"name\": \"csr\"}, \"dtype\": \"float32\", \"shape\": [4, 6], \"data\": "
          "[\"p.npy\"]}",
          "1 files", TR_EFORMAT, 5, 4 },
        { "{\"format\": {\"name\": \"csr\"}, \"dtype\": \"float64\", \"shape\": [4, 6], \"data\": "
          "[\"p.npy\", \"i.npy\", \"d.npy\"]}",
          "\"dtype\" is float64, the file of values has float32", TR_EMISMATCH, 5, 4 },
        { "{\"format\": {\"name\": \"csr\"}, \"dtype\": \"float32\", \"shape\": [4, 6], \"data\": "
          "[\"p.npy\", \"d.npy\"]}",
          "int32 or int64 are needed", TR_EFORMAT, 5, 4 },
        { "{\"format\": {\"name\": \"csr\"}, \"shape\": [4, 6], \"data\": [\"p.npy\", \"i.npy\"]}",
          "dtype", TR_EFORMAT, 5, 4 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct arrays arrays = right_arrays();
        struct raw_graph *raw = NULL;
        struct error error;
        arrays.entry = cases[i].entry;
        arrays.num_index = cases[i].num_index;
        arrays.num_values = cases[i].num_values;
        assert_int_equal(open_graph(*state, &arrays, &raw, &error), cases[i].code);
        assert_says(&error, cases[i].code, cases[i].words);
    }
}

static void elements_are_checked_before_use(void **state)
{
    static const int64_t late[] = { 1, 2, 2, 3, 4 }, back[] = { 0, 3, 2, 3, 4 },
                         far[] = { 0, 2, 2, 3, 5 }, near[] = { 0, 2, 2, 3, 3 },
                         negative[] = { 0, -1, 2, 3, 4 };
    static const int32_t outside[] = { 0, 6, 2, 0 }, below[] = { 0, -1, 2, 0 },
                         turned[] = { 5, 0, 2, 0 }, twice[] = { 5, 5, 2, 0 };
    static const float odd[] = { 1, 2, NAN, 4 };
    const struct {
        const int64_t *index;
        const int32_t *columns;
        const float *values;
        const char *words;
    } cases[] = {
        { late, NULL, NULL, "an index begins with 0" },
        { back, NULL, NULL, "an index never decreases" },
        { far, NULL, NULL, "ends with the number of elements" },
        { near, NULL, NULL, "ends with the number of elements" },
        { negative, NULL, NULL, "more elements than the table has columns" },
        { NULL, outside, NULL, "of row 0, is column 6, but columns are below the width" },
        { NULL, below, NULL, "columns are below the width" },
        { NULL, turned, NULL, "the columns of a row increase" },
        { NULL, twice, NULL, "sum_duplicates()" },
        { NULL, NULL, odd, "element 2 of feature 'feat' is not finite" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct arrays arrays = right_arrays();
        struct raw_graph *raw;
        struct error error;
        float rows[NODES][WIDTH];
        arrays.index = cases[i].index != NULL ? (const void *)cases[i].index : arrays.index;
        arrays.columns = cases[i].columns != NULL ? (const void *)cases[i].columns : arrays.columns;
        arrays.values = cases[i].values != NULL ? cases[i].values : arrays.values;
        if (open_graph(*state, &arrays, &raw, &error) != 0)
            fail_msg("%s", error.text);
        assert_int_equal(raw_read_rows(raw, 0, 0, NODES, rows, &error), TR_EFORMAT);
        assert_says(&error, TR_EFORMAT, cases[i].words);
        raw_close(raw);
    }
}

static void a_writer_takes_no_wrong_row(void **state)
{
    static const uint32_t outside[] = { 1, WIDTH }, turned[] = { 3, 3 };
    const uint64_t index[] = { 0, 2 }, nodes = 1;
    struct graph_types types;
    assert_int_equal(graph_types_init_homogeneous(&types), 0);
    for (int i = 0; i < 3; i++) {
        struct raw_writer *writer;
        struct error error = { 0 };
        uint32_t table;
        char path[200];
        snprintf(path, sizeof path, "%s/w%d", ((struct scratch *)*state)->folder, i);
        assert_int_equal(raw_writer_open(path, NULL, "g", &types, &nodes, &writer, &error), 0);
        assert_int_equal(raw_writer_add_csr(writer, "feat", 0, TR_F32, 1, true, &table, &error),
                         TR_EUNSUPPORTED);
        assert_int_equal(raw_writer_add_csr(writer, "feat", 0, TR_F32, WIDTH, true, &table, &error),
                         0);
        if (i < 2) {
            assert_int_equal(raw_writer_csr_rows(writer, table, 1, index, i ? turned : outside,
                                                 values_of, &error),
                             TR_EFORMAT);
            assert_says(&error, TR_EFORMAT, "column");
            raw_writer_abort(writer);
        } else {
            /* The row of its node is missing. */
            assert_int_equal(raw_writer_commit(writer, &error), TR_EMISMATCH);
        }
    }
    graph_types_fini(&types);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(rows_are_those_of_a_dense_table, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(copies_stay_sparse, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(lengths_are_checked_at_open, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(elements_are_checked_before_use, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(a_writer_takes_no_wrong_row, scratch_setup,
                                        scratch_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
