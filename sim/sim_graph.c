/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/sim_graph.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

static void *make(size_t count, size_t size)
{
    void *block = calloc(count + 1, size);
    assert(block != NULL);
    return block;
}

static void draw_types(struct graph_types *types, struct draws *draws)
{
    *types = (struct graph_types){ 0 };
    int rv = 0;
    if (draws_chance(draws, 40)) {
        rv = graph_types_init_homogeneous(types);
        assert(rv == 0);
        return;
    }
    char name[32];
    uint32_t ntypes = (uint32_t)draws_between(draws, 1, RAW_NTYPES_MAX);
    uint32_t etypes = (uint32_t)draws_between(draws, 1, RAW_ETYPES_MAX);
    for (uint32_t t = 0; t < ntypes && rv == 0; t++) {
        snprintf(name, sizeof name, "n%u", t);
        rv = graph_types_add_ntype(types, name, NULL);
    }
    for (uint32_t e = 0; e < etypes && rv == 0; e++) {
        snprintf(name, sizeof name, "n%u:e%u:n%u", (unsigned)draws_below(draws, ntypes), e,
                 (unsigned)draws_below(draws, ntypes));
        rv = graph_types_add_etype(types, name, NULL);
    }
    assert(rv == 0);
}

static void draw_nodes(struct sim_graph *raw, uint32_t t, struct draws *draws)
{
    raw->num_nodes[t] = draws_chance(draws, 5) ? 0 : (uint32_t)draws_scale(draws, 1, RAW_NODES_MAX);
    raw->featured[t] = draws_chance(draws, 85);
    raw->width[t] = (uint32_t)draws_below(draws, RAW_WIDTH_MAX + 1);
    raw->in_degrees[t] = make(raw->num_nodes[t], sizeof(uint32_t));
    raw->out_degrees[t] = make(raw->num_nodes[t], sizeof(uint32_t));
}

/* Squares of draws make hubs; most nodes of a small skewed type stay without edges. */
static uint32_t draw_node(struct draws *draws, uint32_t n, bool skewed)
{
    uint64_t node = draws_below(draws, n);
    return (uint32_t)(skewed ? node * node / n : node);
}

static void draw_edges(struct sim_graph *raw, uint32_t e, struct draws *draws)
{
    struct sim_edges *edges = &raw->edges[e];
    uint32_t src = raw->types.etypes[e].src, dst = raw->types.etypes[e].dst;
    uint32_t most = raw->num_nodes[src] > 0 && raw->num_nodes[dst] > 0 ? RAW_EDGES_MAX : 0;
    edges->count = most == 0 || draws_chance(draws, 5) ? 0 : (uint32_t)draws_scale(draws, 1, most);
    edges->src = make(edges->count, sizeof *edges->src);
    edges->dst = make(edges->count, sizeof *edges->dst);
    bool skewed = draws_chance(draws, 50);
    for (uint32_t i = 0; i < edges->count; i++) {
        edges->src[i] = draw_node(draws, raw->num_nodes[src], skewed);
        edges->dst[i] = draw_node(draws, raw->num_nodes[dst], skewed);
        raw->out_degrees[src][edges->src[i]]++;
        raw->in_degrees[dst][edges->dst[i]]++;
    }
}

void sim_graph_init(struct sim_graph *raw, struct draws *draws)
{
    *raw = (struct sim_graph){ 0 };
    draw_types(&raw->types, draws);
    for (uint32_t t = 0; t < raw->types.num_ntypes; t++)
        draw_nodes(raw, t, draws);
    for (uint32_t e = 0; e < raw->types.num_etypes; e++)
        draw_edges(raw, e, draws);
}

static void reverse_edge(const struct sim_edges *from, uint32_t i, struct sim_edges *to, uint32_t j)
{
    to->src[j] = from->dst[i];
    to->dst[j] = from->src[i];
}

static void count_degrees(struct sim_graph *raw)
{
    for (uint32_t t = 0; t < raw->types.num_ntypes; t++)
        for (uint32_t v = 0; v < raw->num_nodes[t]; v++)
            raw->in_degrees[t][v] = raw->out_degrees[t][v] = 0;
    for (uint32_t e = 0; e < raw->types.num_etypes; e++)
        for (uint32_t i = 0; i < raw->edges[e].count; i++) {
            raw->out_degrees[raw->types.etypes[e].src][raw->edges[e].src[i]]++;
            raw->in_degrees[raw->types.etypes[e].dst][raw->edges[e].dst[i]]++;
        }
}

void sim_graph_reverse(struct sim_graph *raw, uint64_t seed)
{
    for (uint32_t e = 0; e < raw->types.num_etypes; e++) {
        const struct graph_etype *type = &raw->types.etypes[e];
        struct sim_edges *edges = &raw->edges[e];
        uint64_t drawn = key_mix(seed + e);
        for (uint32_t i = 0; type->src == type->dst && drawn % 4 != 0 && i < edges->count / 2; i++)
            if (drawn % 4 == 1)
                reverse_edge(edges, 2 * i, edges, 2 * i + 1);
            else
                reverse_edge(edges, i, edges, i + edges->count / 2);
        for (uint32_t f = 0; f < e && (drawn >> 8) % 4 != 0; f++) {
            const struct graph_etype *other = &raw->types.etypes[f];
            bool swapped = other->src == type->dst && other->dst == type->src;
            for (uint32_t i = 0; swapped && i < edges->count && i < raw->edges[f].count; i++)
                reverse_edge(&raw->edges[f], i, edges, i);
        }
    }
    count_degrees(raw);
}

void sim_graph_fini(struct sim_graph *raw)
{
    for (uint32_t t = 0; t < raw->types.num_ntypes; t++) {
        free(raw->in_degrees[t]);
        free(raw->out_degrees[t]);
    }
    for (uint32_t e = 0; e < raw->types.num_etypes; e++) {
        free(raw->edges[e].src);
        free(raw->edges[e].dst);
    }
    graph_types_fini(&raw->types);
}

uint32_t sim_graph_max_degree(const struct sim_graph *raw, uint32_t *const *degrees)
{
    uint32_t most = 0;
    for (uint32_t t = 0; t < raw->types.num_ntypes; t++)
        for (uint32_t i = 0; i < raw->num_nodes[t]; i++)
            most = degrees[t][i] > most ? degrees[t][i] : most;
    return most;
}
