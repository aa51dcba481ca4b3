/* SPDX-License-Identifier: Apache-2.0 */
#include "partition/import/npz_table.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "graph/csr.h"
#include "partition/import/npz_sparse.h"

/* Rows at a time fill about this many bytes. */
#define PIECE_BYTES ((size_t)1 << 20)
/* Longer rows are those of a damaged header: 16 million columns train nothing. */
#define ROW_BYTES_MAX ((uint64_t)1 << 26)

static int check_nodes(const struct npz_job *job, const char *place, uint64_t rows)
{
    if (rows == job->num_nodes)
        return 0;
    return error_set(job->error, TR_EMISMATCH,
                     "%s: shape: %" PRIu64 " rows for %" PRIu64 " nodes; one row a node is needed",
                     place, rows, job->num_nodes);
}

/* Begins a table of the array's rows. A last extent of 1 says no more than none. */
static int add_table(struct npz_job *job, const char *name, const struct npy_header *header,
                     const char *place, uint32_t *table, enum tr_dtype *dtype)
{
    uint32_t ndim = header->ndim > 0 ? header->ndim - 1 : 0;
    int rv = npz_dtype(header, place, dtype, job->error);
    if (rv == 0)
        rv = check_nodes(job, place, header->ndim > 0 ? header->shape[0] : 0);
    if (rv == 0 && strcmp(name, "label") == 0 && ndim == 1 && header->shape[1] == 1)
        ndim = 0;
    return rv == 0 ? raw_writer_add_table(job->writer, name, false, 0, *dtype, ndim,
                                          header->shape + 1, table, job->error)
                   : rv;
}

static int write_rows(struct npz_job *job, uint32_t table, const char *name, const char *place,
                      enum tr_dtype dtype, uint64_t first, uint64_t count, uint64_t row_items,
                      const void *rows)
{
    uint64_t items = count * row_items;
    uint64_t bad = strcmp(name, "label") == 0 ? items : raw_find_not_finite(dtype, rows, items);
    if (bad < items)
        return error_set(job->error, TR_EFORMAT,
                         "%s: row %" PRIu64 ", column %" PRIu64 ": is not finite; replace it",
                         place, first + bad / row_items, bad % row_items);
    return raw_writer_rows(job->writer, table, count, rows, job->error);
}

/* An array whose rows follow each other: as a stream, whatever its size. */
static int stream_table(struct npz_job *job, const char *name, struct npz_stream *stream)
{
    uint32_t table;
    enum tr_dtype dtype;
    int rv = add_table(job, name, &stream->header, stream->place, &table, &dtype);
    if (rv != 0)
        return rv;
    uint64_t rows = stream->header.shape[0];
    uint64_t row_items = rows > 0 ? stream->header.num_items / rows : 0;
    uint64_t row_bytes = row_items * stream->header.item_bytes;
    if (row_bytes > ROW_BYTES_MAX)
        return error_set(job->error, TR_ETOOBIG,
                         "%s: has rows of %" PRIu64 " bytes; at most %" PRIu64 " are read",
                         stream->place, row_bytes, ROW_BYTES_MAX);
    uint64_t at_once = row_bytes == 0 ? rows : PIECE_BYTES / row_bytes;
    at_once = at_once == 0 ? 1 : at_once < rows ? at_once : rows;
    uint8_t *piece = malloc((size_t)(at_once * row_bytes) + 1);
    if (piece == NULL)
        return error_set(job->error, TR_ENOMEM, "%s: no memory to read it", stream->place);
    for (uint64_t done = 0; rv == 0 && done < rows;) {
        uint64_t some = rows - done < at_once ? rows - done : at_once;
        rv = npz_read(stream, piece, (size_t)(some * row_bytes), job->error);
        if (rv == 0)
            rv = write_rows(job, table, name, stream->place, dtype, done, some, row_items, piece);
        done += some;
    }
    free(piece);
    return rv == 0 ? npz_finish(stream, job->error) : rv;
}

/* A matrix in Fortran's order: held whole, since each of its rows is spread over all of it. */
static int turn_table(struct npz_job *job, const char *name, const char *array_name)
{
    struct npz_array array;
    uint32_t table;
    enum tr_dtype dtype;
    int rv = npz_load(&array, &job->npz, array_name, job->error);
    if (rv != 0)
        return rv;
    const struct npy_header *header = &array.header;
    if (header->ndim != 2)
        rv = error_set(job->error, TR_EUNSUPPORTED,
                       "%s: has %u dimensions in Fortran's order; save numpy.ascontiguousarray of "
                       "it",
                       array.place, header->ndim);
    if (rv == 0)
        rv = add_table(job, name, header, array.place, &table, &dtype);
    uint64_t rows = header->shape[0], columns = header->shape[1], item = header->item_bytes;
    uint8_t *row = rv == 0 ? malloc((size_t)(columns * item) + 1) : NULL;
    if (rv == 0 && row == NULL)
        rv = error_set(job->error, TR_ENOMEM, "%s: no memory to read it", array.place);
    for (uint64_t i = 0; rv == 0 && i < rows; i++) {
        for (uint64_t c = 0; c < columns; c++)
            memcpy(row + c * item, array.data + (c * rows + i) * item, item);
        rv = write_rows(job, table, name, array.place, dtype, i, 1, columns, row);
    }
    free(row);
    npz_array_fini(&array);
    return rv;
}

