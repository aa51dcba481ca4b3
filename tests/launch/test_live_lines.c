/* SPDX-License-Identifier: Apache-2.0 */
/* A log that the live page follows: as it grows, is replaced, begins anew, or is no file at all. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "launch/web/live_lines.h"

static char folder[] = "/tmp/troupe-live-lines.XXXXXX", path[64];
static struct live_lines *lines;
static uint64_t looks;

static void write_log(const char *mode, const char *text)
{
    FILE *to = fopen(path, mode);
    assert_non_null(to);
    fputs(text, to);
    assert_int_equal(fclose(to), 0);
}

/* What one more look finds. */
static void expect_new(const char *expected)
{
    char *text = NULL;
    size_t size = 0;
    live_lines_look(lines, ++looks);
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    live_lines_write(lines, looks - 1, out);
    assert_int_equal(fclose(out), 0);
    assert_string_equal(text, expected);
    free(text);
}

static void a_log_is_followed(void **state)
{
    (void)state;
    expect_new("\"lines\":[]");
    write_log("w", "one\ntw");
    expect_new("\"lines\":[\"one\"]");
    expect_new("\"lines\":[]");
    write_log("a", "o\n</script>\n");
    expect_new("\"lines\":[\"two\",\"</script>\"]");
    /* It begins anew, with fewer bytes than were read. */
    write_log("w", "three\n");
    expect_new("\"lines\":[\"three\"]");
    /* Another file takes its place, with more. */
    char before[80];
    snprintf(before, sizeof before, "%s.1", path);
    assert_int_equal(rename(path, before), 0);
    write_log("w", "a first line that is longer\nfour\n");
    expect_new("\"lines\":[\"a first line that is longer\",\"four\"]");
    unlink(before);
}

static void of_much_the_end_is_read(void **state)
{
    (void)state;
    FILE *to = fopen(path, "a");
    assert_non_null(to);
    for (size_t i = 0; i < LIVE_LINES_READ; i++)
        fputc('x', to);
    fputs("\nlast\n", to);
    assert_int_equal(fclose(to), 0);
    expect_new("\"lines\":[\"last\"]");
}

static void a_carriage_return_ends_no_line(void **state)
{
    (void)state;
    write_log("a", "10%\r100% done\r\n");
    expect_new("\"lines\":[\"10%?100% done\"]");
}

static void what_is_no_file_is_left_alone(void **state)
{
    (void)state;
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0);
    expect_new("\"lines\":[]");
}

static int set_up(void **state)
{
    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/log", folder);
    lines = live_lines_create(path);
    return lines == NULL;
}

static int tear_down(void **state)
{
    (void)state;
    live_lines_destroy(lines);
    unlink(path);
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_log_is_followed),
        cmocka_unit_test(of_much_the_end_is_read),
        cmocka_unit_test(a_carriage_return_ends_no_line),
        cmocka_unit_test(what_is_no_file_is_left_alone),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
