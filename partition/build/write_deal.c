/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The deal: the trainer of each training node as a file for each node type, with shares that differ
 * by 1 at most, and the ranks of the same nodes in the order of (trainer, original ID).
 */
#include "partition/build/write.h"

#include <stdlib.h>
#include <string.h>

#include "partition/build/rank_writer.h"
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

/* Nodes of trainer 0 first, in the order of original IDs: after evening out, each trainer's are
 * a range of ranks. counts: [num_trainers]. */
static int write_ranks_of(struct partition_job *job, uint32_t ntype, const struct seed_split *deal,
                          const uint64_t *counts, struct error *error)
{
    struct rank_table table = {
        .set = RANKS_DEAL, .ntype = ntype, .stored = true, .deal_hash = seed_split_hash(deal)
    };
    struct rank_writer writer;
    uint64_t *next = calloc((size_t)deal->num_trainers + 1, sizeof *next);
    for (uint32_t t = 0; next != NULL && t < deal->num_trainers; t++) {
        next[t] = table.num_ranks;
        table.num_ranks += counts[t];
    }
    uint64_t *order = malloc(((size_t)table.num_ranks + 1) * sizeof *order);
    int rv = next == NULL || order == NULL
                 ? job_no_memory(error, "the ranks of a deal", table.num_ranks * sizeof *order)
                 : 0;
    for (uint64_t v = 0; v < deal->num_nodes && rv == 0; v++)
        if (deal->trainers[v] >= 0)
            order[next[deal->trainers[v]]++] = rank_writer_global(job, ntype, v);
    rank_writer_begin(&writer, job, &table);
    for (uint64_t rank = 0; rank < table.num_ranks && rv == 0; rank++)
        rv = rank_writer_add(&writer, order[rank], error);
    if (rv == 0)
        rv = rank_writer_finish(&writer, error);
    rank_writer_close(&writer);
    free(order);
    free(next);
    return rv;
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
    /* The deal is evened out before anything is written: the file, its hash and the ranks are of
     * one deal. */
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
    const struct seed_split made = { deal, num_nodes, assignment->num_trainers, 0 };
    if (rv == 0)
        rv = write_ranks_of(job, ntype, &made, counts, error);
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
