/* SPDX-License-Identifier: Apache-2.0 */
/* The history of a job: lines are whole, appear once, in order, and take a bounded room. */
#include "tests/runtime/support.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "runtime/base/history_file.h"
#include "runtime/base/json_text.h"
#include "tests/scratch.h"

/* Files whose writes take a drawn part of what is given, or fail. */
struct moody_files {
    struct files base;
    uint32_t state;
    bool moody;
};

static ssize_t moody_pwrite(struct files *self, int fd, const void *data, size_t size,
                            uint64_t offset)
{
    struct moody_files *moody = (struct moody_files *)self;
    if (!moody->moody)
        return files_posix->pwrite(files_posix, fd, data, size, offset);
    moody->state = moody->state * 1103515245u + 12345u;
    uint32_t drawn = moody->state >> 16;
    if (drawn % 4 == 0)
        return -ENOSPC;
    size_t part = drawn % 4 == 1 ? size : drawn % (size + 1);
    return files_posix->pwrite(files_posix, fd, data, part, offset);
}

struct fixture {
    char folder[64], path[96], older[96];
    struct moody_files files;
    struct history_file history;
};

static void set_up(struct fixture *f)
{
    *f = (struct fixture){ .files = { .base = *files_posix, .state = 1 } };
    f->files.base.pwrite = moody_pwrite;
    assert_non_null(mkdtemp(scratch_template(f->folder, sizeof f->folder, "history")));
    snprintf(f->path, sizeof f->path, "%s/" HISTORY_NAME, f->folder);
    snprintf(f->older, sizeof f->older, "%s/" HISTORY_OLDER_NAME, f->folder);
    assert_int_equal(history_file_init(&f->history, &f->files.base, f->folder), 0);
}

static void tear_down(struct fixture *f)
{
    history_file_fini(&f->history);
    assert_int_equal(files_remove_tree(files_posix, f->folder, NULL), 0);
}

static void add(struct fixture *f, uint32_t number)
{
    history_file_add(&f->history, "checkpoint", json_pack("{s:i}", "step", (int)number));
}

/* Checks that the whole lines have these numbers, in order; a broken one is passed over. */
static size_t read_numbers(const char *path, uint32_t first, size_t *broken)
{
    char *text = NULL;
    size_t size = 0, count = 0;
    *broken = 0;
    assert_int_equal(files_read_all(files_posix, path, 16 << 20, &text, &size, NULL), 0);
    for (char *at = text, *end; (end = strchr(at, '\n')) != NULL; at = end + 1) {
        json_t *line = NULL;
        if (json_read_text(path, at, (size_t)(end - at), 0, &line, NULL) != 0) {
            ++*broken;
            continue;
        }
        assert_string_equal(json_string_value(json_object_get(line, "event")), "checkpoint");
        assert_int_equal(strlen(json_string_value(json_object_get(line, "time"))), 24);
        assert_int_equal(json_integer_value(json_object_get(line, "step")), first + count);
        count++;
        json_decref(line);
    }
    free(text);
    return count;
}

static void lines_wait_for_the_beginning(void **unused)
{
    struct fixture f;
    size_t broken;
    (void)unused;
    set_up(&f);
    for (uint32_t i = 0; i < 3; i++)
        add(&f, i);
    assert_false(files_exists(files_posix, f.path));
    history_file_begin(&f.history);
    for (uint32_t i = 3; i < 6; i++)
        add(&f, i);
    assert_int_equal(read_numbers(f.path, 0, &broken), 6);
    assert_int_equal(broken, 0);
    /* What this writer alone has made goes again. */
    history_file_forget(&f.history);
    assert_false(files_exists(files_posix, f.path));
    tear_down(&f);
}

static void another_writer_goes_on(void **unused)
{
    struct fixture f;
    size_t broken;
    (void)unused;
    set_up(&f);
    history_file_begin(&f.history);
    add(&f, 0);
    history_file_fini(&f.history);
    /* It was killed within a line. */
    FILE *file = fopen(f.path, "a");
    assert_non_null(file);
    fputs("{\"time\":\"20", file);
    fclose(file);
    assert_int_equal(history_file_init(&f.history, &f.files.base, f.folder), 0);
    history_file_begin(&f.history);
    add(&f, 1);
    assert_int_equal(read_numbers(f.path, 0, &broken), 2);
    assert_int_equal(broken, 1);
    history_file_forget(&f.history);
    assert_true(files_exists(files_posix, f.path));
    tear_down(&f);
}

