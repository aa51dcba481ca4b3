/* SPDX-License-Identifier: Apache-2.0 */
#include "partition/raw/raw_csr.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Whole numbers widened at a time. */
#define NUMBERS_AT_ONCE 4096

/* Opens one array of one dimension. */
static int open_array(struct series *series, struct files *files, const char *path,
                      struct error *error)
{
    series_init(series, files);
    int rv = series_add_rows(series, path, error);
    if (rv == 0 && series->header.ndim != 1)
        rv = error_set(error, TR_EFORMAT,
                       "%s: %u dimensions; the arrays of a sparse table have one", path,
                       series->header.ndim);
    return rv;
}

static int open_numbers(struct series *series, struct files *files, const char *path,
                        struct error *error)
{
    int rv = open_array(series, files, path, error);
    const struct npy_header *header = &series->header;
    if (rv != 0)
        return rv;
    if ((header->kind != 'i' && header->kind != 'u') || header->item_bytes < 4)
        return error_set(error, TR_EFORMAT,
                         "%s: elements are '%c%u'; int32 or int64 are needed: save it again with "
                         ".astype('int64')",
                         path, header->kind, header->item_bytes);
    return 0;
}

static int open_values(struct raw_csr *csr, struct files *files, const char *path, bool bf16,
                       enum tr_dtype *dtype, struct error *error)
{
    int rv = open_array(&csr->values, files, path, error);
    if (rv != 0)
        return rv;
    struct npy first = { .header = csr->values.header };
    first.file.path = csr->values.pieces[0].path;
    rv = npy_dtype(&first, bf16, dtype, error);
    if (rv == 0 && csr->values.num_rows != csr->nnz)
        rv = error_set(error, TR_EMISMATCH,
                       "%s: %" PRIu64 " elements, the columns of the sparse table are %" PRIu64,
                       path, csr->values.num_rows, csr->nnz);
    return rv;
}

int raw_csr_open(struct files *files, const char *index_path, const char *columns_path,
                 const char *values_path, bool bf16, uint64_t num_rows, enum tr_dtype *dtype,
                 struct raw_csr **out, struct error *error)
{
    struct raw_csr *csr = calloc(1, sizeof *csr);
    *out = NULL;
    if (csr == NULL)
        return error_set(error, TR_ENOMEM, "%s: no memory to read it", index_path);
    csr->has_values = values_path != NULL;
    int rv = open_numbers(&csr->index, files, index_path, error);
    if (rv == 0 && csr->index.num_rows != num_rows + 1)
        rv = error_set(error, TR_EMISMATCH,
                       "%s: %" PRIu64 " elements; the index of %" PRIu64
                       " sparse rows has one more than there are rows",
                       index_path, csr->index.num_rows, num_rows);
    if (rv == 0)
        rv = open_numbers(&csr->columns, files, columns_path, error);
    csr->nnz = csr->columns.num_rows;
    if (rv == 0 && values_path != NULL)
        rv = open_values(csr, files, values_path, bf16, dtype, error);
    series_rest(&csr->index);
    series_rest(&csr->columns);
    series_rest(&csr->values);
    if (rv != 0)
        raw_csr_close(csr);
    else
        *out = csr;
    return rv;
}

void raw_csr_close(struct raw_csr *csr)
{
    if (csr == NULL)
        return;
    series_fini(&csr->index);
    series_fini(&csr->columns);
    series_fini(&csr->values);
    free(csr);
}

uint64_t raw_csr_bytes(const struct raw_table *table)
{
    const struct raw_csr *csr = table->csr;
    uint64_t element = csr->columns.header.item_bytes;
    element += csr->has_values ? tr_dtype_size(table->dtype) : 0;
    return csr->index.num_rows * csr->index.header.item_bytes + csr->nnz * element;
}

/* Elements [begin, begin + count) as 64 bits; negative ones are larger than any number that is
 * right. */
