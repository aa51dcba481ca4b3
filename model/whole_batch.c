/* SPDX-License-Identifier: Apache-2.0 */
#include "model/whole_batch.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "model/exact_features.h"

static int refuse_memory(struct error *error)
{
    return error_set(error, TR_ENOMEM, "exact inference: no memory for all nodes and edges");
}

static const struct csc *edges_into(const struct whole_graph *graph, uint32_t etype,
                                    struct node_place place)
{
    return &graph->parts[place.part]->edges[etype].csc;
}

static int count_edges(const struct whole_graph *graph, uint32_t etype, const char *name,
                       uint64_t *total, struct error *error)
{
    *total = 0;
    for (uint32_t p = 0; p < graph->num_parts; p++)
        *total += graph->parts[p]->edges[etype].csc.num_edges;
    if (*total < UINT32_MAX)
        return 0;
    return error_set(error, TR_ETOOBIG, "exact inference: %" PRIu64 " edges of '%s', at most %u",
                     *total, name, UINT32_MAX - 1);
}

/* Destinations by original ID; their edges stand as they stand in every partitioning. */
static int take_edges(struct whole_batch *whole, const struct model_types *types,
                      const struct whole_graph *graph, uint32_t etype, struct error *error)
{
    const struct node_map *dst = &graph->maps[types->etypes[etype].dst];
    const struct node_map *src = &graph->maps[types->etypes[etype].src];
    uint64_t total;
    int rc = count_edges(graph, etype, types->etypes[etype].name, &total, error);
    if (rc != 0)
        return rc;
    if (storage_reserve(&whole->memory[etype], dst->num_nodes + 1 + total, sizeof(uint32_t)) != 0)
        return refuse_memory(error);
    uint32_t *index = whole->memory[etype].data, *sources = index + dst->num_nodes + 1, at = 0;
    index[0] = 0;
    for (uint32_t v = 0; v < dst->num_nodes; v++) {
        struct node_place place = dst->places[v];
        const struct csc *csc = edges_into(graph, etype, place);
        const struct drawn_edges *drawn =
            graph->drawn == NULL ? NULL
                                 : &graph->drawn[(size_t)place.part * types->num_etypes + etype];
        for (uint64_t e = csc->index[place.row]; e < csc->index[place.row + 1]; e++) {
            uint32_t source = node_map_source(src, csc, csc->indices[e]);
            if ((graph->links == NULL || link_split_passes(graph->links, etype, source, v)) &&
                (drawn == NULL || drawn_edges_pass(drawn, e)))
                sources[at++] = source;
        }
        index[v + 1] = at;
    }
    whole->edges[etype] = (struct block_edges){
        .num_dst = dst->num_nodes, .num_edges = at, .index = index, .sources = sources
    };
    /* The last layer has destinations of the targets alone. */
    if (model_types_is_target(types, types->etypes[etype].dst))
        whole->edges[whole->num_etypes + etype] = whole->edges[etype];
    return 0;
}

static int take_features(struct whole_batch *whole, const struct model_ntype *type,
                         const struct whole_graph *graph, uint32_t ntype, struct error *error)
{
    const struct node_map *map = &graph->maps[ntype];
    struct tensor *rows = &whole->features[ntype];
    if (type->inputs == 0)
        return 0;
    if (tensor_resize(rows, map->num_nodes, type->inputs) != 0)
        return refuse_memory(error);
    for (uint32_t v = 0; v < map->num_nodes; v++) {
        const struct graph_part *part = graph->parts[map->places[v].part];
        const struct feature_table *table = node_part_feature(&part->nodes[ntype], graph->features);
        if (table == NULL)
            return error_set(error, TR_ENOENT,
                             "exact inference: partition %u has no feature '%s' of type '%s'",
                             part->part_id, graph->features, type->name);
        if (table->width != type->inputs)
            return error_set(error, TR_EMISMATCH,
                             "exact inference: feature '%s' of type '%s' has %" PRIu64
                             " columns; the model takes %u",
                             graph->features, type->name, table->width, type->inputs);
        exact_features_row(table, map->places[v].row, tensor_row(rows, v));
    }
    whole->nodes[ntype].features = (struct batch_rows){ TR_F32, map->num_nodes, type->inputs,
                                                        type->inputs * sizeof(float), rows->data };
    return 0;
}

