/* SPDX-License-Identifier: Apache-2.0 */
#include "partition/store/store.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "graph/ranks.h"
#include "partition/store/part_files.h"
#include "partition/store/store_private.h"
#include "runtime/base/hotmem.h"

int store_open(const char *path, struct store **out, struct error *error)
{
    struct store *store = calloc(1, sizeof *store);
    if (store == NULL)
        return error_set(error, TR_ENOMEM, "%s: no memory to open it", path);
    store->files = files_posix;
    store->path = strdup(path);
    store->folder = files_parent(path);
    int rv = store->path == NULL || store->folder == NULL
                 ? error_set(error, TR_ENOMEM, "%s: no memory to open it", path)
                 : book_file_read(&store->file, store->files, path, error);
    if (rv != 0) {
        store_close(store);
        return rv;
    }
    *out = store;
    return 0;
}

void store_close(struct store *store)
{
    if (store == NULL)
        return;
    book_file_fini(&store->file);
    free(store->folder);
    free(store->path);
    free(store);
}

const struct book *store_book(const struct store *store)
{
    return &store->file.book;
}

const struct book_file *store_book_file(const struct store *store)
{
    return &store->file;
}

bool store_has_checksums(const struct store *store)
{
    return checksums_known(&store->file.checksums);
}

/* One partition while it is being loaded. */
struct part_loading {
    struct store *store;
    struct loaded_part *loaded;
    const struct partition_load *load;
    uint32_t part;
    struct error *error;
};

static int load_numbers(struct part_loading *loading, char *name, uint8_t item_bytes, uint64_t rows,
                        const void **data)
{
    struct array_form form = { .kind = 'u', .item_bytes = item_bytes, .ndim = 1, .rows = rows };
    return store_load_array(loading->store, loading->loaded,
                            store_path(loading->store, loading->part, name), &form, loading->load,
                            data, loading->error);
}

/* A value that is not what it must be, in the array of that name. Frees name. */
static int store_refuse(struct part_loading *loading, char *name, uint64_t at, uint64_t value,
                        const char *rule)
{
    char *path = store_path(loading->store, loading->part, name);
    int rv = error_set(loading->error, TR_EFORMAT,
                       "%s: element %" PRIu64 " is %" PRIu64 ", but %s; partition again",
                       path == NULL ? "?" : path, at, value, rule);
    free(path);
    return rv;
}

static int check_original_ids(struct part_loading *loading, uint32_t ntype)
{
    const struct book *book = &loading->store->file.book;
    const struct node_part *nodes = &loading->loaded->part.nodes[ntype];
    const uint64_t *ids = nodes->original_ids;
    for (uint64_t i = 0; i < nodes->num_nodes; i++) {
        if (ids[i] >= book->num_nodes[ntype] || (i > 0 && ids[i] <= ids[i - 1]))
            return store_refuse(loading, part_file_node(&book->types, ntype, PART_ORIGINAL_IDS), i,
                                ids[i], "original IDs increase and stay below the number of nodes");
    }
    return 0;
}

/* Rows whose columns one index of the loop checks. */
#define CHECK_ROWS ((uint64_t)65536)

struct csr_checking {
    const struct csr_rows *csr;
    struct csr_checked {
        enum csr_fault fault;
        uint64_t at;
    } * pieces;
};

static void check_csr_piece(void *arg, size_t index, size_t worker)
{
    struct csr_checking *checking = arg;
    struct csr_checked *piece = &checking->pieces[index];
    (void)worker;
    uint64_t begin = index * CHECK_ROWS, left = checking->csr->num_rows - begin;
    piece->fault = csr_check_columns(checking->csr, begin,
                                     begin + (left < CHECK_ROWS ? left : CHECK_ROWS), &piece->at);
}

