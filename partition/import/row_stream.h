/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of numbers, one after the other, of a text (a line each, commas between) or of an array of
 * an .npz archive.
 *
 * A text of whole numbers throughout gives int64, any other float32; an array its own type. A field
 * that is empty, "nan" or "NA" is NaN. Memory is that of a row, whatever the size.
 *
 * Ownership: row_stream_close frees all; the archive outlives it. One thread at a time.
 */
#ifndef PARTITION_IMPORT_ROW_STREAM_H
#define PARTITION_IMPORT_ROW_STREAM_H

#include <locale.h>

#include "partition/raw/npz.h"
#include "partition/raw/text.h"

/* Longer rows are those of a damaged file: 16 million columns train nothing. */
#define ROW_STREAM_BYTES_MAX ((uint64_t)1 << 26)

struct row_stream {
    enum tr_dtype dtype;
    uint32_t ndim;  /* of a row: 0 where it is one number */
    uint64_t width; /* numbers a row */
    size_t row_bytes;
    uint64_t rows_done;
    const char *place; /* the file, or the archive and its array, for messages */
    bool is_text;
    bool is_open;
    char *path;
    struct text text;
    locale_t plain; /* whose decimal point is a point */
    struct npz_stream array;
    uint64_t rows_left; /* of the array */
};

int row_stream_open_text(struct row_stream *stream, struct files *files, const char *path,
                         const struct cancel *cancel, struct error *error);
int row_stream_open_array(struct row_stream *stream, const struct npz *npz, const char *name,
                          struct error *error);
/* Harmless on a zeroed stream. */
void row_stream_close(struct row_stream *stream);

/* Up to `most` rows; *got is 0 at the end, where all of the file was read. */
int row_stream_next(struct row_stream *stream, uint64_t most, void *rows, uint64_t *got,
                    struct error *error);

#endif
