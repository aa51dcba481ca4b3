/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading NAME.json. A seal, where there is one, is compared before any field is used; then each
 * field is checked where it is read, and an error names it. The book is made first, since its types
 * and partitions say what else there must be.
 */
#include "partition/store/book_json.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/ranks.h"
#include "runtime/base/json_field.h"

size_t book_table_row_bytes(const struct book_table *table, uint64_t *width)
{
    uint64_t items = 1;
    for (uint32_t d = 0; d < table->ndim; d++)
        items *= table->shape[d];
    if (width != NULL)
        *width = items;
    return (size_t)items * tr_dtype_size(table->dtype);
}

uint64_t book_table_bytes(const struct book_table *table, uint32_t part, uint64_t num_rows)
{
    uint64_t element = table->has_values ? tr_dtype_size(table->dtype) : 0;
    if (table->form == TABLE_DENSE)
        return num_rows * book_table_row_bytes(table, NULL);
    return (num_rows + 1) * sizeof(uint64_t) + table->nnz[part] * (sizeof(uint32_t) + element);
}

uint64_t book_table_nnz(const struct book_table *table, uint32_t num_parts)
{
    uint64_t nnz = 0;
    for (uint32_t part = 0; table->form == TABLE_CSR && part < num_parts; part++)
        nnz += table->nnz[part];
    return nnz;
}

void book_file_fini(struct book_file *file)
{
    for (uint32_t i = 0; i < file->num_tables; i++) {
        free(file->tables[i].name);
        free(file->tables[i].nnz);
    }
    for (uint32_t i = 0; file->part_folders != NULL && i < file->book.num_parts; i++)
        free(file->part_folders[i]);
    for (uint32_t i = 0; i < file->num_names; i++)
        free(file->names[i].key.table);
    free(file->names);
    free(file->tables);
    free(file->part_folders);
    free(file->column_tables);
    free(file->train_mask);
    checksums_fini(&file->checksums);
    book_fini(&file->book);
    *file = (struct book_file){ 0 };
}

int book_file_add_names(struct book_file *file, const struct names_key *key, uint64_t count)
{
    struct book_names *grown = realloc(file->names, (file->num_names + 1) * sizeof *grown);
    if (grown == NULL)
        return TR_ENOMEM;
    file->names = grown;
    struct book_names *added = &grown[file->num_names];
    *added = (struct book_names){ .key = *key, .count = count };
    added->key.table = key->table != NULL ? strdup(key->table) : NULL;
    if (key->table != NULL && added->key.table == NULL)
        return TR_ENOMEM;
    file->num_names++;
    return 0;
}

/* The values that are read before the book can be made of them. */
struct book_reading {
    struct graph_types types;
    uint32_t num_parts;
    uint64_t *node_counts; /* [ntype * num_parts + part] */
    uint64_t *edge_counts;
};

static int add_type(struct book_reading *reading, const char *name, bool edges, struct error *error)
{
    return edges ? graph_types_add_etype(&reading->types, name, error)
                 : graph_types_add_ntype(&reading->types, name, error);
}

/* "ntypes" or "etypes": {NAME: number}, numbers 0 .. n-1 in any order. */
static int read_types(const struct json_field *root, struct book_reading *reading, bool edges,
                      struct error *error)
{
    struct json_field types, field;
    int rv = json_get(root, edges ? "etypes" : "ntypes", JSON_OBJECT, &types, error);
    if (rv != 0)
        return rv;
    size_t count = json_object_size(types.value);
    if (count > GRAPH_TYPES_MAX)
        return json_fail(&types, error, TR_ETOOBIG, "%zu types, at most %d are possible", count,
                         GRAPH_TYPES_MAX);
    const char **names = calloc(count + 1, sizeof *names);
    if (names == NULL)
        return json_fail(&types, error, TR_ENOMEM, "no memory for the types");
    for (void *i = json_object_iter(types.value); i != NULL && rv == 0;
         i = json_object_iter_next(types.value, i)) {
        uint64_t number;
        rv = json_iterate(&types, i, JSON_INTEGER, &field, error);
        if (rv == 0)
            rv = json_count(&field, &number, error);
        if (rv == 0 && (number >= count || names[number] != NULL))
            rv = json_fail(&field, error, TR_EFORMAT,
                           "type number %" PRIu64 " is not one of 0 to %zu, each used once", number,
                           count - 1);
        if (rv == 0)
            names[number] = json_object_iter_key(i);
    }
    for (size_t i = 0; i < count && rv == 0; i++) {
        rv = add_type(reading, names[i], edges, error);
        if (rv != 0)
            json_fail(&types, error, rv, "%s", error == NULL ? "" : error->text);
    }
    free(names);
    return rv;
}

