/* SPDX-License-Identifier: Apache-2.0 */
/* What `troupe inspect` says of graphs: their types, features, names and partitions. Either kind of
 * graph describes itself by functions of its own, which are called through one struct. */
#include "cli/inspect_graph.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <troupe/book.h>
#include <troupe/raw.h>

/* A graph that describes itself: a raw one or a book. The functions are those of either. */
struct described {
    const void *graph;
    uint32_t num_ntypes, num_etypes, num_tables;
    int (*ntype)(const void *graph, uint32_t ntype, struct tr_ntype_info *info,
                 struct tr_error *error);
    int (*etype)(const void *graph, uint32_t etype, struct tr_etype_info *info,
                 struct tr_error *error);
    int (*table)(const void *graph, uint32_t table, struct tr_table_info *info,
                 struct tr_error *error);
    int (*names)(const void *graph, uint32_t list, struct tr_names_info *info,
                 struct tr_error *error);
    int (*read_names)(const void *graph, uint32_t list, uint64_t first, size_t count,
                      uint64_t *offsets, char *text, size_t text_bytes, struct tr_error *error);
};

static int report_types(struct report *report, const struct described *from, struct tr_error *error)
{
    int rv = 0;
    for (uint32_t t = 0; t < from->num_ntypes && rv == 0; t++) {
        struct tr_ntype_info type = TR_NTYPE_INFO_INIT;
        rv = from->ntype(from->graph, t, &type, error);
        report_row(report, "node_types");
        report_text(report, "type", "node type", type.name);
        report_count(report, "nodes", "nodes", type.num_nodes);
        if (type.first_id > 0)
            report_count(report, "first_id", "first ID", type.first_id);
    }
    for (uint32_t t = 0; t < from->num_etypes && rv == 0; t++) {
        struct tr_etype_info type = TR_ETYPE_INFO_INIT;
        rv = from->etype(from->graph, t, &type, error);
        report_row(report, "edge_types");
        report_text(report, "type", "edge type", type.name);
        report_count(report, "edges", "edges", type.num_edges);
    }
    report_rows_end(report);
    return rv;
}

/* The name of the type that a table is of; NULL after a failure. */
static const char *name_type(const struct described *from, const struct tr_table_info *table,
                             struct tr_error *error)
{
    struct tr_ntype_info ntype = TR_NTYPE_INFO_INIT;
    struct tr_etype_info etype = TR_ETYPE_INFO_INIT;
    if (!table->on_edges)
        return from->ntype(from->graph, table->type, &ntype, error) == 0 ? ntype.name : NULL;
    return from->etype(from->graph, table->type, &etype, error) == 0 ? etype.name : NULL;
}

/* What sparse tables save, where there are some. */
static int report_sparse(struct report *report, const struct described *from,
                         struct tr_error *error)
{
    int rv = 0;
    for (uint32_t i = 0; i < from->num_tables && rv == 0; i++) {
        struct tr_table_info table = TR_TABLE_INFO_INIT;
        rv = from->table(from->graph, i, &table, error);
        if (rv != 0 || !table.sparse)
            continue;
        const char *type = name_type(from, &table, error);
        if (type == NULL)
            return TR_EINTERNAL;
        struct tr_ntype_info ntype = TR_NTYPE_INFO_INIT;
        rv = from->ntype(from->graph, table.type, &ntype, error);
        double places = (double)ntype.num_nodes * (double)table.width;
        report_row(report, "sparse");
        report_text(report, "type", "sparse feature of", type);
        report_text(report, "name", "name", table.name);
        report_count(report, "elements", "elements", table.elements);
        report_share(report, "density", "density",
                     places > 0 ? (double)table.elements / places : 0);
        report_bytes(report, "bytes", "stored", table.stored_bytes);
        report_bytes(report, "dense_bytes", "dense", ntype.num_nodes * table.row_bytes);
    }
    report_rows_end(report);
    return rv;
}

static int report_tables(struct report *report, const struct described *from,
                         struct tr_error *error)
{
    int rv = 0;
    for (uint32_t i = 0; i < from->num_tables && rv == 0; i++) {
        struct tr_table_info table = TR_TABLE_INFO_INIT;
        rv = from->table(from->graph, i, &table, error);
        const char *type = rv == 0 ? name_type(from, &table, error) : NULL;
        if (type == NULL)
            return rv != 0 ? rv : TR_EINTERNAL;
        report_row(report, "features");
        report_text(report, "type", "feature of", type);
        report_text(report, "name", "name", table.name);
        report_text(report, "dtype", "dtype", tr_dtype_name(table.dtype));
        report_counts(report, "shape", "row", table.shape, table.ndim);
    }
    report_rows_end(report);
    return rv == 0 ? report_sparse(report, from, error) : rv;
}

