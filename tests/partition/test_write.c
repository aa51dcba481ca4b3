/* SPDX-License-Identifier: Apache-2.0 */
/* The graph that is partitioned and loaded is the one that went in, whatever its shape. */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>

#include "partition/build/verify.h"
#include "partition/store/book_paths.h"
#include "tests/partition/graph_util.h"

#include "runtime/base/crc32c.h"
#include "runtime/sim/env_sim.h"
#include "runtime/sim/files_sim.h"

static void round_trip(struct scratch *scratch, bool hetero, uint64_t nodes, uint64_t edges,
                       struct partition_options options)
{
    static int round;
    char raw_path[160], out[160], json[200];
    struct sample sample;
    struct error error = { 0 };
    struct partition_report report;
    snprintf(raw_path, sizeof raw_path, "%s/raw%d", scratch->folder, round);
    snprintf(out, sizeof out, "%s/out%d", scratch->folder, round++);
    snprintf(json, sizeof json, "%s/sample.json", out);
    sample_init(&sample, hetero, nodes, edges, nodes * 31 + edges);
    struct raw_graph *raw = sample_raw(&sample, raw_path);
    if (partition_graph(raw, &options, out, NULL, NULL, &report, &error) != 0)
        fail_msg("%s", error.text);
    assert_int_equal(report.num_nodes, nodes);
    assert_true(report.cut_edges <= report.num_edges);
    check_directory(&sample, json, PARTITION_COPY);
    check_directory(&sample, json, PARTITION_MAP);
    raw_close(raw);
    sample_fini(&sample);
}

static const uint32_t part_counts[] = { 1, 2, 3, 8, 40 };

static void random_partitions_hold_the_graph(void **state)
{
    for (size_t i = 0; i < sizeof part_counts / sizeof *part_counts; i++) {
        struct partition_options options = { .method = PARTITION_RANDOM,
                                             .num_parts = part_counts[i],
                                             .seed = 5 + i,
                                             .halo_hops = (uint32_t)i };
        round_trip(*state, false, 150, 700, options);
        round_trip(*state, true, 120, 400, options);
    }
}

static void small_and_empty_graphs_go_through(void **state)
{
    struct partition_options options = { .method = PARTITION_RANDOM,
                                         .num_parts = 3,
                                         .halo_hops = 2 };
    round_trip(*state, false, 0, 0, options);
    round_trip(*state, false, 5, 0, options);
    round_trip(*state, true, 1, 0, options);
    round_trip(*state, true, 4, 9, options);
    round_trip(*state, false, 1, 20, options);
}

/* With a low limit, what types of 2^32 nodes need is done for small ones. */
static void columns_may_be_local(void **state)
{
    struct partition_options options = {
        .method = PARTITION_RANDOM, .num_parts = 3, .halo_hops = 3, .columns_max = 50
    };
    round_trip(*state, false, 150, 700, options);
    round_trip(*state, true, 120, 400, options);
}

/* Three threads that take indexes as they come. */
struct threads {
    struct parallel parallel;
    size_t count;
    atomic_size_t next;
    void (*body)(void *arg, size_t index, size_t worker);
    void *arg;
};

struct thread {
    struct threads *threads;
    size_t worker;
};

static void *take_indexes(void *arg)
{
    struct thread *thread = arg;
    struct threads *threads = thread->threads;
    for (size_t i; (i = atomic_fetch_add(&threads->next, 1)) < threads->count;)
        threads->body(threads->arg, i, thread->worker);
    return NULL;
}

static void run_threads(struct parallel *self, size_t count,
                        void (*body)(void *arg, size_t index, size_t worker), void *arg)
{
    struct threads *threads = (struct threads *)self;
    pthread_t ids[3];
    struct thread each[3];
    threads->count = count;
    threads->body = body;
    threads->arg = arg;
    atomic_store(&threads->next, 0);
    for (size_t i = 0; i < 3; i++) {
        each[i] = (struct thread){ threads, i };
        assert_int_equal(pthread_create(&ids[i], NULL, take_indexes, &each[i]), 0);
    }
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(pthread_join(ids[i], NULL), 0);
}

struct comparing {
    const char *left, *right;
    int files;
};

static int compare_file(void *arg, const char *name)
{
    struct comparing *comparing = arg;
    char left[300], right[300], *a, *b;
    size_t a_size, b_size;
    struct error error;
    snprintf(left, sizeof left, "%s/%s", comparing->left, name);
    snprintf(right, sizeof right, "%s/%s", comparing->right, name);
    if (files_is_folder(files_posix, left))
        return 0;
    assert_int_equal(files_read_all(files_posix, left, SIZE_MAX / 2, &a, &a_size, &error), 0);
    assert_int_equal(files_read_all(files_posix, right, SIZE_MAX / 2, &b, &b_size, &error), 0);
    assert_int_equal(a_size, b_size);
    assert_memory_equal(a, b, a_size);
    free(a);
    free(b);
    comparing->files++;
    return 0;
}

