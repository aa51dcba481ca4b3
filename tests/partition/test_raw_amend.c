/* SPDX-License-Identifier: Apache-2.0 */
/* Tables that come to a graph in its folder: all of them or none, whatever disk and memory do. */
#include "tests/partition/raw_util.h"

#include <errno.h>

#include "partition/generate/generate.h"
#include "partition/raw/raw_amend.h"

#define NODES 40u

/* POSIX files whose disk fills up, or whose nth fsync or rename fails. */
struct broken_disk {
    struct files files;
    uint64_t bytes_left;
    int syncs_left;
    int renames_left;
};

#define NODES_OF_0 ((struct amend_rows_of){ false, 0 })

static ssize_t broken_pwrite(struct files *self, int fd, const void *data, size_t size,
                             uint64_t offset)
{
    struct broken_disk *disk = (struct broken_disk *)self;
    if (disk->bytes_left == 0)
        return -ENOSPC;
    size = size < disk->bytes_left ? size : (size_t)disk->bytes_left;
    disk->bytes_left -= size;
    return files_posix->pwrite(files_posix, fd, data, size, offset);
}

static int broken_fsync(struct files *self, int fd)
{
    return ((struct broken_disk *)self)->syncs_left-- == 0 ? -EIO
                                                           : files_posix->fsync(files_posix, fd);
}

static int broken_rename(struct files *self, const char *from, const char *to)
{
    if (((struct broken_disk *)self)->renames_left-- == 0)
        return -EACCES;
    return files_posix->rename(files_posix, from, to);
}

static struct broken_disk whole_disk(void)
{
    struct broken_disk disk = { *files_posix, UINT64_MAX, -1, -1 };
    disk.files.pwrite = broken_pwrite;
    disk.files.fsync = broken_fsync;
    disk.files.syncfs = NULL;
    disk.files.rename = broken_rename;
    return disk;
}

static void make_graph(struct scratch *scratch)
{
    const struct generate_options sizes = { .num_nodes = NODES,
                                            .num_edges = 100,
                                            .num_features = 3,
                                            .num_classes = 2,
                                            .seed = 1,
                                            .inside = -1 };
    const struct raw_write_options replace = { .replace = true };
    struct error error = { 0 };
    assert_int_equal(generate_sbm(at(scratch, "g"), &sizes, &replace, &error), 0);
}

/* Adds "one" (a byte a node) and "two" (two floats a node), all with that value. */
static int add_both(struct scratch *scratch, struct files *files, bool replace, uint8_t value,
                    struct error *error)
{
    struct raw_amend *amend;
    uint8_t ones[NODES];
    float twos[NODES * 2];
    uint32_t one, two;
    memset(ones, value, sizeof ones);
    for (unsigned i = 0; i < 2 * NODES; i++)
        twos[i] = value;
    int rv = raw_amend_open(at(scratch, "g"), files, NULL, &amend, error);
    if (rv != 0) {
        assert_null(amend);
        return rv;
    }
    rv = raw_amend_add_table(amend, NODES_OF_0, "one", replace, TR_U8, 0, &one, error);
    if (rv == 0)
        rv = raw_amend_add_table(amend, NODES_OF_0, "two", replace, TR_F32, 2, &two, error);
    if (rv == 0)
        rv = raw_amend_rows(amend, one, NODES, ones, error);
    if (rv == 0)
        rv = raw_amend_rows(amend, two, 7, twos, error);
    if (rv == 0)
        rv = raw_amend_rows(amend, two, NODES - 7, twos + 14, error);
    if (rv == 0)
        return raw_amend_commit(amend, error);
    raw_amend_abort(amend);
    return rv;
}

static int count_file(void *arg, const char *name)
{
    (void)name;
    ++*(int *)arg;
    return 0;
}

/* Files of the graph's node tables, hidden ones included. */
static int count_files(struct scratch *scratch)
{
    int count = 0;
    assert_int_equal(
        files_posix->list(files_posix, at(scratch, "g/node_data/_N"), count_file, &count), 0);
    return count;
}

/* The value of both tables, which is the same in all rows; 0: the graph has neither. The tables
 * that were there before are as they were. */
