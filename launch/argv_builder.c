/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h" /* vasprintf */

#include "launch/argv_builder.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Takes the word over. */
static void push(struct argv_builder *words, char *word)
{
    if (words->count + 2 > words->room) {
        size_t room = words->room == 0 ? 16 : 2 * words->room;
        char **list = room > ARGV_WORDS_MAX ? NULL : realloc(words->list, room * sizeof *list);
        if (list == NULL) {
            words->failed = true;
            free(word);
            return;
        }
        words->list = list;
        words->room = room;
    }
    words->list[words->count++] = word;
    words->list[words->count] = NULL;
}

void argv_builder_add(struct argv_builder *words, const char *word)
{
    char *copy = strdup(word);
    if (copy == NULL)
        words->failed = true;
    else
        push(words, copy);
}

void argv_builder_addf(struct argv_builder *words, const char *format, ...)
{
    char *word;
    va_list args;
    va_start(args, format);
    int length = vasprintf(&word, format, args);
    va_end(args);
    if (length < 0)
        words->failed = true;
    else
        push(words, word);
}

void argv_builder_add_all(struct argv_builder *words, const struct argv_builder *more)
{
    words->failed = words->failed || more->failed;
    for (size_t i = 0; i < more->count; i++)
        argv_builder_add(words, more->list[i]);
}

void argv_builder_fini(struct argv_builder *words)
{
    for (size_t i = 0; i < words->count; i++)
        free(words->list[i]);
    free(words->list);
    *words = (struct argv_builder){ 0 };
}

bool argv_builder_failed(const struct argv_builder *words)
{
    return words->failed;
}

/* Within single quotes nothing is special but the quote, which is put between them by '\''. */
static char *quote_one(char *at, const char *word)
{
    *at++ = '\'';
    for (; *word != '\0'; word++) {
        if (*word == '\'') {
            memcpy(at, "'\\''", 4);
            at += 4;
        } else {
            *at++ = *word;
        }
    }
    *at++ = '\'';
    return at;
}

static bool is_plain(const char *word)
{
    static const char PLAIN[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "-_./:,@%+=";
    return *word != '\0' && strspn(word, PLAIN) == strlen(word);
}

char *argv_builder_quote(const struct argv_builder *words)
{
    size_t most = 1;
    for (size_t i = 0; i < words->count; i++)
        most += 4 * strlen(words->list[i]) + 3;
    char *text = malloc(most), *at = text;
    for (size_t i = 0; text != NULL && i < words->count; i++) {
        if (i > 0)
            *at++ = ' ';
        if (is_plain(words->list[i]))
            at = stpcpy(at, words->list[i]);
        else
            at = quote_one(at, words->list[i]);
    }
    if (text != NULL)
        *at = '\0';
    return text;
}
