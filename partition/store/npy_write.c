/* SPDX-License-Identifier: Apache-2.0 */
/* Writing .npy files as a stream. */
#include "partition/store/npy.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/crc32c.h"

/* Room for the shape of NPY_NDIM_MAX extents of 20 digits; a multiple of NPY_ALIGN. */
#define HEADER_BYTES 256

static int write_header(struct npy_writer *writer, uint64_t num_rows, uint32_t *checksum,
                        struct error *error)
{
    char head[HEADER_BYTES];
    memset(head, ' ', sizeof head);
    memcpy(head, "\x93NUMPY\x01\x00", 8);
    head[8] = (char)((HEADER_BYTES - 10) & 0xff);
    head[9] = (char)((HEADER_BYTES - 10) >> 8);
    char text[HEADER_BYTES - 10];
    int length = snprintf(text, sizeof text, "{'descr': '%s', 'fortran_order': False, 'shape': (",
                          writer->descr);
    for (uint32_t i = 0; i < writer->ndim; i++)
        length += snprintf(text + length, sizeof text - (size_t)length, "%" PRIu64 "%s",
                           i == 0 ? num_rows : writer->shape[i],
                           i + 1 < writer->ndim ? ", "
                           : writer->ndim == 1  ? ","
                                                : "");
    length += snprintf(text + length, sizeof text - (size_t)length, "), }");
    assert((size_t)length < sizeof text);
    memcpy(head + 10, text, (size_t)length);
    head[HEADER_BYTES - 1] = '\n';
    *checksum = crc32c(0, head, sizeof head);
    return file_write_at(&writer->file, 0, head, sizeof head, error);
}

int npy_create(struct npy_writer *writer, struct files *files, const char *path, const char *descr,
               uint32_t ndim, const uint64_t *shape, struct error *error)
{
    uint32_t unused;
    memset(writer, 0, sizeof *writer);
    assert(strlen(descr) == 3 && ndim <= NPY_NDIM_MAX);
    memcpy(writer->descr, descr, 4);
    writer->ndim = ndim;
    writer->row_bytes = (uint64_t)(descr[2] - '0');
    for (uint32_t i = 0; i < ndim; i++) {
        writer->shape[i] = shape[i];
        if (i > 0 && __builtin_mul_overflow(writer->row_bytes, shape[i], &writer->row_bytes))
            return error_set(error, TR_ETOOBIG, "%s: a row of more than 2^64 bytes", path);
    }
    writer->buffer = malloc(NPY_BUFFER_BYTES);
    if (writer->buffer == NULL)
        return error_set(error, TR_ENOMEM, "%s: no memory to write it", path);
    /* A header is written at once, so that rows come behind it; npy_finish() writes the right
     * one. */
    int rv = file_create(&writer->file, files, path, error);
    if (rv == 0)
        rv = write_header(writer, 0, &unused, error);
    if (rv != 0)
        npy_writer_close(writer);
    return rv;
}

/* Sums on the way to the file: the bytes are in the cache, and nothing is read again for it. */
static int write_out(struct npy_writer *writer, const void *data, size_t size, struct error *error)
{
    writer->checksum = crc32c(writer->checksum, data, size);
    return file_append(&writer->file, data, size, error);
}

static int flush(struct npy_writer *writer, struct error *error)
{
    int rv = write_out(writer, writer->buffer, writer->buffered, error);
    writer->buffered = 0;
    return rv;
}

int npy_append_any(struct npy_writer *writer, const void *data, size_t size, struct error *error)
{
    writer->bytes += size;
    /* The buffered bytes go out before these, which came after them. */
    if (size >= NPY_BUFFER_BYTES) {
        int rv = flush(writer, error);
        return rv != 0 ? rv : write_out(writer, data, size, error);
    }
    if (size > NPY_BUFFER_BYTES - writer->buffered) {
        int rv = flush(writer, error);
        if (rv != 0)
            return rv;
    }
    if (size > 0)
        memcpy(writer->buffer + writer->buffered, data, size);
    writer->buffered += size;
    return 0;
}

/* The number of rows that the shape or, where it is unknown, the data say. */
static int count_rows(const struct npy_writer *writer, uint64_t *num_rows, struct error *error)
{
    uint64_t bytes;
    *num_rows = writer->ndim == 0 ? 1 : writer->shape[0];
    if (writer->ndim > 0 && *num_rows == NPY_ROWS_UNKNOWN) {
        *num_rows = writer->row_bytes == 0 ? 0 : writer->bytes / writer->row_bytes;
    }
    if (__builtin_mul_overflow(*num_rows, writer->row_bytes, &bytes) || bytes != writer->bytes)
        return error_set(error, TR_EMISMATCH,
                         "%s: %" PRIu64 " bytes were written for %" PRIu64 " rows of %" PRIu64
                         " bytes",
                         writer->file.path, writer->bytes, *num_rows, writer->row_bytes);
    return 0;
}

int npy_finish(struct npy_writer *writer, struct error *error)
{
    uint64_t num_rows;
    uint32_t head = 0;
    /* The header is written last: one of a file whose rows are not all there would be wrong. */
    int rv = count_rows(writer, &num_rows, error);
    if (rv == 0)
        rv = flush(writer, error);
    if (rv == 0)
        rv = write_header(writer, num_rows, &head, error);
    if (rv != 0)
        return rv;
    writer->checksum = crc32c_join(head, writer->checksum, writer->bytes);
    /* Folders are synced when their last file is written. The disk begins with this one here, at
     * the end of its bytes: it writes while other files are made, and a sync waits for little. */
    file_start_sync(&writer->file);
    return 0;
}

void npy_writer_close(struct npy_writer *writer)
{
    file_close(&writer->file);
    free(writer->buffer);
    memset(writer, 0, sizeof *writer);
}

int npy_write(struct files *files, const char *path, const char *descr, uint32_t ndim,
              const uint64_t *shape, const void *data, struct error *error)
{
    struct npy_writer writer;
    int rv = npy_create(&writer, files, path, descr, ndim, shape, error);
    if (rv != 0)
        return rv;
    size_t bytes = (size_t)(writer.row_bytes * (ndim > 0 ? shape[0] : 1));
    rv = npy_append(&writer, data, bytes, error);
    if (rv == 0)
        rv = npy_finish(&writer, error);
    npy_writer_close(&writer);
    return rv;
}
