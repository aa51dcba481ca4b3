/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A matrix of compressed sparse rows in an archive: four of its arrays, whose names the publisher
 * chose.
 *
 * Loading checks everything once; what reads the rows afterwards relies on it. Ownership:
 * npz_csr_fini frees all. Thread rules: one thread at a time.
 */
#ifndef PARTITION_RAW_NPZ_CSR_H
#define PARTITION_RAW_NPZ_CSR_H

#include "partition/raw/feature_rows.h"
#include "partition/raw/npz.h"

struct npz_csr_names {
    const char *shape, *indptr, *indices;
    const char *data; /* NULL: each entry is 1 */
};

struct npz_csr {
    struct npz_array data, indices, indptr;
    bool has_data;
    uint64_t rows, columns;
};

int npz_csr_load(struct npz_csr *csr, const struct npz *npz, const struct npz_csr_names *names,
                 struct error *error);
/* Harmless on a zeroed one. */
void npz_csr_fini(struct npz_csr *csr);

/* Row i is elements [*begin, *end) of indices and data. */
void npz_csr_row(const struct npz_csr *csr, uint64_t i, uint64_t *begin, uint64_t *end);

/* Its rows, where entries of one place are summed. columns is at most CSR_WIDTH_MAX. */
int npz_csr_to_rows(const struct npz_csr *csr, const struct cancel *cancel,
                    struct feature_rows *rows, struct error *error);

#endif
