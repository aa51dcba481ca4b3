/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/model/typed_batch.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>

#include "graph/key.h"

struct typed_maker {
    const struct typed_shape *shape;
    uint64_t key, draw;
};

static void *take(size_t count, size_t size)
{
    void *memory = calloc(count + 1, size);
    assert(memory != NULL);
    return memory;
}

static uint32_t below(struct typed_maker *maker, uint32_t n)
{
    return n == 0 ? 0 : (uint32_t)key_below(maker->key, &maker->draw, n);
}

static void fill_edges(struct typed_maker *maker, struct block_edges *edges, uint32_t num_src,
                       uint32_t num_dst)
{
    uint32_t *index = take((size_t)num_dst + 1, sizeof *index);
    uint32_t *sources = take((size_t)num_dst * maker->shape->fanout_max, sizeof *sources);
    for (uint32_t d = 0; d < num_dst; d++) {
        uint32_t degree = num_src == 0 ? 0 : below(maker, maker->shape->fanout_max + 1);
        for (uint32_t e = 0; e < degree; e++)
            sources[index[d] + e] = below(maker, num_src);
        index[d + 1] = index[d] + degree;
    }
    *edges = (struct block_edges){
        .num_dst = num_dst, .num_edges = index[num_dst], .index = index, .sources = sources
    };
}

static void fill_block(struct typed_maker *maker, struct block *block, const uint32_t *num_dst)
{
    const struct model_types *types = maker->shape->types;
    uint32_t *counts = take(2 * (size_t)types->num_ntypes, sizeof *counts);
    struct block_edges *edges = take(types->num_etypes, sizeof *edges);
    for (uint32_t t = 0; t < types->num_ntypes; t++) {
        counts[t] = num_dst[t] + 1 + below(maker, 3);
        counts[types->num_ntypes + t] = num_dst[t];
    }
    for (uint32_t e = 0; e < types->num_etypes; e++)
        fill_edges(maker, &edges[e], counts[types->etypes[e].src], num_dst[types->etypes[e].dst]);
    *block = (struct block){ counts, counts + types->num_ntypes, edges };
}

static void fill_nodes(struct typed_maker *maker, struct batch_nodes *nodes,
                       const struct model_ntype *type)
{
    size_t count = nodes->num_nodes;
    uint64_t *ids = take(count, sizeof *ids);
    /* Every second one, so that some learned rows are nobody's. */
    for (size_t i = 0; i < count; i++)
        ids[i] = 2 * (count - 1 - i);
    assert(type->embedded == 0 || 2 * count < type->embedded);
    nodes->original_ids = ids;
    float *features = take(count * type->inputs, sizeof *features);
    for (size_t i = 0; i < count * type->inputs; i++)
        features[i] = 2 * key_float(maker->key, maker->draw++) - 1;
    nodes->features = (struct batch_rows){ TR_F32, nodes->num_nodes, type->inputs,
                                           type->inputs * sizeof(float), features };
}

struct mini_batch *typed_batch_create(const struct typed_shape *shape)
{
    const struct model_types *types = shape->types;
    struct typed_maker maker = { .shape = shape, .key = key_mix(shape->seed + 1) };
    struct mini_batch *batch = take(1, sizeof *batch);
    struct block *blocks = take(shape->layers, sizeof *blocks);
    struct batch_nodes *nodes = take(types->num_ntypes, sizeof *nodes);
    uint32_t *seeds = take(types->num_ntypes, sizeof *seeds);
    for (uint32_t end = 0; end < MODEL_ENDS; end++)
        seeds[types->targets[end]] = shape->seeds;
    const uint32_t *counts = seeds;
    for (uint32_t l = shape->layers; l-- > 0;) {
        fill_block(&maker, &blocks[l], counts);
        counts = blocks[l].num_src;
    }
    for (uint32_t t = 0; t < types->num_ntypes; t++) {
        nodes[t].num_nodes = counts[t];
        nodes[t].num_seeds = seeds[t];
        fill_nodes(&maker, &nodes[t], &types->ntypes[t]);
    }
    float *labels = take(shape->seeds, sizeof *labels);
    for (uint32_t i = 0; i < shape->seeds; i++)
        labels[i] = (float)below(&maker, shape->classes);
    nodes[types->targets[0]].labels = (struct batch_rows){ TR_F32, shape->seeds, 1, sizeof(float),
                                                           labels };
    free(seeds);
    *batch = (struct mini_batch){ .seed = shape->seed,
                                  .step_seeds = shape->seeds,
                                  .num_ntypes = types->num_ntypes,
                                  .num_etypes = types->num_etypes,
                                  .num_layers = shape->layers,
                                  .blocks = blocks,
                                  .nodes = nodes };
    return batch;
}

static void release(const void *memory)
{
    free((void *)(uintptr_t)memory);
}

void typed_batch_destroy(struct mini_batch *batch)
{
    for (uint32_t l = 0; l < batch->num_layers; l++) {
        for (uint32_t e = 0; e < batch->num_etypes; e++) {
            release(batch->blocks[l].edges[e].index);
            release(batch->blocks[l].edges[e].sources);
        }
        release(batch->blocks[l].edges);
        release(batch->blocks[l].num_src);
    }
    for (uint32_t t = 0; t < batch->num_ntypes; t++) {
        release(batch->nodes[t].original_ids);
        release(batch->nodes[t].features.rows);
        release(batch->nodes[t].labels.rows);
    }
    release(batch->nodes);
    release(batch->blocks);
    free(batch);
}
