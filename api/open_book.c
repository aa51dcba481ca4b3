/* SPDX-License-Identifier: Apache-2.0 */
/* The book through the public API: partition/store behind a handle. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <troupe/book.h>

#include "api/open_book.h"
#include "api/public_error.h"
#include "api/schema.h"
#include "api/sized.h"
#include "partition/store/inspect.h"
#include "partition/store/numbering.h"
#include "partition/store/store.h"

struct tr_book {
    struct store *store;
    struct schema schema;
    struct numbering nodes, edges;
};

struct store *open_book_store(const struct tr_book *book)
{
    return book->store;
}

static int open_book(const char *path, struct tr_book *book, struct error *error)
{
    if (path == NULL)
        return error_set(error, TR_EINVAL, "a book's path is NULL");
    int rv = store_open(path, &book->store, error);
    if (rv != 0)
        return rv;
    const struct book *from = store_book(book->store);
    rv = schema_init(&book->schema, &from->types, from->num_nodes, from->num_edges);
    book->schema.first_id = store_book_file(book->store)->first_id;
    if (rv == 0)
        rv = numbering_init(&book->nodes, from->node_extents, from->types.num_ntypes,
                            from->num_parts);
    if (rv == 0)
        rv = numbering_init(&book->edges, from->edge_extents, from->types.num_etypes,
                            from->num_parts);
    return rv != 0 ? error_set(error, rv, "%s: no memory to open it", path) : 0;
}

int tr_book_open(const char *path, struct tr_book **out, struct tr_error *error)
{
    struct error inner = { 0 };
    struct tr_book *book = calloc(1, sizeof *book);
    *out = NULL;
    int rv = book == NULL ? error_set(&inner, TR_ENOMEM, "no memory to open a book")
                          : open_book(path, book, &inner);
    if (rv != 0) {
        tr_book_close(book);
        return error_give(&inner, error);
    }
    *out = book;
    return 0;
}

void tr_book_close(struct tr_book *book)
{
    if (book == NULL)
        return;
    numbering_fini(&book->edges);
    numbering_fini(&book->nodes);
    schema_fini(&book->schema);
    store_close(book->store);
    free(book);
}

/* The largest partition over the mean, summed over types; 0 of nothing. */
static double measure_balance(const struct numbering *numbering)
{
    uint64_t largest = 0, total = 0;
    for (uint32_t part = 0; part < numbering->num_parts; part++) {
        size_t first = (size_t)part * numbering->num_types;
        uint64_t owned = numbering->begins[first + numbering->num_types] - numbering->begins[first];
        largest = owned > largest ? owned : largest;
        total += owned;
    }
    return total > 0 ? (double)largest * numbering->num_parts / (double)total : 0;
}

int tr_book_info(const struct tr_book *book, struct tr_book_info *info, struct tr_error *error)
{
    const struct book_file *file = store_book_file(book->store);
    const struct tr_book_info known = { .graph_name = file->book.graph_name,
                                        .method = file->book.part_method,
                                        .num_parts = file->book.num_parts,
                                        .num_ntypes = file->book.types.num_ntypes,
                                        .num_etypes = file->book.types.num_etypes,
                                        .num_tables = file->num_tables,
                                        .halo_hops = file->book.halo_hops,
                                        .num_trainers = file->num_trainers,
                                        .num_nodes = schema_total_nodes(&book->schema),
                                        .num_edges = schema_total_edges(&book->schema),
                                        .node_balance = measure_balance(&book->nodes),
                                        .edge_balance = measure_balance(&book->edges),
                                        .seed = file->seed,
                                        .checksums = store_has_checksums(book->store),
                                        .original_edge_ids = file->original_edge_ids,
                                        .out_edges = file->book.out_extents != NULL };
    return sized_write(info, &known, sizeof known, "tr_book_info", error);
}

int tr_book_ntype(const struct tr_book *book, uint32_t ntype, struct tr_ntype_info *info,
                  struct tr_error *error)
{
    return schema_ntype(&book->schema, ntype, info, error);
}

int tr_book_etype(const struct tr_book *book, uint32_t etype, struct tr_etype_info *info,
                  struct tr_error *error)
{
    return schema_etype(&book->schema, etype, info, error);
}

