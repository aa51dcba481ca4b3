/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The edges of a batch whose tables are wanted, grouped by the partitions that have their rows.
 *
 * An edge's row lies where the edge does, at the partition of its destination, at the place that
 * its global ID says; so each list of a (layer, edge type) goes the way of the list of a node type,
 * once all hops are done and the IDs of all edges are known.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "graph/batch_builder.h"

const uint64_t *batch_builder_edge_ids(const struct batch_builder *builder,
                                       const struct batch_builder_edges *edges)
{
    return batch_space_edges(builder->out, edges->layer, edges->etype)->edge_ids;
}

void batch_builder_fini_edges(struct batch_builder *builder)
{
    for (uint32_t i = 0; i < builder->room_edges; i++) {
        vec_fini(&builder->edges[i].owners);
        for (uint32_t p = 0; p < builder->num_parts; p++) {
            vec_fini(&builder->edges[i].lists[p].rows);
            vec_fini(&builder->edges[i].lists[p].positions);
        }
        free(builder->edges[i].lists);
    }
    free(builder->edges);
    builder->edges = NULL;
    builder->num_edges = builder->room_edges = 0;
}

static bool are_wanted(const struct sample_spec *spec, uint32_t etype, uint32_t layer)
{
    for (uint32_t i = 0; i < spec->num_tables; i++)
        if (sample_table_has_edges(&spec->tables[i], etype, layer))
            return true;
    return false;
}

static int grow(struct batch_builder *builder)
{
    struct batch_builder_edges *edges = realloc(builder->edges,
                                                (builder->room_edges + (size_t)1) * sizeof *edges);
    if (edges == NULL)
        return TR_ENOMEM;
    builder->edges = edges;
    edges[builder->room_edges] = (struct batch_builder_edges){
        .lists = calloc(builder->num_parts, sizeof *edges->lists)
    };
    if (edges[builder->room_edges].lists == NULL)
        return TR_ENOMEM;
    builder->room_edges++;
    return 0;
}

/* A list for each (layer, edge type) with edges that some table is wanted of. */
static int open_lists(struct batch_builder *builder)
{
    const struct sample_spec *spec = builder->plan->spec;
    for (uint32_t l = 0; l < spec->num_layers; l++)
        for (uint32_t e = 0; e < builder->num_etypes; e++) {
            uint32_t count = batch_space_edges(builder->out, l, e)->num_edges;
            if (count == 0 || !are_wanted(spec, e, l))
                continue;
            if (builder->num_edges == builder->room_edges && grow(builder) != 0)
                return TR_ENOMEM;
            struct batch_builder_edges *edges = &builder->edges[builder->num_edges++];
            edges->etype = e;
            edges->layer = l;
            edges->num_edges = count;
            edges->placed = 0;
            for (uint32_t p = 0; p < builder->num_parts; p++)
                edges->lists[p].count = 0;
        }
    builder->edges_open = true;
    return 0;
}

/* Room in every list for n edges more, so that adding them needs no check. */
static int reserve(const struct batch_builder *builder, struct batch_builder_edges *edges,
                   uint32_t n)
{
    size_t size = sizeof(uint32_t);
    int rv = vec_reserve(&edges->owners, edges->placed + (size_t)n, sizeof(uint16_t),
                         edges->placed * sizeof(uint16_t));
    for (uint32_t p = 0; p < builder->num_parts && rv == 0; p++) {
        struct batch_builder_list *list = &edges->lists[p];
        rv = vec_reserve(&list->rows, list->count + (size_t)n, size, list->count * size);
        if (rv == 0)
            rv = vec_reserve(&list->positions, list->count + (size_t)n, size, list->count * size);
    }
    return rv;
}

/* TR_ETOOBIG: rows are 32 bits wide everywhere, positions of edges in a partition may not be. */
static int place_one(const struct batch_builder *builder, struct batch_builder_edges *edges,
                     uint64_t id)
{
    const struct extent *extents = builder->graph.edge_extents[edges->etype];
    int owner = extents_owner(extents, builder->num_parts, id);
    if (owner < 0)
        return owner;
    struct batch_builder_list *list = &edges->lists[owner];
    uint64_t row = id - extents[owner].begin;
    if (row > UINT32_MAX)
        return TR_ETOOBIG;
    ((uint16_t *)edges->owners.data)[edges->placed] = (uint16_t)owner;
    ((uint32_t *)list->rows.data)[list->count] = (uint32_t)row;
    ((uint32_t *)list->positions.data)[list->count++] = edges->placed++;
    return 0;
}

int batch_builder_place_edges(struct batch_builder *builder, struct error *error)
{
    int rv = builder->edges_open ? 0 : open_lists(builder);
    for (uint32_t i = 0; i < builder->num_edges && rv == 0; i++) {
        struct batch_builder_edges *edges = &builder->edges[i];
        const uint64_t *ids = batch_builder_edge_ids(builder, edges);
        uint32_t left = edges->num_edges - edges->placed;
        if (left == 0)
            continue;
        left = left < BATCH_BUILDER_SLICE_EDGES ? left : BATCH_BUILDER_SLICE_EDGES;
        rv = reserve(builder, edges, left);
        for (uint32_t end = edges->placed + left; rv == 0 && edges->placed < end;)
            rv = place_one(builder, edges, ids[edges->placed]);
        if (rv != 0)
            return error_set(error, rv, "batch %" PRIu64 ": an edge of type %s has no row: %s",
                             builder->key.batch, builder->graph.types->etypes[edges->etype].name,
                             tr_strerror(rv));
        return 1;
    }
    return rv == 0 ? 0
                   : error_set(error, rv, "batch %" PRIu64 ": no memory for lists of edges",
                               builder->key.batch);
}
