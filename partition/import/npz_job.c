/* SPDX-License-Identifier: Apache-2.0 */
#include "partition/import/npz_job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int npz_job_no_memory(const struct npz_job *job, const char *what)
{
    return error_set(job->error, TR_ENOMEM, "%s: no memory for its %s", job->npz.path, what);
}

void npz_job_mark(struct npz_job *job, const char *name)
{
    for (uint32_t i = 0; i < job->npz.count; i++)
        job->read[i] |= strcmp(job->npz.names[i], name) == 0;
}

const char *npz_job_find(struct npz_job *job, const char *const *names)
{
    for (; *names != NULL; names++) {
        if (npz_has(&job->npz, *names)) {
            npz_job_mark(job, *names);
            return *names;
        }
    }
    return NULL;
}

/* Says which arrays nobody looked at, so that nothing is left out in silence. */
int npz_job_list_unread(struct npz_job *job)
{
    size_t size = 1;
    for (uint32_t i = 0; i < job->npz.count; i++)
        size += job->read[i] ? 0 : strlen(job->npz.names[i]) + 2;
    if (size == 1)
        return 0;
    char *text = calloc(size, 1), *at = text;
    if (text == NULL)
        return npz_job_no_memory(job, "report");
    for (uint32_t i = 0; i < job->npz.count; i++) {
        if (!job->read[i])
            at += sprintf(at, "%s%s", at > text ? ", " : "", job->npz.names[i]);
    }
    for (char *c = text; *c != '\0'; c++)
        *c = *c >= ' ' && *c < 127 ? *c : '?';
    job->facts->unread = text;
    return 0;
}