/* One [begin, end). */
static int read_range(const struct json_field *ranges, size_t part, uint64_t *begin, uint64_t *end,
                      struct error *error)
{
    struct json_field range, field;
    int rv = json_at(ranges, part, JSON_ARRAY, &range, error);
    if (rv == 0 && json_array_size(range.value) != 2)
        rv = json_fail(&range, error, TR_EFORMAT, "a range is [begin, end], this has %zu numbers",
                       json_array_size(range.value));
    if (rv == 0)
        rv = json_at(&range, 0, JSON_INTEGER, &field, error);
    if (rv == 0)
        rv = json_count(&field, begin, error);
    if (rv == 0)
        rv = json_at(&range, 1, JSON_INTEGER, &field, error);
    if (rv == 0)
        rv = json_count(&field, end, error);
    if (rv == 0 && *end < *begin)
        rv = json_fail(&range, error, TR_EFORMAT, "ends before it begins");
    return rv;
}

/* The ranges of one type: their lengths are the counts; their begins are checked afterwards. */
static int read_ranges(const struct json_field *map, const char *name, uint32_t num_parts,
                       uint64_t *counts, uint64_t *begins, struct error *error)
{
    struct json_field ranges;
    int rv = json_get(map, name, JSON_ARRAY, &ranges, error);
    if (rv == 0 && json_array_size(ranges.value) != num_parts)
        rv = json_fail(&ranges, error, TR_EFORMAT, "%zu ranges for %u partitions",
                       json_array_size(ranges.value), num_parts);
    for (uint32_t part = 0; part < num_parts && rv == 0; part++) {
        uint64_t end;
        rv = read_range(&ranges, part, &begins[part], &end, error);
        if (rv == 0)
            counts[part] = end - begins[part];
    }
    return rv;
}

/* Ranges must follow each other without a gap: by partition, in it by type. */
static int check_ranges(const struct json_field *map, uint32_t num_types, uint32_t num_parts,
                        const uint64_t *counts, const uint64_t *begins, uint64_t total,
                        struct error *error)
{
    uint64_t next = 0;
    for (uint32_t part = 0; part < num_parts; part++) {
        for (uint32_t type = 0; type < num_types; type++) {
            size_t i = (size_t)type * num_parts + part;
            if (begins[i] != next)
                return json_fail(map, error, TR_EFORMAT,
                                 "type %u, partition %u begins at %" PRIu64 ", not at %" PRIu64
                                 " where the range before it ends",
                                 type, part, begins[i], next);
            next += counts[i];
        }
    }
    if (next != total)
        return json_fail(map, error, TR_EFORMAT,
                         "the ranges hold %" PRIu64 " IDs, the file claims %" PRIu64, next, total);
    return 0;
}

/* "node_map" or "edge_map" into counts. */
static int read_map(const struct json_field *root, struct book_reading *reading, bool edges,
                    struct error *error)
{
    uint32_t num_types = edges ? reading->types.num_etypes : reading->types.num_ntypes;
    size_t cells = (size_t)num_types * reading->num_parts;
    uint64_t total;
    struct json_field map, field;
    uint64_t *begins = calloc(cells + 1, sizeof *begins);
    uint64_t *counts = calloc(cells + 1, sizeof *counts);
    *(edges ? &reading->edge_counts : &reading->node_counts) = counts;
    int rv = json_get(root, edges ? "edge_map" : "node_map", JSON_OBJECT, &map, error);
    if (rv == 0 && (begins == NULL || counts == NULL))
        rv = json_fail(&map, error, TR_ENOMEM, "no memory for the ranges");
    if (rv == 0)
        rv = json_get(root, edges ? "num_edges" : "num_nodes", JSON_INTEGER, &field, error);
    if (rv == 0)
        rv = json_count(&field, &total, error);
    if (rv == 0 && json_object_size(map.value) != num_types)
        rv = json_fail(&map, error, TR_EFORMAT, "%zu types, the file lists %u",
                       json_object_size(map.value), num_types);
    for (uint32_t type = 0; type < num_types && rv == 0; type++) {
        char text[JSON_PATH_MAX];
        if (edges)
            graph_types_canonical(&reading->types, type, text, sizeof text);
        rv = read_ranges(&map, edges ? text : reading->types.ntypes[type], reading->num_parts,
                         counts + (size_t)type * reading->num_parts,
                         begins + (size_t)type * reading->num_parts, error);
    }
    if (rv == 0)
        rv = check_ranges(&map, num_types, reading->num_parts, counts, begins, total, error);
    free(begins);
    return rv;
}

