/* SPDX-License-Identifier: Apache-2.0 */
#include "partition/raw/raw_write.h"

#include <assert.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/csr.h"
#include "partition/raw/raw_source.h"
#include "partition/store/name_list.h"
#include "partition/store/replace.h"
#include "runtime/base/atomic_dir.h"
#include "runtime/base/json_text.h"

/* Edges converted at a time. */
#define PAIRS_AT_ONCE 4096
/* That the disk is given at once: a fraction of a second. */
#define SYNC_BYTES ((uint64_t)32 << 20)
#define FILE_NAME_MAX_BYTES 1200

struct out_file {
    char *file_name; /* below the folder */
    struct npy_writer npy;
    uint64_t num_rows;
    uint64_t sync_begun; /* bytes that the disk was given to write */
    bool finished;       /* and closed */
};

struct out_table {
    struct out_file file; /* of a sparse table, its values; num_rows is the table's */
    bool sparse;
    bool has_values;
    uint64_t width; /* of a sparse table */
    uint64_t nnz;
    struct out_file index, columns; /* of a sparse table */
    char *name;
    bool on_edges;
    uint32_t type;
    enum tr_dtype dtype;
};

struct out_names {
    struct name_list_writer list;
    char *stem; /* below the folder */
    enum names_of of;
    uint32_t ntype;
    char *table; /* NULL of nodes */
};

struct raw_writer {
    struct files *files;
    const struct cancel *cancel;
    void (*progress)(void *arg, const char *what, uint64_t done, uint64_t total);
    void *progress_arg;
    uint64_t edges_done, bytes_done, bytes_total; /* for progress */
    struct atomic_dir dir;
    char *name;
    struct graph_types types;
    uint64_t *num_nodes;
    uint64_t first_id;
    struct out_file *edges; /* [types.num_etypes] */
    bool *wide;             /* [types.num_etypes] int64 */
    uint32_t num_tables;
    struct out_table *tables;
    uint32_t num_names;
    struct out_names *names;
};

static int open_out(struct raw_writer *writer, struct out_file *file, const char *file_name,
                    const char *descr, uint32_t ndim, const uint64_t *shape, struct error *error)
{
    file->file_name = strdup(file_name);
    char *path = files_join(writer->dir.path, file_name);
    int rv = file->file_name == NULL || path == NULL
                 ? error_set(error, TR_ENOMEM, "%s: no memory to write it", file_name)
                 : npy_create(&file->npy, writer->files, path, descr, ndim, shape, error);
    free(path);
    return rv;
}

static int open_edges(struct raw_writer *writer, struct error *error)
{
    const uint64_t shape[] = { NPY_ROWS_UNKNOWN, 2 };
    for (uint32_t i = 0; i < writer->types.num_etypes; i++) {
        char file_name[FILE_NAME_MAX_BYTES] = "edges/";
        int length = graph_types_canonical(&writer->types, i, file_name + 6, 1024);
        if (length >= 240)
            return error_set(error, TR_EINVAL,
                             "edge type '%.80s...' is too long to name a file; shorten it",
                             file_name + 6);
        strcat(file_name, ".npy");
        const struct graph_etype *type = &writer->types.etypes[i];
        writer->wide[i] = writer->num_nodes[type->src] > (uint64_t)INT32_MAX + 1 ||
                          writer->num_nodes[type->dst] > (uint64_t)INT32_MAX + 1;
        int rv = open_out(writer, &writer->edges[i], file_name, writer->wide[i] ? "<i8" : "<i4", 2,
                          shape, error);
        if (rv != 0)
            return rv;
    }
    return 0;
}

static int make_folder(struct raw_writer *writer, const char *name, struct error *error)
{
    char *path = files_join(writer->dir.path, name);
    if (path == NULL)
        return error_set(error, TR_ENOMEM, "%s: no memory to make it", name);
    int rv = files_make_folders(writer->files, path, error);
    free(path);
    return rv;
}

