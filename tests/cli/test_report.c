/* SPDX-License-Identifier: Apache-2.0 */
/* Reports and quantities: what scripts parse, what people read. */
#include "config.h" /* fopencookie */

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <troupe/text.h>

#include "cli/lib/progress.h"
#include "cli/lib/report.h"
#include "tests/cli/capture.h"
#include "tests/short_memory.h"

static void fill(struct report *report)
{
    report_text(report, "graph", "graph", "a \"b\"\n");
    report_count(report, "edges", "edges", 342600);
    for (uint64_t part = 0; part < 2; part++) {
        report_row(report, "partitions");
        report_count(report, "part", "part", part);
        report_share(report, "halo", "halo", 0.25);
    }
    report_rows_end(report);
    report_counts(report, "shape", "shape", (const uint64_t[]){ 2, 100 }, 2);
    report_counts(report, "none", "none", NULL, 0);
    report_cells(report, "cells", "cells", (const uint64_t[]){ 41, 0, 3 }, 3);
    report_cells(report, "no_cells", "no cells", (const uint64_t[]){ 0, 0 }, 2);
    report_flag(report, "equal", "equal", true);
    report_real(report, "nothing", "nothing", 0.0 / 0.0);
}

/* The output of report_print() to stdout, as text. */
static void capture_of(void (*fill_it)(struct report *), bool json, char *text, size_t size)
{
    struct report report;
    struct tr_error error = TR_ERROR_INIT;
    struct capture output;
    capture_begin(&output, STDOUT_FILENO);
    report_init(&report, json);
    fill_it(&report);
    int rc = report_print(&report, &error);
    capture_end(&output, text, size);
    assert_int_equal(rc, 0);
}

static void capture(bool json, char *text, size_t size)
{
    capture_of(fill, json, text, size);
}

#define HIDDEN "\x7f|\xc2\x80|\xc2\x9b|\xd8\x9c|\xe2\x80\x8e|\xe2\x80\xae|\xe2\x81\xa6|\xef\xbb\xbf"
#define SHOWN "\xc2\xa0|\xc3\xa9|\xe2\x80\xaf|\xe2\x82\xac|\xf0\x9f\x98\x80"

static void fill_hidden(struct report *report)
{
    report_text(report, "hidden", "hidden", HIDDEN);
    report_text(report, "shown", "shown", SHOWN);
}

/* They mean the same, but neither steer a terminal nor turn what is written around them. */
static void hidden_characters_are_escaped(void **state)
{
    (void)state;
    char text[512];
    capture_of(fill_hidden, true, text, sizeof text);
    assert_non_null(
        strstr(text, "\"\\u007f|\\u0080|\\u009b|\\u061c|\\u200e|\\u202e|\\u2066|\\ufeff\""));
    assert_non_null(strstr(text, "\"" SHOWN "\""));
    json_t *object = json_loads(text, 0, NULL);
    assert_non_null(object);
    assert_string_equal(json_string_value(json_object_get(object, "hidden")), HIDDEN);
    json_decref(object);
}

static void json_is_one_object_on_one_line(void **state)
{
    (void)state;
    char text[2048];
    capture(true, text, sizeof text);
    assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
    json_t *object = json_loads(text, 0, NULL);
    assert_non_null(object);
    assert_string_equal(json_string_value(json_object_get(object, "graph")), "a \"b\"\n");
    assert_int_equal(json_integer_value(json_object_get(object, "edges")), 342600);
    json_t *rows = json_object_get(object, "partitions");
    assert_int_equal(json_array_size(rows), 2);
    json_t *row = json_array_get(rows, 1);
    assert_int_equal(json_integer_value(json_object_get(row, "part")), 1);
    assert_true(json_real_value(json_object_get(row, "halo")) == 0.25);
    assert_true(json_is_true(json_object_get(object, "equal")));
    assert_int_equal(json_integer_value(json_array_get(json_object_get(object, "shape"), 1)), 100);
    assert_int_equal(json_array_size(json_object_get(object, "none")), 0);
    json_t *cells = json_object_get(object, "cells");
    assert_int_equal(json_array_size(cells), 2);
    json_t *cell = json_array_get(cells, 1);
    assert_int_equal(json_array_size(cell), 2);
    assert_int_equal(json_integer_value(json_array_get(cell, 0)), 2);
    assert_int_equal(json_integer_value(json_array_get(cell, 1)), 3);
    assert_int_equal(json_array_size(json_object_get(object, "no_cells")), 0);
    assert_true(json_is_null(json_object_get(object, "nothing")));
    json_decref(object);
}

