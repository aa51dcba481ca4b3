/* SPDX-License-Identifier: Apache-2.0 */
/* The log of a job in a file: whatever bytes are said, a line is one line; a renamed file is left. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <jansson.h>
#include <cmocka.h>

#include <troupe/troupe.h>

#include "api/log_queue.h"
#include "outcome.h"
#include "tests/scratch.h"

struct fixture {
    char folder[64], path[96], old[96];
    struct tr_log_file *file;
};

static void set_up(struct fixture *f, bool json)
{
    assert_non_null(mkdtemp(scratch_template(f->folder, sizeof f->folder, "log")));
    snprintf(f->path, sizeof f->path, "%s/log", f->folder);
    snprintf(f->old, sizeof f->old, "%s/log.1", f->folder);
    struct tr_log_file_options options = TR_LOG_FILE_OPTIONS_INIT;
    options.format = json ? TR_LOG_JSON : TR_LOG_TEXT;
    ok(tr_log_file_open(f->path, &options, &f->file, &failure));
}

static void tear_down(struct fixture *f)
{
    tr_log_file_close(f->file);
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
    struct tr_launch_event event = TR_LAUNCH_EVENT_INIT;
    event.host = "h\xff\n";
    event.role = "server";
    event.process = 3;
    event.stream = 2;
    event.text = text;
    event.text_bytes = bytes;
    ok(tr_log_file_write_event(f->file, &event, &failure));
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
    struct fixture f;
    char text[512], longest[257];
    (void)state;
    set_up(&f, false);
    ok(tr_log_file_write(f.file, TR_LOG_WARN, "low", &failure));
    ok(tr_log_file_set_process(f.file, "b", "trainer", 7, &failure));
    ok(tr_log_file_write(f.file, TR_LOG_WARN, "low", &failure));
    say(&f, "one", 3);
    read_all(f.path, text, sizeof text);
    assert_non_null(strstr(text, "Z warn low\n"));
    assert_non_null(strstr(text, "Z warn [b/trainer 7] low\n"));
    assert_non_null(strstr(text, "/server 3] one\n"));
    memset(longest, 'x', 256);
    longest[256] = '\0';
    assert_int_equal(tr_log_file_set_process(f.file, longest, "trainer", 7, &failure), TR_ERANGE);
    assert_int_equal(tr_log_file_set_process(f.file, "b", "", 7, &failure), TR_ERANGE);
    assert_non_null(strstr(failure.message, "role"));
    assert_int_equal(tr_log_file_write(f.file, (enum tr_log_level)4, "x", &failure), TR_ERANGE);
    tear_down(&f);
}

/* All that a log has is in the file when it is closed, as it was said; the log may be closed first,
 * and goes on without the file. */