/* The first column that is wrong; all are looked at before a row is widened by them. */
static int check_csr_columns(struct part_loading *loading, const struct book_table *table,
                             const struct csr_rows *csr)
{
    struct parallel *parallel = loading->load->parallel;
    size_t count = (size_t)((csr->num_rows + CHECK_ROWS - 1) / CHECK_ROWS), i = 0;
    struct csr_checking checking = { .csr = csr,
                                     .pieces = calloc(count + 1, sizeof *checking.pieces) };
    if (checking.pieces == NULL)
        return error_set(loading->error, TR_ENOMEM, "no memory to check feature '%s'", table->name);
    parallel_for(parallel == NULL ? parallel_serial : parallel, count, check_csr_piece, &checking);
    while (i < count && checking.pieces[i].fault == CSR_FINE)
        i++;
    struct csr_checked found = i < count ? checking.pieces[i] : (struct csr_checked){ CSR_FINE, 0 };
    free(checking.pieces);
    if (found.fault == CSR_FINE)
        return 0;
    return store_refuse(
        loading,
        part_file_csr(&loading->store->file.book.types, table->type, table->name, PART_CSR_COLUMNS),
        found.at, csr->columns[found.at],
        found.fault == CSR_COLUMN ? "columns stay below the width of the table"
                                  : "the columns of a row increase");
}

static int check_csr_index(struct part_loading *loading, const struct book_table *table,
                           const struct csr_rows *csr)
{
    static const char *const rules[] = {
        [CSR_BEGIN] = "an index begins with 0",
        [CSR_ORDER] = "an index never decreases",
        [CSR_END] = "an index ends with the number of elements",
        [CSR_LONG] = "no row has more elements than the partition book says",
    };
    uint64_t at;
    enum csr_fault fault = csr_check_index(csr, table->nnz[loading->part], &at);
    if (fault == CSR_FINE)
        return 0;
    return store_refuse(
        loading,
        part_file_csr(&loading->store->file.book.types, table->type, table->name, PART_CSR_INDEX),
        at, csr->index[at], rules[fault]);
}

static int load_csr_array(struct part_loading *loading, const struct book_table *table,
                          const char *array, const struct array_form *form, const void **data)
{
    char *name = part_file_csr(&loading->store->file.book.types, table->type, table->name, array);
    return store_load_array(loading->store, loading->loaded,
                            store_path(loading->store, loading->part, name), form, loading->load,
                            data, loading->error);
}

/* Whole numbers are signed, as SciPy has them; what is negative is too large. */
static int load_csr(struct part_loading *loading, const struct book_table *table, uint64_t rows,
                    struct csr_rows *csr)
{
    uint64_t nnz = table->nnz[loading->part];
    const struct array_form index = { .kind = 'i', .item_bytes = 8, .ndim = 1, .rows = rows + 1 };
    const struct array_form columns = { .kind = 'i', .item_bytes = 4, .ndim = 1, .rows = nnz };
    struct array_form values;
    const void *data;
    *csr = (struct csr_rows){ .num_rows = rows,
                              .width = table->shape[0],
                              .dtype = table->dtype,
                              .row_nnz_max = table->row_nnz_max };
    int rv = load_csr_array(loading, table, PART_CSR_INDEX, &index, &data);
    if (rv != 0)
        return rv;
    csr->index = data;
    /* The index is checked at once: nothing may follow one that leads outside of the columns. */
    rv = check_csr_index(loading, table, csr);
    if (rv == 0)
        rv = load_csr_array(loading, table, PART_CSR_COLUMNS, &columns, &data);
    if (rv != 0)
        return rv;
    csr->columns = data;
    rv = check_csr_columns(loading, table, csr);
    if (rv != 0 || !table->has_values)
        return rv;
    store_table_form(table, nnz, &values);
    values.ndim = 1;
    rv = load_csr_array(loading, table, PART_CSR_VALUES, &values, &data);
    csr->values = rv == 0 ? data : NULL;
    return rv;
}

static int load_dense(struct part_loading *loading, const struct book_table *table, uint64_t rows,
                      const void **data)
{
    struct array_form form;
    store_table_form(table, rows, &form);
    char *name = part_file_feature(&loading->store->file.book.types, table->on_edges, table->type,
                                   table->name);
    return store_load_array(loading->store, loading->loaded,
                            store_path(loading->store, loading->part, name), &form, loading->load,
                            data, loading->error);
}

