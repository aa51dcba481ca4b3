/* SPDX-License-Identifier: Apache-2.0 */
/* Options: every value is read whole or refused with a message that names it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <troupe/text.h>

#include "cli/lib/options.h"

struct sample {
    bool json;
    const char *out;
    uint64_t parts, most;
    uint64_t window;
    double rate, warmth;
    int method;
    struct count_list fanout, degrees;
    struct text_list features;
};

static const struct option_spec SPECS[] = {
    OPTION_ROW_JSON(struct sample),
    { .name = "out",
      .kind = OPTION_TEXT,
      .offset = offsetof(struct sample, out),
      .metavar = "DIR",
      .required = true,
      .help = "where" },
    { .name = "parts",
      .kind = OPTION_COUNT,
      .offset = offsetof(struct sample, parts),
      .metavar = "K",
      .fallback = "4",
      .min = 1,
      .max = 65536,
      .help = "how many" },
    { .name = "most",
      .kind = OPTION_COUNT,
      .offset = offsetof(struct sample, most),
      .metavar = "N",
      .optional = true,
      .max = 9,
      .help = "how many at most" },
    { .name = "window",
      .kind = OPTION_BYTES,
      .offset = offsetof(struct sample, window),
      .metavar = "BYTES",
      .help = "bytes" },
    { .name = "rate",
      .kind = OPTION_REAL,
      .offset = offsetof(struct sample, rate),
      .metavar = "R",
      .fallback = "0.5",
      .max = 1,
      .help = "rate" },
    { .name = "warmth",
      .kind = OPTION_REAL,
      .offset = offsetof(struct sample, warmth),
      .metavar = "R",
      .fallback = "1",
      .min = 0.25,
      .help = "warmth" },
    { .name = "method",
      .kind = OPTION_CHOICE,
      .offset = offsetof(struct sample, method),
      .choices = "metis|random",
      .fallback = "metis",
      .help = "method" },
    { .name = "fanout",
      .kind = OPTION_COUNTS,
      .offset = offsetof(struct sample, fanout),
      .metavar = "N,N",
      .fallback = "10,25",
      .min = 1,
      .help = "fanout" },
    { .name = "degrees",
      .kind = OPTION_COUNTS,
      .offset = offsetof(struct sample, degrees),
      .metavar = "N,N",
      .min = -1,
      .max = 9,
      .help = "degrees, or -1" },
    { .name = "feature",
      .kind = OPTION_TEXTS,
      .offset = offsetof(struct sample, features),
      .metavar = "FILE",
      .help = "file" },
    OPTION_ROW_END,
};

static int parse(struct sample *sample, const char *line, char *storage, struct tr_error *error)
{
    char *argv[64];
    int argc = 0;
    strcpy(storage, line);
    for (char *word = strtok(storage, " "); word != NULL; word = strtok(NULL, " "))
        argv[argc++] = word;
    struct options_read read;
    *error = (struct tr_error)TR_ERROR_INIT;
    return options_parse(SPECS, sample, sizeof *sample, argc, argv, &read, error);
}

static void defaults_are_the_words_of_the_table(void **state)
{
    (void)state;
    struct sample s;
    struct tr_error error = TR_ERROR_INIT;
    char storage[512];
    assert_int_equal(parse(&s, "--out x", storage, &error), 0);
    assert_int_equal(s.parts, 4);
    assert_int_equal(s.method, 0);
    assert_int_equal(s.fanout.count, 2);
    assert_int_equal(s.fanout.values[1], 25);
    assert_true(s.rate == 0.5);
    assert_false(s.json);
}

static void values_are_read_in_both_forms(void **state)
{
    (void)state;
    struct sample s;
    struct tr_error error = TR_ERROR_INIT;
    char storage[512];
    int rc = parse(&s,
                   "RAW --out=DIR --parts 2k --window 3MiB --rate 0.25 --json --fanout 5,10,15 "
                   "--method random --feature a --feature=b -- --odd",
                   storage, &error);
    assert_int_equal(rc, 2);
    assert_string_equal(s.out, "DIR");
    assert_int_equal(s.parts, 2000);
    assert_int_equal(s.window, 3 << 20);
    assert_int_equal(s.fanout.count, 3);
    assert_int_equal(s.fanout.values[0], 5);
    assert_int_equal(s.method, 1);
    assert_int_equal(s.features.count, 2);
    assert_string_equal(s.features.values[1], "b");
    assert_true(s.json);
}

static void minus_one_is_all_where_the_table_allows_it(void **state)
{
    (void)state;
    struct sample s;
    struct tr_error error = TR_ERROR_INIT;
    char storage[512];
    assert_int_equal(parse(&s, "--out DIR --degrees -1,0,9", storage, &error), 0);
    assert_int_equal(s.degrees.count, 3);
    assert_true(s.degrees.values[0] == OPTION_ALL);
    assert_int_equal(s.degrees.values[1], 0);
    assert_int_equal(s.degrees.values[2], 9);
}

static void a_count_may_say_that_it_was_not_given(void **state)
{
    (void)state;
    struct sample s;
    struct tr_error error = TR_ERROR_INIT;
    char storage[512];
    assert_int_equal(parse(&s, "--out DIR", storage, &error), 0);
    assert_true(s.most == OPTION_NOT_GIVEN);
    assert_int_equal(parse(&s, "--out DIR --most 0", storage, &error), 0);
    assert_int_equal(s.most, 0);
}

static void wrong_words_are_refused_by_name(void **state)
{
    (void)state;
    static const struct {
        const char *line;
        const char *sentence;
    } CASES[] = {
        { "", "--out is missing: add --out DIR" },
        { "--out", "--out: needs a value: --out DIR" },
        { "--out x --method", "--method: needs a value: --method metis|random" },
        { "--out x --out y", "--out: given twice" },
        { "--out= ", "--out: must not be empty" },
        { "--out x --prats 4", "--prats: no such option; did you mean --parts?" },
        { "--out x --zebra", "--zebra: no such option; --help lists them" },
        { "--out x -p", "-p: no such option; --help lists them" },
        { "--out x --json=1", "--json=1: takes no value" },
        { "--out x --parts 0", "--parts 0: must be between 1 and 65536" },
        { "--out x --parts -1", "--parts -1: not a whole number such as 8, 10k or 2M" },
        { "--out x --parts 4x", "--parts 4x: not a whole number such as 8, 10k or 2M" },
        { "--out x --parts 99999999999999999999",
          "--parts 99999999999999999999: not a whole number such as 8, 10k or 2M" },
        { "--out x --parts 18446744073709551615k",
          "--parts 18446744073709551615k: not a whole number such as 8, 10k or 2M" },
        { "--out x --window 3MB", "--window 3MB: not a size such as 512, 64KiB or 2GiB" },
        { "--out x --rate nan", "--rate nan: not a number such as 0.01" },
        { "--out x --rate 1e999", "--rate 1e999: not a number such as 0.01" },
        { "--out x --rate 2", "--rate 2: must be between 0 and 1" },
        { "--out x --method metsi", "--method metsi: choose one of metis|random" },
        { "--out x --method met", "--method met: choose one of metis|random" },
        { "--out x --fanout 5,,6",
          "--fanout 5,,6: not whole numbers separated by commas, such as 10,25" },
        { "--out x --fanout 0", "--fanout 0: must be at least 1" },
        { "--out x --fanout -1",
          "--fanout -1: not whole numbers separated by commas, such as 10,25" },
        { "--out x --degrees -2",
          "--degrees -2: not whole numbers separated by commas, such as 10,25" },
        { "--out x --degrees 3,10", "--degrees 3,10: must be between -1 and 9" },
        { "--out x --degrees -1,-10",
          "--degrees -1,-10: not whole numbers separated by commas, such as 10,25" },
    };
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        struct sample s;
        struct tr_error error = TR_ERROR_INIT;
        char storage[512];
        bool range = strstr(CASES[i].sentence, ": must be between ") != NULL ||
                     strstr(CASES[i].sentence, ": must be at least ") != NULL;
        assert_int_equal(parse(&s, CASES[i].line, storage, &error), range ? TR_ERANGE : TR_EINVAL);
        assert_string_equal(error.message, CASES[i].sentence);
    }
}

static void lists_are_bounded(void **state)
{
    (void)state;
    struct sample s;
    struct tr_error error = TR_ERROR_INIT;
    char line[512] = "--out x --fanout 1";
    char storage[512];
    for (int i = 1; i < OPTION_LIST_MAX; i++)
        strcat(line, ",1");
    assert_int_equal(parse(&s, line, storage, &error), 0);
    assert_int_equal(s.fanout.count, OPTION_LIST_MAX);
    strcat(line, ",1");
    assert_int_equal(parse(&s, line, storage, &error), TR_ERANGE);
}

static void help_wins_over_errors(void **state)
{
    (void)state;
    struct sample s;
    struct tr_error error = TR_ERROR_INIT;
    char wrong[] = "--parts", value[] = "x", help_word[] = "--help";
    char *argv[] = { wrong, value, help_word };
    struct options_read read;
    assert_int_equal(options_parse(SPECS, &s, sizeof s, 3, argv, &read, &error), 0);
    assert_true(read.help);
}

static void a_near_name_is_suggested(void **state)
{
    (void)state;
    static const char *const NAMES[] = { "partition", "inspect", "import" };
    assert_string_equal(tr_text_nearest(NAMES, 3, "partiton", 8), "partition");
    assert_string_equal(tr_text_nearest(NAMES, 3, "imprt", 5), "import");
    assert_null(tr_text_nearest(NAMES, 3, "zzzzzz", 6));
    /* Three of six letters may be wrong; the first of names that are as near is taken. */
    assert_string_equal(tr_text_nearest(NAMES, 3, "impxyz", 6), "import");
    assert_null(tr_text_nearest(NAMES, 3, "imwxyz", 6));
    assert_string_equal(tr_text_nearest(NAMES, 3, "partitionxy", 11), "partition");
    assert_string_equal(tr_text_nearest(NAMES, 3, "partitixxyz", 11 - 1), "partition");
    static const char *const NEAR[] = { "cat", "car", "can" };
    assert_string_equal(tr_text_nearest(NEAR, 3, "cab", 3), "cat");
    assert_string_equal(tr_text_nearest(NEAR, 3, "can", 3), "can");
    assert_null(tr_text_nearest(NEAR, 0, "can", 3));
    static const char *const LONG[] = { "x23456789012345678901234567890123",
                                        "y2345678901234567890123456789012" };
    assert_string_equal(tr_text_nearest(LONG, 2, LONG[1], 32), LONG[1]);
    assert_null(tr_text_nearest(LONG, 1, LONG[0], 32));
    assert_null(tr_text_nearest(LONG, 2, LONG[0], 33));
    assert_null(tr_text_nearest(NAMES, 3, "a_word_longer_than_any_name_that_we_have", 40));
}

