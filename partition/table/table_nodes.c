/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* qsort_r */
#include "partition/table/table_nodes.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/crc32c.h"

#define NAMES_AT_ONCE 64u
/* Doubles hold whole numbers exactly below. */
#define WHOLE_MAX 9007199254740992.0
/* The text of such a number: a sign and 16 digits. */
#define WHOLE_TEXT 24u

void table_nodes_fini(struct table_nodes *nodes)
{
    for (uint32_t i = 0; nodes->columns != NULL && i < nodes->count; i++) {
        free(nodes->columns[i].values);
        free(nodes->columns[i].codes);
        free(nodes->columns[i].names);
    }
    free(nodes->columns);
    free(nodes->masks);
    value_reader_fini(&nodes->values);
    table_roles_fini(&nodes->roles);
    id_map_fini(&nodes->texts);
    *nodes = (struct table_nodes){ 0 };
}

struct id_text table_nodes_value(const struct table_nodes *nodes, const struct node_column *column,
                                 uint32_t value)
{
    struct id_text text = id_map_text(&nodes->texts, column->names[value]);
    return (struct id_text){ text.at + TEXT_PREFIX, text.length - TEXT_PREFIX };
}

/* Names that wait for their numbers. */
struct waiting {
    struct id_map *ids;
    uint64_t first; /* the number that the first of them must get */
    uint32_t count;
    struct id_text names[NAMES_AT_ONCE];
    uint64_t lines[NAMES_AT_ONCE];
    char texts[NAMES_AT_ONCE][ID_TEXT_MAX];
};

static int names_flush(struct waiting *waiting, struct table_reader *reader)
{
    uint64_t numbers[NAMES_AT_ONCE];
    int rv = id_map_add(waiting->ids, waiting->names, waiting->count, numbers);
    if (rv != 0)
        return table_reader_fail(reader, rv, "%s for %" PRIu64 " names",
                                 rv == TR_ETOOBIG ? "no room" : "no memory", waiting->ids->count);
    for (uint32_t i = 0; i < waiting->count; i++) {
        if (numbers[i] == waiting->first + i)
            continue;
        char shown[VALUE_SHOWN];
        const struct table_field field = { waiting->names[i].at, waiting->names[i].length };
        reader->line = waiting->lines[i];
        return table_reader_fail(reader, TR_EFORMAT,
                                 "the ID '%s' is that of an earlier row; give each node one row",
                                 value_show(&field, shown));
    }
    waiting->first += waiting->count;
    waiting->count = 0;
    return 0;
}

static int names_take(struct waiting *waiting, struct table_reader *reader,
                      const struct table_field *field)
{
    char shown[VALUE_SHOWN];
    if (field->length == 0)
        return table_reader_fail(reader, TR_EFORMAT, "the ID is missing");
    if (!value_is_name(field))
        return table_reader_fail(reader, TR_EFORMAT,
                                 "the ID '%s' is no name: names are UTF-8 without control "
                                 "characters, of at most %u bytes",
                                 value_show(field, shown), ID_TEXT_MAX);
    uint32_t at = waiting->count++;
    memcpy(waiting->texts[at], field->at, field->length);
    waiting->names[at] = (struct id_text){ waiting->texts[at], field->length };
    waiting->lines[at] = reader->line;
    return waiting->count == NAMES_AT_ONCE ? names_flush(waiting, reader) : 0;
}

static bool is_whole(double number)
{
    return number == trunc(number) && fabs(number) <= WHOLE_MAX;
}

static void keep_first(uint64_t *first, uint64_t line)
{
    *first = *first == 0 ? line : *first;
}

/* Welford's method, in the order of rows: "Note on a Method for Calculating Corrected Sums of
 * Squares and Products", Technometrics 4 (1962). */
static void survey_number(struct node_column *column, double number, uint64_t line)
{
    double before = number - column->mean;
    column->mean += before / (double)column->present;
    column->squares += before * (number - column->mean);
    column->most = fabs(number) > column->most ? fabs(number) : column->most;
    if (number != trunc(number))
        keep_first(&column->fraction_line, line);
    else if (!is_whole(number))
        keep_first(&column->large_line, line);
}