static int read_u32(const struct json_field *object, const char *key, uint64_t max, uint32_t *value,
                    struct error *error)
{
    struct json_field field;
    uint64_t count;
    int rv = json_get(object, key, JSON_INTEGER, &field, error);
    if (rv == 0)
        rv = json_count(&field, &count, error);
    if (rv == 0 && count > max)
        rv = json_fail(&field, error, TR_ETOOBIG, "%" PRIu64 " is more than %" PRIu64, count, max);
    if (rv == 0)
        *value = (uint32_t)count;
    return rv;
}

static int read_string(const struct json_field *object, const char *key, char **text,
                       struct error *error)
{
    struct json_field field;
    int rv = json_get(object, key, JSON_STRING, &field, error);
    if (rv != 0)
        return rv;
    *text = strdup(json_string_value(field.value));
    return *text == NULL ? json_fail(&field, error, TR_ENOMEM, "no memory") : 0;
}

static int read_folders(const struct json_field *root, struct book_file *file, struct error *error)
{
    int rv = 0;
    file->part_folders = calloc(file->book.num_parts, sizeof *file->part_folders);
    if (file->part_folders == NULL)
        return json_fail(root, error, TR_ENOMEM, "no memory for the partitions");
    for (uint32_t part = 0; part < file->book.num_parts && rv == 0; part++) {
        struct json_field object;
        char key[32];
        snprintf(key, sizeof key, "part-%u", part);
        rv = json_get(root, key, JSON_OBJECT, &object, error);
        if (rv == 0)
            rv = read_string(&object, "part_graph", &file->part_folders[part], error);
    }
    return rv;
}

static int read_dtype(const struct json_field *object, enum tr_dtype *dtype, struct error *error)
{
    struct json_field field;
    int rv = json_get(object, "dtype", JSON_STRING, &field, error);
    if (rv != 0)
        return rv;
#define X(name, number, text, bytes)                         \
    if (strcmp(json_string_value(field.value), text) == 0) { \
        *dtype = name;                                       \
        return 0;                                            \
    }
    TR_DTYPES(X)
#undef X
    return json_fail(&field, error, TR_EFORMAT, "'%s' is not an element type",
                     json_string_value(field.value));
}

static int read_shape(const struct json_field *object, struct book_table *table,
                      struct error *error)
{
    struct json_field shape, field;
    uint64_t items = 1;
    int rv = json_get(object, "shape", JSON_ARRAY, &shape, error);
    if (rv == 0 && json_array_size(shape.value) > FEATURE_NDIM_MAX)
        rv = json_fail(&shape, error, TR_ETOOBIG, "%zu dimensions, at most %d are possible",
                       json_array_size(shape.value), FEATURE_NDIM_MAX);
    for (size_t d = 0; rv == 0 && d < json_array_size(shape.value); d++) {
        rv = json_at(&shape, d, JSON_INTEGER, &field, error);
        if (rv == 0)
            rv = json_count(&field, &table->shape[d], error);
        /* Below 2^31 elements a row, so that no size of a row overflows. */
        if (rv == 0 &&
            (table->shape[d] > INT32_MAX ||
             __builtin_mul_overflow(items, table->shape[d], &items) || items > INT32_MAX))
            rv = json_fail(&field, error, TR_ETOOBIG, "a row of 2^31 elements or more");
        table->ndim++;
    }
    return rv;
}

