/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/batch_builder.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* From here on IDs of a type need 8 bytes. */
#define WIDE_NODES (UINT64_C(1) << 32)

int batch_builder_init(struct batch_builder *builder, const struct batch_builder_graph *graph)
{
    *builder = (struct batch_builder){ .graph = *graph,
                                       .num_parts = graph->num_parts,
                                       .num_ntypes = graph->types->num_ntypes,
                                       .num_etypes = graph->types->num_etypes };
    builder->types = calloc(builder->num_ntypes + 1, sizeof *builder->types);
    builder->answers = calloc((size_t)builder->num_etypes * builder->num_parts + 1,
                              sizeof *builder->answers);
    builder->excluded = calloc(builder->num_etypes + (size_t)1, sizeof *builder->excluded);
    builder->excluded_by_type = calloc(builder->num_etypes + (size_t)1,
                                       sizeof *builder->excluded_by_type);
    builder->parts = calloc(builder->num_parts + 1, sizeof *builder->parts);
    builder->bases = calloc(builder->num_parts + 1, sizeof *builder->bases);
    builder->csr = calloc(builder->num_parts + 1, sizeof *builder->csr);
    if (builder->bases == NULL || builder->csr == NULL || builder->types == NULL ||
        builder->answers == NULL || builder->excluded == NULL ||
        builder->excluded_by_type == NULL || builder->parts == NULL)
        return TR_ENOMEM;
    for (uint32_t t = 0; t < builder->num_ntypes; t++) {
        builder->types[t].wide = graph->num_nodes[t] >= WIDE_NODES || graph->meta->nodes[t].wide;
        builder->types[t].lists = calloc(builder->num_parts, sizeof *builder->types[t].lists);
        if (builder->types[t].lists == NULL)
            return TR_ENOMEM;
    }
    return 0;
}

static void fini_type(struct batch_builder_type *type, uint32_t num_parts)
{
    relabel_fini(&type->nodes);
    vec_fini(&type->owners);
    vec_fini(&type->occurrences);
    vec_fini(&type->times);
    for (uint32_t p = 0; type->lists != NULL && p < num_parts; p++) {
        vec_fini(&type->lists[p].rows);
        vec_fini(&type->lists[p].positions);
        vec_fini(&type->lists[p].salts);
    }
    free(type->lists);
}

void batch_builder_fini(struct batch_builder *builder)
{
    batch_builder_fini_fields(builder);
    batch_builder_fini_excluded(builder);
    for (uint32_t t = 0; builder->types != NULL && t < builder->num_ntypes; t++)
        fini_type(&builder->types[t], builder->num_parts);
    size_t cells = (size_t)builder->num_etypes * builder->num_parts;
    for (size_t i = 0; builder->answers != NULL && i < cells; i++) {
        vec_fini(&builder->answers[i].counts);
        vec_fini(&builder->answers[i].columns);
        vec_fini(&builder->answers[i].edge_ids);
        vec_fini(&builder->answers[i].weights);
    }
    batch_builder_fini_edges(builder);
    free(builder->types);
    free(builder->answers);
    free(builder->parts);
    free(builder->bases);
    free(builder->csr);
    *builder = (struct batch_builder){ .num_parts = 0 };
}

void batch_builder_space_fini(struct batch_builder_space *space)
{
    sample_space_fini(&space->kernel);
    vec_fini(&space->counts);
    vec_fini(&space->columns);
    vec_fini(&space->edge_ids);
    vec_fini(&space->weights);
    vec_fini(&space->wide);
    vec_fini(&space->streams);
}

static int reset_type(struct batch_builder *builder, struct batch_builder_type *type)
{
    type->placed = 0;
    type->repeats = false;
    for (uint32_t p = 0; p < builder->num_parts; p++)
        type->lists[p].count = 0;
    return relabel_reset(&type->nodes, 0);
}

