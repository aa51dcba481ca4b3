/* SPDX-License-Identifier: Apache-2.0 */
#include "partition/store/inspect.h"

#include <stdlib.h>
#include <string.h>

#include "partition/store/part_files.h"
#include "partition/store/store_private.h"

/* Adds the sizes of the files of one folder. */
struct folder_size {
    struct store *store;
    const char *folder;
    uint64_t bytes;
    struct error *error;
    int rv;
};

static int add_size(void *arg, const char *name)
{
    struct folder_size *summing = arg;
    uint64_t size = 0;
    char *path = files_join(summing->folder, name);
    summing->rv = path == NULL ? error_set(summing->error, TR_ENOMEM, "no memory for a file's name")
                               : files_size(summing->store->files, path, &size, summing->error);
    summing->bytes += size;
    free(path);
    return summing->rv != 0;
}

static int sum_files(struct store *store, uint32_t part, uint64_t *bytes, struct error *error)
{
    char *folder = store_path(store, part, strdup("."));
    struct folder_size summing = { .store = store, .folder = folder, .error = error };
    if (folder == NULL)
        return error_set(error, TR_ENOMEM, "no memory for a folder's name");
    int rv = store->files->list(store->files, folder, add_size, &summing);
    if (rv < 0)
        error_set_errno(error, -rv, "%s: cannot list the folder", folder);
    rv = rv < 0 ? error_from_errno(-rv) : summing.rv;
    free(folder);
    *bytes = summing.bytes;
    return rv;
}

/* One partition whose files are opened, held against the book and closed. */
struct part_inspection {
    struct store *store;
    uint32_t part;
    struct error *error;
};

/* Takes name. rows UINT64_MAX: only the file knows, and tells. */
static int look_at_array(struct part_inspection *looking, char *name, struct array_form form,
                         uint64_t *rows)
{
    struct npy npy;
    char *path = store_path(looking->store, looking->part, name);
    if (path != NULL && form.rows == UINT64_MAX) {
        int rv = npy_open(&npy, looking->store->files, path, looking->error);
        if (rv != 0) {
            free(path);
            return rv;
        }
        form.rows = npy.num_rows;
        npy_close(&npy);
    }
    int rv = store_open_array(looking->store, path, &form, &npy, looking->error);
    if (rv == 0)
        npy_close(&npy);
    if (rv == 0 && rows != NULL)
        *rows = form.rows;
    return rv;
}

static struct array_form array_of_numbers(uint8_t item_bytes, uint64_t rows)
{
    return (struct array_form){ .kind = 'u', .item_bytes = item_bytes, .ndim = 1, .rows = rows };
}

static int look_at_nodes(struct part_inspection *looking, uint32_t ntype, uint64_t *halo_nodes)
{
    const struct book *book = store_book(looking->store);
    const struct graph_types *types = &book->types;
    const struct extent *extent = &book->node_extents[ntype][looking->part];
    uint64_t rows = extent->end - extent->begin;
    int rv = look_at_array(looking, part_file_node(types, ntype, PART_ORIGINAL_IDS),
                           array_of_numbers(8, rows), NULL);
    if (rv == 0)
        rv = look_at_array(looking, part_file_node(types, ntype, PART_IN_DEGREES),
                           array_of_numbers(4, rows), NULL);
    if (rv == 0)
        rv = look_at_array(looking, part_file_node(types, ntype, PART_OUT_DEGREES),
                           array_of_numbers(4, rows), NULL);
    for (uint32_t hop = 1; hop <= book->halo_hops && rv == 0; hop++) {
        uint64_t count = 0;
        rv = look_at_array(looking, part_file_halo(types, ntype, hop),
                           array_of_numbers(8, UINT64_MAX), &count);
        *halo_nodes += count;
    }
    return rv;
}

static int look_at_out_edges(struct part_inspection *looking, uint32_t etype)
{
    const struct book *book = store_book(looking->store);
    const struct graph_types *types = &book->types;
    const struct extent *nodes = &book->node_extents[types->etypes[etype].src][looking->part];
    const struct extent *out = &book->out_extents[etype][looking->part];
    uint64_t rows = nodes->end - nodes->begin, count = out->end - out->begin;
    int rv = look_at_array(looking, part_file_edge(types, etype, PART_OUT_INDEX),
                           array_of_numbers(8, rows + 1), NULL);
    if (rv == 0)
        rv = look_at_array(looking, part_file_edge(types, etype, PART_OUT_DESTINATIONS),
                           array_of_numbers(4, count), NULL);
    if (rv == 0)
        rv = look_at_array(looking, part_file_edge(types, etype, PART_OUT_EDGE_IDS),
                           array_of_numbers(8, count), NULL);
    return rv;
}

