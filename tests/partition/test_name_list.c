/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names come back as they were given, from the list and from the partitions of a graph that has
 * them; the files of a list are among those that are carried elsewhere; and arrays that are no list
 * are refused by name.
 */
#include "tests/partition/raw_util.h"

#include "graph/key.h"
#include "partition/build/partition.h"
#include "partition/build/verify.h"
#include "partition/raw/raw_write.h"
#include "partition/store/book_paths.h"
#include "partition/store/name_list.h"

#define NAMES 3000u

static size_t name_of(uint64_t i, char text[64])
{
    return (size_t)sprintf(text, "%.*s%llu", (int)(key_draw(1, i) % 40),
                           "a name, with \"quotes\" and \303\274 in it -----",
                           (unsigned long long)i);
}

static void write_list(const char *stem)
{
    struct name_list_writer writer;
    struct error error = { 0 };
    char text[64];
    assert_int_equal(name_list_create(&writer, files_posix, stem, &error), 0);
    for (uint64_t i = 0; i < NAMES; i++) {
        size_t length = name_of(i, text);
        assert_int_equal(name_list_add(&writer, text, length, &error), 0);
    }
    assert_int_equal(name_list_finish(&writer, &error), 0);
    name_list_writer_close(&writer);
}

static void expect_range(struct name_list *list, uint64_t first, uint64_t count)
{
    uint64_t *offsets = malloc((count + 1) * sizeof *offsets);
    struct error error = { 0 };
    char expected[64];
    assert_int_equal(name_list_offsets(list, first, count, offsets, &error), 0);
    char *text = malloc(offsets[count] - offsets[0] + 1);
    assert_int_equal(name_list_text(list, offsets, count, text, &error), 0);
    for (uint64_t i = 0; i < count; i++) {
        size_t length = name_of(first + i, expected);
        assert_int_equal(offsets[i + 1] - offsets[i], length + 1);
        assert_memory_equal(text + (offsets[i] - offsets[0]), expected, length);
        assert_int_equal(text[offsets[i + 1] - offsets[0] - 1], '\n');
    }
    free(text);
    free(offsets);
}

static void any_range_comes_back(void **state)
{
    struct scratch *scratch = *state;
    struct name_list list;
    struct error error = { 0 };
    char stem[256];
    strcpy(stem, at(scratch, "list"));
    write_list(stem);
    assert_int_equal(name_list_open(&list, files_posix, stem, NAMES, &error), 0);
    expect_range(&list, 0, NAMES);
    expect_range(&list, NAMES, 0);
    for (uint64_t i = 0; i < 50; i++) {
        uint64_t first = key_draw(2, i) % NAMES;
        expect_range(&list, first, key_draw(3, i) % (NAMES - first + 1));
    }
    name_list_close(&list);
    assert_int_equal(name_list_open(&list, files_posix, stem, NAMES - 1, &error), TR_EFORMAT);
    assert_non_null(strstr(error.text, "list.offsets.npy: has 3001 elements for 2999 names"));
}

/* Reads three names of offsets and bytes that may be anything. */
static void expect_refused(struct scratch *scratch, const int64_t *ends, const char *bytes,
                           const char *says)
{
    struct name_list list;
    struct error error = { 0 };
    uint64_t offsets[4], num_ends = 4, size = strlen(bytes);
    char text[64], stem[256];
    strcpy(stem, at(scratch, "bad"));
    (void)files_remove_tree(files_posix, at(scratch, "bad.text.npy"), NULL);
    assert_int_equal(
        npy_write(files_posix, at(scratch, "bad.text.npy"), "|u1", 1, &size, bytes, NULL), 0);
    (void)files_remove_tree(files_posix, at(scratch, "bad.offsets.npy"), NULL);
    assert_int_equal(
        npy_write(files_posix, at(scratch, "bad.offsets.npy"), "<i8", 1, &num_ends, ends, NULL), 0);
    assert_int_equal(name_list_open(&list, files_posix, stem, 3, &error), 0);
    int rv = name_list_offsets(&list, 0, 3, offsets, &error);
    if (rv == 0)
        rv = name_list_text(&list, offsets, 3, text, &error);
    name_list_close(&list);
    assert_true(rv < 0);
    if (strstr(error.text, says) == NULL)
        fail_msg("'%s', not '%s'", error.text, says);
}