static int read_numbers(struct series *series, uint64_t begin, uint64_t count, uint64_t *numbers,
                        struct error *error)
{
    union {
        int32_t narrow[NUMBERS_AT_ONCE];
        uint32_t plain[NUMBERS_AT_ONCE];
    } piece;
    const struct npy_header *header = &series->header;
    if (header->item_bytes == 8)
        return series_read_rows(series, begin, count, numbers, error);
    for (uint64_t done = 0; done < count;) {
        uint64_t some = count - done < NUMBERS_AT_ONCE ? count - done : NUMBERS_AT_ONCE;
        int rv = series_read_rows(series, begin + done, some, &piece, error);
        if (rv != 0)
            return rv;
        for (uint64_t i = 0; i < some; i++)
            numbers[done + i] = header->kind == 'i' ? (uint64_t)(int64_t)piece.narrow[i]
                                                    : piece.plain[i];
        done += some;
    }
    return 0;
}

/* The same as 32 bits, where those that need more become UINT32_MAX, which is no column. */
static int read_columns(struct series *series, uint64_t begin, uint64_t count, uint32_t *columns,
                        struct error *error)
{
    uint64_t wide[NUMBERS_AT_ONCE];
    if (series->header.item_bytes == 4)
        return series_read_rows(series, begin, count, columns, error);
    for (uint64_t done = 0; done < count;) {
        uint64_t some = count - done < NUMBERS_AT_ONCE ? count - done : NUMBERS_AT_ONCE;
        int rv = series_read_rows(series, begin + done, some, wide, error);
        if (rv != 0)
            return rv;
        for (uint64_t i = 0; i < some; i++)
            columns[done + i] = wide[i] < UINT32_MAX ? (uint32_t)wide[i] : UINT32_MAX;
        done += some;
    }
    return 0;
}

static int refuse_index(const struct raw_csr *csr, uint64_t at, uint64_t value, const char *rule,
                        struct error *error)
{
    return error_set(error, TR_EFORMAT, "%s: element %" PRIu64 " is %" PRIu64 ", but %s",
                     csr->index.pieces[0].path, at, value, rule);
}

int raw_csr_read_index(struct raw_graph *graph, uint32_t table, uint64_t begin, uint64_t count,
                       uint64_t *index, struct error *error)
{
    const struct raw_table *facts = &graph->tables[table];
    struct raw_csr *csr = facts->csr;
    int rv = read_numbers(&csr->index, begin, count + 1, index, error);
    series_rest(&csr->index);
    if (rv != 0)
        return rv;
    if (begin == 0 && index[0] != 0)
        return refuse_index(csr, 0, index[0], "an index begins with 0", error);
    for (uint64_t i = 0; i < count; i++) {
        if (index[i + 1] < index[i])
            return refuse_index(csr, begin + i + 1, index[i + 1], "an index never decreases",
                                error);
        if (index[i + 1] - index[i] > facts->width)
            return refuse_index(csr, begin + i + 1, index[i + 1],
                                "that row would have more elements than the table has columns",
                                error);
    }
    /* Also where the last row is not among these: what follows is read by them. */
    if (index[count] > csr->nnz || (begin + count == facts->num_rows && index[count] != csr->nnz))
        return refuse_index(csr, begin + count, index[count],
                            "an index ends with the number of elements", error);
    return 0;
}

static int check_elements(const struct raw_graph *graph, uint32_t table, uint64_t begin,
                          const struct raw_csr_block *block, struct error *error)
{
    const struct raw_table *facts = &graph->tables[table];
    const struct raw_csr *csr = facts->csr;
    for (uint64_t row = 0; row < block->num_rows; row++) {
        uint64_t next = 0;
        for (uint64_t i = block->index[row]; i < block->index[row + 1]; i++) {
            uint64_t column = block->columns[i - block->index[0]];
            if (column >= next && column < facts->width) {
                next = column + 1;
                continue;
            }
            return error_set(
                error, TR_EFORMAT,
                "%s: element %" PRIu64 ", of row %" PRIu64 ", is column %" PRIu64 ", but %s",
                csr->columns.pieces[0].path, i, begin + row, column,
                column < facts->width ? "the columns of a row increase; call sum_duplicates() and "
                                        "sort_indices() before it is saved"
                                      : "columns are below the width of the table");
        }
    }
    uint64_t count = block->index[block->num_rows] - block->index[0];
    uint64_t bad = csr->has_values ? raw_find_not_finite(facts->dtype, block->values, count)
                                   : count;
    if (bad == count)
        return 0;
    return error_set(error, TR_EFORMAT,
                     "%s: element %" PRIu64 " of feature '%s' is not finite; replace it or leave "
                     "the feature out",
                     csr->values.pieces[0].path, block->index[0] + bad, facts->name);
}