static int raw_write_begin(struct raw_writer *writer, const char *path, bool replace,
                           const char *name, const struct graph_types *types,
                           const uint64_t *num_nodes, struct error *error)
{
    int rv = raw_check_name(name, error);
    if (rv == 0)
        rv = graph_types_copy(&writer->types, types);
    if (rv != 0)
        return rv;
    writer->name = strdup(name);
    writer->num_nodes = calloc(types->num_ntypes + 1, sizeof *writer->num_nodes);
    writer->edges = calloc(types->num_etypes + 1, sizeof *writer->edges);
    writer->wide = calloc(types->num_etypes + 1, sizeof *writer->wide);
    if (writer->name == NULL || writer->num_nodes == NULL || writer->edges == NULL ||
        writer->wide == NULL)
        return error_set(error, TR_ENOMEM, "%s: no memory to write it", path);
    memcpy(writer->num_nodes, num_nodes, types->num_ntypes * sizeof *num_nodes);
    /* The place is checked before a folder is made beside it, and both before any file. */
    if (replace)
        rv = replace_check(writer->files, path, "metadata.json", "a raw graph", error);
    if (rv == 0)
        rv = atomic_dir_begin(&writer->dir, writer->files, path, replace, error);
    if (rv == 0)
        rv = make_folder(writer, "edges", error);
    if (rv == 0)
        rv = open_edges(writer, error);
    return rv;
}

int raw_writer_open(const char *path, const struct raw_write_options *options, const char *name,
                    const struct graph_types *types, const uint64_t *num_nodes,
                    struct raw_writer **out, struct error *error)
{
    static const struct raw_write_options none;
    if (options == NULL)
        options = &none;
    struct raw_writer *writer = calloc(1, sizeof *writer);
    if (writer == NULL)
        return error_set(error, TR_ENOMEM, "%s: no memory to write it", path);
    writer->files = options->files != NULL ? options->files : files_posix;
    writer->cancel = options->cancel;
    writer->progress = options->progress;
    writer->progress_arg = options->progress_arg;
    int rv = raw_write_begin(writer, path, options->replace, name, types, num_nodes, error);
    if (rv != 0) {
        raw_writer_abort(writer);
        return rv;
    }
    *out = writer;
    return 0;
}

static int check_cancel(const struct raw_writer *writer, struct error *error)
{
    if (!cancel_asked(writer->cancel))
        return 0;
    return error_set(error, TR_ECANCELED, "%s: interrupted; nothing was written",
                     writer->dir.final_path);
}

static int check_pair(const struct raw_writer *writer, uint32_t etype, uint64_t src, uint64_t dst,
                      struct error *error)
{
    const struct graph_etype *type = &writer->types.etypes[etype];
    if (src < writer->num_nodes[type->src] && dst < writer->num_nodes[type->dst])
        return 0;
    return error_set(error, TR_ERANGE, "edge %" PRIu64 " -> %" PRIu64 " of '%s' has no such node",
                     src, dst, type->name);
}

/* The disk writes one piece while the next one is made, so that the sync at the end waits for
 * little. */
static void edges_written(struct raw_writer *writer, struct out_file *file, uint64_t count)
{
    file->num_rows += count;
    if (file->npy.file.size - file->sync_begun >= SYNC_BYTES) {
        file_start_sync(&file->npy.file);
        file->sync_begun = file->npy.file.size;
    }
    writer->edges_done += count;
    if (writer->progress != NULL)
        writer->progress(writer->progress_arg, "edges", writer->edges_done, 0);
}

