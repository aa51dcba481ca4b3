/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* qsort_r */
#include "partition/table/node_values.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "partition/table/value_lists.h"
#include "runtime/base/printable.h"

/* The text of a whole number that doubles hold: a sign and 16 digits. */
#define WHOLE_TEXT 24u
#define CODES_ROOM_MIN 1024u

bool node_values_has_codes(const struct node_column *column)
{
    return column->role == TABLE_CATEGORIES || column->role == TABLE_LABELS ||
           column->role == TABLE_LABEL_SETS || column->role == TABLE_LABEL_FLAG;
}

struct id_text node_values_text(const struct table_nodes *nodes, const struct node_column *column,
                                uint32_t value)
{
    struct id_text text = id_map_text(&nodes->texts, column->names[value]);
    return (struct id_text){ text.at + NODE_TEXT_PREFIX, text.length - NODE_TEXT_PREFIX };
}

int node_values_init(struct node_values *values, struct table_nodes *nodes)
{
    *values = (struct node_values){ .nodes = nodes, .room = nodes->count + 1 };
    values->texts = malloc(values->room * sizeof *values->texts);
    values->numbers = malloc(values->room * sizeof *values->numbers);
    values->columns = malloc(values->room * sizeof *values->columns);
    if (values->texts != NULL && values->numbers != NULL && values->columns != NULL)
        return 0;
    node_values_fini(values);
    return TR_ENOMEM;
}

void node_values_fini(struct node_values *values)
{
    free(values->arena);
    free(values->texts);
    free(values->numbers);
    free(values->columns);
    *values = (struct node_values){ 0 };
}

/* The arena holds all texts of a row: it never moves while they are put there. */
static int values_make_arena(struct node_values *values, size_t room)
{
    if (room <= values->arena_room)
        return 0;
    free(values->arena);
    values->arena_room = 0;
    values->arena = malloc(2 * room);
    if (values->arena == NULL)
        return TR_ENOMEM;
    values->arena_room = 2 * room;
    return 0;
}

static int values_make_room(struct node_values *values)
{
    if (values->count < values->room)
        return 0;
    uint32_t room = 2 * values->room;
    struct id_text *texts = realloc(values->texts, room * sizeof *texts);
    values->texts = texts != NULL ? texts : values->texts;
    uint64_t *numbers = realloc(values->numbers, room * sizeof *numbers);
    values->numbers = numbers != NULL ? numbers : values->numbers;
    uint32_t *columns = realloc(values->columns, room * sizeof *columns);
    values->columns = columns != NULL ? columns : values->columns;
    if (texts == NULL || numbers == NULL || columns == NULL)
        return TR_ENOMEM;
    values->room = room;
    return 0;
}

/* Appends a text of column i, of a row whose arena has room for it. */
static int values_put(struct node_values *values, uint32_t i, const char *at, uint32_t length)
{
    int rv = values_make_room(values);
    if (rv != 0)
        return rv;
    char *to = values->arena + values->arena_used;
    for (uint32_t p = 0; p < NODE_TEXT_PREFIX; p++)
        to[p] = (char)('0' + (i >> 6 * p & 63));
    memcpy(to + NODE_TEXT_PREFIX, at, length);
    values->columns[values->count] = i;
    values->texts[values->count++] = (struct id_text){ to, NODE_TEXT_PREFIX + length };
    values->arena_used += NODE_TEXT_PREFIX + length;
    return 0;
}

static bool is_kept_name(const struct table_field *field)
{
    return value_is_name(field) && field->length <= ID_TEXT_MAX - NODE_TEXT_PREFIX;
}

/* Labels that are numbers are the same class however they are written. */
static int take_one(struct node_values *values, uint32_t i, const struct table_field *field)
{
    const struct node_column *column = &values->nodes->columns[i];
    double number;
    if (value_is_missing(&values->nodes->values, field))
        return 0;
    if (!is_kept_name(field))
        return TR_EMISMATCH;
    if (column->role != TABLE_LABELS || !column->numbers)
        return values_put(values, i, field->at, field->length);
    if (!value_is_number(&values->nodes->values, field, &number) || !node_column_is_whole(number))
        return TR_EMISMATCH;
    /* -1 is what other programs write for a node without a label. */
    if (number == -1)
        return 0;
    char text[WHOLE_TEXT];
    int length = snprintf(text, sizeof text, "%.0f", number + 0.0);
    return values_put(values, i, text, (uint32_t)length);
}

/* The labels of a node with separators between them; empty ones count for nothing, so that a
 * separator alone says that the node has none of them. */
