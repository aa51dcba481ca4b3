/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DGL's chunked graph format: a folder with metadata.json, which lists node types, edge types,
 * counts and the files of edges and features, in any number of pieces.
 * https://docs.dgl.ai/guide/distributed-preprocessing.html
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "partition/raw/csv.h"
#include "partition/raw/raw_csr.h"
#include "partition/raw/raw_series.h"
#include "partition/raw/raw_source.h"
#include "runtime/base/json_field.h"

#define HEADERS_TEXT_MAX 80u

struct chunked {
    struct raw_source base;
    const char *folder; /* borrowed while opening */
    const struct raw_options *options;
    struct raw_graph *graph; /* owns this */
    struct series *edges;    /* [num_etypes] */
    struct series *tables;   /* [num_tables] */
    struct series *reading; /* the one that holds a file open: there may be more than descriptors */
};

static struct series *turn_to(struct chunked *source, struct series *series)
{
    if (source->reading != NULL && source->reading != series)
        series_rest(source->reading);
    source->reading = series;
    return series;
}

static int read_edges(struct raw_source *self, uint32_t etype, uint64_t begin, uint64_t count,
                      uint64_t *src, uint64_t *dst, struct error *error)
{
    struct chunked *source = (struct chunked *)self;
    return series_read_pairs(turn_to(source, &source->edges[etype]), begin, count, src, dst, error);
}

static int read_rows(struct raw_source *self, uint32_t table, uint64_t begin, uint64_t count,
                     void *rows, struct error *error)
{
    struct chunked *source = (struct chunked *)self;
    return series_read_rows(turn_to(source, &source->tables[table]), begin, count, rows, error);
}

static void name_edge(struct raw_source *self, uint32_t etype, uint64_t edge, char *text,
                      size_t size)
{
    struct chunked *source = (struct chunked *)self;
    series_name_row(&source->edges[etype], "edge", edge, text, size);
}

static void name_row(struct raw_source *self, uint32_t table, uint64_t row, char *text, size_t size)
{
    struct chunked *source = (struct chunked *)self;
    series_name_row(&source->tables[table], "row", row, text, size);
}

static void close_source(struct raw_source *self)
{
    struct chunked *source = (struct chunked *)self;
    for (uint32_t i = 0; source->edges != NULL && i < source->graph->types.num_etypes; i++)
        series_fini(&source->edges[i]);
    for (uint32_t i = 0; source->tables != NULL && i < source->graph->num_tables; i++)
        series_fini(&source->tables[i]);
    free(source->edges);
    free(source->tables);
    free(source);
}

static int read_types(struct chunked *source, const struct json_field *root, struct error *error)
{
    struct graph_types *types = &source->graph->types;
    struct json_field list, item;
    int rv = json_get(root, "node_type", JSON_ARRAY, &list, error);
    for (size_t i = 0; rv == 0 && i < json_array_size(list.value); i++) {
        rv = json_at(&list, i, JSON_STRING, &item, error);
        if (rv != 0)
            return rv;
        rv = graph_types_add_ntype(types, json_string_value(item.value), error);
        if (rv != 0)
            error_prefix(error, "%s", item.path);
    }
    if (rv == 0)
        rv = json_get(root, "edge_type", JSON_ARRAY, &list, error);
    for (size_t i = 0; rv == 0 && i < json_array_size(list.value); i++) {
        rv = json_at(&list, i, JSON_STRING, &item, error);
        if (rv != 0)
            return rv;
        rv = graph_types_add_etype(types, json_string_value(item.value), error);
        if (rv != 0)
            error_prefix(error, "%s", item.path);
    }
    return rv;
}