static void lines_of_a_log_are_in_the_file(void **state)
{
    for (int json = 0; json < 2; json++)
        for (int first = 0; first < 2; first++) {
            struct fixture f;
            char text[4096];
            struct tr_log *log;
            struct tr_log_line line = TR_LOG_LINE_INIT;
            struct tr_log_file_options options = TR_LOG_FILE_OPTIONS_INIT;
            (void)state;
            set_up(&f, false);
            tr_log_file_close(f.file);
            ok(tr_log_open(NULL, &log, &failure));
            options.log = log;
            options.format = json == 1 ? TR_LOG_JSON : TR_LOG_TEXT;
            log_add(log, LOG_LEVEL_WARN, "links", "before");
            ok(tr_log_file_open(f.path, &options, &f.file, &failure));
            log_add(log, LOG_LEVEL_INFO, "job", "after");
            log_add(log, LOG_LEVEL_DEBUG, "job", "beneath");
            if (first == 0) {
                tr_log_file_close(f.file);
                log_add(log, LOG_LEVEL_ERROR, "job", "later");
                ok(tr_log_next(log, 0, &line, &failure));
                assert_string_equal(line.text, "later");
                tr_log_close(log);
            } else {
                tr_log_close(log);
                ok(tr_log_file_write(f.file, TR_LOG_ERROR, "own", &failure));
                tr_log_file_close(f.file);
            }
            read_all(f.path, text, sizeof text);
            const char *warned = json == 1
                                     ? "\"level\":\"warn\",\"component\":\"links\",\"message\":"
                                       "\"before\"}\n"
                                     : "Z warn links: before\n";
            if (first == 0) { /* a log that is closed keeps nothing for anyone */
                assert_non_null(strstr(text, warned));
                assert_non_null(strstr(text, "after"));
            } else {
                assert_non_null(strstr(text, "own"));
            }
            assert_null(strstr(text, "beneath"));
            assert_null(strstr(text, "later"));
            f.file = NULL;
            tear_down(&f);
        }
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
    ok(tr_log_file_reopen(f.file, &failure));
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
    assert_int_equal(rename(f.path, f.old), 0);
    assert_int_equal(mkdir(f.path, 0700), 0);
    assert_int_equal(tr_log_file_reopen(f.file, &failure), TR_EIO);
    assert_non_null(strstr(failure.message, f.path));
    say(&f, "one", 3);
    assert_int_equal(rmdir(f.path), 0);
    read_all(f.old, text, sizeof text);
    assert_non_null(strstr(text, "error "));
    assert_non_null(strstr(text, "cannot be opened again: Is a directory"));
    assert_non_null(strstr(text, "one\n"));
    tear_down(&f);
}

/* A disk without room loses lines and cuts one, and the next that it takes is whole, behind one that
 * says how many were lost. */
static void lost_lines_are_counted(void **state)
{
    struct rlimit before, small;
    (void)state;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    for (int json = 0; json < 2; json++) {
        struct fixture f;
        char text[4096];
        set_up(&f, json == 1);
        ok(tr_log_file_write(f.file, TR_LOG_INFO, "first", &failure));
        small = before;
        small.rlim_cur = read_all(f.path, text, sizeof text) + 20;
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
        for (int i = 0; i < 3; i++)
            refused(tr_log_file_write(f.file, TR_LOG_INFO, "a line is longer", &failure), TR_EIO,
                    f.path);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
        ok(tr_log_file_write(f.file, TR_LOG_INFO, "last", &failure));
        read_all(f.path, text, sizeof text);
        int lines = 0;
        const char *const wanted[] = { "first", "", "3 lines could not be written", "last" };
        for (char *at = strtok(text, "\n"); at != NULL; at = strtok(NULL, "\n")) {
            assert_true(lines < 4);
            assert_non_null(strstr(at, wanted[lines]));
            json_t *value = json == 1 && lines != 1 ? json_loads(at, 0, NULL) : NULL;
            assert_true(json == 0 || lines == 1 || value != NULL);
            json_decref(value);
            lines++;
        }
        assert_int_equal(lines, 4);
        tear_down(&f);
    }
    signal(SIGXFSZ, handler);
}

static void what_cannot_be_opened_is_named(void **state)
{
    struct tr_log_file *file;
    struct tr_log_file_options options = TR_LOG_FILE_OPTIONS_INIT;
    (void)state;
    assert_int_equal(tr_log_file_open("/nowhere/log", NULL, &file, &failure), TR_EIO);
    assert_non_null(strstr(failure.message, "/nowhere/log"));
    assert_null(file);
    options.format = (enum tr_log_format)2;
    assert_int_equal(tr_log_file_open("log", &options, &file, &failure), TR_ERANGE);
    tr_log_file_close(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_byte_is_in_one_line),
        cmocka_unit_test(a_file_names_its_process),
        cmocka_unit_test(lines_of_a_log_are_in_the_file),
        cmocka_unit_test(a_renamed_file_is_left),
        cmocka_unit_test(a_file_that_cannot_be_opened_again_is_gone_on_with),
        cmocka_unit_test(lost_lines_are_counted),
        cmocka_unit_test(what_cannot_be_opened_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
