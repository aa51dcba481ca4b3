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

static int add(struct graph_meta *meta, uint32_t ntype, const struct feature_table *table)
{
    struct node_meta *node = &meta->nodes[ntype];
    int number = graph_meta_name(meta, table->name);
    char *name = strdup(table->name);
    if (name == NULL)
        return TR_ENOMEM;
    node->features[node->num_features++] = (struct feature_meta){
        .name = name,
        .dtype = table->dtype,
        .width = table->width,
        .row_bytes = table->row_bytes,
        .name_number = number >= 0 ? (uint32_t)number : meta->num_names,
    };
    meta->num_names += number < 0;
    return 0;
}

int graph_meta_init(struct graph_meta *meta, const struct graph_part *part)
{
    *meta = (struct graph_meta){ .num_ntypes = part->types->num_ntypes };
    meta->nodes = calloc(meta->num_ntypes + 1, sizeof *meta->nodes);
    int rv = meta->nodes == NULL ? TR_ENOMEM : 0;
    for (uint32_t t = 0; t < meta->num_ntypes && rv == 0; t++) {
        const struct node_part *from = &part->nodes[t];
        meta->nodes[t].features = calloc(from->num_features + 1, sizeof *meta->nodes[t].features);
        rv = meta->nodes[t].features == NULL ? TR_ENOMEM : 0;
        for (uint32_t i = 0; i < from->num_features && rv == 0; i++)
            rv = add(meta, t, &from->features[i]);
    }
    if (rv != 0)
        graph_meta_fini(meta);
    return rv;
}

void graph_meta_add_part(struct graph_meta *meta, const struct graph_part *part)
{
    for (uint32_t e = 0; e < part->types->num_etypes; e++)
        if (part->edges[e].csc.column_global != NULL)
            meta->nodes[part->types->etypes[e].src].wide = true;
}

int graph_meta_check_part(const struct graph_meta *meta, const struct graph_part *part,
                          struct error *error)
{
    for (uint32_t e = 0; e < part->types->num_etypes; e++) {
        const struct csc *csc = &part->edges[e].csc;
        const struct graph_etype *type = &part->types->etypes[e];
        if (meta->nodes[type->src].wide && csc->column_global == NULL && csc->num_edges > 0)
            return error_set(error, TR_EFORMAT, "partition %" PRIu32 ", edge type %s: it has no "
                             "column table, but other edges from nodes of type %s have one; "
                             "partition the graph again", part->part_id, type->name,
                             part->types->ntypes[type->src]);
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