static void people_get_aligned_lines_and_tables(void **state)
{
    (void)state;
    char text[2048];
    capture(false, text, sizeof text);
    assert_non_null(strstr(text, "edges  342,600\n"));
    assert_non_null(strstr(text, "part     halo\n   0  25.00 %\n   1  25.00 %\n"));
    assert_non_null(strstr(text, "equal     yes\n"));
    assert_non_null(strstr(text, "shape     [2,100]\nnone      []\n"));
    assert_non_null(strstr(text, "cells     0: 41, 2: 3\nno cells  \n"));
}

/* Numbers end below each other; texts and lists begin there, in whichever column. */
static void fill_columns(struct report *report)
{
    for (uint64_t i = 0; i < 2; i++) {
        report_row(report, "tables");
        report_counts(report, "shape", "shape of it", (const uint64_t[]){ 7, 8 }, (uint32_t)i + 1);
        report_text(report, "name", "its name", i == 0 ? "a" : "bcd");
        report_flag(report, "kept", "is kept", i == 1);
        report_bytes(report, "bytes", "bytes", i == 0 ? 7 : 1536);
    }
    report_rows_end(report);
}

/* Characters of several bytes are as wide as others. */
static void fill_wide(struct report *report)
{
    for (uint64_t i = 0; i < 2; i++) {
        report_row(report, "tables");
        report_text(report, "mean", "mean", i == 0 ? "0.5 \u00b1 0.1" : "0.5");
        report_text(report, "name", "name", "a");
    }
    report_rows_end(report);
    report_text(report, "m\u00fc", "m\u00fc", "b");
    report_text(report, "and", "and", "c");
}

static void columns_are_counted_in_characters(void **state)
{
    (void)state;
    char text[2048];
    capture_of(fill_wide, false, text, sizeof text);
    assert_non_null(strstr(text, "mean       name\n0.5 \u00b1 0.1  a\n0.5        a\n"));
    assert_non_null(strstr(text, "m\u00fc   b\nand  c\n"));
}

static void columns_are_aligned_by_what_they_hold(void **state)
{
    (void)state;
    char text[2048];
    capture_of(fill_columns, false, text, sizeof text);
    assert_string_equal(text, "shape of it  its name  is kept     bytes\n"
                              "[7]          a         no            7 B\n"
                              "[7,8]        bcd       yes      1.50 KiB\n");
}

/* Progress that is quiet, or of no piece of work, writes nothing however long ago it began. */
static void quiet_progress_writes_nothing(void **state)
{
    (void)state;
    char text[256];
    for (int i = 0; i < 4; i++) {
        FILE *file = tmpfile();
        assert_non_null(file);
        struct progress progress = { .out = file, .quiet = i % 2 == 1, .running = i / 2 == 1 };
        progress.begin_ns = 1;
        progress_update(&progress, 5);
        assert_int_equal(progress.done, 5);
        rewind(file);
        assert_int_equal(fread(text, 1, sizeof text, file) != 0,
                         progress.running && !progress.quiet);
        fclose(file);
    }
}

/* While a piece of work counts nothing, as METIS does, its seconds are shown all the same. */
static void the_clock_moves_where_nothing_is_counted(void **state)
{
    (void)state;
    for (int terminal = 0; terminal < 2; terminal++) {
        char text[256] = "";
        FILE *file = tmpfile();
        assert_non_null(file);
        struct progress progress = { .out = file, .terminal = terminal, .running = true };
        snprintf(progress.label, sizeof progress.label, "METIS");
        progress.begin_ns = 1; /* long ago */
        progress_update(&progress, 0);
        rewind(file);
        assert_true(fread(text, 1, sizeof text - 1, file) > 0);
        fclose(file);
        assert_non_null(strstr(text, "METIS, "));
        assert_null(strstr(text, "%"));
        assert_true(strpbrk(strstr(text, "METIS, "), "123456789") != NULL);
    }
}

/* With memory for 0, 1, 2 ... allocations a report fails, or is whole. */
static void a_report_without_memory_is_an_error(void **state)
{
    (void)state;
    int rv = TR_ENOMEM, tries = 0;
    for (; rv != 0 && tries < 1000; tries++) {
        struct report report;
        struct tr_error error = TR_ERROR_INIT;
        report_init(&report, false);
        allocations_left = tries;
        for (int i = 0; i < 40; i++) /* the fields grow once more */
            report_flag(&report, "flag", "flag", true);
        allocations_left = -1;
        bool failed = report.failed;
        assert_true(failed || report.num_fields == 40);
        rv = failed ? report_print(&report, &error) : 0;
        assert_int_equal(rv, failed ? TR_ENOMEM : 0);
        if (!failed)
            report_fini(&report);
    }
    assert_int_equal(rv, 0);
    assert_true(tries > 80); /* a label and a text of each, and the fields twice */
}

/* Behaves as /dev/full does, which not every container has. */
static ssize_t refuse_bytes(void *cookie, const char *bytes, size_t count)
{
    (void)cookie, (void)bytes, (void)count;
    errno = ENOSPC;
    return 0;
}

