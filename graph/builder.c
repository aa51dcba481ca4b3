#include "graph/builder.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

int batch_builder_init(struct batch_builder *builder, const struct graph_types *types)
{
    *builder = (struct batch_builder){ .types = types };
    builder->tables = calloc(types->num_ntypes + 1u, sizeof *builder->tables);
    return builder->tables == NULL ? TR_ENOMEM : 0;
}

void batch_builder_fini(struct batch_builder *builder)
{
    for (uint32_t i = 0; builder->tables != NULL && i < builder->types->num_ntypes; i++)
        relabel_fini(&builder->tables[i].relabel);
    free(builder->tables);
    *builder = (struct batch_builder){ 0 };
}

size_t batch_builder_bytes(const struct batch_builder *builder)
{
    size_t bytes = 0;
    for (uint32_t i = 0; i < builder->types->num_ntypes; i++)
        bytes += relabel_bytes(&builder->tables[i].relabel);
    return bytes;
}

int batch_builder_begin(struct batch_builder *builder, struct batch_arena *arena,
                        uint32_t num_layers, bool edge_ids)
{
    if (num_layers == 0 || num_layers > BATCH_LAYERS_MAX)
        return TR_EINVAL;
    builder->arena = arena;
    builder->num_layers = num_layers;
    builder->edge_ids = edge_ids;
    builder->hop = 0;
    builder->in_hop = false;
    for (uint32_t i = 0; i < builder->types->num_ntypes; i++) {
        struct builder_table *table = &builder->tables[i];
        int rv = relabel_reset(&table->relabel, table->last_size);
        if (rv != 0)
            return rv;
        table->num_seeds = 0;
    }
    return arena_alloc(arena, num_layers, sizeof *builder->blocks, &builder->blocks);
}

int batch_builder_add_seeds(struct batch_builder *builder, uint32_t ntype, const uint64_t *ids,
                            uint32_t n, uint32_t *positions)
{
    if (ntype >= builder->types->num_ntypes || builder->hop > 0 || builder->in_hop)
        return TR_EINVAL;
    int rv = 0;
    if (positions == NULL)
        rv = arena_alloc(builder->arena, n, sizeof *positions, &positions);
    struct builder_table *table = &builder->tables[ntype];
    if (rv == 0)
        rv = relabel_add_u64(&table->relabel, ids, n, positions);
    table->num_seeds = table->relabel.num_ids;
    return rv;
}

int batch_builder_begin_hop(struct batch_builder *builder)
{
    if (builder->in_hop || builder->hop == builder->num_layers)
        return TR_EINVAL;
    for (uint32_t i = 0; i < builder->types->num_ntypes; i++)
        builder->tables[i].num_dst = builder->tables[i].relabel.num_ids;
    builder->in_hop = true;
    builder->next_etype = 0;
    return arena_alloc(builder->arena, builder->types->num_etypes, sizeof *builder->edges,
                       &builder->edges);
}

const uint64_t *batch_builder_frontier(const struct batch_builder *builder, uint32_t ntype,
                                       uint32_t *num_nodes)
{
    assert(builder->in_hop && ntype < builder->types->num_ntypes);
    *num_nodes = builder->tables[ntype].num_dst;
    return builder->tables[ntype].relabel.ids;
}

/* Prefix sums of counts (NULL: all 0) into index[n + 1]; TR_EFORMAT unless they end at total. */
static int sum_counts(uint32_t *index, const uint32_t *counts, uint32_t n, uint64_t total)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < n; i++) {
        index[i] = (uint32_t)sum;
        sum += counts == NULL ? 0 : counts[i];
    }
    index[n] = (uint32_t)sum;
    return sum == total ? 0 : TR_EFORMAT;
}

static int copy_edge_ids(struct batch_builder *builder, const struct sample_result *answer,
                         struct block_edges *edges)
{
    uint64_t *ids;
    int rv = arena_alloc(builder->arena, answer->num_edges, sizeof *ids, &ids);
    if (rv == 0 && answer->num_edges > 0)
        memcpy(ids, answer->edge_ids, answer->num_edges * sizeof *ids);
    edges->edge_ids = ids;
    return rv;
}

