/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The folder of a run where the disk takes nothing: no line that it kept is lost, and it keeps them
 * up to a bound.
 */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "runtime/base/atomic_dir.h"
#include "runtime/base/error.h"
#include "tests/begun_folder.h"
#include "tests/scratch.h"

/* The system's files, which write nothing while the disk is full. */
struct full_files {
    struct files files;
    bool full;
};

static ssize_t full_pwrite(struct files *self, int fd, const void *data, size_t size,
                           uint64_t offset)
{
    return ((struct full_files *)self)->full
               ? -ENOSPC
               : files_posix->pwrite(files_posix, fd, data, size, offset);
}

/* Long lines, so that a thousand of them reach the bound. */
static json_t *made_line(uint64_t number)
{
    char padding[4096];
    memset(padding, 'x', sizeof padding - 1);
    padding[sizeof padding - 1] = '\0';
    return json_pack("{s:I,s:s}", "epoch", (json_int_t)number, "padding", padding);
}

static void lines_wait_for_the_disk_up_to_a_bound(void **state)
{
    (void)state;
    char top[40], path[64];
    struct full_files disk = { .files = *files_posix };
    struct run_folder folder;
    struct error error = { 0 };
    uint64_t lines = 0, read = 0;
    int rv;
    disk.files.pwrite = full_pwrite;
    assert_non_null(scratch_folder(top, sizeof top, "test"));
    snprintf(path, sizeof path, "%s/run", top);
    assert_int_equal(begin_folder(&folder, &disk.files, path, RUN_FOLDER_NEW, &error), 0);
    disk.full = true;
    while ((rv = run_folder_append(&folder, made_line(lines), &error)) == TR_ENOSPC) {
        lines++;
        assert_in_range(folder.pending_bytes, 1, RUN_FOLDER_PENDING_MAX);
    }
    assert_int_equal(rv, TR_EFULL);
    assert_int_equal(run_folder_append(&folder, made_line(lines), &error), TR_EFULL);
    assert_in_range(folder.pending_bytes, RUN_FOLDER_PENDING_MAX / 2, RUN_FOLDER_PENDING_MAX);
    disk.full = false;
    assert_int_equal(run_folder_append(&folder, made_line(lines++), &error), 0);
    assert_int_equal(folder.pending_bytes, 0);

    FILE *metrics = fopen(folder.metrics_path, "r");
    unsigned long long number;
    char *line = NULL;
    size_t room = 0;
    assert_non_null(metrics);
    while (getline(&line, &room, metrics) > 0) {
        assert_int_equal(sscanf(line, "{\"epoch\":%llu,", &number), 1);
        assert_int_equal(number, read++);
    }
    assert_int_equal(read, lines);
    free(line);
    fclose(metrics);
    run_folder_close(&folder);
    assert_int_equal(files_remove_tree(files_posix, top, &error), 0);
}

static void make_file(const char *path, const char *text)
{
    assert_int_equal(files_write_atomic(files_posix, path, text, strlen(text), NULL), 0);
}

static void assert_text(const char *path, const char *expected)
{
    char *text = NULL;
    size_t size = 0;
    assert_int_equal(files_read_all(files_posix, path, 10000, &text, &size, NULL), 0);
    assert_int_equal(size, strlen(expected));
    assert_memory_equal(text, expected, size);
    free(text);
}

/* Each file of a run by itself makes a folder one that holds a run; another file does not. */
static void a_run_is_begun_over_none(void **state)
{
    static const char *const NAMES[] = { "config.json", "metrics.jsonl", "model.safetensors" };
    char top[40], path[64], file[128], other[128];
    struct run_folder folder;
    struct error error = { 0 };
    (void)state;
    assert_non_null(scratch_folder(top, sizeof top, "test"));
    snprintf(path, sizeof path, "%s/run", top);
    snprintf(other, sizeof other, "%s/notes.txt", path);
    assert_int_equal(files_make_folders(files_posix, path, NULL), 0);
    make_file(other, "mine");
    for (size_t i = 0; i < 3; i++) {
        snprintf(file, sizeof file, "%s/%s", path, NAMES[i]);
        make_file(file, "old");
        assert_int_equal(begin_folder(&folder, files_posix, path, RUN_FOLDER_NEW, &error),
                         TR_EEXIST);
        assert_non_null(strstr(error.text, "options.replace"));
        assert_text(file, "old");
        assert_int_equal(begin_folder(&folder, files_posix, path, RUN_FOLDER_REPLACES, &error), 0);
        assert_text(folder.metrics_path, "");
        assert_false(files_exists(files_posix, folder.config_path));
        assert_false(files_exists(files_posix, folder.model_path));
        assert_text(other, "mine");
        assert_int_equal(files_remove_tree(files_posix, folder.metrics_path, NULL), 0);
        run_folder_close(&folder);
    }
    assert_int_equal(begin_folder(&folder, files_posix, path, RUN_FOLDER_NEW, &error), 0);
    run_folder_close(&folder);
    assert_int_equal(files_remove_tree(files_posix, top, &error), 0);
}