static int take_set(struct node_values *values, struct table_reader *reader, uint32_t i,
                    const struct table_field *field)
{
    const char separator = values->nodes->options->label_separator;
    int rv = 0;
    if (value_is_missing(&values->nodes->values, field))
        return 0;
    for (uint32_t at = 0, end; rv == 0 && at < field->length; at = end + 1) {
        const char *stop = memchr(field->at + at, separator, field->length - at);
        end = stop != NULL ? (uint32_t)(stop - field->at) : field->length;
        uint32_t begin = at, length = end - at;
        for (; length > 0 && field->at[begin] == ' '; length--)
            begin++;
        while (length > 0 && field->at[begin + length - 1] == ' ')
            length--;
        const struct table_field name = { field->at + begin, length };
        char shown[VALUE_SHOWN];
        if (length == 0)
            continue;
        if (!value_is_utf8(&name))
            rv = table_reader_fail(reader, TR_EFORMAT,
                                   "the label '%s' holds bytes that are not UTF-8; convert the "
                                   "table (iconv -f LATIN1 -t UTF-8)",
                                   value_show(&name, shown));
        else if (!is_kept_name(&name))
            rv = table_reader_fail(
                reader, TR_EFORMAT,
                "the label '%s' cannot be kept as a name: names are UTF-8 without control "
                "characters, of at most %u bytes",
                value_show(&name, shown), ID_TEXT_MAX - NODE_TEXT_PREFIX);
        else
            rv = values_put(values, i, name.at, name.length);
    }
    return rv;
}

static int take_flag(const struct value_reader *values, struct table_reader *reader,
                     struct node_column *column, uint32_t i, const struct table_field *field,
                     int32_t *code)
{
    char shown[VALUE_SHOWN], called[COLUMN_SHOWN];
    bool set;
    *code = NODE_NO_CODE;
    if (value_is_missing(values, field) || (field->length == 2 && memcmp(field->at, "-1", 2) == 0))
        return 0;
    if (!value_is_flag(field, &set))
        return table_reader_fail(reader, TR_EFORMAT,
                                 "%s has the label '%s', which is neither 0 nor 1, as several "
                                 "columns of labels have; name one column of classes by \"labels\"",
                                 table_reader_show_column(reader, i + 1, called),
                                 value_show(field, shown));
    column->present += set;
    *code = set;
    return 0;
}

static int keep_new_value(struct node_column *column, uint64_t number)
{
    /* Room doubles at powers of two. */
    if ((column->num_values & (column->num_values - 1)) == 0) {
        uint32_t room = column->num_values == 0 ? 1 : 2 * column->num_values;
        uint64_t *grown = realloc(column->names, room * sizeof *grown);
        if (grown == NULL)
            return TR_ENOMEM;
        column->names = grown;
    }
    column->names[column->num_values++] = number;
    return 0;
}

static int keep_set_code(struct node_column *column, int32_t code)
{
    if (column->num_codes == column->codes_room) {
        uint64_t room = column->codes_room == 0 ? CODES_ROOM_MIN : 2 * column->codes_room;
        int32_t *grown = realloc(column->codes, room * sizeof *grown);
        if (grown == NULL)
            return TR_ENOMEM;
        column->codes = grown;
        column->codes_room = room;
    }
    column->codes[column->num_codes++] = code;
    return 0;
}

/* Too many values: a feature's column is none, labels are refused. */
static int check_count(struct node_column *column, struct table_reader *reader)
{
    uint32_t most = column->role == TABLE_LABEL_SETS ? TABLE_LABEL_SETS_MAX : TABLE_CATEGORIES_MAX;
    if (column->num_values <= most)
        return 0;
    column->prose = true;
    if (column->role == TABLE_CATEGORIES)
        return 0;
    return table_reader_fail(reader, TR_ETOOBIG,
                             "more than %u different labels%s; name the column of classes by "
                             "\"labels\"",
                             most,
                             column->role == TABLE_LABELS && column->numbers
                                 ? ", all whole numbers, which may be amounts and not "
                                   "classes: write ranges of them"
                                 : "");
}

