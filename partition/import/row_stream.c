/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* strtod_l */
#include "partition/import/row_stream.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Powers of ten that a double holds exactly. */
static const double TENS[] = { 1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                               1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                               1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22 };
/* As many digits always fit 64 bits. */
#define DIGITS_MAX 18

struct number {
    bool whole; /* integer has it; else real */
    int64_t integer;
    double real;
};

/* Digits and a point, few enough that one division gives the nearest double (Clinger: "How to Read
 * Floating Point Numbers Accurately", 1990); false for all other words. */
static bool parse_short(const char *word, struct number *number)
{
    bool negative = *word == '-';
    const char *at = word + (negative || *word == '+');
    uint64_t digits = 0;
    uint32_t count = 0, behind = 0;
    bool point = false;
    for (; (*at >= '0' && *at <= '9') || (*at == '.' && !point); at++) {
        if (*at == '.') {
            point = true;
            continue;
        }
        if (++count > DIGITS_MAX)
            return false;
        digits = digits * 10 + (uint64_t)(*at - '0');
        behind += point;
    }
    if (*at != '\0' || count == 0)
        return false;
    number->whole = !point;
    number->integer = negative ? -(int64_t)digits : (int64_t)digits;
    if (digits > (uint64_t)1 << 53)
        return !point;
    number->real = (negative ? -(double)digits : (double)digits) / TENS[behind];
    return true;
}

static bool is_missing(const char *word)
{
    return word[0] == '\0' || strcmp(word, "nan") == 0 || strcmp(word, "na") == 0;
}

static int take_number(struct row_stream *stream, struct number *number)
{
    char word[TEXT_TOKEN_MAX], *end;
    int rv = text_word(&stream->text, word);
    if (rv != 0)
        return rv;
    if (parse_short(word, number)) {
        if (number->whole)
            number->real = (double)number->integer;
        return 0;
    }
    number->whole = false;
    number->real = is_missing(word) ? (double)NAN : strtod_l(word, &end, stream->plain);
    if (!is_missing(word) && *end != '\0')
        return text_fail(&stream->text, TR_EFORMAT, "a number is needed, not '%s'", word);
    return 0;
}

/* What a row becomes: its numbers one after the other. */
static void put_number(const struct row_stream *stream, uint8_t *row, uint64_t column,
                       const struct number *number)
{
    float single = (float)number->real;
    if (stream->dtype == TR_I64)
        memcpy(row + 8 * column, &number->integer, 8);
    else
        memcpy(row + 4 * column, &single, 4);
}

/* Reads a line into row, or, where row is NULL, only looks at it: *width numbers, all of them
 * whole or not. */
static int take_row(struct row_stream *stream, uint8_t *row, uint64_t *width, bool *whole)
{
    struct text *text = &stream->text;
    *width = 0;
    *whole = true;
    for (;;) {
        struct number number = { 0 };
        text_skip_blanks(text);
        int rv = take_number(stream, &number);
        if (rv != 0)
            return rv;
        *whole &= number.whole;
        if (row != NULL && *width < stream->width)
            put_number(stream, row, *width, &number);
        ++*width;
        if (*width > ROW_STREAM_BYTES_MAX / sizeof(float))
            return text_fail(text, TR_ETOOBIG, "has more than %" PRIu64 " columns",
                             ROW_STREAM_BYTES_MAX / (uint64_t)sizeof(float));
        text_skip_blanks(text);
        if (text_peek(text) != ',')
            return text_end_line(text);
        text_skip(text);
    }
}

/* Goes to the next line that is not empty. */
static bool at_row(struct row_stream *stream)
{
    struct text *text = &stream->text;
    text_skip_blanks(text);
    while (text_peek(text) == '\n') {
        text_skip(text);
        text_skip_blanks(text);
    }
    return text_peek(text) != TEXT_END;
}

/* The width is the first row's. Whole numbers alone make int64, which is known at the end of the
 * text; nearly every text of other numbers says so in its first row. */