/* How many elements of a sparse table each partition has; a row has row_nnz_max at most. */
static int read_elements(const struct json_field *format, const struct book *book,
                         struct book_table *table, struct error *error)
{
    struct json_field list, field;
    int rv = json_get(format, "elements", JSON_ARRAY, &list, error);
    if (rv == 0 && json_array_size(list.value) != book->num_parts)
        rv = json_fail(&list, error, TR_EFORMAT, "%zu entries for %u partitions",
                       json_array_size(list.value), book->num_parts);
    if (rv != 0)
        return rv;
    table->nnz = calloc(book->num_parts + (size_t)1, sizeof *table->nnz);
    if (table->nnz == NULL)
        return json_fail(&list, error, TR_ENOMEM, "no memory for the tables");
    for (uint32_t p = 0; p < book->num_parts && rv == 0; p++) {
        const struct extent *extent = &book->node_extents[table->type][p];
        uint64_t most;
        rv = json_at(&list, p, JSON_INTEGER, &field, error);
        if (rv == 0)
            rv = json_count(&field, &table->nnz[p], error);
        if (rv == 0 &&
            !__builtin_mul_overflow(extent->end - extent->begin, (uint64_t)table->row_nnz_max,
                                    &most) &&
            table->nnz[p] > most)
            rv = json_fail(&field, error, TR_EFORMAT,
                           "%" PRIu64 " elements in %" PRIu64 " rows of %u at most", table->nnz[p],
                           extent->end - extent->begin, table->row_nnz_max);
    }
    return rv;
}

/* "format" is there where a table is not dense: {"name": "csr", "values": ..., "row_max": ...,
 * "elements": [...]}. */
static int read_table_form(const struct json_field *object, const struct book *book,
                           struct book_table *table, struct error *error)
{
    struct json_field format, name, most;
    uint64_t row_max = 0;
    int rv = json_get_optional(object, "format", JSON_OBJECT, &format, error);
    if (rv != 0 || format.value == NULL)
        return rv;
    rv = json_get(&format, "name", JSON_STRING, &name, error);
    if (rv == 0 && strcmp(json_string_value(name.value), "csr") != 0)
        rv = json_fail(&name, error, TR_EUNSUPPORTED,
                       "'%.20s' is not a form of rows that this version reads: \"csr\" is one",
                       json_string_value(name.value));
    if (rv == 0 && (table->on_edges || table->ndim != 1 || table->shape[0] < CSR_WIDTH_MIN))
        rv = json_fail(&format, error, TR_EUNSUPPORTED,
                       "sparse rows belong to nodes and have one dimension of at least %u columns",
                       CSR_WIDTH_MIN);
    if (rv == 0)
        rv = json_take_bool(&format, "values", &table->has_values, error);
    if (rv == 0)
        rv = json_get(&format, "row_max", JSON_INTEGER, &most, error);
    if (rv == 0)
        rv = json_count(&most, &row_max, error);
    if (rv == 0 && row_max > table->shape[0])
        rv = json_fail(&most, error, TR_EFORMAT,
                       "a row of %" PRIu64 " columns cannot have %" PRIu64 " elements",
                       table->shape[0], row_max);
    if (rv != 0)
        return rv;
    table->form = TABLE_CSR;
    table->row_nnz_max = (uint32_t)row_max;
    return read_elements(&format, book, table, error);
}

static int read_table(const struct json_field *of_type, void *iterator, bool on_edges,
                      uint32_t type, struct book_file *file, struct error *error)
{
    struct json_field object;
    int rv = json_iterate(of_type, iterator, JSON_OBJECT, &object, error);
    if (rv != 0)
        return rv;
    if (file->num_tables == BOOK_TABLES_MAX)
        return json_fail(&object, error, TR_ETOOBIG, "more than %d tables", BOOK_TABLES_MAX);
    struct book_table *grown = realloc(file->tables, (file->num_tables + 1) * sizeof *grown);
    if (grown == NULL)
        return json_fail(&object, error, TR_ENOMEM, "no memory for the tables");
    file->tables = grown;
    struct book_table *table = &grown[file->num_tables];
    *table = (struct book_table){ .on_edges = on_edges, .type = type };
    table->name = strdup(json_object_iter_key(iterator));
    if (table->name == NULL)
        return json_fail(&object, error, TR_ENOMEM, "no memory for the tables");
    file->num_tables++;
    rv = read_dtype(&object, &table->dtype, error);
    if (rv == 0)
        rv = read_shape(&object, table, error);
    return rv == 0 ? read_table_form(&object, &file->book, table, error) : rv;
}

/* "node_data" or "edge_data": {TYPE: {NAME: {dtype, shape, format}}}. */
static int read_tables(const struct json_field *own, bool on_edges, struct book_file *file,
                       struct error *error)
{
    struct json_field data, of_type;
    int rv = json_get(own, on_edges ? "edge_data" : "node_data", JSON_OBJECT, &data, error);
    if (rv != 0)
        return rv;
    for (void *i = json_object_iter(data.value); i != NULL && rv == 0;
         i = json_object_iter_next(data.value, i)) {
        const char *name = json_object_iter_key(i);
        int type = on_edges ? graph_types_find_etype(&file->book.types, name)
                            : graph_types_find_ntype(&file->book.types, name);
        rv = json_iterate(&data, i, JSON_OBJECT, &of_type, error);
        if (rv == 0 && type < 0)
            rv = json_fail(&of_type, error, TR_EFORMAT, "the type is not listed in this file");
        for (void *j = rv == 0 ? json_object_iter(of_type.value) : NULL; j != NULL && rv == 0;
             j = json_object_iter_next(of_type.value, j))
            rv = read_table(&of_type, j, on_edges, (uint32_t)type, file, error);
    }
    return rv;
}

