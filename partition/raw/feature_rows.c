/* SPDX-License-Identifier: Apache-2.0 */
#include "partition/raw/feature_rows.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "graph/csr.h"

/* Longer rows are those of a damaged header: 16 million columns train nothing. */
#define DENSE_ROW_BYTES_MAX ((uint64_t)1 << 26)
/* Rows, elements that there is memory for at first. */
#define ROOM_MIN ((uint64_t)1024)
/* Sparse rows handed to the writer together. */
#define ROWS_AT_ONCE ((uint64_t)4096)

/* An element of a row that is out of order; those of one column keep their order. */
struct sparse_entry {
    uint32_t column;
    uint32_t place;
    float value;
};

static int make_room(struct feature_rows *rows)
{
    uint64_t room = rows->items_room == 0 ? ROOM_MIN : 2 * rows->items_room;
    uint32_t *columns = realloc(rows->columns, (size_t)room * sizeof *columns);
    if (columns == NULL)
        return TR_ENOMEM;
    rows->columns = columns;
    float *values = realloc(rows->values, (size_t)room * sizeof *values);
    if (values == NULL)
        return TR_ENOMEM;
    rows->values = values;
    rows->items_room = room;
    return 0;
}

int feature_rows_init(struct feature_rows *rows, uint64_t width)
{
    *rows = (struct feature_rows){ .width = width, .is_ordered = true, .ones = true };
    rows->index = calloc(ROOM_MIN + 1, sizeof *rows->index);
    rows->rows_room = ROOM_MIN;
    /* Also where no element comes: offsets are taken of both. */
    return rows->index != NULL ? make_room(rows) : TR_ENOMEM;
}

void feature_rows_fini(struct feature_rows *rows)
{
    free(rows->index);
    free(rows->columns);
    free(rows->values);
    free(rows->entries);
    *rows = (struct feature_rows){ 0 };
}

int feature_rows_add(struct feature_rows *rows, uint32_t column, float value)
{
    int rv = rows->num_items == rows->items_room ? make_room(rows) : 0;
    if (rv != 0)
        return rv;
    uint64_t at = rows->num_items++;
    rows->is_ordered = rows->is_ordered &&
                       (at == rows->index[rows->num_rows] || rows->columns[at - 1] < column);
    rows->columns[at] = column;
    rows->values[at] = value;
    return 0;
}

static int compare_entries(const void *a, const void *b)
{
    const struct sparse_entry *x = a, *y = b;
    if (x->column != y->column)
        return x->column < y->column ? -1 : 1;
    return x->place < y->place ? -1 : x->place > y->place;
}

/* Puts the elements of the last row in the order of their columns. */
static int order_row(struct feature_rows *rows)
{
    uint64_t begin = rows->index[rows->num_rows], count = rows->num_items - begin;
    if (count > UINT32_MAX)
        return TR_ENOMEM;
    if (count > rows->entries_room) {
        struct sparse_entry *grown = realloc(rows->entries, (size_t)count * sizeof *grown);
        if (grown == NULL)
            return TR_ENOMEM;
        rows->entries = grown;
        rows->entries_room = count;
    }
    for (uint64_t i = 0; i < count; i++)
        rows->entries[i] = (struct sparse_entry){ rows->columns[begin + i], (uint32_t)i,
                                                  rows->values[begin + i] };
    qsort(rows->entries, (size_t)count, sizeof *rows->entries, compare_entries);
    for (uint64_t i = 0; i < count; i++) {
        rows->columns[begin + i] = rows->entries[i].column;
        rows->values[begin + i] = rows->entries[i].value;
    }
    return 0;
}

int feature_rows_end(struct feature_rows *rows, uint32_t *repeated)
{
    uint64_t begin = rows->index[rows->num_rows], to = begin;
    int rv = rows->is_ordered ? 0 : order_row(rows);
    if (rv == 0 && rows->num_rows + 1 == rows->rows_room) {
        uint64_t *index = realloc(rows->index,
                                  ((size_t)rows->rows_room * 2 + 1) * sizeof *rows->index);
        rv = index == NULL ? TR_ENOMEM : 0;
        if (index != NULL) {
            rows->index = index;
            rows->rows_room *= 2;
        }
    }
    if (rv != 0)
        return rv;
    for (uint64_t at = begin; at < rows->num_items;) {
        uint32_t column = rows->columns[at];
        float sum = 0;
        for (uint64_t first = at; at < rows->num_items && rows->columns[at] == column; at++) {
            sum += rows->values[at];
            if (repeated != NULL && at > first) {
                *repeated = column;
                return TR_EEXIST;
            }
        }
        if (!isfinite(sum))
            return TR_ERANGE;
        rows->columns[to] = column;
        rows->values[to] = sum;
        to += sum != 0;
        rows->ones = rows->ones && (sum == 0 || sum == 1);
    }
    rows->num_items = to;
    rows->index[++rows->num_rows] = to;
    rows->is_ordered = true;
    return 0;
}

