/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Matrices of compressed sparse rows by the names that published archives give their arrays:
 * PREFIX_indptr, PREFIX_indices, PREFIX_shape and, where its entries are not all 1, PREFIX_data
 * ("PREFIX.indptr" in an older style).
 *
 * Thread rules: one thread at a time.
 */
#ifndef PARTITION_IMPORT_NPZ_SPARSE_H
#define PARTITION_IMPORT_NPZ_SPARSE_H

#include "partition/import/npz_job.h"
#include "partition/raw/npz_csr.h"

/* The first of the prefixes that has an indptr, as the caller's list spells it; NULL: none has. */
const char *npz_sparse_find(struct npz_job *job, const char *const *prefixes);

/* As npz_csr_load(); the caller ends it. */
int npz_sparse_load(struct npz_job *job, const char *prefix, struct npz_csr *csr);

#endif
