/* SPDX-License-Identifier: Apache-2.0 */
/* Pages: what comes from outside stays text, whatever it holds; pictures are bounded and can be
 * read. */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model/report/bar_chart.h"
#include "model/report/html.h"
#include "model/report/line_chart.h"
#include "model/report/repeat_command.h"
#include "tests/short_memory.h"

/* What is written so far, as a text that lives until the page is written on. */
static const char *written(struct html *html)
{
    html_markup(html, " "); /* memory for the end of the text */
    assert_false(html->failed);
    html->text[--html->used] = '\0';
    return html->text;
}

static void assert_escaped(const char *text, const char *expected)
{
    struct html html;
    html_init(&html);
    html_markup(&html, " ");
    html_text(&html, text);
    assert_string_equal(written(&html) + 1, expected);
    html_fini(&html);
}

static void a_text_stays_a_text(void **state)
{
    (void)state;
    assert_escaped("", "");
    assert_escaped("plain-1.5_x", "plain-1.5_x");
    assert_escaped("<script>alert('1')</script>",
                   "&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;");
    assert_escaped("\"onload=\"x", "&quot;onload=&quot;x");
    assert_escaped("a&b&amp;", "a&amp;b&amp;amp;");
    assert_escaped("</title><!--", "&lt;/title&gt;&lt;!--");
    assert_escaped("caf\xc3\xa9 \xe5\x9b\xbe \xf0\x9f\x93\x88",
                   "caf\xc3\xa9 \xe5\x9b\xbe \xf0\x9f\x93\x88");
    /* Control characters, those of C1, and those that turn the direction of writing. */
    assert_escaped("a\x1b[31m\n\t\x7f", "a&#xFFFD;[31m&#xFFFD;&#xFFFD;&#xFFFD;");
    assert_escaped("\xc2\x85\xe2\x80\xae\xe2\x81\xa6\xef\xbb\xbf",
                   "&#xFFFD;&#xFFFD;&#xFFFD;&#xFFFD;");
    assert_escaped("\xef\xbf\xbf\xef\xb7\x90", "&#xFFFD;&#xFFFD;");
    /* No UTF-8: a byte that goes on nothing, one cut short, overlong forms, a surrogate, too large. */
    assert_escaped("\x80<", "&#xFFFD;&lt;");
    assert_escaped("\xe5\x9b", "&#xFFFD;&#xFFFD;");
    assert_escaped("\xc0\xbc", "&#xFFFD;&#xFFFD;");
    assert_escaped("\xe0\x80\xbc", "&#xFFFD;&#xFFFD;&#xFFFD;");
    assert_escaped("\xed\xa0\x80", "&#xFFFD;&#xFFFD;&#xFFFD;");
    assert_escaped("\xf4\x90\x80\x80", "&#xFFFD;&#xFFFD;&#xFFFD;&#xFFFD;");
    assert_escaped("\xff", "&#xFFFD;");
}

static void a_long_text_is_cut(void **state)
{
    (void)state;
    char text[HTML_TEXT_BYTES_MAX + 2];
    struct html html;
    for (size_t length = HTML_TEXT_BYTES_MAX - 1; length <= HTML_TEXT_BYTES_MAX + 1; length++) {
        memset(text, 'x', length);
        text[length] = '\0';
        html_init(&html);
        html_text(&html, text);
        size_t kept = length < HTML_TEXT_BYTES_MAX ? length : HTML_TEXT_BYTES_MAX;
        assert_int_equal(strspn(written(&html), "x"), kept);
        assert_string_equal(html.text + kept, length > HTML_TEXT_BYTES_MAX ? "&hellip;" : "");
        html_fini(&html);
    }
    /* The last character of a text that is cut is whole: its bytes may stand behind the bound. */
    memset(text, 'x', HTML_TEXT_BYTES_MAX - 1);
    strcpy(text + HTML_TEXT_BYTES_MAX - 1, "\xc3\xa9");
    html_init(&html);
    html_text(&html, text);
    assert_string_equal(written(&html) + HTML_TEXT_BYTES_MAX - 1, "\xc3\xa9");
    html_fini(&html);
}

