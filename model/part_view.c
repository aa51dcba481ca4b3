/* SPDX-License-Identifier: Apache-2.0 */
#include "model/part_view.h"

#include <stdbool.h>
#include <stdlib.h>

struct part_view {
    struct graph_part part;
    struct graph_types types; /* their numbers alone: the models know no names of types */
    struct node_part nodes;
    struct edge_part edges;
    struct feature_table tables[2];
    struct csr_rows sparse[2]; /* of the tables that are */
    struct feature_table edge_table;
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
                        const char *name)
{
    struct tr_sparse_rows rows = TR_SPARSE_ROWS_INIT;
    struct csr_rows *csr = &view->sparse[view->nodes.num_features];
    if (tr_graph_part_sparse_rows(graph, part, 0, name, &rows, NULL) != 0)
        return false;
    *csr = (struct csr_rows){ .num_rows = rows.num_rows,
                              .width = rows.width,
                              .dtype = rows.dtype,
                              .row_nnz_max = rows.row_elements_max,
                              .index = rows.index,
                              .columns = rows.columns,
                              .values = rows.values };
    view->tables[view->nodes.num_features++] = (struct feature_table){
        .name = name,
        .dtype = rows.dtype,
        .num_rows = rows.num_rows,
        .width = rows.width,
        .row_bytes = (size_t)rows.width * tr_dtype_size(rows.dtype),
        .form = TABLE_CSR,
        .csr = csr
    };
    return true;
}

/* A partition without that table shows none; the function that needs it says so. */
static void show_table(struct part_view *view, const struct tr_graph *graph, uint32_t part,
                       const char *name)
{
    struct tr_rows rows = TR_ROWS_INIT;
    if (name == NULL || show_sparse(view, graph, part, name) ||
        tr_graph_part_rows(graph, part, 0, name, &rows, NULL) != 0)
        return;
    view->tables[view->nodes.num_features++] = view_table(name, &rows);
}

static void show_edge_table(struct part_view *view, const struct tr_graph *graph, uint32_t part,
                            const char *name)
{
    struct tr_rows rows = TR_ROWS_INIT;
    if (name == NULL || tr_graph_part_edge_rows(graph, part, 0, name, &rows, NULL) != 0)
        return;
    view->edge_table = view_table(name, &rows);
    view->edges.features = &view->edge_table;
    view->edges.num_features = 1;
}

static int show_part(struct part_views *views, uint32_t part, struct error *error)
{
    struct part_view *view = &views->views[part];
    struct tr_part_nodes nodes = TR_PART_NODES_INIT;
    struct tr_part_edges edges = TR_PART_EDGES_INIT;
    struct tr_error why = TR_ERROR_INIT;
    int rv = tr_graph_part_nodes(views->graph, part, 0, &nodes, &why);
    if (rv == TR_ENOENT) /* not here */
        return 0;
    if (rv == 0)
        rv = tr_graph_part_edges(views->graph, part, 0, &edges, &why);
    if (rv != 0)
        return error_set(error, rv, "%s", why.message);
    *view = (struct part_view){
        .types = { .num_ntypes = 1, .num_etypes = 1 },
        .nodes = { .num_nodes = nodes.num_nodes,
                   .global_begin = nodes.first_id,
                   .original_ids = nodes.original_ids,
                   .in_degrees = nodes.in_degrees,
                   .out_degrees = nodes.out_degrees,
                   .features = view->tables },
        .edges = { .csc = { .num_rows = edges.num_rows,
                            .num_edges = edges.num_edges,
                            .index = edges.index,
                            .indices = edges.sources,
                            .column_global = edges.source_ids,
                            .first_edge = edges.first_edge } },
    };
    view->part = (struct graph_part){
        .part_id = part, .types = &view->types, .nodes = &view->nodes, .edges = &view->edges
    };
    show_table(view, views->graph, part, views->features);
    show_table(view, views->graph, part, views->labels);
    show_edge_table(view, views->graph, part, views->edge_weight);
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
                    const char *labels, const char *edge_weight, struct error *error)
{
    uint32_t count = tr_graph_num_parts(graph);
    *views = (struct part_views){
        .graph = graph,
        .features = features,
        .labels = labels,
        .edge_weight = edge_weight,
        .count = count,
    };
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
    free(views->views);
    free(views->parts);
    *views = (struct part_views){ 0 };
}
