/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of a sparse table of nodes. A first pass over the index counts the elements of each
 * partition, which its files say in their heads; a second one appends rows to the files of many
 * partitions at a time, a bounded block after the other.
 */
#include "partition/build/write.h"

#include <stdlib.h>
#include <string.h>

#include "partition/build/write_set.h"
#include "partition/raw/raw_csr.h"
#include "partition/store/part_files.h"

/* Rows whose index is read at a time while elements are counted. */
#define COUNT_ROWS ((uint64_t)1 << 16)

enum { CSR_INDEX, CSR_COLUMN_FILE, CSR_VALUE_FILE, CSR_FILES };

static int count_elements(struct partition_job *job, uint32_t table_index, struct job_csr *csr,
                          struct error *error)
{
    const struct raw_table *table = &job->raw->tables[table_index];
    const uint32_t *parts = job->plan->parts[table->type];
    uint64_t *index = malloc((COUNT_ROWS + 1) * sizeof *index);
    csr->nnz = calloc(job->plan->num_parts + (size_t)1, sizeof *csr->nnz);
    int rv = index == NULL || csr->nnz == NULL ? job_no_memory(error, "counts of elements", 0) : 0;
    for (uint64_t begin = 0; begin < table->num_rows && rv == 0; begin += COUNT_ROWS) {
        uint64_t left = table->num_rows - begin, count = left < COUNT_ROWS ? left : COUNT_ROWS;
        rv = job_step(job, table->name, begin, 2 * table->num_rows, error);
        if (rv == 0)
            rv = raw_csr_read_index(job->raw, table_index, begin, count, index, error);
        for (uint64_t i = 0; i < count && rv == 0; i++) {
            uint64_t elements = index[i + 1] - index[i];
            csr->nnz[parts[begin + i]] += elements;
            if (elements > csr->row_nnz_max)
                csr->row_nnz_max = (uint32_t)elements;
        }
    }
    free(index);
    return rv;
}

static int open_csr_sets(struct write_set *sets, struct partition_job *job,
                         const struct raw_table *table, const struct job_csr *csr, uint32_t first,
                         uint32_t count, struct error *error)
{
    static const char *const arrays[] = { PART_CSR_INDEX, PART_CSR_COLUMNS, PART_CSR_VALUES };
    const char *const descrs[] = { "<i8", "<i4", npy_descr(table->dtype) };
    const uint64_t *nodes = job->plan->node_counts + (size_t)table->type * job->plan->num_parts;
    uint32_t num_files = table->csr->has_values ? CSR_FILES : CSR_VALUE_FILE;
    uint64_t rows[WRITE_SET_PARTS];
    int rv = 0;
    for (uint32_t a = 0; a < num_files && rv == 0; a++) {
        for (uint32_t i = 0; i < count; i++)
            rows[i] = a == CSR_INDEX ? nodes[first + i] + 1 : csr->nnz[first + i];
        char *name = part_file_csr(&job->raw->types, table->type, table->name, arrays[a]);
        rv = name == NULL ? job_no_memory(error, "a file's name", 0)
                          : write_set_open(&sets[a], job, name, descrs[a], 0, NULL, first, count,
                                           rows, error);
        free(name);
    }
    return rv;
}

/* One row behind those that its partition has; ends[]: elements of the partitions of the set. */
static int append_csr_row(struct write_set *sets, const struct raw_table *table,
                          const struct raw_csr_block *block, uint64_t row, uint32_t part,
                          uint64_t *ends, struct error *error)
{
    size_t size = tr_dtype_size(table->dtype);
    uint64_t at = block->index[row] - block->index[0];
    uint64_t count = block->index[row + 1] - block->index[row];
    uint64_t *end = &ends[part - sets[CSR_INDEX].first];
    *end += count;
    int rv = write_set_append(&sets[CSR_INDEX], part, end, sizeof *end, error);
    if (rv == 0)
        rv = write_set_append(&sets[CSR_COLUMN_FILE], part, block->columns + at,
                              (size_t)count * sizeof *block->columns, error);
    if (rv == 0 && table->csr->has_values)
        rv = write_set_append(&sets[CSR_VALUE_FILE], part, block->values + at * size,
                              (size_t)count * size, error);
    return rv;
}

static int append_csr(struct write_set *sets, struct partition_job *job, uint32_t table_index,
                      struct raw_csr_block *block, struct error *error)
{
    const struct raw_table *table = &job->raw->tables[table_index];
    const uint32_t *parts = job->plan->parts[table->type];
    uint64_t ends[WRITE_SET_PARTS] = { 0 };
    int rv = 0;
    for (uint32_t i = 0; i < sets[CSR_INDEX].count && rv == 0; i++)
        rv = write_set_append(&sets[CSR_INDEX], sets[CSR_INDEX].first + i, &ends[i], sizeof *ends,
                              error);
    for (uint64_t begin = 0; begin < table->num_rows && rv == 0; begin += block->num_rows) {
        rv = job_step(job, table->name, table->num_rows + begin, 2 * table->num_rows, error);
        if (rv == 0)
            rv = raw_csr_read(job->raw, table_index, begin, table->num_rows - begin, block, error);
        for (uint64_t i = 0; i < block->num_rows && rv == 0; i++) {
            if (write_set_has(&sets[CSR_INDEX], parts[begin + i]))
                rv = append_csr_row(sets, table, block, i, parts[begin + i], ends, error);
        }
    }
    return rv;
}

int write_csr_rows(struct partition_job *job, uint32_t table_index, struct error *error)
{
    const struct raw_table *table = &job->raw->tables[table_index];
    struct job_csr *csr = &job->csr[table_index];
    struct raw_csr_block block = { 0 };
    struct write_set *sets = calloc(CSR_FILES, sizeof *sets);
    int rv = sets == NULL ? job_no_memory(error, "the files of rows", 0)
                          : count_elements(job, table_index, csr, error);
    for (uint32_t first = 0; first < job->plan->num_parts && rv == 0; first += WRITE_SET_PARTS) {
        uint32_t left = job->plan->num_parts - first;
        uint32_t count = left < WRITE_SET_PARTS ? left : WRITE_SET_PARTS;
        rv = open_csr_sets(sets, job, table, csr, first, count, error);
        if (rv == 0)
            rv = append_csr(sets, job, table_index, &block, error);
        /* The files are closed before the next group is opened, so that few are open at once. */
        for (uint32_t a = 0; a < CSR_FILES; a++) {
            if (rv == 0 && sets[a].count > 0)
                rv = write_set_finish(&sets[a], error);
            write_set_close(&sets[a]);
        }
    }
    raw_csr_block_fini(&block);
    free(sets);
    return rv;
}
