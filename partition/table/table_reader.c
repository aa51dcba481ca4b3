/* SPDX-License-Identifier: Apache-2.0 */
#include "partition/table/table_reader.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "partition/table/plain_rows.h"
#include "partition/table/table_values.h"
#include "runtime/base/json_text.h"

/* Lines behind the first one that are looked at, to know whether that is a header. */
#define LINES_BELOW 16u
/* A number of JSON as text: a sign, 20 digits, a point and an exponent fit. */
#define JSON_NUMBER_MAX 40u

/* What to do with an object that is no row. */
#define JSON_OF_NODES                                                                              \
    "a table has an object a line. Where its keys are nodes and its values lists of features "     \
    "that "                                                                                        \
    "they have: python3 -c 'import json, sys; rows = json.load(sys.stdin); [print(0, "             \
    "*(f\"{i}:1\" "                                                                                \
    "for i in sorted(set(rows[n])))) for n in sorted(rows, key=int)]' <OBJECT >features.svm, for " \
    "\"node_features\" with \"feature_base\" 0"

static bool is_blank(char c, char delimiter)
{
    return c == ' ' || c == '\r' || (c == '\t' && delimiter != '\t');
}

int table_reader_fail(struct table_reader *reader, int code, const char *format, ...)
{
    char message[ERROR_TEXT_MAX / 2];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    /* The text stands behind the row. */
    reader->text.line = reader->line;
    reader->text.ended = false;
    return text_fail(&reader->text, code, "%s", message);
}

const char *table_reader_show_column(const struct table_reader *reader, uint32_t column,
                                     char text[COLUMN_SHOWN])
{
    const bool named = reader->json || reader->header_line != 0;
    return column_show(reader->json, column, named ? reader->names.names[column - 1] : NULL, text);
}

/* *copy has `room` bytes at least. */
static int reader_make_room(struct table_reader *reader, char **copy, size_t *copy_room,
                            size_t room)
{
    if (room <= *copy_room)
        return 0;
    char *grown = realloc(*copy, room + room / 2);
    if (grown == NULL)
        return table_reader_fail(reader, TR_ENOMEM, "no memory for it");
    *copy = grown;
    *copy_room = room + room / 2;
    return 0;
}

/* What goes on from one line of a row to the next. */
struct quoting {
    bool open;   /* a field in quotation marks is not closed */
    bool closed; /* the last character may have closed one, or is the first of two */
    bool begins; /* a field begins here */
};

static void scan_quotes(struct quoting *quoting, const char *line, size_t length, char delimiter)
{
    for (size_t i = 0; i < length; i++) {
        char c = line[i];
        if (quoting->open) {
            quoting->closed = c == '"';
            quoting->open = c != '"';
        } else if (quoting->closed && c == '"') {
            quoting->open = true;
            quoting->closed = false;
        } else if (c == delimiter || (delimiter == '\0' && is_blank(c, delimiter))) {
            *quoting = (struct quoting){ .begins = true };
        } else if (quoting->begins && c == '"') {
            *quoting = (struct quoting){ .open = true };
        } else if (!is_blank(c, delimiter)) {
            *quoting = (struct quoting){ .open = false };
        }
    }
}

/* The line that stands here, without its end, which is skipped with the next one. */
static int take_line(struct table_reader *reader, const char **line, size_t *length)
{
    struct text *text = &reader->text;
    int rv = text_look_line(text, line, length);
    if (rv != 0)
        return rv;
    text->at += *length;
    return 0;
}

/* Appends lines to a row while a quotation mark is open in it. */
static int join_lines(struct table_reader *reader, const char **line, size_t *length)
{
    struct text *text = &reader->text;
    struct quoting quoting = { .begins = true };
    scan_quotes(&quoting, *line, *length, reader->names.delimiter);
    if (!quoting.open)
        return 0;
    size_t used = *length;
    int rv = reader_make_room(reader, &reader->joined, &reader->joined_room, used + 1);
    if (rv != 0)
        return rv;
    memcpy(reader->joined, *line, used);
    while (quoting.open) {
        const char *more;
        size_t bytes;
        if (text_peek(text) == TEXT_END)
            return text->rv != 0
                       ? text->rv
                       : table_reader_fail(reader, TR_EFORMAT, "a quotation mark is not closed");
        text_skip(text); /* the line end before it */
        rv = take_line(reader, &more, &bytes);
        if (rv == 0 && used + 1 + bytes > TEXT_LINE_MAX)
            rv = table_reader_fail(reader, TR_EFORMAT,
                                   "the row goes on for more than %zu bytes in quotation marks; "
                                   "is one not closed?",
                                   TEXT_LINE_MAX);
        if (rv == 0)
            rv = reader_make_room(reader, &reader->joined, &reader->joined_room, used + bytes + 2);
        if (rv != 0)
            return rv;
        reader->joined[used++] = '\n';
        memcpy(reader->joined + used, more, bytes);
        used += bytes;
        scan_quotes(&quoting, more, bytes, reader->names.delimiter);
    }
    *line = reader->joined;
    *length = used;
    return 0;
}