/* counts[i] from total_key[i], from the sum of chunk_key[i], or from both, which must agree. */
static int read_counts(const struct json_field *root, const char *total_key, const char *chunk_key,
                       uint32_t num_types, uint64_t *counts, struct error *error)
{
    struct json_field totals, chunks, item;
    int rv = json_get_optional(root, total_key, JSON_ARRAY, &totals, error);
    if (rv == 0 && totals.value == NULL)
        rv = json_get(root, chunk_key, JSON_ARRAY, &chunks, error);
    else if (rv == 0)
        rv = json_get_optional(root, chunk_key, JSON_ARRAY, &chunks, error);
    if (rv != 0)
        return rv;
    const struct json_field *lists[] = { &totals, &chunks };
    for (int i = 0; i < 2; i++) {
        if (lists[i]->value != NULL && json_array_size(lists[i]->value) != num_types)
            return json_fail(lists[i], error, TR_EFORMAT,
                             "%zu entries for %u types; one entry a type is needed",
                             json_array_size(lists[i]->value), num_types);
    }
    for (uint32_t i = 0; i < num_types; i++) {
        uint64_t sum = 0;
        if (chunks.value != NULL) {
            rv = json_at(&chunks, i, JSON_ARRAY, &item, error);
            if (rv == 0)
                rv = json_sum(&item, &sum, error);
            counts[i] = sum;
        }
        if (rv == 0 && totals.value != NULL) {
            rv = json_at(&totals, i, JSON_INTEGER, &item, error);
            if (rv == 0)
                rv = json_count(&item, &counts[i], error);
            if (rv == 0 && chunks.value != NULL && counts[i] != sum)
                rv = json_fail(&item, error, TR_EMISMATCH,
                               "%" PRIu64 ", but the chunks listed in %s add up to %" PRIu64,
                               counts[i], chunk_key, sum);
        }
        if (rv != 0)
            return rv;
    }
    return 0;
}

/* The contents of a files' entry. */
struct file_entry {
    struct json_field data; /* names of files */
    bool csv;
    bool sparse; /* the arrays of a table whose rows are kept sparse */
    char delimiter;
};

static int read_delimiter(const struct json_field *format, char *delimiter, struct error *error)
{
    struct json_field field;
    int rv = json_get_optional(format, "delimiter", JSON_STRING, &field, error);
    if (rv != 0 || field.value == NULL)
        return rv;
    const char *text = json_string_value(field.value);
    if (strlen(text) != 1 || (text[0] >= '0' && text[0] <= '9') || strchr("\n\r.-+", text[0]))
        return json_fail(&field, error, TR_EFORMAT,
                         "'%.8s' can't delimit numbers; use one of ' ', '\\t', ',', ';', '|'",
                         text);
    /* Blanks delimit always. */
    *delimiter = text[0] == ' ' || text[0] == '\t' ? '\0' : text[0];
    return 0;
}

static int read_format(const struct json_field *entry, struct file_entry *listed,
                       struct error *error)
{
    struct json_field format, name;
    *listed = (struct file_entry){ .csv = false };
    int rv = json_get(entry, "format", JSON_OBJECT, &format, error);
    if (rv == 0)
        rv = json_get(&format, "name", JSON_STRING, &name, error);
    if (rv == 0)
        rv = json_get(entry, "data", JSON_ARRAY, &listed->data, error);
    if (rv != 0)
        return rv;
    listed->csv = strcmp(json_string_value(name.value), "csv") == 0;
    if (listed->csv)
        return read_delimiter(&format, &listed->delimiter, error);
    listed->sparse = strcmp(json_string_value(name.value), "csr") == 0;
    if (!listed->sparse && strcmp(json_string_value(name.value), "numpy") != 0)
        return json_fail(&name, error, TR_EUNSUPPORTED,
                         "'%s' is not read; convert the files to .npy with numpy.save and say "
                         "\"numpy\"",
                         json_string_value(name.value));
    return 0;
}

static int add_csv_edges(struct chunked *source, const struct file_entry *listed, const char *path,
                         struct series *series, struct error *error)
{
    struct pairs pairs = { 0 };
    struct raw_edges_found found;
    struct raw_options options = { .files = source->options->files,
                                   .cancel = source->options->cancel,
                                   .delimiter = listed->delimiter,
                                   .remedy = RAW_REMEDY_FILE };
    int rv = raw_parse_edgelist(path, &options, &pairs, &found, error);
    source->graph->header_files += found.header_line != 0;
    raw_edges_found_fini(&found);
    if (rv == 0)
        return series_add_parsed_pairs(series, path, &pairs, error);
    pairs_fini(&pairs);
    return rv;
}