/* More than a block of edges, so that reading and placing overlap. */
static void threads_change_no_byte(void **state)
{
    struct scratch *scratch = *state;
    static const enum partition_method methods[] = { PARTITION_RANDOM, PARTITION_METIS };
    struct threads threads = { .parallel = { .run = run_threads, .workers = 3 } };
    struct sample sample;
    struct error error = { 0 };
    sample_init(&sample, false, 3000, 1200000, 11);
    struct raw_graph *raw = sample_raw(&sample, at(scratch, "raw"));
    for (int m = 0; m < 2; m++) {
        char left[128], right[128], left_part[140], right_part[140], json[160];
        struct verify_report verified;
        struct partition_options options = { .method = methods[m], .num_parts = 3, .halo_hops = 2 };
        snprintf(left, sizeof left, "%s/left%d", scratch->folder, m);
        snprintf(right, sizeof right, "%s/right%d", scratch->folder, m);
        if (partition_graph(raw, &options, left, NULL, NULL, NULL, &error) != 0 ||
            partition_graph(raw, &options, right, &threads.parallel, NULL, NULL, &error) != 0)
            fail_msg("%s", error.text);
        snprintf(json, sizeof json, "%s/sample.json", right);
        if (verify_directory(json, raw, NULL, NULL, &verified, &error) != 0)
            fail_msg("%s", error.text);
        assert_int_equal(verified.num_edges, 1200000);
        struct comparing comparing = { .left = left, .right = right };
        assert_int_equal(files_posix->list(files_posix, left, compare_file, &comparing), 0);
        for (int p = 0; p < 3; p++) {
            snprintf(left_part, sizeof left_part, "%s/part%d", left, p);
            snprintf(right_part, sizeof right_part, "%s/part%d", right, p);
            comparing.left = left_part;
            comparing.right = right_part;
            assert_int_equal(files_posix->list(files_posix, left_part, compare_file, &comparing),
                             0);
        }
        assert_true(comparing.files > 30);
    }
    raw_close(raw);
    sample_fini(&sample);
}

struct countdown {
    int left;
};

static bool asked(void *arg)
{
    struct countdown *countdown = arg;
    return countdown->left-- <= 0;
}

/* Cancelled at the 1st, 2nd ... question until it finishes: never anything but the whole. */
static void cancelling_leaves_nothing(void **state)
{
    struct scratch *scratch = *state;
    struct sample sample;
    char out[128];
    int rv = TR_ECANCELED, questions = 0;
    snprintf(out, sizeof out, "%s/out", scratch->folder);
    sample_init(&sample, true, 60, 200, 3);
    struct raw_graph *raw = sample_raw(&sample, at(scratch, "raw"));
    struct partition_options options = {
        .method = PARTITION_METIS, .num_parts = 3, .halo_hops = 1, .trainers = 2
    };
    for (; rv != 0 && questions < 1000; questions++) {
        struct countdown countdown = { .left = questions };
        struct cancel cancel = { .asked = asked, .arg = &countdown };
        struct partition_hooks hooks = { .cancel = &cancel };
        struct error error = { 0 };
        rv = partition_graph(raw, &options, out, NULL, &hooks, NULL, &error);
        if (rv == 0)
            break;
        assert_says(&error, TR_ECANCELED, "cancelled");
        assert_int_equal(count_names(scratch), 1); /* raw */
    }
    assert_true(questions > 10);
    assert_int_equal(rv, 0);
    assert_int_equal(count_names(scratch), 2);
    raw_close(raw);
    sample_fini(&sample);
}

/* The system's files, but for the n-th write, sync or rename, which fails. */
struct failing_files {
    struct files files;
    int left;
    int code;
};

static bool fails_now(struct files *self)
{
    struct failing_files *failing = (struct failing_files *)self;
    return failing->left-- == 0;
}

static ssize_t failing_pwrite(struct files *self, int fd, const void *data, size_t size,
                              uint64_t offset)
{
    if (fails_now(self))
        return ((struct failing_files *)self)->code;
    return files_posix->pwrite(files_posix, fd, data, size, offset);
}

static int failing_fsync(struct files *self, int fd)
{
    return fails_now(self) ? ((struct failing_files *)self)->code
                           : files_posix->fsync(files_posix, fd);
}

static int failing_mkdir(struct files *self, const char *path, int mode)
{
    return fails_now(self) ? ((struct failing_files *)self)->code
                           : files_posix->mkdir(files_posix, path, mode);
}