/* One below, at, and one above each bound, where the next number is as near as a number can be. */
static void bounds_are_exact(void **state)
{
    (void)state;
    static const struct {
        const char *option;
        double below, least, most, above; /* most 0: there is no bound above */
    } BOUNDS[] = {
        { "parts", 0, 1, 65536, 65537 },
        { "rate", -0x1p-1074, 0, 1, 1 + 0x1p-52 },
        { "warmth", 0.25 - 0x1p-54, 0.25, 0, 0 },
        { "fanout", 0, 1, 0, 0 },
    };
    for (size_t i = 0; i < sizeof BOUNDS / sizeof *BOUNDS; i++) {
        const double values[] = { BOUNDS[i].below, BOUNDS[i].least, BOUNDS[i].most,
                                  BOUNDS[i].above };
        for (int k = 0; k < (BOUNDS[i].most == 0 ? 2 : 4); k++) {
            struct sample s;
            struct tr_error error = TR_ERROR_INIT;
            char line[96], storage[512];
            snprintf(line, sizeof line, "--out x --%s %.17g", BOUNDS[i].option, values[k]);
            int rv = parse(&s, line, storage, &error);
            if (rv != (k == 1 || k == 2 ? 0 : TR_ERANGE))
                fail_msg("%s: %d %s", line, rv, error.message);
        }
    }
}

