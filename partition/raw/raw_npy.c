/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Graphs as NumPy arrays: one file of edges ([N, 2] or [2, N]), or a folder with edges.npy and
 * beside it feat.npy, label.npy, train_mask.npy, val_mask.npy, test_mask.npy, any of which may be
 * missing. meta.json, if there, gives "num_nodes"; else the other files' rows do, else the largest
 * ID. Files *_masks_all10.npy (uint8, [10, bytes], bits packed from the high end) become node
 * features "train_mask_0" to "train_mask_9" and so on.
 *
 * A folder with triples.npy in the place of edges.npy, [N, 3] of (source, relation, destination), is a
 * graph of one node type and an edge type for each relation: "r0", "r1" and so on, or as the lines
 * of relations.txt say, of which of an IRI the last part counts. Triples take 24 bytes each in memory.
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
    /* Of triples: sources and destinations by relation, in the order of the file. */
    uint64_t *pairs;  /* [triples][2]; NULL: there are edges */
    uint64_t *begins; /* [relations + 1] */
};

static int read_edges(struct raw_source *self, uint32_t etype, uint64_t begin, uint64_t count,
                      uint64_t *src, uint64_t *dst, struct error *error)
{
    const struct npy_source *source = (struct npy_source *)self;
    if (source->pairs == NULL)
        return series_read_pairs(&((struct npy_source *)self)->edges, begin, count, src, dst,
                                 error);
    const uint64_t *from = source->pairs + 2 * (source->begins[etype] + begin);
    for (uint64_t i = 0; i < count; i++) {
        src[i] = from[2 * i];
        dst[i] = from[2 * i + 1];
    }
    return 0;
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
    struct npy_source *source = (struct npy_source *)self;
    if (source->pairs == NULL)
        series_name_row(&source->edges, "edge", edge, text, size);
    else
        snprintf(text, size, "triples.npy: edge %" PRIu64 " of relation %u", edge, etype);
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
    free(source->pairs);
    free(source->begins);
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

/* As meta.json or the rows of a table say; 0: they do not. */
static int find_stated_nodes(struct npy_source *source, const char *folder, uint64_t *num_nodes,
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
    return rv;
}

static int find_num_nodes(struct npy_source *source, const char *folder, uint64_t *num_nodes,
                          struct error *error)
{
    int rv = find_stated_nodes(source, folder, num_nodes, error);
    return rv == 0 && *num_nodes == 0 ? find_largest(source, num_nodes, error) : rv;
}

/* Relations beyond are no relations, but numbers of something else. */
#define RELATIONS_MAX GRAPH_TYPES_MAX
#define RELATIONS_TEXT_MAX ((size_t)16 << 20)

static int refuse_triple(const char *path, uint64_t row, const char *what, int64_t value,
                         struct error *error)
{
    return error_set(error, TR_ERANGE, "%s: row %" PRIu64 ": %s %" PRId64 " is out of range", path,
                     row, what, value);
}

/* The largest numbers of a relation and of a node. */
static int measure_triples(const char *path, enum tr_dtype dtype, const void *rows, uint64_t count,
                           uint32_t *relations, uint64_t *largest, struct error *error)
{
    for (uint64_t i = 0; i < count; i++) {
        int64_t relation = raw_whole(dtype, rows, 3 * i + 1);
        if (relation < 0 || relation >= RELATIONS_MAX)
            return refuse_triple(path, i, "relation", relation, error);
        *relations = relation >= *relations ? (uint32_t)relation + 1 : *relations;
        for (uint64_t end = 0; end <= 2; end += 2) {
            int64_t node = raw_whole(dtype, rows, 3 * i + end);
            if (node < 0 || (uint64_t)node >= RAW_NODES_MAX)
                return refuse_triple(path, i, "node", node, error);
            *largest = (uint64_t)node > *largest ? (uint64_t)node : *largest;
        }
    }
    return 0;
}

/* A stable sort by relation. */
static int sort_triples(struct npy_source *source, enum tr_dtype dtype, const void *rows,
                        uint64_t count, uint32_t relations)
{
    uint64_t *next = calloc((size_t)relations + 2, sizeof *next);
    source->pairs = malloc((2 * (size_t)count + 1) * sizeof *source->pairs);
    source->begins = calloc((size_t)relations + 2, sizeof *source->begins);
    if (next == NULL || source->pairs == NULL || source->begins == NULL) {
        free(next);
        return TR_ENOMEM;
    }
    for (uint64_t i = 0; i < count; i++)
        source->begins[raw_whole(dtype, rows, 3 * i + 1) + 1]++;
    for (uint32_t r = 0; r < relations; r++)
        next[r + 1] = source->begins[r + 1] += source->begins[r];
    for (uint64_t i = 0; i < count; i++) {
        uint64_t to = next[raw_whole(dtype, rows, 3 * i + 1)]++;
        source->pairs[2 * to] = (uint64_t)raw_whole(dtype, rows, 3 * i);
        source->pairs[2 * to + 1] = (uint64_t)raw_whole(dtype, rows, 3 * i + 2);
    }
    free(next);
    return 0;
}

/* What names a relation in a line such as <http://example.org/terms#knows>: "knows". */
static void relation_word(const char *line, size_t length, char *word, size_t size)
{
    size_t begin = 0, used = 0;
    while (length > 0 && strchr(">\r \t\"", line[length - 1]) != NULL)
        length--;
    for (size_t i = 0; i < length; i++)
        if (line[i] == '#' || line[i] == '/')
            begin = i + 1;
    for (size_t i = begin; i < length && used + 1 < size; i++) {
        unsigned char byte = (unsigned char)line[i];
        word[used++] = byte <= ' ' || strchr(":/~<", byte) != NULL ? '_' : (char)byte;
    }
    word[used] = '\0';
}

/* A word that another relation has too gets the relation's number behind it. */
static int name_relation(struct raw_graph *graph, uint32_t relation, const char *line,
                         size_t length, struct error *error)
{
    char word[128], canonical[200];
    relation_word(line, length, word, sizeof word);
    if (word[0] == '\0')
        snprintf(word, sizeof word, "r%u", relation);
    snprintf(canonical, sizeof canonical, "_N:%s:_N", word);
    if (graph_types_find_etype(&graph->types, canonical) >= 0)
        snprintf(canonical, sizeof canonical, "_N:%s_%u:_N", word, relation);
    return graph_types_add_etype(&graph->types, canonical, error);
}

static int name_relations(struct npy_source *source, const char *folder, uint32_t relations,
                          struct error *error)
{
    char *path = files_join(folder, "relations.txt"), *text = NULL;
    size_t size = 0;
    int rv = path == NULL ? error_set(error, TR_ENOMEM, "%s: no memory to open it", folder) : 0;
    if (rv == 0 && files_exists(source->edges.files, path))
        rv = files_read_all(source->edges.files, path, RELATIONS_TEXT_MAX, &text, &size, error);
    const char *line = text, *end = text == NULL ? NULL : text + size;
    for (uint32_t r = 0; rv == 0 && r < relations; r++) {
        const char *stop = line == NULL || line == end ? NULL
                                                       : memchr(line, '\n', (size_t)(end - line));
        size_t length = line == NULL ? 0 : (size_t)((stop == NULL ? end : stop) - line);
        rv = name_relation(source->graph, r, line == NULL ? "" : line, length, error);
        line = stop == NULL ? end : stop + 1;
    }
    free(text);
    free(path);
    return rv;
}

static int count_triples(struct npy_source *source, uint32_t relations, uint64_t num_nodes,
                         struct error *error)
{
    int rv = raw_graph_alloc_counts(source->graph, error);
    if (rv != 0)
        return rv;
    source->graph->num_nodes[0] = num_nodes;
    for (uint32_t r = 0; r < relations; r++)
        source->graph->num_edges[r] = source->begins[r + 1] - source->begins[r];
    return 0;
}

/* A line of relations.txt may name a relation that no triple has: it is none. */
static int open_triples(struct npy_source *source, const char *folder, const char *path,
                        uint64_t num_nodes, struct error *error)
{
    struct npy npy;
    enum tr_dtype dtype = TR_I64;
    uint32_t relations = 0;
    uint64_t largest = 0;
    int rv = npy_open(&npy, source->edges.files, path, error);
    if (rv != 0)
        return rv;
    if (npy.header.ndim != 2 || npy.header.shape[1] != 3)
        rv = error_set(error, TR_EFORMAT,
                       "%s: shape: rows of source, relation and destination are needed, [N, 3]",
                       path);
    if (rv == 0)
        rv = npy_dtype(&npy, false, &dtype, error);
    if (rv == 0 && (dtype < TR_I8 || dtype == TR_BOOL))
        rv = error_set(error, TR_EFORMAT, "%s: whole numbers are needed", path);
    void *rows = malloc((size_t)npy.num_rows * npy.row_bytes + 1);
    if (rv == 0 && rows == NULL)
        rv = error_set(error, TR_ENOMEM, "%s: no memory for it", path);
    if (rv == 0)
        rv = npy_read_rows(&npy, 0, npy.num_rows, rows, error);
    if (rv == 0)
        rv = measure_triples(path, dtype, rows, npy.num_rows, &relations, &largest, error);
    if (rv == 0 && sort_triples(source, dtype, rows, npy.num_rows, relations) != 0)
        rv = error_set(error, TR_ENOMEM, "%s: no memory for it", path);
    uint64_t nodes = npy.num_rows > 0 ? largest + 1 : 0;
    free(rows);
    npy_close(&npy);
    if (rv == 0)
        rv = graph_types_add_ntype(&source->graph->types, GRAPH_NTYPE_DEFAULT, error);
    if (rv == 0)
        rv = name_relations(source, folder, relations, error);
    if (rv == 0)
        rv = count_triples(source, relations, num_nodes > 0 ? num_nodes : nodes, error);
    return rv;
}

static int open_edges(struct npy_source *source, const char *folder, const char *path,
                      uint64_t num_nodes, struct error *error)
{
    int rv = series_add_pairs(&source->edges, path, error);
    if (rv == 0 && num_nodes == 0)
        rv = find_num_nodes(source, folder, &num_nodes, error);
    return rv == 0 ? raw_graph_homogeneous(source->graph, num_nodes, source->edges.num_rows, error)
                   : rv;
}

static int open_either(struct npy_source *source, const char *folder, uint64_t num_nodes,
                       struct error *error)
{
    char *edges = files_join(folder, "edges.npy"), *triples = files_join(folder, "triples.npy");
    int rv = edges == NULL || triples == NULL
                 ? error_set(error, TR_ENOMEM, "%s: no memory to open it", folder)
                 : 0;
    bool has_edges = rv == 0 && files_exists(source->edges.files, edges);
    if (rv == 0 && !has_edges && num_nodes == 0)
        rv = find_stated_nodes(source, folder, &num_nodes, error);
    if (rv == 0)
        rv = has_edges ? open_edges(source, folder, edges, num_nodes, error)
                       : open_triples(source, folder, triples, num_nodes, error);
    free(edges);
    free(triples);
    return rv;
}

static int open_folder(struct npy_source *source, const char *folder, uint64_t num_nodes,
                       struct error *error)
{
    static const char *const tables[] = { "feat", "label", "train_mask", "val_mask", "test_mask" };
    int rv = open_either(source, folder, num_nodes, error);
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