static int whole_batch_alloc(struct whole_batch *whole, uint32_t layers)
{
    size_t ntypes = whole->num_ntypes, etypes = whole->num_etypes;
    whole->blocks = calloc((size_t)layers + 1, sizeof *whole->blocks);
    whole->nodes = calloc(ntypes + 1, sizeof *whole->nodes);
    whole->counts = calloc(2 * ntypes + 1, sizeof *whole->counts);
    whole->edges = calloc(2 * etypes + 1, sizeof *whole->edges);
    whole->memory = calloc(etypes + 1, sizeof *whole->memory);
    whole->features = calloc(ntypes + 1, sizeof *whole->features);
    return whole->blocks != NULL && whole->nodes != NULL && whole->counts != NULL &&
                   whole->edges != NULL && whole->memory != NULL && whole->features != NULL
               ? 0
               : TR_ENOMEM;
}

static int take_nodes(struct whole_batch *whole, const struct model_types *types,
                      const struct whole_graph *graph)
{
    uint32_t most = 0;
    for (uint32_t t = 0; t < types->num_ntypes; t++)
        most = graph->maps[t].num_nodes > most ? graph->maps[t].num_nodes : most;
    whole->ids = malloc(((size_t)most + 1) * sizeof *whole->ids);
    if (whole->ids == NULL)
        return TR_ENOMEM;
    for (uint32_t v = 0; v < most; v++)
        whole->ids[v] = v;
    for (uint32_t t = 0; t < types->num_ntypes; t++) {
        uint32_t count = graph->maps[t].num_nodes;
        bool target = model_types_is_target(types, t);
        whole->counts[t] = count;
        whole->counts[types->num_ntypes + t] = target ? count : 0;
        whole->nodes[t] = (struct batch_nodes){ .num_nodes = count,
                                                .num_seeds = target ? count : 0,
                                                .original_ids = whole->ids };
    }
    return 0;
}

int whole_batch_init(struct whole_batch *whole, const struct model *model,
                     const struct whole_graph *graph, struct error *error)
{
    const struct model_types *types = &model_params(model)->types;
    uint32_t layers = model_configuration(model)->layers;
    *whole = (struct whole_batch){ .num_ntypes = types->num_ntypes,
                                   .num_etypes = types->num_etypes };
    if (whole_batch_alloc(whole, layers) != 0 || take_nodes(whole, types, graph) != 0)
        return refuse_memory(error);
    int rc = 0;
    for (uint32_t e = 0; rc == 0 && e < types->num_etypes; e++)
        rc = take_edges(whole, types, graph, e, error);
    for (uint32_t t = 0; rc == 0 && t < types->num_ntypes; t++)
        rc = take_features(whole, &types->ntypes[t], graph, t, error);
    for (uint32_t l = 0; l < layers; l++) {
        bool last = l + 1 == layers;
        whole->blocks[l] = (struct block){ .num_src = whole->counts,
                                           .num_dst = whole->counts + last * types->num_ntypes,
                                           .edges = whole->edges + last * types->num_etypes };
    }
    whole->batch = (struct mini_batch){ .num_ntypes = types->num_ntypes,
                                        .num_etypes = types->num_etypes,
                                        .num_layers = layers,
                                        .blocks = whole->blocks,
                                        .nodes = whole->nodes };
    return rc;
}

void whole_batch_fini(struct whole_batch *whole)
{
    for (uint32_t e = 0; whole->memory != NULL && e < whole->num_etypes; e++)
        storage_fini(&whole->memory[e]);
    for (uint32_t t = 0; whole->features != NULL && t < whole->num_ntypes; t++)
        tensor_fini(&whole->features[t]);
    free(whole->blocks);
    free(whole->nodes);
    free(whole->counts);
    free(whole->edges);
    free(whole->memory);
    free(whole->features);
    free(whole->ids);
    *whole = (struct whole_batch){ 0 };
}