static void survey_value(const struct table_nodes *nodes, struct node_column *column,
                         const struct table_field *field, uint64_t line)
{
    double number;
    if (value_is_missing(field)) {
        if (column->missing++ == 0) {
            column->missing_line = line;
            snprintf(column->missing_text, sizeof column->missing_text, "%.*s", (int)field->length,
                     field->length > 0 ? field->at : "");
        }
        return;
    }
    column->present++;
    if (column->numbers && value_is_number(&nodes->values, field, &number))
        survey_number(column, number, line);
    else
        column->numbers = false;
    if (value_is_name(field) && field->length <= ID_TEXT_MAX - TEXT_PREFIX)
        return;
    if (value_is_utf8(field)) {
        column->prose = true;
        keep_first(&column->prose_line, line);
    } else {
        keep_first(&column->foreign_line, line);
    }
}

static int nodes_changed(struct table_reader *reader)
{
    return table_reader_fail(reader, TR_EMISMATCH,
                             "changed while it was read; import it again when nothing writes it");
}

static uint32_t checksum_text(uint32_t checksum, const char *at, uint32_t length)
{
    return crc32c(crc32c(checksum, &length, sizeof length), at, length);
}

static uint32_t checksum_header(const struct table_reader *reader)
{
    uint32_t checksum = 0;
    for (uint32_t i = 0; i < reader->names.count; i++) {
        const char *name = reader->names.names[i];
        checksum = checksum_text(checksum, name, (uint32_t)strlen(name));
    }
    return checksum;
}

static uint32_t checksum_row(uint32_t checksum, const struct table_reader *reader)
{
    for (uint32_t i = 0; i < reader->names.count; i++)
        checksum = checksum_text(checksum, reader->fields[i].at, reader->fields[i].length);
    return checksum;
}

static int nodes_open(struct table_nodes *nodes, struct table_reader *reader, struct error *error)
{
    const struct table_options *options = nodes->options;
    int rv = table_reader_open(reader, options->files, options->nodes, options->delimiter,
                               options->cancel, error);
    if (rv == 0 && reader->names.count == 0) {
        rv = error_set(error, TR_EFORMAT, "%s: holds no node", options->nodes);
        table_reader_close(reader);
    }
    return rv;
}

static int nodes_begin(struct table_nodes *nodes, struct table_reader *reader,
                       struct table_found *found)
{
    int rv = table_roles_of_nodes(&nodes->roles, reader, nodes->options->header,
                                  &nodes->options->node_names);
    if (rv != 0)
        return rv;
    nodes->count = nodes->roles.count;
    nodes->columns = calloc(nodes->count + 1, sizeof *nodes->columns);
    if (nodes->columns == NULL || value_reader_init(&nodes->values) != 0 ||
        table_found_add(found, true, &reader->names, &nodes->roles) != 0)
        return table_reader_fail(reader, TR_ENOMEM, "no memory for its columns");
    for (uint32_t i = 0; i < nodes->count; i++) {
        nodes->columns[i].role = nodes->roles.roles[i];
        nodes->columns[i].numbers = true;
    }
    rv = nodes->roles.header ? table_reader_skip_header(reader) : 0;
    found->nodes_header_line = reader->header_line;
    return rv;
}

static int survey_rows(struct table_nodes *nodes, struct table_reader *reader,
                       struct waiting *waiting)
{
    int rv;
    nodes->checksum = checksum_header(reader);
    while ((rv = table_reader_next(reader)) == 0) {
        nodes->checksum = checksum_row(nodes->checksum, reader);
        rv = names_take(waiting, reader, &reader->fields[nodes->roles.id - 1]);
        if (rv != 0)
            return rv;
        for (uint32_t i = 0; i < nodes->count; i++) {
            struct node_column *column = &nodes->columns[i];
            if (column->role == TABLE_NUMBERS || column->role == TABLE_LABELS)
                survey_value(nodes, column, &reader->fields[i], reader->line);
        }
        nodes->rows++;
    }
    return rv == TR_EEND ? names_flush(waiting, reader) : rv;
}

static void decide_scale(struct node_column *column)
{
    column->scaled = column->most > TABLE_SCALED_FROM;
    column->deviation = sqrt(column->squares / (double)column->present);
    /* A column of one value has nothing to divide. */
    if (column->deviation == 0)
        column->deviation = 1;
}

static int fail_foreign(struct table_reader *reader, uint32_t i)
{
    return table_reader_fail(reader, TR_EFORMAT,
                             "column %u holds bytes that are no UTF-8; convert the table (iconv -f "
                             "LATIN1 -t UTF-8), or leave the column out by \"features\"",
                             i + 1);
}

