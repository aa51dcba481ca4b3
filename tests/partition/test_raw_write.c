/* SPDX-License-Identifier: Apache-2.0 */
/* Writing where the disk fills up or does not sync, and reading where memory ends. */
#include "tests/partition/raw_util.h"

#include <errno.h>

#include "partition/generate/generate.h"
#include "partition/raw/raw.h"
#include "partition/raw/raw_write.h"
#include "runtime/base/atomic_dir.h"

/* POSIX files that fail after so many bytes, or at the nth fsync or rename. */
struct failing {
    struct files files;
    uint64_t bytes_left;
    int syncs_left;
    int renames_left;
    bool tear; /* short writes and EINTR on the way */
    int calls;
};

static ssize_t failing_pwrite(struct files *self, int fd, const void *data, size_t size,
                              uint64_t offset)
{
    struct failing *failing = (struct failing *)self;
    if (failing->tear && ++failing->calls % 3 == 0)
        return -EINTR;
    if (failing->tear && size > 7)
        size = 1 + size / 3;
    if (failing->bytes_left == 0)
        return -ENOSPC;
    if (size > failing->bytes_left)
        size = (size_t)failing->bytes_left;
    failing->bytes_left -= size;
    return files_posix->pwrite(files_posix, fd, data, size, offset);
}

static ssize_t failing_pread(struct files *self, int fd, void *data, size_t size, uint64_t offset)
{
    struct failing *failing = (struct failing *)self;
    if (failing->tear && ++failing->calls % 3 == 0)
        return -EINTR;
    return files_posix->pread(files_posix, fd, data, failing->tear && size > 5 ? 5 : size, offset);
}

static int failing_fsync(struct files *self, int fd)
{
    return ((struct failing *)self)->syncs_left-- == 0 ? -EIO : files_posix->fsync(files_posix, fd);
}

static int failing_rename(struct files *self, const char *from, const char *to)
{
    if (((struct failing *)self)->renames_left-- == 0)
        return -EACCES;
    return files_posix->rename(files_posix, from, to);
}

static int failing_exchange(struct files *self, const char *one, const char *other)
{
    (void)self, (void)one, (void)other;
    return -EACCES;
}

static struct failing failing_files(void)
{
    struct failing failing = { *files_posix, UINT64_MAX, -1, -1, false, 0 };
    failing.files.pwrite = failing_pwrite;
    failing.files.pread = failing_pread;
    failing.files.fsync = failing_fsync;
    failing.files.syncfs = NULL;
    failing.files.rename = failing_rename;
    return failing;
}

static const struct generate_options sizes = {
    .num_nodes = 40, .num_edges = 100, .num_features = 3, .num_classes = 2, .seed = 1, .inside = -1
};

static void a_full_disk_leaves_nothing(void **state)
{
    struct scratch *scratch = *state;
    struct error error = { 0 };
    int rv = TR_ENOSPC, tries = 0;
    for (uint64_t bytes = 0; rv != 0; bytes += 97, tries++) {
        struct failing failing = failing_files();
        struct raw_write_options options = { .files = &failing.files };
        failing.bytes_left = bytes;
        rv = generate_sbm(at(scratch, "g"), &sizes, &options, &error);
        if (rv != 0) {
            assert_says(&error, TR_ENOSPC, "No space left");
            assert_int_equal(count_names(scratch), 0);
        }
    }
    assert_true(tries > 10);
    assert_int_equal(count_names(scratch), 1);
}

static void what_does_not_sync_is_not_shown(void **state)
{
    struct scratch *scratch = *state;
    struct error error = { 0 };
    int rv = TR_EIO, tries = 0;
    for (; rv != 0; tries++) {
        struct failing failing = failing_files();
        struct raw_write_options options = { .files = &failing.files };
        failing.syncs_left = tries;
        rv = generate_sbm(at(scratch, "g"), &sizes, &options, &error);
        /* The last sync, of the folder above, comes after the rename: the graph is whole then. */
        if (rv != 0 && files_exists(files_posix, at(scratch, "g"))) {
            struct raw_graph *graph;
            assert_int_equal(raw_open(at(scratch, "g"), NULL, &graph, &error), 0);
            raw_close(graph);
            files_remove_tree(files_posix, at(scratch, "g"), NULL);
        }
        if (rv != 0)
            assert_int_equal(count_names(scratch), 0);
    }
    assert_true(tries > 8);
}