static void a_full_output_is_an_error(void **state)
{
    (void)state;
    struct report report;
    struct tr_error error = TR_ERROR_INIT;
    FILE *stdout_before = stdout;
    FILE *full = fopencookie(NULL, "w", (cookie_io_functions_t){ .write = refuse_bytes });
    assert_non_null(full);
    stdout = full;
    report_init(&report, true);
    fill(&report);
    int rc = report_print(&report, &error);
    stdout = stdout_before;
    fclose(full);
    assert_int_equal(rc, TR_ENOSPC);
    assert_non_null(strstr(error.message, "standard output"));
}

static void quantities_read_well(void **state)
{
    (void)state;
    char text[TR_TEXT_QUANTITY_MAX];
    assert_string_equal(tr_text_whole(text, 0), "0");
    assert_string_equal(tr_text_whole(text, 999), "999");
    assert_string_equal(tr_text_whole(text, 1000), "1,000");
    assert_string_equal(tr_text_whole(text, UINT64_MAX), "18,446,744,073,709,551,615");
    assert_string_equal(tr_text_count(text, 342600), "343 k");
    assert_string_equal(tr_text_count(text, 2.5e6), "2.50 M");
    assert_string_equal(tr_text_bytes(text, 1536), "1.50 KiB");
    assert_string_equal(tr_text_bytes(text, 7), "7 B");
    assert_string_equal(tr_text_seconds(text, 1.234), "1.23 s");
    assert_string_equal(tr_text_seconds(text, 125), "2 min 05 s");
    assert_string_equal(tr_text_seconds(text, 7260), "2 h 01 min");
    assert_string_equal(tr_text_seconds(text, 2147483646), "596523 h 14 min");
    assert_string_equal(tr_text_seconds(text, 1e308), "2.78e+304 h");
    /* On either side of each change of form. */
    assert_string_equal(tr_text_whole(text, 12), "12");
    assert_string_equal(tr_text_whole(text, 999999), "999,999");
    assert_string_equal(tr_text_whole(text, 1000000), "1,000,000");
    assert_string_equal(tr_text_count(text, 9), "9");
    assert_string_equal(tr_text_count(text, 999), "999");
    assert_string_equal(tr_text_count(text, 1000), "1.00 k");
    assert_string_equal(tr_text_count(text, 10000), "10.0 k");
    assert_string_equal(tr_text_count(text, 99900), "99.9 k");
    assert_string_equal(tr_text_count(text, 100000), "100 k");
    assert_string_equal(tr_text_count(text, 999000), "999 k");
    assert_string_equal(tr_text_count(text, 3e9), "3.00 G");
    assert_string_equal(tr_text_count(text, 3e12), "3.00 T");
    assert_string_equal(tr_text_count(text, 3e15), "3000 T");
    assert_string_equal(tr_text_bytes(text, 1000), "1000 B");
    assert_string_equal(tr_text_bytes(text, 1023), "1023 B");
    assert_string_equal(tr_text_bytes(text, 1024), "1.00 KiB");
    assert_string_equal(tr_text_bytes(text, UINT64_C(3) << 20), "3.00 MiB");
    assert_string_equal(tr_text_bytes(text, UINT64_C(3) << 30), "3.00 GiB");
    assert_string_equal(tr_text_bytes(text, UINT64_C(3) << 40), "3.00 TiB");
    assert_string_equal(tr_text_bytes(text, UINT64_C(3) << 50), "3.00 PiB");
    assert_string_equal(tr_text_bytes(text, UINT64_C(3) << 60), "3072 PiB");
    assert_string_equal(tr_text_seconds(text, 9.5), "9.50 s");
    assert_string_equal(tr_text_seconds(text, 10), "10.0 s");
    assert_string_equal(tr_text_seconds(text, 99.5), "99.5 s");
    assert_string_equal(tr_text_seconds(text, 100), "1 min 40 s");
    assert_string_equal(tr_text_seconds(text, 3599), "59 min 59 s");
    assert_string_equal(tr_text_seconds(text, 3600), "1 h 00 min");
    assert_string_equal(tr_text_seconds(text, 2147483647), "5.97e+05 h");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_is_one_object_on_one_line),
        cmocka_unit_test(hidden_characters_are_escaped),
        cmocka_unit_test(columns_are_counted_in_characters),
        cmocka_unit_test(people_get_aligned_lines_and_tables),
        cmocka_unit_test(columns_are_aligned_by_what_they_hold),
        cmocka_unit_test(quiet_progress_writes_nothing),
        cmocka_unit_test(the_clock_moves_where_nothing_is_counted),
        cmocka_unit_test(a_report_without_memory_is_an_error),
        cmocka_unit_test(a_full_output_is_an_error),
        cmocka_unit_test(quantities_read_well),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
