/* SPDX-License-Identifier: Apache-2.0 */
#include "partition/import/npz_masks.h"

#include <inttypes.h>
#include <stdlib.h>

#define MASKS 3

static const char *const MASK_NAMES[MASKS][5] = {
    { "train_masks", "train_mask", NULL },
    { "val_masks", "val_mask", "valid_masks", "valid_mask", NULL },
    { "test_masks", "test_mask", NULL },
};
/* Numbers of the nodes of a split. */
static const char *const INDEX_NAMES[MASKS][9] = {
    { "train_idx", "idx_train", "train_index", "train_indices", "train_ids", "train_nodes",
      "train_id", "train", NULL },
    { "val_idx", "idx_val", "valid_idx", "val_index", "val_indices", "val_ids", "val_nodes", "val",
      NULL },
    { "test_idx", "idx_test", "test_index", "test_indices", "test_ids", "test_nodes", "test_id",
      "test", NULL },
};
static const char *const TABLES[MASKS] = { "train_mask", "val_mask", "test_mask" };

/* Which elements of a mask are the nodes of the split: element first + i * step. They stay where
 * there is one split. */
static int place_split(struct npz_job *job, const struct npz_array *mask, uint64_t *first,
                       uint64_t *step)
{
    const struct npy_header *header = &mask->header;
    const uint64_t *shape = header->shape, nodes = job->num_nodes;
    uint64_t splits = 1;
    bool fits = header->ndim == 1 && shape[0] == nodes;
    if (header->ndim == 2 && (shape[1] == nodes || shape[0] == nodes)) {
        /* Both ways are published; [splits, N] counts where both would fit. */
        bool by_split = shape[1] == nodes;
        splits = by_split ? shape[0] : shape[1];
        bool together = by_split != header->fortran;
        *first = together ? job->options->split * nodes : job->options->split;
        *step = together ? 1 : splits;
        fits = true;
    }
    if (!fits)
        return error_set(job->error, TR_EMISMATCH,
                         "%s: shape: a mask of %" PRIu64 " nodes is [N], [splits, N] or [N, "
                         "splits]",
                         mask->place, nodes);
    /* One mask beside several splits of another is that of each of them. */
    if (header->ndim == 2 && job->options->split >= splits)
        return error_set(job->error, TR_EINVAL,
                         "%s: has %" PRIu64 " splits, numbered from 0; there is no \"split\" %u",
                         mask->place, splits, job->options->split);
    splits = splits < UINT32_MAX ? splits : UINT32_MAX;
    if (splits > job->facts->num_splits)
        job->facts->num_splits = (uint32_t)splits;
    return 0;
}

static int write_mask(struct npz_job *job, const char *name, const char *array_name)
{
    struct npz_array mask;
    uint64_t first = 0, step = 1, value = 0;
    uint32_t table;
    int rv = npz_load(&mask, &job->npz, array_name, job->error);
    if (rv != 0)
        return rv;
    rv = place_split(job, &mask, &first, &step);
    /* The array has as many elements: this is no more memory than was unpacked. */
    uint8_t *bits = rv == 0 ? malloc((size_t)job->num_nodes + 1) : NULL;
    if (rv == 0 && bits == NULL)
        rv = npz_job_no_memory(job, "masks");
    if (mask.header.kind == 'b')
        mask.header.kind = 'u';
    if (rv == 0 && mask.header.kind == 'f')
        rv = error_set(job->error, TR_EFORMAT, "%s: holds floats; a mask is bool or of integers",
                       mask.place);
    for (uint64_t i = 0; rv == 0 && i < job->num_nodes; i++) {
        rv = npz_id(&mask, first + i * step, &value, job->error);
        if (rv == 0 && value > 1)
            rv = error_set(job->error, TR_EFORMAT,
                           "%s: node %" PRIu64 " has %" PRIu64 "; a mask holds 0 and 1", mask.place,
                           i, value);
        bits[i] = (uint8_t)value;
    }
    if (rv == 0)
        rv = raw_writer_add_table(job->writer, name, false, 0, TR_U8, 0, NULL, &table, job->error);
    if (rv == 0)
        rv = raw_writer_rows(job->writer, table, job->num_nodes, bits, job->error);
    free(bits);
    npz_array_fini(&mask);
    return rv;
}