static int failing_syncfs(struct files *self, int fd)
{
    (void)fd;
    ((struct failing *)self)->calls++;
    return ((struct failing *)self)->tear ? -EIO : 0;
}

/* Many files are synced by one call; where that fails, the file that is to blame is named. */
static void many_files_are_synced_at_once(void **state)
{
    enum { FILES = 1000 };
    struct scratch *scratch = *state;
    struct error error = { 0 };
    struct failing failing = failing_files();
    failing.files.syncfs = failing_syncfs;
    assert_int_equal(files_make_folders(files_posix, at(scratch, "many"), &error), 0);
    for (int i = 0; i < FILES; i++) {
        char name[32];
        snprintf(name, sizeof name, "many/%d", i);
        put_text(scratch, name, "");
        if (i == 3) {
            assert_int_equal(files_sync_tree(&failing.files, at(scratch, "many"), &error), 0);
            assert_int_equal(failing.calls, 0);
        }
    }
    assert_int_equal(files_sync_tree(&failing.files, at(scratch, "many"), &error), 0);
    assert_int_equal(failing.calls, 1);
    failing.tear = true;
    failing.syncs_left = FILES / 2;
    assert_int_equal(files_sync_tree(&failing.files, at(scratch, "many"), &error), TR_EIO);
    assert_int_equal(failing.calls, 2);
    assert_says(&error, TR_EIO, ": cannot sync to disk");
}

static void a_failed_rename_keeps_the_old(void **state)
{
    struct scratch *scratch = *state;
    struct error error = { 0 };
    assert_int_equal(generate_sbm(at(scratch, "g"), &sizes, NULL, &error), 0);
    /* The exchange fails; or there is none, and one of the two renames fails. */
    for (int renames = -1; renames < 2; renames++) {
        struct failing failing = failing_files();
        failing.files.exchange = renames < 0 ? failing_exchange : NULL;
        struct raw_write_options options = { .files = &failing.files, .replace = true };
        struct raw_graph *graph;
        failing.renames_left = renames;
        assert_int_equal(generate_skew(at(scratch, "g"), &sizes, &options, &error), TR_EPERM);
        assert_int_equal(count_names(scratch), 1);
        assert_int_equal(raw_open(at(scratch, "g"), NULL, &graph, &error), 0);
        assert_string_equal(graph->name, "sbm");
        raw_close(graph);
    }
}

static void short_and_interrupted_calls_change_nothing(void **state)
{
    struct scratch *scratch = *state;
    struct error error = { 0 };
    struct failing failing = failing_files();
    struct raw_write_options options = { .files = &failing.files };
    failing.tear = true;
    assert_int_equal(generate_sbm(at(scratch, "a"), &sizes, &options, &error), 0);
    assert_int_equal(generate_sbm(at(scratch, "b"), &sizes, NULL, &error), 0);
    struct raw_options torn = { .files = &failing.files };
    struct raw_graph *a, *b;
    uint64_t ends[2][200];
    if (raw_open(at(scratch, "a"), &torn, &a, &error) != 0)
        fail_msg("%s", error.text);
    assert_int_equal(raw_open(at(scratch, "b"), NULL, &b, &error), 0);
    assert_int_equal(raw_read_edges(a, 0, 0, 100, ends[0], ends[0] + 100, &error), 0);
    assert_int_equal(raw_read_edges(b, 0, 0, 100, ends[1], ends[1] + 100, &error), 0);
    assert_memory_equal(ends[0], ends[1], sizeof ends[0]);
    raw_close(a);
    raw_close(b);
}

static void a_copy_is_equal(void **state)
{
    struct scratch *scratch = *state;
    struct error error = { 0 };
    struct raw_graph *a, *b;
    uint64_t ends[2][200];
    float rows[2][120];
    assert_int_equal(generate_rmat(at(scratch, "a"), &sizes, NULL, &error), 0);
    assert_int_equal(raw_open(at(scratch, "a"), NULL, &a, &error), 0);
    assert_int_equal(raw_copy(a, at(scratch, "b"), NULL, &error), 0);
    assert_int_equal(raw_open(at(scratch, "b"), NULL, &b, &error), 0);
    assert_int_equal(a->num_tables, b->num_tables);
    struct raw_graph *graphs[] = { a, b };
    for (int i = 0; i < 2; i++) {
        uint32_t feat = (uint32_t)raw_find_table(graphs[i], false, 0, "feat");
        assert_int_equal(raw_read_edges(graphs[i], 0, 0, 100, ends[i], ends[i] + 100, &error), 0);
        assert_int_equal(raw_read_rows(graphs[i], feat, 0, 40, rows[i], &error), 0);
        raw_close(graphs[i]);
    }
    assert_memory_equal(ends[0], ends[1], sizeof ends[0]);
    assert_memory_equal(rows[0], rows[1], sizeof rows[0]);
}

