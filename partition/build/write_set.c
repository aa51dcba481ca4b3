/* SPDX-License-Identifier: Apache-2.0 */
#include "partition/build/write_set.h"

#include <stdlib.h>
#include <string.h>

int write_set_open(struct write_set *set, struct partition_job *job, const char *name,
                   const char *descr, uint32_t ndim, const uint64_t *shape, uint32_t first,
                   uint32_t count, const uint64_t *rows, struct error *error)
{
    uint64_t whole[NPY_NDIM_MAX] = { 0 };
    int rv = 0;
    set->job = job;
    set->first = first;
    set->count = 0;
    for (uint32_t d = 0; d < ndim; d++)
        whole[d + 1] = shape[d];
    for (uint32_t i = 0; i < count && rv == 0; i++) {
        char *path = job_path(job, first + i, strdup(name));
        whole[0] = rows[i];
        rv = path == NULL
                 ? job_no_memory(error, "a file's name", 0)
                 : npy_create(&set->writers[i], job->files, path, descr, ndim + 1, whole, error);
        free(path);
        set->count += rv == 0;
    }
    if (rv != 0)
        write_set_close(set);
    return rv;
}

int write_set_finish(struct write_set *set, struct error *error)
{
    int rv = 0;
    for (uint32_t i = 0; i < set->count && rv == 0; i++)
        rv = job_finish_array(set->job, set->first + i, &set->writers[i], error);
    return rv;
}

void write_set_close(struct write_set *set)
{
    for (uint32_t i = 0; i < set->count; i++)
        npy_writer_close(&set->writers[i]);
    set->count = 0;
}