static int decide_labels(const struct node_column *column, struct table_reader *reader)
{
    if (column->numbers && column->fraction_line != 0) {
        reader->line = column->fraction_line;
        return table_reader_fail(reader, TR_EUNSUPPORTED,
                                 "the label has a fraction; classes are texts or whole "
                                 "numbers, and numbers are not learned yet: write ranges "
                                 "of them, or name another column by \"labels\"");
    }
    if (column->numbers && column->large_line != 0) {
        reader->line = column->large_line;
        return table_reader_fail(reader, TR_ERANGE,
                                 "the label is a number beyond 2^53, which is not kept exactly; "
                                 "write a letter before each label, or name another column by "
                                 "\"labels\"");
    }
    if (column->prose_line == 0 && column->foreign_line == 0)
        return 0;
    reader->line = column->foreign_line != 0 ? column->foreign_line : column->prose_line;
    return table_reader_fail(reader, TR_EFORMAT,
                             "the label is no name: names are UTF-8 without control characters, of "
                             "at most %u bytes; name another column by \"labels\"",
                             ID_TEXT_MAX - TEXT_PREFIX);
}

/* What each column holds is known now. */
static int nodes_decide(struct table_nodes *nodes, struct table_reader *reader)
{
    int rv = 0;
    for (uint32_t i = 0; rv == 0 && i < nodes->count; i++) {
        struct node_column *column = &nodes->columns[i];
        if (column->role == TABLE_LABELS)
            rv = decide_labels(column, reader);
        if (column->role != TABLE_NUMBERS)
            continue;
        if (column->present == 0) {
            column->role = TABLE_DROPPED;
        } else if (column->numbers) {
            decide_scale(column);
        } else if (column->prose) {
            column->role = TABLE_DROPPED;
        } else if (column->foreign_line != 0) {
            reader->line = column->foreign_line;
            rv = fail_foreign(reader, i);
        } else {
            column->role = TABLE_CATEGORIES;
        }
    }
    return rv;
}

static int nodes_survey(struct table_nodes *nodes, struct id_map *ids, struct table_found *found,
                        struct error *error)
{
    struct table_reader reader;
    struct waiting *waiting = malloc(sizeof *waiting);
    if (waiting == NULL)
        return error_set(error, TR_ENOMEM, "%s: no memory to read it", nodes->options->nodes);
    waiting->ids = ids;
    waiting->first = ids->count;
    waiting->count = 0;
    int rv = nodes_open(nodes, &reader, error);
    if (rv == 0) {
        rv = nodes_begin(nodes, &reader, found);
        if (rv == 0)
            rv = survey_rows(nodes, &reader, waiting);
        if (rv == 0)
            rv = nodes_decide(nodes, &reader);
        table_reader_close(&reader);
    }
    free(waiting);
    if (rv == 0 && nodes->rows == 0)
        rv = error_set(error, TR_EFORMAT, "%s: holds no node, only a header",
                       nodes->options->nodes);
    return rv;
}

static bool has_codes(const struct node_column *column)
{
    return column->role == TABLE_CATEGORIES || column->role == TABLE_LABELS;
}

static int alloc_values(struct table_nodes *nodes, struct error *error)
{
    bool masked = nodes->roles.split != 0;
    for (int i = 0; i < VALUE_MASKS; i++)
        masked = masked || nodes->roles.masks[i] != 0;
    bool failed = false;
    for (uint32_t i = 0; i < nodes->count; i++) {
        struct node_column *column = &nodes->columns[i];
        if (column->role == TABLE_NUMBERS) {
            column->values = malloc(nodes->rows * sizeof *column->values);
            failed = failed || column->values == NULL;
        } else if (has_codes(column)) {
            column->codes = malloc(nodes->rows * sizeof *column->codes);
            failed = failed || column->codes == NULL;
        }
    }
    nodes->masks = masked ? calloc(nodes->rows, 1) : NULL;
    if (!failed && (!masked || nodes->masks != NULL))
        return 0;
    return error_set(error, TR_ENOMEM, "%s: no memory for the values of %" PRIu64 " nodes",
                     nodes->options->nodes, nodes->rows);
}