static int fail_count(struct table_reader *reader, uint32_t count)
{
    const bool more = count > reader->names.count;
    count -= more;
    return table_reader_fail(reader, TR_EFORMAT, "has %s%u column%s, the first line has %u",
                             more ? "more than " : "", count, count == 1 ? "" : "s",
                             reader->names.count);
}

/* Copies a field in quotation marks, which begins at line[at]; returns where it ends. */
static size_t row_unquote(const char *line, size_t length, size_t at, char **out)
{
    for (at++; at < length; at++) {
        if (line[at] == '"' && (at + 1 == length || line[at + 1] != '"'))
            break;
        at += line[at] == '"';
        *(*out)++ = line[at];
    }
    return at + 1;
}

static int split_row(struct table_reader *reader, const char *line, size_t length)
{
    const char delimiter = reader->names.delimiter;
    const bool quotes = memchr(line, '"', length) != NULL;
    const uint32_t columns = reader->names.count;
    char shown[COLUMN_SHOWN];
    uint32_t count = 0;
    size_t at = 0;
    char *out = NULL;
    if (quotes) {
        int rv = join_lines(reader, &line, &length);
        if (rv == 0)
            rv = reader_make_room(reader, &reader->copy, &reader->copy_room, length);
        if (rv != 0)
            return rv;
        out = reader->copy;
    }
    for (bool more = true; more; count++) {
        while (at < length && is_blank(line[at], delimiter))
            at++;
        /* Blanks at the end of a line that blanks separate stand before no field. */
        if (delimiter == '\0' && at == length && count > 0)
            break;
        if (count == columns)
            return fail_count(reader, count + 1);
        struct table_field *field = &reader->fields[count];
        if (quotes && at < length && line[at] == '"') {
            field->at = out;
            at = row_unquote(line, length, at, &out);
            field->length = (uint32_t)(out - field->at);
            while (at < length && is_blank(line[at], delimiter) && delimiter != '\0')
                at++;
            if (at < length && line[at] != delimiter && !is_blank(line[at], delimiter))
                return table_reader_fail(reader, TR_EFORMAT, "%s goes on behind its quotation mark",
                                         table_reader_show_column(reader, count + 1, shown));
        } else {
            size_t begin = at, end;
            while (at < length &&
                   (delimiter != '\0' ? line[at] != delimiter : !is_blank(line[at], delimiter)))
                at++;
            for (end = at; end > begin && is_blank(line[end - 1], delimiter);)
                end--;
            *field = (struct table_field){ line + begin, (uint32_t)(end - begin) };
        }
        more = at < length;
        at += more;
    }
    return count == columns ? 0 : fail_count(reader, count);
}

/* Whether it is an array of numbers alone. */
static bool is_number_list(const json_t *value)
{
    bool numbers = json_is_array(value);
    for (size_t i = 0; numbers && i < json_array_size(value); i++)
        numbers = json_is_number(json_array_get(value, i));
    return numbers;
}

/* Bytes that the values of an object take as texts, at most. */
static size_t json_room(const struct table_reader *reader)
{
    size_t room = (size_t)reader->names.count * JSON_NUMBER_MAX;
    for (uint32_t i = 0; i < reader->names.count; i++) {
        const json_t *value = json_object_get(reader->object, reader->names.names[i]);
        if (is_number_list(value))
            room += json_array_size(value) * JSON_NUMBER_MAX;
    }
    return room;
}