/* The first names of a list, with commas between them. */
#define NAMES_SHOWN 3u
#define NAMES_SHOWN_BYTES 96u

static int report_first_names(struct report *report, const struct described *from, uint32_t list,
                              uint64_t count, struct tr_error *error)
{
    uint64_t offsets[NAMES_SHOWN + 1];
    size_t some = count < NAMES_SHOWN ? (size_t)count : NAMES_SHOWN, used = 0;
    char shown[NAMES_SHOWN_BYTES + 8] = "";
    int rv = from->read_names(from->graph, list, 0, some, offsets, NULL, 0, error);
    char *text = rv == 0 ? malloc((size_t)offsets[some] + 1) : NULL;
    if (rv == 0 && text == NULL)
        rv = tr_error_set(error, TR_ENOMEM, "no memory for names");
    if (rv == 0)
        rv = from->read_names(from->graph, list, 0, some, offsets, text, (size_t)offsets[some],
                              error);
    for (size_t i = 0; rv == 0 && i < some; i++) {
        /* The name's line end is left out. */
        size_t length = (size_t)(offsets[i + 1] - offsets[i]) - 1;
        size_t room = NAMES_SHOWN_BYTES - used;
        if (i > 0 && room > 2)
            used += (size_t)sprintf(shown + used, ", ");
        room = NAMES_SHOWN_BYTES - used;
        /* A cut goes between characters. */
        size_t kept = length < room ? length : room;
        while (kept < length && kept > 0 && ((unsigned char)text[offsets[i] + kept] & 0xc0) == 0x80)
            kept--;
        memcpy(shown + used, text + offsets[i], kept);
        used += kept;
        shown[used] = '\0';
    }
    free(text);
    if (rv == 0)
        report_text(report, "first", "first of them", shown);
    return rv;
}

static int report_names(struct report *report, const struct described *from, struct tr_error *error)
{
    static const char *const OF[] = { "nodes", "values", "columns" };
    int rv = 0;
    for (uint32_t i = 0; rv == 0; i++) {
        struct tr_names_info info = TR_NAMES_INFO_INIT;
        struct tr_ntype_info type = TR_NTYPE_INFO_INIT;
        if (from->names(from->graph, i, &info, NULL) != 0)
            break;
        rv = from->ntype(from->graph, info.ntype, &type, error);
        if (rv != 0)
            break;
        report_row(report, "names");
        report_text(report, "of", "names of", OF[info.of]);
        report_text(report, "type", "type", type.name);
        report_text(report, "table", "feature", info.table != NULL ? info.table : "");
        report_count(report, "count", "names", info.count);
        rv = report_first_names(report, from, i, info.count, error);
    }
    report_rows_end(report);
    return rv;
}

static int raw_ntype(const void *raw, uint32_t ntype, struct tr_ntype_info *info,
                     struct tr_error *error)
{
    return tr_raw_ntype(raw, ntype, info, error);
}

static int raw_etype(const void *raw, uint32_t etype, struct tr_etype_info *info,
                     struct tr_error *error)
{
    return tr_raw_etype(raw, etype, info, error);
}

static int raw_table(const void *raw, uint32_t table, struct tr_table_info *info,
                     struct tr_error *error)
{
    return tr_raw_table(raw, table, info, error);
}

static int raw_names(const void *raw, uint32_t list, struct tr_names_info *info,
                     struct tr_error *error)
{
    return tr_raw_names(raw, list, info, error);
}

static int raw_read_names(const void *raw, uint32_t list, uint64_t first, size_t count,
                          uint64_t *offsets, char *text, size_t text_bytes, struct tr_error *error)
{
    return tr_raw_read_names(raw, list, first, count, offsets, text, text_bytes, error);
}

static int report_raw(struct report *report, const struct tr_raw *raw, struct tr_error *error)
{
    struct tr_raw_info info = TR_RAW_INFO_INIT;
    int rv = tr_raw_info(raw, &info, error);
    if (rv != 0)
        return rv;
    const struct described from = { .graph = raw,
                                    .num_ntypes = info.num_ntypes,
                                    .num_etypes = info.num_etypes,
                                    .num_tables = info.num_tables,
                                    .ntype = raw_ntype,
                                    .etype = raw_etype,
                                    .table = raw_table,
                                    .names = raw_names,
                                    .read_names = raw_read_names };
    report_text(report, "kind", "kind", "raw graph");
    report_text(report, "graph", "graph", info.graph_name);
    rv = report_types(report, &from, error);
    if (rv == 0)
        rv = report_tables(report, &from, error);
    return rv == 0 ? report_names(report, &from, error) : rv;
}