int batch_builder_begin(struct batch_builder *builder, const struct batch_builder_plan *plan,
                        const struct draw_key *key, const struct graph_part *const *parts,
                        struct batch_space *out, struct error *error)
{
    uint32_t num_layers = plan->spec->num_layers;
    if (num_layers == 0 || num_layers > BATCH_LAYERS_MAX || num_layers != out->batch.num_layers ||
        plan->spec->num_etypes != builder->num_etypes)
        return error_set(error, TR_EINVAL,
                         "batch %" PRIu64 ": %" PRIu32 " layers of %" PRIu32
                         " edge types asked for, room for %" PRIu32 " of %" PRIu32,
                         key->batch, num_layers, plan->spec->num_etypes, out->batch.num_layers,
                         builder->num_etypes);
    builder->plan = plan;
    builder->key = *key;
    builder->out = out;
    builder->hop = 0;
    builder->num_edges = 0;
    builder->roots.count = 0;
    builder->edges_open = false;
    batch_builder_reset_excluded(builder);
    out->batch.seed = key->seed;
    out->batch.epoch = key->epoch;
    out->batch.rank = key->rank;
    out->batch.index = key->batch;
    for (uint32_t e = 0; e < builder->num_etypes; e++) {
        out->etype_src[e] = builder->graph.types->etypes[e].src;
        out->etype_dst[e] = builder->graph.types->etypes[e].dst;
    }
    for (uint32_t p = 0; p < builder->num_parts; p++)
        builder->parts[p] = parts == NULL ? NULL : parts[p];
    int rv = 0;
    for (uint32_t t = 0; t < builder->num_ntypes && rv == 0; t++)
        rv = reset_type(builder, &builder->types[t]);
    return rv == 0 ? 0 : error_set(error, rv, "batch %" PRIu64 ": no memory", key->batch);
}

/* Zeroes for all seeds up to position `end`, once there is a repeat among them. */
static int grow_occurrences(struct batch_builder_type *type, uint32_t from, uint32_t end)
{
    size_t size = sizeof(uint32_t);
    int rv = vec_reserve(&type->occurrences, end, size, from * size);
    if (rv == 0)
        rv = vec_reserve(&type->times, end, size, from * size);
    if (rv != 0)
        return rv;
    memset((uint32_t *)type->occurrences.data + from, 0, (end - from) * size);
    memset((uint32_t *)type->times.data + from, 0, (end - from) * size);
    return 0;
}

/* A seed whose node is at position `first` already. */
static int add_repeat(struct batch_builder_type *type, uint32_t first, uint64_t id)
{
    /* This is asked before the append, which counts the repeat too: all seeds so far get their
     * zeroes with the first. */
    uint32_t position, from = type->repeats ? type->nodes.num_ids : 0;
    int rv = relabel_append(&type->nodes, id, &position);
    if (rv == 0)
        rv = grow_occurrences(type, from, position + 1);
    if (rv != 0)
        return rv;
    type->repeats = true;
    ((uint32_t *)type->occurrences.data)[position] = ++((uint32_t *)type->times.data)[first];
    return 0;
}

static int add_seed(struct batch_builder_type *type, uint64_t id)
{
    uint32_t position, before = type->nodes.num_ids, narrow = (uint32_t)id;
    int rv = type->wide ? relabel_add_u64(&type->nodes, &id, 1, &position)
                        : relabel_add_u32(&type->nodes, &narrow, 1, &position);
    if (rv == 0 && position < before)
        return add_repeat(type, position, id);
    if (rv == 0 && type->repeats)
        rv = grow_occurrences(type, before, before + 1);
    return rv;
}

/* TR_ERANGE: one is no node of the type, which has num_nodes. */
static int add_seeds(struct batch_builder_type *type, uint64_t num_nodes, const uint64_t *ids,
                     const uint32_t *order, uint32_t num_seeds)
{
    int rv = 0;
    for (uint32_t i = 0; i < num_seeds && rv == 0; i++) {
        uint64_t id = ids[order != NULL ? order[i] : i];
        if (id >= num_nodes)
            return TR_ERANGE;
        rv = add_seed(type, id);
    }
    return rv;
}

int batch_builder_add_seeds(struct batch_builder *builder, uint32_t ntype, const uint64_t *ids,
                            const uint32_t *order, uint32_t num_seeds, struct error *error)
{
    return batch_builder_add_seeds_with(builder, ntype, ids, order, num_seeds, NULL, error);
}

