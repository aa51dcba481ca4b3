/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One array of a directory brought into memory: opened, compared with the form that the book gives
 * it, copied or mapped and, where that is asked for, compared with its checksum. Pieces of a large
 * array are read and summed by several threads.
 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "partition/store/store_private.h"
#include "runtime/base/crc32c.h"
#include "runtime/base/hotmem.h"

/* A piece of a file that one index of the loop reads. */
#define READ_BYTES ((size_t)8 << 20)
/* The bytes that are read before they are summed: they fit the second cache beside what the copy
 * itself needs. */
#define SUM_BYTES ((size_t)256 << 10)
/* A mapping takes a page at least, and Linux stops at 65530 of them: thousands of partitions have
 * more files than that. */
#define MAP_BYTES_MIN ((size_t)16 << 10)

char *store_path(const struct store *store, uint32_t part, char *name)
{
    char *path = NULL;
    int length = -1;
    if (name != NULL)
        length = part == UINT32_MAX ? asprintf(&path, "%s/%s", store->folder, name)
                                    : asprintf(&path, "%s/%s/%s", store->folder,
                                               store->file.part_folders[part], name);
    free(name);
    return length < 0 ? NULL : path;
}

static int check_form(const char *path, const struct npy *npy, const struct array_form *form,
                      struct error *error)
{
    const struct npy_header *header = &npy->header;
    if (header->kind != form->kind || header->item_bytes != form->item_bytes)
        return error_set(error, TR_EFORMAT, "%s: elements are '%c%u', not '%c%u'; partition again",
                         path, header->kind, header->item_bytes, form->kind, form->item_bytes);
    if (header->ndim != form->ndim)
        return error_set(error, TR_EFORMAT, "%s: %u dimensions, not %u; partition again", path,
                         header->ndim, form->ndim);
    for (uint32_t d = 0; d < form->ndim; d++) {
        uint64_t expected = d == 0 ? form->rows : form->row_shape[d - 1];
        if (header->shape[d] != expected)
            return error_set(error, TR_EFORMAT,
                             "%s: shape[%u] is %" PRIu64 ", the partition book says %" PRIu64
                             "; partition again",
                             path, d, header->shape[d], expected);
    }
    return 0;
}

int store_open_array(struct store *store, char *path, const struct array_form *form,
                     struct npy *npy, struct error *error)
{
    *npy = (struct npy){ 0 };
    if (path == NULL)
        return error_set(error, TR_ENOMEM, "%s: no memory for a file's name", store->path);
    int rv = npy_open(npy, store->files, path, error);
    if (rv == 0) {
        rv = check_form(path, npy, form, error);
        if (rv != 0)
            npy_close(npy);
    }
    free(path);
    return rv;
}

void store_table_form(const struct book_table *table, uint64_t rows, struct array_form *form)
{
    static const char kinds[] = {
        [TR_F32] = 'f', [TR_F16] = 'f', [TR_BF16] = 'u', [TR_F64] = 'f', [TR_I8] = 'i',
        [TR_U8] = 'u',  [TR_I16] = 'i', [TR_I32] = 'i',  [TR_I64] = 'i', [TR_BOOL] = 'b'
    };
    *form = (struct array_form){ .kind = kinds[table->dtype],
                                 .item_bytes = (uint8_t)tr_dtype_size(table->dtype),
                                 .ndim = table->ndim + 1,
                                 .rows = rows,
                                 .row_shape = table->shape };
}

int store_check_sum(const struct store *store, uint32_t part, const char *path, uint32_t sum,
                    struct error *error)
{
    const struct checksums *checksums = &store->file.checksums;
    const char *slash = strrchr(path, '/');
    uint32_t said;
    if (!checksums_known(checksums))
        return 0;
    if (!checksums_find(checksums, part, slash == NULL ? path : slash + 1, &said))
        return error_set(error, TR_EFORMAT, "%s: %s has no checksum of it; partition again", path,
                         store->path);
    if (sum == said)
        return 0;
    return error_set(error, TR_EFORMAT,
                     "%s: its checksum is %08" PRIx32 ", %s says %08" PRIx32 ": the file was "
                     "damaged or is another one; copy it again, or partition again",
                     path, sum, store->path, said);
}

/* One piece of an array: read, or in memory already, and summed. */
struct array_piece {
    uint32_t sum;
    struct error error;
};

struct array_reading {
    struct npy *npy;
    char *into;       /* NULL: nothing is read */
    const char *data; /* what is summed: into, or a mapping */
    size_t bytes;
    bool sums;
    const struct cancel *cancel; /* or NULL */
    struct array_piece *pieces;
};

/* Pieces share the file: reading at an offset changes nothing in it. Each stretch is summed while
 * it is still in the cache. */
