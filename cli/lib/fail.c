/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/lib/fail.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <troupe/log_file.h>

static bool is_of_a_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

#define OPTIONS_PREFIX "options."

/* The length of "options.FIELD", where FIELD is the option's name with '_' for '-'; 0: no. */
static size_t match_name(const char *name, const char *at)
{
    size_t prefix = strlen(OPTIONS_PREFIX), i = 0;
    if (strncmp(at, OPTIONS_PREFIX, prefix) != 0)
        return 0;
    for (at += prefix; name[i] != '\0'; i++)
        if (at[i] != (name[i] == '-' ? '_' : name[i]))
            return 0;
    return prefix + i;
}

/* The option whose field stands here as a whole word, and the bytes of that; NULL: none. */
static const struct option_spec *find_option(const struct option_spec *options, const char *at,
                                             char before, size_t *bytes)
{
    for (const struct option_spec *spec = options; spec != NULL && spec->name != NULL; spec++) {
        if (spec->field == NULL)
            *bytes = match_name(spec->name, at);
        else
            *bytes = strncmp(at, spec->field, strlen(spec->field)) == 0 ? strlen(spec->field) : 0;
        /* What stands in single quotes is a word of the user's. */
        bool quoted = before == '\'' || at[*bytes] == '\'';
        if (*bytes > 0 && !quoted && !is_of_a_word(before) && !is_of_a_word(at[*bytes]))
            return spec;
    }
    return NULL;
}

/* The user of a command knows its options. */
char *fail_text(const char *message, const struct option_spec *options)
{
    char before = ' ', *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    if (out == NULL)
        return NULL;
    for (const char *at = message; *at != '\0';) {
        size_t bytes;
        const struct option_spec *spec = find_option(options, at, before, &bytes);
        before = *at;
        if (spec == NULL) {
            fputc(*at++, out);
        } else {
            fprintf(out, "--%s", spec->name);
            at += bytes;
        }
    }
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}

int fail(const struct invocation *invocation, const struct tr_error *error)
{
    const char *message = error->message[0] != '\0' ? error->message : tr_strerror(error->code);
    char *owned = fail_text(message, invocation->options);
    const char *text = owned != NULL ? owned : message;
    fprintf(stderr, "troupe %s: %s\n", invocation->name, text);
    if (invocation->log != NULL)
        (void)tr_log_file_write(invocation->log, TR_LOG_ERROR, text, NULL);
    free(owned);
    return EXIT_FAILED;
}

int fail_usage(const struct invocation *invocation, const struct tr_error *error)
{
    fail(invocation, error);
    fprintf(stderr, "See \"troupe %s --help\".\n", invocation->name);
    return EXIT_USAGE;
}