static int look_at_edges(struct part_inspection *looking, uint32_t etype)
{
    const struct book_file *file = store_book_file(looking->store);
    const struct graph_types *types = &file->book.types;
    const struct extent *nodes = &file->book.node_extents[types->etypes[etype].dst][looking->part];
    const struct extent *edges = &file->book.edge_extents[etype][looking->part];
    uint64_t rows = nodes->end - nodes->begin, count = edges->end - edges->begin;
    int rv = look_at_array(looking, part_file_edge(types, etype, PART_INDEX),
                           array_of_numbers(8, rows + 1), NULL);
    if (rv == 0)
        rv = look_at_array(looking, part_file_edge(types, etype, PART_INDICES),
                           array_of_numbers(4, count), NULL);
    if (rv == 0)
        rv = look_at_array(looking, part_file_edge(types, etype, PART_EDGE_RANK),
                           array_of_numbers(8, rows), NULL);
    if (rv == 0 && file->original_edge_ids)
        rv = look_at_array(looking, part_file_edge(types, etype, PART_ORIGINAL_IDS),
                           array_of_numbers(8, count), NULL);
    if (rv == 0 && file->column_tables[etype])
        rv = look_at_array(looking, part_file_edge(types, etype, PART_COLUMN_GLOBAL),
                           array_of_numbers(8, UINT64_MAX), NULL);
    const uint64_t columns = 2; /* of runs: rank and edge */
    struct array_form runs = array_of_numbers(8, UINT64_MAX);
    runs.ndim = 2;
    runs.row_shape = &columns;
    if (rv == 0 && book_has_edge_runs(&file->book, etype))
        rv = look_at_array(looking, part_file_edge(types, etype, PART_EDGE_RUNS), runs, NULL);
    if (rv == 0 && file->book.out_extents != NULL)
        rv = look_at_out_edges(looking, etype);
    return rv;
}

static int look_at_csr(struct part_inspection *looking, const struct book_table *table,
                       uint64_t rows)
{
    const struct graph_types *types = &store_book(looking->store)->types;
    uint64_t nnz = table->nnz[looking->part];
    struct array_form index = { .kind = 'i', .item_bytes = 8, .ndim = 1, .rows = rows + 1 };
    struct array_form columns = { .kind = 'i', .item_bytes = 4, .ndim = 1, .rows = nnz }, values;
    store_table_form(table, nnz, &values);
    values.ndim = 1;
    int rv = look_at_array(looking, part_file_csr(types, table->type, table->name, PART_CSR_INDEX),
                           index, NULL);
    if (rv == 0)
        rv = look_at_array(looking,
                           part_file_csr(types, table->type, table->name, PART_CSR_COLUMNS),
                           columns, NULL);
    if (rv == 0 && table->has_values)
        rv = look_at_array(looking, part_file_csr(types, table->type, table->name, PART_CSR_VALUES),
                           values, NULL);
    return rv;
}

static int look_at_tables(struct part_inspection *looking)
{
    const struct book_file *file = store_book_file(looking->store);
    int rv = 0;
    for (uint32_t i = 0; i < file->num_tables && rv == 0; i++) {
        const struct book_table *table = &file->tables[i];
        struct extent **extents = table->on_edges ? file->book.edge_extents
                                                  : file->book.node_extents;
        const struct extent *extent = &extents[table->type][looking->part];
        struct array_form form;
        if (table->form == TABLE_CSR) {
            rv = look_at_csr(looking, table, extent->end - extent->begin);
            continue;
        }
        store_table_form(table, extent->end - extent->begin, &form);
        rv = look_at_array(
            looking,
            part_file_feature(&file->book.types, table->on_edges, table->type, table->name), form,
            NULL);
    }
    return rv;
}

static int look_at_files(struct store *store, uint32_t part, uint64_t *halo_nodes,
                         struct error *error)
{
    struct part_inspection looking = { .store = store, .part = part, .error = error };
    const struct graph_types *types = &store_book(store)->types;
    int rv = 0;
    for (uint32_t t = 0; t < types->num_ntypes && rv == 0; t++)
        rv = look_at_nodes(&looking, t, halo_nodes);
    for (uint32_t e = 0; e < types->num_etypes && rv == 0; e++)
        rv = look_at_edges(&looking, e);
    return rv == 0 ? look_at_tables(&looking) : rv;
}

int inspect_look(struct store *store, uint32_t part, struct inspect_part *facts,
                 struct error *error)
{
    const struct book *book = store_book(store);
    struct partition_load topology = { 0 }, all = { .features = true };
    *facts = (struct inspect_part){ 0 };
    for (uint32_t t = 0; t < book->types.num_ntypes; t++)
        facts->num_nodes += book->node_extents[t][part].end - book->node_extents[t][part].begin;
    for (uint32_t e = 0; e < book->types.num_etypes; e++)
        facts->num_edges += book->edge_extents[e][part].end - book->edge_extents[e][part].begin;
    facts->topology_bytes = store_part_bytes(store, part, &topology);
    facts->feature_bytes = store_part_bytes(store, part, &all) - facts->topology_bytes;
    int rv = look_at_files(store, part, &facts->halo_nodes, error);
    return rv == 0 ? sum_files(store, part, &facts->file_bytes, error) : rv;
}