static int add_csv_rows(struct chunked *source, const struct file_entry *listed, const char *path,
                        struct series *series, struct error *error)
{
    struct npy_header header;
    void *rows;
    uint64_t header_line = 0;
    int rv = csv_parse(path, source->options->files, source->options->cancel, listed->delimiter,
                       &header, &rows, &header_line, error);
    source->graph->header_files += header_line != 0;
    return rv != 0 ? rv : series_add_parsed_rows(series, path, &header, rows, error);
}

static int add_piece(struct chunked *source, const struct file_entry *listed, const char *path,
                     bool pairs, struct series *series, struct error *error)
{
    if (listed->csv)
        return (pairs ? add_csv_edges : add_csv_rows)(source, listed, path, series, error);
    return (pairs ? series_add_pairs : series_add_rows)(series, path, error);
}

static int read_pieces(struct chunked *source, const struct file_entry *listed, bool pairs,
                       struct series *series, struct error *error)
{
    for (size_t i = 0; i < json_array_size(listed->data.value); i++) {
        struct json_field item;
        int rv = json_at(&listed->data, i, JSON_STRING, &item, error);
        if (rv != 0)
            return rv;
        char *path = files_join(source->folder, json_string_value(item.value));
        if (path == NULL)
            return error_set(error, TR_ENOMEM, "%s: no memory to read it", item.path);
        rv = add_piece(source, listed, path, pairs, series, error);
        free(path);
        if (rv != 0) {
            error_prefix(error, "%s", item.path);
            return rv;
        }
    }
    return 0;
}

/* Beside a number of rows that is wrong: a first line that begins with a letter may have been no
 * header. */
static const char *headers_text(uint64_t headers, char text[HEADERS_TEXT_MAX])
{
    text[0] = '\0';
    if (headers > 0)
        snprintf(text, HEADERS_TEXT_MAX, " (first lines skipped as headers: %" PRIu64 ")", headers);
    return text;
}

static int read_edge_files(struct chunked *source, const struct json_field *root,
                           struct error *error)
{
    struct raw_graph *graph = source->graph;
    struct json_field edges, entry;
    struct file_entry listed;
    int rv = json_get(root, "edges", JSON_OBJECT, &edges, error);
    if (rv != 0)
        return rv;
    source->edges = calloc(graph->types.num_etypes + 1, sizeof *source->edges);
    if (source->edges == NULL)
        return error_set(error, TR_ENOMEM, "%s: no memory for the edges", root->path);
    for (uint32_t i = 0; rv == 0 && i < graph->types.num_etypes; i++) {
        char name[1024], skipped[HEADERS_TEXT_MAX];
        uint64_t headers = graph->header_files;
        graph_types_canonical(&graph->types, i, name, sizeof name);
        series_init(&source->edges[i], source->options->files);
        rv = json_get(&edges, name, JSON_OBJECT, &entry, error);
        if (rv == 0)
            rv = read_format(&entry, &listed, error);
        if (rv == 0 && listed.sparse)
            rv = json_fail(&entry, error, TR_EUNSUPPORTED, "edges have no form \"csr\"");
        if (rv == 0)
            rv = read_pieces(source, &listed, true, &source->edges[i], error);
        if (rv == 0 && source->edges[i].num_rows != graph->num_edges[i])
            rv = json_fail(&listed.data, error, TR_EMISMATCH,
                           "the files hold %" PRIu64 " edges%s, the counts say %" PRIu64
                           "; correct num_edges_per_chunk or the files",
                           source->edges[i].num_rows,
                           headers_text(graph->header_files - headers, skipped),
                           graph->num_edges[i]);
    }
    if (rv == 0 && json_object_size(edges.value) != graph->types.num_etypes)
        rv = json_fail(&edges, error, TR_EFORMAT, "lists %zu edge types, edge_type lists %u",
                       json_object_size(edges.value), graph->types.num_etypes);
    return rv;
}