static int read_columns(const struct json_field *own, struct book_file *file, struct error *error)
{
    struct json_field columns, field;
    file->column_tables = calloc(file->book.types.num_etypes + 1, sizeof *file->column_tables);
    int rv = json_get(own, "column_tables", JSON_ARRAY, &columns, error);
    if (rv == 0 && file->column_tables == NULL)
        rv = json_fail(&columns, error, TR_ENOMEM, "no memory for the types");
    for (size_t i = 0; rv == 0 && i < json_array_size(columns.value); i++) {
        rv = json_at(&columns, i, JSON_STRING, &field, error);
        int type = rv != 0
                       ? 0
                       : graph_types_find_etype(&file->book.types, json_string_value(field.value));
        if (rv == 0 && type < 0)
            rv = json_fail(&field, error, TR_EFORMAT, "'%s' is not an edge type of this file",
                           json_string_value(field.value));
        if (rv == 0)
            file->column_tables[type] = true;
    }
    return rv;
}

static int read_seed(const struct json_field *own, struct book_file *file, struct error *error)
{
    struct json_field field;
    int rv = json_get(own, "seed", JSON_STRING, &field, error);
    if (rv != 0)
        return rv;
    const char *text = json_string_value(field.value);
    char *end;
    errno = 0;
    file->seed = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end != '\0' || errno != 0)
        return json_fail(&field, error, TR_EFORMAT, "'%s' is not a number below 2^64", text);
    return 0;
}

static int read_rank_set(const struct json_field *object, struct rank_table *table,
                         struct error *error)
{
    struct json_field field;
    int rv = json_get(object, "set", JSON_STRING, &field, error);
    if (rv != 0)
        return rv;
    const char *text = json_string_value(field.value);
    table->set = strcmp(text, "all") == 0    ? RANKS_ALL
                 : strcmp(text, "mask") == 0 ? RANKS_MASK
                                             : RANKS_DEAL;
    if (table->set == RANKS_DEAL && strcmp(text, "deal") != 0)
        return json_fail(&field, error, TR_EFORMAT, "'%s' is not all, mask or deal", text);
    return 0;
}

static int read_rank_count(const struct json_field *object, const struct book *book,
                           struct rank_table *table, struct error *error)
{
    struct json_field field;
    uint64_t nodes = book->num_nodes[table->ntype];
    int rv = json_get(object, "count", JSON_INTEGER, &field, error);
    if (rv == 0)
        rv = json_count(&field, &table->num_ranks, error);
    if (rv == 0 && (table->num_ranks > nodes || table->num_ranks > RANKS_MAX ||
                    (table->set == RANKS_ALL && table->num_ranks != nodes)))
        rv = json_fail(&field, error, TR_EFORMAT,
                       "%" PRIu64 " ranks of a type with %" PRIu64 " nodes", table->num_ranks,
                       nodes);
    if (rv == 0)
        rv = json_take_bool(object, "stored", &table->stored, error);
    if (rv == 0 && !table->stored && table->set != RANKS_ALL)
        rv = json_fail(object, error, TR_EFORMAT,
                       "only the ranks of all nodes may be left out as the same as IDs");
    return rv;
}

static int read_deal_hash(const struct json_field *object, struct rank_table *table,
                          struct error *error)
{
    struct json_field field;
    int rv = json_get(object, "hash", JSON_STRING, &field, error);
    if (rv != 0)
        return rv;
    const char *text = json_string_value(field.value);
    char *end;
    errno = 0;
    table->deal_hash = strtoull(text, &end, 16);
    if (strlen(text) != 16 || strspn(text, "0123456789abcdef") != 16 || errno != 0)
        return json_fail(&field, error, TR_EFORMAT, "'%s' is not a hash of 16 digits", text);
    return 0;
}