int raw_writer_edges(struct raw_writer *writer, uint32_t etype, uint64_t count, const uint64_t *src,
                     const uint64_t *dst, struct error *error)
{
    union {
        int32_t narrow[2 * PAIRS_AT_ONCE];
        int64_t wide[2 * PAIRS_AT_ONCE];
    } pairs;
    struct out_file *file = &writer->edges[etype];
    bool wide = writer->wide[etype];
    int rv = check_cancel(writer, error);
    for (uint64_t done = 0; rv == 0 && done < count;) {
        uint64_t some = count - done < PAIRS_AT_ONCE ? count - done : PAIRS_AT_ONCE;
        for (uint64_t i = 0; i < some; i++) {
            uint64_t s = src[done + i], d = dst[done + i];
            rv = check_pair(writer, etype, s, d, error);
            if (rv != 0)
                return rv;
            if (wide) {
                pairs.wide[2 * i] = (int64_t)s;
                pairs.wide[2 * i + 1] = (int64_t)d;
            } else {
                pairs.narrow[2 * i] = (int32_t)s;
                pairs.narrow[2 * i + 1] = (int32_t)d;
            }
        }
        rv = npy_append(&file->npy, &pairs, (size_t)(some * 2 * (wide ? 8 : 4)), error);
        done += some;
    }
    edges_written(writer, file, count);
    return rv;
}

int raw_writer_narrow(struct raw_writer *writer, uint32_t etype, uint64_t count,
                      const uint32_t *pairs, struct error *error)
{
    struct out_file *file = &writer->edges[etype];
    assert(!writer->wide[etype]);
    int rv = check_cancel(writer, error);
    if (rv == 0)
        rv = npy_append(&file->npy, pairs, (size_t)count * 2 * sizeof *pairs, error);
    edges_written(writer, file, count);
    return rv;
}

void raw_writer_count_nodes(struct raw_writer *writer, uint32_t ntype, uint64_t num_nodes)
{
    assert(num_nodes <= writer->num_nodes[ntype] && writer->num_tables == 0 &&
           writer->num_names == 0);
    writer->num_nodes[ntype] = num_nodes;
}

void raw_writer_set_first_id(struct raw_writer *writer, uint64_t first_id)
{
    writer->first_id = first_id;
}

static bool has_table(const struct raw_writer *writer, bool on_edges, uint32_t type,
                      const char *name)
{
    for (uint32_t i = 0; i < writer->num_tables; i++) {
        const struct out_table *table = &writer->tables[i];
        if (table->on_edges == on_edges && table->type == type && strcmp(table->name, name) == 0)
            return true;
    }
    return false;
}

static int name_table(struct raw_writer *writer, bool on_edges, uint32_t type, const char *name,
                      char *folder, char *file_name, struct error *error)
{
    char of[1024];
    if (on_edges)
        graph_types_canonical(&writer->types, type, of, sizeof of);
    else
        snprintf(of, sizeof of, "%s", writer->types.ntypes[type]);
    snprintf(folder, FILE_NAME_MAX_BYTES, "%s/%.900s", on_edges ? "edge_data" : "node_data", of);
    int length = snprintf(file_name, FILE_NAME_MAX_BYTES, "%.940s/%s.npy", folder, name);
    if (length >= FILE_NAME_MAX_BYTES)
        return error_set(error, TR_EINVAL, "feature '%s' of '%s' has too long a name", name, of);
    if (has_table(writer, on_edges, type, name))
        return error_set(error, TR_EEXIST,
                         "feature '%s' of '%s' would be written twice; leave one of them out", name,
                         of);
    return 0;
}