/* The edges of one type; an answer of zeros stands for no edges. */
static int add_edges(struct batch_builder *builder, uint32_t etype,
                     const struct sample_result *answer)
{
    const struct graph_etype *type = &builder->types->etypes[etype];
    struct relabel *sources = &builder->tables[type->src].relabel;
    uint32_t num_dst = builder->tables[type->dst].num_dst, *index, *positions;
    size_t num_edges = answer->num_edges;
    int rv = arena_alloc(builder->arena, (size_t)num_dst + 1, sizeof *index, &index);
    if (rv == 0)
        rv = arena_alloc(builder->arena, num_edges, sizeof *positions, &positions);
    if (rv == 0)
        rv = sum_counts(index, answer->counts, num_dst, num_edges);
    if (rv == 0)
        rv = answer->columns != NULL
                 ? relabel_add_u32(sources, answer->columns, num_edges, positions)
                 : relabel_add_u64(sources, answer->wide_columns, num_edges, positions);
    if (rv != 0)
        return rv;
    struct block_edges *edges = &builder->edges[etype];
    *edges = (struct block_edges){ .num_dst = num_dst, .num_edges = (uint32_t)num_edges,
                                   .index = index, .sources = positions };
    return builder->edge_ids ? copy_edge_ids(builder, answer, edges) : 0;
}

/* Edge types from next_etype up to `end` were left out: they have no edges. */
static int skip_edges(struct batch_builder *builder, uint32_t end)
{
    static const struct sample_result none = { 0 };
    int rv = 0;
    for (; builder->next_etype < end && rv == 0; builder->next_etype++)
        rv = add_edges(builder, builder->next_etype, &none);
    return rv;
}

int batch_builder_add_edges(struct batch_builder *builder, uint32_t etype,
                            const struct sample_result *answer)
{
    if (!builder->in_hop || etype >= builder->types->num_etypes || etype < builder->next_etype)
        return TR_EINVAL;
    if (builder->edge_ids && answer->edge_ids == NULL && answer->num_edges > 0)
        return TR_EINVAL;
    if (answer->num_edges > UINT32_MAX)
        return TR_ETOOBIG;
    int rv = skip_edges(builder, etype);
    if (rv == 0)
        rv = add_edges(builder, etype, answer);
    builder->next_etype = etype + 1;
    return rv;
}

int batch_builder_end_hop(struct batch_builder *builder)
{
    if (!builder->in_hop)
        return TR_EINVAL;
    uint32_t num_ntypes = builder->types->num_ntypes, *num_src, *num_dst;
    int rv = skip_edges(builder, builder->types->num_etypes);
    if (rv == 0)
        rv = arena_alloc(builder->arena, num_ntypes, sizeof *num_src, &num_src);
    if (rv == 0)
        rv = arena_alloc(builder->arena, num_ntypes, sizeof *num_dst, &num_dst);
    if (rv != 0)
        return rv;
    for (uint32_t i = 0; i < num_ntypes; i++) {
        num_src[i] = builder->tables[i].relabel.num_ids;
        num_dst[i] = builder->tables[i].num_dst;
    }
    builder->blocks[builder->num_layers - 1 - builder->hop] =
        (struct block){ .num_src = num_src, .num_dst = num_dst, .edges = builder->edges };
    builder->hop++;
    builder->in_hop = false;
    return 0;
}

/* Copies the node list out: the table's own serves the next batch. */
static int finish_nodes(struct batch_builder *builder, struct builder_table *table,
                        struct batch_nodes *nodes)
{
    uint32_t num_nodes = table->relabel.num_ids;
    uint64_t *ids;
    int rv = arena_alloc(builder->arena, num_nodes, sizeof *ids, &ids);
    if (rv != 0)
        return rv;
    if (num_nodes > 0)
        memcpy(ids, table->relabel.ids, num_nodes * sizeof *ids);
    table->last_size = num_nodes;
    *nodes = (struct batch_nodes){ .num_nodes = num_nodes, .num_seeds = table->num_seeds,
                                   .ids = ids };
    return 0;
}

int batch_builder_finish(struct batch_builder *builder, struct mini_batch *batch,
                         struct batch_nodes **nodes)
{
    if (builder->in_hop || builder->hop != builder->num_layers)
        return TR_EINVAL;
    uint32_t num_ntypes = builder->types->num_ntypes;
    struct batch_nodes *list;
    int rv = arena_alloc(builder->arena, num_ntypes, sizeof *list, &list);
    for (uint32_t i = 0; i < num_ntypes && rv == 0; i++)
        rv = finish_nodes(builder, &builder->tables[i], &list[i]);
    if (rv != 0)
        return rv;
    batch->num_ntypes = num_ntypes;
    batch->num_etypes = builder->types->num_etypes;
    batch->num_layers = builder->num_layers;
    batch->blocks = builder->blocks;
    batch->nodes = list;
    *nodes = list;
    return 0;
}
