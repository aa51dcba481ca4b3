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

void node_column_fini(struct node_column *column)
{
    free(column->values);
    free(column->codes);
    free(column->set_ends);
    free(column->names);
}

bool node_column_is_whole(double number)
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
    else if (!node_column_is_whole(number))
        keep_first(&column->large_line, line);
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
static void doubt(struct node_column *column, const struct value_reader *values,
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
        doubt(column, values, field, line);
}

void node_column_survey(struct node_column *column, const struct value_reader *values,
                        const struct table_field *field, uint64_t line)
{
    double number;
    if (value_is_missing(values, field)) {
        if (column->missing++ == 0) {
            column->missing_line = line;
            if (field->length > 0)
                value_show(field, column->missing_text);
        }
        return;
    }
    column->present++;
    if (column->numbers && value_is_number(values, field, &number)) {
        survey_number(column, number, line);
        column->numeric++;
    } else {
        column->numbers = false;
        keep_first(&column->text_line, line);
        column->numeric += value_looks_numeric(field);
        doubt(column, values, field, line);
    }
    if (column->role == TABLE_LABELS && values->no_value == NULL && field->length == 2 &&
        memcmp(field->at, "-1", 2) == 0) {
        keep_first(&column->minus_line, line);
        column->minus_rows++;
    }
    if (value_is_name(field) && field->length <= ID_TEXT_MAX - NODE_TEXT_PREFIX)
        return;
    if (value_is_utf8(field)) {
        column->prose = true;
        keep_first(&column->prose_line, line);
    } else {
        keep_first(&column->foreign_line, line);
    }
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
    /* Among texts it is a class. */
    if (!column->numbers && column->minus_rows > 0) {
        const struct table_field minus = { "-1", 2 };
        doubt_word(column, &minus);
        column->doubted_rows += column->minus_rows;
        if (column->doubted_line == 0 || column->minus_line < column->doubted_line)
            column->doubted_line = column->minus_line;
    }
    if (column->prose_line == 0 && column->foreign_line == 0)
        return 0;
    reader->line = column->foreign_line != 0 ? column->foreign_line : column->prose_line;
    return table_reader_fail(reader, TR_EFORMAT,
                             "the label is no name: names are UTF-8 without control characters, of "
                             "at most %u bytes; name another column by \"labels\"",
                             ID_TEXT_MAX - NODE_TEXT_PREFIX);
}

int node_column_decide(struct node_column *column, uint32_t i, struct table_reader *reader)
{
    if (column->role == TABLE_LABELS)
        return decide_labels(column, reader);
    if (column->role != TABLE_NUMBERS)
        return 0;
    if (column->present == 0) {
        column->role = TABLE_DROPPED;
    } else if (column->numbers) {
        decide_scale(column);
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

uint64_t node_column_odd_line(const struct node_column *column)
{
    bool texts = column->role == TABLE_CATEGORIES || column->role == TABLE_CODES ||
                 column->role == TABLE_DROPPED;
    return texts && column->numeric > 0 && 10 * column->numeric >= 9 * column->present
               ? column->text_line
               : 0;
}

/* Numbers are scaled as doubles: floats of large numbers have lost their differences. */
bool node_column_number(const struct node_column *column, const struct value_reader *values,
                        const struct table_field *field, enum table_missing missing, float *number,
                        bool *too_large)
{
    double value;
    *too_large = false;
    if (value_is_missing(values, field)) {
        /* In a column that is scaled, 0 and the mean are one. */
        *number = (float)(missing == TABLE_MISSING_MEAN && !column->scaled ? column->mean : 0);
        return true;
    }
    if (!value_is_number(values, field, &value))
        return false;
    /* Where squares are too large for doubles, the largest number is the one to name. */
    *too_large = column->scaled && !isfinite(column->deviation) && fabs(value) == column->most;
    if (column->scaled)
        value = (value - column->mean) / column->deviation;
    *too_large = *too_large || (isfinite(column->deviation) && !isfinite((float)value));
    *number = (float)value;
    return true;
}
