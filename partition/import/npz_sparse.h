/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A matrix of compressed sparse rows, as an archive has it: PREFIX_indptr, PREFIX_indices,
 * PREFIX_shape and, where its entries are not all 1, PREFIX_data ("PREFIX.indptr" in an older
 * style).
 *
 * Loading checks everything once; what reads the rows afterwards relies on it. Ownership:
 * npz_sparse_fini frees all. Thread rules: one thread at a time.
 */
#ifndef PARTITION_IMPORT_NPZ_SPARSE_H
#define PARTITION_IMPORT_NPZ_SPARSE_H

#include "partition/import/npz_job.h"

struct npz_sparse {
    struct npz_array data, indices, indptr;
    bool has_data;
    uint64_t rows, columns;
};

/* The first of the prefixes that has an indptr, as the caller's list spells it; NULL: none has. */
const char *npz_sparse_find(struct npz_job *job, const char *const *prefixes);

int npz_sparse_load(struct npz_job *job, const char *prefix, struct npz_sparse *sparse);
void npz_sparse_fini(struct npz_sparse *sparse);

/* Row i is elements [*begin, *end) of indices and data. */
void npz_sparse_row(const struct npz_sparse *sparse, uint64_t i, uint64_t *begin, uint64_t *end);

#endif