/* Gives the texts of the row their numbers. */
static int values_flush(struct node_values *values, struct table_reader *reader, uint64_t row)
{
    struct table_nodes *nodes = values->nodes;
    uint64_t known = nodes->texts.count;
    char fault[ID_MAP_FAULT_MAX];
    int rv = id_map_add(&nodes->texts, values->texts, values->count, values->numbers);
    if (rv != 0)
        return table_reader_fail(reader, rv, "its columns have %s",
                                 id_map_fault(&nodes->texts, rv, fault));
    for (uint32_t t = 0; rv == 0 && t < values->count; t++) {
        struct node_column *column = &nodes->columns[values->columns[t]];
        int32_t code = (int32_t)values->numbers[t];
        if (column->role == TABLE_LABEL_SETS)
            rv = keep_set_code(column, code);
        else
            column->codes[row] = code;
        /* No two columns have a text in common, and a row may have one twice. */
        if (rv == 0 && values->numbers[t] >= known) {
            rv = keep_new_value(column, values->numbers[t]);
            known = values->numbers[t] + 1;
        }
        if (rv == 0 && check_count(column, reader) != 0)
            return TR_ETOOBIG;
    }
    return rv;
}

/* Bytes that the texts of a field take at most: each has a separator, or the end, behind it. */
static size_t bytes_of(const struct node_column *column, const struct table_field *field)
{
    return column->role == TABLE_LABEL_SETS ? (NODE_TEXT_PREFIX + 1) * ((size_t)field->length + 1)
                                            : NODE_TEXT_PREFIX + WHOLE_TEXT + field->length;
}

int node_values_take(struct node_values *values, struct table_reader *reader, uint64_t row)
{
    struct table_nodes *nodes = values->nodes;
    size_t room = 0;
    values->count = 0;
    values->arena_used = 0;
    for (uint32_t i = 0; i < nodes->count; i++)
        room += bytes_of(&nodes->columns[i], &reader->fields[i]);
    int rv = values_make_arena(values, room);
    for (uint32_t i = 0; rv == 0 && i < nodes->count; i++) {
        struct node_column *column = &nodes->columns[i];
        const struct table_field *field = &reader->fields[i];
        if (!node_values_has_codes(column) || column->prose)
            continue;
        if (column->role == TABLE_LABEL_FLAG) {
            rv = take_flag(&nodes->values, reader, column, i, field, &column->codes[row]);
        } else if (column->role == TABLE_LABEL_SETS) {
            rv = take_set(values, reader, i, field);
        } else {
            column->codes[row] = NODE_NO_CODE;
            rv = take_one(values, i, field);
        }
    }
    if (rv == 0)
        rv = values_flush(values, reader, row);
    for (uint32_t i = 0; rv == 0 && i < nodes->count; i++) {
        struct node_column *column = &nodes->columns[i];
        if (column->role != TABLE_LABEL_SETS)
            continue;
        /* A node of which nothing is known has no set, not an empty one. */
        if (value_is_missing(&nodes->values, &reader->fields[i]))
            rv = keep_set_code(column, NODE_NO_CODE);
        column->set_ends[row] = column->num_codes;
    }
    /* A failure that has a message keeps it. */
    return rv == 0 || rv == TR_EMISMATCH
               ? rv
               : table_reader_fail(reader, rv, "no memory for the values of its columns");
}

struct value_order {
    const struct table_nodes *nodes;
    bool numbers;
};

static int compare_values(const void *a, const void *b, void *arg)
{
    const struct value_order *order = arg;
    struct id_text one = id_map_text(&order->nodes->texts, *(const uint64_t *)a);
    struct id_text other = id_map_text(&order->nodes->texts, *(const uint64_t *)b);
    uint32_t shorter = one.length < other.length ? one.length : other.length;
    if (order->numbers) {
        int64_t first = strtoll(one.at + NODE_TEXT_PREFIX, NULL, 10);
        int64_t second = strtoll(other.at + NODE_TEXT_PREFIX, NULL, 10);
        return first < second ? -1 : first > second;
    }
    int rv = memcmp(one.at, other.at, shorter);
    return rv != 0 ? rv : (one.length > other.length) - (one.length < other.length);
}

/* R writes TRUE, Python True and JSON true: in a column they are one value, called as the first of
 * them in the order of values. */
static void merge_flags(const struct table_nodes *nodes, struct node_column *column,
                        int32_t *code_of)
{
    static const char *const WORDS[] = { "true", "false" };
    uint32_t kept = 0;
    int32_t first[2] = { NODE_NO_CODE, NODE_NO_CODE };
    for (uint32_t v = 0; v < column->num_values; v++) {
        struct id_text text = node_values_text(nodes, column, v);
        const struct table_field field = { text.at, text.length };
        int word = value_is_word(&field, WORDS[0]) ? 0 : value_is_word(&field, WORDS[1]) ? 1 : -1;
        if (word >= 0 && first[word] != NODE_NO_CODE) {
            code_of[column->names[v]] = first[word];
            continue;
        }
        if (word >= 0)
            first[word] = (int32_t)kept;
        code_of[column->names[v]] = (int32_t)kept;
        column->names[kept++] = column->names[v];
    }
    column->num_values = kept;
}

