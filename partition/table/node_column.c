/* SPDX-License-Identifier: Apache-2.0 */
#include "partition/table/node_column.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "partition/table/id_map.h"

/* Doubles hold whole numbers exactly below. */
#define WHOLE_MAX 9007199254740992.0
/* Numbers that may be kinds: two say the same as amounts, and more are rarely kinds. */
#define KINDS_MIN 3u
#define KINDS_MAX 12u
#define ROWS_A_KIND 10u

void node_column_fini(struct node_column *column)
{
    free(column->values);
    free(column->vector);
    free(column->row);
    free(column->codes);
    free(column->set_ends);
    free(column->names);
}

bool node_column_is_whole(double number)
{
    return number == trunc(number) && fabs(number) <= WHOLE_MAX;
}

bool node_column_is_text_lists(const struct node_column *column)
{
    return column->role != TABLE_VECTORS && column->bracketed > 0 &&
           10 * column->bracketed >= 9 * column->present;
}

bool node_column_is_scaled(const struct node_column *column)
{
    bool scaled = column->role == TABLE_NUMBERS && column->stats.scaled;
    for (uint32_t i = 0; column->role == TABLE_VECTORS && i < column->width; i++)
        scaled = scaled || column->vector[i].scaled;
    return scaled;
}

static void keep_first(uint64_t *first, uint64_t line)
{
    *first = *first == 0 ? line : *first;
}

/* Welford's method, in the order of rows: "Note on a Method for Calculating Corrected Sums of
 * Squares and Products", Technometrics 4 (1962). */
static void stats_add(struct number_stats *stats, double number)
{
    double before = number - stats->mean;
    stats->mean += before / (double)++stats->count;
    stats->squares += before * (number - stats->mean);
    stats->most = fabs(number) > stats->most ? fabs(number) : stats->most;
}

static void stats_decide(struct number_stats *stats)
{
    stats->scaled = stats->most > TABLE_SCALED_FROM;
    stats->deviation = sqrt(stats->squares / (double)stats->count);
    /* A column of one value has nothing to divide. */
    if (stats->deviation == 0)
        stats->deviation = 1;
}

static void survey_number(struct node_column *column, double number, uint64_t line)
{
    stats_add(&column->stats, number);
    if (number >= 0 && number < 64 && number == trunc(number))
        column->small |= UINT64_C(1) << (unsigned)number;
    else
        column->other_than_small = true;
    column->lists++;
    column->width = 1;
    if (number != trunc(number))
        keep_first(&column->fraction_line, line);
    else if (!node_column_is_whole(number))
        keep_first(&column->large_line, line);
}

/* How many numbers the list has, the first `room` of them in numbers; -1: it is no list. */
static int64_t read_list(const struct value_reader *values, const struct table_field *field,
                         double *numbers, uint32_t room)
{
    struct value_list list;
    double number;
    int64_t count = 0;
    int more;
    value_list_begin(&list, field);
    while ((more = value_list_next(&list, values, &number)) > 0) {
        if (count < room)
            numbers[count] = number;
        count++;
    }
    return more < 0 ? -1 : count;
}

static int survey_list(struct node_column *column, const struct value_reader *values,
                       const struct table_field *field, uint64_t line)
{
    /* Where a value is no list, none is looked at any more. */
    if (column->no_list_line != 0)
        return 0;
    int64_t count = read_list(values, field, column->row, column->row != NULL ? column->width : 0);
    if (count < 0) {
        column->no_list_line = line;
        return 0;
    }
    column->sure = column->sure || !value_looks_numeric(field);
    if (column->lists++ == 0) {
        column->width = count <= TABLE_VECTOR_MAX ? (uint32_t)count : TABLE_VECTOR_MAX + 1;
        column->row = calloc((size_t)column->width + 1, sizeof *column->row);
        column->vector = calloc((size_t)column->width + 1, sizeof *column->vector);
        if (column->row == NULL || column->vector == NULL)
            return TR_ENOMEM;
        read_list(values, field, column->row, column->width);
    }
    if (count != column->width) {
        if (column->width_line == 0)
            column->other_width = count <= TABLE_VECTOR_MAX ? (uint32_t)count
                                                            : TABLE_VECTOR_MAX + 1;
        keep_first(&column->width_line, line);
    }
    for (uint32_t i = 0; column->width_line == 0 && column->vector != NULL && i < column->width;
         i++)
        stats_add(&column->vector[i], column->row[i]);
    return 0;
}