/* Where the numbers of the split stand: `count` elements, first + i * step. */
static int place_index(struct npz_job *job, const struct npz_array *index, uint64_t *count,
                       uint64_t *first, uint64_t *step)
{
    const struct npy_header *header = &index->header;
    const uint64_t splits = header->ndim == 2 ? header->shape[0] : 1;
    *count = header->num_items;
    *first = 0;
    *step = 1;
    if (header->ndim != 1 && header->ndim != 2)
        return error_set(job->error, TR_EFORMAT,
                         "%s: shape: numbers of nodes are needed as [K] or [splits, K]",
                         index->place);
    if (header->ndim == 2) {
        if (job->options->split >= splits)
            return error_set(job->error, TR_EINVAL,
                             "%s: has %" PRIu64
                             " splits, numbered from 0; there is no \"split\" %u",
                             index->place, splits, job->options->split);
        *count = header->shape[1];
        *first = header->fortran ? job->options->split : job->options->split * *count;
        *step = header->fortran ? splits : 1;
    }
    if (splits > job->facts->num_splits)
        job->facts->num_splits = splits < UINT32_MAX ? (uint32_t)splits : UINT32_MAX;
    return 0;
}

/* Numbers of nodes become the mask that has them. */
static int write_index(struct npz_job *job, const char *name, const struct npz_array *index)
{
    uint64_t count, first, step, node;
    uint32_t table;
    int rv = place_index(job, index, &count, &first, &step);
    uint8_t *bits = rv == 0 ? calloc((size_t)job->num_nodes + 1, 1) : NULL;
    if (rv == 0 && bits == NULL)
        rv = npz_job_no_memory(job, "masks");
    for (uint64_t i = 0; rv == 0 && i < count; i++) {
        rv = npz_id(index, first + i * step, &node, job->error);
        if (rv == 0 && node >= job->num_nodes)
            rv = error_set(job->error, TR_ERANGE,
                           "%s: element %" PRIu64 " is %" PRIu64 "; there are %" PRIu64
                           " nodes, numbered from 0",
                           index->place, i, node, job->num_nodes);
        if (rv == 0 && bits[node] != 0)
            rv = error_set(job->error, TR_EFORMAT,
                           "%s: element %" PRIu64 " is %" PRIu64
                           " again; a split has each node once, "
                           "or is a mask of %" PRIu64 " elements",
                           index->place, i, node, job->num_nodes);
        if (rv == 0)
            bits[node] = 1;
    }
    if (rv == 0)
        rv = raw_writer_add_table(job->writer, name, false, 0, TR_U8, 0, NULL, &table, job->error);
    if (rv == 0)
        rv = raw_writer_rows(job->writer, table, job->num_nodes, bits, job->error);
    free(bits);
    return rv;
}

/* An array that is called as numbers of nodes are; of bool, or of 0 and 1 for each node, it is a
 * mask. */
static int write_indexed(struct npz_job *job, const char *name, const char *array_name)
{
    struct npz_array index;
    int rv = npz_load(&index, &job->npz, array_name, job->error);
    if (rv != 0)
        return rv;
    bool mask = index.header.num_items == job->num_nodes;
    for (uint64_t i = 0; mask && index.header.kind != 'b' && i < job->num_nodes; i++) {
        uint64_t value;
        mask = npz_id(&index, i, &value, NULL) == 0 && value <= 1;
    }
    mask = mask || index.header.kind == 'b';
    if (!mask)
        rv = write_index(job, name, &index);
    npz_array_fini(&index);
    return mask ? write_mask(job, name, array_name) : rv;
}

int npz_masks_write(struct npz_job *job)
{
    int rv = 0;
    for (int i = 0; rv == 0 && i < MASKS; i++) {
        const char *name = npz_job_find(job, MASK_NAMES[i]);
        if (name != NULL)
            rv = write_mask(job, TABLES[i], name);
        else if ((name = npz_job_find(job, INDEX_NAMES[i])) != NULL)
            rv = write_indexed(job, TABLES[i], name);
    }
    if (rv == 0 && job->options->split > 0 && job->options->split >= job->facts->num_splits)
        rv = error_set(job->error, TR_EINVAL,
                       "%s: has %u splits, numbered from 0; there is no \"split\" %u",
                       job->npz.path, job->facts->num_splits, job->options->split);
    return rv;
}
