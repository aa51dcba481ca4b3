/* SPDX-License-Identifier: Apache-2.0 */
#include "partition/raw/raw_memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAIRS_ROOM_MIN 1024

struct memory {
    struct raw_source base;
    char *path;
    struct pairs pairs;
    struct raw_graph *graph;
    void **tables; /* [graph->num_tables] */
};

void pairs_fini(struct pairs *pairs)
{
    free(pairs->narrow);
    free(pairs->wide);
    memset(pairs, 0, sizeof *pairs);
}

static int pairs_widen(struct pairs *pairs)
{
    pairs->wide = malloc((size_t)pairs->room * 2 * sizeof *pairs->wide);
    if (pairs->wide == NULL)
        return TR_ENOMEM;
    for (uint64_t i = 0; i < 2 * pairs->count; i++)
        pairs->wide[i] = pairs->narrow[i];
    free(pairs->narrow);
    pairs->narrow = NULL;
    return 0;
}

/* Room for so many pairs, of the width that they have. */
static int pairs_grow(struct pairs *pairs, uint64_t room)
{
    size_t size = (size_t)room * 2 * (pairs->wide != NULL ? 8 : 4);
    void *grown = realloc(pairs->wide != NULL ? (void *)pairs->wide : pairs->narrow, size);
    if (grown == NULL)
        return TR_ENOMEM;
    if (pairs->wide != NULL)
        pairs->wide = grown;
    else
        pairs->narrow = grown;
    pairs->room = room;
    return 0;
}

/* The room that a full list gets. */
static uint64_t next_room(const struct pairs *pairs)
{
    return pairs->room == 0 ? PAIRS_ROOM_MIN : pairs->room + pairs->room / 2;
}

int pairs_make_room(struct pairs *pairs, uint64_t src, uint64_t dst)
{
    int rv = pairs->count == pairs->room ? pairs_grow(pairs, next_room(pairs)) : 0;
    if (rv != 0)
        return rv;
    return pairs->narrow != NULL && (src | dst) > UINT32_MAX ? pairs_widen(pairs) : 0;
}

int pairs_append(struct pairs *pairs, const struct pairs *more)
{
    uint64_t count = pairs->count + more->count;
    if (more->count == 0)
        return 0;
    if (count > pairs->room) {
        uint64_t room = next_room(pairs);
        int rv = pairs_grow(pairs, room > count ? room : count);
        if (rv != 0)
            return rv;
    }
    if (pairs->narrow != NULL && more->largest > UINT32_MAX && pairs_widen(pairs) != 0)
        return TR_ENOMEM;
    if (pairs->narrow != NULL && more->narrow != NULL) {
        memcpy(pairs->narrow + 2 * pairs->count, more->narrow, 2 * more->count * sizeof(uint32_t));
    } else {
        for (uint64_t i = 0; i < 2 * more->count; i++) {
            uint64_t id = more->narrow != NULL ? more->narrow[i] : more->wide[i];
            if (pairs->narrow != NULL)
                pairs->narrow[2 * pairs->count + i] = (uint32_t)id;
            else
                pairs->wide[2 * pairs->count + i] = id;
        }
    }
    pairs->largest = more->largest > pairs->largest ? more->largest : pairs->largest;
    pairs->count = count;
    return 0;
}

void pairs_read(const struct pairs *pairs, uint64_t begin, uint64_t count, uint64_t *src,
                uint64_t *dst)
{
    for (uint64_t i = 0; i < count; i++) {
        uint64_t at = 2 * (begin + i);
        src[i] = pairs->narrow != NULL ? pairs->narrow[at] : pairs->wide[at];
        dst[i] = pairs->narrow != NULL ? pairs->narrow[at + 1] : pairs->wide[at + 1];
    }
}

static int read_edges(struct raw_source *self, uint32_t etype, uint64_t begin, uint64_t count,
                      uint64_t *src, uint64_t *dst, struct error *error)
{
    (void)etype;
    (void)error;
    pairs_read(&((struct memory *)self)->pairs, begin, count, src, dst);
    return 0;
}