/* A value of JSON as a field. Numbers are written to `out`. */
static int json_field_of(struct table_reader *reader, uint32_t column, json_t *value, char **out)
{
    struct table_field *field = &reader->fields[column];
    *field = (struct table_field){ "", 0 };
    if (value == NULL || json_is_null(value))
        return 0;
    if (json_is_string(value)) {
        *field = (struct table_field){ json_string_value(value),
                                       (uint32_t)json_string_length(value) };
        return 0;
    }
    const bool list = reader->lists && is_number_list(value);
    if (!json_is_number(value) && !json_is_boolean(value) && !list)
        return table_reader_fail(
            reader, TR_EFORMAT,
            "'%.40s' is a list or an object, and no list of numbers; give each "
            "of its values a key of its own",
            reader->names.names[column]);
    size_t room = JSON_NUMBER_MAX + (list ? json_array_size(value) * JSON_NUMBER_MAX : 0);
    /* jansson writes a point whatever the locale. */
    size_t length = json_dumpb(value, *out, room, JSON_ENCODE_ANY | JSON_COMPACT);
    *field = (struct table_field){ *out, (uint32_t)length };
    *out += room;
    return 0;
}

static int load_object(struct table_reader *reader, const char *line, size_t length)
{
    json_error_t why;
    json_decref(reader->object);
    json_t *object = reader->object = json_loadb(line, length, JSON_REJECT_DUPLICATES, &why);
    if (object == NULL && json_error_code(&why) == json_error_out_of_memory)
        return table_reader_fail(reader, TR_ENOMEM, "no memory for it");
    char words[JSON_FAULT_MAX];
    if (object != NULL)
        return json_is_object(object)
                   ? 0
                   : table_reader_fail(reader, TR_EFORMAT,
                                       "is not a JSON object: it is another value; each line has a "
                                       "whole one");
    if (json_fault_is_syntax(&why))
        return table_reader_fail(reader, TR_EFORMAT,
                                 "is not a JSON object: %.100s; each line has a whole one",
                                 json_fault_text(&why, line, length, words));
    return table_reader_fail(reader, TR_EFORMAT, "column %d: %.120s; correct it", why.column,
                             json_fault_text(&why, line, length, words));
}

static int split_object(struct table_reader *reader, const char *line, size_t length)
{
    int rv = load_object(reader, line, length);
    if (rv == 0)
        rv = reader_make_room(reader, &reader->copy, &reader->copy_room, json_room(reader));
    char *out = reader->copy;
    size_t known = 0;
    for (uint32_t i = 0; rv == 0 && i < reader->names.count; i++) {
        json_t *value = json_object_get(reader->object, reader->names.names[i]);
        known += value != NULL;
        rv = json_field_of(reader, i, value, &out);
    }
    if (rv == 0 && known != json_object_size(reader->object))
        rv = table_reader_fail(reader, TR_EFORMAT, "has a key that the first line lacks");
    return rv;
}

/* What other programs write as one object: nodes and links of NetworkX and D3; for each node a list
 * of the features that it has. */
static int refuse_whole_graph(struct table_reader *reader)
{
    static const char *const LISTS[] = { "links", "edges", "nodes" };
    json_t *object = reader->object;
    for (size_t i = 0; i < sizeof LISTS / sizeof *LISTS; i++) {
        const json_t *list = json_object_get(object, LISTS[i]);
        if (json_is_array(list) && !json_is_number(json_array_get(list, 0)))
            return table_reader_fail(
                reader, TR_EUNSUPPORTED,
                "is one JSON object with the list '%s'; write an object of that "
                "list a line instead: python3 -c \"import json, sys; "
                "[print(json.dumps(row)) for row in json.load(sys.stdin)"
                "['%s']]\" <GRAPH >LINES",
                LISTS[i], LISTS[i]);
    }
    void *first = json_object_iter(object);
    const char *key = first != NULL ? json_object_iter_key(first) : "";
    if (first == NULL || !json_is_array(json_object_iter_value(first)) || key[0] == '\0' ||
        strspn(key, "0123456789") != strlen(key))
        return 0;
    return table_reader_fail(reader, TR_EUNSUPPORTED, "is one JSON object; %s", JSON_OF_NODES);
}

