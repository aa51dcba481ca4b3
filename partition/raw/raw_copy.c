/* SPDX-License-Identifier: Apache-2.0 */
/* Copies any raw graph into a folder, in pieces of bounded memory. */
#include "config.h" /* asprintf */

#include <stdio.h>
#include <stdlib.h>

#include "partition/raw/node_features.h"
#include "partition/raw/raw_csr.h"
#include "partition/raw/raw_write.h"
#include "partition/raw/reverse_pairs.h"

#define EDGES_AT_ONCE ((uint64_t)1 << 16)
/* Names copied at a time, whose places are on the stack. */
#define NAMES_AT_ONCE ((uint64_t)512)
/* Rows at a time fill about this many bytes. */
#define ROWS_BYTES ((size_t)4 << 20)

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static int copy_edges(struct raw_graph *graph, struct reverse_pairs *reverse, bool both_ways,
                      struct raw_writer *writer, struct error *error)
{
    bool behind = false;
    uint64_t *src = malloc(2 * EDGES_AT_ONCE * sizeof *src);
    if (src == NULL)
        return error_set(error, TR_ENOMEM, "%s: no memory to copy its edges", graph->name);
    uint64_t *dst = src + EDGES_AT_ONCE;
    int rv = 0;
    for (uint32_t type = 0; type < graph->types.num_etypes; type++) {
        for (uint64_t done = 0; rv == 0 && done < graph->num_edges[type];) {
            uint64_t some = smaller(graph->num_edges[type] - done, EDGES_AT_ONCE);
            rv = raw_read_edges(graph, type, done, some, src, dst, error);
            if (rv == 0 && reverse != NULL)
                reverse_pairs_add_doubled(reverse, some, src, dst, &behind);
            if (rv == 0)
                rv = raw_writer_edges(writer, type, some, src, dst, error);
            if (rv == 0 && both_ways)
                rv = raw_writer_edges(writer, graph->types.num_etypes + type, some, dst, src,
                                      error);
            done += some;
        }
    }
    free(src);
    return rv;
}

/* A sparse table stays sparse. */
static int copy_csr(struct raw_graph *graph, uint32_t index, struct raw_writer *writer,
                    struct error *error)
{
    const struct raw_table *table = &graph->tables[index];
    struct raw_csr_block block = { 0 };
    uint32_t out;
    int rv = raw_writer_add_csr(writer, table->name, table->type, table->dtype, table->width,
                                table->csr->has_values, &out, error);
    for (uint64_t done = 0; rv == 0 && done < table->num_rows;) {
        rv = raw_csr_read(graph, index, done, table->num_rows - done, &block, error);
        if (rv == 0)
            rv = raw_writer_csr_rows(writer, out, block.num_rows, block.index, block.columns,
                                     block.values, error);
        done += block.num_rows;
    }
    raw_csr_block_fini(&block);
    return rv;
}

/* type: of the table in the copy. */
static int copy_table(struct raw_graph *graph, uint32_t index, uint32_t type,
                      struct raw_writer *writer, struct error *error)
{
    const struct raw_table *table = &graph->tables[index];
    uint32_t out;
    if (table->csr != NULL)
        return copy_csr(graph, index, writer, error);
    int rv = raw_writer_add_table(writer, table->name, table->on_edges, type, table->dtype,
                                  table->ndim, table->shape, &out, error);
    if (rv != 0)
        return rv;
    uint64_t at_once = table->row_bytes == 0 ? table->num_rows : ROWS_BYTES / table->row_bytes;
    if (at_once == 0)
        at_once = 1;
    size_t row_bytes = table->row_bytes > 0 ? table->row_bytes : 1;
    void *rows = malloc(table->row_bytes > 0 ? (size_t)at_once * row_bytes : 1);
    if (rows == NULL)
        return error_set(error, TR_ENOMEM, "%s: no memory to copy '%s'", graph->name, table->name);
    for (uint64_t done = 0; rv == 0 && done < table->num_rows;) {
        uint64_t some = smaller(table->num_rows - done, at_once);
        rv = raw_read_rows(graph, index, done, some, rows, error);
        if (rv == 0)
            rv = raw_writer_rows(writer, out, some, rows, error);
        done += some;
    }
    free(rows);
    return rv;
}

