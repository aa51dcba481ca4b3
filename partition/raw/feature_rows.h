/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of numbers most of which are 0, in memory, as files of features bring them: taken an element
 * at a time, and written to a raw graph sparse or with their zeroes.
 *
 * Whoever trains on either form gets the same bits: elements of one column are summed in the order
 * in which they came, as they would be in a row of zeroes, and those that are 0 then are left out.
 * Memory: 8 bytes an element and 8 a row, and 12 an element of the longest row that is out of order.
 *
 * Ownership: feature_rows_fini frees all. Thread rules: one thread at a time.
 */
#ifndef PARTITION_RAW_FEATURE_ROWS_H
#define PARTITION_RAW_FEATURE_ROWS_H

#include "partition/raw/raw_write.h"

/* Rows with their zeroes take this much: more is hardly what a disk should hold of zeroes. */
#define FEATURE_ROWS_DENSE_BYTES_MAX ((uint64_t)1 << 34)

struct feature_rows {
    uint64_t num_rows; /* that were ended */
    uint64_t width;    /* columns are below; may be set behind the last row */
    uint64_t *index;   /* [num_rows + 1] */
    uint32_t *columns; /* [num_items] */
    float *values;
    uint64_t num_items; /* those of the row that has not ended included */
    uint64_t rows_room, items_room;
    bool is_ordered; /* the row that has not ended */
    bool ones;       /* each element is 1 */
    struct sparse_entry *entries;
    uint64_t entries_room;
};

/* TR_ENOMEM, of all of these, comes without a message. */
int feature_rows_init(struct feature_rows *rows, uint64_t width);
int feature_rows_add(struct feature_rows *rows, uint32_t column, float value);
/* Ends a row. The values of a column that is there twice are added; TR_ERANGE: to more than a float
 * holds. repeated, where it is not NULL: TR_EEXIST where a column is there twice, which it is then. */
int feature_rows_end(struct feature_rows *rows, uint32_t *repeated);
void feature_rows_fini(struct feature_rows *rows);

/* How rows were written. Bytes: of either form; dense_bytes is UINT64_MAX where they are more. */
struct sparse_written {
    uint64_t items;
    uint64_t sparse_bytes, dense_bytes;
    bool kept_sparse;
};

/* Writes num_rows rows as feature `name` of node type 0; those behind the last one are 0. place: of
 * the rows, for messages. TR_ETOOBIG: they are to be dense, and too many. */
int feature_rows_write(const struct feature_rows *rows, uint64_t num_rows, enum raw_rows form,
                       const char *place, struct raw_writer *writer, const char *name,
                       struct sparse_written *written, struct error *error);

/* TR_ETOOBIG where so many numbers are not written with their zeroes. */
int feature_rows_check_dense(uint64_t num_rows, uint64_t width, const char *place,
                             struct error *error);

#endif