static uint8_t value_of_both(struct scratch *scratch)
{
    struct raw_graph *graph;
    struct error error = { 0 };
    uint8_t ones[NODES], seen = 0;
    float twos[NODES * 2], features[NODES * 3];
    if (raw_open(at(scratch, "g"), NULL, &graph, &error) != 0)
        fail_msg("%s", error.text);
    assert_int_equal(graph->num_edges[0], 100);
    int one = raw_find_table(graph, false, 0, "one"), two = raw_find_table(graph, false, 0, "two");
    int feat = raw_find_table(graph, false, 0, "feat");
    assert_int_equal(one >= 0, two >= 0);
    assert_int_equal(raw_read_rows(graph, (uint32_t)feat, 0, NODES, features, &error), 0);
    if (one >= 0) {
        assert_int_equal(graph->tables[one].ndim, 0);
        assert_int_equal(graph->tables[two].width, 2);
        assert_int_equal(raw_read_rows(graph, (uint32_t)one, 0, NODES, ones, &error), 0);
        assert_int_equal(raw_read_rows(graph, (uint32_t)two, 0, NODES, twos, &error), 0);
        seen = ones[0];
        for (unsigned i = 0; i < NODES; i++)
            assert_true(ones[i] == seen && twos[2 * i] == (float)seen &&
                        twos[2 * i + 1] == (float)seen);
    }
    raw_close(graph);
    return seen;
}

static void tables_are_added_and_replaced(void **state)
{
    struct scratch *scratch = *state;
    struct error error = { 0 };
    make_graph(scratch);
    int before = count_files(scratch);
    assert_int_equal(value_of_both(scratch), 0);
    assert_int_equal(add_both(scratch, NULL, false, 1, &error), 0);
    assert_int_equal(value_of_both(scratch), 1);
    assert_int_equal(add_both(scratch, NULL, false, 2, &error), TR_EEXIST);
    assert_says(&error, TR_EEXIST, "'one' already");
    assert_int_equal(value_of_both(scratch), 1);
    for (uint8_t value = 2; value < 6; value++) {
        assert_int_equal(add_both(scratch, NULL, true, value, &error), 0);
        assert_int_equal(value_of_both(scratch), value);
        /* What was replaced is gone. */
        assert_int_equal(count_files(scratch), before + 2);
    }
}

static void a_file_elsewhere_is_never_removed(void **state)
{
    struct scratch *scratch = *state;
    struct error error = { 0 };
    make_graph(scratch);
    assert_int_equal(add_both(scratch, NULL, false, 1, &error), 0);
    char from[256], to[256];
    snprintf(to, sizeof to, "%s", at(scratch, "mine.npy"));
    snprintf(from, sizeof from, "%s", at(scratch, "g/node_data/_N/one.npy"));
    assert_int_equal(rename(from, to), 0);
    char *text, *name;
    size_t size;
    assert_int_equal(
        files_read_all(files_posix, at(scratch, "g/metadata.json"), 1 << 20, &text, &size, &error),
        0);
    name = strstr(text, "node_data/_N/one.npy");
    assert_non_null(name);
    char *changed = malloc(size + 300);
    int length = sprintf(changed, "%.*s%s%s", (int)(name - text), text, to,
                         name + strlen("node_data/_N/one.npy"));
    put(scratch, "g/metadata.json", changed, (size_t)length);
    free(changed);
    free(text);
    assert_int_equal(value_of_both(scratch), 1);
    assert_int_equal(add_both(scratch, NULL, true, 2, &error), 0);
    assert_int_equal(value_of_both(scratch), 2);
    assert_true(files_exists(files_posix, to));
}

/* Breaks the disk at each place in turn, with and without tables that are there. */
static void break_disk(struct scratch *scratch, void (*at_try)(struct broken_disk *disk, int tries))
{
    for (int there = 0; there < 2; there++) {
        int rv = -1, tries = 0;
        make_graph(scratch);
        struct error error = { 0 };
        if (there)
            assert_int_equal(add_both(scratch, NULL, false, 1, &error), 0);
        int files = count_files(scratch);
        for (; rv != 0 && tries < 1000; tries++) {
            struct broken_disk disk = whole_disk();
            at_try(&disk, tries);
            rv = add_both(scratch, &disk.files, true, 2, &error);
            uint8_t value = value_of_both(scratch);
            /* The sync of the folder follows the rename that makes the tables a part of the
             * graph: where it fails they are there. */
            assert_true(value == 2 || (rv != 0 && value == there));
            if (rv != 0 && value == 2)
                break;
            if (rv != 0)
                assert_int_equal(count_files(scratch), files);
        }
        assert_true(tries > 2);
        assert_int_equal(value_of_both(scratch), 2);
    }
}

