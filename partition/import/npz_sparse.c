/* SPDX-License-Identifier: Apache-2.0 */
#include "partition/import/npz_sparse.h"

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

int npz_sparse_load(struct npz_job *job, const char *prefix, struct npz_csr *csr)
{
    static const char *const PARTS[] = { "shape", "indptr", "indices" };
    char names[3][SPARSE_NAME_MAX], data[SPARSE_NAME_MAX];
    for (int i = 0; i < 3; i++) {
        if (!sparse_part(job, prefix, PARTS[i], names[i]))
            return error_set(job->error, TR_EFORMAT,
                             "%s: holds %s_indptr but no %s_%s; sparse rows need both",
                             job->npz.path, prefix, prefix, PARTS[i]);
    }
    const bool has_data = sparse_part(job, prefix, "data", data);
    const struct npz_csr_names of = { names[0], names[1], names[2], has_data ? data : NULL };
    return npz_csr_load(csr, &job->npz, &of, job->error);
}