static int read_rank_table(const struct json_field *object, struct book *book, struct error *error)
{
    struct rank_table table = { .set = RANKS_ALL };
    struct json_field field;
    int rv = read_rank_set(object, &table, error);
    if (rv == 0)
        rv = json_get(object, "ntype", JSON_STRING, &field, error);
    int ntype = rv != 0 ? 0 : graph_types_find_ntype(&book->types, json_string_value(field.value));
    if (rv == 0 && ntype < 0)
        rv = json_fail(&field, error, TR_EFORMAT, "the type is not listed in this file");
    table.ntype = (uint32_t)ntype;
    if (rv == 0)
        rv = read_rank_count(object, book, &table, error);
    if (rv == 0 && table.set == RANKS_MASK)
        rv = read_string(object, "mask", &table.mask, error);
    if (rv == 0 && table.set == RANKS_DEAL)
        rv = read_deal_hash(object, &table, error);
    if (rv == 0 && book_find_ranks(book, table.set, table.ntype, table.mask) >= 0)
        rv = json_fail(object, error, TR_EFORMAT, "the ranks of this set are listed twice");
    if (rv == 0) {
        rv = book_add_ranks(book, &table);
        if (rv != 0)
            json_fail(object, error, rv, "cannot hold the tables of ranks: %s", tr_strerror(rv));
    }
    free(table.mask);
    return rv;
}

/* Folders of older versions have none. */
static int read_ranks(const struct json_field *own, struct book *book, struct error *error)
{
    struct json_field list, object;
    int rv = json_get_optional(own, "ranks", JSON_ARRAY, &list, error);
    size_t count = rv == 0 && list.value != NULL ? json_array_size(list.value) : 0;
    for (size_t i = 0; i < count && rv == 0; i++) {
        rv = json_at(&list, i, JSON_OBJECT, &object, error);
        if (rv == 0)
            rv = read_rank_table(&object, book, error);
    }
    return rv;
}

static int read_names_entry(const struct json_field *object, struct book_file *file,
                            struct error *error)
{
    struct json_field of, type, count;
    struct names_key key = { NAMES_NODES, 0, NULL };
    uint64_t names = 0;
    int rv = json_get(object, "of", JSON_STRING, &of, error);
    if (rv == 0 && !names_of_find(json_string_value(of.value), &key.of))
        return json_fail(&of, error, TR_EFORMAT, "'%.20s' is not nodes, values or columns",
                         json_string_value(of.value));
    if (rv == 0)
        rv = json_get(object, "ntype", JSON_STRING, &type, error);
    if (rv != 0)
        return rv;
    int ntype = graph_types_find_ntype(&file->book.types, json_string_value(type.value));
    if (ntype < 0)
        return json_fail(&type, error, TR_EFORMAT, "the type is not listed in this file");
    key.ntype = (uint32_t)ntype;
    rv = json_get(object, "count", JSON_INTEGER, &count, error);
    if (rv == 0)
        rv = json_count(&count, &names, error);
    if (rv == 0 && key.of == NAMES_NODES && names != file->book.num_nodes[ntype])
        rv = json_fail(&count, error, TR_EFORMAT,
                       "%" PRIu64 " names of a type that has %" PRIu64 " nodes", names,
                       file->book.num_nodes[ntype]);
    if (rv == 0)
        rv = json_take_text(object, "table", &key.table, error);
    if (rv == 0 && (key.of == NAMES_NODES) != (key.table == NULL))
        rv = json_fail(object, error, TR_EFORMAT,
                       "\"table\" says whose values or columns they are");
    if (rv == 0 && book_file_add_names(file, &key, names) != 0)
        rv = json_fail(object, error, TR_ENOMEM, "no memory for the lists of names");
    free(key.table);
    return rv;
}

/* Graphs whose nodes were numbers have none. */
static int read_names(const struct json_field *own, struct book_file *file, struct error *error)
{
    struct json_field list, object;
    int rv = json_get_optional(own, "names", JSON_ARRAY, &list, error);
    size_t count = rv == 0 && list.value != NULL ? json_array_size(list.value) : 0;
    if (count > BOOK_NAMES_MAX)
        return json_fail(&list, error, TR_ETOOBIG, "more than %d lists of names", BOOK_NAMES_MAX);
    for (size_t i = 0; i < count && rv == 0; i++) {
        rv = json_at(&list, i, JSON_OBJECT, &object, error);
        if (rv == 0)
            rv = read_names_entry(&object, file, error);
    }
    return rv;
}

