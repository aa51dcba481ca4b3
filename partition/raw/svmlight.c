/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* strtod_l */
#include "partition/raw/svmlight.h"

#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "graph/csr.h"
#include "partition/raw/text.h"

/* The memory of labels at first. */
#define LABELS_MIN ((uint64_t)1024)

struct svmlight_reading {
    struct svmlight *read;
    struct text text;
    locale_t plain;     /* whose decimal point is a point */
    uint64_t zero_line; /* of an index 0; 0: none */
    uint32_t largest;   /* index */
};

static int no_memory(struct text *text)
{
    return text_fail(text, TR_ENOMEM, "no memory for the rows up to here");
}

/* The word that ends here as a finite number. */
static int take_real(struct svmlight_reading *reading, const char *word, const char *what,
                     double *number)
{
    char *end;
    *number = strtod_l(word, &end, reading->plain);
    if (word[0] != '\0' && *end == '\0' && isfinite(*number))
        return 0;
    return text_fail(&reading->text, TR_EFORMAT, "%s has to be a finite number, not '%s'", what,
                     word);
}

static int take_label(struct svmlight_reading *reading)
{
    struct svmlight *read = reading->read;
    struct text *text = &reading->text;
    char word[TEXT_TOKEN_MAX];
    uint64_t row = read->rows.num_rows;
    int rv = text_word(text, word);
    if (rv == 0 && text_peek(text) == ':')
        rv = text_fail(text, TR_EFORMAT,
                       "begins with an element, '%s:'; a label comes first, 0 where there is none",
                       word);
    if (rv == 0 && text_peek(text) == ',')
        rv = text_fail(text, TR_EUNSUPPORTED,
                       "has several labels; one a row is read, several from a nodes table of "
                       "`troupe import table`");
    if (rv == 0 && row == read->labels_room) {
        uint64_t room = row == 0 ? LABELS_MIN : 2 * row;
        double *grown = realloc(read->labels, (size_t)room * sizeof *grown);
        if (grown == NULL)
            return no_memory(text);
        read->labels = grown;
        read->labels_room = room;
    }
    if (rv == 0)
        rv = take_real(reading, word, "the label", &read->labels[row]);
    if (rv == 0 && read->fraction_line == 0 &&
        (read->labels[row] != floor(read->labels[row]) || fabs(read->labels[row]) > 0x1p53))
        read->fraction_line = text->line;
    return rv;
}

/* INDEX:VALUE, or qid:NUMBER. */
static int take_element(struct svmlight_reading *reading, bool *has_qid)
{
    struct svmlight *read = reading->read;
    struct text *text = &reading->text;
    char word[TEXT_TOKEN_MAX], value[TEXT_TOKEN_MAX] = "", *end;
    double number = 0;
    int rv = text_word(text, word);
    if (rv != 0)
        return rv;
    if (text_peek(text) != ':')
        return text_fail(text, TR_EFORMAT, "INDEX:VALUE is needed where '%s' stands", word);
    text_skip(text);
    rv = text_word(text, value);
    if (rv == 0 && text_peek(text) == ':')
        rv = text_fail(text, TR_EFORMAT, "INDEX:VALUE has two colons behind '%s'", word);
    if (rv == 0)
        rv = take_real(reading, value, "the value", &number);
    if (rv != 0)
        return rv;
    if (strcmp(word, "qid") == 0) {
        *has_qid = true;
        return 0;
    }
    /* At most 63 digits: what is too large for 64 bits becomes the largest number. */
    bool digits = word[0] != '\0' && strspn(word, "0123456789") == strlen(word);
    uint64_t index = digits ? strtoull(word, &end, 10) : 0;
    if (!digits)
        return text_fail(text, TR_EFORMAT, "the index '%s' is not a whole number", word);
    if (index > CSR_WIDTH_MAX)
        return text_fail(text, TR_ERANGE, "the index %s is above %" PRIu64, word, CSR_WIDTH_MAX);
    if (!isfinite((float)number))
        return text_fail(text, TR_ERANGE, "the value %s is too large for a feature", value);
    if (index == 0 && reading->zero_line == 0)
        reading->zero_line = text->line;
    reading->largest = (uint32_t)index > reading->largest ? (uint32_t)index : reading->largest;
    return feature_rows_add(&read->rows, (uint32_t)index, (float)number) != 0 ? no_memory(text) : 0;
}

