/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NumPy's .npy files, versions 1 to 3: read whole or by rows, mapped, and written as a stream.
 *
 * Format: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html. Headers come
 * from outside, so each field is checked, and the shape against the size of the file, before
 * anything is allocated. Files that we write pad their header so that data begin at a multiple of
 * 64.
 *
 * NumPy has no bfloat16: we write it as "<u2", and what lists the files says which it is.
 *
 * Ownership: npy_close and npy_writer_close release all. One thread at a time a file.
 */
#ifndef PARTITION_STORE_NPY_H
#define PARTITION_STORE_NPY_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <troupe/types.h>

#include "runtime/base/error.h"
#include "runtime/base/files.h"

/* Rows of RAW_NDIM_MAX dimensions, and the rows themselves. */
#define NPY_NDIM_MAX 5
/* Version 1 cannot say more; nobody's shape and type need a thousandth of it. */
#define NPY_HEADER_BYTES_MAX 65536
#define NPY_ALIGN 64

struct npy_header {
    char kind;           /* 'i', 'u', 'f' or 'b', as in NumPy's dtype.kind */
    uint32_t item_bytes; /* 1, 2, 4 or 8 */
    bool fortran;        /* the first dimension runs fastest; only npy_parse_head gives such */
    uint32_t ndim;
    uint64_t shape[NPY_NDIM_MAX];
    uint64_t num_items;   /* the product of shape */
    uint64_t data_offset; /* in the file */
};

struct npy {
    struct file file;
    struct npy_header header;
    uint64_t num_rows;  /* shape[0]; 1 for a scalar */
    uint64_t row_items; /* the product of the rest */
    uint64_t row_bytes;
};

/* Opens and checks; TR_EFORMAT names the file, the field, its value and the remedy. */
int npy_open(struct npy *npy, struct files *files, const char *path, struct error *error);
void npy_close(struct npy *npy);

/* Rows [begin, begin + count), which must exist, into rows: [count * row_bytes]. */
int npy_read_rows(struct npy *npy, uint64_t begin, uint64_t count, void *rows, struct error *error);

/* All data, read-only, aligned to 64 bytes if we wrote the file, until npy_close. */
int npy_map(struct npy *npy, const void **data, struct error *error);

/* The element type; bf16 says that "<u2" holds bfloat16. TR_EUNSUPPORTED for a type that
 * features can't have (uint16, uint32, uint64). */
int npy_dtype(const struct npy *npy, bool bf16, enum tr_dtype *dtype, struct error *error);

/* Reads elements [begin, begin + count) of an integer file, widened; negative ones are
 * TR_ERANGE. */
int npy_read_ids(struct npy *npy, uint64_t begin, uint64_t count, uint64_t *ids,
                 struct error *error);

/* Parses the head of a file of file_bytes; size bytes of it are in data. For tests and npy_open. */
int npy_parse(const char *path, const uint8_t *data, size_t size, uint64_t file_bytes,
              struct npy_header *header, struct error *error);

/* As npy_parse, without the file's size, which the caller compares, and for arrays in Fortran's
 * order too. */
int npy_parse_head(const char *path, const uint8_t *data, size_t size, struct npy_header *header,
                   struct error *error);
/* As npy_parse_head, for arrays of texts as well: kind 'S' of bytes or 'U' of characters of 4 bytes,
 * item_bytes at most NPY_TEXT_BYTES_MAX. */
#define NPY_TEXT_BYTES_MAX ((uint32_t)1 << 16)
int npy_parse_text_head(const char *path, const uint8_t *data, size_t size,
                        struct npy_header *header, struct error *error);

/* The descr of a type ("<f4"). */
const char *npy_descr(enum tr_dtype dtype);

/* The number of rows is not known yet: npy_finish writes it. */
#define NPY_ROWS_UNKNOWN UINT64_MAX

/* Bytes that leave for the file together: so many that a system call costs little beside them, so
 * few that hundreds of types have buffers. */
#define NPY_BUFFER_BYTES ((size_t)256 << 10)

struct npy_writer {
    struct file file;
    char descr[8];
    uint32_t ndim;
    uint64_t shape[NPY_NDIM_MAX];
    uint64_t row_bytes;
    uint64_t bytes;    /* appended so far */
    uint32_t checksum; /* CRC-32C of the bytes that left the buffer; of the file when finished */
    uint8_t *buffer;   /* [NPY_BUFFER_BYTES] */
    size_t buffered;
};

/* Creates the file. descr: "<f4", "|i1" ...; item size is its digit. shape[0] may be
 * NPY_ROWS_UNKNOWN. */
int npy_create(struct npy_writer *writer, struct files *files, const char *path, const char *descr,
               uint32_t ndim, const uint64_t *shape, struct error *error);
/* Appends what may not fit behind the buffered bytes; npy_append() is what others call. */
int npy_append_any(struct npy_writer *writer, const void *data, size_t size, struct error *error);

/* Inline: most calls append one number of a known size, which the compiler then stores. */
static inline int npy_append(struct npy_writer *writer, const void *data, size_t size,
                             struct error *error)
{
    if (size == 0 || size >= NPY_BUFFER_BYTES - writer->buffered)
        return npy_append_any(writer, data, size, error);
    memcpy(writer->buffer + writer->buffered, data, size);
    writer->buffered += size;
    writer->bytes += size;
    return 0;
}

/* Writes what is buffered and the header, checks that as many bytes came as the shape says. Then
 * writer->checksum is that of the whole file. */
int npy_finish(struct npy_writer *writer, struct error *error);
/* Closes the file, finished or not. Harmless on a zeroed writer. */
void npy_writer_close(struct npy_writer *writer);

/* A whole array at once: create, append, finish, close. */
int npy_write(struct files *files, const char *path, const char *descr, uint32_t ndim,
              const uint64_t *shape, const void *data, struct error *error);

/* The CRC-32C of what stands before the elements. */
int npy_header_checksum(struct npy *npy, uint32_t *checksum, struct error *error);

#endif