static void fill_up(struct broken_disk *disk, int tries)
{
    disk->bytes_left = (uint64_t)tries * 61;
}

static void refuse_sync(struct broken_disk *disk, int tries)
{
    disk->syncs_left = tries;
}

static void refuse_rename(struct broken_disk *disk, int tries)
{
    disk->renames_left = tries;
}

static void a_full_disk_changes_nothing(void **state)
{
    break_disk(*state, fill_up);
}

static void what_does_not_sync_is_not_named(void **state)
{
    break_disk(*state, refuse_sync);
}

static void a_rename_that_fails_changes_nothing(void **state)
{
    break_disk(*state, refuse_rename);
}

static void one_at_a_time_amends(void **state)
{
    struct scratch *scratch = *state;
    struct error error = { 0 };
    struct raw_amend *amend;
    make_graph(scratch);
    assert_int_equal(raw_amend_open(at(scratch, "g"), NULL, NULL, &amend, &error), 0);
    assert_int_equal(add_both(scratch, NULL, false, 1, &error), TR_EEXIST);
    assert_says(&error, TR_EEXIST, "another process adds to this graph");
    raw_amend_abort(amend);
    assert_int_equal(add_both(scratch, NULL, false, 1, &error), 0);
    assert_int_equal(value_of_both(scratch), 1);
}

static bool always(void *arg)
{
    (void)arg;
    return true;
}

static void what_is_cancelled_or_short_leaves_nothing(void **state)
{
    struct scratch *scratch = *state;
    const struct cancel cancel = { always, NULL };
    struct error error = { 0 };
    struct raw_amend *amend;
    uint8_t rows[NODES] = { 0 };
    uint32_t table;
    make_graph(scratch);
    int files = count_files(scratch);
    assert_int_equal(raw_amend_open(at(scratch, "g"), NULL, &cancel, &amend, &error), 0);
    assert_int_equal(raw_amend_add_table(amend, NODES_OF_0, "one", false, TR_U8, 0, &table, &error),
                     0);
    assert_int_equal(raw_amend_rows(amend, table, NODES, rows, &error), TR_ECANCELED);
    raw_amend_abort(amend);
    assert_int_equal(count_files(scratch), files);
    assert_int_equal(raw_amend_open(at(scratch, "g"), NULL, NULL, &amend, &error), 0);
    assert_int_equal(raw_amend_add_table(amend, NODES_OF_0, "one", false, TR_U8, 0, &table, &error),
                     0);
    assert_int_equal(raw_amend_add_table(amend, NODES_OF_0, "one", true, TR_U8, 0, &table, &error),
                     TR_EEXIST);
    assert_int_equal(raw_amend_rows(amend, table, NODES - 1, rows, &error), 0);
    assert_true(raw_amend_commit(amend, &error) < 0);
    assert_int_equal(count_files(scratch), files);
    assert_int_equal(value_of_both(scratch), 0);
}

static void other_forms_are_refused_by_name(void **state)
{
    struct scratch *scratch = *state;
    struct error error = { 0 };
    struct raw_amend *amend;
    struct amend_rows_of of;
    put_text(scratch, "edges.csv", "0,1\n");
    assert_int_equal(raw_amend_open(at(scratch, "edges.csv"), NULL, NULL, &amend, &error),
                     TR_EUNSUPPORTED);
    assert_says(&error, TR_EUNSUPPORTED, "troupe import edges");
    assert_int_equal(raw_amend_open(at(scratch, "nowhere"), NULL, NULL, &amend, &error), TR_ENOENT);
    assert_says(&error, TR_ENOENT, "nowhere");
    make_graph(scratch);
    assert_int_equal(raw_amend_open(at(scratch, "g"), NULL, NULL, &amend, &error), 0);
    assert_int_equal(raw_amend_find_type(amend, false, "user", &of, &error), TR_ENOENT);
    assert_says(&error, TR_ENOENT, "ntype 'user': there is no such node type; it has '_N'");
    assert_int_equal(raw_amend_find_type(amend, false, NULL, &of, &error), 0);
    raw_amend_abort(amend);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(tables_are_added_and_replaced, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(a_file_elsewhere_is_never_removed, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(a_full_disk_changes_nothing, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(what_does_not_sync_is_not_named, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(a_rename_that_fails_changes_nothing, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(one_at_a_time_amends, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(what_is_cancelled_or_short_leaves_nothing, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(other_forms_are_refused_by_name, scratch_setup,
                                        scratch_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
