/* SPDX-License-Identifier: Apache-2.0 */
/* NAME.json of a partition directory, and the arrays of its partitions: what opens holds together,
 * and what loads can be read to its end. */
#include <jansson.h>
#include <stdlib.h>

#include "graph/local_rows.h"
#include "partition/store/store_private.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/memory_files.h"

#define PARTS_USED 4
#define WIDENED_MAX ((size_t)1 << 16)

/* Partitions follow each other without a gap, and the owner of a node is found. */
static void check_extents(const struct book *book, uint32_t ntype)
{
    uint64_t next = 0;
    for (uint32_t p = 0; p < book->num_parts; p++) {
        const struct extent *extent = &book->node_extents[ntype][p];
        assert(extent->begin == next && extent->end >= extent->begin);
        next = extent->end;
        if (p < PARTS_USED && extent->begin < extent->end) {
            assert(book_node_owner(book, ntype, extent->begin) == (int)p);
            assert(book_node_owner(book, ntype, extent->end - 1) == (int)p);
        }
    }
    assert(next == book->num_nodes[ntype]);
}

/* A row is widened into memory of its size. */
static void touch_sparse(const struct feature_table *table)
{
    unsigned char *row = table->row_bytes < WIDENED_MAX ? malloc(table->row_bytes) : NULL;
    for (uint64_t i = 0; row != NULL && i < table->num_rows; i++) {
        csr_widen_row(table->csr, i, row);
        fuzz_touch(row, table->row_bytes);
    }
    free(row);
}

static void touch_tables(const struct feature_table *tables, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (tables[i].form == TABLE_DENSE)
            fuzz_touch(tables[i].rows, tables[i].num_rows * tables[i].row_bytes);
        else
            touch_sparse(&tables[i]);
    }
}

/* Whatever place of the slice is asked for, an edge is found. */
static void touch_runs(const struct edge_runs *slice, uint64_t num_edges)
{
    uint64_t most = slice->num_ranks < UINT32_MAX ? slice->num_ranks : UINT32_MAX, id;
    for (uint64_t i = 0; i < most; i += 1 + most / 64) {
        const uint32_t places[] = { (uint32_t)i, (uint32_t)(most - 1 - i) };
        for (int j = 0; j < 2; j++) {
            edge_runs_read(slice, &places[j], 1, NULL, &id);
            assert(id < num_edges);
        }
    }
}

static void touch_edges(const struct edge_part *edges, uint64_t columns)
{
    const struct csc *csc = &edges->csc;
    const uint32_t *indices = csc->indices;
    assert(csc->index[0] == 0 && csc->index[csc->num_rows] == csc->num_edges);
    for (uint64_t i = 0; i < csc->num_edges; i++)
        assert(csc->column_global != NULL ? csc->column_global[indices[i]] < columns
                                          : indices[i] < columns);
    if (edges->original_edge_ids != NULL)
        fuzz_touch(edges->original_edge_ids, csc->num_edges * 8);
    fuzz_touch(edges->edge_rank, csc->num_rows * 8);
    touch_tables(edges->features, edges->num_features);
}

/* What answers and draws read: each place is checked first. */
static void touch_out_edges(const struct graph_part *part, uint32_t etype)
{
    static const uint32_t tables[] = { TABLE_OUT_EDGES, TABLE_OUT_PLACES };
    for (int t = 0; t < 2; t++) {
        struct local_table table;
        if (local_table_find(part, etype, tables[t], &table, NULL) != 0)
            continue;
        for (uint32_t row = 0; row < table.num_rows; row++) {
            uint64_t pair[2];
            if (local_rows_check(part, &table, &row, 1, NULL) == 0)
                local_rows_read(&table, &row, 1, pair);
        }
    }
}

static void use_part(struct store *store, uint32_t number)
{
    const struct book *book = &store->file.book;
    struct partition_load load = { .mode = PARTITION_MAP,
                                   .features = true,
                                   .degrees = true,
                                   .edge_rank = true,
                                   .ranks = true,
                                   .out_edges = true,
                                   .original_edge_ids = store->file.original_edge_ids };
    struct error error = { 0 };
    struct graph_part *part;
    int rv = store_load(store, number, &load, &part, &error);
    fuzz_check(rv, &error);
    if (rv != 0)
        return;
    for (uint32_t t = 0; t < book->types.num_ntypes; t++) {
        const struct node_part *nodes = &part->nodes[t];
        fuzz_touch(nodes->original_ids, nodes->num_nodes * 8);
        fuzz_touch(nodes->in_degrees, nodes->num_nodes * 4);
        fuzz_touch(nodes->out_degrees, nodes->num_nodes * 4);
        touch_tables(nodes->features, nodes->num_features);
    }
    for (uint32_t e = 0; e < book->types.num_etypes; e++)
        touch_edges(&part->edges[e], book->num_nodes[book->types.etypes[e].src]);
    for (uint32_t e = 0; e < book->types.num_etypes; e++)
        touch_out_edges(part, e);
    for (uint32_t e = 0; e < book->types.num_etypes; e++)
        if (book_has_edge_runs(book, e))
            touch_runs(&part->edges[e].runs, book->num_edges[e]);
    store_unload(store, part);
}

static void use(struct store *store)
{
    const struct book *book = &store->file.book;
    for (uint32_t t = 0; t < book->types.num_ntypes; t++)
        check_extents(book, t);
    for (uint32_t p = 0; p < book->num_parts && p < PARTS_USED; p++)
        use_part(store, p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char path[] = FUZZ_FOLDER "/g.json", folder[] = FUZZ_FOLDER;
    struct memory_files files;
    struct error error = { 0 };
    struct store store = { .files = &files.base, .path = path, .folder = folder };
    json_object_seed(1); /* equal inputs run equally */
    /* A document that was changed is summed anew, or nothing behind that would ever be reached. */
    char *sealed = malloc(size + 1);
    assert(sealed != NULL);
    memcpy(sealed, data, size);
    memory_files_init(&files, "g.json", (const uint8_t *)sealed, size);
    checksums_seal(sealed, files.all[0].size);
    int rv = book_file_read(&store.file, &files.base, path, &error);
    fuzz_check(rv, &error);
    if (rv == 0) {
        use(&store);
        book_file_fini(&store.file);
    }
    memory_files_fini(&files);
    free(sealed);
    return 0;
}
