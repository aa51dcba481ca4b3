/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/lib/fail.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static bool is_of_a_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* The option whose field stands here as a whole word; NULL: none. */
static const struct option_spec *find_option(const struct option_spec *options, const char *at,
                                             char before)
{
    for (const struct option_spec *spec = options; spec != NULL && spec->name != NULL; spec++) {
        size_t length = spec->field != NULL ? strlen(spec->field) : 0;
        if (length > 0 && !is_of_a_word(before) && strncmp(at, spec->field, length) == 0 &&
            !is_of_a_word(at[length]))
            return spec;
    }
    return NULL;
}

/* The user of a command knows its options. */
void fail_print(const char *message, const struct option_spec *options)
{
    char before = ' ';
    for (const char *at = message; *at != '\0';) {
        const struct option_spec *spec = find_option(options, at, before);
        before = *at;
        if (spec == NULL) {
            fputc(*at++, stderr);
        } else {
            fprintf(stderr, "--%s", spec->name);
            at += strlen(spec->field);
        }
    }
}

int fail(const struct invocation *invocation, const struct tr_error *error)
{
    fprintf(stderr, "troupe %s: ", invocation->name);
    fail_print(error->message[0] != '\0' ? error->message : tr_strerror(error->code),
               invocation->options);
    fputc('\n', stderr);
    return EXIT_FAILED;
}

int fail_usage(const struct invocation *invocation, const struct tr_error *error)
{
    fail(invocation, error);
    fprintf(stderr, "See \"troupe %s --help\".\n", invocation->name);
    return EXIT_USAGE;
}
