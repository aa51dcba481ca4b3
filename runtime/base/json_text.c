/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/base/json_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bytes of a key that a message shows. */
#define KEY_SHOWN 60

/* The key whose closing quotation mark stands before text[end], as it is written. */
static int find_key(const char *text, size_t end, const char **key)
{
    size_t close = end - 1, begin = close;
    while (begin > 0) {
        size_t slashes = 0;
        while (slashes < begin - 1 && text[begin - 2 - slashes] == '\\')
            slashes++;
        if (text[begin - 1] == '"' && slashes % 2 == 0)
            break;
        begin--;
    }
    *key = text + begin;
    return close - begin < KEY_SHOWN ? (int)(close - begin) : KEY_SHOWN;
}

bool json_fault_is_syntax(const json_error_t *why)
{
    const enum json_error_code code = json_error_code(why);
    return code == json_error_invalid_syntax || code == json_error_premature_end_of_input ||
           code == json_error_end_of_input_expected;
}

const char *json_fault_text(const json_error_t *why, const char *text, size_t size,
                            char words[JSON_FAULT_MAX])
{
    const size_t end = why->position > 0 && (size_t)why->position <= size ? (size_t)why->position
                                                                          : 0;
    const char *key;
    switch (json_error_code(why)) {
    case json_error_duplicate_key:
        if (end > 1 && text[end - 1] == '"') {
            int length = find_key(text, end, &key);
            snprintf(words, JSON_FAULT_MAX, "the key '%.*s' is there twice", length, key);
            return words;
        }
        return "a key is there twice";
    case json_error_null_character:
    case json_error_null_byte_in_key:
        return "\\u0000 stands for the character NUL, which no text may have";
    case json_error_numeric_overflow:
        return "a number is too large: whole ones are below 2 to the 63rd, others below 1.8e308";
    case json_error_stack_overflow:
        return "lists and objects lie too deep in each other";
    case json_error_end_of_input_expected:
        return "something stands behind the end of the value";
    case json_error_invalid_utf8:
        return "the text has bytes that are not UTF-8 (iconv -f LATIN1 -t UTF-8 converts them)";
    default:
        /* What the grammar expects, and where it is not. */
        snprintf(words, JSON_FAULT_MAX, "%.*s", JSON_FAULT_MAX - 1, why->text);
        return words;
    }
}

int json_read_text(const char *place, const char *text, size_t size, size_t flags, json_t **root,
                   struct error *error)
{
    json_error_t why;
    *root = json_loadb(text, size, flags, &why);
    if (*root != NULL)
        return 0;
    /* Each mistake in a text has an error text. */
    if (why.text[0] == '\0')
        return error_set(error, TR_ENOMEM, "%s: no memory to read it", place);
    char words[JSON_FAULT_MAX];
    return error_set(error, TR_EFORMAT, "%s: line %d, column %d: %s", place, why.line, why.column,
                     json_fault_text(&why, text, size, words));
}

char *json_write_text(const json_t *root, size_t flags)
{
    /* The text is measured first: into a buffer that is large enough jansson writes without
     * allocating, so no key is left out. */
    size_t size = root == NULL ? 0 : json_dumpb(root, NULL, 0, flags);
    char *text = size == 0 ? NULL : malloc(size + 1);
    if (text != NULL && json_dumpb(root, text, size, flags) != size) {
        free(text);
        return NULL;
    }
    if (text != NULL)
        text[size] = '\0';
    return text;
}