int raw_writer_add_table(struct raw_writer *writer, const char *name, bool on_edges, uint32_t type,
                         enum tr_dtype dtype, uint32_t ndim, const uint64_t *shape, uint32_t *table,
                         struct error *error)
{
    char folder[FILE_NAME_MAX_BYTES], file_name[FILE_NAME_MAX_BYTES];
    assert(ndim <= RAW_NDIM_MAX);
    int rv = raw_check_name(name, error);
    if (rv == 0)
        rv = name_table(writer, on_edges, type, name, folder, file_name, error);
    if (rv == 0)
        rv = make_folder(writer, folder, error);
    if (rv != 0)
        return rv;
    struct out_table *grown = realloc(writer->tables,
                                      (writer->num_tables + 1) * sizeof *writer->tables);
    if (grown == NULL)
        return error_set(error, TR_ENOMEM, "no memory for feature '%s'", name);
    writer->tables = grown;
    struct out_table *added = &grown[writer->num_tables];
    *added = (struct out_table){ .on_edges = on_edges, .type = type, .dtype = dtype };
    /* The table counts before it is whole: raw_writer_abort() closes and frees what there is of
     * it. */
    *table = writer->num_tables++;
    added->name = strdup(name);
    if (added->name == NULL)
        return error_set(error, TR_ENOMEM, "no memory for feature '%s'", name);
    uint64_t full[NPY_NDIM_MAX];
    /* Any number of rows without elements fits a file: it must be said now. */
    full[0] = NPY_ROWS_UNKNOWN;
    for (uint32_t i = 0; i < ndim; i++) {
        full[i + 1] = shape[i];
        if (shape[i] == 0)
            full[0] = on_edges ? writer->edges[type].num_rows : writer->num_nodes[type];
    }
    int opened = open_out(writer, &added->file, file_name, npy_descr(dtype), ndim + 1, full, error);
    /* Only shown to people: a product that wraps would do no harm. */
    writer->bytes_total += added->file.npy.row_bytes *
                           (on_edges ? writer->edges[type].num_rows : writer->num_nodes[type]);
    return opened;
}

/* The files of a sparse table lie where that of a dense one would: NAME.indptr.npy,
 * NAME.indices.npy and NAME.data.npy. */
static int open_csr_files(struct raw_writer *writer, struct out_table *table, const char *stem,
                          struct error *error)
{
    char file_name[FILE_NAME_MAX_BYTES + 16];
    uint64_t rows = writer->num_nodes[table->type] + 1;
    const uint64_t unknown = NPY_ROWS_UNKNOWN;
    snprintf(file_name, sizeof file_name, "%s.indptr.npy", stem);
    int rv = open_out(writer, &table->index, file_name, "<i8", 1, &rows, error);
    if (rv == 0)
        rv = npy_append(&table->index.npy, &table->nnz, sizeof table->nnz, error);
    snprintf(file_name, sizeof file_name, "%s.indices.npy", stem);
    if (rv == 0)
        rv = open_out(writer, &table->columns, file_name, "<i4", 1, &unknown, error);
    snprintf(file_name, sizeof file_name, "%s.data.npy", stem);
    if (rv == 0 && table->has_values)
        rv = open_out(writer, &table->file, file_name, npy_descr(table->dtype), 1, &unknown, error);
    return rv;
}

int raw_writer_add_csr(struct raw_writer *writer, const char *name, uint32_t ntype,
                       enum tr_dtype dtype, uint64_t width, bool has_values, uint32_t *table,
                       struct error *error)
{
    char folder[FILE_NAME_MAX_BYTES], file_name[FILE_NAME_MAX_BYTES];
    int rv = raw_check_name(name, error);
    if (rv == 0 && (width < CSR_WIDTH_MIN || width > CSR_WIDTH_MAX))
        rv = error_set(error, TR_EUNSUPPORTED,
                       "feature '%s': %" PRIu64 " columns; a sparse table has %u to %" PRIu64, name,
                       width, CSR_WIDTH_MIN, CSR_WIDTH_MAX);
    if (rv == 0)
        rv = name_table(writer, false, ntype, name, folder, file_name, error);
    if (rv == 0)
        rv = make_folder(writer, folder, error);
    if (rv != 0)
        return rv;
    struct out_table *grown = realloc(writer->tables,
                                      (writer->num_tables + 1) * sizeof *writer->tables);
    if (grown == NULL)
        return error_set(error, TR_ENOMEM, "no memory for feature '%s'", name);
    writer->tables = grown;
    struct out_table *added = &grown[writer->num_tables];
    *added = (struct out_table){
        .type = ntype, .dtype = dtype, .sparse = true, .has_values = has_values, .width = width
    };
    *table = writer->num_tables++;
    added->name = strdup(name);
    if (added->name == NULL)
        return error_set(error, TR_ENOMEM, "no memory for feature '%s'", name);
    file_name[strlen(file_name) - strlen(".npy")] = '\0';
    return open_csr_files(writer, added, file_name, error);
}

