/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of a NAME.json: features of nodes and edges, and how their rows are kept. */
#include "partition/store/book_json_fields.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

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
int book_json_tables(const struct json_field *own, bool on_edges, struct book_file *file,
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

int book_json_columns(const struct json_field *own, struct book_file *file, struct error *error)
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
