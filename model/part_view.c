/* SPDX-License-Identifier: Apache-2.0 */
#include "model/part_view.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Tables of a node type that are viewed: features and labels. */
#define NODE_TABLES 2

struct part_view {
    struct graph_part part;
    struct graph_types types;          /* their numbers alone: the models know names of their own */
    struct node_part *nodes;           /* [node types] */
    struct edge_part *edges;           /* [edge types] */
    struct feature_table *tables;      /* [node types][NODE_TABLES] */
    struct csr_rows *sparse;           /* the same, of the tables that are */
    struct feature_table *edge_tables; /* [edge types][PART_VIEW_EDGE_TABLES] */
};

static struct feature_table view_table(const char *name, const struct tr_rows *rows)
{
    return (struct feature_table){ .name = name,
                                   .dtype = rows->dtype,
                                   .num_rows = rows->num_rows,
                                   .width = rows->width,
                                   .row_bytes = rows->row_bytes,
                                   .rows = rows->rows };
}

static bool show_sparse(struct part_view *view, const struct tr_graph *graph, uint32_t part,
                        uint32_t ntype, const char *name)
{
    struct tr_sparse_rows rows = TR_SPARSE_ROWS_INIT;
    struct node_part *nodes = &view->nodes[ntype];
    size_t place = (size_t)ntype * NODE_TABLES + nodes->num_features;
    struct csr_rows *csr = &view->sparse[place];
    if (tr_graph_part_sparse_rows(graph, part, ntype, name, &rows, NULL) != 0)
        return false;
    *csr = (struct csr_rows){ .num_rows = rows.num_rows,
                              .width = rows.width,
                              .dtype = rows.dtype,
                              .row_nnz_max = rows.row_elements_max,
                              .index = rows.index,
                              .columns = rows.columns,
                              .values = rows.values };
    view->tables[place] = (struct feature_table){ .name = name,
                                                  .dtype = rows.dtype,
                                                  .num_rows = rows.num_rows,
                                                  .width = rows.width,
                                                  .row_bytes = (size_t)rows.width *
                                                               tr_dtype_size(rows.dtype),
                                                  .form = TABLE_CSR,
                                                  .csr = csr };
    nodes->num_features++;
    return true;
}

/* A partition without that table shows none; the function that needs it says so. */
static void show_table(struct part_view *view, const struct tr_graph *graph, uint32_t part,
                       uint32_t ntype, const char *name)
{
    struct tr_rows rows = TR_ROWS_INIT;
    struct node_part *nodes = &view->nodes[ntype];
    if (name == NULL || show_sparse(view, graph, part, ntype, name) ||
        tr_graph_part_rows(graph, part, ntype, name, &rows, NULL) != 0)
        return;
    view->tables[(size_t)ntype * NODE_TABLES + nodes->num_features++] = view_table(name, &rows);
}

static void show_edge_tables(const struct part_views *views, struct part_view *view, uint32_t part,
                             uint32_t etype)
{
    struct edge_part *edges = &view->edges[etype];
    struct feature_table *tables = view->edge_tables + (size_t)etype * PART_VIEW_EDGE_TABLES;
    edges->features = tables;
    for (uint32_t i = 0; i < PART_VIEW_EDGE_TABLES; i++) {
        const char *name = views->edge_tables[i];
        struct tr_rows rows = TR_ROWS_INIT;
        if (name == NULL ||
            tr_graph_part_edge_rows(views->graph, part, etype, name, &rows, NULL) != 0)
            continue;
        tables[edges->num_features++] = view_table(name, &rows);
    }
}

static int show_nodes(const struct part_views *views, struct part_view *view, uint32_t part,
                      uint32_t ntype, struct tr_error *why)
{
    struct tr_part_nodes nodes = TR_PART_NODES_INIT;
    int rv = tr_graph_part_nodes(views->graph, part, ntype, &nodes, why);
    if (rv != 0)
        return rv;
    view->nodes[ntype] = (struct node_part){ .num_nodes = nodes.num_nodes,
                                             .global_begin = nodes.first_id,
                                             .original_ids = nodes.original_ids,
                                             .in_degrees = nodes.in_degrees,
                                             .out_degrees = nodes.out_degrees,
                                             .features = view->tables +
                                                         (size_t)ntype * NODE_TABLES };
    show_table(view, views->graph, part, ntype, views->features);
    show_table(view, views->graph, part, ntype, views->labels);
    return 0;
}