/* The text of a row's values with their columns in front, and what gives them numbers. */
struct row_texts {
    char *arena; /* [room] */
    size_t room;
    struct id_text *texts; /* [columns] */
    uint64_t *numbers;
    uint32_t *columns;
    uint32_t count;
};

static int texts_make_room(struct row_texts *row, size_t room)
{
    if (room <= row->room)
        return 0;
    free(row->arena);
    row->room = 0;
    row->arena = malloc(2 * room);
    if (row->arena == NULL)
        return TR_ENOMEM;
    row->room = 2 * room;
    return 0;
}

/* Labels that are numbers are the same class however they are written. false: the field is nothing
 * that the first pass let through. */
static bool put_text(const struct table_nodes *nodes, uint32_t i, const struct table_field *field,
                     char *to, struct id_text *text)
{
    const struct node_column *column = &nodes->columns[i];
    uint32_t length = field->length;
    double number;
    if (!value_is_name(field) || length > ID_TEXT_MAX - TEXT_PREFIX)
        return false;
    for (uint32_t p = 0; p < TEXT_PREFIX; p++)
        to[p] = (char)('0' + (i >> 6 * p & 63));
    if (column->role == TABLE_LABELS && column->numbers) {
        if (!value_is_number(&nodes->values, field, &number) || !is_whole(number))
            return false;
        length = (uint32_t)snprintf(to + TEXT_PREFIX, WHOLE_TEXT, "%.0f", number + 0.0);
    } else {
        memcpy(to + TEXT_PREFIX, field->at, length);
    }
    *text = (struct id_text){ to, TEXT_PREFIX + length };
    return true;
}

