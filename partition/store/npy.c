/* SPDX-License-Identifier: Apache-2.0 */
#include "partition/store/npy.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/crc32c.h"

static int read_header(struct npy *npy, struct error *error)
{
    uint8_t *head = malloc(NPY_HEADER_BYTES_MAX + 12);
    if (head == NULL)
        return error_set(error, TR_ENOMEM, "%s: no memory for its header", npy->file.path);
    size_t got;
    int rv = file_read_some(&npy->file, 0, head, NPY_HEADER_BYTES_MAX + 12, &got, error);
    if (rv == 0)
        rv = npy_parse(npy->file.path, head, got, npy->file.size, &npy->header, error);
    free(head);
    return rv;
}

int npy_open(struct npy *npy, struct files *files, const char *path, struct error *error)
{
    memset(npy, 0, sizeof *npy);
    int rv = file_open(&npy->file, files, path, error);
    if (rv != 0)
        return rv;
    rv = read_header(npy, error);
    const struct npy_header *header = &npy->header;
    npy->num_rows = header->ndim > 0 ? header->shape[0] : 1;
    npy->row_items = 1;
    npy->row_bytes = header->item_bytes;
    for (uint32_t i = 1; rv == 0 && i < header->ndim; i++) {
        /* An empty array says nothing about the product of its other extents. */
        if (__builtin_mul_overflow(npy->row_items, header->shape[i], &npy->row_items) ||
            __builtin_mul_overflow(npy->row_items, (uint64_t)header->item_bytes, &npy->row_bytes))
            rv = error_set(error, TR_EFORMAT,
                           "%s: shape: a row of more than 2^64 bytes; the header is damaged", path);
    }
    if (rv != 0)
        npy_close(npy);
    return rv;
}

void npy_close(struct npy *npy)
{
    file_close(&npy->file);
}

int npy_read_rows(struct npy *npy, uint64_t begin, uint64_t count, void *rows, struct error *error)
{
    if (begin > npy->num_rows || count > npy->num_rows - begin)
        return error_set(error, TR_ERANGE, "%s: rows %" PRIu64 " to %" PRIu64 " asked of %" PRIu64,
                         npy->file.path, begin, begin + count, npy->num_rows);
    return file_read_at(&npy->file, npy->header.data_offset + begin * npy->row_bytes, rows,
                        (size_t)(count * npy->row_bytes), error);
}

int npy_header_checksum(struct npy *npy, uint32_t *checksum, struct error *error)
{
    size_t size = (size_t)npy->header.data_offset;
    uint8_t *head = malloc(size);
    if (head == NULL)
        return error_set(error, TR_ENOMEM, "%s: no memory for its header", npy->file.path);
    int rv = file_read_at(&npy->file, 0, head, size, error);
    if (rv == 0)
        *checksum = crc32c(0, head, size);
    free(head);
    return rv;
}

int npy_map(struct npy *npy, const void **data, struct error *error)
{
    int rv = file_map(&npy->file, data, error);
    if (rv == 0)
        *data = (const char *)*data + npy->header.data_offset;
    return rv;
}

int npy_dtype(const struct npy *npy, bool bf16, enum tr_dtype *dtype, struct error *error)
{
    const struct npy_header *header = &npy->header;
    char descr[3] = { header->kind, (char)('0' + header->item_bytes), '\0' };
    if (bf16) {
        *dtype = TR_BF16;
        if (strcmp(descr, "u2") == 0)
            return 0;
        return error_set(error, TR_EFORMAT, "%s: descr '%s' is said to hold bfloat16; '<u2' must",
                         npy->file.path, descr);
    }
    for (int i = TR_F32; i <= TR_BOOL; i++) {
        *dtype = (enum tr_dtype)i;
        if (*dtype != TR_BF16 && strcmp(npy_descr(*dtype) + 1, descr) == 0)
            return 0;
    }
    return error_set(error, TR_EUNSUPPORTED,
                     "%s: features of descr '%s' are not supported; save it with .astype('int64')",
                     npy->file.path, descr);
}

const char *npy_descr(enum tr_dtype dtype)
{
    switch (dtype) {
    case TR_F32:
        return "<f4";
    case TR_F16:
        return "<f2";
    case TR_BF16:
        return "<u2";
    case TR_F64:
        return "<f8";
    case TR_I8:
        return "|i1";
    case TR_U8:
        return "|u1";
    case TR_I16:
        return "<i2";
    case TR_I32:
        return "<i4";
    case TR_I64:
        return "<i8";
    case TR_BOOL:
        return "|b1";
    }
    return "";
}

/* Widens item i of raw; returns false for a negative one. Both may be the same memory only if
 * items are 8 bytes. */
static bool widen(const struct npy_header *header, const uint8_t *raw, uint64_t count,
                  uint64_t *ids, uint64_t *bad)
{
    uint64_t sign = header->kind == 'u' ? 0 : (uint64_t)1 << (header->item_bytes * 8 - 1);
    for (uint64_t i = 0; i < count; i++) {
        uint64_t id = 0;
        memcpy(&id, raw + i * header->item_bytes, header->item_bytes);
        if (id & sign) {
            *bad = i;
            return false;
        }
        ids[i] = id;
    }
    return true;
}

int npy_read_ids(struct npy *npy, uint64_t begin, uint64_t count, uint64_t *ids,
                 struct error *error)
{
    const struct npy_header *header = &npy->header;
    if (header->kind != 'i' && header->kind != 'u')
        return error_set(error, TR_EFORMAT,
                         "%s: descr '%c%d' cannot hold IDs; save it with .astype('int64')",
                         npy->file.path, header->kind, header->item_bytes);
    if (begin > header->num_items || count > header->num_items - begin)
        return error_set(error, TR_ERANGE,
                         "%s: elements %" PRIu64 " to %" PRIu64 " asked of "
                         "%" PRIu64,
                         npy->file.path, begin, begin + count, header->num_items);
    /* Narrow items are read into the far end of ids and widened in place, front to back: the
     * reading position never falls behind the writing one. */
    size_t bytes = (size_t)(count * header->item_bytes);
    uint8_t *raw = (uint8_t *)ids + (size_t)count * 8 - bytes;
    int rv = file_read_at(&npy->file, header->data_offset + begin * header->item_bytes, raw, bytes,
                          error);
    uint64_t bad = 0;
    if (rv == 0 && !widen(header, raw, count, ids, &bad))
        rv = error_set(error, TR_ERANGE, "%s: element %" PRIu64 " is negative; IDs start at 0",
                       npy->file.path, begin + bad);
    return rv;
}
