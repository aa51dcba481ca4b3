/* SPDX-License-Identifier: Apache-2.0 */
#include "partition/build/rank_writer.h"

#include <assert.h>
#include <stdlib.h>

#include "graph/ranks.h"
#include "partition/build/id_plan.h"
#include "partition/store/part_files.h"

void rank_writer_begin(struct rank_writer *writer, struct partition_job *job,
                       const struct rank_table *table)
{
    *writer = (struct rank_writer){ .job = job, .table = *table };
}

/* Finishes the slice that is open, and opens the next one. */
static int next_slice(struct rank_writer *w, struct error *error)
{
    struct partition_job *job = w->job;
    uint32_t num_parts = job->options->num_parts, part = w->opened;
    int rv = 0;
    if (part > 0) {
        rv = job_finish_array(job, part - 1, &w->slice, error);
        npy_writer_close(&w->slice);
        w->slice = (struct npy_writer){ 0 };
    }
    if (rv != 0 || part == num_parts)
        return rv;
    w->end = ranks_begin(w->table.num_ranks, num_parts, part + 1);
    uint64_t rows = w->end - ranks_begin(w->table.num_ranks, num_parts, part);
    char *path = job_path(job, part, part_file_ranks(&job->raw->types, &w->table));
    rv = path == NULL ? job_no_memory(error, "a file's name", 0)
                      : npy_create(&w->slice, job->files, path, "<u8", 1, &rows, error);
    free(path);
    w->opened += rv == 0;
    return rv;
}

int rank_writer_add(struct rank_writer *w, uint64_t id, struct error *error)
{
    int rv = 0;
    /* Slices may be empty: several are gone through. */
    while (rv == 0 && w->next == w->end)
        rv = next_slice(w, error);
    if (rv == 0)
        rv = npy_append(&w->slice, &id, sizeof id, error);
    w->next++;
    return rv;
}

int rank_writer_finish(struct rank_writer *w, struct error *error)
{
    int rv = 0;
    assert(w->next == w->table.num_ranks);
    while (rv == 0 && w->opened < w->job->options->num_parts)
        rv = next_slice(w, error);
    /* This ends the last slice. The table is listed when all of it is written. */
    if (rv == 0)
        rv = next_slice(w, error);
    if (rv == 0 && book_add_ranks(&w->job->ranks, &w->table) != 0)
        rv = job_no_memory(error, "the list of ranks", 0);
    return rv;
}

void rank_writer_close(struct rank_writer *writer)
{
    npy_writer_close(&writer->slice);
}

uint64_t rank_writer_global(const struct partition_job *job, uint32_t ntype, uint64_t original)
{
    const struct id_plan *plan = job->plan;
    return plan->global32[ntype] != NULL ? plan->global32[ntype][original]
                                         : plan->global64[ntype][original];
}