/* The tables of a type and, behind them in the same memory, the sparse rows that some of them
 * have. */
static int load_features(struct part_loading *loading, bool on_edges, uint32_t type, uint64_t rows,
                         uint32_t *num_features, const struct feature_table **features)
{
    const struct book_file *file = &loading->store->file;
    uint32_t count = 0;
    int rv = 0;
    for (uint32_t i = 0; i < file->num_tables; i++)
        count += file->tables[i].on_edges == on_edges && file->tables[i].type == type;
    struct feature_table *tables = calloc(count + (size_t)1,
                                          sizeof *tables + sizeof(struct csr_rows));
    struct csr_rows *sparse = (struct csr_rows *)(tables + count + 1);
    *features = tables;
    if (tables == NULL)
        return error_set(loading->error, TR_ENOMEM, "no memory for the list of tables");
    for (uint32_t i = 0; i < file->num_tables && rv == 0; i++) {
        const struct book_table *table = &file->tables[i];
        struct feature_table *feature = &tables[*num_features];
        if (table->on_edges != on_edges || table->type != type)
            continue;
        *feature = (struct feature_table){ .name = table->name,
                                           .dtype = table->dtype,
                                           .num_rows = rows,
                                           .ndim = table->ndim,
                                           .form = table->form };
        feature->row_bytes = book_table_row_bytes(table, &feature->width);
        memcpy(feature->shape, table->shape, sizeof feature->shape);
        if (table->form == TABLE_CSR)
            feature->csr = &sparse[*num_features];
        rv = table->form == TABLE_CSR ? load_csr(loading, table, rows, &sparse[*num_features])
                                      : load_dense(loading, table, rows, &feature->rows);
        *num_features += rv == 0;
    }
    return rv;
}

static int load_nodes(struct part_loading *loading, uint32_t ntype)
{
    const struct book *book = &loading->store->file.book;
    const struct extent *extent = &book->node_extents[ntype][loading->part];
    struct node_part *nodes = &loading->loaded->part.nodes[ntype];
    const void *data;
    nodes->num_nodes = extent->end - extent->begin;
    nodes->global_begin = extent->begin;
    int rv = load_numbers(loading, part_file_node(&book->types, ntype, PART_ORIGINAL_IDS), 8,
                          nodes->num_nodes, &data);
    if (rv != 0)
        return rv;
    nodes->original_ids = data;
    rv = check_original_ids(loading, ntype);
    if (rv == 0 && loading->load->degrees) {
        rv = load_numbers(loading, part_file_node(&book->types, ntype, PART_IN_DEGREES), 4,
                          nodes->num_nodes, &data);
        nodes->in_degrees = rv == 0 ? data : NULL;
        if (rv == 0)
            rv = load_numbers(loading, part_file_node(&book->types, ntype, PART_OUT_DEGREES), 4,
                              nodes->num_nodes, &data);
        nodes->out_degrees = rv == 0 ? data : NULL;
    }
    if (rv == 0 && loading->load->features)
        rv = load_features(loading, false, ntype, nodes->num_nodes, &nodes->num_features,
                           &nodes->features);
    return rv;
}

/* Of in-edges or out-edges, in the array of that name. */
static int check_index(struct part_loading *loading, uint32_t etype, const char *array,
                       const uint64_t *index, uint64_t num_rows, uint64_t num_edges)
{
    const struct graph_types *types = &loading->store->file.book.types;
    if (index[0] != 0)
        return store_refuse(loading, part_file_edge(types, etype, array), 0, index[0],
                            "an index begins with 0");
    for (uint64_t row = 0; row < num_rows; row++) {
        if (index[row + 1] < index[row])
            return store_refuse(loading, part_file_edge(types, etype, array), row + 1,
                                index[row + 1], "an index never decreases");
    }
    if (index[num_rows] != num_edges)
        return store_refuse(loading, part_file_edge(types, etype, array), num_rows, index[num_rows],
                            "an index ends with the number of edges");
    return 0;
}