static void what_is_no_list_is_refused(void **state)
{
    static const int64_t behind[] = { 0, 2, 4, 9 }, back[] = { 0, 4, 2, 6 };
    static const int64_t begun[] = { 1, 2, 4, 6 }, negative[] = { 0, -2, 4, 6 };
    static const int64_t right[] = { 0, 2, 4, 6 }, empty[] = { 0, 2, 2, 6 };
    expect_refused(*state, behind, "a\nb\nc\n", "element 3 is 9, where no name ends");
    expect_refused(*state, back, "a\nb\nc\n", "element 2 is 2, where no name ends");
    expect_refused(*state, empty, "a\nb\nc\n", "element 2 is 2, where no name ends");
    expect_refused(*state, begun, "a\nb\nc\n", "element 0 is 1, where no name ends");
    expect_refused(*state, negative, "a\nb\nc\n", "bad.offsets.npy");
    expect_refused(*state, right, "a\nbcc\n", "bad.text.npy: byte 3 is not a line end");
}

/* A ring of nodes with names, of which one may be another, and a table whose values may have some. */
static struct raw_graph *make_named(const char *path, uint64_t other, bool values_too)
{
    struct graph_types types;
    struct raw_writer *writer;
    struct raw_graph *raw;
    struct error error = { 0 };
    const uint64_t num_nodes = NAMES;
    uint64_t src[NAMES], dst[NAMES];
    uint32_t table, nodes, values;
    char text[64];
    uint8_t rows[NAMES];
    for (uint64_t i = 0; i < NAMES; i++) {
        src[i] = i;
        dst[i] = (i + 1) % NAMES;
        rows[i] = i % 2;
    }
    assert_int_equal(graph_types_init_homogeneous(&types), 0);
    assert_int_equal(raw_writer_open(path, NULL, "g", &types, &num_nodes, &writer, &error), 0);
    graph_types_fini(&types);
    assert_int_equal(raw_writer_edges(writer, 0, NAMES, src, dst, &error), 0);
    assert_int_equal(raw_writer_add_table(writer, "a~b", false, 0, TR_U8, 0, NULL, &table, &error),
                     0);
    assert_int_equal(raw_writer_rows(writer, table, NAMES, rows, &error), 0);
    assert_int_equal(raw_writer_add_names(writer, NAMES_NODES, 0, NULL, &nodes, &error), 0);
    if (values_too)
        assert_int_equal(raw_writer_add_names(writer, NAMES_VALUES, 0, "a~b", &values, &error), 0);
    for (uint64_t i = 0; i < NAMES; i++) {
        size_t length = name_of(i, text);
        text[0] = i == other ? '?' : text[0];
        assert_int_equal(raw_writer_name(writer, nodes, text, length, &error), 0);
    }
    if (values_too) {
        assert_int_equal(raw_writer_name(writer, values, "even", 4, &error), 0);
        assert_int_equal(raw_writer_name(writer, values, "odd", 3, &error), 0);
    }
    assert_int_equal(raw_writer_commit(writer, &error), 0);
    assert_int_equal(raw_open(path, NULL, &raw, &error), 0);
    return raw;
}

static int count_there(void *arg, const char *path)
{
    assert_true(files_exists(files_posix, path));
    ++*(uint32_t *)arg;
    return 0;
}

static int count_written(void *arg, const char *name)
{
    (void)name;
    ++*(uint32_t *)arg;
    return 0;
}

