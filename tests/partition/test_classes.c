/* SPDX-License-Identifier: Apache-2.0 */
/* Classes of nodes: one for each combination of a type and the values of its tables that occurs,
 * whatever integers those are, and as many of each kind as there may be. */
#include <inttypes.h>
#include <math.h>

#include "tests/partition/graph_util.h"

#include "partition/build/classes.h"

#define NEAR 1e-12
#define BLOCK 65536u /* rows that are read at once */
#define TABLES_MAX 4

/* A table of 64-bit values, written as another type. */
struct column {
    const char *name;
    bool on_edges;
    uint32_t type;
    enum tr_dtype dtype;
    uint32_t width;
    const int64_t *values;
};

static size_t put_value(enum tr_dtype dtype, int64_t value, void *at)
{
    switch (dtype) {
    case TR_BOOL:
    case TR_U8:
    case TR_I8:
        *(int8_t *)at = (int8_t)value;
        return 1;
    case TR_I16:
        *(int16_t *)at = (int16_t)value;
        return 2;
    case TR_I32:
        *(int32_t *)at = (int32_t)value;
        return 4;
    case TR_F32:
        *(float *)at = (float)value;
        return 4;
    default:
        *(int64_t *)at = value;
        return 8;
    }
}

/* Two node types of `nodes` each and an edge type without edges, unless of_one. */
static struct raw_graph *make_raw(struct scratch *scratch, uint32_t ntypes, uint64_t nodes,
                                  const struct column *columns, size_t num_columns)
{
    static int round;
    struct graph_types types = { 0 };
    struct raw_writer *writer;
    struct raw_graph *raw;
    struct error error = { 0 };
    char name[32];
    uint64_t num_nodes[32];
    snprintf(name, sizeof name, "raw%d", round++);
    for (uint32_t t = 0; t < ntypes; t++) {
        char type[16];
        snprintf(type, sizeof type, "t%" PRIu32, t);
        assert_int_equal(graph_types_add_ntype(&types, type, &error), 0);
        num_nodes[t] = nodes;
    }
    assert_int_equal(graph_types_add_etype(&types, "t0:to:t0", &error), 0);
    assert_int_equal(
        raw_writer_open(at(scratch, name), NULL, "sample", &types, num_nodes, &writer, &error), 0);
    assert_int_equal(raw_writer_edges(writer, 0, 0, NULL, NULL, &error), 0);
    for (size_t i = 0; i < num_columns; i++) {
        const struct column *column = &columns[i];
        const uint64_t shape[] = { column->width };
        uint64_t rows = column->on_edges ? 0 : nodes;
        uint32_t table;
        assert_int_equal(raw_writer_add_table(writer, column->name, column->on_edges, column->type,
                                              column->dtype, column->width > 1, shape, &table,
                                              &error),
                         0);
        char *bytes = malloc(rows * column->width * 8 + 8);
        size_t size = 0;
        for (uint64_t v = 0; v < rows * column->width; v++)
            size += put_value(column->dtype, column->values[v], bytes + size);
        assert_int_equal(raw_writer_rows(writer, table, rows, bytes, &error), 0);
        free(bytes);
    }
    assert_int_equal(raw_writer_commit(writer, &error), 0);
    assert_int_equal(raw_open(at(scratch, name), NULL, &raw, &error), 0);
    graph_types_fini(&types);
    return raw;
}

static int try_classes(struct raw_graph *raw, const char *const *tables, uint32_t num_tables,
                       struct classes *classes, struct error *error)
{
    const struct partition_options options = { .num_parts = 2 };
    struct partition_job job = { .raw = raw, .options = &options };
    return classes_init(classes, &job, tables, num_tables, error);
}

static void classes_well(struct raw_graph *raw, const char *const *tables, uint32_t num_tables,
                         struct classes *classes)
{
    struct error error = { 0 };
    if (try_classes(raw, tables, num_tables, classes, &error) != 0)
        fail_msg("%s", error.text);
}

/* The first value keeps the number of its type, others are numbered as they come. */
static void integers_of_each_kind_make_classes(void **state)
{
    enum { NODES = 8 };
    static const enum tr_dtype dtypes[] = { TR_BOOL, TR_U8, TR_I8, TR_I16, TR_I32, TR_I64 };
    static const int64_t bits[NODES] = { 1, 0, 1, 1, 0, 0, 1, 0 };
    static const uint8_t of_bits[NODES] = { 1, 2, 1, 1, 2, 2, 1, 2 };
    static const int64_t some[6][NODES] = {
        [2] = { -1, 127, -128, -1, 0, 127, -128, 1 },
        [3] = { -1, 255, -32768, -1, 256, 255, -32768, 1 },
        [4] = { -1, 65535, INT32_MIN, -1, 65536, 65535, INT32_MIN, 1 },
        [5] = { -1, UINT32_MAX, INT64_MIN, -1, INT64_MAX, UINT32_MAX, INT64_MIN, 1 },
    };
    static const uint8_t of_some[NODES] = { 1, 2, 3, 1, 4, 2, 3, 5 };
    static const char *const tables[] = { "x" };
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++) {
        bool wide = i >= 2;
        const struct column column = { "x", false, 1, dtypes[i], 1, wide ? some[i] : bits };
        struct raw_graph *raw = make_raw(*state, 2, NODES, &column, 1);
        struct classes classes;
        classes_well(raw, tables, 1, &classes);
        assert_int_equal(classes.num_ntypes, 2);
        assert_int_equal(classes.num_classes, wide ? 6 : 3);
        for (int v = 0; v < NODES; v++)
            assert_int_equal(classes.of[0][v], 0); /* it has no such table */
        assert_memory_equal(classes.of[1], wide ? of_some : of_bits, NODES);
        classes_fini(&classes);
        raw_close(raw);
    }
}

