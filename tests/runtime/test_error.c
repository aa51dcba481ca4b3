/* SPDX-License-Identifier: Apache-2.0 */
/* A sentence is printable UTF-8, whatever the names and words that it quotes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
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

/* Where a sentence is cut it does not end in half a character. */
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_steers_a_terminal_is_not_shown),
        cmocka_unit_test(a_long_sentence_is_cut_at_a_character),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