static void each_unit_has_its_factor(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t most, window; /* UINT64_MAX: refused */
    } UNITS[] = {
        { "3", 3, 3 },
        { "3k", 3000, UINT64_MAX },
        { "3K", 3000, UINT64_MAX },
        { "3M", 3000000, UINT64_MAX },
        { "3G", UINT64_C(3000000000), UINT64_MAX },
        { "3B", UINT64_MAX, 3 },
        { "3KiB", UINT64_MAX, 3072 },
        { "3MiB", UINT64_MAX, 3145728 },
        { "3GiB", UINT64_MAX, UINT64_C(3221225472) },
        { "3TiB", UINT64_MAX, UINT64_C(3298534883328) },
        { "16777215TiB", UINT64_MAX, UINT64_C(16777215) << 40 },
        { "16777216TiB", UINT64_MAX, UINT64_MAX },
        { "k", UINT64_MAX, UINT64_MAX },
        { "/", UINT64_MAX, UINT64_MAX },
        { ":", UINT64_MAX, UINT64_MAX },
        { "0", 0, 0 },
        { "09", 9, 9 },
        { "18446744073709551614", UINT64_MAX - 1, UINT64_MAX - 1 },
        { "18446744073709551616", UINT64_MAX, UINT64_MAX },
    };
    static const struct option_spec WIDE[] = {
        { .name = "count", .kind = OPTION_COUNT, .offset = offsetof(struct sample, most) },
        { .name = "bytes", .kind = OPTION_BYTES, .offset = offsetof(struct sample, window) },
        OPTION_ROW_END,
    };
    for (size_t i = 0; i < sizeof UNITS / sizeof *UNITS; i++)
        for (int bytes = 0; bytes < 2; bytes++) {
            struct sample s;
            struct tr_error error = TR_ERROR_INIT;
            char word[64];
            char *argv[] = { word };
            struct options_read read;
            snprintf(word, sizeof word, "--%s=%s", bytes ? "bytes" : "count", UNITS[i].text);
            uint64_t want = bytes ? UNITS[i].window : UNITS[i].most;
            int rc = options_parse(WIDE, &s, sizeof s, 1, argv, &read, &error);
            assert_int_equal(rc, want == UINT64_MAX ? TR_EINVAL : 0);
            if (rc == 0)
                assert_true((bytes ? s.window : s.most) == want);
        }
}