/* -1 is what other programs write for a node without a label. */
static bool is_no_label(const struct table_nodes *nodes, const struct node_column *column,
                        const struct table_field *field)
{
    double number;
    return column->role == TABLE_LABELS && column->numbers &&
           value_is_number(&nodes->values, field, &number) && number == -1;
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

/* Codes are the numbers in nodes->texts for now. */
static int take_texts(struct table_nodes *nodes, struct table_reader *reader, uint64_t row_number,
                      struct row_texts *row)
{
    size_t room = 0, used = 0;
    row->count = 0;
    for (uint32_t i = 0; i < nodes->count; i++)
        room += TEXT_PREFIX + WHOLE_TEXT + reader->fields[i].length;
    int rv = texts_make_room(row, room);
    for (uint32_t i = 0; rv == 0 && i < nodes->count; i++) {
        struct node_column *column = &nodes->columns[i];
        const struct table_field *field = &reader->fields[i];
        if (!has_codes(column) || column->prose)
            continue;
        column->codes[row_number] = NODE_NO_CODE;
        if (value_is_missing(field) || is_no_label(nodes, column, field))
            continue;
        if (!put_text(nodes, i, field, row->arena + used, &row->texts[row->count]))
            return nodes_changed(reader);
        used += row->texts[row->count].length;
        row->columns[row->count++] = i;
    }
    uint64_t known = nodes->texts.count;
    if (rv == 0)
        rv = id_map_add(&nodes->texts, row->texts, row->count, row->numbers);
    for (uint32_t t = 0; rv == 0 && t < row->count; t++) {
        struct node_column *column = &nodes->columns[row->columns[t]];
        column->codes[row_number] = (int32_t)row->numbers[t];
        /* No two columns have a text in common. */
        if (row->numbers[t] >= known)
            rv = keep_new_value(column, row->numbers[t]);
        if (rv == 0 && column->num_values > TABLE_CATEGORIES_MAX) {
            if (column->role == TABLE_LABELS)
                return table_reader_fail(reader, TR_ETOOBIG,
                                         "more than %u different labels; name the column of "
                                         "classes by \"labels\"",
                                         TABLE_CATEGORIES_MAX);
            column->prose = true;
        }
    }
    return rv == 0 ? 0 : table_reader_fail(reader, rv, "no memory for the values of its columns");
}

/* What stands for a number that a row lacks: in a column that is scaled, 0 and the mean are one. */
static double missing_number(const struct table_nodes *nodes, const struct node_column *column)
{
    return nodes->options->missing == TABLE_MISSING_MEAN && !column->scaled ? column->mean : 0;
}

/* Numbers are scaled as doubles: floats of large numbers have lost their differences. */
static int take_number(const struct table_nodes *nodes, struct table_reader *reader,
                       struct node_column *column, const struct table_field *field,
                       uint64_t row_number)
{
    double number;
    if (value_is_missing(field)) {
        column->values[row_number] = (float)missing_number(nodes, column);
        return 0;
    }
    if (!value_is_number(&nodes->values, field, &number))
        return nodes_changed(reader);
    /* Where squares are too large for doubles, the largest number is the one to name. */
    bool too_large = column->scaled && !isfinite(column->deviation) && fabs(number) == column->most;
    if (column->scaled)
        number = (number - column->mean) / column->deviation;
    if (too_large || (isfinite(column->deviation) && !isfinite((float)number)))
        return table_reader_fail(reader, TR_ERANGE,
                                 "a number is too large for a feature; leave the column out, or "
                                 "write its logarithm");
    column->values[row_number] = (float)number;
    return 0;
}

static int take_masks(struct table_nodes *nodes, struct table_reader *reader, uint64_t row_number)
{
    char shown[VALUE_SHOWN];
    if (nodes->roles.split != 0) {
        const struct table_field *field = &reader->fields[nodes->roles.split - 1];
        enum value_mask mask;
        if (value_is_missing(field))
            return 0;
        if (!value_is_split(field, &mask))
            return table_reader_fail(reader, TR_EFORMAT,
                                     "the split '%s' is none of train, val and test",
                                     value_show(field, shown));
        nodes->masks[row_number] = (uint8_t)(1u << mask);
        nodes->has_masks[mask] = true;
        return 0;
    }
    for (int i = 0; i < VALUE_MASKS; i++) {
        if (nodes->roles.masks[i] == 0)
            continue;
        const struct table_field *field = &reader->fields[nodes->roles.masks[i] - 1];
        bool set = false;
        nodes->has_masks[i] = true;
        if (!value_is_missing(field) && !value_is_flag(field, &set))
            return table_reader_fail(
                reader, TR_EFORMAT,
                "'%s' does not say whether the node is in the mask; write 0 or 1",
                value_show(field, shown));
        nodes->masks[row_number] |= (uint8_t)((unsigned)set << i);
    }
    return 0;
}

static int take_rows(struct table_nodes *nodes, struct table_reader *reader, struct row_texts *row)
{
    uint32_t checksum = checksum_header(reader);
    uint64_t at = 0;
    int rv;
    while ((rv = table_reader_next(reader)) == 0) {
        if (at == nodes->rows)
            return nodes_changed(reader);
        checksum = checksum_row(checksum, reader);
        for (uint32_t i = 0; rv == 0 && i < nodes->count; i++) {
            if (nodes->columns[i].role == TABLE_NUMBERS)
                rv = take_number(nodes, reader, &nodes->columns[i], &reader->fields[i], at);
        }
        if (rv == 0)
            rv = take_texts(nodes, reader, at, row);
        if (rv == 0 && nodes->masks != NULL)
            rv = take_masks(nodes, reader, at);
        if (rv != 0)
            return rv;
        at++;
    }
    if (rv != TR_EEND)
        return rv;
    return at == nodes->rows && checksum == nodes->checksum ? 0 : nodes_changed(reader);
}

static int nodes_take(struct table_nodes *nodes, struct error *error)
{
    struct table_reader reader;
    struct row_texts row = { 0 };
    row.texts = malloc((nodes->count + 1) * sizeof *row.texts);
    row.numbers = malloc((nodes->count + 1) * sizeof *row.numbers);
    row.columns = malloc((nodes->count + 1) * sizeof *row.columns);
    int rv = row.texts == NULL || row.numbers == NULL || row.columns == NULL
                 ? error_set(error, TR_ENOMEM, "%s: no memory to read it", nodes->options->nodes)
                 : nodes_open(nodes, &reader, error);
    if (rv == 0) {
        if (reader.names.count != nodes->count)
            rv = nodes_changed(&reader);
        if (rv == 0 && nodes->roles.in_comment && reader.comment.count == 0)
            rv = nodes_changed(&reader);
        if (rv == 0 && nodes->roles.in_comment)
            table_reader_take_comment(&reader);
        if (rv == 0 && nodes->roles.header)
            rv = table_reader_skip_header(&reader);
        if (rv == 0)
            rv = take_rows(nodes, &reader, &row);
        table_reader_close(&reader);
    }
    free(row.arena);
    free(row.texts);
    free(row.numbers);
    free(row.columns);
    return rv;
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
        int64_t first = strtoll(one.at + TEXT_PREFIX, NULL, 10);
        int64_t second = strtoll(other.at + TEXT_PREFIX, NULL, 10);
        return first < second ? -1 : first > second;
    }
    int rv = memcmp(one.at, other.at, shorter);
    return rv != 0 ? rv : (one.length > other.length) - (one.length < other.length);
}

