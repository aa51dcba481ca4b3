#include "actors/sampled_batch.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "actors/batch_bank.h"

static int allocate(struct sampled_batch *b, size_t ntypes, size_t etypes, size_t layers)
{
    b->blocks = calloc(layers + 1, sizeof *b->blocks);
    b->edges = calloc(layers * etypes + 1, sizeof *b->edges);
    b->nodes = calloc(ntypes + 1, sizeof *b->nodes);
    b->num_src = calloc(layers * ntypes + 1, sizeof *b->num_src);
    b->num_dst = calloc(layers * ntypes + 1, sizeof *b->num_dst);
    b->etype_src = calloc(etypes + 1, sizeof *b->etype_src);
    b->edge_space = calloc(layers * etypes + 1, sizeof *b->edge_space);
    b->node_space = calloc(ntypes + 1, sizeof *b->node_space);
    if (b->blocks == NULL || b->edges == NULL || b->nodes == NULL || b->num_src == NULL ||
        b->num_dst == NULL || b->etype_src == NULL || b->edge_space == NULL || b->node_space == NULL)
        return TR_ENOMEM;
    for (size_t l = 0; l < layers; l++)
        b->blocks[l] = (struct block){ b->num_src + l * ntypes, b->num_dst + l * ntypes,
                                       b->edges + l * etypes };
    return 0;
}

struct sampled_batch *sampled_batch_create(uint32_t num_ntypes, uint32_t num_etypes,
                                           uint32_t num_layers)
{
    struct sampled_batch *b = calloc(1, sizeof *b);
    if (b == NULL)
        return NULL;
    b->batch.num_ntypes = num_ntypes;
    b->batch.num_etypes = num_etypes;
    b->batch.num_layers = num_layers;
    if (allocate(b, num_ntypes, num_etypes, num_layers) != 0) {
        b->batch.num_ntypes = b->batch.num_etypes = b->batch.num_layers = 0;
        sampled_batch_destroy(b);
        return NULL;
    }
    b->batch.blocks = b->blocks;
    b->batch.nodes = b->nodes;
    atomic_init(&b->references, 1);
    return b;
}

void sampled_batch_clear(struct sampled_batch *b)
{
    struct mini_batch *m = &b->batch;
    size_t cells = (size_t)m->num_layers * m->num_ntypes;
    memset(b->edges, 0, (size_t)m->num_layers * m->num_etypes * sizeof *b->edges);
    memset(b->nodes, 0, m->num_ntypes * sizeof *b->nodes);
    memset(b->num_src, 0, cells * sizeof *b->num_src);
    memset(b->num_dst, 0, cells * sizeof *b->num_dst);
    m->seed = m->index = 0;
    m->epoch = m->rank = m->step_seeds = 0;
    b->loader = 0;
    b->next = NULL;
    atomic_store_explicit(&b->references, 1, memory_order_relaxed);
}

struct sampled_batch *sampled_batch_acquire(struct sampled_batch *batch)
{
    /* Relaxed: whoever passes the pointer on orders what the batch holds. */
    atomic_fetch_add_explicit(&batch->references, 1, memory_order_relaxed);
    return batch;
}

void sampled_batch_release(struct sampled_batch *batch)
{
    if (batch == NULL)
        return;
    /* Release, then acquire by the last one: every reader is done before the memory is reused. */
    unsigned before = atomic_fetch_sub_explicit(&batch->references, 1, memory_order_acq_rel);
    assert(before > 0);
    if (before > 1)
        return;
    if (batch->bank != NULL)
        batch_bank_give_back(batch->bank, batch);
    else
        sampled_batch_destroy(batch);
}

static void fini_node_space(struct node_space *space)
{
    vec_fini(&space->ids);
    vec_fini(&space->original_ids);
    vec_fini(&space->in_degrees);
    vec_fini(&space->out_degrees);
    vec_fini(&space->features);
    vec_fini(&space->labels);
}

void sampled_batch_destroy(struct sampled_batch *b)
{
    size_t cells = (size_t)b->batch.num_layers * b->batch.num_etypes;
    for (size_t i = 0; i < cells; i++) {
        vec_fini(&b->edge_space[i].index);
        vec_fini(&b->edge_space[i].sources);
        vec_fini(&b->edge_space[i].edge_ids);
    }
    for (size_t t = 0; t < b->batch.num_ntypes; t++)
        fini_node_space(&b->node_space[t]);
    free(b->blocks);
    free(b->edges);
    free(b->nodes);
    free(b->num_src);
    free(b->num_dst);
    free(b->etype_src);
    free(b->edge_space);
    free(b->node_space);
    free(b);
}

size_t sampled_batch_bytes(const struct sampled_batch *b)
{
    size_t cells = (size_t)b->batch.num_layers * b->batch.num_etypes;
    size_t bytes = sizeof *b + cells * (sizeof *b->edges + sizeof *b->edge_space);
    for (size_t i = 0; i < cells; i++)
        bytes += b->edge_space[i].index.capacity + b->edge_space[i].sources.capacity +
                 b->edge_space[i].edge_ids.capacity;
    for (size_t t = 0; t < b->batch.num_ntypes; t++) {
        const struct node_space *s = &b->node_space[t];
        bytes += sizeof *s + s->ids.capacity + s->original_ids.capacity + s->in_degrees.capacity +
                 s->out_degrees.capacity + s->features.capacity + s->labels.capacity;
    }
    return bytes;
}