/* Pieces whose largest column is taken before it is looked for: the scan runs at the memory's
 * speed. */
#define SCAN_COLUMNS 4096

static int check_columns(struct part_loading *loading, uint32_t etype, const struct csc *csc,
                         uint64_t limit)
{
    for (uint64_t begin = 0; begin < csc->num_edges; begin += SCAN_COLUMNS) {
        uint64_t left = csc->num_edges - begin, count = left < SCAN_COLUMNS ? left : SCAN_COLUMNS;
        const uint32_t *piece = csc->indices + begin;
        uint32_t largest = 0;
        for (uint64_t i = 0; i < count; i++)
            largest = piece[i] > largest ? piece[i] : largest;
        if (largest < limit)
            continue;
        uint64_t at = 0;
        while (piece[at] < limit)
            at++;
        return store_refuse(loading,
                            part_file_edge(&loading->store->file.book.types, etype, PART_INDICES),
                            begin + at, piece[at], "columns stay below the number of source nodes");
    }
    return 0;
}

/* The number of columns is what only the file of them says. */
static int load_columns(struct part_loading *loading, uint32_t etype, struct csc *csc,
                        uint64_t *num_columns)
{
    struct store *store = loading->store;
    const struct graph_types *types = &store->file.book.types;
    const void *data;
    struct npy npy;
    char *path = store_path(store, loading->part, part_file_edge(types, etype, PART_COLUMN_GLOBAL));
    if (path == NULL)
        return error_set(loading->error, TR_ENOMEM, "no memory for a file's name");
    int rv = npy_open(&npy, store->files, path, loading->error);
    free(path);
    if (rv != 0)
        return rv;
    *num_columns = npy.num_rows;
    npy_close(&npy);
    rv = load_numbers(loading, part_file_edge(types, etype, PART_COLUMN_GLOBAL), 8, *num_columns,
                      &data);
    if (rv != 0)
        return rv;
    csc->column_global = data;
    uint64_t num_nodes = store->file.book.num_nodes[types->etypes[etype].src];
    for (uint64_t i = 0; i < *num_columns; i++) {
        if (csc->column_global[i] >= num_nodes)
            return store_refuse(loading, part_file_edge(types, etype, PART_COLUMN_GLOBAL), i,
                                csc->column_global[i], "global IDs stay below the number of nodes");
    }
    return 0;
}

static int load_topology(struct part_loading *loading, uint32_t etype, struct csc *csc)
{
    const struct book_file *file = &loading->store->file;
    const struct graph_types *types = &file->book.types;
    uint64_t num_columns = file->book.num_nodes[types->etypes[etype].src];
    const void *data;
    int rv = load_numbers(loading, part_file_edge(types, etype, PART_INDEX), 8, csc->num_rows + 1,
                          &data);
    if (rv != 0)
        return rv;
    csc->index = data;
    /* The index is checked at once: nothing may follow one that leads outside of the columns. */
    rv = check_index(loading, etype, PART_INDEX, csc->index, csc->num_rows, csc->num_edges);
    if (rv == 0 && file->column_tables[etype])
        rv = load_columns(loading, etype, csc, &num_columns);
    if (rv == 0)
        rv = load_numbers(loading, part_file_edge(types, etype, PART_INDICES), 4, csc->num_edges,
                          &data);
    if (rv != 0)
        return rv;
    csc->indices = data;
    return check_columns(loading, etype, csc, num_columns);
}

static int check_runs(struct part_loading *loading, uint32_t etype, const struct edge_runs *slice)
{
    const struct book *book = &loading->store->file.book;
    const struct edge_run *runs = slice->runs;
    uint64_t num_edges = book->num_edges[etype], bad = edge_runs_check(slice, num_edges);
    if (slice->num_ranks > 0 && slice->num_runs == 0)
        return store_refuse(loading, part_file_edge(&book->types, etype, PART_EDGE_RUNS), 0, 0,
                            "a slice with edges needs runs of edges");
    if (bad == slice->num_runs)
        return 0;
    bool rank = bad == 0 ? runs[0].rank != slice->first_rank : runs[bad].rank <= runs[bad - 1].rank;
    rank = rank || runs[bad].rank >= slice->first_rank + slice->num_ranks;
    return store_refuse(
        loading, part_file_edge(&book->types, etype, PART_EDGE_RUNS), 2 * bad + !rank,
        rank ? runs[bad].rank : runs[bad].edge,
        rank ? "the ranks of runs begin with the slice, increase and stay inside the slice"
             : "the edges of a run are below the number of edges");
}

