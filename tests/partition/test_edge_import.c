/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An edge list that is written while it is parsed becomes the folder that reading it whole and then
 * copying it makes, byte for byte, or fails with the same message and leaves nothing behind.
 */
#include "tests/partition/raw_util.h"

#include <errno.h>

#include "partition/raw/edge_import.h"
#include "partition/raw/reverse_pairs.h"

#define LINES 50000

/* The folder by way of memory, as other formats become one. */
static int copy_whole(struct scratch *scratch, const struct raw_options *options,
                      const struct raw_write_options *write, struct raw_edges_found *found,
                      struct error *error)
{
    struct raw_graph *graph = NULL;
    struct reverse_pairs reverse = { 0 };
    assert_int_equal(reverse_pairs_init(&reverse), 0);
    *found = (struct raw_edges_found){ 0 };
    int rv = raw_open(at(scratch, "a.txt"), options, &graph, error);
    if (rv == 0)
        rv = raw_copy_with(graph, NULL, RAW_ROWS_SMALLER, options->undirected ? &reverse : NULL,
                           at(scratch, "whole"), write, error);
    if (rv == 0) {
        *found = graph->found;
        graph->found = (struct raw_edges_found){ 0 };
        if (options->undirected)
            reverse_pairs_count(&reverse, &found->pairs_seen, &found->pairs_mutual);
    }
    raw_close(graph);
    reverse_pairs_fini(&reverse);
    return rv;
}

static int stream(struct scratch *scratch, const struct raw_options *options,
                  const struct raw_write_options *write, struct raw_edges_found *found,
                  struct error *error)
{
    char from[256];
    snprintf(from, sizeof from, "%s", at(scratch, "a.txt"));
    return edge_import(from, options, at(scratch, "streamed"), write, found, error);
}

static void assert_same_file(struct scratch *scratch, const char *name)
{
    char *one, *other, path[80];
    size_t size, other_size;
    struct error error = { 0 };
    snprintf(path, sizeof path, "whole/%s", name);
    assert_int_equal(files_read_all(files_posix, at(scratch, path), 1 << 24, &one, &size, &error),
                     0);
    snprintf(path, sizeof path, "streamed/%s", name);
    assert_int_equal(
        files_read_all(files_posix, at(scratch, path), 1 << 24, &other, &other_size, &error), 0);
    assert_int_equal(size, other_size);
    assert_memory_equal(one, other, size);
    free(one);
    free(other);
}

static void assert_same_found(struct raw_edges_found *one, struct raw_edges_found *other)
{
    const char *one_name = one->source_name, *other_name = other->source_name;
    assert_int_equal(one_name == NULL, other_name == NULL);
    if (one_name != NULL)
        assert_string_equal(one_name, other_name);
    free(one->source_name);
    free(one->target_name);
    free(other->source_name);
    free(other->target_name);
    one->source_name = one->target_name = other->source_name = other->target_name = NULL;
    assert_memory_equal(one, other, offsetof(struct raw_edges_found, two_kinds));
    assert_int_equal(one->two_kinds, other->two_kinds);
}

/* Lines of many edges, with `row` behind them. */
static void put_lines(struct scratch *scratch, const char *head, const char *pattern,
                      const char *row)
{
    FILE *file = fopen(at(scratch, "a.txt"), "w");
    assert_non_null(file);
    fputs(head, file);
    for (unsigned i = 0; i < LINES; i++)
        put_row(file, pattern, i * 2654435761u % 10007, i * 40503u % 9973);
    fputs(row, file);
    assert_int_equal(fclose(file), 0);
}

static void the_folder_is_the_same(void **state)
{
    static const struct {
        const char *head, *pattern, *row;
        struct raw_options options;
    } cases[] = {
        { "", "@ @\n", "", { .num_nodes = 0 } },
        { "# c\nsrc,dst\n", "@,@\n", "2147483647,0\n", { .num_nodes = 0 } },
        { "", "@\t@\n", "1 1\n", { .undirected = true, .loops = RAW_LOOPS_DROP } },
        { "", "@ @\n", "", { .undirected = true, .num_nodes = 20000, .first_id = 0 } },
        { "w;from;to\n", "1;@;@\n", "1;2;3", { .num_nodes = UINT64_C(1) << 31 } },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (uint32_t threads = 1; threads < 4; threads++) {
            struct raw_edges_found whole, streamed;
            struct error error = { 0 };
            struct raw_options options = cases[i].options;
            /* Else most of its nodes would have no edge. */
            if (strstr(cases[i].row, "2147483647") != NULL)
                options.num_nodes = UINT64_C(1) << 31;
            options.reading = (struct text_reading){ threads, 10000 };
            put_lines(*state, cases[i].head, cases[i].pattern, cases[i].row);
            assert_int_equal(copy_whole(*state, &options, NULL, &whole, &error), 0);
            assert_int_equal(stream(*state, &options, NULL, &streamed, &error), 0);
            assert_same_file(*state, "metadata.json");
            assert_same_file(*state, "edges/_N:_E:_N.npy");
            assert_same_found(&whole, &streamed);
            assert_int_equal(files_remove_tree(files_posix, at(*state, "whole"), &error), 0);
            assert_int_equal(files_remove_tree(files_posix, at(*state, "streamed"), &error), 0);
            assert_int_equal(count_names(*state), 1);
        }
    }
}

