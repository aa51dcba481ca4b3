/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables of ranks for the node sets that loaders take most: all nodes of a type, and each mask.
 * The rank of a node is its place in the set in the order of original IDs, and the table's row of
 * that rank is its global ID.
 */
#include "partition/build/write.h"

#include <stdlib.h>

#include "partition/build/rank_writer.h"

/* How many nodes pass between two looks at whether somebody cancelled. */
#define STEP_NODES ((uint64_t)1 << 20)

static bool is_identity(const struct partition_job *job, uint32_t ntype)
{
    uint64_t v = 0, count = job->plan->num_nodes[ntype];
    while (v < count && rank_writer_global(job, ntype, v) == v)
        v++;
    return v == count;
}

static int write_all(struct partition_job *job, uint32_t ntype, struct error *error)
{
    struct rank_table table = { .set = RANKS_ALL,
                                .ntype = ntype,
                                .num_ranks = job->plan->num_nodes[ntype],
                                .stored = !is_identity(job, ntype) };
    struct rank_writer writer;
    int rv = 0;
    if (!table.stored)
        return book_add_ranks(&job->ranks, &table) == 0
                   ? 0
                   : job_no_memory(error, "the list of ranks", 0);
    rank_writer_begin(&writer, job, &table);
    for (uint64_t v = 0; v < table.num_ranks && rv == 0; v++) {
        if (v % STEP_NODES == 0)
            rv = job_step(job, "ranks", v, table.num_ranks, error);
        if (rv == 0)
            rv = rank_writer_add(&writer, rank_writer_global(job, ntype, v), error);
    }
    if (rv == 0)
        rv = rank_writer_finish(&writer, error);
    rank_writer_close(&writer);
    return rv;
}

/* Calls visit for each block of a mask's rows. */
static int read_mask(struct partition_job *job, uint32_t table, uint8_t *block,
                     int (*visit)(void *arg, const uint8_t *rows, uint64_t begin, uint64_t count,
                                  struct error *error),
                     void *arg, struct error *error)
{
    uint64_t num_rows = job->raw->tables[table].num_rows;
    int rv = 0;
    for (uint64_t begin = 0; begin < num_rows && rv == 0; begin += JOB_BLOCK_BYTES) {
        uint64_t left = num_rows - begin, count = left < JOB_BLOCK_BYTES ? left : JOB_BLOCK_BYTES;
        rv = job_step(job, "ranks", begin, num_rows, error);
        if (rv == 0)
            rv = raw_read_rows(job->raw, table, begin, count, block, error);
        if (rv == 0)
            rv = visit(arg, block, begin, count, error);
    }
    return rv;
}

struct mask_count {
    uint64_t chosen;
    bool is_mask; /* every row is 0 or 1 */
};

static int count_rows(void *arg, const uint8_t *rows, uint64_t begin, uint64_t count,
                      struct error *error)
{
    struct mask_count *mask = arg;
    (void)begin, (void)error;
    for (uint64_t i = 0; i < count; i++) {
        mask->chosen += rows[i] != 0;
        mask->is_mask = mask->is_mask && rows[i] <= 1;
    }
    return 0;
}

static int add_rows(void *arg, const uint8_t *rows, uint64_t begin, uint64_t count,
                    struct error *error)
{
    struct rank_writer *writer = arg;
    int rv = 0;
    for (uint64_t i = 0; i < count && rv == 0; i++)
        if (rows[i] != 0)
            rv = rank_writer_add(
                writer, rank_writer_global(writer->job, writer->table.ntype, begin + i), error);
    return rv;
}

/* A table of small numbers that is no mask (labels, say) would have ranks for nobody. */
static int write_mask(struct partition_job *job, uint32_t index, uint8_t *block,
                      struct error *error)
{
    const struct raw_table *mask = &job->raw->tables[index];
    struct mask_count counted = { .is_mask = true };
    struct rank_writer writer;
    /* Rows are counted first: slices are even shares of a number that must be known when the
     * first is opened. */
    int rv = read_mask(job, index, block, count_rows, &counted, error);
    if (rv != 0 || !counted.is_mask)
        return rv;
    const struct rank_table table = { .set = RANKS_MASK,
                                      .ntype = mask->type,
                                      .mask = mask->name,
                                      .num_ranks = counted.chosen,
                                      .stored = true };
    rank_writer_begin(&writer, job, &table);
    rv = read_mask(job, index, block, add_rows, &writer, error);
    if (rv == 0)
        rv = rank_writer_finish(&writer, error);
    rank_writer_close(&writer);
    return rv;
}

static bool may_be_mask(const struct raw_table *table, uint32_t ntype)
{
    return !table->on_edges && table->type == ntype && table->width == 1 &&
           (table->dtype == TR_BOOL || table->dtype == TR_U8);
}

int write_ranks(struct partition_job *job, uint32_t ntype, struct error *error)
{
    uint8_t *block = malloc(JOB_BLOCK_BYTES);
    int rv = block == NULL ? job_no_memory(error, "a block of rows", JOB_BLOCK_BYTES)
                           : write_all(job, ntype, error);
    for (uint32_t i = 0; i < job->raw->num_tables && rv == 0; i++)
        if (may_be_mask(&job->raw->tables[i], ntype))
            rv = write_mask(job, i, block, error);
    free(block);
    return rv;
}
