/* SPDX-License-Identifier: Apache-2.0 */
#include "partition/table/value_lists.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "partition/table/node_values.h"
#include "runtime/base/printable.h"

/* Values that are looked at; where parts return, they do so among these. */
#define LOOKED_AT_MAX 4096u

struct value_part {
    const char *at;
    uint32_t length, value;
    bool whole; /* the value has no other part */
};

struct value_parts {
    struct value_part *parts;
    size_t count, room;
};

static int parts_add(struct value_parts *parts, struct value_part part)
{
    for (; part.length > 0 && *part.at == ' '; part.length--)
        part.at++;
    while (part.length > 0 && part.at[part.length - 1] == ' ')
        part.length--;
    if (part.length == 0)
        return 0;
    if (parts->count == parts->room) {
        const size_t room = parts->room == 0 ? 64 : 2 * parts->room;
        struct value_part *grown = realloc(parts->parts, room * sizeof *grown);
        if (grown == NULL)
            return TR_ENOMEM;
        parts->parts = grown;
        parts->room = room;
    }
    parts->parts[parts->count++] = part;
    return 0;
}

static int parts_split(struct value_parts *parts, struct id_text text, uint32_t value,
                       char separator)
{
    const char *at = text.at, *end = text.at + text.length, *stop;
    const bool whole = memchr(at, separator, text.length) == NULL;
    int rv = 0;
    while (rv == 0 && (stop = memchr(at, separator, (size_t)(end - at))) != NULL) {
        rv = parts_add(parts, (struct value_part){ at, (uint32_t)(stop - at), value, whole });
        at = stop + 1;
    }
    return rv != 0
               ? rv
               : parts_add(parts, (struct value_part){ at, (uint32_t)(end - at), value, whole });
}

static int compare_parts(const void *a, const void *b)
{
    const struct value_part *one = a, *other = b;
    const uint32_t shorter = one->length < other->length ? one->length : other->length;
    int rv = memcmp(one->at, other->at, shorter);
    if (rv == 0)
        rv = (one->length > other->length) - (one->length < other->length);
    return rv != 0 ? rv : (one->value > other->value) - (one->value < other->value);
}

/* The least value with several parts of which another value has one; UINT32_MAX: there is none.
 * whole: the other has no part beside it. */
static uint32_t find_shared(const struct value_parts *parts, bool whole)
{
    uint32_t least = UINT32_MAX;
    for (size_t begin = 0, end; begin < parts->count; begin = end) {
        const struct value_part *first = &parts->parts[begin];
        uint32_t several = UINT32_MAX;
        bool shared = false, alone = false;
        for (end = begin; end < parts->count; end++) {
            const struct value_part *part = &parts->parts[end];
            if (part->length != first->length || memcmp(part->at, first->at, first->length) != 0)
                break;
            shared = shared || part->value != first->value;
            alone = alone || part->whole;
            if (!part->whole && several == UINT32_MAX)
                several = part->value;
        }
        if (shared && (alone || !whole) && several < least)
            least = several;
    }
    return least;
}

int value_lists_find(const struct table_nodes *nodes, const struct node_column *column,
                     char *separator, char example[TABLE_DOUBTED_MAX])
{
    /* A comma also stands between a town and its country: there a value of one part is needed. */
    static const char SEPARATORS[] = ";|,";
    const uint32_t count = column->num_values < LOOKED_AT_MAX ? column->num_values : LOOKED_AT_MAX;
    *separator = '\0';
    for (const char *tried = SEPARATORS; *tried != '\0' && *separator == '\0'; tried++) {
        struct value_parts parts = { 0 };
        int rv = 0;
        for (uint32_t v = 0; rv == 0 && v < count; v++)
            rv = parts_split(&parts, node_values_text(nodes, column, v), v, *tried);
        if (rv == 0 && parts.count > count)
            qsort(parts.parts, parts.count, sizeof *parts.parts, compare_parts);
        const uint32_t found = rv == 0 && parts.count > count ? find_shared(&parts, *tried == ',')
                                                              : UINT32_MAX;
        free(parts.parts);
        if (rv != 0)
            return rv;
        if (found == UINT32_MAX)
            continue;
        const struct id_text text = node_values_text(nodes, column, found);
        *separator = *tried;
        snprintf(example, TABLE_DOUBTED_MAX, "%.*s", (int)text.length, text.at);
        make_printable(example);
    }
    return 0;
}