/* What it cannot do is left to the other way, and the folder is not begun. */
static void some_are_left_to_others(void **state)
{
    struct raw_edges_found found;
    struct error error = { 0 };
    const struct raw_options merged = { .duplicates = RAW_DUPLICATES_MERGE };
    const struct raw_options many = { .num_nodes = (UINT64_C(1) << 31) + 1 }, plain = { 0 };
    put_lines(*state, "", "@ @\n", "");
    assert_int_equal(stream(*state, &merged, NULL, &found, &error), 1);
    assert_int_equal(stream(*state, &many, NULL, &found, &error), 1);
    put_lines(*state, "", "@ @\n", "2147483648 1\n");
    assert_int_equal(stream(*state, &plain, NULL, &found, &error), 1);
    assert_int_equal(count_names(*state), 1);
    put_lines(*state, "", "@ @\n", "99999999999 1\n");
    assert_int_equal(stream(*state, &plain, NULL, &found, &error), 1);
    assert_int_equal(remove(at(*state, "a.txt")), 0);
    assert_int_equal(stream(*state, &plain, NULL, &found, &error), 1);
    assert_int_equal(count_names(*state), 0);
}

static void failures_are_the_same(void **state)
{
    static const struct {
        const char *head, *row;
        struct raw_options options;
    } cases[] = {
        { "", "1 x\n", { .num_nodes = 0 } },
        { "", "3 3\n", { .loops = RAW_LOOPS_ERROR } },
        { "", "20000 3\n", { .num_nodes = 20000 } },
        { "", "2000000000 3\n", { .num_nodes = 0 } }, /* most nodes would have no edge */
        { "a,b,c\n", "", { .num_nodes = 0 } },
        { "", "", { .first_id = 1 } },
        { "", "", { .first_id = RAW_NODES_MAX } },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct raw_edges_found found;
        struct error whole = { 0 }, streamed = { 0 };
        struct raw_options options = cases[i].options;
        options.reading = (struct text_reading){ 3, 10000 };
        put_lines(*state, cases[i].head, "@ @\n", cases[i].row);
        int rv = copy_whole(*state, &options, NULL, &found, &whole);
        assert_true(rv < 0);
        assert_int_equal(stream(*state, &options, NULL, &found, &streamed), rv);
        assert_string_equal(whole.text, streamed.text);
        assert_int_equal(count_names(*state), 1);
    }
    /* A file without an edge. */
    struct raw_edges_found found;
    struct error error = { 0 };
    const struct raw_options plain = { 0 };
    put_text(*state, "a.txt", "# nothing\n");
    assert_int_equal(stream(*state, &plain, NULL, &found, &error), TR_EFORMAT);
    assert_says(&error, TR_EFORMAT, "holds no edge");
    assert_int_equal(count_names(*state), 1);
}

static void a_folder_that_is_there_stays(void **state)
{
    struct raw_edges_found found;
    struct error error = { 0 };
    const struct raw_options plain = { 0 };
    put_lines(*state, "", "@ @\n", "");
    assert_int_equal(stream(*state, &plain, NULL, &found, &error), 0);
    raw_edges_found_fini(&found);
    assert_int_equal(stream(*state, &plain, NULL, &found, &error), TR_EEXIST);
    const struct raw_write_options replace = { .replace = true };
    put_lines(*state, "", "@ @\n", "wrong\n");
    assert_int_equal(stream(*state, &plain, &replace, &found, &error), TR_EFORMAT);
    assert_true(files_exists(files_posix, at(*state, "streamed/metadata.json")));
    assert_int_equal(count_names(*state), 2);
}

static bool asked_after(void *arg)
{
    return --*(int *)arg < 0;
}

static void cancelled_it_leaves_nothing(void **state)
{
    put_lines(*state, "", "@ @\n", "");
    for (int after = 0; after < 200; after += after < 10 ? 1 : 23) {
        struct raw_edges_found found;
        struct error error = { 0 };
        int left = after;
        const struct cancel cancel = { asked_after, &left };
        const struct raw_options options = { .cancel = &cancel, .reading = { 3, 10000 } };
        const struct raw_write_options write = { .cancel = &cancel };
        int rv = stream(*state, &options, &write, &found, &error);
        if (rv == 0) /* it asked less often than that */
            break;
        assert_says(&error, TR_ECANCELED, "interrupted");
        assert_int_equal(count_names(*state), 1);
    }
}

/* A disk that takes so many writes. */
struct full_disk {
    struct files files;
    int writes_left;
};

static ssize_t full_pwrite(struct files *self, int fd, const void *data, size_t size,
                           uint64_t offset)
{
    struct full_disk *disk = (struct full_disk *)(void *)self;
    if (disk->writes_left-- <= 0)
        return -ENOSPC;
    return files_posix->pwrite(files_posix, fd, data, size, offset);
}

static void a_full_disk_is_reported(void **state)
{
    put_lines(*state, "", "@ @\n", "");
    int rv = TR_ENOSPC;
    for (int writes = 0; rv != 0; writes++) {
        struct raw_edges_found found;
        struct error error = { 0 };
        struct full_disk disk = { .files = *files_posix, .writes_left = writes };
        disk.files.pwrite = full_pwrite;
        const struct raw_options options = { .reading = { 2, 10000 } };
        const struct raw_write_options write = { .files = &disk.files };
        rv = stream(*state, &options, &write, &found, &error);
        if (rv == 0)
            raw_edges_found_fini(&found);
        else
            assert_says(&error, TR_ENOSPC, "streamed");
        assert_int_equal(count_names(*state), rv == 0 ? 2 : 1);
        assert_true(writes < 1000);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_folder_is_the_same, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(some_are_left_to_others, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(failures_are_the_same, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(a_folder_that_is_there_stays, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(cancelled_it_leaves_nothing, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(a_full_disk_is_reported, scratch_setup, scratch_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