static void partitions_keep_the_names(void **state)
{
    struct scratch *scratch = *state;
    struct error error = { 0 };
    struct book_file file;
    struct name_list list;
    char out[256], stem[300];
    uint32_t listed = 0, written = 0;
    const struct partition_options options = { .method = PARTITION_RANDOM, .num_parts = 3 };
    struct raw_graph *raw = make_named(at(scratch, "raw"), NAMES, true);
    assert_int_equal(raw->num_names, 2);
    /* A copy has them too, and the partitions are made of it. */
    assert_int_equal(raw_copy(raw, at(scratch, "copy"), NULL, &error), 0);
    raw_close(raw);
    assert_int_equal(raw_open(at(scratch, "copy"), NULL, &raw, &error), 0);
    assert_int_equal(raw->num_names, 2);
    strcpy(out, at(scratch, "parts"));
    assert_int_equal(partition_graph(raw, &options, out, NULL, NULL, NULL, &error), 0);
    raw_close(raw);
    assert_int_equal(book_file_read(&file, files_posix, at(scratch, "parts/g.json"), &error), 0);
    assert_int_equal(file.num_names, 2);
    assert_true(file.names[0].key.of == NAMES_NODES && file.names[0].count == NAMES);
    assert_string_equal(file.names[1].key.table, "a~b");
    assert_int_equal(book_paths(&file, at(scratch, "parts/g.json"), NULL, count_there, &listed), 0);
    files_posix->list(files_posix, out, count_written, &written);
    assert_int_equal(listed, written);
    book_file_fini(&file);
    snprintf(stem, sizeof stem, "%s/dict~_N~nodes", out);
    assert_int_equal(name_list_open(&list, files_posix, stem, NAMES, &error), 0);
    expect_range(&list, 0, NAMES);
    name_list_close(&list);
    snprintf(stem, sizeof stem, "%s/dict~_N~values~a%%7Eb", out);
    assert_int_equal(name_list_open(&list, files_posix, stem, 2, &error), 0);
    name_list_close(&list);
}

static void expect_verify(struct scratch *scratch, struct raw_graph *raw, const char *says)
{
    struct error error = { 0 };
    int rv = verify_directory(at(scratch, "parts/g.json"), raw, NULL, NULL, NULL, &error);
    raw_close(raw);
    assert_int_equal(rv, says == NULL ? 0 : TR_EMISMATCH);
    if (says != NULL && strstr(error.text, says) == NULL)
        fail_msg("'%s', not '%s'", error.text, says);
}

/* Partitions are held against the names of their graph, each by each and list by list. */
static void other_names_are_told_apart(void **state)
{
    struct scratch *scratch = *state;
    struct error error = { 0 };
    char out[256];
    const struct partition_options options = { .method = PARTITION_RANDOM, .num_parts = 2 };
    struct raw_graph *raw = make_named(at(scratch, "raw"), NAMES, true);
    strcpy(out, at(scratch, "parts"));
    assert_int_equal(partition_graph(raw, &options, out, NULL, NULL, NULL, &error), 0);
    expect_verify(scratch, raw, NULL);
    expect_verify(scratch, make_named(at(scratch, "first"), 0, true),
                  "dict~_N~nodes.text.npy: name 0 is not as in the input; partition again");
    expect_verify(scratch, make_named(at(scratch, "last"), NAMES - 1, true),
                  "name 2999 is not as in the input");
    expect_verify(scratch, make_named(at(scratch, "fewer"), NAMES, false),
                  "g.json: names of values of a~b of type '_N' are not as in the input");
    assert_int_equal(files_remove_tree(files_posix, out, NULL), 0);
    raw = make_named(at(scratch, "without"), NAMES, false);
    assert_int_equal(partition_graph(raw, &options, out, NULL, NULL, NULL, &error), 0);
    expect_verify(scratch, raw, NULL);
    assert_int_equal(raw_open(at(scratch, "raw"), NULL, &raw, &error), 0);
    expect_verify(scratch, raw,
                  "g.json: names of values of a~b of type '_N' are not as in the input");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)
    const struct CMUnitTest tests[] = {
        TEST(any_range_comes_back),
        TEST(what_is_no_list_is_refused),
        TEST(partitions_keep_the_names),
        TEST(other_names_are_told_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