/* Runs are mapped also where all else is copied: they take memory only where loaders ask for edges
 * by rank, and few do. They are compared with checksums all the same. Only the file says how many
 * there are. */
static int load_runs(struct part_loading *loading, uint32_t etype, struct edge_runs *slice)
{
    static const uint64_t columns = 2; /* rank and edge */
    struct store *store = loading->store;
    const struct book *book = &store->file.book;
    uint64_t num_edges = book->num_edges[etype];
    struct partition_load load = *loading->load;
    const void *data;
    struct npy npy;
    char *path = store_path(store, loading->part,
                            part_file_edge(&book->types, etype, PART_EDGE_RUNS));
    if (path == NULL)
        return error_set(loading->error, TR_ENOMEM, "no memory for a file's name");
    int rv = npy_open(&npy, store->files, path, loading->error);
    if (rv != 0) {
        free(path);
        return rv;
    }
    const struct array_form form = {
        .kind = 'u', .item_bytes = 8, .ndim = 2, .rows = npy.num_rows, .row_shape = &columns
    };
    npy_close(&npy);
    if (load.mode == PARTITION_COPY && load.check == PARTITION_CHECK_COPIES)
        load.check = PARTITION_CHECK_ALL;
    load.mode = PARTITION_MAP;
    rv = store_load_array(store, loading->loaded, path, &form, &load, &data, loading->error);
    if (rv != 0)
        return rv;
    uint64_t first = ranks_begin(num_edges, book->num_parts, loading->part);
    uint64_t end = ranks_begin(num_edges, book->num_parts, loading->part + 1);
    *slice = (struct edge_runs){ first, end - first, form.rows, data };
    return check_runs(loading, etype, slice);
}

static int map_array(const struct part_loading *loading, uint32_t etype, const char *array,
                     uint8_t item_bytes, uint64_t rows, const void **data)
{
    struct partition_load load = *loading->load;
    struct part_loading mapping = *loading;
    load.mode = PARTITION_MAP;
    mapping.load = &load;
    return load_numbers(&mapping, part_file_edge(&loading->store->file.book.types, etype, array),
                        item_bytes, rows, data);
}

/* Out-edges are mapped also where all else is copied: three times as many bytes as the in-edges
 * take memory only as far as somebody asks for them. So only their index is looked at now; the rest
 * is checked where it is read. */
static int load_out_edges(struct part_loading *loading, uint32_t etype, struct out_edges *out)
{
    const struct book *book = &loading->store->file.book;
    const struct graph_etype *type = &book->types.etypes[etype];
    const struct extent *extent = &book->out_extents[etype][loading->part];
    const void *index, *destinations, *edge_ids;
    *out = (struct out_edges){ .num_rows = loading->loaded->part.nodes[type->src].num_nodes,
                               .num_edges = extent->end - extent->begin,
                               .first_place = extent->begin,
                               .nodes_end = book->num_nodes[type->dst],
                               .edges_end = book->num_edges[etype] };
    int rv = map_array(loading, etype, PART_OUT_INDEX, 8, out->num_rows + 1, &index);
    if (rv == 0)
        rv = check_index(loading, etype, PART_OUT_INDEX, index, out->num_rows, out->num_edges);
    if (rv == 0)
        rv = map_array(loading, etype, PART_OUT_DESTINATIONS, 4, out->num_edges, &destinations);
    if (rv == 0)
        rv = map_array(loading, etype, PART_OUT_EDGE_IDS, 8, out->num_edges, &edge_ids);
    if (rv != 0)
        return rv;
    out->index = index;
    out->destinations = destinations;
    out->edge_ids = edge_ids;
    return 0;
}