int batch_builder_add_seeds_with(struct batch_builder *builder, uint32_t ntype, const uint64_t *ids,
                                 const uint32_t *order, uint32_t num_seeds,
                                 const struct sample_row_fields *with, struct error *error)
{
    assert(builder->hop == 0 && ntype < builder->num_ntypes);
    uint64_t num_nodes = builder->graph.num_nodes[ntype];
    int rv = add_seeds(&builder->types[ntype], num_nodes, ids, order, num_seeds);
    if (rv == 0 && batch_builder_has_roots(builder))
        rv = batch_builder_add_roots(builder, ntype, num_seeds, with);
    if (rv == TR_ERANGE)
        return error_set(error, rv,
                         "batch %" PRIu64 ": a seed is no node of type %s, which has %" PRIu64,
                         builder->key.batch, builder->graph.types->ntypes[ntype], num_nodes);
    if (rv != 0)
        return error_set(error, rv, "batch %" PRIu64 ": no room for its seeds of type %s",
                         builder->key.batch, builder->graph.types->ntypes[ntype]);
    builder->out->nodes[ntype].num_seeds = builder->types[ntype].nodes.num_ids;
    return 0;
}

/* The next seed's position, before it is added. */
static uint32_t next_position(const struct batch_builder *builder, uint32_t ntype)
{
    return builder->types[ntype].nodes.num_ids;
}

/* An end of a pair: a seed of its own or, where each node is one seed, that of its node. */
static int add_end(struct batch_builder *builder, uint32_t ntype, const uint64_t *id,
                   uint32_t *position, struct error *error)
{
    uint32_t met = builder->plan->ends_once && *id < builder->graph.num_nodes[ntype]
                       ? relabel_find(&builder->types[ntype].nodes, *id)
                       : UINT32_MAX;
    *position = met != UINT32_MAX ? met : next_position(builder, ntype);
    return met != UINT32_MAX ? 0 : batch_builder_add_seeds(builder, ntype, id, NULL, 1, error);
}

/* Which pairs of the batch those of the edge type are: from now on, or already. */
static uint32_t number_of_pairs(struct batch_builder *builder, uint32_t etype)
{
    struct mini_batch *batch = &builder->out->batch;
    uint32_t number = batch_find_pairs(batch, etype);
    batch->num_pair_types += number == batch->num_pair_types;
    return number;
}

int batch_builder_add_pairs(struct batch_builder *builder, uint32_t etype, const uint64_t *ends,
                            const uint64_t *edge_ids, uint32_t num_pairs, struct error *error)
{
    assert(builder->hop == 0 && etype < builder->num_etypes);
    const struct graph_etype *type = &builder->graph.types->etypes[etype];
    const uint32_t number = number_of_pairs(builder, etype);
    struct pair_space *space = &builder->out->pair_space[number];
    struct batch_pairs *pairs = &builder->out->pairs[number];
    size_t size = sizeof(uint32_t), count = (size_t)pairs->count + num_pairs;
    int rv = vec_reserve(&space->sources, count, size, pairs->count * size);
    if (rv == 0)
        rv = vec_reserve(&space->destinations, count, size, pairs->count * size);
    if (rv == 0 && edge_ids != NULL)
        rv = vec_reserve(&space->edge_ids, count, sizeof *edge_ids,
                         pairs->count * sizeof *edge_ids);
    if (rv != 0)
        return error_set(error, rv, "batch %" PRIu64 ": no room for its pairs of type %s",
                         builder->key.batch, type->name);
    uint32_t *sources = space->sources.data, *destinations = space->destinations.data;
    uint64_t *ids = edge_ids == NULL ? NULL : space->edge_ids.data;
    if (edge_ids != NULL && num_pairs > 0)
        memcpy(ids + pairs->count, edge_ids, num_pairs * sizeof *ids);
    *pairs = (struct batch_pairs){ .etype = etype,
                                   .count = pairs->count,
                                   .sources = sources,
                                   .destinations = destinations,
                                   .edge_ids = ids,
                                   .negatives_rule = builder->plan->negatives };
    for (uint32_t i = 0; i < num_pairs && rv == 0; i++) {
        /* Where both ends are of one type, the source's position comes first: pair after pair, so
         * that pieces of any length give the same positions. */
        rv = add_end(builder, type->src, &ends[2 * (size_t)i], &sources[pairs->count], error);
        if (rv == 0)
            rv = add_end(builder, type->dst, &ends[2 * (size_t)i + 1], &destinations[pairs->count],
                         error);
        pairs->count += rv == 0;
    }
    return rv;
}

