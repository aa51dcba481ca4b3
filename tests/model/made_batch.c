/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/model/made_batch.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include <troupe/sample.h>

#include "graph/key.h"

static void *take(size_t count, size_t size)
{
    void *memory = calloc(count + 1, size);
    assert(memory != NULL);
    return memory;
}

static uint32_t below(uint64_t seed, uint64_t *draw, uint32_t n)
{
    return (uint32_t)key_below(seed, draw, n);
}

static void fill_block(struct block *block, uint32_t num_dst, const struct made_shape *shape,
                       uint64_t key, uint64_t *draw)
{
    uint32_t *counts = take(2, sizeof *counts);
    counts[0] = num_dst + below(key, draw, num_dst * shape->growth + 1);
    counts[1] = num_dst;
    struct block_edges *edges = take(1, sizeof *edges);
    uint32_t *index = take(num_dst + 1, sizeof *index);
    uint32_t *sources = take((size_t)num_dst * shape->fanout_max, sizeof *sources);
    for (uint32_t d = 0; d < num_dst; d++) {
        uint32_t degree = below(key, draw, shape->fanout_max + 1);
        for (uint32_t e = 0; e < degree; e++)
            sources[index[d] + e] = below(key, draw, counts[0]);
        index[d + 1] = index[d] + degree;
    }
    *edges = (struct block_edges){
        .num_dst = num_dst, .num_edges = index[num_dst], .index = index, .sources = sources
    };
    *block = (struct block){ .num_src = counts, .num_dst = counts + 1, .edges = edges };
}

static void fill_rows(struct batch_nodes *nodes, const struct made_shape *shape, uint64_t key,
                      uint64_t *draw)
{
    size_t n = nodes->num_nodes;
    float *features = take(n * shape->width, sizeof *features);
    for (size_t i = 0; i < n * shape->width; i++)
        features[i] = 2 * key_float(key, (*draw)++) - 1;
    nodes->features = (struct batch_rows){ TR_F32, nodes->num_nodes, shape->width,
                                           shape->width * sizeof(float), features };
    uint32_t columns = shape->targets ? shape->classes : 1;
    float *labels = take((size_t)nodes->num_seeds * columns, sizeof *labels);
    for (size_t i = 0; i < (size_t)nodes->num_seeds * columns; i++)
        labels[i] = (float)below(key, draw, shape->targets ? 2 : shape->classes);
    nodes->labels = (struct batch_rows){ TR_F32, nodes->num_seeds, columns, columns * sizeof(float),
                                         labels };
    uint32_t *degrees = take(2 * n, sizeof *degrees);
    for (size_t i = 0; i < 2 * n; i++)
        degrees[i] = shape->fanout_max + below(key, draw, 20);
    nodes->in_degrees = degrees;
    nodes->out_degrees = degrees + n;
}

static void fill_weights(struct mini_batch *batch, struct batch_nodes *nodes, uint64_t key,
                         uint64_t *draw)
{
    struct batch_table *tables = take(batch->num_layers, sizeof *tables);
    uint64_t *ids = take(nodes->num_nodes, sizeof *ids);
    for (uint32_t i = 0; i < nodes->num_nodes; i++)
        ids[i] = i;
    nodes->ids = ids;
    for (uint32_t l = 0; l < batch->num_layers; l++) {
        uint32_t count = batch->blocks[l].edges->num_edges;
        float *weights = take(count, sizeof *weights);
        for (uint32_t e = 0; e < count; e++)
            weights[e] = below(key, draw, 8) == 0 ? 0 : 0.25f + 1.5f * key_float(key, (*draw)++);
        tables[l] = (struct batch_table){ .of = TR_OF_EDGES,
                                          .layer = l,
                                          .rows = { TR_F32, count, 1, sizeof *weights, weights } };
    }
    batch->num_tables = batch->num_layers;
    batch->tables = tables;
}

struct mini_batch *made_batch_create(const struct made_shape *shape)
{
    struct mini_batch *batch = take(1, sizeof *batch);
    struct block *blocks = take(shape->layers, sizeof *blocks);
    struct batch_nodes *nodes = take(1, sizeof *nodes);
    uint64_t key = key_mix(shape->seed + 1), draw = 0;
    uint32_t count = shape->seeds;
    for (uint32_t l = shape->layers; l-- > 0;) {
        fill_block(&blocks[l], count, shape, key, &draw);
        count = blocks[l].num_src[0];
    }
    nodes->num_nodes = count;
    nodes->num_seeds = shape->seeds;
    fill_rows(nodes, shape, key, &draw);
    *batch = (struct mini_batch){ .seed = shape->seed,
                                  .step_seeds = shape->seeds,
                                  .num_ntypes = 1,
                                  .num_etypes = 1,
                                  .num_layers = shape->layers,
                                  .blocks = blocks,
                                  .nodes = nodes };
    if (shape->weighted)
        fill_weights(batch, nodes, key, &draw);
    return batch;
}

static void release(const void *memory)
{
    free((void *)(uintptr_t)memory);
}

void made_batch_destroy(struct mini_batch *batch)
{
    for (uint32_t l = 0; l < batch->num_layers; l++) {
        release(batch->blocks[l].edges->index);
        release(batch->blocks[l].edges->sources);
        release(batch->blocks[l].edges);
        release(batch->blocks[l].num_src);
    }
    for (uint32_t t = 0; t < batch->num_tables; t++)
        release(batch->tables[t].rows.rows);
    release(batch->tables);
    release(batch->nodes->ids);
    release(batch->nodes->features.rows);
    release(batch->nodes->labels.rows);
    release(batch->nodes->in_degrees);
    release(batch->nodes);
    release(batch->blocks);
    free(batch);
}

struct threads {
    struct parallel base;
    size_t count;
    void (*body)(void *arg, size_t index, size_t worker);
    void *arg;
    atomic_size_t next;
};

struct thread_start {
    struct threads *threads;
    size_t worker;
};

static void *work(void *arg)
{
    struct thread_start *start = arg;
    struct threads *threads = start->threads;
    size_t i;
    while ((i = atomic_fetch_add(&threads->next, 1)) < threads->count)
        threads->body(threads->arg, threads->count - 1 - i, start->worker);
    return NULL;
}

static void run(struct parallel *self, size_t count,
                void (*body)(void *arg, size_t index, size_t worker), void *arg)
{
    struct threads *threads = (struct threads *)self;
    threads->count = count;
    threads->body = body;
    threads->arg = arg;
    atomic_store(&threads->next, 0);
    pthread_t ids[16];
    struct thread_start starts[16];
    for (size_t w = 0; w < self->workers; w++) {
        starts[w] = (struct thread_start){ threads, w };
        int rc = pthread_create(&ids[w], NULL, work, &starts[w]);
        assert(rc == 0);
    }
    for (size_t w = 0; w < self->workers; w++)
        pthread_join(ids[w], NULL);
}

struct parallel *threads_create(size_t workers)
{
    assert(workers <= 16);
    struct threads *threads = take(1, sizeof *threads);
    threads->base = (struct parallel){ .run = run, .workers = workers };
    return &threads->base;
}

void threads_destroy(struct parallel *parallel)
{
    free(parallel);
}
