/* SPDX-License-Identifier: Apache-2.0 */
/* Answers for a graph from its book, without a message. */
#include <string.h>

#include "api/internal.h"

struct node *graph_node(struct tr_graph *graph)
{
    return graph->node;
}

const char *tr_graph_path(const struct tr_graph *graph)
{
    return graph->path;
}

uint32_t tr_graph_num_ntypes(const struct tr_graph *graph)
{
    return graph->book->types.num_ntypes;
}

uint32_t tr_graph_num_etypes(const struct tr_graph *graph)
{
    return graph->book->types.num_etypes;
}

uint32_t tr_graph_num_parts(const struct tr_graph *graph)
{
    return graph->book->num_parts;
}

const char *tr_graph_ntype_name(const struct tr_graph *graph, uint32_t ntype)
{
    return ntype < graph->book->types.num_ntypes ? graph->book->types.ntypes[ntype] : NULL;
}

const char *tr_graph_etype_name(const struct tr_graph *graph, uint32_t etype)
{
    return etype < graph->book->types.num_etypes ? graph->book->types.etypes[etype].name : NULL;
}

uint64_t tr_graph_num_nodes(const struct tr_graph *graph, uint32_t ntype)
{
    return ntype < graph->book->types.num_ntypes ? graph->book->num_nodes[ntype] : 0;
}

uint64_t tr_graph_num_edges(const struct tr_graph *graph, uint32_t etype)
{
    return etype < graph->book->types.num_etypes ? graph->book->num_edges[etype] : 0;
}

uint32_t tr_graph_num_features(const struct tr_graph *graph, uint32_t ntype)
{
    return ntype < graph->meta.num_ntypes ? graph->meta.nodes[ntype].num_features : 0;
}

static int give_feature(const struct feature_meta *meta, struct tr_feature_info *info,
                        struct tr_error *error)
{
    const struct tr_feature_info full = { .size = sizeof full,
                                          .name = meta->name,
                                          .dtype = meta->dtype,
                                          .width = meta->width,
                                          .row_bytes = meta->row_bytes,
                                          .sparse = meta->form == TABLE_CSR };
    return sized_write(info, &full, sizeof full, "tr_feature_info", error);
}

int tr_graph_feature(const struct tr_graph *graph, uint32_t ntype, uint32_t feature,
                     struct tr_feature_info *info, struct tr_error *error)
{
    int rv = session_mine(graph->session, error);
    if (rv != 0)
        return rv;
    if (feature >= tr_graph_num_features(graph, ntype))
        return tr_error_set(error, TR_ERANGE, "node type %u has no feature %u", ntype, feature);
    return give_feature(&graph->meta.nodes[ntype].features[feature], info, error);
}

/* What makes a table that training needs. */
static const char *feature_remedy(const char *name)
{
    if (strcmp(name, "feat") == 0)
        return ", and `troupe feature` makes some of the raw graph's edges, before it is "
               "partitioned";
    if (strcmp(name, "label") == 0)
        return ", and `troupe import table --labels COLUMN` makes this one of a table";
    if (strcmp(name, "train_mask") == 0)
        return ", and `troupe split` makes masks of the raw graph's nodes, before it is "
               "partitioned";
    return "";
}

int tr_graph_find_feature(const struct tr_graph *graph, uint32_t ntype, const char *name,
                          struct tr_feature_info *info, struct tr_error *error)
{
    int rv = session_mine(graph->session, error);
    if (rv != 0)
        return rv;
    for (uint32_t i = 0; i < tr_graph_num_features(graph, ntype); i++)
        if (strcmp(graph->meta.nodes[ntype].features[i].name, name) == 0)
            return tr_graph_feature(graph, ntype, i, info, error);
    return tr_error_set(error, TR_ENOENT,
                        "node type '%s' of graph '%s' has no feature '%s'; `troupe inspect`"
                        " lists them%s",
                        ntype < graph->meta.num_ntypes ? graph->book->types.ntypes[ntype] : "?",
                        graph->book->graph_name, name, feature_remedy(name));
}

uint32_t tr_graph_num_edge_features(const struct tr_graph *graph, uint32_t etype)
{
    return etype < graph->meta.num_etypes ? graph->meta.edges[etype].num_features : 0;
}

int tr_graph_edge_feature(const struct tr_graph *graph, uint32_t etype, uint32_t feature,
                          struct tr_feature_info *info, struct tr_error *error)
{
    int rv = session_mine(graph->session, error);
    if (rv != 0)
        return rv;
    if (feature >= tr_graph_num_edge_features(graph, etype))
        return tr_error_set(error, TR_ERANGE, "edge type %u has no feature %u", etype, feature);
    return give_feature(&graph->meta.edges[etype].features[feature], info, error);
}

int tr_graph_find_edge_feature(const struct tr_graph *graph, uint32_t etype, const char *name,
                               struct tr_feature_info *info, struct tr_error *error)
{
    int rv = session_mine(graph->session, error);
    if (rv != 0)
        return rv;
    for (uint32_t i = 0; i < tr_graph_num_edge_features(graph, etype); i++)
        if (strcmp(graph->meta.edges[etype].features[i].name, name) == 0)
            return tr_graph_edge_feature(graph, etype, i, info, error);
    return tr_error_set(
        error, TR_ENOENT,
        "edge type '%s' of graph '%s' has no feature '%s'; `troupe inspect` lists them",
        etype < graph->meta.num_etypes ? graph->book->types.etypes[etype].name : "?",
        graph->book->graph_name, name);
}

int graph_find_name(const struct tr_graph *graph, const char *name, const char *option,
                    uint32_t *out, struct tr_error *error)
{
    *out = MSG_MASK_ALL;
    if (name == NULL)
        return 0;
    int number = graph_meta_name(&graph->meta, name);
    if (number < 0)
        return tr_error_set(error, TR_ENOENT, "%s: the graph has no feature \"%s\"", option, name);
    *out = (uint32_t)number;
    return 0;
}