/* Whatever write, folder or sync meets the full disk, nothing is left and the reason is given. */
static void a_full_disk_leaves_nothing(void **state)
{
    struct scratch *scratch = *state;
    struct sample sample;
    char out[128];
    int rv = TR_ENOSPC, failures = 0;
    snprintf(out, sizeof out, "%s/out", scratch->folder);
    sample_init(&sample, false, 30, 90, 3);
    struct raw_graph *raw = sample_raw(&sample, at(scratch, "raw"));
    for (; rv != 0 && failures < 2000; failures++) {
        struct failing_files failing = { .files = *files_posix, .left = failures, .code = -ENOSPC };
        failing.files.pwrite = failing_pwrite;
        failing.files.fsync = failing_fsync;
        failing.files.syncfs = NULL;
        failing.files.mkdir = failing_mkdir;
        struct partition_options options = { .method = PARTITION_RANDOM,
                                             .num_parts = 2,
                                             .halo_hops = 1,
                                             .trainers = 1,
                                             .files = &failing.files };
        struct error error = { 0 };
        rv = partition_graph(raw, &options, out, NULL, NULL, NULL, &error);
        if (rv == 0)
            break;
        assert_says(&error, TR_ENOSPC, "No space left");
        if (files_exists(files_posix, out)) {
            /* Renamed already; only the sync of the folder above failed. */
            char json[160];
            snprintf(json, sizeof json, "%s/sample.json", out);
            check_directory(&sample, json, PARTITION_COPY);
            assert_int_equal(files_remove_tree(files_posix, out, NULL), 0);
        }
        assert_int_equal(count_names(scratch), 1);
    }
    assert_true(failures > 20);
    assert_int_equal(rv, 0);
    raw_close(raw);
    sample_fini(&sample);
}

/* Power fails right after partitioning has ended: the directory is there, with all its files. */
static void what_is_finished_survives_a_power_cut(void **state)
{
    struct scratch *scratch = *state;
    struct sample sample;
    sample_init(&sample, false, 30, 90, 3);
    struct raw_graph *raw = sample_raw(&sample, at(scratch, "raw"));
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct env *env;
        struct files_sim *disk;
        struct error error = { 0 };
        struct book_file book;
        assert_int_equal(env_sim_create(seed, NULL, &env), 0);
        assert_int_equal(files_sim_create(env, &disk), 0);
        struct files *files = files_sim_mount(disk);
        struct partition_options options = {
            .method = PARTITION_RANDOM, .num_parts = 2, .halo_hops = 1, .files = files
        };
        if (partition_graph(raw, &options, "graphs/parts", NULL, NULL, NULL, &error) != 0)
            fail_msg("%s", error.text);
        files_sim_kill(files);
        files = files_sim_mount(disk);
        if (book_file_read(&book, files, "graphs/parts/sample.json", &error) != 0)
            fail_msg("seed %d: %s", (int)seed, error.text);
        for (uint32_t i = 0; i < book.checksums.num_rows; i++) {
            char path[300], *data;
            size_t size;
            snprintf(path, sizeof path, "graphs/parts/part1/%s", book.checksums.rows[i].name);
            if (files_read_all(files, path, SIZE_MAX / 2, &data, &size, &error) != 0)
                fail_msg("seed %d: %s", (int)seed, error.text);
            assert_int_equal(crc32c(0, data, size), book.checksums.rows[i].sums[1]);
            free(data);
        }
        book_file_fini(&book);
        files_sim_destroy(disk);
        env_destroy(env);
    }
    raw_close(raw);
    sample_fini(&sample);
}

static void impossible_options_are_refused(void **state)
{
    struct scratch *scratch = *state;
    struct sample sample;
    struct error error;
    char out[128];
    snprintf(out, sizeof out, "%s/out", scratch->folder);
    sample_init(&sample, false, 30, 90, 3);
    struct raw_graph *raw = sample_raw(&sample, at(scratch, "raw"));
    const struct partition_options bad[] = {
        { .num_parts = 0 },
        { .num_parts = BOOK_PARTS_MAX + 1 },
        { .num_parts = 2, .halo_hops = BOOK_HALO_HOPS_MAX + 1 },
        { .num_parts = 2, .trainers = UINT32_MAX },
        { .num_parts = 2, .method = (enum partition_method)9 },
        { .num_parts = 2, .method = PARTITION_FILE },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(partition_graph(raw, &bad[i], out, NULL, NULL, NULL, &error), TR_EINVAL);
        assert_int_equal(count_names(scratch), 1);
    }
    raw_close(raw);
    sample_fini(&sample);
}

