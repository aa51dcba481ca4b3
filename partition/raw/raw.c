/* SPDX-License-Identifier: Apache-2.0 */
#include "partition/raw/raw.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "partition/raw/raw_csr.h"
#include "partition/raw/raw_source.h"

struct raw_graph *raw_graph_new(const char *name)
{
    struct raw_graph *graph = calloc(1, sizeof *graph);
    if (graph == NULL)
        return NULL;
    graph->name = strdup(name);
    if (graph->name == NULL) {
        free(graph);
        return NULL;
    }
    return graph;
}

void raw_edges_found_fini(struct raw_edges_found *found)
{
    free(found->source_name);
    free(found->target_name);
    *found = (struct raw_edges_found){ 0 };
}

void raw_close(struct raw_graph *graph)
{
    if (graph == NULL)
        return;
    /* The source is closed first: it goes through the graph's tables. */
    if (graph->source != NULL)
        graph->source->close(graph->source);
    for (uint32_t i = 0; i < graph->num_tables; i++) {
        raw_csr_close(graph->tables[i].csr);
        free(graph->tables[i].name);
    }
    for (uint32_t i = 0; i < graph->num_names; i++) {
        free(graph->names[i].key.table);
        free(graph->names[i].stem);
    }
    free(graph->names);
    free(graph->tables);
    free(graph->num_nodes);
    free(graph->num_edges);
    graph_types_fini(&graph->types);
    raw_edges_found_fini(&graph->found);
    free(graph->name);
    free(graph);
}

int raw_graph_alloc_counts(struct raw_graph *graph, struct error *error)
{
    /* + 1: no types at all is not a failed allocation. */
    graph->num_nodes = calloc(graph->types.num_ntypes + 1, sizeof *graph->num_nodes);
    graph->num_edges = calloc(graph->types.num_etypes + 1, sizeof *graph->num_edges);
    if (graph->num_nodes == NULL || graph->num_edges == NULL)
        return error_set(error, TR_ENOMEM, "%s: no memory for the counts of the graph",
                         graph->name);
    return 0;
}

int raw_graph_homogeneous(struct raw_graph *graph, uint64_t num_nodes, uint64_t num_edges,
                          struct error *error)
{
    int rv = graph_types_init_homogeneous(&graph->types);
    if (rv != 0)
        return error_set(error, rv, "%s: no memory for the types of the graph", graph->name);
    rv = raw_graph_alloc_counts(graph, error);
    if (rv != 0)
        return rv;
    graph->num_nodes[0] = num_nodes;
    graph->num_edges[0] = num_edges;
    return 0;
}

int raw_check_name(const char *name, struct error *error)
{
    size_t length = strlen(name);
    if (length == 0 || length > 200 || name[0] == '.' || strchr(name, '/') != NULL)
        return error_set(error, TR_EINVAL,
                         "name '%.40s' can't name a file: it must have 1 to 200 bytes, no '/' and "
                         "no '.' in front; rename it",
                         name);
    return 0;
}

int raw_find_table(const struct raw_graph *graph, bool on_edges, uint32_t type, const char *name)
{
    for (uint32_t i = 0; i < graph->num_tables; i++) {
        const struct raw_table *table = &graph->tables[i];
        if (table->on_edges == on_edges && table->type == type && strcmp(table->name, name) == 0)
            return (int)i;
    }
    return -1;
}

bool raw_has_edge_rows(const struct raw_graph *graph, uint32_t etype)
{
    for (uint32_t i = 0; i < graph->num_tables; i++) {
        if (graph->tables[i].on_edges && graph->tables[i].type == etype)
            return true;
    }
    return false;
}