int tr_book_table(const struct tr_book *book, uint32_t table, struct tr_table_info *info,
                  struct tr_error *error)
{
    const struct book_file *file = store_book_file(book->store);
    if (table >= file->num_tables)
        return schema_refuse("table", table, file->num_tables, error);
    const struct book_table *from = &file->tables[table];
    struct tr_table_info known = { .name = from->name,
                                   .on_edges = from->on_edges,
                                   .type = from->type,
                                   .dtype = from->dtype,
                                   .ndim = from->ndim };
    _Static_assert(FEATURE_NDIM_MAX == TR_TABLE_NDIM_MAX, "the same rows");
    memcpy(known.shape, from->shape, sizeof known.shape);
    known.row_bytes = book_table_row_bytes(from, &known.width);
    known.sparse = from->form == TABLE_CSR;
    known.elements = book_table_nnz(from, file->book.num_parts);
    for (uint32_t p = 0; p < file->book.num_parts; p++) {
        struct extent **extents = from->on_edges ? file->book.edge_extents
                                                 : file->book.node_extents;
        const struct extent *rows = &extents[from->type][p];
        known.stored_bytes += book_table_bytes(from, p, rows->end - rows->begin);
    }
    return sized_write(info, &known, sizeof known, "tr_table_info", error);
}

int tr_book_find_ntype(const struct tr_book *book, const char *name, uint32_t *ntype,
                       struct tr_error *error)
{
    int found = graph_types_find_ntype(book->schema.types, name);
    if (found < 0)
        return tr_error_set(error, TR_ENOENT, "there is no node type %s", name);
    *ntype = (uint32_t)found;
    return 0;
}

int tr_book_find_etype(const struct tr_book *book, const char *name, uint32_t *etype,
                       struct tr_error *error)
{
    int found = graph_types_find_etype(book->schema.types, name);
    if (found < 0)
        return tr_error_set(error, TR_ENOENT, "%s names no edge type, or several", name);
    *etype = (uint32_t)found;
    return 0;
}

static int get_range(const struct numbering *numbering, const char *what, uint32_t type,
                     uint32_t part, struct tr_range *range, struct tr_error *error)
{
    if (type >= numbering->num_types)
        return schema_refuse(what, type, numbering->num_types, error);
    if (part >= numbering->num_parts)
        return schema_refuse("partition", part, numbering->num_parts, error);
    const struct extent *extent = &numbering->extents[type][part];
    *range = (struct tr_range){ extent->begin, extent->end };
    return 0;
}

int tr_book_node_range(const struct tr_book *book, uint32_t ntype, uint32_t part,
                       struct tr_range *range, struct tr_error *error)
{
    return get_range(&book->nodes, "node type", ntype, part, range, error);
}

int tr_book_edge_range(const struct tr_book *book, uint32_t etype, uint32_t part,
                       struct tr_range *range, struct tr_error *error)
{
    return get_range(&book->edges, "edge type", etype, part, range, error);
}

static int check_type(const struct numbering *numbering, const char *what, uint32_t type,
                      struct error *error)
{
    if (type < numbering->num_types)
        return 0;
    return error_set(error, TR_ERANGE, "there is no %s type %u, only %u of them", what, type,
                     numbering->num_types);
}

/* what: "node", "edge"; type TR_ALL_TYPES: the ID is homogeneous. */
static int refuse_id(const struct numbering *numbering, const char *what, uint32_t type,
                     uint64_t id, struct error *error)
{
    size_t count = (size_t)numbering->num_parts * numbering->num_types;
    if (type == TR_ALL_TYPES)
        return error_set(error, TR_ERANGE,
                         "there is no %s with the homogeneous ID %" PRIu64 ", only %" PRIu64
                         " of them",
                         what, id, numbering->begins[count]);
    return error_set(error, TR_ERANGE,
                     "there is no %s %" PRIu64 " of type %u, only %" PRIu64 " of them", what, id,
                     type, numbering->extents[type][numbering->num_parts - 1].end);
}

static int find_owners(const struct numbering *numbering, const char *what, uint32_t type,
                       const uint64_t *ids, size_t count, uint32_t *parts, struct tr_error *error)
{
    struct error inner = { 0 };
    int rv = type == TR_ALL_TYPES ? 0 : check_type(numbering, what, type, &inner);
    for (size_t i = 0; i < count && rv == 0; i++) {
        struct numbered at = { 0 };
        int owner = type == TR_ALL_TYPES
                        ? numbering_find(numbering, ids[i], &at)
                        : extents_owner(numbering->extents[type], numbering->num_parts, ids[i]);
        if (owner < 0)
            rv = refuse_id(numbering, what, type, ids[i], &inner);
        else
            parts[i] = type == TR_ALL_TYPES ? at.part : (uint32_t)owner;
    }
    return rv == 0 ? 0 : error_give(&inner, error);
}