static int check_csr_row(const struct out_table *table, uint64_t row, const uint32_t *columns,
                         uint64_t count, struct error *error)
{
    uint64_t next = 0;
    for (uint64_t i = 0; i < count; i++) {
        if (columns[i] < next || columns[i] >= table->width)
            return error_set(error, TR_EFORMAT,
                             "feature '%s': column %" PRIu32 " of row %" PRIu64
                             " is not above the one before, or not below %" PRIu64,
                             table->name, columns[i], row, table->width);
        next = columns[i] + (uint64_t)1;
    }
    return 0;
}

int raw_writer_csr_rows(struct raw_writer *writer, uint32_t table, uint64_t count,
                        const uint64_t *index, const uint32_t *columns, const void *values,
                        struct error *error)
{
    struct out_table *to = &writer->tables[table];
    uint64_t elements = index[count] - index[0];
    int rv = check_cancel(writer, error);
    if (rv == 0 && count > writer->num_nodes[to->type] - to->file.num_rows)
        rv = error_set(error, TR_EMISMATCH, "feature '%s': more rows than the type has nodes",
                       to->name);
    for (uint64_t i = 0; rv == 0 && i < count; i++) {
        uint64_t end = to->nnz + (index[i + 1] - index[0]);
        rv = check_csr_row(to, to->file.num_rows + i, columns + (index[i] - index[0]),
                           index[i + 1] - index[i], error);
        if (rv == 0)
            rv = npy_append(&to->index.npy, &end, sizeof end, error);
    }
    if (rv == 0)
        rv = npy_append(&to->columns.npy, columns, (size_t)elements * sizeof *columns, error);
    if (rv == 0 && to->has_values)
        rv = npy_append(&to->file.npy, values, (size_t)elements * tr_dtype_size(to->dtype), error);
    to->nnz += elements;
    to->file.num_rows += count;
    writer->bytes_done += elements * sizeof *columns;
    writer->bytes_total += elements * sizeof *columns;
    if (writer->progress != NULL)
        writer->progress(writer->progress_arg, "features", writer->bytes_done, writer->bytes_total);
    return rv;
}

static int finish_file(struct out_file *file, struct error *error)
{
    if (file->finished)
        return 0;
    int rv = npy_finish(&file->npy, error);
    if (rv != 0)
        return rv;
    npy_writer_close(&file->npy);
    file->finished = true;
    return 0;
}

int raw_writer_rows(struct raw_writer *writer, uint32_t table, uint64_t count, const void *rows,
                    struct error *error)
{
    struct out_file *file = &writer->tables[table].file;
    int rv = check_cancel(writer, error);
    if (rv == 0 && file->finished && count > 0)
        rv = error_set(error, TR_EMISMATCH, "feature '%s': more rows than the type has nodes",
                       writer->tables[table].name);
    if (rv == 0 && !file->finished)
        rv = npy_append(&file->npy, rows, (size_t)(count * file->npy.row_bytes), error);
    file->num_rows += count;
    writer->bytes_done += count * file->npy.row_bytes;
    if (writer->progress != NULL)
        writer->progress(writer->progress_arg, "features", writer->bytes_done, writer->bytes_total);
    /* A node table that is whole gives back its buffer and descriptor at once. */
    const struct out_table *of = &writer->tables[table];
    if (rv == 0 && !of->on_edges && !file->finished &&
        file->num_rows == writer->num_nodes[of->type])
        rv = finish_file(file, error);
    return rv;
}

/* "names/TYPE/nodes", "names/TYPE/values~TABLE", "names/TYPE/columns~TABLE" */
static int name_list_stem(const struct raw_writer *writer, const struct out_names *names,
                          char stem[FILE_NAME_MAX_BYTES], struct error *error)
{
    int length = snprintf(stem, FILE_NAME_MAX_BYTES, "names/%.940s/%s%s%s",
                          writer->types.ntypes[names->ntype], names_of_word(names->of),
                          names->table != NULL ? "~" : "",
                          names->table != NULL ? names->table : "");
    if (length >= FILE_NAME_MAX_BYTES)
        return error_set(error, TR_EINVAL, "names of '%.40s': too long a name", names->table);
    return 0;
}