/* Values get the numbers of their order, whatever the order of the rows. */
static int sort_values(struct table_nodes *nodes, struct node_column *column, int32_t *code_of)
{
    struct value_order order = { nodes, column->numbers };
    if (column->num_values > 0)
        qsort_r(column->names, column->num_values, sizeof *column->names, compare_values, &order);
    column->is_counting = column->numbers;
    for (uint32_t v = 0; v < column->num_values; v++) {
        struct id_text text = table_nodes_value(nodes, column, v);
        column->is_counting = column->is_counting && strtoll(text.at, NULL, 10) == v;
        code_of[column->names[v]] = (int32_t)v;
    }
    for (uint64_t row = 0; row < nodes->rows; row++) {
        if (column->codes[row] != NODE_NO_CODE)
            column->codes[row] = code_of[column->codes[row]];
    }
    return 0;
}

static int nodes_finish(struct table_nodes *nodes, struct error *error)
{
    int32_t *code_of = malloc((nodes->texts.count + 1) * sizeof *code_of);
    if (code_of == NULL)
        return error_set(error, TR_ENOMEM, "%s: no memory to sort its values",
                         nodes->options->nodes);
    for (uint32_t i = 0; i < nodes->count; i++) {
        struct node_column *column = &nodes->columns[i];
        if (column->role == TABLE_CATEGORIES && column->prose)
            column->role = TABLE_DROPPED;
        else if (has_codes(column))
            sort_values(nodes, column, code_of);
        if (column->role == TABLE_CATEGORIES && column->num_values > TABLE_ONE_HOT_MAX)
            column->role = TABLE_CODES;
    }
    free(code_of);
    return 0;
}

/* A column that is a feature has a value in each row, unless the rule says what stands for it. */
static int check_missing(const struct table_nodes *nodes, struct error *error)
{
    for (uint32_t i = 0; i < nodes->count; i++) {
        const struct node_column *column = &nodes->columns[i];
        if (column->missing == 0 || nodes->options->missing != TABLE_MISSING_ERROR ||
            (column->role != TABLE_NUMBERS && column->role != TABLE_CATEGORIES &&
             column->role != TABLE_CODES))
            continue;
        const char *text = column->missing_text;
        return error_set(error, TR_EFORMAT,
                         "%s: line %" PRIu64 ": column %u has no value%s%s%s, as in %" PRIu64
                         " rows; say what stands for one by \"missing\": mean or zero",
                         nodes->options->nodes, column->missing_line, i + 1,
                         text[0] != '\0' ? " but '" : "", text, text[0] != '\0' ? "'" : "",
                         column->missing);
    }
    return 0;
}

/* Tells what became of the columns. */
static void report_columns(const struct table_nodes *nodes, struct table_found *found)
{
    struct table_column *told = found->columns + (found->num_columns - nodes->count);
    for (uint32_t i = 0; i < nodes->count; i++) {
        const struct node_column *column = &nodes->columns[i];
        told[i].role = column->role;
        told[i].missing = column->missing;
        told[i].values = column->num_values;
        told[i].scaled = column->role == TABLE_NUMBERS && column->scaled;
        if (column->role == TABLE_LABELS)
            found->num_classes = column->num_values;
    }
    found->node_rows = nodes->rows;
}

int table_nodes_read(struct table_nodes *nodes, const struct table_options *options,
                     struct id_map *ids, struct table_found *found, struct error *error)
{
    *nodes = (struct table_nodes){ .options = options, .ids = ids };
    int rv = nodes_survey(nodes, ids, found, error);
    if (rv == 0)
        rv = alloc_values(nodes, error);
    if (rv == 0)
        rv = nodes_take(nodes, error);
    if (rv == 0)
        rv = nodes_finish(nodes, error);
    if (rv == 0)
        rv = check_missing(nodes, error);
    if (rv == 0)
        report_columns(nodes, found);
    return rv;
}
