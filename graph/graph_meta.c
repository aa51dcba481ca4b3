/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/graph_meta.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static int find_name(const struct feature_meta *features, uint32_t count, const char *name)
{
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(features[i].name, name) == 0)
            return (int)features[i].name_number;
    return -1;
}

int graph_meta_name(const struct graph_meta *meta, const char *name)
{
    int number = -1;
    for (uint32_t t = 0; t < meta->num_ntypes && number < 0; t++)
        number = find_name(meta->nodes[t].features, meta->nodes[t].num_features, name);
    return number;
}

int graph_meta_edge_name(const struct graph_meta *meta, const char *name)
{
    int number = -1;
    for (uint32_t e = 0; e < meta->num_etypes && number < 0; e++)
        number = find_name(meta->edges[e].features, meta->edges[e].num_features, name);
    return number;
}

static int find_table(const struct feature_meta *features, uint32_t count, uint32_t name_number)
{
    for (uint32_t i = 0; i < count; i++)
        if (features[i].name_number == name_number)
            return (int)i;
    return -1;
}

int graph_meta_table(const struct graph_meta *meta, uint32_t ntype, uint32_t name_number)
{
    return find_table(meta->nodes[ntype].features, meta->nodes[ntype].num_features, name_number);
}

int graph_meta_edge_table(const struct graph_meta *meta, uint32_t etype, uint32_t name_number)
{
    return find_table(meta->edges[etype].features, meta->edges[etype].num_features, name_number);
}

int graph_meta_create(struct graph_meta *meta, uint32_t num_ntypes, uint32_t num_etypes)
{
    *meta = (struct graph_meta){ .num_ntypes = num_ntypes, .num_etypes = num_etypes };
    meta->nodes = calloc(num_ntypes + (size_t)1, sizeof *meta->nodes);
    meta->edges = calloc(num_etypes + (size_t)1, sizeof *meta->edges);
    return meta->nodes == NULL || meta->edges == NULL ? TR_ENOMEM : 0;
}

int graph_meta_add_table(struct graph_meta *meta, bool on_edges, uint32_t type, const char *name,
                         enum tr_dtype dtype, uint64_t width, size_t row_bytes)
{
    struct feature_meta **list = on_edges ? &meta->edges[type].features
                                          : &meta->nodes[type].features;
    uint32_t *count = on_edges ? &meta->edges[type].num_features : &meta->nodes[type].num_features;
    struct feature_meta *features = realloc(*list, (*count + (size_t)1) * sizeof *features);
    if (features == NULL)
        return TR_ENOMEM;
    *list = features;
    int number = graph_meta_name(meta, name);
    if (number < 0)
        number = graph_meta_edge_name(meta, name);
    char *copy = strdup(name);
    if (copy == NULL)
        return TR_ENOMEM;
    features[(*count)++] = (struct feature_meta){
        .name = copy,
        .dtype = dtype,
        .width = width,
        .row_bytes = row_bytes,
        .name_number = number >= 0 ? (uint32_t)number : meta->num_names,
    };
    meta->num_names += number < 0;
    return 0;
}

static int add_tables(struct graph_meta *meta, bool on_edges, uint32_t type,
                      const struct feature_table *tables, uint32_t count)
{
    int rv = 0;
    for (uint32_t i = 0; i < count && rv == 0; i++) {
        rv = graph_meta_add_table(meta, on_edges, type, tables[i].name, tables[i].dtype,
                                  tables[i].width, tables[i].row_bytes);
        if (rv == 0 && tables[i].form == TABLE_CSR)
            graph_meta_set_csr(meta, type, tables[i].csr->row_nnz_max,
                               tables[i].csr->values != NULL);
    }
    return rv;
}

void graph_meta_set_csr(struct graph_meta *meta, uint32_t ntype, uint32_t row_nnz_max,
                        bool has_values)
{
    struct node_meta *nodes = &meta->nodes[ntype];
    struct feature_meta *last = &nodes->features[nodes->num_features - 1];
    last->form = TABLE_CSR;
    last->row_nnz_max = row_nnz_max;
    last->has_values = has_values;
}

int graph_meta_init(struct graph_meta *meta, const struct graph_part *part)
{
    int rv = graph_meta_create(meta, part->types->num_ntypes, part->types->num_etypes);
    for (uint32_t t = 0; rv == 0 && t < meta->num_ntypes; t++)
        rv = add_tables(meta, false, t, part->nodes[t].features, part->nodes[t].num_features);
    for (uint32_t e = 0; rv == 0 && e < meta->num_etypes; e++)
        rv = add_tables(meta, true, e, part->edges[e].features, part->edges[e].num_features);
    if (rv != 0)
        graph_meta_fini(meta);
    return rv;
}

void graph_meta_set_wide(struct graph_meta *meta, uint32_t ntype)
{
    meta->nodes[ntype].wide = true;
}

void graph_meta_add_part(struct graph_meta *meta, const struct graph_part *part)
{
    for (uint32_t e = 0; e < part->types->num_etypes; e++)
        if (part->edges[e].csc.column_global != NULL)
            graph_meta_set_wide(meta, part->types->etypes[e].src);
}

int graph_meta_check_part(const struct graph_meta *meta, const struct graph_part *part,
                          struct error *error)
{
    for (uint32_t e = 0; e < part->types->num_etypes; e++) {
        const struct csc *csc = &part->edges[e].csc;
        const struct graph_etype *type = &part->types->etypes[e];
        if (meta->nodes[type->src].wide && csc->column_global == NULL && csc->num_edges > 0)
            return error_set(error, TR_EFORMAT,
                             "partition %" PRIu32 ", edge type %s: it has no "
                             "column table, but other edges from nodes of type %s have one; "
                             "partition the graph again",
                             part->part_id, type->name, part->types->ntypes[type->src]);
    }
    return 0;
}

static void free_features(struct feature_meta *features, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        free(features[i].name);
    free(features);
}

void graph_meta_fini(struct graph_meta *meta)
{
    for (uint32_t t = 0; meta->nodes != NULL && t < meta->num_ntypes; t++)
        free_features(meta->nodes[t].features, meta->nodes[t].num_features);
    for (uint32_t e = 0; meta->edges != NULL && e < meta->num_etypes; e++)
        free_features(meta->edges[e].features, meta->edges[e].num_features);
    free(meta->nodes);
    free(meta->edges);
    *meta = (struct graph_meta){ 0 };
}