/* With memory for 0, 1, 2 ... allocations a page fails, or is whole. */
static void a_page_without_memory_is_an_error(void **state)
{
    (void)state;
    bool whole = false;
    for (int tries = 0; !whole && tries < 100; tries++) {
        struct html html;
        html_init(&html);
        allocations_left = tries;
        for (int i = 0; i < 20000; i++)
            html_element(&html, "td", "", "<");
        allocations_left = -1;
        whole = !html.failed;
        assert_true(tries > 0 || !whole);
        assert_true(!whole || html.used == 20000 * strlen("<td>&lt;</td>"));
        html_fini(&html);
    }
    assert_true(whole);
}

static void write_line(struct html *html, const double *x, const double *y, size_t count)
{
    const struct chart_line line = { .name = "a<b", .x = x, .y = y, .count = count };
    const struct line_chart chart = {
        .id = "c", .title = "Loss over steps", .x_label = "steps", .lines = &line, .num_lines = 1
    };
    html_init(html);
    line_chart_write(html, &chart);
    written(html);
}

/* How often a text has another. */
static size_t occurrences(const char *text, const char *other)
{
    size_t count = 0;
    for (const char *at = text; (at = strstr(at, other)) != NULL; at += strlen(other))
        count++;
    return count;
}

/* Every number of the picture is finite. */
static void assert_drawn(const struct html *html)
{
    assert_non_null(strstr(html->text, "<svg "));
    assert_null(strstr(html->text, "nan"));
    assert_null(strstr(html->text, "inf"));
}

static void a_chart_of_a_million_points_is_small(void **state)
{
    (void)state;
    size_t count = 1000000;
    double *x = malloc(count * sizeof *x), *y = malloc(count * sizeof *y);
    struct html html;
    assert_non_null(x);
    assert_non_null(y);
    for (size_t i = 0; i < count; i++) {
        x[i] = (double)i;
        y[i] = i == 777777 ? 90 : i % 2 == 0 ? 1 : 2; /* one peak that thinning must keep */
    }
    write_line(&html, x, y, count);
    assert_drawn(&html);
    assert_true(html.used < 20000);
    assert_non_null(strstr(html.text, ">80<")); /* a tick near the peak */
    /* The peak is the only point above the half: its height is that of 90 on an axis to 100. */
    assert_int_equal(occurrences(html.text, " 33.0L"), 1);
    html_fini(&html);
    free(x);
    free(y);
}

static void whatever_numbers_make_a_chart(void **state)
{
    (void)state;
    const double x[] = { 0, 1, 2 };
    const double lists[][3] = {
        { 0, 0, 0 },           { 5, 5, 5 },         { 1e17, 1e17 + 2, 1e17 },
        { 1e-310, 2e-310, 0 }, { DBL_MAX, 1, -1 },  { (double)NAN, 3, (double)INFINITY },
        { -1e299, 0, 1e299 },  { 1, 1 + 1e-15, 1 }, { -3, -2, -1 },
    };
    struct html html;
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        write_line(&html, x, lists[i], 3);
        assert_drawn(&html);
        assert_true(html.used < 8000);
        assert_true(occurrences(html.text, "<text") < 25);
        html_fini(&html);
    }
    const double none[] = { (double)NAN, (double)INFINITY, -(double)INFINITY };
    write_line(&html, x, none, 3);
    assert_null(strstr(html.text, "<svg "));
    assert_non_null(strstr(html.text, "No run has such numbers"));
    html_fini(&html);
    write_line(&html, NULL, NULL, 0);
    assert_null(strstr(html.text, "<svg "));
    html_fini(&html);
}

static void lines_are_told_apart(void **state)
{
    (void)state;
    char samples[LINES_MAX][200];
    for (size_t i = 0; i < LINES_MAX; i++) {
        struct html html;
        html_init(&html);
        line_chart_write_sample(&html, i);
        snprintf(samples[i], sizeof samples[i], "%s", strstr(written(&html), "class=\"line"));
        html_fini(&html);
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(samples[i], samples[j]);
    }
}