/* Tables split what those before them left; those of edges and of other names do not. */
static void tables_split_each_other(void **state)
{
    enum { NODES = 6 };
    static const int64_t a0[NODES] = { 1, 1, 0, 0, 1, 0 }, a1[NODES] = { 0, 0, 0, 0, 0, 0 };
    static const int64_t b0[NODES] = { 5, 6, 5, 6, 7, 5 };
    static const struct column columns[] = {
        { "a", true, 0, TR_BOOL, 1, NULL }, { "a", false, 0, TR_BOOL, 1, a0 },
        { "a", false, 1, TR_BOOL, 1, a1 },  { "b", false, 0, TR_I32, 1, b0 },
        { "c", false, 0, TR_I32, 1, b0 },
    };
    static const char *const both[] = { "a", "b" };
    static const uint8_t of_a[NODES] = { 0, 0, 2, 2, 0, 2 };
    static const uint8_t of_both[NODES] = { 0, 3, 2, 4, 5, 2 };
    static const uint8_t of_others[NODES] = { 1, 1, 1, 1, 1, 1 };
    struct raw_graph *raw = make_raw(*state, 2, NODES, columns, sizeof columns / sizeof *columns);
    for (uint32_t count = 0; count <= 2; count++) {
        struct classes classes;
        classes_well(raw, both, count, &classes);
        assert_int_equal(classes.num_classes, count == 0 ? 0 : count == 1 ? 3 : 6);
        if (count == 0) {
            assert_null(classes.of);
        } else {
            assert_memory_equal(classes.of[0], count == 1 ? of_a : of_both, NODES);
            assert_memory_equal(classes.of[1], of_others, NODES);
        }
        classes_fini(&classes);
    }
    raw_close(raw);
}

/* Values far behind the first are compared with it too. */
static void rows_are_read_in_blocks(void **state)
{
    enum { NODES = 2 * BLOCK + 3 };
    static const char *const tables[] = { "x" };
    int64_t *values = calloc(NODES, sizeof *values);
    struct classes classes;
    assert_non_null(values);
    values[BLOCK - 1] = values[BLOCK + 1] = values[2 * BLOCK + 2] = 4;
    values[BLOCK] = values[2 * BLOCK] = 9;
    const struct column column = { "x", false, 0, TR_I16, 1, values };
    struct raw_graph *raw = make_raw(*state, 1, NODES, &column, 1);
    classes_well(raw, tables, 1, &classes);
    assert_int_equal(classes.num_classes, 3);
    for (uint32_t v = 0; v < NODES; v++)
        assert_int_equal(classes.of[0][v], values[v] == 0 ? 0 : values[v] == 4 ? 1 : 2);
    classes_fini(&classes);
    raw_close(raw);
    free(values);
}

static void classes_are_bounded(void **state)
{
    enum { NODES = PARTITION_CLASSES_MAX + 1 };
    static const char *const tables[] = { "x" };
    int64_t values[NODES];
    for (int v = 0; v < NODES; v++)
        values[v] = v;
    for (int count = NODES - 1; count <= NODES; count++) {
        const struct column column = { "x", false, 0, TR_U8, 1, values };
        struct raw_graph *raw = make_raw(*state, 1, (uint64_t)count, &column, 1);
        struct error error = { 0 };
        struct classes classes;
        int rv = try_classes(raw, tables, 1, &classes, &error);
        assert_int_equal(rv, count < NODES ? 0 : TR_ETOOBIG);
        if (rv != 0)
            assert_string_equal(error.text, "table 'x' has more than 16 different values to "
                                            "balance by; give a mask instead");
        classes_fini(&classes);
        raw_close(raw);
    }
    /* A value that all have splits nothing. */
    const struct column same = { "x", false, 3, TR_U8, 1, (const int64_t[]){ 7, 7 } };
    struct raw_graph *all = make_raw(*state, PARTITION_CLASSES_MAX, 2, &same, 1);
    struct classes found;
    classes_well(all, tables, 1, &found);
    assert_int_equal(found.num_classes, PARTITION_CLASSES_MAX);
    assert_int_equal(found.of[3][1], 3);
    classes_fini(&found);
    raw_close(all);
    /* Types are classes too: with one of them split there is one more than types. */
    for (uint32_t ntypes = PARTITION_CLASSES_MAX - 1; ntypes <= NODES; ntypes++) {
        const struct column column = { "x", false, 0, TR_U8, 1, values };
        struct raw_graph *raw = make_raw(*state, ntypes, 2, &column, 1);
        struct error error = { 0 };
        struct classes classes;
        int rv = try_classes(raw, tables, 1, &classes, &error);
        assert_int_equal(rv, ntypes < PARTITION_CLASSES_MAX ? 0 : TR_ETOOBIG);
        if (rv != 0)
            assert_string_equal(error.text,
                                ntypes == NODES
                                    ? "the graph has 17 node types; balancing takes at most 16"
                                    : "table 'x' has more than 16 different values to "
                                      "balance by; give a mask instead");
        classes_fini(&classes);
        raw_close(raw);
    }
}