static int open_names(struct raw_writer *writer, struct out_names *names, struct error *error)
{
    char stem[FILE_NAME_MAX_BYTES], folder[FILE_NAME_MAX_BYTES];
    int rv = name_list_stem(writer, names, stem, error);
    if (rv != 0)
        return rv;
    snprintf(folder, sizeof folder, "names/%.940s", writer->types.ntypes[names->ntype]);
    rv = make_folder(writer, folder, error);
    names->stem = strdup(stem);
    char *path = files_join(writer->dir.path, stem);
    if (rv == 0)
        rv = names->stem == NULL || path == NULL
                 ? error_set(error, TR_ENOMEM, "%s: no memory to write it", stem)
                 : name_list_create(&names->list, writer->files, path, error);
    free(path);
    return rv;
}

int raw_writer_add_names(struct raw_writer *writer, enum names_of of, uint32_t ntype,
                         const char *table, uint32_t *list, struct error *error)
{
    int rv = table != NULL ? raw_check_name(table, error) : 0;
    if (rv != 0)
        return rv;
    struct out_names *grown = realloc(writer->names,
                                      (writer->num_names + 1) * sizeof *writer->names);
    if (grown == NULL)
        return error_set(error, TR_ENOMEM, "no memory for names");
    writer->names = grown;
    struct out_names *names = &grown[writer->num_names];
    *names = (struct out_names){ .of = of, .ntype = ntype };
    /* It counts before it is whole: raw_writer_abort() closes and frees what there is of it. */
    *list = writer->num_names++;
    names->table = table != NULL ? strdup(table) : NULL;
    if (table != NULL && names->table == NULL)
        return error_set(error, TR_ENOMEM, "no memory for names");
    return open_names(writer, names, error);
}

int raw_writer_name(struct raw_writer *writer, uint32_t list, const char *name, size_t length,
                    struct error *error)
{
    /* Asked now and then: a name is written in nanoseconds. */
    int rv = (writer->names[list].list.count & 4095) == 0 ? check_cancel(writer, error) : 0;
    return rv == 0 ? name_list_add(&writer->names[list].list, name, length, error) : rv;
}

int raw_writer_text(struct raw_writer *writer, const char *file_name, const char *text, size_t size,
                    struct error *error)
{
    struct file file;
    char *path = files_join(writer->dir.path, file_name);
    if (path == NULL)
        return error_set(error, TR_ENOMEM, "%s: no memory to write it", file_name);
    int rv = file_create(&file, writer->files, path, error);
    if (rv == 0)
        rv = file_append(&file, text, size, error);
    file_close(&file);
    free(path);
    return rv;
}

static int finish_files(struct raw_writer *writer, struct error *error)
{
    int rv = 0;
    for (uint32_t i = 0; rv == 0 && i < writer->types.num_etypes; i++)
        rv = finish_file(&writer->edges[i], error);
    for (uint32_t i = 0; rv == 0 && i < writer->num_tables; i++) {
        struct out_table *table = &writer->tables[i];
        uint64_t rows = table->on_edges ? writer->edges[table->type].num_rows
                                        : writer->num_nodes[table->type];
        if (table->file.num_rows != rows)
            rv = error_set(error, TR_EMISMATCH,
                           "feature '%s': %" PRIu64 " rows were written for %" PRIu64 " %s",
                           table->name, table->file.num_rows, rows,
                           table->on_edges ? "edges" : "nodes");
        /* The row count of an edge table without elements is known only now. */
        if (rv == 0 && !table->sparse && !table->file.finished && table->file.npy.row_bytes == 0)
            table->file.npy.shape[0] = rows;
        if (rv == 0 && table->sparse)
            rv = finish_file(&table->index, error);
        if (rv == 0 && table->sparse)
            rv = finish_file(&table->columns, error);
        if (rv == 0 && (!table->sparse || table->has_values))
            rv = finish_file(&table->file, error);
    }
    for (uint32_t i = 0; rv == 0 && i < writer->num_names; i++) {
        const struct out_names *names = &writer->names[i];
        if (names->of == NAMES_NODES && names->list.count != writer->num_nodes[names->ntype])
            rv = error_set(error, TR_EMISMATCH, "%" PRIu64 " names for %" PRIu64 " nodes",
                           names->list.count, writer->num_nodes[names->ntype]);
        if (rv == 0)
            rv = name_list_finish(&writer->names[i].list, error);
    }
    return rv;
}