static void a_moody_disk_loses_no_line(void **unused)
{
    struct fixture f;
    size_t broken;
    (void)unused;
    set_up(&f);
    history_file_begin(&f.history);
    f.files.moody = true;
    for (uint32_t i = 0; i < 500; i++)
        add(&f, i);
    f.files.moody = false;
    add(&f, 500);
    assert_int_equal(read_numbers(f.path, 0, &broken), 501);
    assert_int_equal(broken, 0);
    tear_down(&f);
}

static ssize_t full_pwrite(struct files *self, int fd, const void *data, size_t size,
                           uint64_t offset)
{
    (void)self, (void)fd, (void)data, (void)size, (void)offset;
    return -ENOSPC;
}

/* What does not fit into memory is counted. */
static void a_full_disk_loses_counted_lines(void **unused)
{
    struct fixture f;
    char *text = NULL;
    size_t size = 0, whole = 0;
    uint64_t lost = 0;
    (void)unused;
    set_up(&f);
    history_file_begin(&f.history);
    f.files.base.pwrite = full_pwrite;
    for (uint32_t i = 0; i < 2000; i++)
        add(&f, i);
    assert_true(f.history.waiting_bytes <= HISTORY_WAITING_MAX);
    f.files.base.pwrite = moody_pwrite;
    add(&f, 2000); /* lost, but the others are written */
    add(&f, 2001);
    assert_int_equal(files_read_all(files_posix, f.path, 16 << 20, &text, &size, NULL), 0);
    for (char *at = text, *end; (end = strchr(at, '\n')) != NULL; at = end + 1) {
        json_t *line = json_loadb(at, (size_t)(end - at), 0, NULL);
        assert_non_null(line);
        lost += (uint64_t)json_integer_value(json_object_get(line, "lost"));
        whole++;
        json_decref(line);
    }
    free(text);
    assert_true(lost > 0);
    assert_int_equal(whole + lost, 2002);
    tear_down(&f);
}

static void it_takes_a_bounded_room(void **unused)
{
    struct fixture f;
    uint64_t size = 0, older = 0;
    char long_text[1000];
    (void)unused;
    set_up(&f);
    memset(long_text, 'x', sizeof long_text - 1);
    long_text[sizeof long_text - 1] = '\0';
    history_file_begin(&f.history);
    for (uint32_t i = 0; i < 3 * HISTORY_BYTES_MAX / 1000; i++)
        history_file_add(&f.history, "failed", json_pack("{s:o}", "text", history_text(long_text)));
    assert_int_equal(files_size(files_posix, f.path, &size, NULL), 0);
    assert_int_equal(files_size(files_posix, f.older, &older, NULL), 0);
    assert_true(size < HISTORY_BYTES_MAX + HISTORY_LINE_MAX);
    assert_in_range(older, HISTORY_BYTES_MAX, HISTORY_BYTES_MAX + HISTORY_LINE_MAX);
    tear_down(&f);
}

static void texts_are_printable(void **unused)
{
    char text[5000];
    (void)unused;
    for (size_t i = 0; i < sizeof text - 1; i++)
        text[i] = (char)(i % 255 + 1);
    text[sizeof text - 1] = '\0';
    json_t *value = history_text(text);
    assert_non_null(value);
    assert_true(json_string_length(value) <= 1024);
    char *line = json_dumps(value, JSON_ENCODE_ANY);
    assert_null(strpbrk(line, "\n\r\033"));
    free(line);
    json_decref(value);
}

static void the_history_of_no_run_takes_lines(void **unused)
{
    struct history_file none = { 0 };
    (void)unused;
    history_file_begin(&none);
    history_file_add(&none, "begun", json_object());
    history_file_forget(&none);
    history_file_fini(&none);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_wait_for_the_beginning),
        cmocka_unit_test(another_writer_goes_on),
        cmocka_unit_test(a_moody_disk_loses_no_line),
        cmocka_unit_test(a_full_disk_loses_counted_lines),
        cmocka_unit_test(it_takes_a_bounded_room),
        cmocka_unit_test(texts_are_printable),
        cmocka_unit_test(the_history_of_no_run_takes_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