/* An end of a negative: a node, or the end of another pair. */
static int add_negative_end(struct batch_builder *builder, const struct batch_pairs *pairs,
                            enum pair_end end, const uint64_t *drawn, uint32_t *position,
                            struct error *error)
{
    const struct graph_etype *type = &builder->graph.types->etypes[pairs->etype];
    bool source = end == PAIR_SOURCE;
    if (builder->plan->negatives.of != NEGATIVES_IN_BATCH)
        return add_end(builder, source ? type->src : type->dst, drawn, position, error);
    assert(*drawn < pairs->count);
    *position = (source ? pairs->sources : pairs->destinations)[*drawn];
    return 0;
}

int batch_builder_add_negatives(struct batch_builder *builder, uint32_t etype, uint64_t first,
                                uint32_t count, const uint64_t *destinations,
                                const uint64_t *sources, struct error *error)
{
    const struct negatives_rule *rule = &builder->plan->negatives;
    const uint32_t number = batch_find_pairs(&builder->out->batch, etype);
    assert(number < builder->out->batch.num_pair_types && builder->plan->ends_once);
    struct batch_pairs *pairs = &builder->out->pairs[number];
    struct vec *to = &builder->out->pair_space[number].negatives;
    struct vec *from = &builder->out->pair_space[number].negative_sources;
    size_t size = sizeof(uint32_t);
    int rv = vec_reserve(to, pairs->count_negatives + (size_t)count, size,
                         pairs->count_negatives * size);
    if (rv == 0)
        rv = vec_reserve(from, pairs->count_negative_sources + (size_t)count, size,
                         pairs->count_negative_sources * size);
    if (rv != 0)
        return error_set(error, rv, "batch %" PRIu64 ": no room for %" PRIu32 " nodes of no edge",
                         builder->key.batch, count);
    pairs->negatives = to->data;
    pairs->negative_sources = from->data;
    for (uint64_t k = first; k < first + count && rv == 0; k++) {
        if (negative_has(rule, k, PAIR_SOURCE))
            rv = add_negative_end(builder, pairs, PAIR_SOURCE, sources++,
                                  (uint32_t *)from->data + pairs->count_negative_sources++, error);
        if (rv == 0 && negative_has(rule, k, PAIR_DESTINATION))
            rv = add_negative_end(builder, pairs, PAIR_DESTINATION, destinations++,
                                  (uint32_t *)to->data + pairs->count_negatives++, error);
    }
    return rv;
}

void batch_builder_end(struct batch_builder *builder)
{
    for (uint32_t p = 0; builder->parts != NULL && p < builder->num_parts; p++)
        builder->parts[p] = NULL;
    builder->out = NULL;
    builder->plan = NULL;
}

/* Room in every list for n nodes more, so that adding them needs no check. */
static int reserve_lists(struct batch_builder *builder, struct batch_builder_type *type, uint32_t n)
{
    size_t size = sizeof(uint32_t);
    int rv = vec_reserve(&type->owners, type->placed + (size_t)n, sizeof(uint16_t),
                         type->placed * sizeof(uint16_t));
    for (uint32_t p = 0; p < builder->num_parts && rv == 0; p++) {
        struct batch_builder_list *list = &type->lists[p];
        rv = vec_reserve(&list->rows, list->count + (size_t)n, size, list->count * size);
        if (rv == 0 && !batch_builder_is_local(builder, p))
            rv = vec_reserve(&list->positions, list->count + (size_t)n, size, list->count * size);
        if (rv == 0 && type->repeats)
            rv = vec_reserve(&list->salts, list->count + (size_t)n, size, list->count * size);
    }
    return rv;
}

/* Only seeds come several times: what is drawn is met once. */
static uint32_t salt_of(const struct batch_builder *builder, uint32_t ntype, uint32_t position)
{
    const struct batch_builder_type *type = &builder->types[ntype];
    bool seed = position < builder->out->nodes[ntype].num_seeds;
    return seed ? ((const uint32_t *)type->occurrences.data)[position] : 0;
}