/* The keys of the first object, as names that column_names_fini frees. */
static int take_keys(struct table_reader *reader, const char *line, size_t length)
{
    struct column_names *names = &reader->names;
    int rv = load_object(reader, line, length);
    if (rv != 0)
        return rv;
    rv = refuse_whole_graph(reader);
    if (rv != 0)
        return rv;
    size_t count = json_object_size(reader->object);
    if (count > COLUMNS_MAX)
        return table_reader_fail(reader, TR_ETOOBIG, "has more than %u keys", COLUMNS_MAX);
    /* No key is longer than the line, and each has an end in place of its quotation marks. */
    names->arena = malloc(length + 1);
    names->names = malloc((count + 1) * sizeof *names->names);
    if (names->arena == NULL || names->names == NULL)
        return table_reader_fail(reader, TR_ENOMEM, "no memory for its keys");
    char *out = names->arena;
    for (void *i = json_object_iter(reader->object); i != NULL;
         i = json_object_iter_next(reader->object, i)) {
        const char *key = json_object_iter_key(i);
        names->names[names->count++] = out;
        memcpy(out, key, strlen(key) + 1);
        out += strlen(key) + 1;
    }
    return 0;
}

/* Skips what stands before the first line, and keeps the text behind '#' of the last comment in
 * reader->copy. *length: its bytes; 0: there is none. */
static int skip_comments(struct table_reader *reader, size_t *length)
{
    struct text *text = &reader->text;
    *length = 0;
    for (int c; (c = text_peek(text)) != TEXT_END;) {
        if (c == '#') {
            const char *line;
            reader->line = reader->comment_line = text->line;
            int rv = text_look_line(text, &line, length);
            if (rv == 0)
                rv = reader_make_room(reader, &reader->copy, &reader->copy_room, *length);
            if (rv != 0)
                return rv;
            memcpy(reader->copy, line + 1, --*length);
            text_skip_line(text);
        } else if (c == '%') {
            *length = 0;
            text_skip_line(text);
        } else if (c == '\n') {
            text_skip(text);
        } else if (c == ' ' || c == '\r') {
            text->at++;
        } else {
            break;
        }
    }
    return text->rv;
}

/* Which column is which has to stand in one line. */
static int check_first_quotes(struct table_reader *reader, const char *line, size_t length)
{
    struct quoting quoting = { .begins = true };
    scan_quotes(&quoting, line, length, reader->names.delimiter);
    return !quoting.open
               ? 0
               : table_reader_fail(reader, TR_EFORMAT,
                                   "a quotation mark is not closed in the first line; close it, "
                                   "and write no line end into a name of a column");
}

/* Prose has blanks too, and any number of them: only names between other delimiters are a header. */
static int keep_comment(struct table_reader *reader, size_t length)
{
    struct quoting quoting = { .begins = true };
    const char delimiter = reader->names.delimiter;
    if (reader->json || delimiter == '\0' || length == 0)
        return 0;
    scan_quotes(&quoting, reader->copy, length, delimiter);
    int rv = column_names_split(&reader->comment, reader->copy, length, delimiter);
    if (rv == TR_ENOMEM)
        return table_reader_fail(reader, rv, "no memory for its columns");
    if (quoting.open || reader->comment.count != reader->names.count)
        column_names_fini(&reader->comment);
    return 0;
}

/* A Matrix Market file begins with what is a comment here, and its sizes look like an edge. Others
 * say in it that they are bipartite. */
static int look_at_banner(struct table_reader *reader)
{
    static const char BANNER[] = "%%MatrixMarket";
    const char *line;
    size_t length;
    int first = text_peek(&reader->text);
    if (first != '%' && first != '#')
        return reader->text.rv;
    int rv = text_look_line(&reader->text, &line, &length);
    if (rv == 0 && length >= sizeof BANNER - 1 && memcmp(line, BANNER, sizeof BANNER - 1) == 0)
        rv = table_reader_fail(reader, TR_EFORMAT,
                               "is that of a Matrix Market file; `troupe import edges` reads it "
                               "where its name ends in .mtx");
    reader->bipartite = rv == 0 && edge_banner_is_bipartite(line, length);
    reader->undirected = rv == 0 && edge_banner_is_undirected(line, length);
    return rv;
}

/* Digits, with a sign and a point. */
static bool is_figure(const char *text)
{
    const size_t length = strlen(text);
    return length > 0 && strspn(text, "+-.0123456789") == length && strpbrk(text, "0123456789");
}