int raw_graph_add_table(struct raw_graph *graph, const char *name, bool on_edges, uint32_t type,
                        enum tr_dtype dtype, uint32_t ndim, const uint64_t *shape,
                        struct error *error)
{
    int rv = raw_check_name(name, error);
    if (rv != 0)
        return rv;
    if (raw_find_table(graph, on_edges, type, name) >= 0)
        return error_set(error, TR_EEXIST, "feature '%s' is there twice", name);
    if (ndim > RAW_NDIM_MAX)
        return error_set(error, TR_EUNSUPPORTED, "feature '%s': rows of %u dimensions; at most %d",
                         name, ndim, RAW_NDIM_MAX);
    struct raw_table table = { .on_edges = on_edges, .type = type, .dtype = dtype, .ndim = ndim };
    table.width = 1;
    table.num_rows = on_edges ? graph->num_edges[type] : graph->num_nodes[type];
    uint64_t bytes = 0, all;
    for (uint32_t i = 0; i < ndim; i++) {
        table.shape[i] = shape[i];
        if (__builtin_mul_overflow(table.width, shape[i], &table.width))
            return error_set(error, TR_ETOOBIG, "feature '%s': a row of more than 2^64 elements",
                             name);
    }
    if (__builtin_mul_overflow(table.width, (uint64_t)tr_dtype_size(dtype), &bytes) ||
        bytes > SIZE_MAX || __builtin_mul_overflow(bytes, table.num_rows, &all))
        return error_set(error, TR_ETOOBIG, "feature '%s': more than 2^64 bytes", name);
    table.row_bytes = (size_t)bytes;
    struct raw_table *grown = realloc(graph->tables, (graph->num_tables + 1) * sizeof *grown);
    if (grown == NULL)
        return error_set(error, TR_ENOMEM, "no memory for feature '%s'", name);
    graph->tables = grown;
    table.name = strdup(name);
    if (table.name == NULL)
        return error_set(error, TR_ENOMEM, "no memory for feature '%s'", name);
    grown[graph->num_tables++] = table;
    return 0;
}

/* The first of ids that is not below bound, or count. */
static uint64_t find_outside(const uint64_t *ids, uint64_t count, uint64_t bound)
{
    uint64_t largest = 0;
    for (uint64_t i = 0; i < count; i++)
        largest = ids[i] > largest ? ids[i] : largest;
    if (count == 0 || largest < bound)
        return count;
    uint64_t i = 0;
    while (ids[i] < bound)
        i++;
    return i;
}

static int check_ids(struct raw_graph *graph, uint32_t etype, uint64_t begin, uint64_t count,
                     const uint64_t *ids, uint32_t ntype, const char *end, struct error *error)
{
    uint64_t bad = find_outside(ids, count, graph->num_nodes[ntype]);
    if (bad == count)
        return 0;
    char place[RAW_PLACE_MAX];
    graph->source->name_edge(graph->source, etype, begin + bad, place, sizeof place);
    return error_set(error, TR_ERANGE,
                     "%s: %s %" PRIu64 " is not a node: type '%s' has %" PRIu64
                     " nodes, numbered from 0; correct the edge or the number of nodes",
                     place, end, ids[bad], graph->types.ntypes[ntype], graph->num_nodes[ntype]);
}

int raw_read_edges(struct raw_graph *graph, uint32_t etype, uint64_t begin, uint64_t count,
                   uint64_t *src, uint64_t *dst, struct error *error)
{
    if (etype >= graph->types.num_etypes || begin > graph->num_edges[etype] ||
        count > graph->num_edges[etype] - begin)
        return error_set(error, TR_ERANGE, "%s: edges %" PRIu64 " to %" PRIu64 " are not there",
                         graph->name, begin, begin + count);
    int rv = graph->source->read_edges(graph->source, etype, begin, count, src, dst, error);
    if (rv != 0)
        return rv;
    const struct graph_etype *type = &graph->types.etypes[etype];
    rv = check_ids(graph, etype, begin, count, src, type->src, "source", error);
    if (rv != 0)
        return rv;
    return check_ids(graph, etype, begin, count, dst, type->dst, "destination", error);
}

/* Finite floats have an exponent that is not all ones. 16-bit and 32-bit kinds are tested by
 * their bits, in loops that the compiler vectorises. */
static uint64_t find_bits16(const void *data, uint64_t count, uint16_t exponent)
{
    const char *bytes = data;
    for (uint64_t i = 0; i < count; i++) {
        uint16_t item;
        memcpy(&item, bytes + 2 * i, 2);
        if ((item & exponent) == exponent)
            return i;
    }
    return count;
}

