/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Graphs as NumPy arrays: one file of edges ([N, 2] or [2, N]), or a folder with edges.npy and
 * beside it feat.npy, label.npy, train_mask.npy, val_mask.npy, test_mask.npy, any of which may be
 * missing. meta.json, if there, gives "num_nodes"; else the other files' rows do, else the largest
 * ID. Files *_masks_all10.npy (uint8, [10, bytes], bits packed from the high end) become node
 * features "train_mask_0" to "train_mask_9" and so on.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "partition/raw/raw_memory.h"
#include "partition/raw/raw_series.h"
#include "runtime/base/json_field.h"

/* Edges looked at together for the largest ID. */
#define EDGES_AT_ONCE 8192

/* A table is a file's rows, or bits of a packed one. */
struct npy_table {
    struct series series;
    uint8_t *bits; /* packed split: a byte a node; NULL for rows */
};

struct npy_source {
    struct raw_source base;
    struct raw_graph *graph;
    struct series edges;
    struct npy_table *tables; /* [graph->num_tables] */
};

static int read_edges(struct raw_source *self, uint32_t etype, uint64_t begin, uint64_t count,
                      uint64_t *src, uint64_t *dst, struct error *error)
{
    (void)etype;
    return series_read_pairs(&((struct npy_source *)self)->edges, begin, count, src, dst, error);
}

static int read_rows(struct raw_source *self, uint32_t index, uint64_t begin, uint64_t count,
                     void *rows, struct error *error)
{
    struct npy_table *table = &((struct npy_source *)self)->tables[index];
    if (table->bits == NULL)
        return series_read_rows(&table->series, begin, count, rows, error);
    memcpy(rows, table->bits + begin, (size_t)count);
    return 0;
}

static void name_edge(struct raw_source *self, uint32_t etype, uint64_t edge, char *text,
                      size_t size)
{
    (void)etype;
    series_name_row(&((struct npy_source *)self)->edges, "edge", edge, text, size);
}

static void name_row(struct raw_source *self, uint32_t index, uint64_t row, char *text, size_t size)
{
    struct npy_table *table = &((struct npy_source *)self)->tables[index];
    if (table->bits == NULL)
        series_name_row(&table->series, "row", row, text, size);
    else
        snprintf(text, size, "split: row %" PRIu64, row);
}

static void close_source(struct raw_source *self)
{
    struct npy_source *source = (struct npy_source *)self;
    series_fini(&source->edges);
    for (uint32_t i = 0; source->tables != NULL && i < source->graph->num_tables; i++) {
        series_fini(&source->tables[i].series);
        free(source->tables[i].bits);
    }
    free(source->tables);
    free(source);
}

static int new_graph(const char *path, const struct raw_options *options, struct raw_graph **out,
                     struct error *error)
{
    char *name = raw_name_of(path);
    struct raw_graph *graph = name == NULL ? NULL : raw_graph_new(name);
    struct npy_source *source = calloc(1, sizeof *source);
    free(name);
    if (graph == NULL || source == NULL) {
        free(source);
        raw_close(graph);
        return error_set(error, TR_ENOMEM, "%s: no memory to open it", path);
    }
    source->base = (struct raw_source){ read_edges, read_rows, name_edge, name_row, close_source };
    source->graph = graph;
    series_init(&source->edges, options->files);
    graph->source = &source->base;
    *out = graph;
    return 0;
}

static int find_largest(struct npy_source *source, uint64_t *num_nodes, struct error *error)
{
    uint64_t src[EDGES_AT_ONCE], dst[EDGES_AT_ONCE], largest = 0;
    uint64_t total = source->edges.num_rows;
    for (uint64_t done = 0; done < total;) {
        uint64_t some = total - done < EDGES_AT_ONCE ? total - done : EDGES_AT_ONCE;
        int rv = series_read_pairs(&source->edges, done, some, src, dst, error);
        if (rv != 0)
            return rv;
        for (uint64_t i = 0; i < some; i++) {
            largest = src[i] > largest ? src[i] : largest;
            largest = dst[i] > largest ? dst[i] : largest;
        }
        done += some;
    }
    if (largest >= RAW_NODES_MAX)
        return error_set(error, TR_ERANGE, "%s: ID %" PRIu64 "; IDs must be below %" PRIu64,
                         source->edges.pieces[0].path, largest, RAW_NODES_MAX);
    *num_nodes = total > 0 ? largest + 1 : 0;
    return 0;
}