static int read_rows(struct raw_source *self, uint32_t table, uint64_t begin, uint64_t count,
                     void *rows, struct error *error)
{
    (void)error;
    struct memory *source = (struct memory *)self;
    size_t row_bytes = source->graph->tables[table].row_bytes;
    if (count * row_bytes > 0)
        memcpy(rows, (char *)source->tables[table] + begin * row_bytes, count * row_bytes);
    return 0;
}

static void name_edge(struct raw_source *self, uint32_t etype, uint64_t edge, char *text,
                      size_t size)
{
    (void)etype;
    snprintf(text, size, "%s: edge %" PRIu64, ((struct memory *)self)->path, edge);
}

static void name_row(struct raw_source *self, uint32_t table, uint64_t row, char *text, size_t size)
{
    struct memory *source = (struct memory *)self;
    snprintf(text, size, "%s: %s %" PRIu64, source->path,
             source->graph->tables[table].on_edges ? "edge" : "node", row);
}

static void close_source(struct raw_source *self)
{
    struct memory *source = (struct memory *)self;
    for (uint32_t i = 0; source->tables != NULL && i < source->graph->num_tables; i++)
        free(source->tables[i]);
    free(source->tables);
    pairs_fini(&source->pairs);
    free(source->path);
    free(source);
}

char *raw_name_of(const char *path)
{
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/')
        length--;
    size_t begin = length;
    while (begin > 0 && path[begin - 1] != '/')
        begin--;
    while (begin < length && path[begin] == '.')
        begin++;
    size_t end = begin;
    while (end < length && path[end] != '.')
        end++;
    length = end - begin < 200 ? end - begin : 200;
    return length == 0 ? strdup("graph") : strndup(path + begin, length);
}

static struct raw_graph *new_graph(const char *path, struct pairs *pairs)
{
    char *name = raw_name_of(path);
    struct raw_graph *graph = name == NULL ? NULL : raw_graph_new(name);
    struct memory *source = calloc(1, sizeof *source);
    char *copy = strdup(path);
    free(name);
    if (graph == NULL || source == NULL || copy == NULL) {
        free(copy);
        free(source);
        raw_close(graph);
        return NULL;
    }
    source->base = (struct raw_source){ read_edges, read_rows, name_edge, name_row, close_source };
    source->path = copy;
    source->pairs = *pairs;
    memset(pairs, 0, sizeof *pairs);
    source->graph = graph;
    graph->source = &source->base;
    return graph;
}

int raw_memory_graph(const char *path, struct pairs *pairs, uint64_t num_nodes,
                     struct raw_graph **out, struct error *error)
{
    uint64_t num_edges = pairs->count;
    struct raw_graph *graph = new_graph(path, pairs);
    if (graph == NULL) {
        pairs_fini(pairs);
        return error_set(error, TR_ENOMEM, "%s: no memory to open it", path);
    }
    int rv = raw_graph_homogeneous(graph, num_nodes, num_edges, error);
    if (rv != 0)
        raw_close(graph);
    else
        *out = graph;
    return rv;
}

int raw_memory_table(struct raw_graph *graph, const char *name, bool on_edges, enum tr_dtype dtype,
                     uint64_t width, void *rows, struct error *error)
{
    struct memory *source = (struct memory *)graph->source;
    void **grown = realloc(source->tables, (graph->num_tables + 1) * sizeof *grown);
    int rv;
    if (grown == NULL) {
        rv = error_set(error, TR_ENOMEM, "%s: no memory for '%s'", source->path, name);
    } else {
        source->tables = grown;
        rv = raw_graph_add_table(graph, name, on_edges, 0, dtype, width > 0 ? 1 : 0, &width, error);
    }
    if (rv != 0)
        free(rows);
    else
        grown[graph->num_tables - 1] = rows;
    return rv;
}
