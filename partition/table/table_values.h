/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a field of a table says: nothing, a number, a text, whether a node is in a mask.
 *
 * Ownership: value_reader_fini frees the locale. Thread rules: pure, one thread a reader.
 */
#ifndef PARTITION_TABLE_TABLE_VALUES_H
#define PARTITION_TABLE_TABLE_VALUES_H

#include <locale.h>

#include "partition/table/table_reader.h"

struct value_reader {
    /* The user's locale may have a decimal comma: numbers of a table have a point. */
    locale_t plain;
    /* Words that stand for no value beside those that programs write, with commas between them;
     * "": no word does; NULL: those of programs alone. Borrowed. */
    const char *no_value;
};

/* TR_ENOMEM. */
int value_reader_init(struct value_reader *reader, const char *no_value);
void value_reader_fini(struct value_reader *reader);

/* An empty field, or a word that stands for no value, however its letters are written. */
bool value_is_missing(const struct value_reader *reader, const struct table_field *field);
/* Whether the reader's list has it, which somebody gave. */
bool value_is_listed(const struct value_reader *reader, const struct table_field *field);
/* What programs write in place of a value: NA, N/A, NaN, null, None, \N, ? and some more. */
bool value_is_program_word(const struct table_field *field);
/* What people write where they know no value, and what may be one all the same: unknown, -, ... */
bool value_may_be_none(const struct table_field *field);
/* A finite decimal number. */
bool value_is_number(const struct value_reader *reader, const struct table_field *field,
                     double *number);
/* A decimal number that doubles do not hold, such as 1e400. */
bool value_is_too_large(const struct value_reader *reader, const struct table_field *field);
/* The numbers of a field that holds a list of them: "0.5, 1", "[0.5, 1]" or "[0.5 1]". */
struct value_list {
    const char *at, *end;
    bool bracketed;
    bool begun;
};
void value_list_begin(struct value_list *list, const struct table_field *field);
/* 1: *number is the next one; 0: there is no more; -1: it is no list of numbers. */
int value_list_next(struct value_list *list, const struct value_reader *reader, double *number);

/* Whether people read a number in it, also as spreadsheets write some: 1,234.50, 1.234,50, $3 or 3 %.
 * No date or version is one. */
bool value_looks_numeric(const struct table_field *field);
/* Whether the text is the word, however its letters are written. */
bool value_is_word(const struct table_field *field, const char *word);

enum value_mask { VALUE_NO_MASK = -1, VALUE_TRAIN, VALUE_VAL, VALUE_TEST, VALUE_MASKS };

/* "train", "validation" ...: false where the word is no part of a split. */
bool value_is_split(const struct table_field *field, enum value_mask *mask);
/* 1, true, yes, t, y and their opposites. */
bool value_is_flag(const struct table_field *field, bool *set);

/* Whether the text may name something: UTF-8, without control characters, at most ID_TEXT_MAX
 * bytes. */
bool value_is_name(const struct table_field *field);

/* Whether the text is UTF-8, whatever its characters and its length. */
bool value_is_utf8(const struct table_field *field);

/* A field as a message shows it: its begin, printable. */
#define VALUE_SHOWN 48
const char *value_show(const struct table_field *field, char text[VALUE_SHOWN]);

/* A column, from 1, as a message calls it before its verb: "column 3, city,", or "key 'city'" where
 * the table has keys; "column 3" where the name is NULL. */
const char *column_show(bool keys, uint32_t column, const char *name, char text[COLUMN_SHOWN]);

#endif
