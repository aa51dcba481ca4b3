/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers as a line of blocks: its ends are the numbers', its width is bounded, whatever they are. */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/lib/sparkline.h"

static void assert_line(const double *values, size_t count, const char *expected)
{
    char text[SPARKLINE_TEXT_MAX];
    assert_true(sparkline_write(text, values, count, false));
    assert_string_equal(text, expected);
}

static void blocks_follow_the_numbers(void **state)
{
    (void)state;
    char text[SPARKLINE_TEXT_MAX];
    const double nan = (double)NAN, infinite = (double)INFINITY;
    assert_line((const double[]){ 0, 1, 2, 3, 4, 5, 6, 7 }, 8, "0 _.,-=+*# 7");
    assert_line((const double[]){ 2, 0.5 }, 2, "2 #_ 0.5");
    assert_line((const double[]){ 3, 3, 3 }, 3, "3 ___ 3");
    assert_line((const double[]){ nan, 1, infinite, 2, nan }, 5, "1 _# 2");
    assert_line((const double[]){ -DBL_MAX, 0, DBL_MAX }, 3, "-1.798e+308 _=# 1.798e+308");
    assert_true(sparkline_write(text, (const double[]){ 1, 0 }, 2, true));
    assert_string_equal(text, "1 \u2588\u2581 0");
}

static void fewer_than_two_numbers_are_no_line(void **state)
{
    (void)state;
    char text[SPARKLINE_TEXT_MAX] = "before";
    assert_false(sparkline_write(text, NULL, 0, false));
    assert_string_equal(text, "");
    assert_false(sparkline_write(text, (const double[]){ 1, (double)NAN }, 2, false));
}

static void a_line_is_as_wide_as_its_columns(void **state)
{
    (void)state;
    char text[SPARKLINE_TEXT_MAX];
    double values[1000];
    for (size_t i = 0; i < 1000; i++)
        values[i] = (double)i;
    for (size_t count = 2; count <= 1000; count++) {
        assert_true(sparkline_write(text, values, count, false));
        const char *blocks = strchr(text, ' ') + 1;
        size_t columns = (size_t)(strrchr(text, ' ') - blocks);
        assert_int_equal(columns, count < SPARKLINE_COLUMNS ? count : SPARKLINE_COLUMNS);
        assert_int_equal(blocks[0], '_');
        assert_int_equal(blocks[columns - 1], '#');
    }
    /* The longest text that there is. */
    for (size_t i = 0; i < 1000; i++)
        values[i] = -1.2345e-300;
    assert_true(sparkline_write(text, values, 1000, true));
    assert_string_equal(strrchr(text, ' '), " -1.234e-300");
}

static void the_environment_says_what_a_terminal_takes(void **state)
{
    (void)state;
    assert_int_equal(unsetenv("LC_ALL"), 0);
    assert_int_equal(unsetenv("LC_CTYPE"), 0);
    assert_int_equal(unsetenv("LANG"), 0);
    assert_false(sparkline_has_utf8());
    assert_int_equal(setenv("LANG", "de_DE.utf8", 1), 0);
    assert_true(sparkline_has_utf8());
    assert_int_equal(setenv("LC_CTYPE", "C", 1), 0);
    assert_false(sparkline_has_utf8());
    assert_int_equal(setenv("LC_ALL", "C.UTF-8", 1), 0);
    assert_true(sparkline_has_utf8());
    assert_int_equal(setenv("LC_ALL", "", 1), 0);
    assert_false(sparkline_has_utf8());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_follow_the_numbers),
        cmocka_unit_test(fewer_than_two_numbers_are_no_line),
        cmocka_unit_test(a_line_is_as_wide_as_its_columns),
        cmocka_unit_test(the_environment_says_what_a_terminal_takes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