int raw_open_npy(const char *path, const struct raw_options *options, struct raw_graph **out,
                 struct error *error)
{
    struct raw_graph *graph;
    uint64_t num_nodes = options->num_nodes;
    int rv = new_graph(path, options, &graph, error);
    if (rv != 0)
        return rv;
    struct npy_source *source = (struct npy_source *)graph->source;
    rv = series_add_pairs(&source->edges, path, error);
    if (rv == 0 && num_nodes == 0)
        rv = find_largest(source, &num_nodes, error);
    if (rv == 0)
        rv = raw_graph_homogeneous(graph, num_nodes, source->edges.num_rows, error);
    if (rv != 0)
        raw_close(graph);
    else
        *out = graph;
    return rv;
}

/* A table that the graph and the source both know; takes series and bits even when it fails. */
static int add_table(struct npy_source *source, const char *name, enum tr_dtype dtype,
                     uint32_t ndim, const uint64_t *shape, struct series *series, uint8_t *bits,
                     struct error *error)
{
    uint32_t index = source->graph->num_tables;
    struct npy_table *grown = realloc(source->tables, (index + 1) * sizeof *grown);
    int rv;
    if (grown == NULL) {
        rv = error_set(error, TR_ENOMEM, "no memory for feature '%s'", name);
    } else {
        source->tables = grown;
        rv = raw_graph_add_table(source->graph, name, false, 0, dtype, ndim, shape, error);
    }
    if (rv != 0) {
        series_fini(series);
        free(bits);
        return rv;
    }
    grown[index] = (struct npy_table){ *series, bits };
    return 0;
}

static int add_rows(struct npy_source *source, const char *name, const char *path,
                    struct error *error)
{
    struct series series;
    enum tr_dtype dtype = TR_F32;
    uint64_t nodes = source->graph->num_nodes[0];
    series_init(&series, source->edges.files);
    int rv = series_add_rows(&series, path, error);
    if (rv == 0 && series.num_rows != nodes)
        rv = error_set(error, TR_EMISMATCH,
                       "%s: shape: %" PRIu64 " rows for %" PRIu64 " nodes; one row a node is "
                       "needed",
                       path, series.num_rows, nodes);
    struct npy first = { .header = series.header,
                         .file = { .path = series.num_pieces > 0 ? series.pieces[0].path : NULL } };
    if (rv == 0)
        rv = npy_dtype(&first, false, &dtype, error);
    if (rv != 0) {
        series_fini(&series);
        return rv;
    }
    return add_table(source, name, dtype, series.header.ndim - 1, series.header.shape + 1, &series,
                     NULL, error);
}

/* One split of a packed file: bit i of row `split` says whether node i is in it. */
static int add_split(struct npy_source *source, struct npy *npy, const char *mask, uint64_t split,
                     struct error *error)
{
    char name[64];
    struct series none;
    uint64_t nodes = source->graph->num_nodes[0];
    uint8_t *packed = malloc((size_t)npy->row_bytes + 1), *bits = malloc((size_t)nodes + 1);
    int rv = packed == NULL || bits == NULL
                 ? error_set(error, TR_ENOMEM, "%s: no memory for it", npy->file.path)
                 : npy_read_rows(npy, split, 1, packed, error);
    for (uint64_t i = 0; rv == 0 && i < nodes; i++)
        bits[i] = packed[i / 8] >> (7 - i % 8) & 1;
    free(packed);
    if (rv != 0) {
        free(bits);
        return rv;
    }
    snprintf(name, sizeof name, "%s_%" PRIu64, mask, split);
    series_init(&none, source->edges.files);
    return add_table(source, name, TR_U8, 0, NULL, &none, bits, error);
}

#define SPLITS 10 /* as the graphs come that are published with packed splits */