/* The note that a "<u2" file holds bfloat16. */
static int read_dtype(const struct json_field *entry, const struct series *series,
                      enum tr_dtype *dtype, struct error *error)
{
    struct json_field note;
    int rv = json_get_optional(entry, "dtype", JSON_STRING, &note, error);
    if (rv != 0)
        return rv;
    bool bf16 = note.value != NULL && strcmp(json_string_value(note.value), "bfloat16") == 0;
    struct npy first = { .header = series->header };
    first.file.path = series->pieces[0].path;
    return npy_dtype(&first, bf16, dtype, error);
}

/* The element type that the entry of a sparse table says: needed where it has no values. */
static int read_named_dtype(const struct json_field *entry, enum tr_dtype *dtype,
                            struct error *error)
{
    struct json_field field;
    int rv = json_get(entry, "dtype", JSON_STRING, &field, error);
    if (rv != 0)
        return rv;
#define X(name, number, text, bytes)                         \
    if (strcmp(json_string_value(field.value), text) == 0) { \
        *dtype = name;                                       \
        return 0;                                            \
    }
    TR_DTYPES(X)
#undef X
    return json_fail(&field, error, TR_EFORMAT, "'%.20s' is not an element type",
                     json_string_value(field.value));
}

static int read_csr_shape(const struct json_field *entry, uint64_t rows, uint64_t *width,
                          struct error *error)
{
    struct json_field shape, field;
    uint64_t numbers[2] = { 0 };
    int rv = json_get(entry, "shape", JSON_ARRAY, &shape, error);
    if (rv == 0 && json_array_size(shape.value) != 2)
        rv = json_fail(&shape, error, TR_EFORMAT, "%zu numbers; rows and columns are needed",
                       json_array_size(shape.value));
    for (size_t i = 0; rv == 0 && i < 2; i++) {
        rv = json_at(&shape, i, JSON_INTEGER, &field, error);
        if (rv == 0)
            rv = json_count(&field, &numbers[i], error);
    }
    if (rv == 0 && numbers[0] != rows)
        rv = json_fail(&shape, error, TR_EMISMATCH,
                       "%" PRIu64 " rows, the type has %" PRIu64 " nodes", numbers[0], rows);
    if (rv == 0 && (numbers[1] < CSR_WIDTH_MIN || numbers[1] > CSR_WIDTH_MAX))
        rv = json_fail(&shape, error, TR_EUNSUPPORTED,
                       "%" PRIu64 " columns; a sparse table has %u to %" PRIu64, numbers[1],
                       CSR_WIDTH_MIN, CSR_WIDTH_MAX);
    *width = numbers[1];
    return rv;
}

/* "data" of a sparse table: the files of its index, its columns and, unless each element is 1, its
 * values. */
static int open_csr(struct chunked *source, const struct json_field *entry,
                    const struct file_entry *listed, uint64_t rows, enum tr_dtype *dtype,
                    struct raw_csr **csr, struct error *error)
{
    char *paths[3] = { NULL };
    size_t count = json_array_size(listed->data.value);
    struct json_field item;
    int rv = count == 2 || count == 3
                 ? read_named_dtype(entry, dtype, error)
                 : json_fail(&listed->data, error, TR_EFORMAT,
                             "%zu files; a sparse table has those of indptr, indices and, unless "
                             "each element is 1, data",
                             count);
    for (size_t i = 0; rv == 0 && i < count; i++) {
        rv = json_at(&listed->data, i, JSON_STRING, &item, error);
        if (rv == 0)
            paths[i] = files_join(source->folder, json_string_value(item.value));
        if (rv == 0 && paths[i] == NULL)
            rv = error_set(error, TR_ENOMEM, "%s: no memory to read it", item.path);
    }
    if (rv == 0) {
        enum tr_dtype named = *dtype;
        rv = raw_csr_open(source->options->files, paths[0], paths[1], paths[2], named == TR_BF16,
                          rows, dtype, csr, error);
        if (rv == 0 && *dtype != named) {
            rv = json_fail(entry, error, TR_EMISMATCH, "\"dtype\" is %s, the file of values has %s",
                           tr_dtype_name(named), tr_dtype_name(*dtype));
            raw_csr_close(*csr);
        }
    }
    for (size_t i = 0; i < 3; i++)
        free(paths[i]);
    return rv;
}