static void tables_of_wrong_length_are_refused(void **state)
{
    struct scratch *scratch = *state;
    struct error error = { 0 };
    struct graph_types types;
    struct raw_writer *writer;
    uint64_t num_nodes = 3;
    uint32_t table;
    int64_t label = 0;
    uint64_t src = 0, dst = 3;
    assert_int_equal(graph_types_init_homogeneous(&types), 0);
    assert_int_equal(
        raw_writer_open(at(scratch, "g"), NULL, "g", &types, &num_nodes, &writer, &error), 0);
    assert_int_equal(raw_writer_edges(writer, 0, 1, &src, &dst, &error), TR_ERANGE);
    assert_int_equal(raw_writer_add_table(writer, "a/b", false, 0, TR_I64, 0, NULL, &table, &error),
                     TR_EINVAL);
    assert_int_equal(
        raw_writer_add_table(writer, "label", false, 0, TR_I64, 0, NULL, &table, &error), 0);
    uint32_t again = 7;
    int rv = raw_writer_add_table(writer, "label", false, 0, TR_I64, 0, NULL, &again, &error);
    assert_int_equal(rv, TR_EEXIST);
    assert_says(&error, rv, "feature 'label' of '_N' would be written twice");
    assert_int_equal(raw_writer_rows(writer, table, 1, &label, &error), 0);
    assert_int_equal(raw_writer_commit(writer, &error), TR_EMISMATCH);
    assert_says(&error, TR_EMISMATCH, "feature 'label': 1 rows were written for 3 nodes");
    assert_int_equal(count_names(scratch), 0);
    graph_types_fini(&types);
}

static void empty_graphs_and_rows_without_elements(void **state)
{
    struct scratch *scratch = *state;
    struct error error = { 0 };
    struct graph_types types;
    struct raw_writer *writer;
    struct raw_graph *graph;
    uint64_t num_nodes = 3, width = 0;
    uint32_t table, on_edges;
    uint64_t ends[2] = { 0, 1 };
    assert_int_equal(graph_types_init_homogeneous(&types), 0);
    assert_int_equal(
        raw_writer_open(at(scratch, "g"), NULL, "g", &types, &num_nodes, &writer, &error), 0);
    assert_int_equal(raw_writer_add_table(writer, "x", false, 0, TR_F32, 1, &width, &table, &error),
                     0);
    assert_int_equal(
        raw_writer_add_table(writer, "y", true, 0, TR_F32, 1, &width, &on_edges, &error), 0);
    assert_int_equal(raw_writer_edges(writer, 0, 2, ends, ends, &error), 0);
    assert_int_equal(raw_writer_rows(writer, table, 3, NULL, &error), 0);
    assert_int_equal(raw_writer_rows(writer, on_edges, 2, NULL, &error), 0);
    if (raw_writer_commit(writer, &error) != 0)
        fail_msg("%s", error.text);
    if (raw_open(at(scratch, "g"), NULL, &graph, &error) != 0)
        fail_msg("%s", error.text);
    assert_int_equal(graph->tables[0].width, 0);
    assert_int_equal(graph->tables[0].num_rows, 3);
    assert_int_equal(graph->tables[1].num_rows, 2);
    assert_int_equal(raw_read_rows(graph, 0, 0, 3, ends, &error), 0);
    raw_close(graph);
    graph_types_fini(&types);
}

