/* SPDX-License-Identifier: Apache-2.0 */
#include "partition/build/columns.h"

#include <inttypes.h>
#include <stdlib.h>

#include "partition/store/npy.h"
#include "partition/store/part_files.h"
#include "runtime/base/hotmem.h"

static void collect(struct columns *columns, const struct scatter *scatter, uint64_t begin,
                    uint64_t count)
{
    const struct scatter_narrow *narrow = scatter->cells;
    const struct scatter_wide *wide = scatter->cells;
    for (uint64_t i = begin; i < begin + count; i++) {
        uint64_t global = scatter->wide ? wide[i].column : narrow[i].column;
        if (global < columns->begin || global >= columns->end)
            columns->words[global / 64] |= UINT64_C(1) << (global % 64);
    }
}

static uint64_t count_halo(struct columns *columns)
{
    uint64_t total = 0;
    for (uint64_t w = 0; w < columns->num_words; w++) {
        columns->before[w] = total;
        total += (uint64_t)__builtin_popcountll(columns->words[w]);
    }
    return total;
}

static int append_all(const struct columns *columns, struct npy_writer *writer, struct error *error)
{
    int rv = 0;
    for (uint64_t v = columns->begin; v < columns->end && rv == 0; v++)
        rv = npy_append(writer, &v, sizeof v, error);
    for (uint64_t w = 0; w < columns->num_words && rv == 0; w++) {
        for (uint64_t word = columns->words[w]; word != 0 && rv == 0; word &= word - 1) {
            uint64_t v = w * 64 + (uint64_t)__builtin_ctzll(word);
            rv = npy_append(writer, &v, sizeof v, error);
        }
    }
    return rv;
}

static int write_globals(const struct columns *columns, const struct scatter *scatter,
                         uint32_t part, uint64_t total, struct error *error)
{
    struct npy_writer writer = { 0 };
    struct partition_job *job = scatter->job;
    char *path = job_path(job, part,
                          part_file_edge(&job->raw->types, scatter->etype, PART_COLUMN_GLOBAL));
    int rv = path == NULL ? job_no_memory(error, "a file's name", 0)
                          : npy_create(&writer, job->files, path, "<u8", 1, &total, error);
    if (rv == 0)
        rv = append_all(columns, &writer, error);
    if (rv == 0)
        rv = job_finish_array(job, part, &writer, error);
    npy_writer_close(&writer);
    free(path);
    return rv;
}

int columns_init(struct columns *columns, const struct scatter *scatter, uint32_t part,
                 uint64_t begin, uint64_t count, struct error *error)
{
    const struct id_plan *plan = scatter->job->plan;
    size_t cell = (size_t)scatter->ntype_src * plan->num_parts + part;
    *columns = (struct columns){ .begin = plan->node_begins[cell],
                                 .end = plan->node_begins[cell] + plan->node_counts[cell],
                                 .num_words = plan->num_nodes[scatter->ntype_src] / 64 + 1 };
    columns->words = hotmem_alloc(columns->num_words * sizeof *columns->words);
    columns->before = hotmem_alloc(columns->num_words * sizeof *columns->before);
    if (columns->words == NULL || columns->before == NULL)
        return job_no_memory(error, "columns", columns->num_words * 16);
    collect(columns, scatter, begin, count);
    uint64_t total = columns->end - columns->begin + count_halo(columns);
    if (total > UINT32_MAX)
        return error_set(
            error, TR_ETOOBIG,
            "partition %u has edges from %" PRIu64
            " nodes of one type, more than the 2^32 that are possible; use more partitions",
            part, total);
    return write_globals(columns, scatter, part, total, error);
}

void columns_fini(struct columns *columns)
{
    hotmem_free(columns->words, columns->num_words * sizeof *columns->words);
    hotmem_free(columns->before, columns->num_words * sizeof *columns->before);
    *columns = (struct columns){ 0 };
}
