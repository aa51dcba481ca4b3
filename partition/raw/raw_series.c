/* SPDX-License-Identifier: Apache-2.0 */
#include "partition/raw/raw_series.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Pairs are widened through a buffer of this many. */
#define PAIRS_AT_ONCE 8192

void series_init(struct series *series, struct files *files)
{
    memset(series, 0, sizeof *series);
    series->files = files;
}

static void fini_piece(struct series_piece *piece)
{
    pairs_fini(&piece->pairs);
    free(piece->rows);
    free(piece->path);
}

void series_rest(struct series *series)
{
    if (series->is_open)
        npy_close(&series->npy);
    series->is_open = false;
}

void series_fini(struct series *series)
{
    series_rest(series);
    for (uint32_t i = 0; i < series->num_pieces; i++)
        fini_piece(&series->pieces[i]);
    free(series->pieces);
    memset(series, 0, sizeof *series);
}

static int series_append(struct series *series, const char *path, uint64_t count, bool columns,
                         struct error *error)
{
    struct series_piece *grown = realloc(series->pieces,
                                         (series->num_pieces + 1) * sizeof *series->pieces);
    if (grown == NULL)
        return error_set(error, TR_ENOMEM, "%s: no memory to read it", path);
    series->pieces = grown;
    struct series_piece piece = {
        .path = strdup(path), .begin = series->num_rows, .count = count, .columns = columns
    };
    if (piece.path == NULL)
        return error_set(error, TR_ENOMEM, "%s: no memory to read it", path);
    if (__builtin_add_overflow(series->num_rows, count, &series->num_rows)) {
        free(piece.path);
        return error_set(error, TR_ETOOBIG, "%s: more than 2^64 rows", path);
    }
    grown[series->num_pieces++] = piece;
    return 0;
}

static bool same_rows(const struct npy_header *a, const struct npy_header *b)
{
    if (a->kind != b->kind || a->item_bytes != b->item_bytes || a->ndim != b->ndim)
        return false;
    for (uint32_t i = 1; i < a->ndim; i++) {
        if (a->shape[i] != b->shape[i])
            return false;
    }
    return true;
}

static int check_rows(struct series *series, const char *path, const struct npy_header *header,
                      struct error *error)
{
    if (header->ndim == 0)
        return error_set(error, TR_EFORMAT,
                         "%s: shape () is a single number; one row a node or "
                         "edge is needed",
                         path);
    if (series->num_pieces == 0)
        series->header = *header;
    else if (!same_rows(&series->header, header))
        return error_set(error, TR_EMISMATCH,
                         "%s: its type or the shape of its rows is not that of %s; make them equal",
                         path, series->pieces[0].path);
    return 0;
}

int series_add_parsed_pairs(struct series *series, const char *path, struct pairs *pairs,
                            struct error *error)
{
    int rv = series_append(series, path, pairs->count, false, error);
    if (rv != 0) {
        pairs_fini(pairs);
        return rv;
    }
    struct series_piece *piece = &series->pieces[series->num_pieces - 1];
    piece->parsed = true;
    piece->pairs = *pairs;
    memset(pairs, 0, sizeof *pairs);
    return 0;
}

int series_add_parsed_rows(struct series *series, const char *path, const struct npy_header *header,
                           void *rows, struct error *error)
{
    int rv = check_rows(series, path, header, error);
    if (rv == 0)
        rv = series_append(series, path, header->shape[0], false, error);
    if (rv != 0) {
        free(rows);
        return rv;
    }
    struct series_piece *piece = &series->pieces[series->num_pieces - 1];
    piece->parsed = true;
    piece->rows = rows;
    return 0;
}

int series_add_rows(struct series *series, const char *path, struct error *error)
{
    struct npy npy;
    int rv = npy_open(&npy, series->files, path, error);
    if (rv != 0)
        return rv;
    rv = check_rows(series, path, &npy.header, error);
    if (rv == 0)
        rv = series_append(series, path, npy.num_rows, false, error);
    npy_close(&npy);
    return rv;
}

int series_add_pairs(struct series *series, const char *path, struct error *error)
{
    struct npy npy;
    int rv = npy_open(&npy, series->files, path, error);
    if (rv != 0)
        return rv;
    const struct npy_header *header = &npy.header;
    bool rows = header->ndim == 2 && header->shape[1] == 2;
    bool columns = !rows && header->ndim == 2 && header->shape[0] == 2;
    if (header->kind != 'i' && header->kind != 'u')
        rv = error_set(error, TR_EFORMAT,
                       "%s: descr '%c%d' cannot hold IDs; save it with .astype('int64')", path,
                       header->kind, header->item_bytes);
    else if (!rows && !columns)
        rv = error_set(error, TR_EFORMAT,
                       "%s: shape has %u dimensions, the first of %" PRIu64
                       "; edges need [N, 2] or [2, N]",
                       path, header->ndim, header->ndim > 0 ? header->shape[0] : 0);
    else
        rv = series_append(series, path, header->shape[rows ? 0 : 1], columns, error);
    npy_close(&npy);
    return rv;
}