static int add_csr_table(struct chunked *source, const struct json_field *entry,
                         const struct file_entry *listed, const char *name, bool on_edges,
                         uint32_t type, struct error *error)
{
    struct raw_graph *graph = source->graph;
    enum tr_dtype dtype = TR_F32;
    struct raw_csr *csr;
    uint64_t width;
    if (on_edges)
        return json_fail(entry, error, TR_EUNSUPPORTED,
                         "tables of edges are not sparse; write its rows with numpy.save");
    int rv = read_csr_shape(entry, graph->num_nodes[type], &width, error);
    if (rv == 0)
        rv = open_csr(source, entry, listed, graph->num_nodes[type], &dtype, &csr, error);
    if (rv != 0)
        return rv;
    struct series *grown = realloc(source->tables, (graph->num_tables + 1) * sizeof *grown);
    if (grown != NULL) {
        source->tables = grown;
        series_init(&grown[graph->num_tables], source->options->files);
    }
    rv = grown == NULL ? error_set(error, TR_ENOMEM, "%s: no memory", entry->path)
                       : raw_graph_add_table(graph, name, false, type, dtype, 1, &width, error);
    if (rv == 0) {
        graph->tables[graph->num_tables - 1].csr = csr;
        return 0;
    }
    error_prefix(error, "%s", entry->path);
    raw_csr_close(csr);
    return rv;
}

static int add_table(struct chunked *source, const struct json_field *entry, const char *name,
                     bool on_edges, uint32_t type, struct error *error)
{
    struct raw_graph *graph = source->graph;
    struct file_entry listed;
    struct series series;
    enum tr_dtype dtype = TR_F32;
    char skipped[HEADERS_TEXT_MAX];
    uint64_t headers = graph->header_files;
    series_init(&series, source->options->files);
    int rv = read_format(entry, &listed, error);
    if (rv == 0 && listed.sparse)
        return add_csr_table(source, entry, &listed, name, on_edges, type, error);
    if (rv == 0)
        rv = read_pieces(source, &listed, false, &series, error);
    if (rv == 0 && series.num_pieces == 0)
        rv = json_fail(&listed.data, error, TR_EFORMAT, "lists no files; list one at least");
    uint64_t rows = on_edges ? graph->num_edges[type] : graph->num_nodes[type];
    if (rv == 0 && series.num_rows != rows)
        rv = json_fail(&listed.data, error, TR_EMISMATCH,
                       "the files hold %" PRIu64 " rows%s, the type has %" PRIu64 " %s",
                       series.num_rows, headers_text(graph->header_files - headers, skipped), rows,
                       on_edges ? "edges" : "nodes");
    if (rv == 0)
        rv = read_dtype(entry, &series, &dtype, error);
    struct series *grown = NULL;
    if (rv == 0) {
        grown = realloc(source->tables, (graph->num_tables + 1) * sizeof *grown);
        if (grown == NULL)
            rv = error_set(error, TR_ENOMEM, "%s: no memory", entry->path);
    }
    if (rv == 0) {
        source->tables = grown;
        grown[graph->num_tables] = series;
        rv = raw_graph_add_table(graph, name, on_edges, type, dtype, series.header.ndim - 1,
                                 series.header.shape + 1, error);
        if (rv != 0)
            error_prefix(error, "%s", entry->path);
    }
    if (rv != 0)
        series_fini(&series);
    return rv;
}

