/* SPDX-License-Identifier: Apache-2.0 */
/* A message is printable UTF-8, whatever the names and words that it quotes. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/base/error.h"

static void what_steers_a_terminal_is_not_shown(void **state)
{
    static const struct {
        const char *word, *shown;
    } words[] = {
        { "plain", "plain" },
        { "gr\xc3\xa4ph \xe2\x82\xac \xf0\x9f\x98\x80",
          "gr\xc3\xa4ph \xe2\x82\xac \xf0\x9f\x98\x80" },
        { "\x1b[2Ja\nb\x7f", "?[2Ja?b?" },
        { "\x97\xff", "??" },
        { "\xc2\x9b"
          "1m",
          "??1m" },           /* a control character in two bytes */
        { "\xc0\xaf", "??" }, /* longer than it need be */
        { "\xe0\x80\xaf", "???" },
        { "\xed\xa0\x80", "???" },      /* half of a pair */
        { "\xf4\x90\x80\x80", "????" }, /* above the last character */
        { "\xf5\x80\x80\x80", "????" },
        { "cut \xe2\x82", "cut ??" },
        /* Characters that turn the direction of writing, and their neighbours. */
        { "exe.\xe2\x80\xaegpj", "exe.???gpj" },
        { "\xe2\x80\x8e\xe2\x80\x8f\xe2\x80\xa8", "?????????" },
        { "\xe2\x81\xa6\xe2\x81\xa9\xd8\x9c\xef\xbb\xbf", "???????????" },
        { "\xe2\x80\x8d\xe2\x80\xa7\xe2\x80\xaf", "\xe2\x80\x8d\xe2\x80\xa7\xe2\x80\xaf" },
        { "\xe2\x81\xa5\xe2\x81\xaa\xd8\x9b\xef\xbb\xbe",
          "\xe2\x81\xa5\xe2\x81\xaa\xd8\x9b\xef\xbb\xbe" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        struct error error = { 0 };
        assert_int_equal(error_set(&error, TR_EFORMAT, "%s", words[i].word), TR_EFORMAT);
        assert_string_equal(error.text, words[i].shown);
        error_prefix(&error, "%s", words[i].word);
        assert_memory_equal(error.text, words[i].shown, strlen(words[i].shown));
        error_set_errno(&error, 2, "%s", words[i].word);
        assert_memory_equal(error.text, words[i].shown, strlen(words[i].shown));
    }
}

/* Where a message is cut it does not end in half a character. */
static void a_long_sentence_is_cut_at_a_character(void **state)
{
    char word[2 * ERROR_TEXT_MAX];
    struct error error;
    (void)state;
    for (size_t i = 0; i + 2 < sizeof word; i += 2)
        memcpy(word + i, "\xc3\xa4", 3);
    error_set(&error, TR_EFORMAT, "%s", word);
    assert_int_equal(strlen(error.text), ERROR_TEXT_MAX - 1);
    assert_int_equal(error.text[ERROR_TEXT_MAX - 2], '?');
}