/* {"format": {"name": "numpy"}, "data": [file]} */
static json_t *describe_file(const struct out_file *file)
{
    return json_pack("{s:{s:s}, s:[s]}", "format", "name", "numpy", "data", file->file_name);
}

/* The files of a sparse table, with what they do not say: its shape, and the type of ones. */
static json_t *describe_csr(const struct raw_writer *writer, const struct out_table *table)
{
    json_t *data = json_pack("[s,s]", table->index.file_name, table->columns.file_name);
    if (data != NULL && table->has_values &&
        json_array_append_new(data, json_string(table->file.file_name)) != 0) {
        json_decref(data);
        return NULL;
    }
    return json_pack("{s:{s:s},s:s,s:[I,I],s:o}", "format", "name", "csr", "dtype",
                     tr_dtype_name(table->dtype), "shape",
                     (json_int_t)writer->num_nodes[table->type], (json_int_t)table->width, "data",
                     data);
}

static int describe_tables(const struct raw_writer *writer, bool on_edges, json_t *all)
{
    for (uint32_t i = 0; i < writer->num_tables; i++) {
        const struct out_table *table = &writer->tables[i];
        if (table->on_edges != on_edges)
            continue;
        char type[1024];
        if (on_edges)
            graph_types_canonical(&writer->types, table->type, type, sizeof type);
        else
            snprintf(type, sizeof type, "%s", writer->types.ntypes[table->type]);
        json_t *of_type = json_object_get(all, type);
        if (of_type == NULL && json_object_set_new(all, type, of_type = json_object()) != 0)
            return -1;
        json_t *entry = table->sparse ? describe_csr(writer, table) : describe_file(&table->file);
        if (!table->sparse && table->dtype == TR_BF16 &&
            json_object_set_new(entry, "dtype", json_string("bfloat16")) != 0) {
            json_decref(entry);
            return -1;
        }
        if (json_object_set_new(of_type, table->name, entry) != 0)
            return -1;
    }
    return 0;
}

static int describe_counts(const struct raw_writer *writer, json_t *root)
{
    static const char *const keys[] = { "node_type", "num_nodes_per_type", "num_nodes_per_chunk",
                                        "edge_type", "num_edges_per_type", "num_edges_per_chunk" };
    json_t *lists[6];
    int rv = 0;
    for (int i = 0; i < 6; i++) {
        lists[i] = json_array();
        rv |= json_object_set_new(root, keys[i], lists[i]);
    }
    for (uint32_t i = 0; rv == 0 && i < writer->types.num_ntypes; i++) {
        json_int_t count = (json_int_t)writer->num_nodes[i];
        rv |= json_array_append_new(lists[0], json_string(writer->types.ntypes[i]));
        rv |= json_array_append_new(lists[1], json_integer(count));
        rv |= json_array_append_new(lists[2], json_pack("[I]", count));
    }
    for (uint32_t i = 0; rv == 0 && i < writer->types.num_etypes; i++) {
        json_int_t count = (json_int_t)writer->edges[i].num_rows;
        char name[1024];
        graph_types_canonical(&writer->types, i, name, sizeof name);
        rv |= json_array_append_new(lists[3], json_string(name));
        rv |= json_array_append_new(lists[4], json_integer(count));
        rv |= json_array_append_new(lists[5], json_pack("[I]", count));
    }
    return rv;
}

