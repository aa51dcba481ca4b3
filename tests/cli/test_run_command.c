/* SPDX-License-Identifier: Apache-2.0 */
/* The values that a command is run with, the messages and exit codes of its failures, and its
 * help. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Before cmocka.h, which has a macro named as a function of the commands. */
#include "cli/lib/command.h"
#include "cli/lib/fail.h"
#include "cli/lib/help.h"
#include "cli/lib/run_command.h"
#include "tests/cli/capture.h"

#include <cmocka.h>

#define TEXT_MAX 2000

struct values {
    uint64_t number;
    const char *name;
};

static struct {
    int runs, num_operands;
    const char *first, *last, *invoked;
    uint64_t number;
} seen;

static int note_run(const struct invocation *invocation, const void *values)
{
    seen.runs++;
    seen.invoked = invocation->name;
    seen.num_operands = invocation->num_operands;
    seen.first = invocation->operands[0];
    seen.last = invocation->operands[invocation->num_operands - 1];
    seen.number = ((const struct values *)values)->number;
    return 42;
}

static const struct option_spec OPTIONS[] = {
    { .name = "parts",
      .kind = OPTION_COUNT,
      .offset = offsetof(struct values, number),
      .metavar = "K",
      .fallback = "3",
      .field = "num_parts",
      .help = "so many" },
    { .name = "from",
      .kind = OPTION_TEXT,
      .offset = offsetof(struct values, name),
      .metavar = "NAME",
      .field = "\"from\"",
      .help = "where it begins" },
    { .name = NULL },
};
static const struct option_spec STRICT[] = {
    { .name = "parts",
      .kind = OPTION_COUNT,
      .offset = offsetof(struct values, number),
      .metavar = "K",
      .required = true,
      .help = "so many" },
    { .name = NULL },
};
static const char *const EXAMPLES[] = { "troupe cut a", "troupe cut b", NULL };
static const struct command CUT = { .name = "cut",
                                    .summary = "Cut something",
                                    .operands = "RAW [MORE]",
                                    .operands_min = 1,
                                    .operands_max = 2,
                                    .options = OPTIONS,
                                    .values_size = sizeof(struct values),
                                    .examples = EXAMPLES,
                                    .run = note_run };

/* Its exit code; what it says on standard output and error. */
static int run_words(const struct command *command, int count, const char *const *words,
                     char out[TEXT_MAX], char err[TEXT_MAX])
{
    char copies[4][64], *argv[4];
    for (int i = 0; i < count; i++) {
        snprintf(copies[i], sizeof copies[i], "%s", words[i]);
        argv[i] = copies[i];
    }
    struct capture said, cried;
    capture_begin(&said, STDOUT_FILENO);
    capture_begin(&cried, STDERR_FILENO);
    int code = run_command("do cut", command, count, argv);
    capture_end(&cried, err, TEXT_MAX);
    capture_end(&said, out, TEXT_MAX);
    return code;
}

static void operands_are_counted(void **state)
{
    static const struct {
        int count;
        const char *words[4];
        int code;
        const char *says;
    } CASES[] = {
        { 0, { NULL }, EXIT_USAGE, "an operand is missing: give RAW [MORE]" },
        { 1, { "a" }, 42, "" },
        { 2, { "a", "b" }, 42, "" },
        { 3, { "a", "b", "c" }, EXIT_USAGE, "c: one word too many" },
        { 4, { "a", "b", "--parts", "7" }, 42, "" },
        { 2, { "a", "--parts" }, EXIT_USAGE, "--parts" }, /* nothing follows it */
        { 2, { "--parts", "7" }, EXIT_USAGE, "an operand is missing" },
        { 2, { "a", "--nothing" }, EXIT_USAGE, "--nothing" },
    };
    char out[TEXT_MAX], err[TEXT_MAX];
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        memset(&seen, 0, sizeof seen);
        int code = run_words(&CUT, CASES[i].count, CASES[i].words, out, err);
        assert_int_equal(code, CASES[i].code);
        assert_int_equal(seen.runs, code == 42);
        assert_string_equal(out, "");
        assert_non_null(strstr(err, CASES[i].says));
        if (code == EXIT_USAGE) {
            assert_memory_equal(err, "troupe do cut: ", strlen("troupe do cut: "));
            assert_non_null(strstr(err, "\nSee \"troupe do cut --help\".\n"));
        } else {
            assert_string_equal(err, "");
            assert_string_equal(seen.invoked, "do cut");
            assert_int_equal(seen.num_operands, CASES[i].count < 2 ? 1 : 2);
            assert_int_equal(seen.number, CASES[i].count == 4 ? 7 : 3);
        }
    }
    const char *const needed[] = { "a" };
    struct command strict = CUT;
    strict.options = STRICT;
    assert_int_equal(run_words(&strict, 1, needed, out, err), EXIT_USAGE);
    assert_non_null(strstr(err, "--parts"));
}