int npz_table_copy(struct npz_job *job, const char *name, const char *array_name)
{
    struct npz_stream stream;
    int rv = npz_open(&stream, &job->npz, array_name, job->error);
    if (rv != 0)
        return rv;
    bool fortran = stream.header.fortran;
    if (!fortran)
        rv = stream_table(job, name, &stream);
    npz_close(&stream);
    return rv == 0 && fortran ? turn_table(job, name, array_name) : rv;
}

static int check_widened(const struct npz_job *job, const struct npz_sparse *sparse)
{
    uint64_t items, bytes;
    if (sparse->columns <= ROW_BYTES_MAX / sizeof(float) &&
        !__builtin_mul_overflow(sparse->rows, sparse->columns, &items) &&
        !__builtin_mul_overflow(items, (uint64_t)sizeof(float), &bytes) &&
        bytes <= NPZ_WIDENED_BYTES_MAX)
        return 0;
    return error_set(job->error, TR_ETOOBIG,
                     "%s: %" PRIu64 " by %" PRIu64 " sparse numbers are stored with their zeroes, "
                     "in at most %" PRIu64 " bytes; save fewer columns, those of the most frequent "
                     "words or of a projection (TruncatedSVD)",
                     sparse->indptr.place, sparse->rows, sparse->columns, NPZ_WIDENED_BYTES_MAX);
}

static float sparse_value(const struct npz_sparse *sparse, uint64_t at)
{
    return sparse->has_data ? (float)npz_number(&sparse->data, at) : 1;
}

/* Rows with their zeroes, one at a time; an entry that is there twice counts twice, as in SciPy. */
static int widen_rows(struct npz_job *job, const char *name, const struct npz_sparse *sparse)
{
    uint32_t table;
    int rv = check_widened(job, sparse);
    if (rv == 0)
        rv = raw_writer_add_table(job->writer, name, false, 0, TR_F32, 1, &sparse->columns, &table,
                                  job->error);
    float *row = rv == 0 ? malloc((size_t)sparse->columns * sizeof *row + 1) : NULL;
    if (rv == 0 && row == NULL)
        rv = npz_job_no_memory(job, "features");
    for (uint64_t i = 0; rv == 0 && i < sparse->rows; i++) {
        uint64_t begin, end, column = 0;
        npz_sparse_row(sparse, i, &begin, &end);
        memset(row, 0, (size_t)sparse->columns * sizeof *row);
        for (uint64_t at = begin; at < end; at++) {
            (void)npz_id(&sparse->indices, at, &column, NULL);
            row[column] += sparse_value(sparse, at);
        }
        rv = raw_writer_rows(job->writer, table, 1, row, job->error);
    }
    free(row);
    return rv;
}

/* A row in the order of its columns; entries of one column stay in the archive's. */
struct sparse_entry {
    uint32_t column;
    uint32_t place;
    float value;
};

struct sparse_row {
    struct sparse_entry *entries;
    uint32_t *columns;
    float *values;
    uint64_t room;
    uint64_t count; /* of columns and values */
    bool ones;      /* all of them are 1 */
};

static int compare_entries(const void *a, const void *b)
{
    const struct sparse_entry *x = a, *y = b;
    if (x->column != y->column)
        return x->column < y->column ? -1 : 1;
    return x->place < y->place ? -1 : x->place > y->place;
}

static int make_room(struct npz_job *job, struct sparse_row *row, uint64_t count)
{
    if (count <= row->room)
        return 0;
    struct sparse_entry *entries = realloc(row->entries, (size_t)count * sizeof *entries);
    if (entries != NULL)
        row->entries = entries;
    uint32_t *columns = realloc(row->columns, (size_t)count * sizeof *columns);
    if (columns != NULL)
        row->columns = columns;
    float *values = realloc(row->values, (size_t)count * sizeof *values);
    if (values != NULL)
        row->values = values;
    if (entries == NULL || columns == NULL || values == NULL)
        return npz_job_no_memory(job, "features");
    row->room = count;
    return 0;
}

