/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/batch_space.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <troupe/error.h>

static int allocate(struct batch_space *s, size_t ntypes, size_t etypes, size_t layers)
{
    s->blocks = calloc(layers + 1, sizeof *s->blocks);
    s->edges = calloc(layers * etypes + 1, sizeof *s->edges);
    s->nodes = calloc(ntypes + 1, sizeof *s->nodes);
    s->num_src = calloc(layers * ntypes + 1, sizeof *s->num_src);
    s->num_dst = calloc(layers * ntypes + 1, sizeof *s->num_dst);
    s->etype_src = calloc(etypes + 1, sizeof *s->etype_src);
    s->etype_dst = calloc(etypes + 1, sizeof *s->etype_dst);
    s->edge_space = calloc(layers * etypes + 1, sizeof *s->edge_space);
    s->node_space = calloc(ntypes + 1, sizeof *s->node_space);
    s->pairs = calloc(etypes + 1, sizeof *s->pairs);
    s->pair_space = calloc(etypes + 1, sizeof *s->pair_space);
    bool all = s->blocks != NULL && s->edges != NULL && s->nodes != NULL && s->num_src != NULL &&
               s->num_dst != NULL && s->etype_src != NULL && s->etype_dst != NULL &&
               s->edge_space != NULL && s->node_space != NULL && s->pairs != NULL &&
               s->pair_space != NULL;
    return all ? 0 : TR_ENOMEM;
}

int batch_space_init(struct batch_space *s, uint32_t num_ntypes, uint32_t num_etypes,
                     uint32_t num_layers)
{
    *s = (struct batch_space){ .batch = { .num_layers = 0 } };
    if (allocate(s, num_ntypes, num_etypes, num_layers) != 0) {
        batch_space_fini(s);
        return TR_ENOMEM;
    }
    s->batch.num_ntypes = num_ntypes;
    s->batch.num_etypes = num_etypes;
    s->batch.num_layers = num_layers;
    s->batch.blocks = s->blocks;
    s->batch.nodes = s->nodes;
    s->batch.pairs = s->pairs;
    for (size_t l = 0; l < num_layers; l++)
        s->blocks[l] = (struct block){ s->num_src + l * num_ntypes, s->num_dst + l * num_ntypes,
                                       s->edges + l * num_etypes };
    return 0;
}

static void fini_nodes(struct node_space *space)
{
    vec_fini(&space->ids);
    vec_fini(&space->original_ids);
    vec_fini(&space->in_degrees);
    vec_fini(&space->out_degrees);
    vec_fini(&space->features);
    vec_fini(&space->labels);
}

static void fini_pairs(struct pair_space *space)
{
    vec_fini(&space->sources);
    vec_fini(&space->destinations);
    vec_fini(&space->edge_ids);
    vec_fini(&space->negatives);
    vec_fini(&space->negative_sources);
}

int batch_space_set_tables(struct batch_space *s, uint32_t num_tables)
{
    s->batch.num_tables = 0;
    if (num_tables > s->room_tables) {
        struct batch_table *tables = realloc(s->tables, num_tables * sizeof *tables);
        if (tables == NULL)
            return TR_ENOMEM;
        s->batch.tables = s->tables = tables;
        struct vec *space = realloc(s->table_space, num_tables * sizeof *space);
        if (space == NULL)
            return TR_ENOMEM;
        s->table_space = space;
        memset(space + s->room_tables, 0, (num_tables - s->room_tables) * sizeof *space);
        /* They count when both have grown: as many are freed. */
        s->room_tables = num_tables;
    }
    if (num_tables > 0)
        memset(s->tables, 0, num_tables * sizeof *s->tables);
    s->batch.num_tables = num_tables;
    return 0;
}

/* Where its init failed the counts are 0. */
void batch_space_fini(struct batch_space *s)
{
    size_t cells = (size_t)s->batch.num_layers * s->batch.num_etypes;
    for (size_t i = 0; i < cells; i++) {
        vec_fini(&s->edge_space[i].index);
        vec_fini(&s->edge_space[i].sources);
        vec_fini(&s->edge_space[i].edge_ids);
        vec_fini(&s->edge_space[i].edge_weights);
    }
    for (size_t t = 0; t < s->batch.num_ntypes; t++)
        fini_nodes(&s->node_space[t]);
    for (uint32_t i = 0; i < s->room_tables; i++)
        vec_fini(&s->table_space[i]);
    for (size_t e = 0; e < s->batch.num_etypes; e++)
        fini_pairs(&s->pair_space[e]);
    free(s->pairs);
    free(s->pair_space);
    free(s->tables);
    free(s->table_space);
    free(s->blocks);
    free(s->edges);
    free(s->nodes);
    free(s->num_src);
    free(s->num_dst);
    free(s->etype_src);
    free(s->etype_dst);
    free(s->edge_space);
    free(s->node_space);
    *s = (struct batch_space){ .batch = { .num_layers = 0 } };
}

void batch_space_clear(struct batch_space *s)
{
    struct mini_batch *m = &s->batch;
    size_t cells = (size_t)m->num_layers * m->num_ntypes;
    memset(s->edges, 0, (size_t)m->num_layers * m->num_etypes * sizeof *s->edges);
    memset(s->nodes, 0, m->num_ntypes * sizeof *s->nodes);
    memset(s->num_src, 0, cells * sizeof *s->num_src);
    memset(s->num_dst, 0, cells * sizeof *s->num_dst);
    m->seed = m->index = 0;
    m->epoch = m->rank = m->step_seeds = m->num_tables = 0;
    m->num_pair_types = 0;
    memset(s->pairs, 0, m->num_etypes * sizeof *s->pairs);
}

size_t batch_space_bytes(const struct batch_space *s)
{
    size_t cells = (size_t)s->batch.num_layers * s->batch.num_etypes;
    size_t bytes = cells * (sizeof *s->edges + sizeof *s->edge_space);
    for (size_t i = 0; i < cells; i++)
        bytes += s->edge_space[i].index.capacity + s->edge_space[i].sources.capacity +
                 s->edge_space[i].edge_ids.capacity + s->edge_space[i].edge_weights.capacity;
    for (size_t t = 0; t < s->batch.num_ntypes; t++) {
        const struct node_space *n = &s->node_space[t];
        bytes += sizeof *n + n->ids.capacity + n->original_ids.capacity + n->in_degrees.capacity +
                 n->out_degrees.capacity + n->features.capacity + n->labels.capacity;
    }
    for (size_t e = 0; e < s->batch.num_etypes; e++) {
        const struct pair_space *p = &s->pair_space[e];
        bytes += sizeof *s->pairs + sizeof *p + p->sources.capacity + p->destinations.capacity +
                 p->edge_ids.capacity + p->negatives.capacity + p->negative_sources.capacity;
    }
    for (uint32_t i = 0; i < s->room_tables; i++)
        bytes += sizeof *s->tables + sizeof *s->table_space + s->table_space[i].capacity;
    return bytes;
}