/* Whether it is new, replaced or gone on with. */
static void assert_taken(const char *path)
{
    static const enum run_folder_use USES[] = { RUN_FOLDER_NEW, RUN_FOLDER_REPLACES,
                                                RUN_FOLDER_RESUMES };
    for (size_t i = 0; i < 3; i++) {
        struct run_folder second;
        struct error error = { 0 };
        bool busy;
        assert_int_equal(run_folder_claim(&second, files_posix, path, USES[i], &busy, &error),
                         TR_EEXIST);
        assert_true(busy);
        assert_non_null(strstr(error.text, "another training is under way in this folder"));
        assert_null(second.path);
    }
}

static void a_folder_is_of_one_training_at_a_time(void **state)
{
    char top[40], path[64], metrics[80];
    struct run_folder folder;
    struct error error = { 0 };
    bool busy;
    (void)state;
    assert_non_null(scratch_folder(top, sizeof top, "test"));
    snprintf(path, sizeof path, "%s/run", top);
    snprintf(metrics, sizeof metrics, "%s/metrics.jsonl", path);
    assert_int_equal(begin_folder(&folder, files_posix, path, RUN_FOLDER_NEW, &error), 0);
    assert_taken(path);
    assert_true(files_exists(files_posix, metrics));
    run_folder_close(&folder);
    /* One that is claimed only is taken as well, and nothing of it is touched. */
    assert_int_equal(
        run_folder_claim(&folder, files_posix, path, RUN_FOLDER_REPLACES, &busy, &error), 0);
    assert_taken(path);
    assert_true(files_exists(files_posix, metrics));
    run_folder_close(&folder);
    assert_int_equal(files_remove_tree(files_posix, top, &error), 0);
}

/* A child that lives on has a copy of what its parent had open. */
static void a_folder_that_is_closed_is_free_whoever_was_forked(void **state)
{
    char top[40];
    int ends[2];
    struct run_folder folder;
    struct error error = { 0 };
    (void)state;
    assert_non_null(scratch_folder(top, sizeof top, "test"));
    assert_int_equal(begin_folder(&folder, files_posix, top, RUN_FOLDER_NEW, &error), 0);
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        char byte;
        close(ends[1]);
        _exit(read(ends[0], &byte, 1) == 0 ? 0 : 1); /* until the parent closes its end */
    }
    run_folder_close(&folder);
    assert_int_equal(begin_folder(&folder, files_posix, top, RUN_FOLDER_RESUMES, &error), 0);
    run_folder_close(&folder);
    close(ends[0]);
    close(ends[1]);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_int_equal(files_remove_tree(files_posix, top, &error), 0);
}

static void a_finished_run_has_its_configuration_and_its_model(void **state)
{
    static const char *const NAMES[] = { "config.json", "model.safetensors" };
    char top[40], files[2][64];
    struct run_folder folder;
    (void)state;
    assert_non_null(scratch_folder(top, sizeof top, "test"));
    for (unsigned there = 0; there < 4; there++) {
        struct error error = { 0 };
        for (unsigned i = 0; i < 2; i++) {
            snprintf(files[i], sizeof files[i], "%s/%s", top, NAMES[i]);
            assert_int_equal(files_remove_tree(files_posix, files[i], NULL), 0);
            if ((there >> i & 1) != 0)
                make_file(files[i], "{}");
        }
        int rv = run_folder_find(&folder, files_posix, top, &error);
        assert_int_equal(rv, there == 3 ? 0 : TR_ENOENT);
        if (rv == 0) {
            assert_string_equal(folder.path, top);
            assert_string_equal(folder.config_path, files[0]);
            assert_string_equal(folder.model_path, files[1]);
            run_folder_close(&folder);
        } else {
            assert_non_null(strstr(error.text, files[(there & 1) == 0 ? 0 : 1]));
        }
    }
    assert_int_equal(files_remove_tree(files_posix, top, NULL), 0);
}

/* Back to a mark: what was written since is gone, whatever was written before stays, and the next
 * line follows it. A file that is shorter than its mark was changed. */