/* Adds the word to a list with commas, where it is not there and finds room. */
static void doubt_word(struct node_column *column, const struct table_field *field)
{
    const size_t used = strlen(column->doubted);
    for (const char *at = column->doubted; *at != '\0';) {
        const size_t length = strcspn(at, ",");
        if (length == field->length && strncasecmp(at, field->at, length) == 0)
            return;
        at += length + (at[length] == ',');
    }
    if (used + 1 + field->length < sizeof column->doubted)
        snprintf(column->doubted + used, sizeof column->doubted - used, "%s%.*s",
                 used > 0 ? "," : "", (int)field->length, field->at);
}

/* A value that may stand for none. Where "no_value" is empty, somebody said that all are values. */
static void doubt_value(struct node_column *column, const struct value_reader *values,
                        const struct table_field *field, uint64_t line)
{
    if (!value_may_be_none(field) || (values->no_value != NULL && values->no_value[0] == '\0'))
        return;
    keep_first(&column->doubted_line, line);
    column->doubted_rows++;
    doubt_word(column, field);
}

void node_column_survey_labels(struct node_column *column, const struct value_reader *values,
                               const struct table_field *field, uint64_t line)
{
    if (value_is_missing(values, field))
        column->missing++;
    else if (column->role == TABLE_LABEL_SETS)
        doubt_value(column, values, field, line);
}

int node_column_survey(struct node_column *column, const struct value_reader *values,
                       const struct table_field *field, uint64_t line)
{
    double number;
    int rv = 0;
    if (value_is_missing(values, field)) {
        if (column->missing++ == 0) {
            column->missing_line = line;
            if (field->length > 0)
                value_show(field, column->missing_text);
        }
        return 0;
    }
    column->present++;
    if (column->numbers && value_is_number(values, field, &number)) {
        survey_number(column, number, line);
        column->numeric++;
    } else if (column->numbers && value_is_too_large(values, field)) {
        column->numeric++;
        keep_first(&column->huge_line, line);
        keep_first(&column->large_line, line);
    } else {
        column->numbers = false;
        keep_first(&column->text_line, line);
        column->numeric += value_looks_numeric(field);
        column->bracketed += field->length >= 2 && field->at[0] == '[' &&
                             field->at[field->length - 1] == ']';
        doubt_value(column, values, field, line);
        rv = survey_list(column, values, field, line);
    }
    if (column->role == TABLE_LABELS && values->no_value == NULL && field->length == 2 &&
        memcmp(field->at, "-1", 2) == 0) {
        keep_first(&column->minus_line, line);
        column->minus_rows++;
    }
    if (value_is_name(field) && field->length <= ID_TEXT_MAX - NODE_TEXT_PREFIX)
        return rv;
    if (value_is_utf8(field)) {
        column->prose = true;
        keep_first(&column->prose_line, line);
    } else {
        keep_first(&column->foreign_line, line);
    }
    return rv;
}

/* Lists that are all features, or labels that are none. */
static bool is_lists(const struct node_column *column)
{
    return !column->numbers && column->present > 0 && column->lists == column->present &&
           (column->sure || column->role == TABLE_LABELS);
}

static int decide_vectors(struct node_column *column, uint32_t i, struct table_reader *reader)
{
    char shown[COLUMN_SHOWN];
    if (column->width_line != 0) {
        reader->line = column->width_line;
        return table_reader_fail(reader, TR_EFORMAT,
                                 "%s has a list of %u number%s, and one of %u before; lists of "
                                 "one length become features: correct it, leave the column out by "
                                 "\"features\", or give numbers of features that a node has by "
                                 "\"node_features\"",
                                 table_reader_show_column(reader, i + 1, shown),
                                 column->other_width, column->other_width == 1 ? "" : "s",
                                 column->width);
    }
    if (column->width == 0 || column->width > TABLE_VECTOR_MAX)
        return table_reader_fail(reader, TR_EUNSUPPORTED,
                                 "%s has lists of %s; leave it out by \"features\"",
                                 table_reader_show_column(reader, i + 1, shown),
                                 column->width == 0 ? "no number" : "more than 65536 numbers");
    column->role = TABLE_VECTORS;
    for (uint32_t place = 0; place < column->width; place++)
        stats_decide(&column->vector[place]);
    return 0;
}

static int fail_foreign(struct table_reader *reader, uint32_t i)
{
    char shown[COLUMN_SHOWN];
    return table_reader_fail(reader, TR_EFORMAT,
                             "%s holds bytes that are not UTF-8; convert the table (iconv -f "
                             "LATIN1 -t UTF-8), or leave the column out by \"features\"",
                             table_reader_show_column(reader, i + 1, shown));
}

