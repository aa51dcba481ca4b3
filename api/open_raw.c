/* SPDX-License-Identifier: Apache-2.0 */
/* A raw graph through the public API: partition/raw/raw.h behind a handle. */
#include <stdlib.h>
#include <string.h>

#include <troupe/raw.h>

#include "api/names_read.h"
#include "api/open_raw.h"
#include "api/public_error.h"
#include "api/schema.h"
#include "api/sized.h"
#include "partition/raw/raw_csr.h"
#include "runtime/base/fork_mark.h"

struct tr_raw {
    struct fork_mark *mark;
    struct raw_graph *graph;
    struct schema schema;
};

/* One thread at a time has a raw graph, and may have been inside at a fork. */
static int raw_mine(const struct tr_raw *raw, struct tr_error *error)
{
    return fork_mark_is_child(raw->mark) ? error_forked(error, "the raw graph") : 0;
}

_Static_assert((int)TR_LOOPS_ERROR == (int)RAW_LOOPS_ERROR &&
                   (int)TR_DUPLICATES_ERROR == (int)RAW_DUPLICATES_ERROR,
               "callers and readers have the same rules");

int raw_options_check(const struct raw_options *read, struct error *error)
{
    /* The text is parsed by a reader that trusts them. */
    if ((unsigned)read->loops > RAW_LOOPS_ERROR)
        return error_set(error, TR_EINVAL, "loops: %d is not a value of enum tr_loops",
                         (int)read->loops);
    if ((unsigned)read->duplicates > RAW_DUPLICATES_ERROR)
        return error_set(error, TR_EINVAL, "duplicates: %d is not a value of enum tr_duplicates",
                         (int)read->duplicates);
    return 0;
}

int raw_options_take(struct raw_options *read, const struct tr_raw_options *given,
                     struct error *error)
{
    struct tr_raw_options options = TR_RAW_OPTIONS_INIT;
    struct tr_error refused = TR_ERROR_INIT;
    if (given != NULL &&
        sized_read(&options, sizeof options, given, "tr_raw_options", &refused) != 0)
        return error_take(&refused, error);
    *read = (struct raw_options){ .undirected = options.undirected,
                                  .num_nodes = options.num_nodes,
                                  .delimiter = options.delimiter,
                                  .source = options.source,
                                  .target = options.target,
                                  .first_id = options.first_id,
                                  .loops = (enum raw_loops)options.loops,
                                  .duplicates = (enum raw_duplicates)options.duplicates,
                                  .remedy = given != NULL ? RAW_REMEDY_OPTIONS
                                                          : RAW_REMEDY_IMPORT };
    return raw_options_check(read, error);
}

static int open_raw(const char *path, const struct tr_raw_options *options, struct tr_raw *raw,
                    struct error *error)
{
    struct raw_options read;
    if (path == NULL)
        return error_set(error, TR_EINVAL, "a raw graph's path is NULL");
    int rv = raw_options_take(&read, options, error);
    if (rv == 0)
        rv = raw_open(path, &read, &raw->graph, error);
    if (rv != 0)
        return rv;
    rv = schema_init(&raw->schema, &raw->graph->types, raw->graph->num_nodes,
                     raw->graph->num_edges);
    raw->schema.first_id = raw->graph->first_id;
    return rv != 0 ? error_set(error, rv, "%s: no memory to open it", path) : 0;
}

int tr_raw_open(const char *path, const struct tr_raw_options *options, struct tr_raw **out,
                struct tr_error *error)
{
    struct error inner = { 0 };
    struct tr_raw *raw = calloc(1, sizeof *raw);
    *out = NULL;
    /* The mark comes first: the close asks it. */
    struct fork_mark *mark = fork_mark_create();
    if (raw == NULL || mark == NULL) {
        fork_mark_destroy(mark);
        free(raw);
        return tr_error_set(error, TR_ENOMEM, "no memory to open a raw graph");
    }
    raw->mark = mark;
    int rv = open_raw(path, options, raw, &inner);
    if (rv != 0) {
        tr_raw_close(raw);
        return error_give(&inner, error);
    }
    *out = raw;
    return 0;
}

void tr_raw_close(struct tr_raw *raw)
{
    if (raw == NULL || fork_mark_is_child(raw->mark))
        return;
    schema_fini(&raw->schema);
    if (raw->graph != NULL)
        raw_close(raw->graph);
    fork_mark_destroy(raw->mark);
    free(raw);
}

int tr_raw_info(const struct tr_raw *raw, struct tr_raw_info *info, struct tr_error *error)
{
    const struct raw_graph *graph = raw->graph;
    int rv = raw_mine(raw, error);
    if (rv != 0)
        return rv;
    const struct tr_raw_info known = { .graph_name = graph->name,
                                       .num_ntypes = graph->types.num_ntypes,
                                       .num_etypes = graph->types.num_etypes,
                                       .num_tables = graph->num_tables,
                                       .num_nodes = schema_total_nodes(&raw->schema),
                                       .num_edges = schema_total_edges(&raw->schema) };
    return sized_write(info, &known, sizeof known, "tr_raw_info", error);
}

