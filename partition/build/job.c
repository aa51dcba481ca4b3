/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "partition/build/job.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int job_step(struct partition_job *job, const char *stage, uint64_t done, uint64_t total,
             struct error *error)
{
    return job_step_of(job, stage, "", done, total, error);
}

int job_step_of(struct partition_job *job, const char *stage, const char *unit, uint64_t done,
                uint64_t total, struct error *error)
{
    const struct partition_hooks *hooks = job->hooks;
    if (hooks == NULL)
        return 0;
    if (cancel_asked(hooks->cancel))
        return error_set(error, TR_ECANCELED, "partitioning was cancelled; nothing was written");
    if (hooks->progress != NULL)
        hooks->progress(hooks->arg, stage, unit, done, total);
    return 0;
}

char *job_path(const struct partition_job *job, uint32_t part, char *name)
{
    char *path = NULL;
    int length = -1;
    if (name != NULL)
        length = part == UINT32_MAX ? asprintf(&path, "%s/%s", job->folder, name)
                                    : asprintf(&path, "%s/part%u/%s", job->folder, part, name);
    free(name);
    return length < 0 ? NULL : path;
}

int job_finish_array(struct partition_job *job, uint32_t part, struct npy_writer *writer,
                     struct error *error)
{
    const char *name = strrchr(writer->file.path, '/') + 1;
    /* The file is finished outside of the mutex, since that writes; its sum is noted after that,
     * so that the book has none of a file that is not whole. */
    int rv = npy_finish(writer, error);
    if (rv != 0)
        return rv;
    pthread_mutex_lock(&job->summing);
    rv = checksums_set(&job->checksums, job->options->num_parts, part, name, writer->checksum);
    pthread_mutex_unlock(&job->summing);
    return rv == 0 ? 0 : job_no_memory(error, "the checksums", 0);
}

int job_no_memory(struct error *error, const char *what, uint64_t bytes)
{
    return error_set(error, TR_ENOMEM, "no memory for %s (%" PRIu64 " bytes)", what, bytes);
}

double job_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