/* Help goes before what is missing. */
static void help_shows_usage_options_and_examples(void **state)
{
    static const char *const HELP[] = { "--help" };
    char out[TEXT_MAX], err[TEXT_MAX];
    (void)state;
    assert_int_equal(run_words(&CUT, 1, HELP, out, err), EXIT_DONE);
    assert_string_equal(err, "");
    assert_memory_equal(out,
                        "Usage: troupe do cut RAW [MORE] [OPTION ...]\nCut something.\n\n"
                        "Options:\n",
                        strlen("Usage: troupe do cut RAW [MORE] [OPTION ...]\nCut something.\n\n"));
    assert_non_null(strstr(out, "--parts K"));
    assert_non_null(strstr(out, "\n\nExamples:\n  troupe cut a\n  troupe cut b\n"));
    struct command bare = CUT;
    bare.operands = "";
    bare.examples = NULL;
    bare.options = STRICT;
    assert_int_equal(run_words(&bare, 1, HELP, out, err), EXIT_DONE);
    assert_non_null(strstr(out, "Usage: troupe do cut --parts K [OPTION ...]\n"));
    assert_null(strstr(out, "Examples"));
}

static void help_lists_commands_and_kinds(void **state)
{
    static const struct command KINDS[] = { { .name = "one", .summary = "Make one" },
                                            { .name = "two", .summary = "Make two" },
                                            { .name = NULL } };
    static const struct command MAKE = { .name = "make", .summary = "Make some", .kinds = KINDS };
    static const struct command HIDDEN = { .name = "hidden" };
    static const struct command *const ALL[] = { &CUT, &HIDDEN, &MAKE, NULL };
    char text[TEXT_MAX];
    FILE *file = tmpfile();
    (void)state;
    assert_non_null(file);
    help_print_all(ALL, file);
    help_print_command("make", &MAKE, file);
    rewind(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    assert_non_null(strstr(text, "Commands:\n  cut         Cut something\n"
                                 "  make        Make some\n\n"));
    assert_non_null(strstr(text, "Usage: troupe make KIND ...\nMake some.\n\nKinds:\n"
                                 "  one         Make one\n  two         Make two\n\n"));
    assert_null(strstr(text, "hidden"));
}

static void assert_failure(const char *message, int code, const struct option_spec *options,
                           const char *expected)
{
    const struct invocation invocation = { .name = "cut", .options = options };
    struct tr_error error = TR_ERROR_INIT;
    char text[TEXT_MAX];
    struct capture cried;
    error.code = code;
    snprintf(error.message, sizeof error.message, "%s", message);
    capture_begin(&cried, STDERR_FILENO);
    int exit_code = (fail)(&invocation, &error);
    capture_end(&cried, text, sizeof text);
    assert_int_equal(exit_code, EXIT_FAILED);
    assert_string_equal(text, expected);
}

/* Fields of the library become options where they stand as whole words. */
static void fields_are_called_as_options(void **state)
{
    (void)state;
    assert_failure("num_parts: 0", TR_EINVAL, OPTIONS, "troupe cut: --parts: 0\n");
    assert_failure("give num_parts, num_parts", TR_EINVAL, OPTIONS,
                   "troupe cut: give --parts, --parts\n");
    assert_failure("num_parts2 my_num_parts num_part", TR_EINVAL, OPTIONS,
                   "troupe cut: num_parts2 my_num_parts num_part\n");
    assert_failure("2num_parts num_parts", TR_EINVAL, OPTIONS, "troupe cut: 2num_parts --parts\n");
    assert_failure("\"from\" from", TR_EINVAL, OPTIONS, "troupe cut: --from from\n");
    assert_failure("num_parts", TR_EINVAL, NULL, "troupe cut: num_parts\n");
    char expected[200];
    snprintf(expected, sizeof expected, "troupe cut: %s\n", tr_strerror(TR_ENOSPC));
    assert_failure("", TR_ENOSPC, OPTIONS, expected);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operands_are_counted),
        cmocka_unit_test(help_shows_usage_options_and_examples),
        cmocka_unit_test(help_lists_commands_and_kinds),
        cmocka_unit_test(fields_are_called_as_options),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
