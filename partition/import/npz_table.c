/* SPDX-License-Identifier: Apache-2.0 */
#include "partition/import/npz_table.h"

#include <inttypes.h>
#include <math.h>
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
    if (rv == 0 && strcmp(name, "feat") == 0 && header->shape[0] > 0)
        job->feature_width = header->num_items / header->shape[0];
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

/* Doubles hold whole numbers exactly below. */
#define LABEL_MAX 9007199254740992.0

/* Labels as many programs save them, though they are numbers of classes. */
static int write_float_labels(struct npz_job *job, const struct npz_array *labels)
{
    int64_t rows[1024];
    uint32_t table;
    const uint64_t count = labels->header.num_items;
    int rv = check_nodes(job, labels->place, labels->header.shape[0]);
    if (rv == 0)
        rv = raw_writer_add_table(job->writer, "label", false, 0, TR_I64, 0, NULL, &table,
                                  job->error);
    for (uint64_t done = 0; rv == 0 && done < count;) {
        uint64_t some = count - done < 1024 ? count - done : 1024;
        for (uint64_t i = 0; i < some; i++) {
            double label = npz_number(labels, done + i);
            if (!isnan(label) && (label != trunc(label) || fabs(label) > LABEL_MAX))
                return error_set(job->error, TR_EUNSUPPORTED,
                                 "%s: row %" PRIu64
                                 " is %g, not the number of a class; amounts are not "
                                 "learned yet: save whole numbers, such as ranges of them",
                                 labels->place, done + i, label);
            rows[i] = isnan(label) ? -1 : (int64_t)label;
        }
        rv = raw_writer_rows(job->writer, table, some, rows, job->error);
        done += some;
    }
    return rv;
}

int npz_labels_copy(struct npz_job *job, const char *array_name)
{
    struct npz_stream stream;
    struct npz_array labels;
    int rv = npz_open_texts(&stream, &job->npz, array_name, job->error);
    if (rv != 0)
        return rv;
    const struct npy_header *header = &stream.header;
    const bool one = header->ndim == 1 || (header->ndim == 2 && header->shape[1] == 1);
    const bool floats = one && header->kind == 'f' && header->item_bytes > 2;
    const bool texts = header->kind == 'U' || header->kind == 'S';
    if (texts)
        rv = error_set(job->error, TR_EUNSUPPORTED,
                       "%s: holds texts; save their numbers, and the texts as class_names: "
                       "class_names, labels = numpy.unique(labels, return_inverse=True)",
                       stream.place);
    npz_close(&stream);
    if (rv != 0 || !floats)
        return rv == 0 ? npz_table_copy(job, "label", array_name) : rv;
    rv = npz_load(&labels, &job->npz, array_name, job->error);
    if (rv == 0)
        rv = write_float_labels(job, &labels);
    npz_array_fini(&labels);
    return rv;
}

int npz_table_sparse(struct npz_job *job, const char *name, const char *prefix, bool may_keep)
{
    struct npz_csr csr;
    struct feature_rows rows = { 0 };
    struct sparse_written written;
    struct npz_facts *facts = job->facts;
    int rv = npz_sparse_load(job, prefix, &csr);
    if (rv != 0)
        return rv;
    facts->sparse_items += csr.indices.header.num_items;
    rv = check_nodes(job, csr.indptr.place, csr.rows);
    if (rv == 0 && (!may_keep || csr.columns > CSR_WIDTH_MAX))
        rv = feature_rows_check_dense(csr.rows, csr.columns, csr.indptr.place, job->error);
    if (rv == 0)
        rv = npz_csr_to_rows(&csr, job->npz.cancel, &rows, job->error);
    npz_array_fini(&csr.indices);
    npz_array_fini(&csr.data);
    if (rv == 0)
        rv = feature_rows_write(&rows, csr.rows, may_keep ? job->options->rows : RAW_ROWS_DENSE,
                                csr.indptr.place, job->writer, name, &written, job->error);
    if (rv == 0 && strcmp(name, "feat") == 0)
        job->feature_width = csr.columns;
    if (rv == 0 && may_keep) {
        facts->feature_items = written.items;
        facts->sparse_bytes = written.sparse_bytes;
        facts->dense_bytes = written.dense_bytes;
        facts->kept_sparse = written.kept_sparse;
    }
    feature_rows_fini(&rows);
    npz_csr_fini(&csr);
    return rv;
}
