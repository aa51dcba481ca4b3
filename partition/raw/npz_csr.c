/* SPDX-License-Identifier: Apache-2.0 */
#include "partition/raw/npz_csr.h"

#include <inttypes.h>

#include "graph/csr.h"
#include "partition/raw/raw.h"

void npz_csr_fini(struct npz_csr *csr)
{
    npz_array_fini(&csr->data);
    npz_array_fini(&csr->indices);
    npz_array_fini(&csr->indptr);
}

static int load_part(struct npz_array *array, const struct npz *npz, const char *name,
                     struct error *error)
{
    int rv = npz_load(array, npz, name, error);
    if (rv == 0 && array->header.ndim != 1)
        rv = error_set(error, TR_EFORMAT, "%s: has %u dimensions; sparse rows need 1", array->place,
                       array->header.ndim);
    return rv;
}

static int load_shape(struct npz_csr *csr, const struct npz *npz, const char *name,
                      struct error *error)
{
    struct npz_array shape = { 0 };
    int rv = load_part(&shape, npz, name, error);
    if (rv == 0 && shape.header.num_items != 2)
        rv = error_set(error, TR_EFORMAT, "%s: has %" PRIu64 " elements; 2 are needed", shape.place,
                       shape.header.num_items);
    if (rv == 0)
        rv = npz_id(&shape, 0, &csr->rows, error);
    if (rv == 0)
        rv = npz_id(&shape, 1, &csr->columns, error);
    npz_array_fini(&shape);
    return rv;
}

void npz_csr_row(const struct npz_csr *csr, uint64_t i, uint64_t *begin, uint64_t *end)
{
    *begin = *end = 0;
    (void)npz_id(&csr->indptr, i, begin, NULL);
    (void)npz_id(&csr->indptr, i + 1, end, NULL);
}

static int check_rows(const struct npz_csr *csr, struct error *error)
{
    uint64_t items = csr->indices.header.num_items, last = 0, next = 0;
    if (csr->indptr.header.num_items == 0 || csr->indptr.header.num_items - 1 != csr->rows)
        return error_set(error, TR_EFORMAT,
                         "%s: has %" PRIu64 " elements; %" PRIu64 " rows need one more than rows",
                         csr->indptr.place, csr->indptr.header.num_items, csr->rows);
    for (uint64_t i = 0; i <= csr->rows; i++) {
        int rv = npz_id(&csr->indptr, i, &next, error);
        if (rv != 0)
            return rv;
        if (next < last || next > items || (i == 0 && next != 0) ||
            (i == csr->rows && next != items))
            return error_set(error, TR_EFORMAT,
                             "%s: element %" PRIu64 " is %" PRIu64 "; they rise from 0 to the "
                             "%" PRIu64 " entries",
                             csr->indptr.place, i, next, items);
        last = next;
    }
    for (uint64_t i = 0; i < items; i++) {
        int rv = npz_id(&csr->indices, i, &next, error);
        if (rv != 0)
            return rv;
        if (next >= csr->columns)
            return error_set(error, TR_ERANGE,
                             "%s: element %" PRIu64 " is %" PRIu64 "; there are %" PRIu64
                             " columns, numbered from 0",
                             csr->indices.place, i, next, csr->columns);
    }
    return 0;
}

static int check_data(const struct npz_csr *csr, struct error *error)
{
    const struct npy_header *header = &csr->data.header;
    if (header->num_items != csr->indices.header.num_items)
        return error_set(error, TR_EFORMAT, "%s: has %" PRIu64 " elements for %" PRIu64 " entries",
                         csr->data.place, header->num_items, csr->indices.header.num_items);
    if (header->kind == 'f' && header->item_bytes == 2)
        return error_set(error, TR_EUNSUPPORTED, "%s: is float16; save it with .astype('float32')",
                         csr->data.place);
    for (uint64_t i = 0; i < header->num_items; i++) {
        float value = (float)npz_number(&csr->data, i);
        if (raw_find_not_finite(TR_F32, &value, 1) == 0)
            return error_set(error, TR_EFORMAT,
                             "%s: element %" PRIu64
                             " is not a finite number of float32; replace it",
                             csr->data.place, i);
    }
    return 0;
}

/* Everything that is checked once and relied upon afterwards. */
int npz_csr_load(struct npz_csr *csr, const struct npz *npz, const struct npz_csr_names *names,
                 struct error *error)
{
    *csr = (struct npz_csr){ .has_data = names->data != NULL };
    int rv = load_shape(csr, npz, names->shape, error);
    if (rv == 0)
        rv = load_part(&csr->indptr, npz, names->indptr, error);
    if (rv == 0)
        rv = load_part(&csr->indices, npz, names->indices, error);
    if (rv == 0)
        rv = check_rows(csr, error);
    if (rv == 0 && csr->has_data)
        rv = load_part(&csr->data, npz, names->data, error);
    if (rv == 0 && csr->has_data)
        rv = check_data(csr, error);
    if (rv != 0)
        npz_csr_fini(csr);
    return rv;
}

int npz_csr_to_rows(const struct npz_csr *csr, const struct cancel *cancel,
                    struct feature_rows *rows, struct error *error)
{
    int rv = feature_rows_init(rows, csr->columns);
    for (uint64_t i = 0; rv == 0 && i < csr->rows; i++) {
        uint64_t begin, end, column = 0;
        if ((i & 4095) == 0 && cancel_asked(cancel)) {
            feature_rows_fini(rows);
            return error_set(error, TR_ECANCELED, "%s: interrupted", csr->indptr.place);
        }
        npz_csr_row(csr, i, &begin, &end);
        for (; rv == 0 && begin < end; begin++) {
            (void)npz_id(&csr->indices, begin, &column, NULL);
            rv = feature_rows_add(rows, (uint32_t)column,
                                  csr->has_data ? (float)npz_number(&csr->data, begin) : 1);
        }
        if (rv == 0)
            rv = feature_rows_end(rows, NULL);
        if (rv == TR_ERANGE) {
            feature_rows_fini(rows);
            return error_set(error, rv,
                             "%s: row %" PRIu64 " has entries of one column that add up to more "
                             "than float32 holds; scale them",
                             csr->data.place, i);
        }
    }
    if (rv == 0)
        return 0;
    feature_rows_fini(rows);
    return error_set(error, rv, "%s: no memory for its %" PRIu64 " entries", csr->indices.place,
                     csr->indices.header.num_items);
}