static int show_edges(const struct part_views *views, struct part_view *view, uint32_t part,
                      uint32_t etype, struct tr_error *why)
{
    struct tr_part_edges edges = TR_PART_EDGES_INIT;
    int rv = tr_graph_part_edges(views->graph, part, etype, &edges, why);
    if (rv != 0)
        return rv;
    view->edges[etype] = (struct edge_part){ .csc = { .num_rows = edges.num_rows,
                                                      .num_edges = edges.num_edges,
                                                      .index = edges.index,
                                                      .indices = edges.sources,
                                                      .column_global = edges.source_ids,
                                                      .first_edge = edges.first_edge } };
    show_edge_tables(views, view, part, etype);
    return 0;
}

static int part_view_alloc(struct part_view *view)
{
    size_t ntypes = view->types.num_ntypes, etypes = view->types.num_etypes;
    view->nodes = calloc(ntypes + 1, sizeof *view->nodes);
    view->edges = calloc(etypes + 1, sizeof *view->edges);
    view->tables = calloc(ntypes * NODE_TABLES + 1, sizeof *view->tables);
    view->sparse = calloc(ntypes * NODE_TABLES + 1, sizeof *view->sparse);
    view->edge_tables = calloc(etypes * PART_VIEW_EDGE_TABLES + 1, sizeof *view->edge_tables);
    return view->nodes != NULL && view->edges != NULL && view->tables != NULL &&
                   view->sparse != NULL && view->edge_tables != NULL
               ? 0
               : TR_ENOMEM;
}

static void part_view_fini(struct part_view *view)
{
    free(view->nodes);
    free(view->edges);
    free(view->tables);
    free(view->sparse);
    free(view->edge_tables);
    *view = (struct part_view){ 0 };
}

static int show_part(struct part_views *views, uint32_t part, struct error *error)
{
    struct part_view *view = &views->views[part];
    struct tr_error why = TR_ERROR_INIT;
    view->types.num_ntypes = tr_graph_num_ntypes(views->graph);
    view->types.num_etypes = tr_graph_num_etypes(views->graph);
    if (part_view_alloc(view) != 0) {
        part_view_fini(view);
        return error_set(error, TR_ENOMEM, "no memory for a view of partition %u", part);
    }
    int rv = 0;
    for (uint32_t t = 0; rv == 0 && t < view->types.num_ntypes; t++)
        rv = show_nodes(views, view, part, t, &why);
    for (uint32_t e = 0; rv == 0 && e < view->types.num_etypes; e++)
        rv = show_edges(views, view, part, e, &why);
    if (rv != 0) {
        part_view_fini(view);
        return rv == TR_ENOENT ? 0 /* not here */ : error_set(error, rv, "%s", why.message);
    }
    view->part = (struct graph_part){
        .part_id = part, .types = &view->types, .nodes = view->nodes, .edges = view->edges
    };
    /* The part is shown last, when its view is whole. */
    views->parts[part] = &view->part;
    return 0;
}

int part_views_update(struct part_views *views, struct error *error)
{
    int rv = 0;
    for (uint32_t p = 0; p < views->count && rv == 0; p++)
        if (views->parts[p] == NULL)
            rv = show_part(views, p, error);
    return rv;
}

int part_views_init(struct part_views *views, struct tr_graph *graph, const char *features,
                    const char *labels, const char *const *edge_tables, struct error *error)
{
    uint32_t count = tr_graph_num_parts(graph);
    *views = (struct part_views){
        .graph = graph,
        .features = features,
        .labels = labels,
        .count = count,
    };
    memcpy(views->edge_tables, edge_tables, sizeof views->edge_tables);
    views->views = calloc(count, sizeof *views->views);
    views->parts = calloc(count, sizeof *views->parts);
    if (views->views == NULL || views->parts == NULL) {
        part_views_fini(views);
        return error_set(error, TR_ENOMEM, "no memory for views of %u partitions", count);
    }
    return part_views_update(views, error);
}

void part_views_fini(struct part_views *views)
{
    for (uint32_t p = 0; views->views != NULL && p < views->count; p++)
        part_view_fini(&views->views[p]);
    free(views->views);
    free(views->parts);
    *views = (struct part_views){ 0 };
}
