/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A table of a raw graph whose rows are kept sparse: three arrays in files, as SciPy's csr_matrix
 * has them (indptr, indices and data; no data where each element is 1).
 *
 * Everything that was read is checked before it is used: a row's range, its columns, which increase
 * and stay below the width, and that values are finite. Who wants dense rows reads them by
 * raw_read_rows(), which widens.
 *
 * Ownership: the table owns its raw_csr; a block owns its memory. One thread at a time.
 */
#ifndef PARTITION_RAW_RAW_CSR_H
#define PARTITION_RAW_RAW_CSR_H

#include "graph/csr.h"
#include "partition/raw/raw.h"
#include "partition/raw/raw_series.h"

/* Elements that a block holds, unless a single row has more. */
#define RAW_CSR_ELEMENTS ((uint64_t)1 << 18)
#define RAW_CSR_ROWS ((uint64_t)1 << 14)

struct raw_csr {
    bool has_values; /* else each stored element is 1 */
    uint64_t nnz;
    struct series index, columns, values; /* of one file each */
};

/* Opens the arrays of a table of num_rows rows. values_path NULL: there are none, and *dtype is
 * the caller's; else it becomes that of the values (bf16: "<u2" is bfloat16). What fails leaves
 * nothing. */
int raw_csr_open(struct files *files, const char *index_path, const char *columns_path,
                 const char *values_path, bool bf16, uint64_t num_rows, enum tr_dtype *dtype,
                 struct raw_csr **out, struct error *error);
/* Harmless on NULL. */
void raw_csr_close(struct raw_csr *csr);

/* Bytes of the elements of a sparse table's arrays, as its files have them. */
uint64_t raw_csr_bytes(const struct raw_table *table);

/* Some rows of a table: row i has the elements [index[i], index[i + 1]), counted over the whole
 * table, which stand in columns and values from index[i] - index[0] on. */
struct raw_csr_block {
    uint64_t num_rows;
    uint64_t *index; /* [RAW_CSR_ROWS + 1] */
    uint32_t *columns;
    unsigned char *values; /* NULL where the table has none */
    uint64_t room;         /* elements that there is memory for */
};

/* Reads rows from `begin` on, at most rows_max and as many as fit, at least one (rows_max and the
 * table's rows allowing). Begin with a zeroed block; the next call uses its memory again. */
int raw_csr_read(struct raw_graph *graph, uint32_t table, uint64_t begin, uint64_t rows_max,
                 struct raw_csr_block *block, struct error *error);
void raw_csr_block_fini(struct raw_csr_block *block);

/* The index of rows [begin, begin + count) alone: index[count + 1]. */
int raw_csr_read_index(struct raw_graph *graph, uint32_t table, uint64_t begin, uint64_t count,
                       uint64_t *index, struct error *error);

/* Rows [begin, begin + count), widened. */
int raw_csr_widen(struct raw_graph *graph, uint32_t table, uint64_t begin, uint64_t count,
                  void *rows, struct error *error);

#endif