/* One partition owns all: a row is an ID but for the beginning of the extent. */
static int place_alone(struct batch_builder *builder, uint32_t ntype, uint32_t end)
{
    struct batch_builder_type *type = &builder->types[ntype];
    const struct extent *extent = &builder->graph.node_extents[ntype][0];
    struct batch_builder_list *list = &type->lists[0];
    uint32_t *rows = list->rows.data, *positions = list->positions.data;
    const uint64_t *ids = type->nodes.ids;
    uint32_t begin = type->placed;
    uint64_t size = extent->end - extent->begin, bad = 0;
    memset((uint16_t *)type->owners.data + begin, 0, (end - begin) * sizeof(uint16_t));
    for (uint32_t i = begin; i < end; i++) {
        uint64_t row = ids[i] - extent->begin;
        bad |= row >= size;
        rows[i] = (uint32_t)row;
    }
    for (uint32_t i = begin; !batch_builder_is_local(builder, 0) && i < end; i++)
        positions[i] = i;
    for (uint32_t i = begin; type->repeats && i < end; i++)
        ((uint32_t *)list->salts.data)[i] = salt_of(builder, ntype, i);
    int rv = 0;
    for (uint32_t i = begin; batch_builder_has_roots(builder) && i < end && rv == 0; i++)
        rv = batch_builder_put_fields(builder, type, list, i, i);
    if (rv != 0 || bad)
        return rv != 0 ? rv : TR_ERANGE;
    list->count = type->placed = end;
    return 0;
}

static int place_one(struct batch_builder *builder, struct batch_builder_type *type, uint32_t ntype)
{
    uint32_t position = type->placed;
    uint64_t id = type->nodes.ids[position];
    int owner = extents_owner(builder->graph.node_extents[ntype], builder->num_parts, id);
    if (owner < 0)
        return owner;
    struct batch_builder_list *list = &type->lists[owner];
    uint64_t begin = builder->graph.node_extents[ntype][owner].begin;
    ((uint16_t *)type->owners.data)[position] = (uint16_t)owner;
    ((uint32_t *)list->rows.data)[list->count] = (uint32_t)(id - begin);
    if (!batch_builder_is_local(builder, (uint32_t)owner))
        ((uint32_t *)list->positions.data)[list->count] = position;
    if (type->repeats)
        ((uint32_t *)list->salts.data)[list->count] = salt_of(builder, ntype, position);
    int rv = batch_builder_has_roots(builder)
                 ? batch_builder_put_fields(builder, type, list, list->count, position)
                 : 0;
    if (rv != 0)
        return rv;
    list->count++;
    type->placed++;
    return 0;
}

static int batch_builder_place_type(struct batch_builder *builder, uint32_t ntype, uint32_t end)
{
    struct batch_builder_type *type = &builder->types[ntype];
    int rv = reserve_lists(builder, type, end - type->placed);
    if (rv == 0 && builder->num_parts == 1)
        return place_alone(builder, ntype, end);
    while (rv == 0 && type->placed < end)
        rv = place_one(builder, type, ntype);
    return rv;
}

int batch_builder_place(struct batch_builder *builder, struct error *error)
{
    for (uint32_t t = 0; t < builder->num_ntypes; t++) {
        struct batch_builder_type *type = &builder->types[t];
        uint32_t left = type->nodes.num_ids - type->placed;
        if (left == 0)
            continue;
        uint32_t most = builder->graph.slice != 0 ? builder->graph.slice
                                                  : BATCH_BUILDER_SLICE_NODES;
        left = left < most ? left : most;
        int rv = batch_builder_place_type(builder, t, type->placed + left);
        if (rv != 0)
            return error_set(error, rv, "node %" PRIu64 " of type %s has no place in the book",
                             type->nodes.ids[type->placed], builder->graph.types->ntypes[t]);
        return 1;
    }
    bool ended = builder->hop == builder->plan->spec->num_layers;
    return ended && builder->plan->spec->num_tables > 0 ? batch_builder_place_edges(builder, error)
                                                        : 0;
}