static int load_edges(struct part_loading *loading, uint32_t etype)
{
    const struct book_file *file = &loading->store->file;
    const struct graph_types *types = &file->book.types;
    const struct extent *extent = &file->book.edge_extents[etype][loading->part];
    struct edge_part *edges = &loading->loaded->part.edges[etype];
    const void *data;
    edges->csc.num_rows = loading->loaded->part.nodes[types->etypes[etype].dst].num_nodes;
    edges->csc.num_edges = extent->end - extent->begin;
    edges->csc.first_edge = extent->begin;
    int rv = load_topology(loading, etype, &edges->csc);
    if (rv == 0 && loading->load->edge_rank) {
        rv = load_numbers(loading, part_file_edge(types, etype, PART_EDGE_RANK), 8,
                          edges->csc.num_rows, &data);
        edges->edge_rank = rv == 0 ? data : NULL;
    }
    if (rv == 0 && loading->load->original_edge_ids) {
        rv = file->original_edge_ids
                 ? load_numbers(loading, part_file_edge(types, etype, PART_ORIGINAL_IDS), 8,
                                edges->csc.num_edges, &data)
                 : error_set(loading->error, TR_ENOENT,
                             "%s: the graph was partitioned without original edge IDs; partition "
                             "it again with them",
                             loading->store->path);
        edges->original_edge_ids = rv == 0 ? data : NULL;
    }
    /* Few ask for them, so they are mapped as out-edges are, and looked at where they are read. */
    if (rv == 0 && loading->load->mapped_edge_ids && file->original_edge_ids) {
        rv = map_array(loading, etype, PART_ORIGINAL_IDS, 8, edges->csc.num_edges, &data);
        edges->original_edge_ids = rv == 0 ? data : NULL;
    }
    if (rv == 0 && loading->load->ranks && book_has_edge_runs(&file->book, etype))
        rv = load_runs(loading, etype, &edges->runs);
    if (rv == 0 && loading->load->out_edges && file->book.out_extents != NULL)
        rv = load_out_edges(loading, etype, &edges->out);
    if (rv == 0 && loading->load->features)
        rv = load_features(loading, true, etype, edges->csc.num_edges, &edges->num_features,
                           &edges->features);
    return rv;
}

static int load_slice(struct part_loading *loading, const struct rank_table *table,
                      struct rank_slice *slice)
{
    const struct book *book = &loading->store->file.book;
    const void *data = NULL;
    uint64_t begin = ranks_begin(table->num_ranks, book->num_parts, loading->part);
    uint64_t end = ranks_begin(table->num_ranks, book->num_parts, loading->part + 1);
    slice->ntype = table->ntype;
    slice->num_ranks = end - begin;
    if (!table->stored)
        return 0;
    int rv = load_numbers(loading, part_file_ranks(&book->types, table), 8, end - begin, &data);
    slice->ids = data;
    for (uint64_t i = 0; i < slice->num_ranks && rv == 0; i++) {
        if (slice->ids[i] >= book->num_nodes[table->ntype])
            rv = store_refuse(loading, part_file_ranks(&book->types, table), i, slice->ids[i],
                              "global IDs stay below the number of nodes");
    }
    return rv;
}

static int load_slices(struct part_loading *loading)
{
    const struct book *book = &loading->store->file.book;
    struct rank_slice *slices = calloc(book->num_ranks + (size_t)1, sizeof *slices);
    int rv = 0;
    loading->loaded->part.slices = slices;
    if (slices == NULL)
        return error_set(loading->error, TR_ENOMEM, "no memory for the tables of ranks");
    for (uint32_t i = 0; i < book->num_ranks && rv == 0; i++)
        rv = load_slice(loading, &book->ranks[i], &slices[i]);
    loading->loaded->part.num_slices = book->num_ranks;
    return rv;
}

