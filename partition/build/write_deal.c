/* SPDX-License-Identifier: Apache-2.0 */
#include "partition/build/write.h"

#include <stdlib.h>
#include <string.h>

#include "partition/build/train_mask.h"
#include "partition/store/npy.h"
#include "partition/store/part_files.h"
#include "partition/store/seed_split.h"

/* Training nodes keep their trainer, the others get -1. Counts training nodes a trainer. */
static int read_deal(struct partition_job *job, const struct assignment *assignment, uint32_t ntype,
                     int32_t *deal, uint64_t *counts, struct error *error)
{
    uint64_t count = job->raw->num_nodes[ntype];
    uint8_t *mask;
    int rv = train_mask_read(job, ntype, &mask, error);
    if (rv != 0)
        return rv;
    for (uint64_t v = 0; v < count; v++) {
        deal[v] = mask[v] != 0 ? (int32_t)assignment->trainers[ntype][v] : -1;
        if (deal[v] >= 0)
            counts[deal[v]]++;
    }
    free(mask);
    return 0;
}

static int deal_type(struct partition_job *job, const struct assignment *assignment, uint32_t ntype,
                     uint64_t *counts, struct error *error)
{
    uint64_t num_nodes = job->raw->num_nodes[ntype];
    struct npy_writer writer = { 0 };
    int32_t *deal = malloc((size_t)num_nodes * sizeof *deal + 1);
    int rv = deal == NULL ? job_no_memory(error, "the deal", num_nodes * sizeof *deal)
                          : job_step(job, "deal", ntype, assignment->num_ntypes, error);
    if (rv == 0)
        rv = read_deal(job, assignment, ntype, deal, counts, error);
    if (rv == 0)
        rv = seed_split_even_out(deal, num_nodes, counts, assignment->num_trainers) == 0
                 ? 0
                 : job_no_memory(error, "the deal", 0);
    char *path = job_path(job, UINT32_MAX, part_file_deal(&job->raw->types, ntype));
    if (rv == 0 && path == NULL)
        rv = job_no_memory(error, "a file's name", 0);
    if (rv == 0)
        rv = npy_create(&writer, job->files, path, "<i4", 1, &num_nodes, error);
    if (rv == 0)
        rv = npy_append(&writer, deal, (size_t)num_nodes * sizeof *deal, error);
    if (rv == 0)
        rv = job_finish_array(job, UINT32_MAX, &writer, error);
    npy_writer_close(&writer);
    free(path);
    free(deal);
    return rv;
}

int write_deal(struct partition_job *job, const struct assignment *assignment, struct error *error)
{
    uint64_t *counts = calloc(assignment->num_trainers, sizeof *counts);
    int rv = counts == NULL ? job_no_memory(error, "the deal", 0) : 0;
    for (uint32_t t = 0; t < assignment->num_ntypes && rv == 0; t++) {
        memset(counts, 0, assignment->num_trainers * sizeof *counts);
        rv = deal_type(job, assignment, t, counts, error);
    }
    free(counts);
    return rv;
}