static int take_row(struct svmlight_reading *reading)
{
    struct svmlight *read = reading->read;
    struct text *text = &reading->text;
    uint32_t repeated = 0;
    bool has_qid = false;
    read->first_line = read->first_line == 0 ? text->line : read->first_line;
    int rv = take_label(reading);
    while (rv == 0) {
        text_skip_blanks(text);
        int c = text_peek(text);
        if (c == TEXT_END || c == '\n' || c == '#')
            break;
        rv = take_element(reading, &has_qid);
    }
    if (rv == 0)
        rv = text->rv;
    if (rv == 0)
        rv = feature_rows_end(&read->rows, &repeated);
    if (rv == TR_EEXIST)
        return text_fail(text, TR_EFORMAT, "has two elements of index %" PRIu32, repeated);
    if (rv == TR_ENOMEM)
        return no_memory(text);
    if (rv != 0)
        return rv;
    read->qid_rows += has_qid;
    /* The line end, and what may stand before it as a comment. */
    text_skip_line(text);
    return text->rv;
}

/* Indices become columns from 0. */
static int settle_base(struct svmlight_reading *reading, enum svmlight_base base)
{
    struct svmlight *read = reading->read;
    read->base = base == SVMLIGHT_BASE_FIND ? reading->zero_line == 0 : base == SVMLIGHT_BASE_1;
    if (read->base == 1 && reading->zero_line != 0)
        return error_set(reading->text.error, TR_ERANGE,
                         "%s: line %" PRIu64 ": the index is 0, but indices are said to count from "
                         "1 (\"feature_base\")",
                         reading->text.path, reading->zero_line);
    for (uint64_t i = 0; i < read->rows.num_items; i++)
        read->rows.columns[i] -= read->base;
    read->rows.width = reading->largest + (uint64_t)1 - read->base;
    return 0;
}

int svmlight_read(struct svmlight *read, struct files *files, const char *path,
                  enum svmlight_base base, const struct cancel *cancel, struct error *error)
{
    struct svmlight_reading reading = { .read = read };
    *read = (struct svmlight){ 0 };
    reading.plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (reading.plain == (locale_t)0 || feature_rows_init(&read->rows, 0) != 0) {
        if (reading.plain != (locale_t)0)
            freelocale(reading.plain);
        svmlight_fini(read);
        return error_set(error, TR_ENOMEM, "%s: no memory to read it", path);
    }
    int rv = text_open(&reading.text, files, path, cancel, error);
    if (rv == 0) {
        reading.text.delimiter = ':';
        while (rv == 0 &&
               (text_skip_comments(&reading.text, true), text_peek(&reading.text) != TEXT_END))
            rv = take_row(&reading);
        if (rv == 0)
            rv = reading.text.rv;
        if (rv == 0 && read->rows.num_rows == 0)
            rv = error_set(error, TR_EFORMAT, "%s: holds no row", path);
        if (rv == 0)
            rv = settle_base(&reading, base);
        if (rv == 0 && read->rows.width == 0)
            rv = error_set(error, TR_EFORMAT, "%s: holds no element, only labels", path);
        text_close(&reading.text);
    }
    freelocale(reading.plain);
    if (rv != 0)
        svmlight_fini(read);
    return rv;
}

void svmlight_fini(struct svmlight *read)
{
    feature_rows_fini(&read->rows);
    free(read->labels);
    *read = (struct svmlight){ 0 };
}