/* Words that are no options are left in argv, in their order; behind -- nothing is an option. */
static void operands_stay_in_their_order(void **state)
{
    (void)state;
    struct sample s;
    struct tr_error error = TR_ERROR_INIT;
    char words[][8] = { "a", "--parts", "7", "-", "--json", "--", "--help", "-h", "--", "b" };
    char *argv[10];
    struct options_read read = { .help = true };
    for (int i = 0; i < 10; i++)
        argv[i] = words[i];
    assert_int_equal(options_parse(SPECS, &s, sizeof s, 10, argv, &read, &error), TR_EINVAL);
    assert_string_equal(error.message, "--out is missing: add --out DIR");
    assert_false(read.help);
    strcpy(words[1], "--out");
    for (int i = 0; i < 10; i++)
        argv[i] = words[i];
    assert_int_equal(options_parse(SPECS, &s, sizeof s, 10, argv, &read, &error), 6);
    assert_string_equal(s.out, "7");
    static const char *const LEFT[] = { "a", "-", "--help", "-h", "--", "b" };
    for (int i = 0; i < 6; i++)
        assert_string_equal(argv[i], LEFT[i]);
    char short_help[] = "-h";
    argv[0] = short_help;
    assert_int_equal(options_parse(SPECS, &s, sizeof s, 1, argv, &read, &error), 0);
    assert_true(read.help);
}