static void read_piece(void *arg, size_t index, size_t worker)
{
    struct array_reading *reading = arg;
    struct array_piece *piece = &reading->pieces[index];
    (void)worker;
    size_t begin = index * READ_BYTES, left = reading->bytes - begin;
    size_t end = begin + (left < READ_BYTES ? left : READ_BYTES);
    int rv = 0;
    for (size_t at = begin; at < end && rv == 0;) {
        size_t size = end - at;
        if (size > SUM_BYTES)
            size = SUM_BYTES;
        if (cancel_asked(reading->cancel))
            rv = error_set(&piece->error, TR_ECANCELED, "%s: interrupted while it was read",
                           reading->npy->file.path);
        if (rv == 0 && reading->into != NULL)
            rv = file_read_at(&reading->npy->file, reading->npy->header.data_offset + at,
                              reading->into + at, size, &piece->error);
        if (rv == 0 && reading->sums)
            piece->sum = crc32c(piece->sum, reading->data + at, size);
        at += size;
    }
    piece->error.code = rv;
}

/* Does the pieces side by side; their sums are put together in order, behind that of the header. */
static int read_pieces(struct array_reading *reading, struct parallel *parallel, uint32_t *sum,
                       struct error *error)
{
    size_t count = (reading->bytes + READ_BYTES - 1) / READ_BYTES;
    reading->pieces = calloc(count + 1, sizeof *reading->pieces);
    if (reading->pieces == NULL)
        return error_set(error, TR_ENOMEM, "%s: no memory to read it", reading->npy->file.path);
    parallel_for(parallel == NULL ? parallel_serial : parallel, count, read_piece, reading);
    int rv = reading->sums ? npy_header_checksum(reading->npy, sum, error) : 0;
    for (size_t i = 0; i < count && rv == 0; i++) {
        struct array_piece *piece = &reading->pieces[i];
        size_t left = reading->bytes - i * READ_BYTES;
        rv = piece->error.code;
        if (rv != 0)
            error_set(error, rv, "%s", piece->error.text);
        else if (reading->sums)
            *sum = crc32c_join(*sum, piece->sum, left < READ_BYTES ? left : READ_BYTES);
    }
    free(reading->pieces);
    return rv;
}

int store_sum_array(struct npy *npy, const void *data, size_t bytes, struct parallel *parallel,
                    const struct cancel *cancel, uint32_t *sum, struct error *error)
{
    struct array_reading reading = {
        .npy = npy, .data = data, .bytes = bytes, .sums = true, .cancel = cancel
    };
    return read_pieces(&reading, parallel, sum, error);
}

static int copy_array(const struct store *store, uint32_t part, struct store_block *block,
                      const struct partition_load *load, const void **data, struct error *error)
{
    struct npy *npy = &block->npy;
    uint32_t sum = 0;
    block->bytes = (size_t)(npy->header.num_items * npy->header.item_bytes);
    block->memory = hotmem_alloc(block->bytes);
    struct array_reading reading = { .npy = npy,
                                     .into = block->memory,
                                     .data = block->memory,
                                     .bytes = block->bytes,
                                     .cancel = load->cancel,
                                     .sums = load->check != PARTITION_CHECK_NONE &&
                                             checksums_known(&store->file.checksums) };
    int rv = block->memory == NULL ? error_set(error, TR_ENOMEM, "%s: no memory for its %zu bytes",
                                               npy->file.path, block->bytes)
                                   : read_pieces(&reading, load->parallel, &sum, error);
    if (rv == 0 && reading.sums)
        rv = store_check_sum(store, part, npy->file.path, sum, error);
    /* The file is closed at once, and not with the partition: a graph of many has more files
     * than a process may have open. */
    npy_close(npy);
    *data = block->memory;
    return rv;
}

/* The mapping outlives the descriptor: a graph of many partitions has more files than a process may
 * have open. */
static int map_array(const struct store *store, uint32_t part, struct store_block *block,
                     const struct partition_load *load, const void **data, struct error *error)
{
    struct file *file = &block->npy.file;
    const struct npy_header *header = &block->npy.header;
    uint32_t sum;
    int rv = npy_map(&block->npy, data, error);
    if (rv == 0 && load->check == PARTITION_CHECK_ALL) {
        rv = store_sum_array(&block->npy, *data, (size_t)(header->num_items * header->item_bytes),
                             load->parallel, load->cancel, &sum, error);
        if (rv == 0)
            rv = store_check_sum(store, part, file->path, sum, error);
    }
    if (rv == 0) {
        file->files->close(file->files, file->fd);
        file->fd = -1;
    }
    return rv;
}

int store_load_array(struct store *store, struct loaded_part *loaded, char *path,
                     const struct array_form *form, const struct partition_load *load,
                     const void **data, struct error *error)
{
    struct store_block *grown = realloc(loaded->blocks,
                                        (loaded->num_blocks + 1) * sizeof *loaded->blocks);
    if (grown == NULL) {
        free(path);
        return error_set(error, TR_ENOMEM, "%s: no memory for its arrays", store->path);
    }
    loaded->blocks = grown;
    struct store_block *block = &grown[loaded->num_blocks];
    *block = (struct store_block){ 0 };
    int rv = store_open_array(store, path, form, &block->npy, error);
    if (rv != 0)
        return rv;
    /* The block counts as soon as it is open: whatever fails below, store_unload() closes and
     * frees it. */
    loaded->num_blocks++;
    bool map = load->mode == PARTITION_MAP && block->npy.file.size >= MAP_BYTES_MIN;
    uint32_t part = loaded->part.part_id;
    return map ? map_array(store, part, block, load, data, error)
               : copy_array(store, part, block, load, data, error);
}