/* Memory for the elements of the block's rows. */
static int make_room(struct raw_csr_block *block, const struct raw_table *facts, uint64_t count,
                     struct error *error)
{
    if (count <= block->room)
        return 0;
    size_t size = tr_dtype_size(facts->dtype);
    uint32_t *columns = realloc(block->columns, (size_t)count * sizeof *columns);
    if (columns != NULL)
        block->columns = columns;
    unsigned char *values = facts->csr->has_values && columns != NULL
                                ? realloc(block->values, (size_t)count * size)
                                : NULL;
    if (values != NULL)
        block->values = values;
    if (columns == NULL || (facts->csr->has_values && values == NULL))
        return error_set(error, TR_ENOMEM, "no memory for %" PRIu64 " elements of feature '%s'",
                         count, facts->name);
    block->room = count;
    return 0;
}

int raw_csr_read(struct raw_graph *graph, uint32_t table, uint64_t begin, uint64_t rows_max,
                 struct raw_csr_block *block, struct error *error)
{
    const struct raw_table *facts = &graph->tables[table];
    struct raw_csr *csr = facts->csr;
    uint64_t left = facts->num_rows - begin, rows = 0;
    left = left < rows_max ? left : rows_max;
    left = left < RAW_CSR_ROWS ? left : RAW_CSR_ROWS;
    block->num_rows = 0;
    if (block->index == NULL)
        block->index = malloc((RAW_CSR_ROWS + 1) * sizeof *block->index);
    if (block->index == NULL)
        return error_set(error, TR_ENOMEM, "no memory for rows of feature '%s'", facts->name);
    int rv = raw_csr_read_index(graph, table, begin, left, block->index, error);
    if (rv != 0)
        return rv;
    const uint64_t *index = block->index;
    while (rows < left && (rows == 0 || index[rows + 1] - index[0] <= RAW_CSR_ELEMENTS))
        rows++;
    uint64_t count = index[rows] - index[0];
    rv = make_room(block, facts, count > RAW_CSR_ELEMENTS ? count : RAW_CSR_ELEMENTS, error);
    if (rv == 0)
        rv = read_columns(&csr->columns, index[0], count, block->columns, error);
    series_rest(&csr->columns);
    if (rv == 0 && csr->has_values)
        rv = series_read_rows(&csr->values, index[0], count, block->values, error);
    series_rest(&csr->values);
    if (rv != 0)
        return rv;
    block->num_rows = rows;
    return check_elements(graph, table, begin, block, error);
}

void raw_csr_block_fini(struct raw_csr_block *block)
{
    free(block->index);
    free(block->columns);
    free(block->values);
    *block = (struct raw_csr_block){ 0 };
}

int raw_csr_widen(struct raw_graph *graph, uint32_t table, uint64_t begin, uint64_t count,
                  void *rows, struct error *error)
{
    const struct raw_table *facts = &graph->tables[table];
    size_t size = tr_dtype_size(facts->dtype);
    struct raw_csr_block block = { 0 };
    unsigned char *to = rows;
    int rv = 0;
    for (uint64_t done = 0; done < count && rv == 0;) {
        rv = raw_csr_read(graph, table, begin + done, count - done, &block, error);
        if (rv != 0)
            break;
        memset(to, 0, (size_t)block.num_rows * facts->row_bytes);
        for (uint64_t i = 0; i < block.num_rows; i++) {
            uint64_t at = block.index[i] - block.index[0];
            csr_put(to, facts->dtype, block.columns + at,
                    block.values == NULL ? NULL : block.values + at * size,
                    block.index[i + 1] - block.index[i]);
            to += facts->row_bytes;
        }
        done += block.num_rows;
    }
    raw_csr_block_fini(&block);
    return rv;
}