static int book_ntype(const void *book, uint32_t ntype, struct tr_ntype_info *info,
                      struct tr_error *error)
{
    return tr_book_ntype(book, ntype, info, error);
}

static int book_etype(const void *book, uint32_t etype, struct tr_etype_info *info,
                      struct tr_error *error)
{
    return tr_book_etype(book, etype, info, error);
}

static int book_table(const void *book, uint32_t table, struct tr_table_info *info,
                      struct tr_error *error)
{
    return tr_book_table(book, table, info, error);
}

static void report_part(struct report *report, uint32_t number, const struct tr_part_info *part)
{
    report_row(report, "partitions");
    report_count(report, "part", "partition", number);
    report_count(report, "nodes", "nodes", part->num_nodes);
    report_count(report, "edges", "edges", part->num_edges);
    report_count(report, "halo_nodes", "halo", part->halo_nodes);
    report_bytes(report, "topology_bytes", "topology", part->topology_bytes);
    report_bytes(report, "feature_bytes", "features", part->feature_bytes);
    report_bytes(report, "bytes", "files", part->file_bytes);
}

static int book_names(const void *book, uint32_t list, struct tr_names_info *info,
                      struct tr_error *error)
{
    return tr_book_names(book, list, info, error);
}

static int book_read_names(const void *book, uint32_t list, uint64_t first, size_t count,
                           uint64_t *offsets, char *text, size_t text_bytes, struct tr_error *error)
{
    return tr_book_read_names(book, list, first, count, offsets, text, text_bytes, error);
}

/* parts: [info->num_parts]. */
static int report_book(struct report *report, const struct tr_book *book,
                       const struct tr_book_info *info, const struct tr_part_info *parts,
                       struct tr_error *error)
{
    const struct described from = { .graph = book,
                                    .num_ntypes = info->num_ntypes,
                                    .num_etypes = info->num_etypes,
                                    .num_tables = info->num_tables,
                                    .ntype = book_ntype,
                                    .etype = book_etype,
                                    .table = book_table,
                                    .names = book_names,
                                    .read_names = book_read_names };
    uint64_t bytes = 0;
    for (uint32_t p = 0; p < info->num_parts; p++)
        bytes += parts[p].file_bytes;
    report_text(report, "kind", "kind", "partitioned graph");
    report_text(report, "graph", "graph", info->graph_name);
    report_count(report, "parts", "partitions", info->num_parts);
    report_text(report, "method", "method", info->method);
    report_count(report, "halo_hops", "halo hops", info->halo_hops);
    report_count(report, "trainers", "trainers of the deal", info->num_trainers);
    report_real(report, "node_balance", "node balance (largest / mean)", info->node_balance);
    report_real(report, "edge_balance", "edge balance (largest / mean)", info->edge_balance);
    report_bytes(report, "bytes", "files", bytes);
    report_flag(report, "checksums", "checksums", info->checksums);
    report_flag(report, "out_edges", "out-edges", info->out_edges);
    int rv = report_types(report, &from, error);
    if (rv == 0)
        rv = report_tables(report, &from, error);
    if (rv == 0)
        rv = report_names(report, &from, error);
    for (uint32_t p = 0; p < info->num_parts && rv == 0; p++)
        report_part(report, p, &parts[p]);
    report_rows_end(report);
    return rv;
}

int inspect_book(struct report *report, const char *path, struct tr_error *error)
{
    struct tr_book *book;
    struct tr_book_info info = TR_BOOK_INFO_INIT;
    int rv = tr_book_open(path, &book, error);
    if (rv != 0)
        return rv;
    rv = tr_book_info(book, &info, error);
    struct tr_part_info *parts = calloc((size_t)info.num_parts + 1, sizeof *parts);
    if (parts == NULL)
        rv = tr_error_set(error, TR_ENOMEM, "%s: no memory for its partitions", path);
    for (uint32_t p = 0; p < info.num_parts && rv == 0; p++) {
        parts[p] = (struct tr_part_info)TR_PART_INFO_INIT;
        rv = tr_book_part(book, p, &parts[p], error);
    }
    if (rv == 0)
        rv = report_book(report, book, &info, parts, error);
    free(parts);
    tr_book_close(book);
    return rv;
}

int inspect_raw(struct report *report, const char *path, struct tr_error *error)
{
    struct tr_raw *raw;
    int rv = tr_raw_open(path, NULL, &raw, error);
    if (rv != 0)
        return rv;
    rv = report_raw(report, raw, error);
    tr_raw_close(raw);
    return rv;
}