static int look_at_rows(struct row_stream *stream)
{
    uint64_t width;
    bool whole = true;
    int rv = 0;
    stream->width = 0;
    while (rv == 0 && whole && at_row(stream)) {
        rv = take_row(stream, NULL, &width, &whole);
        if (stream->width == 0)
            stream->width = width;
    }
    stream->dtype = whole ? TR_I64 : TR_F32;
    return stream->text.rv;
}

int row_stream_open_text(struct row_stream *stream, struct files *files, const char *path,
                         const struct cancel *cancel, struct error *error)
{
    memset(stream, 0, sizeof *stream);
    stream->is_text = true;
    stream->path = strdup(path);
    stream->plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    int rv = stream->path == NULL || stream->plain == (locale_t)0
                 ? error_set(error, TR_ENOMEM, "%s: no memory to read it", path)
                 : text_open(&stream->text, files, stream->path, cancel, error);
    if (rv == 0) {
        rv = look_at_rows(stream);
        text_close(&stream->text);
    }
    if (rv == 0)
        rv = text_open(&stream->text, files, stream->path, cancel, error);
    stream->is_open = rv == 0;
    stream->place = stream->path;
    stream->ndim = stream->width > 1 ? 1 : 0;
    stream->row_bytes = (size_t)stream->width * tr_dtype_size(stream->dtype);
    if (rv != 0)
        row_stream_close(stream);
    return rv;
}

int row_stream_open_array(struct row_stream *stream, const struct npz *npz, const char *name,
                          struct error *error)
{
    memset(stream, 0, sizeof *stream);
    int rv = npz_open(&stream->array, npz, name, error);
    if (rv != 0)
        return rv;
    const struct npy_header *header = &stream->array.header;
    stream->is_open = true;
    stream->place = stream->array.place;
    if (header->fortran || header->ndim < 1 || header->ndim > 2)
        rv = error_set(error, TR_EUNSUPPORTED,
                       "%s: is needed with one or two dimensions in C's order; save "
                       "numpy.ascontiguousarray of it",
                       stream->place);
    if (rv == 0)
        rv = npz_dtype(header, stream->place, &stream->dtype, error);
    stream->width = header->ndim == 2 ? header->shape[1] : 1;
    stream->ndim = stream->width == 1 ? 0 : 1;
    stream->rows_left = header->shape[0];
    if (rv == 0 && stream->width > ROW_STREAM_BYTES_MAX / header->item_bytes)
        rv = error_set(error, TR_ETOOBIG,
                       "%s: has %" PRIu64 " columns; at most %" PRIu64 " are read", stream->place,
                       stream->width, ROW_STREAM_BYTES_MAX / header->item_bytes);
    stream->row_bytes = (size_t)stream->width * header->item_bytes;
    if (rv != 0)
        row_stream_close(stream);
    return rv;
}

void row_stream_close(struct row_stream *stream)
{
    if (stream->is_open && stream->is_text)
        text_close(&stream->text);
    npz_close(&stream->array);
    if (stream->plain != (locale_t)0)
        freelocale(stream->plain);
    free(stream->path);
    memset(stream, 0, sizeof *stream);
}

static int next_lines(struct row_stream *stream, uint64_t most, uint8_t *rows, uint64_t *got)
{
    uint64_t width;
    bool whole;
    for (*got = 0; *got < most && at_row(stream); ++*got) {
        int rv = take_row(stream, rows + *got * stream->row_bytes, &width, &whole);
        if (rv == 0 && width != stream->width)
            rv = text_fail(&stream->text, TR_EFORMAT,
                           "the row before this has %" PRIu64 " columns, the first one %" PRIu64,
                           width, stream->width);
        if (rv != 0)
            return rv;
    }
    return stream->text.rv;
}

int row_stream_next(struct row_stream *stream, uint64_t most, void *rows, uint64_t *got,
                    struct error *error)
{
    int rv = 0;
    if (stream->is_text) {
        rv = next_lines(stream, most, rows, got);
    } else {
        *got = stream->rows_left < most ? stream->rows_left : most;
        rv = *got > 0 ? npz_read(&stream->array, rows, (size_t)*got * stream->row_bytes, error)
                      : npz_finish(&stream->array, error);
        stream->rows_left -= *got;
    }
    stream->rows_done += *got;
    return rv;
}
