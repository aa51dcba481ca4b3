/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of a table of edges, brought from the order of the input into that of global edge IDs. */
#include "partition/build/write.h"

#include <stdlib.h>
#include <string.h>

#include "partition/store/npy.h"
#include "partition/store/part_files.h"
#include "runtime/base/hotmem.h"

/* Rows of edges come by original ID and leave by position. A window of positions is filled from a
 * pass over all rows; larger windows mean fewer passes. It takes at least so much, and more for
 * many edges: what their cells took before, so that the peak of memory does not rise. */
#define WINDOW_BYTES_MIN ((size_t)256 << 20)
#define WINDOW_BYTES_EDGE 8

struct window {
    uint64_t begin, count; /* positions */
    uint8_t *rows;
};

static uint64_t rows_of(size_t bytes, const struct raw_table *table, uint64_t at_most)
{
    uint64_t rows = table->row_bytes == 0 ? at_most : bytes / table->row_bytes;
    if (rows == 0)
        rows = 1;
    return rows < at_most ? rows : at_most;
}

static int fill_window(struct partition_job *job, uint32_t table_index, const uint64_t *positions,
                       struct window *window, uint8_t *block, struct error *error)
{
    const struct raw_table *table = &job->raw->tables[table_index];
    uint64_t step = rows_of(JOB_BLOCK_BYTES, table, table->num_rows);
    size_t row_bytes = table->row_bytes;
    int rv = 0;
    for (uint64_t begin = 0; begin < table->num_rows && rv == 0; begin += step) {
        uint64_t left = table->num_rows - begin, count = left < step ? left : step;
        rv = job_step(job, table->name, begin, table->num_rows, error);
        if (rv == 0)
            rv = raw_read_rows(job->raw, table_index, begin, count, block, error);
        for (uint64_t i = 0; i < count && rv == 0; i++) {
            uint64_t at = positions[begin + i] - window->begin;
            if (at < window->count)
                memcpy(window->rows + at * row_bytes, block + i * row_bytes, row_bytes);
        }
    }
    return rv;
}

/* Appends positions [begin, end) of a partition, window by window; windows end with it. */
static int write_part(struct partition_job *job, uint32_t table_index, const uint64_t *positions,
                      struct window *window, uint64_t window_rows, uint8_t *block, uint64_t begin,
                      uint64_t end, struct npy_writer *writer, struct error *error)
{
    const struct raw_table *table = &job->raw->tables[table_index];
    int rv = 0;
    while (begin < end && rv == 0) {
        if (begin >= window->begin + window->count) {
            window->begin = begin;
            window->count = window_rows;
            rv = fill_window(job, table_index, positions, window, block, error);
            if (rv != 0)
                break;
        }
        uint64_t stop = window->begin + window->count < end ? window->begin + window->count : end;
        rv = npy_append(writer, window->rows + (begin - window->begin) * table->row_bytes,
                        (size_t)(stop - begin) * table->row_bytes, error);
        begin = stop;
    }
    return rv;
}

static int create(struct npy_writer *writer, struct partition_job *job,
                  const struct raw_table *table, uint32_t part, uint64_t num_rows,
                  struct error *error)
{
    uint64_t shape[NPY_NDIM_MAX] = { num_rows };
    for (uint32_t d = 0; d < table->ndim; d++)
        shape[d + 1] = table->shape[d];
    char *path = job_path(job, part,
                          part_file_feature(&job->raw->types, true, table->type, table->name));
    int rv = path == NULL ? job_no_memory(error, "a file's name", 0)
                          : npy_create(writer, job->files, path, npy_descr(table->dtype),
                                       table->ndim + 1, shape, error);
    free(path);
    return rv;
}

int write_edge_rows(struct partition_job *job, uint32_t table_index, const uint64_t *positions,
                    struct error *error)
{
    const struct raw_table *table = &job->raw->tables[table_index];
    const uint64_t *counts = job->plan->edge_counts + (size_t)table->type * job->plan->num_parts;
    size_t room = (size_t)table->num_rows * WINDOW_BYTES_EDGE;
    uint64_t window_rows = rows_of(room > WINDOW_BYTES_MIN ? room : WINDOW_BYTES_MIN, table,
                                   table->num_rows);
    size_t window_bytes = (size_t)window_rows * table->row_bytes;
    size_t block_bytes = (size_t)rows_of(JOB_BLOCK_BYTES, table, table->num_rows) *
                         table->row_bytes;
    struct window window = { .rows = hotmem_alloc(window_bytes) };
    uint8_t *block = malloc(block_bytes + 1);
    uint64_t begin = 0;
    int rv = window.rows == NULL || block == NULL
                 ? job_no_memory(error, "rows of edges", window_bytes)
                 : 0;
    for (uint32_t part = 0; part < job->plan->num_parts && rv == 0; part++) {
        struct npy_writer writer = { 0 };
        rv = create(&writer, job, table, part, counts[part], error);
        if (rv == 0)
            rv = write_part(job, table_index, positions, &window, window_rows, block, begin,
                            begin + counts[part], &writer, error);
        if (rv == 0)
            rv = job_finish_array(job, part, &writer, error);
        npy_writer_close(&writer);
        begin += counts[part];
    }
    free(block);
    hotmem_free(window.rows, window_bytes);
    return rv;
}