int feature_rows_check_dense(uint64_t num_rows, uint64_t width, const char *place,
                             struct error *error)
{
    uint64_t items, bytes;
    if (width <= DENSE_ROW_BYTES_MAX / sizeof(float) &&
        !__builtin_mul_overflow(num_rows, width, &items) &&
        !__builtin_mul_overflow(items, (uint64_t)sizeof(float), &bytes) &&
        bytes <= FEATURE_ROWS_DENSE_BYTES_MAX)
        return 0;
    return error_set(error, TR_ETOOBIG,
                     "%s: %" PRIu64 " by %" PRIu64 " sparse numbers are stored with their zeroes, "
                     "in at most %" PRIu64 " bytes; save fewer columns, those of the most frequent "
                     "words or of a projection (TruncatedSVD)",
                     place, num_rows, width, FEATURE_ROWS_DENSE_BYTES_MAX);
}

static int write_dense(const struct feature_rows *rows, uint64_t num_rows, const char *place,
                       struct raw_writer *writer, const char *name, struct error *error)
{
    uint32_t table;
    int rv = feature_rows_check_dense(num_rows, rows->width, place, error);
    if (rv == 0)
        rv = raw_writer_add_table(writer, name, false, 0, TR_F32, 1, &rows->width, &table, error);
    float *row = rv == 0 ? malloc((size_t)rows->width * sizeof *row + 1) : NULL;
    if (rv == 0 && row == NULL)
        rv = error_set(error, TR_ENOMEM, "%s: no memory for a row of it", place);
    for (uint64_t i = 0; rv == 0 && i < num_rows; i++) {
        memset(row, 0, (size_t)rows->width * sizeof *row);
        for (uint64_t at = i < rows->num_rows ? rows->index[i] : 1;
             i < rows->num_rows && at < rows->index[i + 1]; at++)
            row[rows->columns[at]] = rows->values[at];
        rv = raw_writer_rows(writer, table, 1, row, error);
    }
    free(row);
    return rv;
}

static int write_sparse(const struct feature_rows *rows, uint64_t num_rows,
                        struct raw_writer *writer, const char *name, struct error *error)
{
    static const uint64_t NOTHING[ROWS_AT_ONCE + 1];
    uint32_t table;
    int rv = raw_writer_add_csr(writer, name, 0, TR_F32, rows->width, !rows->ones, &table, error);
    for (uint64_t done = 0; rv == 0 && done < num_rows;) {
        bool behind = done >= rows->num_rows;
        uint64_t left = (behind ? num_rows : rows->num_rows) - done;
        uint64_t some = left < ROWS_AT_ONCE ? left : ROWS_AT_ONCE;
        const uint64_t *index = behind ? NOTHING : rows->index + done;
        rv = raw_writer_csr_rows(writer, table, some, index, rows->columns + index[0],
                                 rows->values + index[0], error);
        done += some;
    }
    return rv;
}

/* Where the columns are too many to be dense, sparse is what is left, whatever it takes. */
static bool choose_sparse(const struct feature_rows *rows, enum raw_rows form,
                          const struct sparse_written *written)
{
    if (form != RAW_ROWS_SMALLER)
        return form == RAW_ROWS_SPARSE;
    return rows->width >= CSR_WIDTH_MIN && rows->width <= CSR_WIDTH_MAX &&
           written->sparse_bytes < written->dense_bytes;
}

int feature_rows_write(const struct feature_rows *rows, uint64_t num_rows, enum raw_rows form,
                       const char *place, struct raw_writer *writer, const char *name,
                       struct sparse_written *written, struct error *error)
{
    *written = (struct sparse_written){ .items = rows->num_items };
    /* Below 2^64: elements are in memory, and rows are below RAW_NODES_MAX. */
    written->sparse_bytes = (num_rows + 1) * sizeof(uint64_t) +
                            rows->num_items * (sizeof(uint32_t) + (rows->ones ? 0 : sizeof(float)));
    if (__builtin_mul_overflow(rows->width, (uint64_t)sizeof(float), &written->dense_bytes) ||
        __builtin_mul_overflow(num_rows, written->dense_bytes, &written->dense_bytes))
        written->dense_bytes = UINT64_MAX;
    written->kept_sparse = choose_sparse(rows, form, written);
    return written->kept_sparse ? write_sparse(rows, num_rows, writer, name, error)
                                : write_dense(rows, num_rows, place, writer, name, error);
}
