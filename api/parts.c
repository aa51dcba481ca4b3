/* SPDX-License-Identifier: Apache-2.0 */
/* The partitions in this process, as a program may read them in place. */
#include <troupe/part.h>

#include "api/internal.h"
#include "api/sized.h"

int tr_graph_map_parts(struct tr_graph *graph, struct tr_error *error)
{
    return graph_map_parts(graph, error);
}

static int find_part(const struct tr_graph *graph, uint32_t number, const struct graph_part **part,
                     struct tr_error *error)
{
    int rv = session_mine(graph->session, error);
    if (rv != 0)
        return rv;
    const struct graph_part *const *parts = graph_parts(graph);
    if (number >= graph->book->num_parts)
        return tr_error_set(error, TR_ERANGE, "the graph has no partition %u: it has %u", number,
                            graph->book->num_parts);
    if (parts == NULL || parts[number] == NULL)
        return tr_error_set(error, TR_ENOENT,
                            "partition %u is not in this process; tr_graph_map_parts() brings all",
                            number);
    *part = parts[number];
    return 0;
}

static int find_nodes(const struct tr_graph *graph, uint32_t part, uint32_t ntype,
                      const struct node_part **nodes, struct tr_error *error)
{
    const struct graph_part *here;
    int rv = find_part(graph, part, &here, error);
    if (rv == 0 && ntype >= here->types->num_ntypes)
        rv = tr_error_set(error, TR_ERANGE, "the graph has no node type %u", ntype);
    if (rv == 0)
        *nodes = &here->nodes[ntype];
    return rv;
}

int tr_graph_part_nodes(const struct tr_graph *graph, uint32_t part, uint32_t ntype,
                        struct tr_part_nodes *nodes, struct tr_error *error)
{
    const struct node_part *from;
    int rv = find_nodes(graph, part, ntype, &from, error);
    if (rv != 0)
        return rv;
    const struct tr_part_nodes shown = { .size = sizeof shown,
                                         .num_nodes = from->num_nodes,
                                         .first_id = from->global_begin,
                                         .original_ids = from->original_ids,
                                         .in_degrees = from->in_degrees,
                                         .out_degrees = from->out_degrees };
    return sized_write(nodes, &shown, sizeof shown, "tr_part_nodes", error);
}

static int find_edges(const struct tr_graph *graph, uint32_t part, uint32_t etype,
                      const struct edge_part **edges, struct tr_error *error)
{
    const struct graph_part *here;
    int rv = find_part(graph, part, &here, error);
    if (rv == 0 && etype >= here->types->num_etypes)
        rv = tr_error_set(error, TR_ERANGE, "the graph has no edge type %u", etype);
    if (rv == 0)
        *edges = &here->edges[etype];
    return rv;
}

int tr_graph_part_edges(const struct tr_graph *graph, uint32_t part, uint32_t etype,
                        struct tr_part_edges *edges, struct tr_error *error)
{
    const struct edge_part *found;
    int rv = find_edges(graph, part, etype, &found, error);
    if (rv != 0)
        return rv;
    const struct csc *from = &found->csc;
    const struct tr_part_edges shown = { .size = sizeof shown,
                                         .num_rows = from->num_rows,
                                         .num_edges = from->num_edges,
                                         .index = from->index,
                                         .sources = from->indices,
                                         .source_ids = from->column_global,
                                         .first_edge = from->first_edge };
    return sized_write(edges, &shown, sizeof shown, "tr_part_edges", error);
}

static int show_rows(const struct feature_table *table, struct tr_rows *rows,
                     struct tr_error *error)
{
    if (table->form != TABLE_DENSE)
        return tr_error_set(error, TR_EUNSUPPORTED,
                            "feature '%s' is sparse; tr_graph_part_sparse_rows() shows its rows",
                            table->name);
    const struct tr_rows shown = { .size = sizeof shown,
                                   .dtype = table->dtype,
                                   .num_rows = table->num_rows,
                                   .width = table->width,
                                   .row_bytes = table->row_bytes,
                                   .rows = table->rows };
    return sized_write(rows, &shown, sizeof shown, "tr_rows", error);
}

static int find_table(const struct tr_graph *graph, uint32_t part, uint32_t ntype,
                      const char *feature, const struct feature_table **table,
                      struct tr_error *error)
{
    const struct node_part *from;
    int rv = find_nodes(graph, part, ntype, &from, error);
    if (rv != 0)
        return rv;
    *table = node_part_feature(from, feature);
    return *table != NULL ? 0
                          : tr_error_set(error, TR_ENOENT, "partition %u has no node feature '%s'",
                                         part, feature);
}

int tr_graph_part_rows(const struct tr_graph *graph, uint32_t part, uint32_t ntype,
                       const char *feature, struct tr_rows *rows, struct tr_error *error)
{
    const struct feature_table *table;
    int rv = find_table(graph, part, ntype, feature, &table, error);
    return rv == 0 ? show_rows(table, rows, error) : rv;
}

int tr_graph_part_edge_rows(const struct tr_graph *graph, uint32_t part, uint32_t etype,
                            const char *feature, struct tr_rows *rows, struct tr_error *error)
{
    const struct edge_part *from;
    int rv = find_edges(graph, part, etype, &from, error);
    if (rv != 0)
        return rv;
    const struct feature_table *table = edge_part_feature(from, feature);
    if (table == NULL)
        return tr_error_set(error, TR_ENOENT, "partition %u has no edge feature '%s'", part,
                            feature);
    return show_rows(table, rows, error);
}

int tr_graph_part_sparse_rows(const struct tr_graph *graph, uint32_t part, uint32_t ntype,
                              const char *feature, struct tr_sparse_rows *rows,
                              struct tr_error *error)
{
    const struct feature_table *table;
    int rv = find_table(graph, part, ntype, feature, &table, error);
    if (rv == 0 && table->form != TABLE_CSR)
        rv = tr_error_set(error, TR_EUNSUPPORTED,
                          "feature '%s' is dense; tr_graph_part_rows() shows its rows", feature);
    if (rv != 0)
        return rv;
    const struct tr_sparse_rows shown = { .size = sizeof shown,
                                          .dtype = table->dtype,
                                          .row_elements_max = table->csr->row_nnz_max,
                                          .num_rows = table->num_rows,
                                          .width = table->width,
                                          .index = table->csr->index,
                                          .columns = table->csr->columns,
                                          .values = table->csr->values };
    return sized_write(rows, &shown, sizeof shown, "tr_sparse_rows", error);
}
