/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of a table kept sparse (compressed sparse rows): of each row the elements that are stored,
 * in the order of their columns. An element that is not stored is 0. Readers get rows
 * as dense rows: the same bytes as those of a dense table.
 *
 * Ownership: views, which point into memory of others. Thread rules: pure; frozen rows may be read
 * by any thread.
 */
#ifndef GRAPH_CSR_H
#define GRAPH_CSR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <troupe/types.h>

/* Columns are 31 bits wide, so that SciPy reads them as int32. */
#define CSR_WIDTH_MAX ((uint64_t)INT32_MAX)
/* A row of one element is what masks, labels and weights have, which are read where they lie. */
#define CSR_WIDTH_MIN 2u

struct csr_rows {
    uint64_t num_rows;
    uint64_t width; /* elements of a widened row, at most CSR_WIDTH_MAX */
    enum tr_dtype dtype;
    uint32_t row_nnz_max;    /* stored elements of a row, at most: bounds messages */
    const uint64_t *index;   /* [num_rows + 1]: row r has the elements [index[r], index[r + 1]) */
    const uint32_t *columns; /* [index[num_rows]], increasing within a row, below width */
    const void *values;      /* [index[num_rows]]; NULL: each is 1 */
};

/* The bytes of the number 1. */
struct csr_one {
    unsigned char bytes[8];
};
struct csr_one csr_one(enum tr_dtype dtype);

/* Bytes of one widened row. */
static inline size_t csr_row_bytes(const struct csr_rows *csr)
{
    return (size_t)csr->width * tr_dtype_size(csr->dtype);
}

/* What is wrong with an index, or with columns. */
enum csr_fault {
    CSR_FINE,
    CSR_BEGIN,   /* the index does not begin with 0 */
    CSR_ORDER,   /* it decreases */
    CSR_END,     /* it does not end with the number of elements */
    CSR_LONG,    /* a row has more than row_nnz_max elements */
    CSR_COLUMN,  /* a column is not below the width */
    CSR_COLUMNS, /* columns of a row do not increase */
};

/* Checks an index before columns are read by it, then the columns of rows [begin, end); *at is the
 * place in the index, or among the columns. */
enum csr_fault csr_check_index(const struct csr_rows *csr, uint64_t num_elements, uint64_t *at);
enum csr_fault csr_check_columns(const struct csr_rows *csr, uint64_t begin, uint64_t end,
                                 uint64_t *at);

/* Widens elements into a row that is all 0: values[i] (or 1) to columns[i]. */
void csr_put(void *row, enum tr_dtype dtype, const uint32_t *columns, const void *values,
             uint64_t count);

/* Row `row`, widened, at `to`. */
void csr_widen_row(const struct csr_rows *csr, uint64_t row, void *to);

/* Rows ahead whose elements are asked for with csr_prefetch(), which reads the index. */
#define CSR_AHEAD 8u
void csr_prefetch(const struct csr_rows *csr, uint64_t row);

/* to[places[i]] = row rows[i], widened; places NULL: one after the other. Rows were checked. */
void csr_widen(const struct csr_rows *csr, const uint32_t *rows, const uint32_t *places, size_t n,
               void *to);

/* Rows that came one after the other, each of counts[i] elements: to[places[i]] is row i, widened
 * to row_bytes. */
void csr_widen_answer(void *to, size_t row_bytes, enum tr_dtype dtype, const uint32_t *places,
                      const uint32_t *counts, const uint32_t *columns, const void *values,
                      size_t n);

/* Elements of those rows, which were checked. */
uint64_t csr_count(const struct csr_rows *csr, const uint32_t *rows, size_t n);

#endif