static void lines_go_back_to_a_mark(void **state)
{
    char top[40];
    struct run_folder folder, again;
    struct error error = { 0 };
    (void)state;
    assert_non_null(scratch_folder(top, sizeof top, "test"));
    assert_int_equal(begin_folder(&folder, files_posix, top, RUN_FOLDER_NEW, &error), 0);
    assert_int_equal(run_folder_mark(&folder), 0);
    assert_int_equal(run_folder_append(&folder, json_pack("{s:i}", "a", 1), &error), 0);
    assert_int_equal(run_folder_mark(&folder), 8);
    assert_int_equal(run_folder_append(&folder, json_pack("{s:i}", "b", 22), &error), 0);
    assert_int_equal(run_folder_mark(&folder), 17);
    assert_text(folder.metrics_path, "{\"a\":1}\n{\"b\":22}\n");
    assert_int_equal(run_folder_rewind(&folder, 17, &error), 0);
    assert_text(folder.metrics_path, "{\"a\":1}\n{\"b\":22}\n");
    assert_int_equal(run_folder_rewind(&folder, 8, &error), 0);
    assert_text(folder.metrics_path, "{\"a\":1}\n");
    assert_int_equal(run_folder_append(&folder, json_pack("{s:i}", "c", 3), &error), 0);
    assert_text(folder.metrics_path, "{\"a\":1}\n{\"c\":3}\n");
    assert_int_equal(run_folder_sync(&folder, &error), 0);
    run_folder_close(&folder);
    assert_int_equal(begin_folder(&again, files_posix, top, RUN_FOLDER_RESUMES, &error), 0);
    assert_int_equal(run_folder_rewind(&again, 17, &error), TR_EFORMAT);
    assert_non_null(strstr(error.text, "16 bytes"));
    assert_int_equal(run_folder_rewind(&again, 16, &error), 0);
    assert_int_equal(run_folder_append(&again, json_pack("{s:i}", "d", 4), &error), 0);
    assert_text(again.metrics_path, "{\"a\":1}\n{\"c\":3}\n{\"d\":4}\n");
    assert_int_equal(run_folder_rewind(&again, 0, &error), 0);
    assert_text(again.metrics_path, "");
    assert_int_equal(run_folder_write_config(&again, json_pack("{s:i}", "k", 1), &error), 0);
    assert_text(again.config_path, "{\n  \"k\": 1\n}");
    assert_int_equal(run_folder_write_config(&again, NULL, &error), TR_ENOMEM);
    assert_int_equal(run_folder_append(&again, NULL, &error), TR_ENOMEM);
    run_folder_close(&again);
    assert_int_equal(files_remove_tree(files_posix, top, NULL), 0);
}

static void assert_json(json_t *json, const char *expected)
{
    char *text = json_dumps(json, JSON_COMPACT);
    assert_string_equal(text, expected);
    free(text);
    json_decref(json);
}

/* Each field has a value of its own; what is no number is null. */
static void lines_say_every_number(void **state)
{
    struct epoch_report report = { .epoch = 1,
                                   .steps = 2,
                                   .seeds = 3,
                                   .rate = 0.5,
                                   .train_loss = 0.25,
                                   .evaluated = true,
                                   .scores = { 4, 1.5, 2.5, (double)NAN, 3.5, (double)NAN },
                                   .best = true,
                                   .seconds = 4.5 };
    (void)state;
    assert_json(run_epoch_to_json(&report),
                "{\"epoch\":2,\"steps\":2,\"seeds\":3,\"rate\":0.5,\"train_loss\":0.25,"
                "\"val\":{\"labelled\":4,\"loss\":1.5,\"accuracy\":2.5,\"macro_f1\":null,"
                "\"roc_auc\":3.5},\"best\":true,\"seconds\":4.5}");
    report.evaluated = report.best = false;
    report.train_loss = (double)INFINITY;
    assert_json(run_epoch_to_json(&report),
                "{\"epoch\":2,\"steps\":2,\"seeds\":3,\"rate\":0.5,\"train_loss\":null,"
                "\"val\":null,\"best\":false,\"seconds\":4.5}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_wait_for_the_disk_up_to_a_bound),
        cmocka_unit_test(a_run_is_begun_over_none),
        cmocka_unit_test(a_folder_is_of_one_training_at_a_time),
        cmocka_unit_test(a_folder_that_is_closed_is_free_whoever_was_forked),
        cmocka_unit_test(a_finished_run_has_its_configuration_and_its_model),
        cmocka_unit_test(lines_go_back_to_a_mark),
        cmocka_unit_test(lines_say_every_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