/* The same sums, in the same order, as a row of zeroes gets them; what is 0 then is left out. */
static int take_row(struct npz_job *job, const struct npz_sparse *sparse, uint64_t i,
                    struct sparse_row *row)
{
    uint64_t begin, end, column = 0;
    npz_sparse_row(sparse, i, &begin, &end);
    if (end - begin > UINT32_MAX)
        return error_set(job->error, TR_ETOOBIG, "%s: row %" PRIu64 " has 2^32 entries or more",
                         sparse->indptr.place, i);
    int rv = make_room(job, row, end - begin);
    if (rv != 0)
        return rv;
    for (uint64_t at = begin; at < end; at++) {
        (void)npz_id(&sparse->indices, at, &column, NULL);
        row->entries[at - begin] = (struct sparse_entry){ (uint32_t)column, (uint32_t)(at - begin),
                                                          sparse_value(sparse, at) };
    }
    if (end > begin)
        qsort(row->entries, (size_t)(end - begin), sizeof *row->entries, compare_entries);
    row->count = 0;
    row->ones = true;
    for (uint64_t at = 0; at < end - begin;) {
        float sum = 0;
        uint32_t of = row->entries[at].column;
        for (; at < end - begin && row->entries[at].column == of; at++)
            sum += row->entries[at].value;
        row->columns[row->count] = of;
        row->values[row->count] = sum;
        row->count += sum != 0;
        row->ones = row->ones && (sum == 0 || sum == 1);
    }
    return 0;
}

static void fini_row(struct sparse_row *row)
{
    free(row->entries);
    free(row->columns);
    free(row->values);
}

/* What sparse rows take: counted before they are written, since a table of ones has no values. */
static int measure_rows(struct npz_job *job, const struct npz_sparse *sparse, bool *ones)
{
    struct npz_facts *facts = job->facts;
    struct sparse_row row = { 0 };
    int rv = 0;
    *ones = true;
    facts->feature_items = 0;
    for (uint64_t i = 0; rv == 0 && i < sparse->rows; i++) {
        rv = (i & 4095) == 0 && cancel_asked(job->npz.cancel)
                 ? error_set(job->error, TR_ECANCELED, "%s: interrupted among features",
                             job->npz.path)
                 : take_row(job, sparse, i, &row);
        facts->feature_items += rv == 0 ? row.count : 0;
        *ones = *ones && row.ones;
    }
    fini_row(&row);
    /* Both are below 2^64: the archive's arrays were in memory, columns are below 2^31. */
    facts->sparse_bytes = (sparse->rows + 1) * sizeof(uint64_t) +
                          facts->feature_items * (sizeof(uint32_t) + (*ones ? 0 : sizeof(float)));
    if (__builtin_mul_overflow(sparse->rows, sparse->columns * sizeof(float), &facts->dense_bytes))
        facts->dense_bytes = UINT64_MAX;
    return rv;
}

static int keep_rows(struct npz_job *job, const char *name, const struct npz_sparse *sparse,
                     bool ones)
{
    struct sparse_row row = { 0 };
    uint32_t table;
    int rv = raw_writer_add_csr(job->writer, name, 0, TR_F32, sparse->columns, !ones, &table,
                                job->error);
    for (uint64_t i = 0; rv == 0 && i < sparse->rows; i++) {
        rv = take_row(job, sparse, i, &row);
        const uint64_t index[] = { 0, row.count };
        if (rv == 0)
            rv = raw_writer_csr_rows(job->writer, table, 1, index, row.columns, row.values,
                                     job->error);
    }
    fini_row(&row);
    return rv;
}

/* Where the columns are too many to be dense, sparse is what is left, whatever it takes. */
static bool is_kept(const struct npz_job *job, const struct npz_sparse *sparse)
{
    const struct npz_facts *facts = job->facts;
    if (job->options->rows != RAW_ROWS_SMALLER)
        return job->options->rows == RAW_ROWS_SPARSE;
    return sparse->columns >= CSR_WIDTH_MIN && sparse->columns <= CSR_WIDTH_MAX &&
           facts->sparse_bytes < facts->dense_bytes;
}

int npz_table_sparse(struct npz_job *job, const char *name, const char *prefix, bool may_keep)
{
    struct npz_sparse sparse;
    bool ones = false;
    int rv = npz_sparse_load(job, prefix, &sparse);
    if (rv != 0)
        return rv;
    job->facts->sparse_items += sparse.indices.header.num_items;
    rv = check_nodes(job, sparse.indptr.place, sparse.rows);
    if (rv == 0 && may_keep && sparse.columns <= CSR_WIDTH_MAX)
        rv = measure_rows(job, &sparse, &ones);
    job->facts->kept_sparse = job->facts->kept_sparse || (may_keep && is_kept(job, &sparse));
    if (rv == 0)
        rv = may_keep && is_kept(job, &sparse) ? keep_rows(job, name, &sparse, ones)
                                               : widen_rows(job, name, &sparse);
    npz_sparse_fini(&sparse);
    return rv;
}
