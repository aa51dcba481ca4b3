/* SPDX-License-Identifier: Apache-2.0 */
/* The chunked format: what is written is read back, and errors name the field that is wrong. */
#include "tests/partition/raw_util.h"

#include <math.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "partition/raw/raw.h"
#include "partition/raw/raw_source.h"
#include "partition/raw/raw_write.h"
#include "partition/store/npy.h"

#define NODES 5
#define EDGES 7

static const uint64_t srcs[EDGES] = { 0, 1, 2, 3, 4, 4, 0 };
static const uint64_t dsts[EDGES] = { 1, 2, 3, 4, 0, 4, 1 };

static int write_graph(struct scratch *scratch, const struct raw_write_options *options,
                       const float *rows, struct error *error)
{
    struct graph_types types;
    struct raw_writer *writer;
    uint64_t num_nodes = NODES, width = 2;
    uint32_t table;
    assert_int_equal(graph_types_init_homogeneous(&types), 0);
    int rv = raw_writer_open(at(scratch, "g"), options, "g", &types, &num_nodes, &writer, error);
    graph_types_fini(&types);
    if (rv != 0)
        return rv;
    rv = raw_writer_edges(writer, 0, 3, srcs, dsts, error);
    if (rv == 0)
        rv = raw_writer_edges(writer, 0, EDGES - 3, srcs + 3, dsts + 3, error);
    if (rv == 0)
        rv = raw_writer_add_table(writer, "feat", false, 0, TR_F32, 1, &width, &table, error);
    if (rv == 0)
        rv = raw_writer_rows(writer, table, NODES, rows, error);
    if (rv == 0)
        return raw_writer_commit(writer, error);
    raw_writer_abort(writer);
    return rv;
}

static void fill(float *rows)
{
    for (int i = 0; i < NODES * 2; i++)
        rows[i] = (float)i;
}

static void written_is_read(void **state)
{
    struct scratch *scratch = *state;
    struct error error = { 0 };
    struct raw_graph *graph;
    float rows[NODES * 2], back[NODES * 2];
    uint64_t src[EDGES], dst[EDGES];
    fill(rows);
    assert_int_equal(write_graph(scratch, NULL, rows, &error), 0);
    assert_int_equal(count_names(scratch), 1);
    assert_int_equal(raw_open(at(scratch, "g"), NULL, &graph, &error), 0);
    assert_string_equal(graph->name, "g");
    assert_int_equal(graph->num_nodes[0], NODES);
    assert_int_equal(graph->num_edges[0], EDGES);
    assert_int_equal(raw_read_edges(graph, 0, 0, EDGES, src, dst, &error), 0);
    assert_memory_equal(src, srcs, sizeof srcs);
    assert_memory_equal(dst, dsts, sizeof dsts);
    assert_int_equal(raw_read_edges(graph, 0, 5, 2, src, dst, &error), 0);
    assert_int_equal(src[0], srcs[5]);
    assert_int_equal(raw_find_table(graph, false, 0, "feat"), 0);
    assert_int_equal(raw_find_table(graph, true, 0, "feat"), -1);
    assert_int_equal(raw_read_rows(graph, 0, 0, NODES, back, &error), 0);
    assert_memory_equal(back, rows, sizeof rows);
    assert_int_equal(raw_read_rows(graph, 0, 1, NODES, back, &error), TR_ERANGE);
    raw_close(graph);
}

static void a_taken_path_is_kept(void **state)
{
    struct scratch *scratch = *state;
    struct error error;
    float rows[NODES * 2];
    fill(rows);
    assert_int_equal(write_graph(scratch, NULL, rows, &error), 0);
    assert_int_equal(write_graph(scratch, NULL, rows, &error), TR_EEXIST);
    assert_says(&error, TR_EEXIST, "/g");
    struct raw_write_options replace = { .replace = true };
    assert_int_equal(write_graph(scratch, &replace, rows, &error), 0);
    assert_int_equal(count_names(scratch), 1);
    /* Neither a file nor a folder of something else is taken for a graph that may be replaced. */
    assert_int_equal(files_remove_tree(files_posix, at(scratch, "g"), NULL), 0);
    put_text(scratch, "g", "mine");
    assert_int_equal(write_graph(scratch, &replace, rows, &error), TR_EEXIST);
    assert_says(&error, TR_EEXIST, "not a folder");
    assert_int_equal(unlink(at(scratch, "g")), 0);
    assert_int_equal(mkdir(at(scratch, "g"), 0700), 0);
    assert_int_equal(write_graph(scratch, &replace, rows, &error), 0);
    assert_int_equal(unlink(at(scratch, "g/metadata.json")), 0);
    assert_int_equal(write_graph(scratch, &replace, rows, &error), TR_EEXIST);
    assert_says(&error, TR_EEXIST, "not a raw graph");
}