static int compare_letters(struct id_text one, struct id_text other)
{
    uint32_t shorter = one.length < other.length ? one.length : other.length;
    int rv = strncasecmp(one.at, other.at, shorter);
    return rv != 0 ? rv : (one.length > other.length) - (one.length < other.length);
}

static int compare_any_case(const void *a, const void *b, void *arg)
{
    const struct table_nodes *nodes = arg;
    return compare_letters(id_map_text(&nodes->texts, *(const uint64_t *)a),
                           id_map_text(&nodes->texts, *(const uint64_t *)b));
}

/* Keeps the first two values that differ in small and capital letters alone: "Paris, paris". */
static int find_alike(const struct table_nodes *nodes, struct node_column *column)
{
    uint64_t *names = malloc((column->num_values + (size_t)1) * sizeof *names);
    if (names == NULL)
        return TR_ENOMEM;
    if (column->num_values > 0)
        memcpy(names, column->names, column->num_values * sizeof *names);
    if (column->num_values > 1)
        qsort_r(names, column->num_values, sizeof *names, compare_any_case,
                (void *)(uintptr_t)nodes);
    for (uint32_t v = 1; v < column->num_values && column->alike[0] == '\0'; v++) {
        struct id_text one = id_map_text(&nodes->texts, names[v - 1]);
        struct id_text other = id_map_text(&nodes->texts, names[v]);
        if (compare_letters(one, other) != 0)
            continue;
        snprintf(column->alike, sizeof column->alike, "%.*s, %.*s",
                 (int)(one.length - NODE_TEXT_PREFIX < 28 ? one.length - NODE_TEXT_PREFIX : 28),
                 one.at + NODE_TEXT_PREFIX,
                 (int)(other.length - NODE_TEXT_PREFIX < 28 ? other.length - NODE_TEXT_PREFIX : 28),
                 other.at + NODE_TEXT_PREFIX);
        make_printable(column->alike);
    }
    free(names);
    return 0;
}

static void sort_values(struct table_nodes *nodes, struct node_column *column, int32_t *code_of)
{
    struct value_order order = { nodes, column->role == TABLE_LABELS && column->numbers };
    uint64_t count = column->role == TABLE_LABEL_SETS ? column->num_codes : nodes->rows;
    if (column->num_values > 0)
        qsort_r(column->names, column->num_values, sizeof *column->names, compare_values, &order);
    column->is_counting = order.numbers;
    merge_flags(nodes, column, code_of);
    for (uint32_t v = 0; v < column->num_values; v++) {
        struct id_text text = node_values_text(nodes, column, v);
        column->is_counting = column->is_counting && strtoll(text.at, NULL, 10) == v;
    }
    for (uint64_t i = 0; i < count; i++) {
        if (column->codes[i] != NODE_NO_CODE)
            column->codes[i] = code_of[column->codes[i]];
    }
    /* Amounts such as ages begin anywhere. */
    column->amounts = order.numbers && !column->is_counting;
}

int node_values_sort(struct table_nodes *nodes)
{
    int32_t *code_of = malloc((nodes->texts.count + 1) * sizeof *code_of);
    if (code_of == NULL)
        return TR_ENOMEM;
    for (uint32_t i = 0; i < nodes->count; i++) {
        struct node_column *column = &nodes->columns[i];
        if (column->role == TABLE_CATEGORIES && column->prose)
            column->role = TABLE_DROPPED;
        else if (node_values_has_codes(column) && column->role != TABLE_LABEL_FLAG)
            sort_values(nodes, column, code_of);
        int rv = 0;
        if (node_values_has_codes(column) && column->role != TABLE_LABEL_FLAG &&
            column->num_values <= TABLE_ONE_HOT_MAX)
            rv = find_alike(nodes, column);
        if (rv == 0 && (column->role == TABLE_CATEGORIES || column->role == TABLE_LABELS))
            rv = value_lists_find(nodes, column, &column->separator, column->several);
        if (rv != 0) {
            free(code_of);
            return rv;
        }
        if (column->role == TABLE_CATEGORIES && column->num_values > TABLE_ONE_HOT_MAX)
            column->role = TABLE_CODES;
    }
    free(code_of);
    return 0;
}
