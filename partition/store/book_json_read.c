/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading NAME.json. A seal, where there is one, is compared before any field is used; then each
 * field is checked where it is read, and an error names it. The book is made first, since its types
 * and partitions say what else there must be.
 */
#include "partition/store/book_json_fields.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/ranks.h"
#include "runtime/base/json_field.h"

int book_json_u32(const struct json_field *object, const char *key, uint64_t max, uint32_t *value,
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

int book_json_string(const struct json_field *object, const char *key, char **text,
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
            rv = book_json_string(&object, "part_graph", &file->part_folders[part], error);
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
        rv = book_json_string(object, "mask", &table.mask, error);
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
        rv = book_json_u32(&own, "format", UINT32_MAX, &version, error);
    if (rv == 0 && version != BOOK_FORMAT_VERSION)
        return json_fail(&own, error, TR_EUNSUPPORTED,
                         "format %u is not the one that this troupe reads (%d); partition again",
                         version, BOOK_FORMAT_VERSION);
    if (rv == 0)
        rv = book_json_u32(&own, "num_trainers", BOOK_TRAINERS_MAX, &file->num_trainers, error);
    if (rv == 0)
        rv = json_take_text(&own, "train_mask", &file->train_mask, error);
    if (rv == 0)
        rv = read_edge_ids(&own, file, error);
    if (rv == 0)
        rv = read_seed(&own, file, error);
    if (rv == 0)
        rv = read_first_id(&own, file, error);
    if (rv == 0)
        rv = book_json_columns(&own, file, error);
    if (rv == 0)
        rv = book_json_tables(&own, false, file, error);
    if (rv == 0)
        rv = book_json_tables(&own, true, file, error);
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
    rv = book_json_book(&root, &file->book, error);
    if (rv == 0)
        rv = book_json_string(&root, "part_method", &file->book.part_method, error);
    if (rv == 0)
        rv = book_json_u32(&root, "halo_hops", BOOK_HALO_HOPS_MAX, &file->book.halo_hops, error);
    if (rv == 0)
        rv = read_folders(&root, file, error);
    if (rv == 0)
        rv = read_own(&root, file, error);
    if (rv != 0)
        book_file_fini(file);
    json_decref(document);
    return rv;
}