/* [{"of": "nodes", "node_type": ..., "count": ..., "data": the files' stem}, ...] */
static int describe_names(const struct raw_writer *writer, json_t *root)
{
    json_t *list = json_array();
    int rv = json_object_set_new(root, "names", list);
    for (uint32_t i = 0; rv == 0 && i < writer->num_names; i++) {
        const struct out_names *names = &writer->names[i];
        json_t *entry = json_pack("{s:s,s:s,s:I,s:s}", "of", names_of_word(names->of), "node_type",
                                  writer->types.ntypes[names->ntype], "count",
                                  (json_int_t)names->list.count, "data", names->stem);
        if (entry != NULL && names->table != NULL)
            rv |= json_object_set_new(entry, "table", json_string(names->table));
        rv |= json_array_append_new(list, entry);
    }
    return rv;
}

static json_t *raw_write_describe(const struct raw_writer *writer)
{
    json_t *root = json_object(), *edges = json_object();
    json_t *node_data = json_object(), *edge_data = json_object();
    int rv = json_object_set_new(root, "graph_name", json_string(writer->name));
    rv |= describe_counts(writer, root);
    if (writer->first_id > 0)
        rv |= json_object_set_new(root, "first_id", json_integer((json_int_t)writer->first_id));
    for (uint32_t i = 0; i < writer->types.num_etypes; i++) {
        char name[1024];
        graph_types_canonical(&writer->types, i, name, sizeof name);
        rv |= json_object_set_new(edges, name, describe_file(&writer->edges[i]));
    }
    rv |= describe_tables(writer, false, node_data);
    rv |= describe_tables(writer, true, edge_data);
    if (writer->num_names > 0)
        rv |= describe_names(writer, root);
    rv |= json_object_set_new(root, "edges", edges);
    rv |= json_object_set_new(root, "node_data", node_data);
    rv |= json_object_set_new(root, "edge_data", edge_data);
    if (rv == 0)
        return root;
    json_decref(root);
    return NULL;
}

static int write_metadata(struct raw_writer *writer, struct error *error)
{
    json_t *root = raw_write_describe(writer);
    char *text = json_write_text(root, JSON_INDENT(2));
    int rv = text == NULL ? error_set(error, TR_ENOMEM, "no memory for metadata.json")
                          : raw_writer_text(writer, "metadata.json", text, strlen(text), error);
    free(text);
    json_decref(root);
    return rv;
}

int raw_writer_commit(struct raw_writer *writer, struct error *error)
{
    /* metadata.json comes after the files, whose rows it says; then it is asked for the last
     * time whether somebody cancelled, since a commit is not taken back. */
    int rv = finish_files(writer, error);
    if (rv == 0)
        rv = write_metadata(writer, error);
    if (rv == 0)
        rv = check_cancel(writer, error);
    if (rv == 0)
        rv = atomic_dir_commit(&writer->dir, error);
    raw_writer_abort(writer);
    return rv;
}

static void close_out(struct out_file *file)
{
    npy_writer_close(&file->npy);
    free(file->file_name);
}

void raw_writer_abort(struct raw_writer *writer)
{
    if (writer == NULL)
        return;
    for (uint32_t i = 0; writer->edges != NULL && i < writer->types.num_etypes; i++)
        close_out(&writer->edges[i]);
    for (uint32_t i = 0; i < writer->num_tables; i++) {
        close_out(&writer->tables[i].file);
        close_out(&writer->tables[i].index);
        close_out(&writer->tables[i].columns);
        free(writer->tables[i].name);
    }
    for (uint32_t i = 0; i < writer->num_names; i++) {
        name_list_writer_close(&writer->names[i].list);
        free(writer->names[i].stem);
        free(writer->names[i].table);
    }
    atomic_dir_abort(&writer->dir);
    free(writer->names);
    free(writer->tables);
    free(writer->edges);
    free(writer->wide);
    free(writer->num_nodes);
    free(writer->name);
    graph_types_fini(&writer->types);
    free(writer);
}