int store_load(struct store *store, uint32_t part, const struct partition_load *load,
               struct graph_part **out, struct error *error)
{
    const struct graph_types *types = &store->file.book.types;
    if (part >= store->file.book.num_parts)
        return error_set(error, TR_ERANGE, "%s: there is no partition %u, only %u of them",
                         store->path, part, store->file.book.num_parts);
    struct loaded_part *loaded = calloc(1, sizeof *loaded);
    if (loaded == NULL)
        return error_set(error, TR_ENOMEM, "%s: no memory for a partition", store->path);
    loaded->part = (struct graph_part){ .part_id = part, .types = types };
    loaded->part.nodes = calloc(types->num_ntypes + 1, sizeof *loaded->part.nodes);
    loaded->part.edges = calloc(types->num_etypes + 1, sizeof *loaded->part.edges);
    struct part_loading loading = {
        .store = store, .loaded = loaded, .load = load, .part = part, .error = error
    };
    int rv = loaded->part.nodes == NULL || loaded->part.edges == NULL
                 ? error_set(error, TR_ENOMEM, "%s: no memory for a partition", store->path)
                 : 0;
    /* Nodes come first: an edge type has as many rows as its destination type has nodes. */
    for (uint32_t i = 0; i < types->num_ntypes && rv == 0; i++)
        rv = load_nodes(&loading, i);
    for (uint32_t i = 0; i < types->num_etypes && rv == 0; i++)
        rv = load_edges(&loading, i);
    if (rv == 0 && load->ranks)
        rv = load_slices(&loading);
    if (rv != 0) {
        store_unload(store, &loaded->part);
        return rv;
    }
    *out = &loaded->part;
    return 0;
}

/* The list of tables was allocated here, though readers see it as constant. */
static void free_tables(const struct feature_table *tables)
{
    free((void *)(uintptr_t)tables);
}

void store_unload(struct store *store, struct graph_part *part)
{
    if (part == NULL)
        return;
    struct loaded_part *loaded = (struct loaded_part *)part;
    const struct graph_types *types = &store->file.book.types;
    for (size_t i = 0; i < loaded->num_blocks; i++) {
        npy_close(&loaded->blocks[i].npy);
        hotmem_free(loaded->blocks[i].memory, loaded->blocks[i].bytes);
    }
    for (uint32_t i = 0; part->nodes != NULL && i < types->num_ntypes; i++)
        free_tables(part->nodes[i].features);
    for (uint32_t i = 0; part->edges != NULL && i < types->num_etypes; i++)
        free_tables(part->edges[i].features);
    free((void *)(uintptr_t)part->slices);
    free(loaded->blocks);
    free(part->nodes);
    free(part->edges);
    free(loaded);
}

uint64_t store_part_bytes(const struct store *store, uint32_t part,
                          const struct partition_load *load)
{
    const struct book *book = &store->file.book;
    uint64_t bytes = 0;
    assert(part < book->num_parts);
    for (uint32_t i = 0; i < book->types.num_ntypes; i++) {
        uint64_t nodes = book->node_extents[i][part].end - book->node_extents[i][part].begin;
        bytes += nodes * (load->degrees ? 16 : 8);
    }
    for (uint32_t i = 0; i < book->types.num_etypes; i++) {
        const struct extent *rows = &book->node_extents[book->types.etypes[i].dst][part];
        uint64_t edges = book->edge_extents[i][part].end - book->edge_extents[i][part].begin;
        bytes += (rows->end - rows->begin) * (load->edge_rank ? 16 : 8) + 8;
        bytes += edges * (load->original_edge_ids ? 12 : 4);
    }
    for (uint32_t i = 0; load->ranks && i < book->num_ranks; i++) {
        uint64_t ranks = ranks_begin(book->ranks[i].num_ranks, book->num_parts, part + 1) -
                         ranks_begin(book->ranks[i].num_ranks, book->num_parts, part);
        bytes += book->ranks[i].stored ? ranks * 8 : 0;
    }
    for (uint32_t i = 0; load->features && i < store->file.num_tables; i++) {
        const struct book_table *table = &store->file.tables[i];
        struct extent **extents = table->on_edges ? book->edge_extents : book->node_extents;
        const struct extent *rows = &extents[table->type][part];
        bytes += book_table_bytes(table, part, rows->end - rows->begin);
    }
    return bytes;
}