/* The piece that holds a row, by search over their beginnings. */
static uint32_t find_piece(const struct series *series, uint64_t row)
{
    uint32_t low = 0, high = series->num_pieces;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (series->pieces[middle].begin <= row)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static int open_piece(struct series *series, uint32_t index, struct error *error)
{
    if (series->is_open && series->opened == index)
        return 0;
    /* The open file is closed before another is opened: a graph may have more files than a
     * process may have open. */
    series_rest(series);
    const struct series_piece *piece = &series->pieces[index];
    int rv = npy_open(&series->npy, series->files, piece->path, error);
    if (rv != 0)
        return rv;
    const struct npy_header *header = &series->npy.header;
    bool same = header->ndim > 0 && header->shape[piece->columns ? 1 : 0] == piece->count &&
                (series->header.ndim == 0 || same_rows(&series->header, header));
    if (series->header.ndim == 0)
        same = same && header->ndim == 2 && header->shape[piece->columns ? 0 : 1] == 2;
    if (!same) {
        npy_close(&series->npy);
        return error_set(error, TR_EMISMATCH, "%s: changed while it was read; start again",
                         piece->path);
    }
    series->opened = index;
    series->is_open = true;
    return 0;
}

/* Rows of one piece that a request covers. */
struct span {
    uint32_t piece;
    uint64_t begin; /* in the piece */
    uint64_t count;
};

static struct span next_span(const struct series *series, uint64_t begin, uint64_t count)
{
    struct span span = { .piece = find_piece(series, begin) };
    const struct series_piece *piece = &series->pieces[span.piece];
    span.begin = begin - piece->begin;
    uint64_t left = piece->count - span.begin;
    span.count = count < left ? count : left;
    return span;
}

/* The product was checked when the file was. */
static uint64_t bytes_of_row(const struct npy_header *header)
{
    uint64_t bytes = header->item_bytes;
    for (uint32_t i = 1; i < header->ndim; i++)
        bytes *= header->shape[i];
    return bytes;
}

int series_read_rows(struct series *series, uint64_t begin, uint64_t count, void *rows,
                     struct error *error)
{
    while (count > 0) {
        struct span span = next_span(series, begin, count);
        const struct series_piece *piece = &series->pieces[span.piece];
        uint64_t row_bytes = bytes_of_row(&series->header);
        int rv = piece->parsed ? 0 : open_piece(series, span.piece, error);
        if (rv == 0 && !piece->parsed)
            rv = npy_read_rows(&series->npy, span.begin, span.count, rows, error);
        if (rv != 0)
            return rv;
        if (piece->parsed && row_bytes > 0)
            memcpy(rows, (char *)piece->rows + span.begin * row_bytes, span.count * row_bytes);
        rows = (char *)rows + span.count * row_bytes;
        begin += span.count;
        count -= span.count;
    }
    return 0;
}

static int read_span(struct series *series, const struct span *span, uint64_t *src, uint64_t *dst,
                     struct error *error)
{
    const struct series_piece *piece = &series->pieces[span->piece];
    if (piece->columns) {
        int rv = npy_read_ids(&series->npy, span->begin, span->count, src, error);
        if (rv != 0)
            return rv;
        return npy_read_ids(&series->npy, piece->count + span->begin, span->count, dst, error);
    }
    uint64_t pairs[2 * PAIRS_AT_ONCE];
    for (uint64_t done = 0; done < span->count;) {
        uint64_t some = span->count - done < PAIRS_AT_ONCE ? span->count - done : PAIRS_AT_ONCE;
        int rv = npy_read_ids(&series->npy, 2 * (span->begin + done), 2 * some, pairs, error);
        if (rv != 0)
            return rv;
        for (uint64_t i = 0; i < some; i++) {
            src[done + i] = pairs[2 * i];
            dst[done + i] = pairs[2 * i + 1];
        }
        done += some;
    }
    return 0;
}

int series_read_pairs(struct series *series, uint64_t begin, uint64_t count, uint64_t *src,
                      uint64_t *dst, struct error *error)
{
    while (count > 0) {
        struct span span = next_span(series, begin, count);
        const struct series_piece *piece = &series->pieces[span.piece];
        int rv = 0;
        if (piece->parsed)
            pairs_read(&piece->pairs, span.begin, span.count, src, dst);
        else if ((rv = open_piece(series, span.piece, error)) == 0)
            rv = read_span(series, &span, src, dst, error);
        if (rv != 0)
            return rv;
        src += span.count;
        dst += span.count;
        begin += span.count;
        count -= span.count;
    }
    return 0;
}

void series_name_row(const struct series *series, const char *what, uint64_t row, char *text,
                     size_t size)
{
    const struct series_piece *piece = &series->pieces[find_piece(series, row)];
    snprintf(text, size, "%s: %s %" PRIu64, piece->path, what, row - piece->begin);
}
