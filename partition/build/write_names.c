/* SPDX-License-Identifier: Apache-2.0 */
/* The user's names of nodes, of values and of columns, beside NAME.json as the raw graph has them. */
#include "partition/build/write.h"

#include <stdlib.h>

#include "partition/store/part_files.h"

/* Names copied at a time; their texts take at most NAMES_AT_ONCE * NAME_LIST_BYTES_MAX. */
#define NAMES_AT_ONCE ((uint64_t)1024)

static int copy_names(struct partition_job *job, struct name_list *from,
                      struct name_list_writer *to, struct error *error)
{
    uint64_t *offsets = malloc((NAMES_AT_ONCE + 1) * sizeof *offsets);
    char *text = NULL;
    int rv = offsets == NULL ? job_no_memory(error, "names", NAMES_AT_ONCE * sizeof *offsets) : 0;
    for (uint64_t done = 0; rv == 0 && done < from->count;) {
        uint64_t left = from->count - done, some = left < NAMES_AT_ONCE ? left : NAMES_AT_ONCE;
        rv = job_step(job, "names", done, from->count, error);
        if (rv == 0)
            rv = name_list_offsets(from, done, some, offsets, error);
        if (rv != 0)
            break;
        uint64_t bytes = offsets[some] - offsets[0];
        free(text);
        text = malloc((size_t)bytes + 1);
        rv = text == NULL ? job_no_memory(error, "names", bytes)
                          : name_list_text(from, offsets, some, text, error);
        for (uint64_t i = 0; rv == 0 && i < some; i++)
            rv = name_list_add(to, text + (offsets[i] - offsets[0]),
                               (size_t)(offsets[i + 1] - offsets[i] - 1), error);
        done += some;
    }
    free(text);
    free(offsets);
    return rv;
}

int write_names(struct partition_job *job, uint32_t number, struct error *error)
{
    const struct raw_names *names = &job->raw->names[number];
    struct name_list from;
    struct name_list_writer to = { 0 };
    int rv = name_list_open(&from, names->files, names->stem, names->count, error);
    if (rv != 0)
        return rv;
    char *stem = job_path(job, UINT32_MAX, part_file_names(&job->raw->types, &names->key));
    rv = stem == NULL ? job_no_memory(error, "a file's name", 0)
                      : name_list_create(&to, job->files, stem, error);
    if (rv == 0)
        rv = copy_names(job, &from, &to, error);
    if (rv == 0)
        rv = job_finish_array(job, UINT32_MAX, &to.text, error);
    if (rv == 0)
        rv = job_finish_array(job, UINT32_MAX, &to.offsets, error);
    name_list_writer_close(&to);
    name_list_close(&from);
    free(stem);
    return rv;
}