/* The first and the last character of each length, and their neighbours that are none. */
static void characters_end_at_their_bounds(void **state)
{
    static const struct {
        const char *word, *shown;
    } words[] = {
        { "\x1f\x20\x7e\x7f", "?\x20\x7e?" },
        { "\x80", "?" },
        { "\xc1\xbf", "??" },
        { "\xc2\x9f", "??" },
        { "\xc2\xa0", "\xc2\xa0" },
        { "\xc3\x80", "\xc3\x80" },
        { "\xdf\xbf", "\xdf\xbf" },
        { "\xdf\x7e", "?~" },
        { "\xe0\x9f\xbf", "???" },
        { "\xe0\xa0\x80", "\xe0\xa0\x80" },
        { "\xe1\x80\x80", "\xe1\x80\x80" },
        { "\xe1\x80z", "??z" },
        { "\xed\x9f\xbf", "\xed\x9f\xbf" },
        { "\xee\x80\x80", "\xee\x80\x80" },
        { "\xef\xbf\xbf", "\xef\xbf\xbf" },
        { "\xf0\x8f\xbf\xbf", "????" },
        { "\xf0\x90\x80\x80", "\xf0\x90\x80\x80" },
        { "\xf1\x80\x80\x80", "\xf1\x80\x80\x80" },
        { "\xf1\x80\x80z", "???z" },
        { "\xf4\x8f\xbf\xbf", "\xf4\x8f\xbf\xbf" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        struct error error = { 0 };
        error_set(&error, TR_EFORMAT, "%s", words[i].word);
        assert_string_equal(error.text, words[i].shown);
    }
}

static void each_code_has_its_text_and_its_name(void **state)
{
    (void)state;
#define X(name, number, text)                     \
    assert_int_equal(name, number);               \
    assert_string_equal(tr_strerror(name), text); \
    assert_string_equal(tr_error_name(name), #name);
    TR_ERRORS(X)
#undef X
    assert_string_equal(tr_strerror(0), "success");
    assert_string_equal(tr_strerror(5), "success");
    assert_string_equal(tr_strerror(-1000), "unknown error");
    assert_string_equal(tr_error_name(0), "TR_OK");
    assert_string_equal(tr_error_name(5), "TR_OK");
    assert_string_equal(tr_error_name(-1000), "TR_E?");
}

static void an_errno_has_its_code(void **state)
{
    static const struct {
        int errno_value, code;
        const char *remedy;
    } cases[] = {
        { ENOMEM, TR_ENOMEM, "" },
        { ENOENT, TR_ENOENT, "" },
        { ENOTDIR, TR_ENOENT, "" },
        { EEXIST, TR_EEXIST, "" },
        { EACCES, TR_EPERM, "" },
        { ENOTEMPTY, TR_EEXIST, "" },
        { EPERM, TR_EPERM, "" },
        { EROFS, TR_EPERM, "" },
        { ENOSPC, TR_ENOSPC, "" },
        { EDQUOT, TR_ENOSPC, "" },
        { EINVAL, TR_EINVAL, "" },
        { ECONNREFUSED, TR_EIO, "" },
        { EIO, TR_EIO, "" },
        { EFBIG, TR_ETOOBIG,
          "; raise the limit of a file's size (ulimit -f), or use a file system that holds larger "
          "files" },
        { EMFILE, TR_EIO, "; raise this process's limit of open files (ulimit -n)" },
        { ENFILE, TR_EIO, "; raise the system's limit of open files (sysctl fs.file-max)" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct error error = { .process_1 = 7 };
        char text[256];
        assert_int_equal(error_from_errno(cases[i].errno_value), cases[i].code);
        assert_int_equal(error_set_errno(NULL, cases[i].errno_value, "x"), cases[i].code);
        assert_int_equal(error_set_errno(&error, cases[i].errno_value, "file %d", 3),
                         cases[i].code);
        snprintf(text, sizeof text, "file 3: %s%s", strerror(cases[i].errno_value),
                 cases[i].remedy);
        assert_string_equal(error.text, text);
        assert_int_equal(error.code, cases[i].code);
        assert_int_equal(error.system_error, cases[i].errno_value);
        assert_int_equal(error.process_1, 0);
    }
}

/* A later error leaves nothing of an earlier one; a prefix leaves all but the text. */
static void an_error_says_what_failed_last(void **state)
{
    struct error error;
    char text[ERROR_TEXT_MAX];
    (void)state;
    error_set_errno(&error, ENOENT, "first");
    error.process_1 = 7;
    assert_int_equal(error_prefix(&error, "part %d", 2), TR_ENOENT);
    snprintf(text, sizeof text, "part 2: first: %s", strerror(ENOENT));
    assert_string_equal(error.text, text);
    assert_int_equal(error.code, TR_ENOENT);
    assert_int_equal(error.system_error, ENOENT);
    assert_int_equal(error.process_1, 7);
    assert_int_equal(error_set(&error, TR_ERANGE, "second"), TR_ERANGE);
    assert_string_equal(error.text, "second");
    assert_int_equal(error.code, TR_ERANGE);
    assert_int_equal(error.system_error, 0);
    assert_int_equal(error.process_1, 0);
    assert_int_equal(error_set(NULL, TR_ERANGE, "second"), TR_ERANGE);
    assert_int_equal(error_prefix(NULL, "first"), TR_EINTERNAL);
}

/* The words that are put before a message may leave no room for it, or for a part of it alone. */
static void what_does_not_fit_is_cut_at_the_end(void **state)
{
    char word[ERROR_TEXT_MAX + 8];
    struct error error;
    (void)state;
    memset(word, 'w', sizeof word);
    for (int spare = -1; spare < 5; spare++) {
        char expected[ERROR_TEXT_MAX + 16];
        word[ERROR_TEXT_MAX - 1 - spare] = '\0';
        snprintf(expected, sizeof expected, "%s: ab", word);
        expected[ERROR_TEXT_MAX - 1] = '\0';
        error_set(&error, TR_EFORMAT, "ab");
        error_prefix(&error, "%s", word);
        assert_string_equal(error.text, expected);
        error_set_errno(&error, ENOENT, "%s", word);
        assert_memory_equal(error.text, expected, ERROR_TEXT_MAX - (spare > 2 ? 1 + spare - 2 : 1));
        assert_int_equal(strlen(error.text), ERROR_TEXT_MAX - 1);
        word[ERROR_TEXT_MAX - 1 - spare] = 'w';
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_steers_a_terminal_is_not_shown),
        cmocka_unit_test(a_long_sentence_is_cut_at_a_character),
        cmocka_unit_test(characters_end_at_their_bounds),
        cmocka_unit_test(each_code_has_its_text_and_its_name),
        cmocka_unit_test(an_errno_has_its_code),
        cmocka_unit_test(an_error_says_what_failed_last),
        cmocka_unit_test(what_does_not_fit_is_cut_at_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