static int decide_labels(struct node_column *column, struct table_reader *reader)
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
    if (is_lists(column)) {
        reader->line = column->text_line;
        return table_reader_fail(
            reader, TR_EFORMAT,
            "the label is a list of numbers, or a number with a comma; where a "
            "node has several labels, give what stands between them by "
            "label_separator");
    }
    /* Among texts it is a class. */
    if (!column->numbers && column->minus_rows > 0) {
        const struct table_field minus = { "-1", 2 };
        doubt_word(column, &minus);
        column->doubted_rows += column->minus_rows;
        if (column->doubted_line == 0 || column->minus_line < column->doubted_line)
            column->doubted_line = column->minus_line;
    }
    if (column->foreign_line != 0) {
        reader->line = column->foreign_line;
        return table_reader_fail(reader, TR_EFORMAT,
                                 "the label holds bytes that are not UTF-8; convert the table "
                                 "(iconv -f LATIN1 -t UTF-8)");
    }
    if (column->prose_line == 0)
        return 0;
    reader->line = column->prose_line;
    return table_reader_fail(
        reader, TR_EFORMAT,
        "the label cannot be kept as a name: names are UTF-8 without control characters, of "
        "at most %u bytes; name another column by \"labels\"",
        ID_TEXT_MAX - NODE_TEXT_PREFIX);
}

int node_column_decide(struct node_column *column, uint32_t i, struct table_reader *reader)
{
    char shown[COLUMN_SHOWN];
    if (column->role == TABLE_LABELS)
        return decide_labels(column, reader);
    if (column->role == TABLE_KINDS) {
        /* Numbers are texts from here on. */
        column->chosen = true;
        column->numbers = false;
        column->lists = 0;
    } else if (column->role != TABLE_NUMBERS) {
        return 0;
    }
    if (column->present == 0) {
        column->role = TABLE_DROPPED;
    } else if (column->numbers && column->huge_line != 0) {
        reader->line = column->huge_line;
        return table_reader_fail(reader, TR_ERANGE,
                                 "%s has a number that is too large for a feature; correct it, or "
                                 "leave the column out by \"features\"",
                                 table_reader_show_column(reader, i + 1, shown));
    } else if (column->numbers) {
        stats_decide(&column->stats);
    } else if (is_lists(column)) {
        return decide_vectors(column, i, reader);
    } else if (column->prose) {
        column->role = TABLE_DROPPED;
    } else if (column->foreign_line != 0) {
        reader->line = column->foreign_line;
        return fail_foreign(reader, i);
    } else {
        column->role = TABLE_CATEGORIES;
    }
    return 0;
}

uint32_t node_column_kinds(const struct node_column *column)
{
    const uint32_t count = (uint32_t)__builtin_popcountll(column->small);
    const bool few = count >= KINDS_MIN && count <= KINDS_MAX &&
                     column->present >= (uint64_t)ROWS_A_KIND * count;
    return column->role == TABLE_NUMBERS && !column->other_than_small && few ? count : 0;
}

uint64_t node_column_odd_line(const struct node_column *column)
{
    if (column->chosen)
        return 0;
    bool texts = column->role == TABLE_CATEGORIES || column->role == TABLE_CODES ||
                 column->role == TABLE_DROPPED;
    if (texts && column->sure && column->lists > 0 && 10 * column->lists >= 9 * column->present)
        return column->no_list_line;
    return texts && column->numeric > 0 && 10 * column->numeric >= 9 * column->present
               ? column->text_line
               : 0;
}

/* Numbers are scaled as doubles: floats of large numbers have lost their differences. */
static float scale_number(const struct number_stats *stats, double value, bool *too_large)
{
    /* Where squares are too large for doubles, the largest number is the one to name. */
    bool large = stats->scaled && !isfinite(stats->deviation) && fabs(value) == stats->most;
    if (stats->scaled)
        value = (value - stats->mean) / stats->deviation;
    *too_large = *too_large || large || (isfinite(stats->deviation) && !isfinite((float)value));
    return (float)value;
}

bool node_column_numbers(const struct node_column *column, const struct value_reader *values,
                         const struct table_field *field, enum table_missing missing,
                         float *numbers, bool *too_large)
{
    const bool lists = column->role == TABLE_VECTORS;
    const struct number_stats *stats = lists ? column->vector : &column->stats;
    const uint32_t width = lists ? column->width : 1;
    double *row = column->row, one;
    *too_large = false;
    if (value_is_missing(values, field)) {
        /* In a column that is scaled, 0 and the mean are one. */
        for (uint32_t i = 0; i < width; i++)
            numbers[i] = (float)(missing == TABLE_MISSING_MEAN && !stats[i].scaled ? stats[i].mean
                                                                                   : 0);
        return true;
    }
    if (!lists)
        row = &one;
    if (lists ? read_list(values, field, row, width) != width
              : !value_is_number(values, field, row))
        return false;
    for (uint32_t i = 0; i < width; i++)
        numbers[i] = scale_number(&stats[i], row[i], too_large);
    return true;
}