/* Folders of older versions do not say it. */
static int read_edge_runs(const struct json_field *own, struct book *book, struct error *error)
{
    struct json_field field;
    int rv = json_get_optional(own, "edge_runs", JSON_TRUE, &field, error);
    book->edge_runs = rv == 0 && field.value != NULL;
    return rv;
}

/* How many out-edges of a type each partition has. */
static int read_out_counts(const struct json_field *types, const char *name, uint32_t num_parts,
                           uint64_t *counts, struct error *error)
{
    struct json_field list, field;
    int rv = json_get(types, name, JSON_ARRAY, &list, error);
    if (rv == 0 && json_array_size(list.value) != num_parts)
        rv = json_fail(&list, error, TR_EFORMAT, "%zu counts for %" PRIu32 " partitions",
                       json_array_size(list.value), num_parts);
    for (uint32_t p = 0; p < num_parts && rv == 0; p++) {
        rv = json_at(&list, p, JSON_INTEGER, &field, error);
        if (rv == 0)
            rv = json_count(&field, &counts[p], error);
    }
    return rv;
}

/* Only where they were asked for. */
static int read_out_edges(const struct json_field *own, struct book *book, struct error *error)
{
    struct json_field types;
    int rv = json_get_optional(own, "out_edges", JSON_OBJECT, &types, error);
    if (rv != 0 || types.value == NULL)
        return rv;
    uint32_t num_etypes = book->types.num_etypes;
    uint64_t *counts = calloc((size_t)num_etypes * book->num_parts + 1, sizeof *counts);
    if (counts == NULL)
        return json_fail(&types, error, TR_ENOMEM, "no memory for the counts of out-edges");
    for (uint32_t e = 0; e < num_etypes && rv == 0; e++) {
        char name[JSON_PATH_MAX];
        graph_types_canonical(&book->types, e, name, sizeof name);
        rv = read_out_counts(&types, name, book->num_parts, counts + (size_t)e * book->num_parts,
                             error);
    }
    if (rv == 0) {
        rv = book_add_out_edges(book, counts);
        if (rv != 0)
            rv = json_fail(&types, error, rv, "%s",
                           rv == TR_ENOMEM
                               ? "no memory for the extents of out-edges"
                               : "the out-edges of a type are not as many as its edges");
    }
    free(counts);
    return rv;
}

/* A flag is a value of one of two kinds. */
static int read_edge_ids(const struct json_field *own, struct book_file *file, struct error *error)
{
    struct json_field field;
    file->original_edge_ids = json_get(own, "original_edge_ids", JSON_TRUE, &field, NULL) == 0;
    return file->original_edge_ids ? 0
                                   : json_get(own, "original_edge_ids", JSON_FALSE, &field, error);
}

/* Where nodes are counted from 0, nothing says so. */
static int read_first_id(const struct json_field *own, struct book_file *file, struct error *error)
{
    struct json_field field;
    int rv = json_get_optional(own, "first_id", JSON_INTEGER, &field, error);
    if (rv != 0 || field.value == NULL)
        return rv;
    if (json_integer_value(field.value) < 0)
        return json_fail(&field, error, TR_ERANGE, "must be 0 or more");
    file->first_id = (uint64_t)json_integer_value(field.value);
    return 0;
}

static int read_own(const struct json_field *root, struct book_file *file, struct error *error)
{
    struct json_field own;
    uint32_t version = 0;
    int rv = json_get_optional(root, "troupe", JSON_OBJECT, &own, error);
    if (rv == 0 && own.value == NULL)
        return json_fail(root, error, TR_EUNSUPPORTED,
                         "no \"troupe\" key: not written by troupe partition; partition the raw "
                         "graph again");
    if (rv == 0)
        /* The format is checked before the keys, which another one may have otherwise. */
        rv = read_u32(&own, "format", UINT32_MAX, &version, error);
    if (rv == 0 && version != BOOK_FORMAT_VERSION)
        return json_fail(&own, error, TR_EUNSUPPORTED,
                         "format %u is not the one that this troupe reads (%d); partition again",
                         version, BOOK_FORMAT_VERSION);
    if (rv == 0)
        rv = read_u32(&own, "num_trainers", BOOK_TRAINERS_MAX, &file->num_trainers, error);
    if (rv == 0)
        rv = json_take_text(&own, "train_mask", &file->train_mask, error);
    if (rv == 0)
        rv = read_edge_ids(&own, file, error);
    if (rv == 0)
        rv = read_seed(&own, file, error);
    if (rv == 0)
        rv = read_first_id(&own, file, error);
    if (rv == 0)
        rv = read_columns(&own, file, error);
    if (rv == 0)
        rv = read_tables(&own, false, file, error);
    if (rv == 0)
        rv = read_tables(&own, true, file, error);
    if (rv == 0)
        rv = read_ranks(&own, &file->book, error);
    if (rv == 0)
        rv = read_edge_runs(&own, &file->book, error);
    if (rv == 0)
        rv = read_out_edges(&own, &file->book, error);
    if (rv == 0)
        rv = read_names(&own, file, error);
    if (rv == 0)
        rv = checksums_take(&file->checksums, &own, file->book.num_parts, error);
    return rv;
}