/* Before anything is made, and never outside of the directory. */
static void names_that_no_file_can_have_are_refused(void **state)
{
    static const char *const names[] = { "", "a/b", "../up", ".hidden" };
    struct scratch *scratch = *state;
    struct sample sample;
    struct error error;
    char out[128], longest[201];
    snprintf(out, sizeof out, "%s/out", scratch->folder);
    sample_init(&sample, false, 30, 90, 3);
    struct raw_graph *raw = sample_raw(&sample, at(scratch, "raw"));
    struct partition_options options = { .num_parts = 2 };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        options.name = names[i];
        assert_int_equal(partition_graph(raw, &options, out, NULL, NULL, NULL, &error), TR_EINVAL);
        assert_int_equal(count_names(scratch), 1);
    }
    options.name = NULL;
    /* Escaped, each '%' takes three bytes. */
    memset(longest, '%', 200);
    longest[200] = '\0';
    char *was = raw->tables[0].name;
    raw->tables[0].name = longest;
    assert_int_equal(partition_graph(raw, &options, out, NULL, NULL, NULL, &error), TR_ETOOBIG);
    assert_says(&error, TR_ETOOBIG, "shorten it");
    raw->tables[0].name = was;
    uint64_t width = raw->tables[0].width;
    raw->tables[0].width = (uint64_t)INT32_MAX + 1;
    assert_int_equal(partition_graph(raw, &options, out, NULL, NULL, NULL, &error), TR_ETOOBIG);
    raw->tables[0].width = width;
    assert_int_equal(count_names(scratch), 1);
    raw_close(raw);
    sample_fini(&sample);
}

struct listed {
    const char *folder;
    char names[24][80]; /* of 8 partitions, their book, and a deal for each type */
    size_t count;
};

static int note_path(void *arg, const char *path)
{
    struct listed *listed = arg;
    size_t length = strlen(listed->folder);
    assert_int_equal(strncmp(path, listed->folder, length), 0);
    assert_int_equal(path[length], '/');
    assert_true(listed->count < sizeof listed->names / sizeof *listed->names);
    assert_true(files_exists(files_posix, path));
    snprintf(listed->names[listed->count++], sizeof *listed->names, "%s", path + length + 1);
    return 0;
}

static int find_name(void *arg, const char *name)
{
    struct listed *listed = arg;
    for (size_t i = 0; i < listed->count; i++)
        if (strcmp(listed->names[i], name) == 0)
            return 0;
    fail_msg("%s/%s is written and not listed", listed->folder, name);
    return 0;
}

/* Training misses the files that a host without its share of this list lacks: with all partitions
 * the list is what was written, name by name; with some it is that without the folders of the
 * others. */
static void check_paths(const char *out)
{
    struct listed all = { .folder = out }, some = { .folder = out };
    struct book_file file;
    struct error error = { 0 };
    char json[160];
    size_t written = 0;
    snprintf(json, sizeof json, "%s/sample.json", out);
    assert_int_equal(book_file_read(&file, files_posix, json, &error), 0);
    assert_int_equal(book_paths(&file, json, NULL, note_path, &all), 0);
    files_posix->list(files_posix, out, find_name, &all);
    files_posix->list(files_posix, out, count_name, &written);
    assert_int_equal(written, all.count);
    bool *serves = calloc(file.book.num_parts, sizeof *serves);
    assert_non_null(serves);
    serves[file.book.num_parts - 1] = true;
    assert_int_equal(book_paths(&file, json, serves, note_path, &some), 0);
    assert_int_equal(some.count, all.count - (file.book.num_parts - 1));
    for (size_t i = 0; i < some.count; i++)
        find_name(&all, some.names[i]);
    find_name(&some, file.part_folders[file.book.num_parts - 1]);
    free(serves);
    book_file_fini(&file);
}

static void the_list_of_paths_is_what_is_written(void **state)
{
    struct scratch *scratch = *state;
    for (int round = 0; round < 4; round++) {
        bool hetero = round % 2 == 1;
        const struct partition_options options = { .method = PARTITION_RANDOM,
                                                   .num_parts = 8,
                                                   .halo_hops = 1,
                                                   .trainers = round < 2 ? 0 : 4 };
        struct sample sample;
        struct error error = { 0 };
        char raw_path[160], out[128];
        snprintf(raw_path, sizeof raw_path, "%s/raw%d", scratch->folder, round);
        snprintf(out, sizeof out, "%s/out%d", scratch->folder, round);
        sample_init(&sample, hetero, 120, 400, 3);
        struct raw_graph *raw = sample_raw(&sample, raw_path);
        if (partition_graph(raw, &options, out, NULL, NULL, NULL, &error) != 0)
            fail_msg("%s", error.text);
        check_paths(out);
        raw_close(raw);
        sample_fini(&sample);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(random_partitions_hold_the_graph, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(small_and_empty_graphs_go_through, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(threads_change_no_byte, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(cancelling_leaves_nothing, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(a_full_disk_leaves_nothing, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(what_is_finished_survives_a_power_cut, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(impossible_options_are_refused, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(names_that_no_file_can_have_are_refused, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(columns_may_be_local, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(the_list_of_paths_is_what_is_written, scratch_setup,
                                        scratch_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