int tr_book_node_owners(const struct tr_book *book, uint32_t ntype, const uint64_t *ids,
                        size_t count, uint32_t *parts, struct tr_error *error)
{
    return find_owners(&book->nodes, "node", ntype, ids, count, parts, error);
}

int tr_book_edge_owners(const struct tr_book *book, uint32_t etype, const uint64_t *ids,
                        size_t count, uint32_t *parts, struct tr_error *error)
{
    return find_owners(&book->edges, "edge", etype, ids, count, parts, error);
}

static int number_all(const struct numbering *numbering, const char *what, uint32_t type,
                      const uint64_t *ids, size_t count, uint64_t *homogeneous,
                      struct tr_error *error)
{
    struct error inner = { 0 };
    int rv = check_type(numbering, what, type, &inner);
    for (size_t i = 0; i < count && rv == 0; i++) {
        uint64_t id = ids[i];
        if (numbering_number(numbering, type, id, &homogeneous[i]) != 0)
            rv = refuse_id(numbering, what, type, id, &inner);
    }
    return rv == 0 ? 0 : error_give(&inner, error);
}

int tr_book_node_homogeneous(const struct tr_book *book, uint32_t ntype, const uint64_t *ids,
                             size_t count, uint64_t *homogeneous, struct tr_error *error)
{
    return number_all(&book->nodes, "node", ntype, ids, count, homogeneous, error);
}

int tr_book_edge_homogeneous(const struct tr_book *book, uint32_t etype, const uint64_t *ids,
                             size_t count, uint64_t *homogeneous, struct tr_error *error)
{
    return number_all(&book->edges, "edge", etype, ids, count, homogeneous, error);
}

static int type_all(const struct numbering *numbering, const char *what,
                    const uint64_t *homogeneous, size_t count, uint32_t *types, uint64_t *ids,
                    struct tr_error *error)
{
    struct error inner = { 0 };
    for (size_t i = 0; i < count; i++) {
        struct numbered at;
        if (numbering_find(numbering, homogeneous[i], &at) != 0) {
            refuse_id(numbering, what, TR_ALL_TYPES, homogeneous[i], &inner);
            return error_give(&inner, error);
        }
        if (types != NULL)
            types[i] = at.type;
        if (ids != NULL)
            ids[i] = at.id;
    }
    return 0;
}

int tr_book_node_typed(const struct tr_book *book, const uint64_t *homogeneous, size_t count,
                       uint32_t *ntypes, uint64_t *ids, struct tr_error *error)
{
    return type_all(&book->nodes, "node", homogeneous, count, ntypes, ids, error);
}

int tr_book_edge_typed(const struct tr_book *book, const uint64_t *homogeneous, size_t count,
                       uint32_t *etypes, uint64_t *ids, struct tr_error *error)
{
    return type_all(&book->edges, "edge", homogeneous, count, etypes, ids, error);
}

int tr_book_part(const struct tr_book *book, uint32_t part, struct tr_part_info *info,
                 struct tr_error *error)
{
    struct error inner = { 0 };
    struct inspect_part facts;
    int rv = part >= book->nodes.num_parts
                 ? error_set(&inner, TR_ERANGE, "there is no partition %u, only %u of them", part,
                             book->nodes.num_parts)
                 : inspect_look(book->store, part, &facts, &inner);
    if (rv != 0)
        return error_give(&inner, error);
    const struct tr_part_info known = { .num_nodes = facts.num_nodes,
                                        .num_edges = facts.num_edges,
                                        .halo_nodes = facts.halo_nodes,
                                        .topology_bytes = facts.topology_bytes,
                                        .feature_bytes = facts.feature_bytes,
                                        .file_bytes = facts.file_bytes };
    return sized_write(info, &known, sizeof known, "tr_part_info", error);
}

int tr_book_original_node_ids(const struct tr_book *book, uint32_t ntype, uint64_t first,
                              size_t count, uint64_t *original_ids, struct tr_error *error)
{
    struct error inner = { 0 };
    int rv = store_read_original_ids(book->store, false, ntype, first, count, original_ids, &inner);
    return rv == 0 ? 0 : error_give(&inner, error);
}

int tr_book_original_edge_ids(const struct tr_book *book, uint32_t etype, uint64_t first,
                              size_t count, uint64_t *original_ids, struct tr_error *error)
{
    struct error inner = { 0 };
    int rv = store_read_original_ids(book->store, true, etype, first, count, original_ids, &inner);
    return rv == 0 ? 0 : error_give(&inner, error);
}