static bool yes(void *arg)
{
    (void)arg;
    return true;
}

static void an_interrupt_leaves_nothing(void **state)
{
    struct error error;
    float rows[NODES * 2];
    fill(rows);
    struct cancel cancel = { yes, NULL };
    struct raw_write_options options = { .cancel = &cancel };
    assert_int_equal(write_graph(*state, &options, rows, &error), TR_ECANCELED);
    assert_int_equal(count_names(*state), 0);
}

static void a_value_that_is_not_finite_is_told(void **state)
{
    struct scratch *scratch = *state;
    struct error error;
    struct raw_graph *graph;
    float rows[NODES * 2];
    fill(rows);
    rows[2 * 3 + 1] = NAN;
    assert_int_equal(write_graph(scratch, NULL, rows, &error), 0);
    assert_int_equal(raw_open(at(scratch, "g"), NULL, &graph, &error), 0);
    assert_int_equal(raw_read_rows(graph, 0, 2, 3, rows, &error), TR_EFORMAT);
    assert_says(&error, TR_EFORMAT, "feat.npy: row 3, column 1: value nan");
    raw_close(graph);
}

/* A folder "c" with two pieces of edges (one of each orientation) and the given metadata. */
static int open_metadata(struct scratch *scratch, const char *metadata, struct raw_graph **graph,
                         struct error *error)
{
    struct error ignored;
    int64_t first[] = { 0, 1, 1, 2, 2, 0 };   /* [3, 2] */
    uint16_t second[] = { 2, 2, 2, 0, 1, 2 }; /* [2, 3] */
    uint64_t first_shape[] = { 3, 2 }, second_shape[] = { 2, 3 }, rows_shape[] = { 3 };
    files_remove_tree(files_posix, at(scratch, "c"), NULL);
    assert_int_equal(files_make_folders(files_posix, at(scratch, "c"), &ignored), 0);
    assert_int_equal(
        npy_write(files_posix, at(scratch, "c/a.npy"), "<i8", 2, first_shape, first, &ignored), 0);
    assert_int_equal(
        npy_write(files_posix, at(scratch, "c/b.npy"), "<u2", 2, second_shape, second, &ignored),
        0);
    assert_int_equal(
        npy_write(files_posix, at(scratch, "c/r.npy"), "<u2", 1, rows_shape, second, &ignored), 0);
    put_text(scratch, "c/metadata.json", metadata);
    return raw_open(at(scratch, "c"), NULL, graph, error);
}

#define HEAD "{\"graph_name\": \"g\", \"node_type\": [\"n\"], \"edge_type\": [\"n:e:n\"],"
#define COUNTS "\"num_nodes_per_chunk\": [[1, 2]], \"num_edges_per_chunk\": [[3, 3]],"
#define EDGE_FILES                                                                      \
    "\"edges\": {\"n:e:n\": {\"format\": {\"name\": \"numpy\"}, \"data\": [\"a.npy\", " \
    "\"b.npy\"]}}"

static void pieces_of_any_shape_are_joined(void **state)
{
    struct error error = { 0 };
    struct raw_graph *graph;
    uint64_t src[6], dst[6];
    assert_int_equal(open_metadata(*state, HEAD COUNTS EDGE_FILES "}", &graph, &error), 0);
    assert_int_equal(raw_read_edges(graph, 0, 1, 5, src, dst, &error), 0);
    const uint64_t src_want[] = { 1, 2, 2, 2, 2 }, dst_want[] = { 2, 0, 0, 1, 2 };
    assert_memory_equal(src, src_want, sizeof src_want);
    assert_memory_equal(dst, dst_want, sizeof dst_want);
    raw_close(graph);
}

static void ids_out_of_range_are_told(void **state)
{
    struct error error;
    struct raw_graph *graph;
    uint64_t src[6], dst[6];
    assert_int_equal(
        open_metadata(
            *state,
            HEAD "\"num_nodes_per_chunk\": [[2]], \"num_edges_per_chunk\": [[6]]," EDGE_FILES "}",
            &graph, &error),
        0);
    assert_int_equal(raw_read_edges(graph, 0, 0, 6, src, dst, &error), TR_ERANGE);
    assert_says(&error, TR_ERANGE, "a.npy: edge 2: source 2");
    raw_close(graph);
}