/* node_data or edge_data: type name → feature name → files. */
static int read_tables(struct chunked *source, const struct json_field *root, bool on_edges,
                       struct error *error)
{
    struct json_field all, of_type, entry;
    const struct graph_types *types = &source->graph->types;
    int rv = json_get_optional(root, on_edges ? "edge_data" : "node_data", JSON_OBJECT, &all,
                               error);
    if (rv != 0 || all.value == NULL)
        return rv;
    for (void *i = json_object_iter(all.value); i != NULL;
         i = json_object_iter_next(all.value, i)) {
        const char *name = json_object_iter_key(i);
        rv = json_iterate(&all, i, JSON_OBJECT, &of_type, error);
        if (rv != 0)
            return rv;
        int type = on_edges ? graph_types_find_etype(types, name)
                            : graph_types_find_ntype(types, name);
        if (type < 0)
            return json_fail(&of_type, error, TR_EFORMAT, "no such %s type; it must be in %s",
                             on_edges ? "edge" : "node", on_edges ? "edge_type" : "node_type");
        for (void *j = json_object_iter(of_type.value); j != NULL;
             j = json_object_iter_next(of_type.value, j)) {
            rv = json_iterate(&of_type, j, JSON_OBJECT, &entry, error);
            if (rv == 0)
                rv = add_table(source, &entry, json_object_iter_key(j), on_edges, (uint32_t)type,
                               error);
            if (rv != 0)
                return rv;
        }
    }
    return 0;
}

/* A list whose table is there and as wide as it has columns; another one was of a table that is not
 * there any more. */
static bool names_belong(const struct raw_graph *graph, const struct raw_names *names)
{
    const struct names_key *key = &names->key;
    if (key->of == NAMES_NODES)
        return names->count == graph->num_nodes[key->ntype];
    int table = raw_find_table(graph, false, key->ntype, key->table);
    return table >= 0 && (key->of != NAMES_COLUMNS || graph->tables[table].width == names->count);
}

static int read_names_key(const struct raw_graph *graph, const struct json_field *entry,
                          struct names_key *key, struct error *error)
{
    struct json_field of, type;
    int rv = json_get(entry, "of", JSON_STRING, &of, error);
    if (rv == 0 && !names_of_find(json_string_value(of.value), &key->of))
        return json_fail(&of, error, TR_EFORMAT, "'%.20s' is not nodes, values or columns",
                         json_string_value(of.value));
    if (rv == 0)
        rv = json_get(entry, "node_type", JSON_STRING, &type, error);
    if (rv != 0)
        return rv;
    int ntype = graph_types_find_ntype(&graph->types, json_string_value(type.value));
    if (ntype < 0)
        return json_fail(&type, error, TR_EFORMAT, "no such node type; it must be in node_type");
    key->ntype = (uint32_t)ntype;
    rv = json_take_text(entry, "table", &key->table, error);
    if (rv == 0 && (key->of == NAMES_NODES) != (key->table == NULL))
        rv = json_fail(entry, error, TR_EFORMAT, "\"table\" says whose values or columns they are");
    return rv;
}

static int add_names(struct chunked *source, const struct json_field *entry, struct error *error)
{
    struct raw_graph *graph = source->graph;
    struct json_field count, data;
    struct raw_names *grown = realloc(graph->names, (graph->num_names + 1) * sizeof *grown);
    if (grown == NULL)
        return error_set(error, TR_ENOMEM, "%s: no memory", entry->path);
    graph->names = grown;
    struct raw_names *names = &grown[graph->num_names];
    *names = (struct raw_names){ .files = source->options->files };
    int rv = read_names_key(graph, entry, &names->key, error);
    if (rv == 0)
        rv = json_get(entry, "count", JSON_INTEGER, &count, error);
    if (rv == 0)
        rv = json_count(&count, &names->count, error);
    if (rv == 0)
        rv = json_get(entry, "data", JSON_STRING, &data, error);
    if (rv == 0) {
        names->stem = files_join(source->folder, json_string_value(data.value));
        if (names->stem == NULL)
            rv = error_set(error, TR_ENOMEM, "%s: no memory", entry->path);
    }
    if (rv == 0 && names_belong(graph, names)) {
        graph->num_names++;
        return 0;
    }
    free(names->key.table);
    free(names->stem);
    return rv;
}