static void other_tables_are_refused(void **state)
{
    static const int64_t values[4] = { 0, 1, 0, 1 };
    static const struct column columns[] = { { "float", false, 0, TR_F32, 1, values },
                                             { "pair", false, 0, TR_U8, 2, values },
                                             { "edges", true, 0, TR_U8, 1, values } };
    static const struct {
        const char *name, *text;
        int code;
    } cases[] = {
        { "float",
          "table 'float' is float32 with 1 values a node; a table to balance by has one bool or "
          "integer a node",
          TR_EUNSUPPORTED },
        { "pair",
          "table 'pair' is uint8 with 2 values a node; a table to balance by has one bool or "
          "integer a node",
          TR_EUNSUPPORTED },
        { "edges", "no node type has a table 'edges' to balance by", TR_ENOENT },
        { "none", "no node type has a table 'none' to balance by", TR_ENOENT },
    };
    struct raw_graph *raw = make_raw(*state, 1, 2, columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct error error = { 0 };
        struct classes classes;
        assert_int_equal(try_classes(raw, &cases[i].name, 1, &classes, &error), cases[i].code);
        assert_int_equal(error.code, cases[i].code);
        assert_string_equal(error.text, cases[i].text);
        classes_fini(&classes);
    }
    raw_close(raw);
}

/* Largest share over the mean, of each class by itself; of a class without nodes it is 0. */
static void evenness_is_that_of_each_class(void **state)
{
    enum { NODES = 6, PARTS = 3 };
    static const int64_t values[NODES] = { 1, 1, 1, 0, 1, 0 };
    static const char *const tables[] = { "x" };
    static uint32_t first[NODES] = { 2, 2, 2, 1, 0, 1 }, second[NODES] = { 0, 1, 2, 0, 1, 2 };
    uint32_t *const parts[] = { first, second };
    const struct column column = { "x", false, 0, TR_BOOL, 1, values };
    const struct partition_options options = { .num_parts = PARTS };
    struct raw_graph *raw = make_raw(*state, 2, NODES, &column, 1);
    struct partition_job job = { .raw = raw, .options = &options };
    struct classes classes;
    double balance[PARTITION_CLASSES_MAX] = { 7, 7, 7, 7 };
    classes_well(raw, tables, 1, &classes);
    assert_int_equal(classes_balance(&classes, &job, parts, balance), 0);
    assert_true(fabs(balance[0] - 3 * 3 / 4.0) < NEAR);
    assert_true(fabs(balance[1] - 1) < NEAR);
    assert_true(fabs(balance[2] - 2 * 3 / 2.0) < NEAR);
    assert_true(balance[3] == 7);
    classes_fini(&classes);
    struct classes none = { .num_ntypes = 2 };
    assert_int_equal(classes_balance(&none, &job, parts, balance), 0);
    assert_true(fabs(balance[1] - 1) < NEAR);
    raw_close(raw);
    raw = make_raw(*state, 2, 0, NULL, 0);
    job.raw = raw;
    struct classes empty = { .num_ntypes = 2, .num_classes = 2 };
    empty.of = calloc(2, sizeof *empty.of);
    assert_int_equal(classes_balance(&empty, &job, parts, balance), 0);
    assert_true(balance[0] == 0 && balance[1] == 0);
    classes_fini(&empty);
    raw_close(raw);
}

int main(void)
{
#define SCRATCH(test) cmocka_unit_test_setup_teardown(test, scratch_setup, scratch_teardown)
    const struct CMUnitTest tests[] = {
        SCRATCH(integers_of_each_kind_make_classes),
        SCRATCH(tables_split_each_other),
        SCRATCH(rows_are_read_in_blocks),
        SCRATCH(classes_are_bounded),
        SCRATCH(other_tables_are_refused),
        SCRATCH(evenness_is_that_of_each_class),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