static void bfloat16_needs_its_note(void **state)
{
    struct error error;
    struct raw_graph *graph;
#define ROWS(note)                                                                   \
    HEAD COUNTS EDGE_FILES                                                           \
        ", \"node_data\": {\"n\": {\"x\": {\"format\": {\"name\": \"numpy\"}, " note \
        "\"data\": [\"r.npy\"]}}}}"
    assert_int_equal(open_metadata(*state, ROWS("\"dtype\": \"bfloat16\", "), &graph, &error), 0);
    assert_int_equal(graph->tables[0].dtype, TR_BF16);
    raw_close(graph);
    assert_int_equal(open_metadata(*state, ROWS(""), &graph, &error), TR_EUNSUPPORTED);
    assert_says(&error, TR_EUNSUPPORTED, "r.npy");
}

static void wrong_metadata_is_told_by_its_field(void **state)
{
    static const struct {
        const char *metadata;
        int code;
        const char *says;
    } cases[] = {
        { "", TR_EFORMAT, "metadata.json: line 1" },
        { "{\"a\": ", TR_EFORMAT, "metadata.json: line 1" },
        { "[]", TR_EFORMAT, "must be an object" },
        { "{}", TR_EFORMAT, "graph_name: is missing" },
        { "{\"graph_name\": 3}", TR_EFORMAT, "graph_name: a string is needed, not an integer" },
        { "{\"graph_name\": \"../x\"}", TR_EINVAL, "graph_name" },
        { "{\"graph_name\": \"g\", \"node_type\": {}}", TR_EFORMAT,
          "node_type: an array is needed" },
        { "{\"graph_name\": \"g\", \"node_type\": [1]}", TR_EFORMAT, "node_type[0]: a string" },
        { "{\"graph_name\": \"g\", \"node_type\": [\"n\", \"n\"]}", TR_EEXIST, "node_type[1]" },
        { "{\"graph_name\": \"g\", \"node_type\": [\"n\"], \"edge_type\": [\"n:e\"]}", TR_EINVAL,
          "edge_type[0]" },
        { HEAD "\"x\": 1}", TR_EFORMAT, "num_nodes_per_chunk: is missing" },
        { HEAD "\"num_nodes_per_chunk\": [[1], [2]]}", TR_EFORMAT, "2 entries for 1 types" },
        { HEAD "\"num_nodes_per_chunk\": [3]}", TR_EFORMAT, "num_nodes_per_chunk[0]: an array" },
        { HEAD "\"num_nodes_per_chunk\": [[-3]]}", TR_EFORMAT, "num_nodes_per_chunk[0][0]" },
        { HEAD "\"num_nodes_per_chunk\": [[1.5]]}", TR_EFORMAT, "num_nodes_per_chunk[0][0]" },
        { HEAD "\"num_nodes_per_type\": [4], " COUNTS EDGE_FILES "}", TR_EMISMATCH,
          "num_nodes_per_type[0]: 4" },
        { HEAD COUNTS "\"edges\": []}", TR_EFORMAT, "edges: an object" },
        { HEAD COUNTS "\"edges\": {}}", TR_EFORMAT, "edges[\"n:e:n\"]: is missing" },
        { HEAD COUNTS
          "\"edges\": {\"n:e:n\": {\"format\": {\"name\": \"parquet\"}, \"data\": []}}}",
          TR_EUNSUPPORTED, "numpy.save" },
        { HEAD COUNTS
          "\"edges\": {\"n:e:n\": {\"format\": {\"name\": \"numpy\"}, \"data\": [\"a.npy\", 7]}}}",
          TR_EFORMAT, "metadata.json: edges[\"n:e:n\"].data[1]: a string" },
        { HEAD COUNTS "\"edges\": {\"n:e:n\": {\"format\": {\"name\": \"numpy\"}, \"data\": "
                      "[\"a.npy\", \"none.npy\"]}}}",
          TR_ENOENT, "data[1]" },
        { HEAD COUNTS
          "\"edges\": {\"n:e:n\": {\"format\": {\"name\": \"numpy\"}, \"data\": [\"a.npy\"]}}}",
          TR_EMISMATCH, "the files hold 3 edges, the counts say" },
        { HEAD COUNTS
          "\"edges\": {\"n:e:n\": {\"format\": {\"name\": \"numpy\"}, \"data\": [\"r.npy\"]}}}",
          TR_EFORMAT, "[N, 2]" },
        { HEAD COUNTS EDGE_FILES ", \"node_data\": {\"m\": {}}}", TR_EFORMAT,
          "node_data.m: no such node type" },
        { HEAD COUNTS EDGE_FILES
          ", \"node_data\": {\"n\": {\"x\": {\"format\": {\"name\": \"numpy\"}, \"data\": []}}}}",
          TR_EFORMAT, "lists no files" },
        { HEAD COUNTS EDGE_FILES ", \"edge_data\": {\"n:e:n\": {\"x\": {\"format\": {\"name\": "
                                 "\"numpy\"}, \"data\": [\"r.npy\"]}}}}",
          TR_EMISMATCH, "the files hold 3 rows, the type has" },
        { HEAD HEAD "}", TR_EFORMAT, "metadata.json: line 1" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct error error = { 0 };
        struct raw_graph *graph = NULL;
        assert_int_equal(open_metadata(*state, cases[i].metadata, &graph, &error), cases[i].code);
        assert_null(graph);
        assert_says(&error, cases[i].code, cases[i].says);
    }
}

/* An error of the file system is passed on: it is not taken for metadata that is broken. */
static void metadata_that_cannot_be_read_is_named(void **state)
{
    struct scratch *scratch = *state;
    const struct raw_options options = { .files = files_posix };
    struct raw_graph *graph = NULL;
    struct error error = { 0 };
    assert_int_equal(raw_open_chunked(scratch->folder, &options, &graph, &error), TR_ENOENT);
    assert_says(&error, TR_ENOENT, "metadata.json");
    assert_int_equal(mkdir(at(scratch, "metadata.json"), 0700), 0);
    assert_int_equal(raw_open_chunked(scratch->folder, &options, &graph, &error), TR_EINVAL);
    assert_says(&error, TR_EINVAL, "metadata.json");
    assert_null(graph);
}

#define MANY_TYPES 100

/* Metadata of many edge types, all with one file of edges and one of rows. */
static void put_many_types(struct scratch *scratch)
{
    static const int64_t edges[] = { 0, 1, 1, 0 };
    static const float rows[] = { 1, 2 };
    struct error error;
    uint64_t shape[] = { 2, 2 };
    FILE *file = fopen(at(scratch, "metadata.json"), "w");
    assert_non_null(file);
    fprintf(file, "{\"graph_name\": \"g\", \"node_type\": [\"n\"], \"num_nodes_per_chunk\": [[2]],"
                  " \"edge_type\": [");
    for (int i = 0; i < MANY_TYPES; i++)
        fprintf(file, "%s\"n:e%d:n\"", i > 0 ? ", " : "", i);
    fprintf(file, "], \"num_edges_per_chunk\": [");
    for (int i = 0; i < MANY_TYPES; i++)
        fprintf(file, "%s[2]", i > 0 ? ", " : "");
    fprintf(file, "], \"edges\": {");
    for (int i = 0; i < MANY_TYPES; i++)
        fprintf(file, "%s\"n:e%d:n\": {\"format\": {\"name\": \"numpy\"}, \"data\": [\"e.npy\"]}",
                i > 0 ? ", " : "", i);
    fprintf(file, "}, \"edge_data\": {");
    for (int i = 0; i < MANY_TYPES; i++)
        fprintf(file,
                "%s\"n:e%d:n\": {\"w\": {\"format\": {\"name\": \"numpy\"},"
                " \"data\": [\"w.npy\"]}}",
                i > 0 ? ", " : "", i);
    fprintf(file, "}}");
    assert_int_equal(fclose(file), 0);
    assert_int_equal(npy_write(files_posix, at(scratch, "e.npy"), "<i8", 2, shape, edges, &error),
                     0);
    assert_int_equal(npy_write(files_posix, at(scratch, "w.npy"), "<f4", 1, shape, rows, &error),
                     0);
}

static void more_types_than_descriptors(void **state)
{
    struct scratch *scratch = *state;
    struct raw_graph *graph;
    struct rlimit was, few;
    struct error error = { 0 };
    uint64_t src[2], dst[2];
    float rows[2];
    put_many_types(scratch);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &was), 0);
    few = was;
    few.rlim_cur = 32;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    int rv = raw_open(scratch->folder, NULL, &graph, &error);
    for (uint32_t i = 0; i < MANY_TYPES && rv == 0; i++) {
        rv = raw_read_edges(graph, i, 0, 2, src, dst, &error);
        if (rv == 0)
            rv = raw_read_rows(graph, i, 0, 2, rows, &error);
    }
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &was), 0);
    if (rv != 0)
        fail_msg("%s", error.text);
    assert_true(src[1] == 1 && dst[1] == 0 && rows[1] == 2);
    raw_close(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(written_is_read, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(a_taken_path_is_kept, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(an_interrupt_leaves_nothing, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(a_value_that_is_not_finite_is_told, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(pieces_of_any_shape_are_joined, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(ids_out_of_range_are_told, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(bfloat16_needs_its_note, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(more_types_than_descriptors, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(metadata_that_cannot_be_read_is_named, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(wrong_metadata_is_told_by_its_field, scratch_setup,
                                        scratch_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
