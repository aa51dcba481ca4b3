/* SPDX-License-Identifier: Apache-2.0 */
/* The partition book of a NAME.json: types, and which IDs each partition has of them. */
#include "partition/store/book_json_fields.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

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

int book_json_book(const struct json_field *root, struct book *book, struct error *error)
{
    struct book_reading reading = { 0 };
    char *name = NULL;
    int rv = check_is_book(root, error);
    if (rv == 0)
        rv = book_json_string(root, "graph_name", &name, error);
    if (rv == 0)
        rv = book_json_u32(root, "num_parts", BOOK_PARTS_MAX, &reading.num_parts, error);
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
