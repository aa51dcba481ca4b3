/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* strtod_l */
#include "partition/table/table_values.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "partition/table/id_map.h"
#include "runtime/base/printable.h"

/* More digits than a double has are read and rounded; a longer field is a text. */
#define NUMBER_MAX 64

int value_reader_init(struct value_reader *reader, const char *no_value)
{
    reader->no_value = no_value;
    reader->plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    return reader->plain == (locale_t)0 ? TR_ENOMEM : 0;
}

void value_reader_fini(struct value_reader *reader)
{
    if (reader->plain != (locale_t)0)
        freelocale(reader->plain);
    reader->plain = (locale_t)0;
}

bool value_is_word(const struct table_field *field, const char *word)
{
    return strlen(word) == field->length && strncasecmp(field->at, word, field->length) == 0;
}

static bool is_one_of(const struct table_field *field, const char *const *words)
{
    for (; *words != NULL; words++) {
        if (value_is_word(field, *words))
            return true;
    }
    return false;
}

/* The longest word of the lists below: other fields are not compared. */
#define PROGRAM_WORD_MAX 8u
#define PEOPLE_WORD_MAX 14u

bool value_is_program_word(const struct table_field *field)
{
    /* R, pandas, databases' exports, spreadsheets, the UCI archive. */
    static const char *const WORDS[] = { "na",     "n/a",    "nan",     "null",    "none",
                                         "\\n",    "?",      "<na>",    "#n/a",    "#na",
                                         "-nan",   "1.#ind", "-1.#ind", "1.#qnan", "-1.#qnan",
                                         "(null)", "<null>", NULL };
    return field->length > 0 && field->length <= PROGRAM_WORD_MAX && is_one_of(field, WORDS);
}

bool value_may_be_none(const struct table_field *field)
{
    static const char *const WORDS[] = { "unknown",
                                         "(unknown)",
                                         "<unknown>",
                                         "unk",
                                         "<unk>",
                                         "-",
                                         "--",
                                         "---",
                                         ".",
                                         "..",
                                         "...",
                                         "*",
                                         "missing",
                                         "undefined",
                                         "unspecified",
                                         "not known",
                                         "not set",
                                         "not available",
                                         "not specified",
                                         "not applicable",
                                         "no data",
                                         "no value",
                                         "n.a.",
                                         "n.a",
                                         "nil",
                                         "nat",
                                         "(none)",
                                         "<none>",
                                         "unlabeled",
                                         "unlabelled",
                                         "inf",
                                         "-inf",
                                         "infinity",
                                         "tbd",
                                         "#div/0!",
                                         "#value!",
                                         "#ref!",
                                         "#null!",
                                         "(missing)",
                                         "nodata",
                                         NULL };
    return field->length <= PEOPLE_WORD_MAX && is_one_of(field, WORDS);
}

/* Blanks around a word of the list are not part of it. */
bool value_is_listed(const struct value_reader *reader, const struct table_field *field)
{
    const char *at = reader->no_value != NULL ? reader->no_value : "";
    while (*at != '\0') {
        size_t length = strcspn(at, ","), begin = strspn(at, " ");
        const char *next = at + length + (at[length] == ',');
        begin = begin < length ? begin : length;
        while (length > begin && at[length - 1] == ' ')
            length--;
        if (length - begin == field->length && length > begin &&
            strncasecmp(at + begin, field->at, field->length) == 0)
            return true;
        at = next;
    }
    return false;
}

bool value_is_missing(const struct value_reader *reader, const struct table_field *field)
{
    if (field->length == 0)
        return true;
    if (reader->no_value == NULL)
        return value_is_program_word(field);
    return reader->no_value[0] != '\0' &&
           (value_is_program_word(field) || value_is_listed(reader, field));
}

/* Whether the field is a decimal number; *number is infinite where it is beyond what doubles hold. */
static bool parse_number(const struct value_reader *reader, const struct table_field *field,
                         double *number)
{
    char text[NUMBER_MAX + 1], *end;
    if (field->length == 0 || field->length > NUMBER_MAX)
        return false;
    /* Not "inf", and no hexadecimal number: nobody means those. */
    for (uint32_t i = 0; i < field->length; i++) {
        if (strchr("0123456789+-.eE", field->at[i]) == NULL)
            return false;
    }
    memcpy(text, field->at, field->length);
    text[field->length] = '\0';
    *number = strtod_l(text, &end, reader->plain);
    return *end == '\0';
}

bool value_is_number(const struct value_reader *reader, const struct table_field *field,
                     double *number)
{
    return parse_number(reader, field, number) && isfinite(*number);
}

bool value_is_too_large(const struct value_reader *reader, const struct table_field *field)
{
    double number;
    return parse_number(reader, field, &number) && !isfinite(number);
}

static bool is_list_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static void list_skip_blanks(struct value_list *list)
{
    while (list->at < list->end && is_list_blank(*list->at))
        list->at++;
}

void value_list_begin(struct value_list *list, const struct table_field *field)
{
    *list = (struct value_list){ .at = field->at, .end = field->at + field->length };
    if (field->length < 2)
        return;
    const char last = list->end[-1];
    list->bracketed = (*list->at == '[' && last == ']') || (*list->at == '(' && last == ')');
    list->at += list->bracketed;
    list->end -= list->bracketed;
}

