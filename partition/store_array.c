#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "partition/store_private.h"
#include "runtime/hotmem.h"

/* A piece of a file that one index of the loop reads. */
#define READ_BYTES ((size_t)8 << 20)
/* A mapping takes a page at least, and Linux stops at 65530 of them: thousands of partitions have
 * more files than that. */
#define MAP_BYTES_MIN ((size_t)16 << 10)

char *store_path(const struct store *store, uint32_t part, char *name)
{
    char *path = NULL;
    int length = -1;
    if (name != NULL)
        length = part == UINT32_MAX
                     ? asprintf(&path, "%s/%s", store->folder, name)
                     : asprintf(&path, "%s/%s/%s", store->folder, store->file.part_folders[part],
                                name);
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
    static const char kinds[] = { [TR_F32] = 'f', [TR_F16] = 'f', [TR_BF16] = 'u', [TR_F64] = 'f',
                                  [TR_I8] = 'i',  [TR_U8] = 'u',  [TR_I16] = 'i',  [TR_I32] = 'i',
                                  [TR_I64] = 'i', [TR_BOOL] = 'b' };
    *form = (struct array_form){ .kind = kinds[table->dtype],
                                 .item_bytes = (uint8_t)tr_dtype_size(table->dtype),
                                 .ndim = table->ndim + 1,
                                 .rows = rows,
                                 .row_shape = table->shape };
}

struct reading {
    struct npy *npy;
    char *data;
    size_t bytes;
    struct error *errors; /* [pieces] */
};

/* Pieces share the file: reading at an offset changes nothing in it. */
static void read_piece(void *arg, size_t index, size_t worker)
{
    struct reading *reading = arg;
    (void)worker;
    size_t begin = index * READ_BYTES, left = reading->bytes - begin;
    size_t size = left < READ_BYTES ? left : READ_BYTES;
    struct error *error = &reading->errors[index];
    error->code = file_read_at(&reading->npy->file, reading->npy->header.data_offset + begin,
                               reading->data + begin, size, error);
}

static int read_whole(struct npy *npy, void *data, size_t bytes, struct parallel *parallel,
                      struct error *error)
{
    size_t pieces = (bytes + READ_BYTES - 1) / READ_BYTES;
    struct reading reading = { .npy = npy, .data = data, .bytes = bytes };
    reading.errors = calloc(pieces + 1, sizeof *reading.errors);
    if (reading.errors == NULL)
        return error_set(error, TR_ENOMEM, "%s: no memory to read it", npy->file.path);
    parallel_for(parallel == NULL ? parallel_serial : parallel, pieces, read_piece, &reading);
    int rv = 0;
    for (size_t i = 0; i < pieces && rv == 0; i++) {
        rv = reading.errors[i].code;
        if (rv != 0)
            error_set(error, rv, "%s", reading.errors[i].text);
    }
    free(reading.errors);
    return rv;
}

static int copy_array(struct store_block *block, struct parallel *parallel, const void **data,
                      struct error *error)
{
    struct npy *npy = &block->npy;
    block->bytes = (size_t)(npy->header.num_items * npy->header.item_bytes);
    block->memory = hotmem_alloc(block->bytes);
    int rv = block->memory == NULL
                 ? error_set(error, TR_ENOMEM, "%s: no memory for its %zu bytes",
                             npy->file.path, block->bytes)
                 : read_whole(npy, block->memory, block->bytes, parallel, error);
    npy_close(npy);
    *data = block->memory;
    return rv;
}

/* The mapping outlives the descriptor: a graph of many partitions has more files than a process may
 * have open. */
static int map_array(struct store_block *block, const void **data, struct error *error)
{
    struct file *file = &block->npy.file;
    int rv = npy_map(&block->npy, data, error);
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
    struct store_block *grown =
        realloc(loaded->blocks, (loaded->num_blocks + 1) * sizeof *loaded->blocks);
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
    loaded->num_blocks++;
    bool map = load->mode == PARTITION_MAP && block->npy.file.size >= MAP_BYTES_MIN;
    return map ? map_array(block, data, error) : copy_array(block, load->parallel, data, error);
}