static void one_file_is_replaced_whole(void **state)
{
    struct scratch *scratch = *state;
    struct error error = { 0 };
    struct failing failing = failing_files();
    char *data;
    size_t size;
    assert_int_equal(files_write_atomic(files_posix, at(scratch, "f"), "old", 3, &error), 0);
    failing.bytes_left = 2;
    assert_int_equal(files_write_atomic(&failing.files, at(scratch, "f"), "newer", 5, &error),
                     TR_ENOSPC);
    assert_int_equal(files_read_all(files_posix, at(scratch, "f"), 10, &data, &size, &error), 0);
    assert_string_equal(data, "old");
    free(data);
    assert_int_equal(count_names(scratch), 1);
    assert_int_equal(files_write_atomic(files_posix, at(scratch, "f"), "newer", 5, &error), 0);
    assert_int_equal(files_read_all(files_posix, at(scratch, "f"), 4, &data, &size, &error),
                     TR_ETOOBIG);
    assert_int_equal(count_names(scratch), 1);
}

static void a_parent_that_is_a_file_is_told(void **state)
{
    struct scratch *scratch = *state;
    struct error error = { 0 };
    put_text(scratch, "file", "");
    assert_int_equal(generate_sbm(at(scratch, "file/sub/g"), &sizes, NULL, &error), TR_ENOENT);
    assert_says(&error, TR_ENOENT, "/file");
    assert_int_equal(generate_sbm(at(scratch, "deep/er/g"), &sizes, NULL, &error), 0);
}

/* Brutal malloc: each call fails once, at every allocation it makes. */
static int allocations_left = -1;

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *block, size_t size);
char *__real_strdup(const char *text);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *block, size_t size);
char *__wrap_strdup(const char *text);

static bool refused(void)
{
    return allocations_left >= 0 && allocations_left-- == 0;
}

void *__wrap_malloc(size_t size)
{
    return refused() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return refused() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *block, size_t size)
{
    return refused() ? NULL : __real_realloc(block, size);
}

char *__wrap_strdup(const char *text)
{
    return refused() ? NULL : __real_strdup(text);
}

static void memory_may_end_anywhere(void **state)
{
    struct scratch *scratch = *state;
    static const char *const inputs[] = { "g", "a.txt", "a.mtx", "a.graph" };
    assert_int_equal(generate_sbm(at(scratch, "g"), &sizes, NULL, NULL), 0);
    put_text(scratch, "a.txt", "0 1\n1 2\n");
    put_text(scratch, "a.mtx",
             "%%MatrixMarket matrix coordinate real symmetric\n3 3 2\n1 2 1\n2 3 1\n");
    put_text(scratch, "a.graph", "3 2 11\n1 2 1\n1 1 1 3 1\n1 2 1\n");
    for (int i = 0; i < 4; i++) {
        char path[256];
        int rv = TR_ENOMEM, tries = 0;
        strcpy(path, at(scratch, inputs[i]));
        for (; rv != 0 && tries < 10000; tries++) {
            struct error error = { 0 };
            struct raw_graph *graph = NULL;
            allocations_left = tries;
            rv = raw_open(path, NULL, &graph, &error);
            allocations_left = -1;
            if (rv != 0)
                assert_null(graph);
            else
                raw_close(graph);
            /* jansson can't tell a failed allocation from a wrong document. */
            if (rv != 0 && rv != TR_ENOMEM && i > 0)
                fail_msg("%s after %d allocations: %s", inputs[i], tries, error.text);
        }
        assert_true(tries > 5 && rv == 0);
    }
}

static void memory_may_end_while_writing(void **state)
{
    struct scratch *scratch = *state;
    int rv = TR_ENOMEM, tries = 0;
    for (; rv != 0 && tries < 10000; tries++) {
        struct error error = { 0 };
        allocations_left = tries;
        rv = generate_sbm(at(scratch, "g"), &sizes, NULL, &error);
        allocations_left = -1;
        if (rv != 0 && rv != TR_ENOMEM)
            fail_msg("after %d allocations: %s", tries, error.text);
        /* Clean-up that needs memory itself may leave the folder aside, never the final one. */
        assert_int_equal(files_exists(files_posix, at(scratch, "g")), rv == 0);
    }
    assert_true(tries > 20 && rv == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_full_disk_leaves_nothing, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(many_files_are_synced_at_once, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(what_does_not_sync_is_not_shown, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(a_failed_rename_keeps_the_old, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(short_and_interrupted_calls_change_nothing, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(a_copy_is_equal, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(tables_of_wrong_length_are_refused, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(empty_graphs_and_rows_without_elements, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(one_file_is_replaced_whole, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(a_parent_that_is_a_file_is_told, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(memory_may_end_anywhere, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(memory_may_end_while_writing, scratch_setup,
                                        scratch_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
