/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fuzz/raw_use.h"

#include <jansson.h>
#include <stdio.h>

#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/memory_files.h"

#define PIECE_EDGES 256
#define PIECE_BYTES ((uint64_t)1 << 14)

static void use_edges(struct raw_graph *raw, uint32_t etype)
{
    struct error error = { 0 };
    uint64_t src[PIECE_EDGES], dst[PIECE_EDGES], edges = raw->num_edges[etype];
    uint64_t count = edges < PIECE_EDGES ? edges : PIECE_EDGES;
    const struct graph_etype *type = &raw->types.etypes[etype];
    fuzz_check(raw_read_edges(raw, etype, 0, count, src, dst, &error), &error);
    int rv = raw_read_edges(raw, etype, edges - count, count, src, dst, &error);
    fuzz_check(rv, &error);
    for (uint64_t i = 0; rv == 0 && i < count; i++)
        assert(src[i] < raw->num_nodes[type->src] && dst[i] < raw->num_nodes[type->dst]);
}

static void use_table(struct raw_graph *raw, uint32_t number)
{
    struct error error = { 0 };
    const struct raw_table *table = &raw->tables[number];
    uint64_t most = PIECE_BYTES / (table->row_bytes + 8);
    uint64_t count = table->num_rows < most ? table->num_rows : most;
    void *rows = malloc((size_t)(count * table->row_bytes) + 1);
    assert(rows != NULL);
    fuzz_check(raw_read_rows(raw, number, 0, count, rows, &error), &error);
    fuzz_check(raw_read_rows(raw, number, table->num_rows - count, count, rows, &error), &error);
    free(rows);
}

void raw_use(const char *name, const char *first, const struct raw_options *options,
             const uint8_t *data, size_t size)
{
    struct memory_files files;
    struct error error = { 0 };
    struct raw_graph *raw;
    struct raw_options with = *options;
    char path[64];
    json_object_seed(1); /* equal inputs run equally */
    memory_files_init(&files, first, data, size);
    with.files = &files.base;
    snprintf(path, sizeof path, FUZZ_FOLDER "%s%s", name[0] == '\0' ? "" : "/", name);
    int rv = raw_open(path, &with, &raw, &error);
    fuzz_check(rv, &error);
    if (rv == 0) {
        for (uint32_t i = 0; i < raw->types.num_etypes; i++)
            use_edges(raw, i);
        for (uint32_t i = 0; i < raw->num_tables; i++)
            use_table(raw, i);
        raw_close(raw);
    }
    memory_files_fini(&files);
}