int value_list_next(struct value_list *list, const struct value_reader *reader, double *number)
{
    list_skip_blanks(list);
    /* NumPy writes blanks alone between numbers in brackets. */
    bool comma = list->begun && list->at < list->end && *list->at == ',';
    if (comma)
        list->at++;
    list_skip_blanks(list);
    if (list->at == list->end)
        return comma || !(list->bracketed || list->begun) ? -1 : 0;
    if (list->begun && !comma && !list->bracketed)
        return -1;
    const char *begin = list->at;
    while (list->at < list->end && *list->at != ',' && !is_list_blank(*list->at))
        list->at++;
    const struct table_field field = { begin, (uint32_t)(list->at - begin) };
    list->begun = true;
    return value_is_number(reader, &field, number) ? 1 : -1;
}

/* What stands before or behind an amount, beside signs and blanks: $, %, and the bytes of a euro, a
 * pound, a yen and blanks that do not break a line. */
static bool is_around_number(unsigned char c)
{
    return c == ' ' || c == '$' || c == '%' || c >= 0x80;
}

static bool is_digit(const struct table_field *field, uint32_t at)
{
    return at < field->length && field->at[at] >= '0' && field->at[at] <= '9';
}

static uint32_t skip_digits(const struct table_field *field, uint32_t at)
{
    while (is_digit(field, at))
        at++;
    return at;
}

bool value_looks_numeric(const struct table_field *field)
{
    const char *text = field->at;
    uint32_t at = 0, length = field->length;
    while (length > 0 && is_around_number((unsigned char)text[length - 1]))
        length--;
    while (at < length &&
           (is_around_number((unsigned char)text[at]) || text[at] == '-' || text[at] == '+'))
        at++;
    const struct table_field body = { text, length };
    uint32_t end = skip_digits(&body, at);
    if (end == at || length - at > NUMBER_MAX)
        return false;
    /* Groups of three digits, then a fraction. */
    while (end < length && strchr(",.' _", text[end]) != NULL &&
           skip_digits(&body, end + 1) == end + 4)
        end += 4;
    if (end < length && (text[end] == ',' || text[end] == '.'))
        end = skip_digits(&body, end + 1);
    return end == length;
}

bool value_is_split(const struct table_field *field, enum value_mask *mask)
{
    static const char *const TRAIN[] = { "train", "training", NULL };
    static const char *const VAL[] = { "val", "valid", "validation", "dev", NULL };
    static const char *const TEST[] = { "test", "testing", NULL };
    *mask = VALUE_NO_MASK;
    if (is_one_of(field, TRAIN))
        *mask = VALUE_TRAIN;
    else if (is_one_of(field, VAL))
        *mask = VALUE_VAL;
    else if (is_one_of(field, TEST))
        *mask = VALUE_TEST;
    return *mask != VALUE_NO_MASK;
}

bool value_is_flag(const struct table_field *field, bool *set)
{
    static const char *const YES[] = { "1", "true", "yes", "t", "y", "1.0", NULL };
    static const char *const NO[] = { "0", "false", "no", "f", "n", "0.0", NULL };
    *set = is_one_of(field, YES);
    return *set || is_one_of(field, NO);
}

/* The bytes of the UTF-8 character that begins here, as RFC 3629 has it; 0: it is none. */
static uint32_t character_bytes(const unsigned char *at, uint32_t left)
{
    unsigned char first = at[0], least = 0x80, most = 0xbf;
    uint32_t bytes = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    if ((first >= 0x80 && first < 0xc2) || first > 0xf4 || bytes > left)
        return 0;
    least = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : least;
    most = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : most;
    for (uint32_t i = 1; i < bytes; i++) {
        if (at[i] < (i == 1 ? least : 0x80) || at[i] > (i == 1 ? most : 0xbf))
            return 0;
    }
    return bytes;
}

bool value_is_name(const struct table_field *field)
{
    const unsigned char *at = (const unsigned char *)field->at;
    if (field->length > ID_TEXT_MAX)
        return false;
    for (uint32_t i = 0; i < field->length;) {
        if (at[i] >= 0x20 && at[i] < 0x7f) {
            i++;
            continue;
        }
        uint32_t bytes = at[i] < 0x80 ? 0 : character_bytes(at + i, field->length - i);
        if (bytes == 0)
            return false;
        i += bytes;
    }
    return true;
}

bool value_is_utf8(const struct table_field *field)
{
    const unsigned char *at = (const unsigned char *)field->at;
    for (uint32_t i = 0; i < field->length;) {
        uint32_t bytes = character_bytes(at + i, field->length - i);
        if (bytes == 0)
            return false;
        i += bytes;
    }
    return true;
}

const char *value_show(const struct table_field *field, char text[VALUE_SHOWN])
{
    uint32_t length = field->length < VALUE_SHOWN - 1 ? field->length : VALUE_SHOWN - 1;
    memcpy(text, field->at, length);
    text[length] = '\0';
    make_printable(text);
    return text;
}

const char *column_show(bool keys, uint32_t column, const char *name, char text[COLUMN_SHOWN])
{
    char shown[VALUE_SHOWN] = "";
    if (name != NULL)
        value_show(&(struct table_field){ name, (uint32_t)strlen(name) }, shown);
    if (name == NULL || shown[0] == '\0')
        snprintf(text, COLUMN_SHOWN, "column %" PRIu32, column);
    else if (keys)
        snprintf(text, COLUMN_SHOWN, "key '%s'", shown);
    else
        snprintf(text, COLUMN_SHOWN, "column %" PRIu32 ", %s,", column, shown);
    return text;
}