static int add_splits(struct npy_source *source, const char *mask, const char *path,
                      struct error *error)
{
    struct npy npy;
    uint64_t bytes = (source->graph->num_nodes[0] + 7) / 8;
    int rv = npy_open(&npy, source->edges.files, path, error);
    if (rv != 0)
        return rv;
    const struct npy_header *header = &npy.header;
    if (header->ndim != 2 || header->item_bytes != 1 || npy.num_rows != SPLITS ||
        npy.row_bytes != bytes)
        rv = error_set(error, TR_EFORMAT,
                       "%s: shape: %d packed splits of %" PRIu64 " bytes (uint8) are needed", path,
                       SPLITS, bytes);
    for (uint64_t split = 0; rv == 0 && split < SPLITS; split++)
        rv = add_split(source, &npy, mask, split, error);
    npy_close(&npy);
    return rv;
}

/* Calls add for a file of the folder if it is there. */
static int add_if_there(struct npy_source *source, const char *folder, const char *name,
                        const char *end,
                        int (*add)(struct npy_source *, const char *, const char *, struct error *),
                        struct error *error)
{
    char file_name[64];
    snprintf(file_name, sizeof file_name, "%s%s", name, end);
    char *path = files_join(folder, file_name);
    if (path == NULL)
        return error_set(error, TR_ENOMEM, "%s: no memory to open it", folder);
    int rv = 0;
    if (files_exists(source->edges.files, path))
        rv = add(source, name, path, error);
    free(path);
    return rv;
}

/* num_nodes of meta.json; unchanged where there is none. */
static int read_meta(struct files *files, const char *path, uint64_t *num_nodes,
                     struct error *error)
{
    json_t *document = NULL;
    struct json_field root, count;
    if (!files_exists(files, path))
        return 0;
    int rv = json_load_document(files, path, &document, &root, error);
    if (rv == 0)
        rv = json_get_optional(&root, "num_nodes", JSON_INTEGER, &count, error);
    if (rv == 0 && count.value != NULL)
        rv = json_count(&count, num_nodes, error);
    json_decref(document);
    return rv;
}

static int rows_of(struct files *files, const char *path, uint64_t *num_nodes, struct error *error)
{
    struct npy npy;
    if (*num_nodes > 0 || !files_exists(files, path))
        return 0;
    int rv = npy_open(&npy, files, path, error);
    if (rv != 0)
        return rv;
    *num_nodes = npy.num_rows;
    npy_close(&npy);
    return 0;
}

static int find_num_nodes(struct npy_source *source, const char *folder, uint64_t *num_nodes,
                          struct error *error)
{
    static const char *const names[] = { "meta.json", "feat.npy", "label.npy" };
    int rv = 0;
    for (int i = 0; rv == 0 && i < 3; i++) {
        char *path = files_join(folder, names[i]);
        if (path == NULL)
            return error_set(error, TR_ENOMEM, "%s: no memory to open it", folder);
        rv = (i == 0 ? read_meta : rows_of)(source->edges.files, path, num_nodes, error);
        free(path);
    }
    return rv == 0 && *num_nodes == 0 ? find_largest(source, num_nodes, error) : rv;
}

static int open_folder(struct npy_source *source, const char *folder, uint64_t num_nodes,
                       struct error *error)
{
    static const char *const tables[] = { "feat", "label", "train_mask", "val_mask", "test_mask" };
    char *edges = files_join(folder, "edges.npy");
    int rv = edges == NULL ? error_set(error, TR_ENOMEM, "%s: no memory to open it", folder)
                           : series_add_pairs(&source->edges, edges, error);
    free(edges);
    if (rv == 0 && num_nodes == 0)
        rv = find_num_nodes(source, folder, &num_nodes, error);
    if (rv == 0)
        rv = raw_graph_homogeneous(source->graph, num_nodes, source->edges.num_rows, error);
    for (int i = 0; rv == 0 && i < 5; i++)
        rv = add_if_there(source, folder, tables[i], ".npy", add_rows, error);
    for (int i = 2; rv == 0 && i < 5; i++)
        rv = add_if_there(source, folder, tables[i], "s_all10.npy", add_splits, error);
    return rv;
}

int raw_open_npy_folder(const char *path, const struct raw_options *options, struct raw_graph **out,
                        struct error *error)
{
    struct raw_graph *graph;
    int rv = new_graph(path, options, &graph, error);
    if (rv != 0)
        return rv;
    rv = open_folder((struct npy_source *)graph->source, path, options->num_nodes, error);
    if (rv != 0)
        raw_close(graph);
    else
        *out = graph;
    return rv;
}
