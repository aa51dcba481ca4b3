/* SPDX-License-Identifier: Apache-2.0 */
#include "partition/import/npz_sparse.h"

#include <inttypes.h>
#include <stdio.h>

#define SPARSE_NAME_MAX 64

/* "attr_indptr", or "attr_matrix.indptr" as an older style has it. */
static bool sparse_part(struct npz_job *job, const char *prefix, const char *part, char *name)
{
    snprintf(name, SPARSE_NAME_MAX, "%s_%s", prefix, part);
    if (!npz_has(&job->npz, name))
        snprintf(name, SPARSE_NAME_MAX, "%s.%s", prefix, part);
    if (!npz_has(&job->npz, name))
        return false;
    npz_job_mark(job, name);
    return true;
}

const char *npz_sparse_find(struct npz_job *job, const char *const *prefixes)
{
    char name[SPARSE_NAME_MAX];
    while (*prefixes != NULL && !sparse_part(job, *prefixes, "indptr", name))
        prefixes++;
    return *prefixes;
}

void npz_sparse_fini(struct npz_sparse *sparse)
{
    npz_array_fini(&sparse->data);
    npz_array_fini(&sparse->indices);
    npz_array_fini(&sparse->indptr);
}

static int load_sparse_part(struct npz_job *job, const char *prefix, const char *part,
                            struct npz_array *array)
{
    char name[SPARSE_NAME_MAX];
    if (!sparse_part(job, prefix, part, name))
        return error_set(job->error, TR_EFORMAT,
                         "%s: holds %s_indptr but no %s_%s; sparse rows need both", job->npz.path,
                         prefix, prefix, part);
    int rv = npz_load(array, &job->npz, name, job->error);
    if (rv == 0 && array->header.ndim != 1)
        rv = error_set(job->error, TR_EFORMAT, "%s: has %u dimensions; sparse rows need 1",
                       array->place, array->header.ndim);
    return rv;
}

static int load_sparse_shape(struct npz_job *job, const char *prefix, struct npz_sparse *sparse)
{
    struct npz_array shape = { 0 };
    int rv = load_sparse_part(job, prefix, "shape", &shape);
    if (rv == 0 && shape.header.num_items != 2)
        rv = error_set(job->error, TR_EFORMAT, "%s: has %" PRIu64 " elements; 2 are needed",
                       shape.place, shape.header.num_items);
    if (rv == 0)
        rv = npz_id(&shape, 0, &sparse->rows, job->error);
    if (rv == 0)
        rv = npz_id(&shape, 1, &sparse->columns, job->error);
    npz_array_fini(&shape);
    return rv;
}

void npz_sparse_row(const struct npz_sparse *sparse, uint64_t i, uint64_t *begin, uint64_t *end)
{
    *begin = *end = 0;
    (void)npz_id(&sparse->indptr, i, begin, NULL);
    (void)npz_id(&sparse->indptr, i + 1, end, NULL);
}

static int check_sparse_rows(const struct npz_job *job, const struct npz_sparse *sparse)
{
    uint64_t items = sparse->indices.header.num_items, last = 0, next = 0;
    if (sparse->indptr.header.num_items == 0 || sparse->indptr.header.num_items - 1 != sparse->rows)
        return error_set(job->error, TR_EFORMAT,
                         "%s: has %" PRIu64 " elements; %" PRIu64 " rows need one more than rows",
                         sparse->indptr.place, sparse->indptr.header.num_items, sparse->rows);
    for (uint64_t i = 0; i <= sparse->rows; i++) {
        int rv = npz_id(&sparse->indptr, i, &next, job->error);
        if (rv != 0)
            return rv;
        if (next < last || next > items || (i == 0 && next != 0) ||
            (i == sparse->rows && next != items))
            return error_set(job->error, TR_EFORMAT,
                             "%s: element %" PRIu64 " is %" PRIu64 "; they rise from 0 to the "
                             "%" PRIu64 " entries",
                             sparse->indptr.place, i, next, items);
        last = next;
    }
    for (uint64_t i = 0; i < items; i++) {
        int rv = npz_id(&sparse->indices, i, &next, job->error);
        if (rv != 0)
            return rv;
        if (next >= sparse->columns)
            return error_set(job->error, TR_ERANGE,
                             "%s: element %" PRIu64 " is %" PRIu64 "; there are %" PRIu64
                             " columns, numbered from 0",
                             sparse->indices.place, i, next, sparse->columns);
    }
    return 0;
}

static int check_sparse_data(const struct npz_job *job, const struct npz_sparse *sparse)
{
    const struct npy_header *header = &sparse->data.header;
    if (header->num_items != sparse->indices.header.num_items)
        return error_set(job->error, TR_EFORMAT,
                         "%s: has %" PRIu64 " elements for %" PRIu64 " entries", sparse->data.place,
                         header->num_items, sparse->indices.header.num_items);
    if (header->kind == 'f' && header->item_bytes == 2)
        return error_set(job->error, TR_EUNSUPPORTED,
                         "%s: is float16; save it with .astype('float32')", sparse->data.place);
    for (uint64_t i = 0; i < header->num_items; i++) {
        float value = (float)npz_number(&sparse->data, i);
        if (raw_find_not_finite(TR_F32, &value, 1) == 0)
            return error_set(job->error, TR_EFORMAT,
                             "%s: element %" PRIu64 " is no finite number of float32; replace it",
                             sparse->data.place, i);
    }
    return 0;
}

/* Everything that is checked once and relied upon afterwards. */
int npz_sparse_load(struct npz_job *job, const char *prefix, struct npz_sparse *sparse)
{
    char name[SPARSE_NAME_MAX];
    *sparse = (struct npz_sparse){ 0 };
    sparse->has_data = sparse_part(job, prefix, "data", name);
    int rv = load_sparse_shape(job, prefix, sparse);
    if (rv == 0)
        rv = load_sparse_part(job, prefix, "indptr", &sparse->indptr);
    if (rv == 0)
        rv = load_sparse_part(job, prefix, "indices", &sparse->indices);
    if (rv == 0)
        rv = check_sparse_rows(job, sparse);
    if (rv == 0 && sparse->has_data)
        rv = load_sparse_part(job, prefix, "data", &sparse->data);
    if (rv == 0 && sparse->has_data)
        rv = check_sparse_data(job, sparse);
    if (rv != 0)
        npz_sparse_fini(sparse);
    return rv;
}