static uint64_t find_f32(const void *data, uint64_t count)
{
    const char *bytes = data;
    /* Pieces, so that the inner loop has no way out and vectorises. */
    for (uint64_t begin = 0; begin < count; begin += 256) {
        uint64_t end = begin + 256 < count ? begin + 256 : count;
        uint32_t any = 0;
        for (uint64_t i = begin; i < end; i++) {
            uint32_t item;
            memcpy(&item, bytes + 4 * i, 4);
            any |= (item & 0x7f800000u) == 0x7f800000u;
        }
        for (uint64_t i = begin; any && i < end; i++) {
            float value;
            memcpy(&value, bytes + 4 * i, 4);
            if (!isfinite(value))
                return i;
        }
    }
    return count;
}

static uint64_t find_f64(const void *data, uint64_t count)
{
    const char *bytes = data;
    for (uint64_t i = 0; i < count; i++) {
        double value;
        memcpy(&value, bytes + 8 * i, 8);
        if (!isfinite(value))
            return i;
    }
    return count;
}

uint64_t raw_find_not_finite(enum tr_dtype dtype, const void *data, uint64_t count)
{
    switch (dtype) {
    case TR_F32:
        return find_f32(data, count);
    case TR_F64:
        return find_f64(data, count);
    case TR_F16:
        return find_bits16(data, count, 0x7c00);
    case TR_BF16:
        return find_bits16(data, count, 0x7f80);
    default:
        return count;
    }
}

/* "nan" or "inf", for display. */
static const char *raw_spell(enum tr_dtype dtype, const void *data, uint64_t at)
{
    size_t size = tr_dtype_size(dtype);
    uint64_t bits = 0;
    memcpy(&bits, (const char *)data + at * size, size);
    uint64_t mantissa = dtype == TR_F32   ? 0x7fffffu
                        : dtype == TR_F64 ? 0xfffffffffffffu
                        : dtype == TR_F16 ? 0x3ffu
                                          : 0x7fu;
    bool negative = bits >> (8 * size - 1);
    return bits & mantissa ? "nan" : negative ? "-inf" : "inf";
}

static bool holds_labels(const struct raw_table *table)
{
    return strcmp(table->name, "label") == 0 || strcmp(table->name, "labels") == 0;
}

int64_t raw_whole(enum tr_dtype dtype, const void *rows, uint64_t i)
{
    switch (dtype) {
    case TR_I8:
        return ((const int8_t *)rows)[i];
    case TR_I16:
        return ((const int16_t *)rows)[i];
    case TR_I32:
        return ((const int32_t *)rows)[i];
    case TR_I64:
        return ((const int64_t *)rows)[i];
    default:
        return ((const uint8_t *)rows)[i];
    }
}

int raw_read_rows(struct raw_graph *graph, uint32_t table, uint64_t begin, uint64_t count,
                  void *rows, struct error *error)
{
    const struct raw_table *facts = &graph->tables[table];
    if (table >= graph->num_tables || begin > facts->num_rows || count > facts->num_rows - begin)
        return error_set(error, TR_ERANGE, "%s: rows %" PRIu64 " to %" PRIu64 " are not there",
                         graph->name, begin, begin + count);
    /* What is sparse was checked where its elements were read. */
    if (facts->csr != NULL)
        return raw_csr_widen(graph, table, begin, count, rows, error);
    int rv = graph->source->read_rows(graph->source, table, begin, count, rows, error);
    if (rv != 0 || holds_labels(facts))
        return rv;
    uint64_t items = count * facts->width;
    uint64_t bad = raw_find_not_finite(facts->dtype, rows, items);
    if (bad == items)
        return 0;
    char place[RAW_PLACE_MAX];
    graph->source->name_row(graph->source, table, begin + bad / facts->width, place, sizeof place);
    return error_set(error, TR_EFORMAT,
                     "%s, column %" PRIu64 ": value %s of feature '%s' is not finite; replace it "
                     "or leave the feature out",
                     place, bad % facts->width, raw_spell(facts->dtype, rows, bad), facts->name);
}