/* Any JSON may be named by mistake. */
static int check_is_book(const struct json_field *root, struct error *error)
{
    if (json_object_get(root->value, "num_parts") != NULL)
        return 0;
    return json_fail(root, error, TR_EFORMAT,
                     "is not the NAME.json of a partitioned graph, since it has no num_parts; name "
                     "one that `troupe partition` made%s",
                     json_object_get(root->value, "edge_type") != NULL ? " of this raw graph" : "");
}

static int read_book(const struct json_field *root, struct book *book, struct error *error)
{
    struct book_reading reading = { 0 };
    char *name = NULL;
    int rv = check_is_book(root, error);
    if (rv == 0)
        rv = read_string(root, "graph_name", &name, error);
    if (rv == 0)
        rv = read_u32(root, "num_parts", BOOK_PARTS_MAX, &reading.num_parts, error);
    if (rv == 0 && reading.num_parts == 0)
        rv = json_fail(root, error, TR_ERANGE, "num_parts is 0");
    if (rv == 0)
        rv = read_types(root, &reading, false, error);
    if (rv == 0)
        rv = read_types(root, &reading, true, error);
    if (rv == 0 &&
        (uint64_t)reading.num_parts * (reading.types.num_ntypes + reading.types.num_etypes) >
            BOOK_RANGES_MAX)
        rv = json_fail(root, error, TR_ETOOBIG, "%u partitions of %u types: too many ranges",
                       reading.num_parts, reading.types.num_ntypes + reading.types.num_etypes);
    if (rv == 0)
        rv = read_map(root, &reading, false, error);
    if (rv == 0)
        rv = read_map(root, &reading, true, error);
    if (rv == 0) {
        rv = book_init(book, name, &reading.types, reading.num_parts, reading.node_counts,
                       reading.edge_counts);
        if (rv != 0)
            json_fail(root, error, rv, "cannot hold the partition book: %s", tr_strerror(rv));
    }
    free(reading.node_counts);
    free(reading.edge_counts);
    graph_types_fini(&reading.types);
    free(name);
    return rv;
}

/* The document, compared with its own sum before any of it is used: what a wrong byte made of it is
 * not worth a better message. */
static int read_document(struct files *files, const char *path, json_t **document,
                         struct json_field *root, struct error *error)
{
    char *text;
    size_t size;
    int rv = files_read_all(files, path, JSON_FILE_BYTES_MAX, &text, &size, error);
    /* A raw graph is a folder, and the first thing that people name. */
    if (rv == TR_EINVAL)
        return error_set(error, rv,
                         "%s: not a regular file; name the NAME.json of a partition directory, "
                         "which `troupe partition` makes of a raw graph",
                         path);
    if (rv != 0)
        return rv;
    rv = json_parse_document(path, text, size, document, root, error);
    if (rv == 0) {
        rv = checksums_check_seal(root, text, size, error);
        if (rv != 0)
            json_decref(*document);
    }
    free(text);
    return rv;
}

int book_file_read(struct book_file *file, struct files *files, const char *path,
                   struct error *error)
{
    json_t *document = NULL;
    struct json_field root;
    *file = (struct book_file){ 0 };
    int rv = read_document(files, path, &document, &root, error);
    if (rv != 0)
        return rv;
    /* The book is read first: its types and partitions say how much of all else there must be. */
    rv = read_book(&root, &file->book, error);
    if (rv == 0)
        rv = read_string(&root, "part_method", &file->book.part_method, error);
    if (rv == 0)
        rv = read_u32(&root, "halo_hops", BOOK_HALO_HOPS_MAX, &file->book.halo_hops, error);
    if (rv == 0)
        rv = read_folders(&root, file, error);
    if (rv == 0)
        rv = read_own(&root, file, error);
    if (rv != 0)
        book_file_fini(file);
    json_decref(document);
    return rv;
}
