/* SPDX-License-Identifier: Apache-2.0 */
#include "model/link_filter.h"

#include <string.h>

static int take_pairs(struct link_filter *filter, const struct link_types *types,
                      const struct batch_pairs *pairs, struct pair_table *table)
{
    uint64_t room = pair_table_room(pairs->count);
    int rc = storage_reserve(&filter->table, room, sizeof(uint64_t));
    if (rc != 0)
        return rc;
    *table = (struct pair_table){ filter->table.data, room - 1 };
    memset(table->places, 0xff, room * sizeof(uint64_t));
    for (uint32_t i = 0; i < pairs->count; i++) {
        uint64_t pair = link_pair_name(types, pairs->sources[i], pairs->destinations[i]);
        *pair_table_find(table, pair) = pair;
    }
    return 0;
}

/* Edges of a type, which go from sources of pairs to destinations or, reversed, the other way. */
struct filtered_type {
    uint32_t etype;
    bool reversed;
    const struct batch_nodes *sources, *destinations; /* of the edges */
};

static bool is_learned(const struct filtered_type *type, const struct link_types *types,
                       const struct pair_table *pairs, uint32_t s, uint32_t d)
{
    /* Both ends of a pair are seeds, which most sources are not. */
    if (s >= type->sources->num_seeds || d >= type->destinations->num_seeds)
        return false;
    return pair_table_has(pairs, type->reversed ? link_pair_name(types, d, s)
                                                : link_pair_name(types, s, d));
}

/* Copies the edges that pass; those of a destination stay in their order. */
static int filter_edges(struct storage *kept, const struct link_split *split,
                        const struct filtered_type *type, const struct pair_table *pairs,
                        struct block_edges *edges)
{
    int rc = storage_reserve(kept, (size_t)edges->num_dst + 1 + 2 * (size_t)edges->num_edges,
                             sizeof(uint32_t));
    if (rc != 0)
        return rc;
    uint32_t *index = kept->data, *sources = index + edges->num_dst + 1, count = 0;
    float *weights = (float *)(sources + edges->num_edges);
    index[0] = 0;
    for (uint32_t d = 0; d < edges->num_dst; d++) {
        for (uint32_t e = edges->index[d]; e < edges->index[d + 1]; e++) {
            uint32_t s = edges->sources[e];
            if (is_learned(type, &split->types, pairs, s, d) ||
                !link_split_passes(split, type->etype, type->sources->original_ids[s],
                                   type->destinations->original_ids[d]))
                continue;
            if (edges->edge_weights != NULL)
                weights[count] = edges->edge_weights[e];
            sources[count++] = s;
        }
        index[d + 1] = count;
    }
    *edges = (struct block_edges){ .num_dst = edges->num_dst,
                                   .num_edges = count,
                                   .index = index,
                                   .sources = sources,
                                   .edge_weights = edges->edge_weights == NULL ? NULL : weights };
    return 0;
}

/* Both types in one layer. */
static int filter_layer(struct storage kept[LINK_WAYS], const struct link_split *split,
                        const struct batch_view *view, const struct pair_table *pairs,
                        struct block_edges *edges)
{
    const struct link_types *types = &split->types;
    const struct batch_nodes *sources = &view->nodes[types->ntypes[0]];
    const struct batch_nodes *destinations = &view->nodes[types->ntypes[1]];
    const struct filtered_type ways[LINK_WAYS] = {
        { types->etype, false, sources, destinations },
        { types->reverse, true, destinations, sources },
    };
    uint32_t count = types->reverse == types->etype ? 1 : LINK_WAYS;
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < count; i++)
        if (edges[ways[i].etype].num_edges > 0)
            rc = filter_edges(&kept[i], split, &ways[i], pairs, &edges[ways[i].etype]);
    return rc;
}

/* gcn normalises by them: a degree tells of edges that are held out. */
static int filter_degrees(struct storage *degrees, const struct link_split *split,
                          struct batch_nodes *nodes)
{
    if (nodes->in_degrees == NULL || nodes->out_degrees == NULL)
        return 0;
    int rc = storage_reserve(degrees, 2 * (size_t)nodes->num_nodes, sizeof(uint32_t));
    if (rc != 0)
        return rc;
    uint32_t *in = degrees->data, *out = in + nodes->num_nodes;
    for (uint32_t i = 0; i < nodes->num_nodes; i++) {
        in[i] = split->in_degrees[nodes->original_ids[i]];
        out[i] = split->out_degrees[nodes->original_ids[i]];
    }
    nodes->in_degrees = in;
    nodes->out_degrees = out;
    return 0;
}

int link_filter_batch(struct link_filter *filter, const struct link_split *split,
                      struct batch_view *view, struct error *error)
{
    struct pair_table pairs;
    int rc = take_pairs(filter, &split->types, view->batch.pairs, &pairs);
    for (uint32_t l = 0; rc == 0 && l < view->batch.num_layers; l++)
        rc = filter_layer(filter->kept[l], split, view, &pairs,
                          view->edges + (size_t)l * view->batch.num_etypes);
    /* Models that ask for degrees take graphs of one type. */
    if (rc == 0)
        rc = filter_degrees(&filter->degrees, split, &view->nodes[0]);
    return rc == 0 ? 0 : error_set(error, rc, "no memory for the edges of a batch that are kept");
}

void link_filter_fini(struct link_filter *filter)
{
    for (uint32_t l = 0; l < BATCH_LAYERS_MAX; l++)
        for (uint32_t i = 0; i < LINK_WAYS; i++)
            storage_fini(&filter->kept[l][i]);
    storage_fini(&filter->table);
    storage_fini(&filter->degrees);
}
