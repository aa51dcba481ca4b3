/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/gather.h"

#include <string.h>

#include <troupe/error.h>

/* Bytes in flight: as much as the line fill buffers and the L2 queue of one core hold. */
#define AHEAD_BYTES ((size_t)8192)
#define AHEAD_ROWS_MAX ((size_t)64)
#define AHEAD_ROWS_MIN ((size_t)2)
/* The hardware fetches the rest of a long row by itself. */
#define ROW_PREFETCH_BYTES_MAX ((size_t)2048)
#define LINE_BYTES ((size_t)64)

#define ALWAYS_INLINE static inline __attribute__((always_inline))

/* Where the i-th row is; without places, one is after the other. */
ALWAYS_INLINE size_t place_of(const uint32_t *places, size_t i)
{
    return places != NULL ? places[i] : i;
}

ALWAYS_INLINE void prefetch_row(const char *row, size_t row_bytes, int write)
{
    size_t bytes = row_bytes < ROW_PREFETCH_BYTES_MAX ? row_bytes : ROW_PREFETCH_BYTES_MAX;
    for (size_t at = 0; at < bytes; at += LINE_BYTES) {
        if (write)
            __builtin_prefetch(row + at, 1);
        else
            __builtin_prefetch(row + at);
    }
    /* A row that is not aligned ends in one line more. */
    if (!write && bytes > 0)
        __builtin_prefetch(row + bytes - 1);
}

static size_t rows_ahead(size_t row_bytes)
{
    size_t ahead = row_bytes == 0 ? 0 : AHEAD_BYTES / row_bytes;
    if (ahead < AHEAD_ROWS_MIN)
        return AHEAD_ROWS_MIN;
    return ahead > AHEAD_ROWS_MAX ? AHEAD_ROWS_MAX : ahead;
}

ALWAYS_INLINE void copy_rows(char *to, const uint32_t *to_places, const char *from,
                             const uint32_t *from_places, size_t row_bytes, size_t n)
{
    int scattered = to_places != NULL, gathered = from_places != NULL;
    size_t ahead = rows_ahead(row_bytes);
    for (size_t i = 0; i < ahead && i < n; i++) {
        if (gathered)
            prefetch_row(from + place_of(from_places, i) * row_bytes, row_bytes, 0);
    }
    for (size_t i = 0; i < n; i++) {
        if (i + ahead < n && gathered)
            prefetch_row(from + place_of(from_places, i + ahead) * row_bytes, row_bytes, 0);
        if (i + ahead < n && scattered)
            prefetch_row(to + place_of(to_places, i + ahead) * row_bytes, row_bytes, 1);
        memcpy(to + place_of(to_places, i) * row_bytes, from + place_of(from_places, i) * row_bytes,
               row_bytes);
    }
}

/* A copy of constant size is a few instructions: labels and IDs, and one register's rows. */
ALWAYS_INLINE void dispatch(char *to, const uint32_t *to_places, const char *from,
                            const uint32_t *from_places, size_t row_bytes, size_t n)
{
    switch (row_bytes) {
    case 0:
        break;
    case 1:
        copy_rows(to, to_places, from, from_places, 1, n);
        break;
    case 2:
        copy_rows(to, to_places, from, from_places, 2, n);
        break;
    case 4:
        copy_rows(to, to_places, from, from_places, 4, n);
        break;
    case 8:
        copy_rows(to, to_places, from, from_places, 8, n);
        break;
    case 16:
        copy_rows(to, to_places, from, from_places, 16, n);
        break;
    case 64:
        copy_rows(to, to_places, from, from_places, 64, n);
        break;
    default:
        copy_rows(to, to_places, from, from_places, row_bytes, n);
    }
}

int gather_check(const uint32_t *rows, size_t n, uint64_t num_rows)
{
    uint32_t greatest = 0;
    for (size_t i = 0; i < n; i++)
        greatest = rows[i] > greatest ? rows[i] : greatest;
    return n > 0 && greatest >= num_rows ? TR_ERANGE : 0;
}

void gather_rows(void *to, const void *from, size_t row_bytes, const uint32_t *rows, size_t n)
{
    dispatch(to, NULL, from, rows, row_bytes, n);
}

void gather_rows_to(void *to, const uint32_t *places, const void *from, size_t row_bytes,
                    const uint32_t *rows, size_t n)
{
    dispatch(to, places, from, rows, row_bytes, n);
}

void scatter_rows(void *to, const uint32_t *places, const void *from, size_t row_bytes, size_t n)
{
    dispatch(to, places, from, NULL, row_bytes, n);
}
