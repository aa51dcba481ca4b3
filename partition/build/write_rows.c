/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of a table of nodes. The input has them by original ID, and so has each partition, so one
 * pass over the table appends to the files of many partitions at a time.
 */
#include "partition/build/write.h"

#include <stdlib.h>
#include <string.h>

#include "partition/build/write_set.h"
#include "partition/store/part_files.h"

/* Rows of a block that fits JOB_BLOCK_BYTES, at least one. */
static uint64_t block_rows(const struct raw_table *table)
{
    uint64_t rows = table->row_bytes == 0 ? UINT32_MAX : JOB_BLOCK_BYTES / table->row_bytes;
    if (rows == 0)
        rows = 1;
    return rows < table->num_rows ? rows : table->num_rows;
}

static int append_rows(struct write_set *set, struct partition_job *job, uint32_t table_index,
                       uint8_t *block, struct error *error)
{
    const struct raw_table *table = &job->raw->tables[table_index];
    const uint32_t *parts = job->plan->parts[table->type];
    uint64_t step = block_rows(table);
    int rv = 0;
    for (uint64_t begin = 0; begin < table->num_rows && rv == 0; begin += step) {
        uint64_t left = table->num_rows - begin, count = left < step ? left : step;
        rv = job_step(job, table->name, begin, table->num_rows, error);
        if (rv == 0)
            rv = raw_read_rows(job->raw, table_index, begin, count, block, error);
        for (uint64_t i = 0; i < count && rv == 0; i++) {
            if (write_set_has(set, parts[begin + i]))
                rv = write_set_append(set, parts[begin + i], block + i * table->row_bytes,
                                      table->row_bytes, error);
        }
    }
    return rv;
}

int write_node_rows(struct partition_job *job, uint32_t table_index, struct error *error)
{
    const struct raw_table *table = &job->raw->tables[table_index];
    const uint64_t *rows = job->plan->node_counts + (size_t)table->type * job->plan->num_parts;
    size_t bytes = (size_t)block_rows(table) * table->row_bytes;
    uint8_t *block = malloc(bytes + 1);
    struct write_set *set = calloc(1, sizeof *set);
    char *name = part_file_feature(&job->raw->types, false, table->type, table->name);
    int rv = block == NULL || set == NULL || name == NULL
                 ? job_no_memory(error, "a block of rows", bytes)
                 : 0;
    for (uint32_t first = 0; first < job->plan->num_parts && rv == 0; first += WRITE_SET_PARTS) {
        uint32_t left = job->plan->num_parts - first;
        uint32_t count = left < WRITE_SET_PARTS ? left : WRITE_SET_PARTS;
        rv = write_set_open(set, job, name, npy_descr(table->dtype), table->ndim, table->shape,
                            first, count, rows + first, error);
        if (rv == 0)
            rv = append_rows(set, job, table_index, block, error);
        if (rv == 0)
            rv = write_set_finish(set, error);
        if (set->count > 0)
            write_set_close(set);
    }
    free(name);
    free(set);
    free(block);
    return rv;
}