static void bars_are_bounded(void **state)
{
    (void)state;
    uint64_t values[BARS_MAX + 9] = { UINT64_MAX, 1, 0 };
    struct html html;
    for (size_t count = 0; count <= BARS_MAX + 9; count += count == 1 ? BARS_MAX + 8 : 1) {
        const struct bar_chart chart = {
            .id = "p", .title = "Nodes", .values = values, .num_values = count
        };
        html_init(&html);
        bar_chart_write(&html, &chart);
        written(&html);
        assert_drawn(&html);
        assert_int_equal(occurrences(html.text, "<rect"), count < BARS_MAX ? count : BARS_MAX);
        html_fini(&html);
    }
}

/* The luminance of "#rrggbb" by WCAG 2. */
static double luminance(const char *colour)
{
    const double weights[] = { 0.2126, 0.7152, 0.0722 };
    double sum = 0;
    for (int i = 0; i < 3; i++) {
        char digits[] = { colour[1 + 2 * i], colour[2 + 2 * i], '\0' };
        double c = (double)strtoul(digits, NULL, 16) / 255;
        sum += weights[i] * (c <= 0.03928 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4));
    }
    return sum;
}

static double contrast(const char *a, const char *b)
{
    double x = luminance(a), y = luminance(b);
    return (fmax(x, y) + 0.05) / (fmin(x, y) + 0.05);
}

/* Lines can be seen on the cards that they are drawn on, in the light and in the dark. */
static void lines_have_contrast(void **state)
{
    (void)state;
    struct html html;
    html_init(&html);
    line_chart_write_style(&html);
    const char *light = written(&html), *dark = strstr(light, "@media");
    assert_non_null(dark);
    for (int i = 0; i < LINE_COLOURS; i++) {
        char name[8];
        snprintf(name, sizeof name, "--c%d:", i);
        assert_true(contrast(strstr(light, name) + 5, "#f5f7f9") >= 3);
        assert_true(contrast(strstr(dark, name) + 5, "#1c2128") >= 3);
    }
    html_fini(&html);
}

static void a_run_is_repeated_by_its_options(void **state)
{
    (void)state;
    char graph[] = "parts/it's.json", path[] = "run 1";
    struct run_record run = { .path = path, .graph = graph };
    static const char *const options[][2] = {
        { "trainers", "2" },      { "kind", "gcn" },         { "hidden", "128" },
        { "lr", "0.003" },        { "replace", "yes" },      { "drop_last", "no" },
        { "warmup_epochs", "3" }, { "evaluation", "exact" }, { "fanout", "-1,-1" },
        { "threads", "7" },       { "val_mask", "" },        { "labels", "$(rm x)" },
        { "schedule", "step" },   { "from", "run 0" },       { "of_a_later_version", "9" },
    };
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
        run.options[i].name = (char *)(uintptr_t)options[i][0];
        run.options[i].value = (char *)(uintptr_t)options[i][1];
        run.num_options++;
    }
    char *line = repeat_command(&run);
    assert_string_equal(line, "troupe train 'parts/it'\\''s.json' --run 'run 1' --model gcn "
                              "--hidden 128 --fanout -1,-1 --lr 0.003 --schedule steps "
                              "--warmup 3 --with-replacement --labels '$(rm x)' --from 'run 0' "
                              "--trainers 2");
    free(line);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_text_stays_a_text),
        cmocka_unit_test(a_long_text_is_cut),
        cmocka_unit_test(a_page_without_memory_is_an_error),
        cmocka_unit_test(a_chart_of_a_million_points_is_small),
        cmocka_unit_test(whatever_numbers_make_a_chart),
        cmocka_unit_test(lines_are_told_apart),
        cmocka_unit_test(bars_are_bounded),
        cmocka_unit_test(lines_have_contrast),
        cmocka_unit_test(a_run_is_repeated_by_its_options),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