static int copy_names(const struct raw_names *names, struct raw_writer *writer, struct error *error)
{
    struct name_list list;
    uint32_t out;
    uint64_t offsets[NAMES_AT_ONCE + 1];
    char *text = NULL;
    int rv = name_list_open(&list, names->files, names->stem, names->count, error);
    if (rv != 0)
        return rv;
    rv = raw_writer_add_names(writer, names->key.of, names->key.ntype, names->key.table, &out,
                              error);
    for (uint64_t done = 0; rv == 0 && done < names->count;) {
        uint64_t some = smaller(names->count - done, NAMES_AT_ONCE);
        rv = name_list_offsets(&list, done, some, offsets, error);
        if (rv != 0)
            break;
        free(text);
        text = malloc((size_t)(offsets[some] - offsets[0]) + 1);
        rv = text == NULL ? error_set(error, TR_ENOMEM, "%s: no memory to copy it", names->stem)
                          : name_list_text(&list, offsets, some, text, error);
        for (uint64_t i = 0; rv == 0 && i < some; i++)
            rv = raw_writer_name(writer, out, text + (offsets[i] - offsets[0]),
                                 (size_t)(offsets[i + 1] - offsets[i] - 1), error);
        done += some;
    }
    free(text);
    name_list_close(&list);
    return rv;
}

/* The types of the graph, and behind them one for the reverse of each edge type. */
static int add_reverse_types(const struct raw_graph *graph, struct graph_types *types,
                             struct error *error)
{
    const struct graph_types *from = &graph->types;
    int rv = graph_types_copy(types, from);
    if (rv != 0)
        return error_set(error, rv, "%s: no memory for the types of the graph", graph->name);
    for (uint32_t e = 0; rv == 0 && e < from->num_etypes; e++) {
        const struct graph_etype *etype = &from->etypes[e];
        char *name = NULL;
        if (asprintf(&name, "%s:rev_%s:%s", from->ntypes[etype->dst], etype->name,
                     from->ntypes[etype->src]) < 0)
            return error_set(error, TR_ENOMEM, "%s: no memory for the types of the graph",
                             graph->name);
        rv = graph_types_add_etype(types, name, error);
        if (rv == TR_EEXIST)
            error_set(
                error, rv,
                "%s: the graph has edges of type '%s' already: it has the reverse ones; leave "
                "\"reverse_types\" out",
                graph->name, name);
        free(name);
    }
    return rv;
}

int raw_copy(struct raw_graph *graph, const char *path, const struct raw_write_options *options,
             struct error *error)
{
    return raw_copy_with(graph, NULL, RAW_ROWS_SMALLER, NULL, path, options, error);
}

int raw_copy_with(struct raw_graph *graph, struct node_features *features, enum raw_rows form,
                  struct reverse_pairs *reverse, const char *path,
                  const struct raw_write_options *options, struct error *error)
{
    struct raw_writer *writer;
    struct graph_types types = { 0 };
    bool both_ways = options != NULL && options->reverse_types;
    int rv = both_ways ? add_reverse_types(graph, &types, error) : 0;
    if (rv == 0)
        rv = raw_writer_open(path, options, graph->name, both_ways ? &types : &graph->types,
                             graph->num_nodes, &writer, error);
    graph_types_fini(&types);
    if (rv != 0)
        return rv;
    raw_writer_set_first_id(writer, graph->first_id);
    rv = copy_edges(graph, reverse, both_ways, writer, error);
    for (uint32_t i = 0; rv == 0 && i < graph->num_tables; i++) {
        const struct raw_table *table = &graph->tables[i];
        rv = copy_table(graph, i, table->type, writer, error);
        if (rv == 0 && both_ways && table->on_edges)
            rv = copy_table(graph, i, graph->types.num_etypes + table->type, writer, error);
    }
    for (uint32_t i = 0; rv == 0 && i < graph->num_names; i++)
        rv = copy_names(&graph->names[i], writer, error);
    if (rv == 0 && features != NULL)
        rv = node_features_write(features, graph->num_nodes[0],
                                 raw_find_table(graph, false, 0, "label") >= 0, form, writer,
                                 error);
    if (rv == 0)
        return raw_writer_commit(writer, error);
    raw_writer_abort(writer);
    return rv;
}