/* Names that stand for numbers; graphs of other programs have none. */
static int read_names(struct chunked *source, const struct json_field *root, struct error *error)
{
    struct json_field list, entry;
    int rv = json_get_optional(root, "names", JSON_ARRAY, &list, error);
    for (size_t i = 0; rv == 0 && list.value != NULL && i < json_array_size(list.value); i++) {
        rv = json_at(&list, i, JSON_OBJECT, &entry, error);
        if (rv == 0)
            rv = add_names(source, &entry, error);
    }
    return rv;
}

/* Where nodes are counted from 0, nothing says so. */
static int read_first_id(struct chunked *source, const struct json_field *root, struct error *error)
{
    struct json_field field;
    int rv = json_get_optional(root, "first_id", JSON_INTEGER, &field, error);
    if (rv != 0 || field.value == NULL)
        return rv;
    json_int_t first = json_integer_value(field.value);
    if (first < 0 || (uint64_t)first >= RAW_NODES_MAX)
        return json_fail(&field, error, TR_ERANGE, "must be from 0 to %" PRIu64, RAW_NODES_MAX - 1);
    source->graph->first_id = (uint64_t)first;
    return 0;
}

static int read_metadata(struct chunked *source, const struct json_field *root, struct error *error)
{
    struct raw_graph *graph = source->graph;
    /* Types give the number of counts, and counts what each file must hold. */
    int rv = read_types(source, root, error);
    if (rv == 0)
        rv = raw_graph_alloc_counts(graph, error);
    if (rv == 0)
        rv = read_counts(root, "num_nodes_per_type", "num_nodes_per_chunk", graph->types.num_ntypes,
                         graph->num_nodes, error);
    if (rv == 0)
        rv = read_counts(root, "num_edges_per_type", "num_edges_per_chunk", graph->types.num_etypes,
                         graph->num_edges, error);
    if (rv == 0)
        rv = read_edge_files(source, root, error);
    if (rv == 0)
        rv = read_tables(source, root, false, error);
    if (rv == 0)
        rv = read_tables(source, root, true, error);
    if (rv == 0)
        rv = read_names(source, root, error);
    if (rv == 0)
        rv = read_first_id(source, root, error);
    return rv;
}

static int new_graph(const char *folder, const struct raw_options *options,
                     const struct json_field *root, struct raw_graph **out, struct error *error)
{
    struct json_field name;
    int rv = json_get(root, "graph_name", JSON_STRING, &name, error);
    if (rv != 0)
        return rv;
    rv = raw_check_name(json_string_value(name.value), error);
    if (rv != 0) {
        error_prefix(error, "%s", name.path);
        return rv;
    }
    struct raw_graph *graph = raw_graph_new(json_string_value(name.value));
    struct chunked *source = calloc(1, sizeof *source);
    if (graph == NULL || source == NULL) {
        raw_close(graph);
        free(source);
        return error_set(error, TR_ENOMEM, "%s: no memory to open it", folder);
    }
    source->base = (struct raw_source){ read_edges, read_rows, name_edge, name_row, close_source };
    source->folder = folder;
    source->options = options;
    source->graph = graph;
    graph->source = &source->base;
    rv = read_metadata(source, root, error);
    if (rv != 0) {
        raw_close(graph);
        return rv;
    }
    source->folder = NULL;
    source->options = NULL;
    *out = graph;
    return 0;
}

int raw_open_chunked(const char *path, const struct raw_options *options, struct raw_graph **out,
                     struct error *error)
{
    json_t *document = NULL;
    struct json_field root;
    char *metadata = files_join(path, "metadata.json");
    if (metadata == NULL)
        return error_set(error, TR_ENOMEM, "%s: no memory to open it", path);
    int rv = json_load_document(options->files, metadata, &document, &root, error);
    free(metadata);
    if (rv == 0)
        rv = new_graph(path, options, &root, out, error);
    if (document != NULL)
        json_decref(document);
    return rv;
}
