/* SPDX-License-Identifier: Apache-2.0 */
#include "partition/raw/csv.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "partition/raw/text.h"

/* A double holds every whole number up to here. */
#define WHOLE_MAX 9007199254740992.0

struct csv_columns {
    double *items;
    size_t count, room;
    uint64_t width, num_rows;
    bool whole;
};

static int add_item(struct text *text, struct csv_columns *columns, double value)
{
    if (columns->count == columns->room) {
        size_t room = columns->room == 0 ? 1024 : 2 * columns->room;
        double *grown = realloc(columns->items, room * sizeof *grown);
        if (grown == NULL)
            return text_fail(text, TR_ENOMEM, "no memory for the table");
        columns->items = grown;
        columns->room = room;
    }
    columns->whole &= value >= -WHOLE_MAX && value <= WHOLE_MAX && value == (double)(int64_t)value;
    columns->items[columns->count++] = value;
    return 0;
}

/* The delimiter, if one stands here. */
static void skip_delimiter(struct text *text, char delimiter)
{
    text_skip_blanks(text);
    int c = text_peek(text);
    if (c != TEXT_END && (delimiter != '\0' ? c == delimiter : c == ',' || c == ';')) {
        text_skip(text);
        text_skip_blanks(text);
    }
}

static int parse_row(struct text *text, char delimiter, struct csv_columns *columns)
{
    uint64_t width = 0;
    int c;
    while ((c = text_peek(text)) != '\n' && c != TEXT_END) {
        double value;
        int rv = text_float(text, &value);
        if (rv == 0)
            rv = add_item(text, columns, value);
        if (rv != 0)
            return rv;
        width++;
        skip_delimiter(text, delimiter);
    }
    if (columns->num_rows == 0)
        columns->width = width;
    if (width != columns->width)
        return text_fail(text, TR_EFORMAT, "has %" PRIu64 " columns, the first row has %" PRIu64,
                         width, columns->width);
    columns->num_rows++;
    return text_end_line(text);
}

static void *convert(const struct csv_columns *columns)
{
    size_t size = columns->whole ? sizeof(int64_t) : sizeof(float);
    void *rows = malloc(columns->count * size + 1);
    for (size_t i = 0; rows != NULL && i < columns->count; i++) {
        if (columns->whole)
            ((int64_t *)rows)[i] = (int64_t)columns->items[i];
        else
            ((float *)rows)[i] = (float)columns->items[i];
    }
    return rows;
}

int csv_parse(const char *path, struct files *files, const struct cancel *cancel, char delimiter,
              struct npy_header *header, void **rows, uint64_t *header_line, struct error *error)
{
    struct csv_columns columns = { .whole = true };
    struct text text;
    int rv = text_open(&text, files, path, cancel, error);
    if (rv != 0)
        return rv;
    text.delimiter = delimiter;
    text_skip_comments(&text, true);
    int c = text_peek(&text);
    bool headed = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '"';
    *header_line = headed ? text.line : 0;
    if (headed)
        text_skip_line(&text);
    text_skip_comments(&text, true);
    while (rv == 0 && text_peek(&text) != TEXT_END) {
        rv = parse_row(&text, delimiter, &columns);
        text_skip_comments(&text, true);
    }
    rv = text.rv;
    text_close(&text);
    if (rv == 0 && (*rows = convert(&columns)) == NULL)
        rv = error_set(error, TR_ENOMEM, "%s: no memory for the table", path);
    free(columns.items);
    *header = (struct npy_header){
        .kind = columns.whole ? 'i' : 'f',
        .item_bytes = columns.whole ? 8 : 4,
        .ndim = columns.width > 1 ? 2 : 1,
        .shape = { columns.num_rows, columns.width },
        .num_items = columns.count,
    };
    return rv;
}
