/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/graph_meta.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

int graph_meta_name(const struct graph_meta *meta, const char *name)
{
    for (uint32_t t = 0; t < meta->num_ntypes; t++)
        for (uint32_t i = 0; i < meta->nodes[t].num_features; i++)
            if (strcmp(meta->nodes[t].features[i].name, name) == 0)
                return (int)meta->nodes[t].features[i].name_number;
    return -1;
}

int graph_meta_table(const struct graph_meta *meta, uint32_t ntype, uint32_t name_number)
{
    for (uint32_t i = 0; i < meta->nodes[ntype].num_features; i++)
        if (meta->nodes[ntype].features[i].name_number == name_number)
            return (int)i;
    return -1;
}

int graph_meta_create(struct graph_meta *meta, uint32_t num_ntypes)
{
    *meta = (struct graph_meta){ .num_ntypes = num_ntypes };
    meta->nodes = calloc(num_ntypes + (size_t)1, sizeof *meta->nodes);
    return meta->nodes == NULL ? TR_ENOMEM : 0;
}

int graph_meta_add_table(struct graph_meta *meta, uint32_t ntype, const char *name,
                         enum tr_dtype dtype, uint64_t width, size_t row_bytes)
{
    struct node_meta *node = &meta->nodes[ntype];
    size_t count = node->num_features + (size_t)1;
    struct feature_meta *features = realloc(node->features, count * sizeof *features);
    if (features == NULL)
        return TR_ENOMEM;
    node->features = features;
    int number = graph_meta_name(meta, name);
    char *copy = strdup(name);
    if (copy == NULL)
        return TR_ENOMEM;
    features[node->num_features++] = (struct feature_meta){
        .name = copy,
        .dtype = dtype,
        .width = width,
        .row_bytes = row_bytes,
        .name_number = number >= 0 ? (uint32_t)number : meta->num_names,
    };
    meta->num_names += number < 0;
    return 0;
}

int graph_meta_init(struct graph_meta *meta, const struct graph_part *part)
{
    int rv = graph_meta_create(meta, part->types->num_ntypes);
    for (uint32_t t = 0; t < meta->num_ntypes && rv == 0; t++)
        for (uint32_t i = 0; i < part->nodes[t].num_features && rv == 0; i++) {
            const struct feature_table *table = &part->nodes[t].features[i];
            rv = graph_meta_add_table(meta, t, table->name, table->dtype, table->width,
                                      table->row_bytes);
        }
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

void graph_meta_fini(struct graph_meta *meta)
{
    for (uint32_t t = 0; meta->nodes != NULL && t < meta->num_ntypes; t++) {
        for (uint32_t i = 0; i < meta->nodes[t].num_features; i++)
            free(meta->nodes[t].features[i].name);
        free(meta->nodes[t].features);
    }
    free(meta->nodes);
    *meta = (struct graph_meta){ 0 };
}