int tr_raw_ntype(const struct tr_raw *raw, uint32_t ntype, struct tr_ntype_info *info,
                 struct tr_error *error)
{
    int rv = raw_mine(raw, error);
    return rv != 0 ? rv : schema_ntype(&raw->schema, ntype, info, error);
}

int tr_raw_etype(const struct tr_raw *raw, uint32_t etype, struct tr_etype_info *info,
                 struct tr_error *error)
{
    int rv = raw_mine(raw, error);
    return rv != 0 ? rv : schema_etype(&raw->schema, etype, info, error);
}

int tr_raw_table(const struct tr_raw *raw, uint32_t table, struct tr_table_info *info,
                 struct tr_error *error)
{
    int rv = raw_mine(raw, error);
    if (rv != 0)
        return rv;
    if (table >= raw->graph->num_tables)
        return schema_refuse("table", table, raw->graph->num_tables, error);
    const struct raw_table *from = &raw->graph->tables[table];
    struct tr_table_info known = { .name = from->name,
                                   .on_edges = from->on_edges,
                                   .type = from->type,
                                   .dtype = from->dtype,
                                   .ndim = from->ndim,
                                   .width = from->width,
                                   .row_bytes = from->row_bytes };
    _Static_assert(RAW_NDIM_MAX == TR_TABLE_NDIM_MAX, "the same rows");
    memcpy(known.shape, from->shape, sizeof known.shape);
    known.sparse = from->csr != NULL;
    known.elements = from->csr != NULL ? from->csr->nnz : 0;
    known.stored_bytes = from->csr != NULL ? raw_csr_bytes(from) : from->num_rows * from->row_bytes;
    return sized_write(info, &known, sizeof known, "tr_table_info", error);
}

/* Whether rows [first, first + count) are there of total; the readers count on it. */
static int check_rows(const char *what, uint64_t first, size_t count, uint64_t total,
                      struct error *error)
{
    if (first <= total && count <= total - first)
        return 0;
    return error_set(error, TR_ERANGE, "%s %llu and %zu that follow were asked for, of %llu", what,
                     (unsigned long long)first, count, (unsigned long long)total);
}

int tr_raw_edges(struct tr_raw *raw, uint32_t etype, uint64_t first, size_t count,
                 uint64_t *sources, uint64_t *destinations, struct tr_error *error)
{
    struct error inner = { 0 };
    int rv = raw_mine(raw, error);
    if (rv != 0)
        return rv;
    rv = etype >= raw->graph->types.num_etypes
             ? error_set(&inner, TR_ERANGE, "there is no edge type %u, only %u of them", etype,
                         raw->graph->types.num_etypes)
             : check_rows("edge", first, count, raw->graph->num_edges[etype], &inner);
    if (rv == 0)
        rv = raw_read_edges(raw->graph, etype, first, count, sources, destinations, &inner);
    return rv == 0 ? 0 : error_give(&inner, error);
}

int tr_raw_rows(struct tr_raw *raw, uint32_t table, uint64_t first, size_t count, void *rows,
                struct tr_error *error)
{
    struct error inner = { 0 };
    int rv = raw_mine(raw, error);
    if (rv != 0)
        return rv;
    rv = table >= raw->graph->num_tables
             ? error_set(&inner, TR_ERANGE, "there is no table %u, only %u of them", table,
                         raw->graph->num_tables)
             : check_rows("row", first, count, raw->graph->tables[table].num_rows, &inner);
    if (rv == 0)
        rv = raw_read_rows(raw->graph, table, first, count, rows, &inner);
    return rv == 0 ? 0 : error_give(&inner, error);
}

int tr_raw_names(const struct tr_raw *raw, uint32_t list, struct tr_names_info *info,
                 struct tr_error *error)
{
    int rv = raw_mine(raw, error);
    if (rv != 0)
        return rv;
    if (list >= raw->graph->num_names)
        return schema_refuse("list of names", list, raw->graph->num_names, error);
    const struct raw_names *names = &raw->graph->names[list];
    const struct tr_names_info known = { .of = (uint32_t)names->key.of,
                                         .ntype = names->key.ntype,
                                         .table = names->key.table,
                                         .count = names->count };
    return sized_write(info, &known, sizeof known, "tr_names_info", error);
}

int tr_raw_read_names(const struct tr_raw *raw, uint32_t list, uint64_t first, size_t count,
                      uint64_t *offsets, char *text, size_t text_bytes, struct tr_error *error)
{
    struct error inner = { 0 };
    struct name_list opened;
    int rv = raw_mine(raw, error);
    if (rv != 0)
        return rv;
    if (list >= raw->graph->num_names)
        return schema_refuse("list of names", list, raw->graph->num_names, error);
    const struct raw_names *names = &raw->graph->names[list];
    rv = names_check_range(first, count, names->count, &inner);
    if (rv == 0)
        rv = name_list_open(&opened, names->files, names->stem, names->count, &inner);
    if (rv == 0)
        rv = names_read(&opened, first, count, offsets, text, text_bytes, &inner);
    return rv == 0 ? 0 : error_give(&inner, error);
}