/* A small array as a copy that the caller frees. part: CHECKSUMS_GRAPH for one of the graph. */
static int read_copy(struct store *store, uint32_t part, char *path, const struct array_form *form,
                     void **data, struct error *error)
{
    struct npy npy;
    uint32_t sum;
    int rv = store_open_array(store, path, form, &npy, error);
    if (rv != 0)
        return rv;
    size_t bytes = (size_t)(npy.num_rows * npy.row_bytes);
    void *copy = malloc(bytes + 1);
    rv = copy == NULL ? error_set(error, TR_ENOMEM, "%s: no memory to read it", npy.file.path)
                      : npy_read_rows(&npy, 0, npy.num_rows, copy, error);
    if (rv == 0)
        rv = store_sum_array(&npy, copy, bytes, NULL, NULL, &sum, error);
    if (rv == 0)
        rv = store_check_sum(store, part, npy.file.path, sum, error);
    npy_close(&npy);
    if (rv != 0)
        free(copy);
    else
        *data = copy;
    return rv;
}

int store_read_halo(struct store *store, uint32_t part, uint32_t ntype, uint32_t hop,
                    uint64_t **ids, uint64_t *count, struct error *error)
{
    const struct book *book = &store->file.book;
    struct npy npy;
    void *data;
    if (part >= book->num_parts || ntype >= book->types.num_ntypes || hop == 0 ||
        hop > book->halo_hops)
        return error_set(error, TR_ERANGE, "%s: no halo of hop %u in partition %u", store->path,
                         hop, part);
    char *path = store_path(store, part, part_file_halo(&book->types, ntype, hop));
    int rv = path == NULL ? error_set(error, TR_ENOMEM, "no memory for a file's name")
                          : npy_open(&npy, store->files, path, error);
    free(path);
    if (rv != 0)
        return rv;
    struct array_form form = { .kind = 'u', .item_bytes = 8, .ndim = 1, .rows = npy.num_rows };
    npy_close(&npy);
    rv = read_copy(store, part, store_path(store, part, part_file_halo(&book->types, ntype, hop)),
                   &form, &data, error);
    if (rv == 0) {
        *ids = data;
        *count = form.rows;
    }
    return rv;
}

int store_open_names(struct store *store, uint32_t number, struct name_list *list,
                     struct error *error)
{
    const struct book_names *names = &store->file.names[number];
    char *stem = store_path(store, UINT32_MAX,
                            part_file_names(&store->file.book.types, &names->key));
    int rv = stem == NULL
                 ? error_set(error, TR_ENOMEM, "%s: no memory for a file's name", store->path)
                 : name_list_open(list, store->files, stem, names->count, error);
    free(stem);
    return rv;
}

char *store_deal_path(const struct store *store, uint32_t ntype)
{
    return store_path(store, UINT32_MAX, part_file_deal(&store->file.book.types, ntype));
}

bool store_deal_checksum(const struct store *store, uint32_t ntype, uint32_t *checksum)
{
    char *name = part_file_deal(&store->file.book.types, ntype);
    bool known = name != NULL &&
                 checksums_find(&store->file.checksums, CHECKSUMS_GRAPH, name, checksum);
    free(name);
    return known;
}

int store_read_deal(struct store *store, uint32_t ntype, int32_t **trainers, struct error *error)
{
    const struct book *book = &store->file.book;
    void *data;
    if (store->file.num_trainers == 0 || ntype >= book->types.num_ntypes)
        return error_set(error, TR_ENOENT,
                         "%s: the graph was partitioned without trainers; partition it again with "
                         "the number of trainers of the job",
                         store->path);
    struct array_form form = {
        .kind = 'i', .item_bytes = 4, .ndim = 1, .rows = book->num_nodes[ntype]
    };
    int rv = read_copy(store, CHECKSUMS_GRAPH, store_deal_path(store, ntype), &form, &data, error);
    if (rv == 0)
        *trainers = data;
    return rv;
}