static void texts_are_bounded(void **state)
{
    (void)state;
    struct sample s;
    struct tr_error error = TR_ERROR_INIT;
    char out[] = "--out=x", feature[] = "--feature=a";
    char *argv[OPTION_LIST_MAX + 2] = { out };
    struct options_read read;
    for (int i = 1; i < OPTION_LIST_MAX + 2; i++)
        argv[i] = feature;
    assert_int_equal(options_parse(SPECS, &s, sizeof s, OPTION_LIST_MAX + 1, argv, &read, &error),
                     0);
    assert_int_equal(s.features.count, OPTION_LIST_MAX);
    assert_int_equal(options_parse(SPECS, &s, sizeof s, OPTION_LIST_MAX + 2, argv, &read, &error),
                     TR_ERANGE);
    char sentence[64];
    snprintf(sentence, sizeof sentence, "--feature a: given more than %d times", OPTION_LIST_MAX);
    assert_string_equal(error.message, sentence);
}

/* Texts stand in one column; an option that reaches it has its text on the next line. */
static void help_is_laid_out_in_a_column(void **state)
{
    (void)state;
    static const struct option_spec ROWS[] = {
        { .name = "a2345678901234567890", .kind = OPTION_TEXT, .metavar = "XY", .help = "near" },
        { .name = "a2345678901234567890", .kind = OPTION_TEXT, .metavar = "XYZ", .help = "far" },
        { .name = "flag", .kind = OPTION_FLAG, .metavar = "NO", .help = "flag" },
        { .name = "method", .kind = OPTION_CHOICE, .choices = "a|b", .fallback = "b", .help = "m" },
        { .name = "out", .kind = OPTION_TEXT, .metavar = "DIR", .required = true, .help = "o" },
        { .name = "more", .kind = OPTION_TEXTS, .metavar = "FILE", .help = "more" },
        OPTION_ROW_END,
    };
    char text[1024] = { 0 };
    FILE *out = fmemopen(text, sizeof text, "w");
    assert_non_null(out);
    options_print(ROWS, out);
    for (int i = 2; i < 5; i++) {
        option_print_brief(&ROWS[i], out);
        fputc('\n', out);
    }
    assert_int_equal(fclose(out), 0);
    assert_string_equal(text, "  --a2345678901234567890 XY near\n"
                              "  --a2345678901234567890 XYZ\n"
                              "                            far\n"
                              "  --flag                    flag\n"
                              "  --method a|b              m (default b)\n"
                              "  --out DIR                 o (required)\n"
                              "  --more FILE               more (may be repeated)\n"
                              "  --help                    show this help\n"
                              "--flag\n"
                              "--method a|b\n"
                              "--out DIR\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_are_the_words_of_the_table),
        cmocka_unit_test(values_are_read_in_both_forms),
        cmocka_unit_test(minus_one_is_all_where_the_table_allows_it),
        cmocka_unit_test(a_count_may_say_that_it_was_not_given),
        cmocka_unit_test(wrong_words_are_refused_by_name),
        cmocka_unit_test(lists_are_bounded),
        cmocka_unit_test(help_wins_over_errors),
        cmocka_unit_test(a_near_name_is_suggested),
        cmocka_unit_test(bounds_are_exact),
        cmocka_unit_test(each_unit_has_its_factor),
        cmocka_unit_test(operands_stay_in_their_order),
        cmocka_unit_test(texts_are_bounded),
        cmocka_unit_test(help_is_laid_out_in_a_column),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