/* What may be said of a column by the first line: that its name is a word and no number, nor what
 * stands for a value that is missing. */
static bool is_word(const char *text)
{
    const struct table_field field = { text, (uint32_t)strlen(text) };
    const char *at = text + strspn(text, ":~_ ");
    return !value_is_program_word(&field) &&
           ((*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') || (unsigned char)*at >= 0x80);
}

/* The next line of at..end that is not empty; false: none is whole in it. */
static bool line_below(const char **at, const char *end, char delimiter, const char **line,
                       size_t *length)
{
    while (*at < end) {
        const char *begin = *at + (**at == '\n');
        const char *stop = memchr(begin, '\n', (size_t)(end - begin));
        if (stop == NULL)
            return false;
        *at = stop;
        *line = begin;
        *length = (size_t)(stop - begin);
        for (const char *c = begin; c < stop; c++) {
            if (*c != delimiter && !is_blank(*c, delimiter))
                return true;
        }
    }
    return false;
}

/* Finds names_over_numbers by the lines that are loaded behind the first one, which ends at `at`.
 * Names of nodes stand over names of nodes, and only a header's words over numbers alone. */
static int look_below(struct table_reader *reader, const char *at)
{
    const struct column_names *names = &reader->names;
    const char *end = (const char *)reader->text.end, *line;
    const char delimiter = names->delimiter;
    uint32_t rows = 0;
    size_t length;
    for (uint32_t i = 0; i < names->count; i++) {
        if (is_figure(names->names[i]))
            return 0;
    }
    bool *figures = malloc(names->count * sizeof *figures);
    if (figures == NULL)
        return table_reader_fail(reader, TR_ENOMEM, "no memory for its columns");
    for (uint32_t i = 0; i < names->count; i++)
        figures[i] = is_word(names->names[i]);
    for (; rows < LINES_BELOW && line_below(&at, end, delimiter, &line, &length); rows++) {
        struct column_names row;
        int rv = column_names_split(&row, line, length, delimiter == '\0' ? ' ' : delimiter);
        if (rv != 0 || row.count != names->count) {
            if (rv == 0)
                column_names_fini(&row);
            free(figures);
            return rv == TR_ENOMEM ? table_reader_fail(reader, rv, "no memory for its columns") : 0;
        }
        for (uint32_t i = 0; i < names->count; i++)
            figures[i] = figures[i] && is_figure(row.names[i]);
        column_names_fini(&row);
    }
    for (uint32_t i = 0; i < names->count; i++)
        reader->names_over_numbers = reader->names_over_numbers || (rows > 0 && figures[i]);
    free(figures);
    return 0;
}

static int read_first_line(struct table_reader *reader, char delimiter)
{
    struct text *text = &reader->text;
    const char *line;
    size_t length, comment_length;
    int rv = look_at_banner(reader);
    if (rv == 0)
        rv = skip_comments(reader, &comment_length);
    if (rv != 0)
        return rv;
    int c = text_peek(text);
    reader->line = text->line;
    if (c == TEXT_END)
        return text->rv;
    if (c == '[')
        return table_reader_fail(reader, TR_EUNSUPPORTED,
                                 "is a JSON array; write an object a line instead: python3 -c "
                                 "'import json, sys; [print(json.dumps(row)) for row in "
                                 "json.load(sys.stdin)]' <ARRAY >LINES");
    reader->json = c == '{';
    rv = text_look_line(text, &line, &length);
    if (rv == TR_EFORMAT && reader->json)
        return error_set(text->error, rv,
                         "%s: begins with a JSON object of more than %zu bytes; %s", text->path,
                         TEXT_LINE_MAX, JSON_OF_NODES);
    if (rv != 0)
        return rv;
    if (reader->json) {
        rv = take_keys(reader, line, length);
    } else {
        rv = column_names_split(&reader->names, line, length, delimiter);
        if (rv != 0)
            return rv == TR_ENOMEM ? table_reader_fail(reader, rv, "no memory for its columns")
                                   : table_reader_fail(
                                         reader, rv,
                                         "has more than %u columns; give features as a SciPy .npz "
                                         "or in SVMlight's format, by \"node_features\"",
                                         COLUMNS_MAX);
    }
    if (rv != 0)
        return rv;
    if (reader->names.delimiter == ' ')
        reader->names.delimiter = '\0';
    rv = reader->json ? 0 : check_first_quotes(reader, line, length);
    if (rv == 0)
        rv = keep_comment(reader, comment_length);
    if (rv != 0)
        return rv;
    reader->looks_like_header = reader->json || column_names_are_header(&reader->names);
    if (reader->looks_like_header && !reader->json && look_below(reader, line + length) != 0)
        return reader->text.rv;
    reader->fields = calloc(reader->names.count + 1, sizeof *reader->fields);
    return reader->fields != NULL
               ? 0
               : table_reader_fail(reader, TR_ENOMEM, "no memory for its columns");
}

int table_reader_open(struct table_reader *reader, struct files *files, const char *path,
                      char delimiter, const struct cancel *cancel, struct error *error)
{
    *reader = (struct table_reader){ .line = 1 };
    int rv = text_open(&reader->text, files, path, cancel, error);
    if (rv != 0) {
        *reader = (struct table_reader){ 0 };
        return rv;
    }
    rv = read_first_line(reader, delimiter);
    if (rv != 0)
        table_reader_close(reader);
    return rv;
}

void table_reader_close(struct table_reader *reader)
{
    json_decref(reader->object);
    column_names_fini(&reader->names);
    column_names_fini(&reader->comment);
    free(reader->fields);
    free(reader->copy);
    free(reader->joined);
    text_close(&reader->text);
    *reader = (struct table_reader){ 0 };
}

void table_reader_take_comment(struct table_reader *reader)
{
    const struct column_names first = reader->names;
    reader->names = reader->comment;
    reader->comment = first;
    reader->looks_like_header = true;
    reader->header_line = reader->comment_line;
}

int table_reader_skip_header(struct table_reader *reader)
{
    if (reader->json || reader->names.count == 0 || reader->header_line != 0)
        return 0;
    reader->header_line = reader->text.line;
    text_skip_line(&reader->text);
    return reader->text.rv;
}

int table_reader_refuse_header(struct table_reader *reader, const struct table_field *fields)
{
    const struct column_names *names = &reader->names;
    if (reader->header_line == 0)
        return 0;
    for (uint32_t i = 0; i < names->count; i++) {
        /* Nearly every row differs in its first character. */
        if ((fields[i].length > 0 && fields[i].at[0] != names->names[i][0]) ||
            strncmp(fields[i].at, names->names[i], fields[i].length) != 0 ||
            names->names[i][fields[i].length] != '\0')
            return 0;
    }
    return table_reader_fail(reader, TR_EFORMAT,
                             "repeats the header of line %" PRIu64
                             "; remove it there, as where parts of a table are joined",
                             reader->header_line);
}

/* Spreadsheets write a row of empty cells as delimiters alone. */
static bool is_empty_row(const char *line, size_t length, char delimiter)
{
    if (delimiter == '\0')
        return false;
    for (size_t i = 0; i < length; i++) {
        if (line[i] != delimiter && !is_blank(line[i], delimiter))
            return false;
    }
    return true;
}

/* To the first character of a line that is not empty; false at the end. */
static bool find_row(struct table_reader *reader)
{
    struct text *text = &reader->text;
    for (int c; (c = text_peek(text)) != TEXT_END;) {
        if (c == '\n')
            text_skip(text);
        else if (is_blank((char)c, reader->names.delimiter))
            text->at++;
        else
            return true;
    }
    return false;
}

int table_reader_next(struct table_reader *reader)
{
    const char *line;
    size_t length;
    do {
        if (!find_row(reader))
            return reader->text.rv != 0 ? reader->text.rv : TR_EEND;
        reader->line = reader->text.line;
        int rv = take_line(reader, &line, &length);
        if (rv != 0)
            return rv;
    } while (!reader->json && is_empty_row(line, length, reader->names.delimiter));
    return reader->json ? split_object(reader, line, length) : split_row(reader, line, length);
}

uint32_t table_reader_take_plain(struct table_reader *reader, struct table_field *fields,
                                 uint32_t rows_max)
{
    if (reader->json || reader->names.delimiter == '\0')
        return 0;
    const struct plain_rows rows = { fields, reader->names.count, rows_max };
    return plain_rows_take(&rows, &reader->text, reader->names.delimiter, &reader->line);
}
