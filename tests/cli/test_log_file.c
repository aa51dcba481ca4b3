/* SPDX-License-Identifier: Apache-2.0 */
/* The log of a job in a file: whatever bytes are said, a line is one line; a renamed file is left. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>
#include <cmocka.h>

#include "cli/lib/log_file.h"
#include "tests/scratch.h"

struct fixture {
    char folder[64], path[96], old[96];
    struct log_file file;
};

static void set_up(struct fixture *f, bool json)
{
    assert_non_null(mkdtemp(scratch_template(f->folder, sizeof f->folder, "log")));
    snprintf(f->path, sizeof f->path, "%s/log", f->folder);
    snprintf(f->old, sizeof f->old, "%s/log.1", f->folder);
    assert_int_equal(log_file_open(&f->file, f->path, json, NULL), 0);
}

static void tear_down(struct fixture *f)
{
    log_file_close(&f->file);
    unlink(f->path);
    unlink(f->old);
    assert_int_equal(rmdir(f->folder), 0);
}

static size_t read_all(const char *path, char *text, size_t size)
{
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    size_t got = fread(text, 1, size - 1, file);
    fclose(file);
    text[got] = '\0';
    return got;
}

static void say(const struct fixture *f, const char *text, size_t bytes)
{
    const struct log_line line = { .level = "info",
                                   .host = "h\xff\n",
                                   .role = "server",
                                   .process = 3,
                                   .stream = 2,
                                   .text = text,
                                   .text_bytes = bytes };
    log_file_write(&f->file, &line);
}

static void every_byte_is_in_one_line(void **state)
{
    char bytes[257], text[4096];
    (void)state;
    for (int i = 0; i < 256; i++)
        bytes[i] = (char)(i + 1); /* with the last of a C string */
    bytes[256] = '\0';
    for (int json = 0; json < 2; json++) {
        struct fixture f;
        set_up(&f, json == 1);
        say(&f, bytes, json == 1 ? 256 : 255);
        say(&f, "\xc3\xa4", 2);
        size_t size = read_all(f.path, text, sizeof text);
        char *end = strchr(text, '\n');
        assert_non_null(end);
        assert_ptr_equal(strchr(end + 1, '\n'), text + size - 1);
        assert_null(memchr(text, '\033', size));
        if (json == 1) {
            json_t *first = json_loadb(text, (size_t)(end - text), JSON_ALLOW_NUL, NULL);
            json_t *second = json_loads(end + 1, 0, NULL);
            const json_t *message = json_object_get(first, "message");
            assert_int_equal(json_string_length(message), 256);
            assert_memory_equal(json_string_value(message), bytes, 127);
            assert_string_equal(json_string_value(json_object_get(second, "message")), "\xc3\xa4");
            assert_string_equal(json_string_value(json_object_get(second, "stream")), "stderr");
            assert_int_equal(json_integer_value(json_object_get(second, "process")), 3);
            json_decref(first);
            json_decref(second);
        }
        tear_down(&f);
    }
}

/* Lines that name no process are of the one that writes; others keep theirs. */
static void a_file_names_its_process(void **state)
{
    const struct log_line line = { .level = "warn", .text = "low", .text_bytes = 3 };
    struct fixture f;
    char text[512];
    (void)state;
    set_up(&f, false);
    log_file_write(&f.file, &line);
    log_file_name_process(&f.file, "b", "trainer", 7);
    log_file_write(&f.file, &line);
    say(&f, "one", 3);
    read_all(f.path, text, sizeof text);
    assert_non_null(strstr(text, "Z warn low\n"));
    assert_non_null(strstr(text, "Z warn [b/trainer 7] low\n"));
    assert_non_null(strstr(text, "/server 3] one\n"));
    tear_down(&f);
}

static void a_renamed_file_is_left(void **state)
{
    struct fixture f;
    char text[512];
    (void)state;
    set_up(&f, false);
    say(&f, "one", 3);
    assert_int_equal(rename(f.path, f.old), 0);
    say(&f, "two", 3);
    log_file_reopen(&f.file);
    say(&f, "three", 5);
    read_all(f.old, text, sizeof text);
    assert_non_null(strstr(text, "one\n"));
    assert_non_null(strstr(text, "two\n"));
    assert_null(strstr(text, "three"));
    read_all(f.path, text, sizeof text);
    assert_non_null(strstr(text, "three\n"));
    tear_down(&f);
}

static void a_file_that_cannot_be_opened_again_is_gone_on_with(void **state)
{
    struct fixture f;
    char text[512];
    (void)state;
    set_up(&f, false);
    const char *path = f.file.path;
    f.file.path = "/nowhere/log";
    log_file_reopen(&f.file);
    say(&f, "one", 3);
    f.file.path = path;
    read_all(f.path, text, sizeof text);
    assert_non_null(strstr(text, "error /nowhere/log cannot be opened again"));
    assert_non_null(strstr(text, "one\n"));
    tear_down(&f);
}

static void what_cannot_be_opened_is_named(void **state)
{
    struct log_file file;
    struct tr_error error = TR_ERROR_INIT;
    (void)state;
    assert_int_equal(log_file_open(&file, "/nowhere/log", true, &error), TR_EIO);
    assert_non_null(strstr(error.message, "--log /nowhere/log"));
    log_file_reopen(&file);
    log_file_close(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_byte_is_in_one_line),
        cmocka_unit_test(a_file_names_its_process),
        cmocka_unit_test(a_renamed_file_is_left),
        cmocka_unit_test(a_file_that_cannot_be_opened_again_is_gone_on_with),
        cmocka_unit_test(what_cannot_be_opened_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
