/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/lib/next_step.h"

#include <stdlib.h>
#include <string.h>

static bool is_plain(const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_-./,:=@%+";
    return word[0] != '\0' && strspn(word, plain) == strlen(word);
}

/* Appends the word in single quotes, in which a shell takes every byte but a quote as it is. */
static char *put_quoted(char *at, const char *word)
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

char *next_step_line(const char *const *words)
{
    size_t room = 1;
    for (const char *const *word = words; *word != NULL; word++)
        room += 4 * strlen(*word) + 3;
    char *line = malloc(room), *at = line;
    if (line == NULL)
        return NULL;
    for (const char *const *word = words; *word != NULL; word++) {
        if (at > line)
            *at++ = ' ';
        size_t length = strlen(*word);
        if (is_plain(*word)) {
            memcpy(at, *word, length);
            at += length;
        } else {
            at = put_quoted(at, *word);
        }
    }
    *at = '\0';
    return line;
}

void next_step(struct report *report, const char *const *words)
{
    char *line = next_step_line(words);
    if (line == NULL) {
        report->failed = true;
        return;
    }
    report_text(report, "next", "next", line);
    free(line);
}
