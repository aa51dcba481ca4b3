/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/csr.h"

#include <string.h>

/* Rows ahead whose places in the index are fetched. */
#define AHEAD_INDEX (2 * CSR_AHEAD)
#define LINE_BYTES ((size_t)64)
/* The hardware fetches the rest of a long row by itself. */
#define PREFETCH_BYTES_MAX ((size_t)512)

#define ALWAYS_INLINE static inline __attribute__((always_inline))

struct csr_one csr_one(enum tr_dtype dtype)
{
    struct csr_one one = { { 1 } };
    const float f32 = 1;
    const double f64 = 1;
    const uint16_t f16 = 0x3c00, bf16 = 0x3f80;
    if (dtype == TR_F32)
        memcpy(one.bytes, &f32, sizeof f32);
    else if (dtype == TR_F64)
        memcpy(one.bytes, &f64, sizeof f64);
    else if (dtype == TR_F16)
        memcpy(one.bytes, &f16, sizeof f16);
    else if (dtype == TR_BF16)
        memcpy(one.bytes, &bf16, sizeof bf16);
    return one;
}

enum csr_fault csr_check_index(const struct csr_rows *csr, uint64_t num_elements, uint64_t *at)
{
    *at = 0;
    if (csr->index[0] != 0)
        return CSR_BEGIN;
    for (uint64_t row = 0; row < csr->num_rows; row++) {
        *at = row + 1;
        if (csr->index[row + 1] < csr->index[row])
            return CSR_ORDER;
        if (csr->index[row + 1] - csr->index[row] > csr->row_nnz_max)
            return CSR_LONG;
    }
    *at = csr->num_rows;
    return csr->index[csr->num_rows] == num_elements ? CSR_FINE : CSR_END;
}

enum csr_fault csr_check_columns(const struct csr_rows *csr, uint64_t begin, uint64_t end,
                                 uint64_t *at)
{
    for (uint64_t row = begin; row < end; row++) {
        uint64_t stop = csr->index[row + 1], next = 0;
        for (uint64_t i = csr->index[row]; i < stop; i++) {
            *at = i;
            if (csr->columns[i] >= csr->width)
                return CSR_COLUMN;
            if (csr->columns[i] < next)
                return CSR_COLUMNS;
            next = csr->columns[i] + (uint64_t)1;
        }
    }
    return CSR_FINE;
}

/* A copy of constant size is one store. */
ALWAYS_INLINE void put_sized(unsigned char *row, size_t size, const uint32_t *columns,
                             const unsigned char *values, const unsigned char *one, uint64_t count)
{
    if (values == NULL)
        for (uint64_t i = 0; i < count; i++)
            memcpy(row + columns[i] * size, one, size);
    else
        for (uint64_t i = 0; i < count; i++)
            memcpy(row + columns[i] * size, values + i * size, size);
}

void csr_put(void *row, enum tr_dtype dtype, const uint32_t *columns, const void *values,
             uint64_t count)
{
    const struct csr_one one = csr_one(dtype);
    switch (tr_dtype_size(dtype)) {
    case 1:
        put_sized(row, 1, columns, values, one.bytes, count);
        break;
    case 2:
        put_sized(row, 2, columns, values, one.bytes, count);
        break;
    case 4:
        put_sized(row, 4, columns, values, one.bytes, count);
        break;
    default:
        put_sized(row, 8, columns, values, one.bytes, count);
        break;
    }
}

ALWAYS_INLINE void prefetch_bytes(const void *from, size_t bytes)
{
    for (size_t i = 0; i < bytes && i < PREFETCH_BYTES_MAX; i += LINE_BYTES)
        __builtin_prefetch((const char *)from + i);
}

void csr_prefetch(const struct csr_rows *csr, uint64_t row)
{
    size_t size = tr_dtype_size(csr->dtype);
    uint64_t begin = csr->index[row], count = csr->index[row + 1] - begin;
    prefetch_bytes(csr->columns + begin, (size_t)count * sizeof *csr->columns);
    if (csr->values != NULL)
        prefetch_bytes((const char *)csr->values + begin * size, (size_t)count * size);
}

void csr_widen_row(const struct csr_rows *csr, uint64_t row, void *to)
{
    size_t size = tr_dtype_size(csr->dtype);
    uint64_t begin = csr->index[row];
    const unsigned char *values = csr->values;
    memset(to, 0, (size_t)csr->width * size);
    csr_put(to, csr->dtype, csr->columns + begin, values == NULL ? NULL : values + begin * size,
            csr->index[row + 1] - begin);
}

void csr_widen(const struct csr_rows *csr, const uint32_t *rows, const uint32_t *places, size_t n,
               void *to)
{
    size_t row_bytes = csr_row_bytes(csr);
    for (size_t i = 0; i < n; i++) {
        if (i + AHEAD_INDEX < n)
            __builtin_prefetch(&csr->index[rows[i + AHEAD_INDEX]]);
        if (i + CSR_AHEAD < n)
            csr_prefetch(csr, rows[i + CSR_AHEAD]);
        size_t place = places != NULL ? places[i] : i;
        csr_widen_row(csr, rows[i], (unsigned char *)to + place * row_bytes);
    }
}

void csr_widen_answer(void *to, size_t row_bytes, enum tr_dtype dtype, const uint32_t *places,
                      const uint32_t *counts, const uint32_t *columns, const void *values, size_t n)
{
    size_t size = tr_dtype_size(dtype);
    for (size_t i = 0; i < n; i++) {
        unsigned char *row = (unsigned char *)to + places[i] * row_bytes;
        memset(row, 0, row_bytes);
        csr_put(row, dtype, columns, values, counts[i]);
        columns += counts[i];
        if (values != NULL)
            values = (const unsigned char *)values + counts[i] * size;
    }
}

uint64_t csr_count(const struct csr_rows *csr, const uint32_t *rows, size_t n)
{
    uint64_t count = 0;
    for (size_t i = 0; i < n; i++) {
        if (i + AHEAD_INDEX < n)
            __builtin_prefetch(&csr->index[rows[i + AHEAD_INDEX]]);
        count += csr->index[rows[i] + (uint64_t)1] - csr->index[rows[i]];
    }
    return count;
}
