/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/model/made_graph.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include <troupe/sample.h>

#include "graph/key.h"

static void *take(size_t count, size_t size)
{
    void *memory = calloc(count + 1, size);
    assert(memory != NULL);
    return memory;
}

static uint32_t draw_source(const struct made_graph *graph, uint32_t node, double inside,
                            uint64_t key, uint64_t *draw)
{
    uint32_t source = (uint32_t)key_below(key, draw, graph->num_nodes);
    if (key_double(key, (*draw)++) < inside) /* Move it into the block of node. */
        source = source - source % graph->classes + node % graph->classes;
    return source < graph->num_nodes ? source : node;
}

static void fill_nodes(struct made_graph *graph, double signal, uint64_t key)
{
    for (uint32_t v = 0; v < graph->num_nodes; v++) {
        uint32_t block = v % graph->classes;
        graph->labels[v] = (float)block;
        for (uint32_t i = 0; i < graph->width; i++) {
            double direction = key_mix(key + block * 1000 + i) & 1 ? 1 : -1;
            double noise = 2 * key_double(key_mix(key + v), i) - 1;
            graph->features[(size_t)v * graph->width + i] = (float)(noise + signal * direction);
        }
    }
}

struct made_graph *made_graph_create(uint32_t num_nodes, uint32_t degree, uint32_t classes,
                                     uint32_t width, double inside, double signal, uint64_t seed)
{
    struct made_graph *graph = take(1, sizeof *graph);
    *graph = (struct made_graph){ .num_nodes = num_nodes,
                                  .width = width,
                                  .classes = classes,
                                  .index = take(num_nodes + 1, sizeof(uint32_t)),
                                  .sources = take((size_t)num_nodes * 2 * degree, sizeof(uint32_t)),
                                  .in_degrees = take(num_nodes, sizeof(uint32_t)),
                                  .out_degrees = take(num_nodes, sizeof(uint32_t)),
                                  .features = take((size_t)num_nodes * width, sizeof(float)),
                                  .labels = take(num_nodes, sizeof(float)) };
    uint64_t key = key_mix(seed + 77), draw = 0;
    for (uint32_t v = 0; v < num_nodes; v++) {
        uint32_t count = v < 2 ? v : (uint32_t)key_below(key, &draw, 2 * degree);
        for (uint32_t e = 0; e < count; e++) {
            uint32_t source = v == 1 ? 1 : draw_source(graph, v, inside, key, &draw);
            graph->sources[graph->index[v] + e] = source;
            graph->out_degrees[source]++;
        }
        graph->in_degrees[v] = count;
        graph->index[v + 1] = graph->index[v] + count;
    }
    fill_nodes(graph, signal, key_mix(seed + 78));
    return graph;
}

void made_graph_destroy(struct made_graph *graph)
{
    free(graph->index);
    free(graph->sources);
    free(graph->in_degrees);
    free(graph->out_degrees);
    free(graph->features);
    free(graph->labels);
    free(graph->weights);
    free(graph);
}

void made_graph_weigh(struct made_graph *graph, uint64_t seed)
{
    uint32_t edges = graph->index[graph->num_nodes];
    graph->weights = take(edges, sizeof *graph->weights);
    for (uint32_t e = 0; e < edges; e++)
        graph->weights[e] = key_mix(seed + e) % 8 == 0 ? 0 : 2 * key_float(seed, e);
}

static void fill_weights(struct edge_part *edges, const struct made_graph *graph,
                         const uint32_t *owners, uint32_t part)
{
    struct feature_table *table = take(1, sizeof *table);
    float *weights = take(edges->csc.num_edges, sizeof *weights);
    size_t filled = 0;
    for (uint32_t v = 0; v < graph->num_nodes; v++)
        for (uint32_t e = graph->index[v]; owners[v] == part && e < graph->index[v + 1]; e++)
            weights[filled++] = graph->weights[e];
    *table = (struct feature_table){ .name = "weight",
                                     .dtype = TR_F32,
                                     .num_rows = edges->csc.num_edges,
                                     .width = 1,
                                     .row_bytes = sizeof *weights,
                                     .rows = weights };
    edges->num_features = 1;
    edges->features = table;
}

static void fill_features(struct feature_table *table, const struct made_graph *graph,
                          const uint64_t *originals, uint64_t rows, enum tr_dtype dtype)
{
    char *data = take(rows * graph->width, sizeof(double));
    for (size_t i = 0; i < rows * graph->width; i++) {
        float value =
            graph->features[originals[i / graph->width] * graph->width + i % graph->width];
        double wide = (double)value;
        if (dtype == TR_F64)
            memcpy(data + i * sizeof wide, &wide, sizeof wide);
        else
            memcpy(data + i * sizeof value, &value, sizeof value);
    }
    *table = (struct feature_table){ .name = "feat",
                                     .dtype = dtype,
                                     .num_rows = rows,
                                     .width = graph->width,
                                     .row_bytes = graph->width * tr_dtype_size(dtype),
                                     .rows = data };
}

static void fill_labels(struct feature_table *table, const struct made_graph *graph,
                        const uint64_t *originals, uint64_t rows)
{
    float *data = take(rows, sizeof *data);
    for (uint64_t i = 0; i < rows; i++)
        data[i] = graph->labels[originals[i]];
    *table = (struct feature_table){ .name = "label",
                                     .dtype = TR_F32,
                                     .num_rows = rows,
                                     .width = 1,
                                     .row_bytes = sizeof(float),
                                     .rows = data };
}

static void fill_part(struct graph_part *part, const struct made_graph *graph,
                      const uint32_t *owners, uint64_t begin, const uint32_t *globals,
                      enum tr_dtype dtype)
{
    uint64_t *originals = take(graph->num_nodes, sizeof *originals);
    uint32_t *in = take(graph->num_nodes, sizeof *in), *out = take(graph->num_nodes, sizeof *out);
    uint64_t *index = take(graph->num_nodes + 1, sizeof *index);
    uint32_t *indices = take(graph->index[graph->num_nodes], sizeof *indices);
    uint64_t rows = 0;
    for (uint32_t v = 0; v < graph->num_nodes; v++) {
        if (owners[v] != part->part_id)
            continue;
        originals[rows] = v;
        in[rows] = graph->in_degrees[v];
        out[rows] = graph->out_degrees[v];
        index[rows + 1] = index[rows] + in[rows];
        for (uint32_t e = 0; e < in[rows]; e++)
            indices[index[rows] + e] = globals[graph->sources[graph->index[v] + e]];
        rows++;
    }
    struct feature_table *tables = take(2, sizeof *tables);
    fill_features(&tables[0], graph, originals, rows, dtype);
    fill_labels(&tables[1], graph, originals, rows);
    part->nodes[0] = (struct node_part){ rows, begin, originals, in, out, 2, tables };
    part->edges[0].csc = (struct csc){
        .num_rows = rows, .num_edges = index[rows], .index = index, .indices = indices
    };
    if (graph->weights != NULL)
        fill_weights(&part->edges[0], graph, owners, part->part_id);
}

struct made_parts *made_parts_create(const struct made_graph *graph, const uint32_t *owners,
                                     uint32_t count, enum tr_dtype dtype)
{
    struct made_parts *parts = take(1, sizeof *parts);
    int rc = graph_types_init_homogeneous(&parts->types);
    assert(rc == 0);
    parts->count = count;
    parts->parts = take(count, sizeof *parts->parts);
    uint32_t *globals = take(graph->num_nodes, sizeof *globals), next = 0;
    uint64_t *begins = take(count, sizeof *begins);
    for (uint32_t p = 0; p < count; p++) {
        begins[p] = next;
        for (uint32_t v = 0; v < graph->num_nodes; v++) {
            if (owners[v] == p)
                globals[v] = next++;
        }
    }
    for (uint32_t p = 0; p < count; p++) {
        struct graph_part *part = parts->parts[p] = take(1, sizeof *part);
        *part = (struct graph_part){ .part_id = p,
                                     .types = &parts->types,
                                     .nodes = take(1, sizeof *part->nodes),
                                     .edges = take(1, sizeof *part->edges) };
        fill_part(part, graph, owners, begins[p], globals, dtype);
    }
    free(begins);
    free(globals);
    return parts;
}

static void release(const void *memory)
{
    free((void *)(uintptr_t)memory);
}

void made_parts_destroy(struct made_parts *parts)
{
    for (uint32_t p = 0; p < parts->count; p++) {
        struct graph_part *part = parts->parts[p];
        release(part->nodes[0].original_ids);
        release(part->nodes[0].in_degrees);
        release(part->nodes[0].out_degrees);
        release(part->nodes[0].features[0].rows);
        release(part->nodes[0].features[1].rows);
        release(part->nodes[0].features);
        if (part->edges[0].features != NULL)
            release(part->edges[0].features[0].rows);
        release(part->edges[0].features);
        release(part->edges[0].csc.index);
        release(part->edges[0].csc.indices);
        free(part->nodes);
        free(part->edges);
        free(part);
    }
    graph_types_fini(&parts->types);
    free(parts->parts);
    free(parts);
}

/* The nodes met so far, in that order. */
struct met {
    uint32_t *nodes;
    uint32_t *position;
    uint32_t count;
};

static uint32_t meet(struct met *met, uint32_t node)
{
    if (met->position[node] == UINT32_MAX) {
        met->position[node] = met->count;
        met->nodes[met->count++] = node;
    }
    return met->position[node];
}

/* Chooses `drawn` of the node's edges, by their places, without replacement into chosen. */
static uint32_t choose(const struct made_graph *graph, uint32_t node, uint32_t fanout, uint64_t key,
                       uint32_t *chosen)
{
    uint32_t degree = graph->in_degrees[node];
    for (uint32_t e = 0; e < degree; e++)
        chosen[e] = graph->index[node] + e;
    if (fanout == 0 || degree <= fanout)
        return degree;
    uint64_t draw = 0;
    for (uint32_t i = 0; i < fanout; i++) {
        uint32_t other = i + (uint32_t)key_below(key, &draw, degree - i), kept = chosen[i];
        chosen[i] = chosen[other];
        chosen[other] = kept;
    }
    return fanout;
}

static void fill_block(struct block *block, struct batch_table *table,
                       const struct made_graph *graph, struct met *met, uint32_t fanout,
                       uint64_t key)
{
    uint32_t num_dst = met->count, edge_count = 0;
    for (uint32_t d = 0; d < num_dst; d++)
        edge_count += graph->in_degrees[met->nodes[d]];
    uint32_t *index = take(num_dst + 1, sizeof *index);
    uint32_t *sources = take(edge_count, sizeof *sources);
    float *weights = graph->weights == NULL ? NULL : take(edge_count, sizeof *weights);
    for (uint32_t d = 0; d < num_dst; d++) {
        uint32_t *chosen = sources + index[d];
        uint32_t drawn = choose(graph, met->nodes[d], fanout, key_node(key, met->nodes[d]), chosen);
        for (uint32_t e = 0; e < drawn; e++) {
            if (weights != NULL)
                weights[index[d] + e] = graph->weights[chosen[e]];
            chosen[e] = meet(met, graph->sources[chosen[e]]);
        }
        index[d + 1] = index[d] + drawn;
    }
    uint32_t *counts = take(2, sizeof *counts);
    counts[0] = met->count;
    counts[1] = num_dst;
    struct block_edges *edges = take(1, sizeof *edges);
    *edges = (struct block_edges){
        .num_dst = num_dst, .num_edges = index[num_dst], .index = index, .sources = sources
    };
    *block = (struct block){ counts, counts + 1, edges };
    table->of = TR_OF_EDGES;
    table->rows = (struct batch_rows){ TR_F32, index[num_dst], 1, sizeof *weights, weights };
}

static void fill_batch_nodes(struct batch_nodes *nodes, const struct made_graph *graph,
                             const struct met *met, uint32_t num_seeds)
{
    uint32_t n = met->count;
    float *features = take((size_t)n * graph->width, sizeof *features);
    float *labels = take(num_seeds, sizeof *labels);
    uint32_t *degrees = take(2 * (size_t)n, sizeof *degrees);
    uint64_t *ids = take(n, sizeof *ids);
    for (uint32_t i = 0; i < n; i++) {
        ids[i] = met->nodes[i];
        memcpy(features + (size_t)i * graph->width,
               graph->features + (size_t)met->nodes[i] * graph->width,
               graph->width * sizeof *features);
        degrees[i] = graph->in_degrees[met->nodes[i]];
        degrees[n + i] = graph->out_degrees[met->nodes[i]];
        if (i < num_seeds)
            labels[i] = graph->labels[met->nodes[i]];
    }
    *nodes = (struct batch_nodes){
        .num_nodes = n,
        .num_seeds = num_seeds,
        .ids = ids,
        .in_degrees = degrees,
        .out_degrees = degrees + n,
        .features = { TR_F32, n, graph->width, graph->width * sizeof(float), features },
        .labels = { TR_F32, num_seeds, 1, sizeof(float), labels },
    };
}

struct mini_batch *made_graph_batch(const struct made_graph *graph, const uint32_t *seeds,
                                    uint32_t num_seeds, uint32_t layers, uint32_t fanout,
                                    uint64_t key)
{
    struct met met = { take(graph->num_nodes, sizeof(uint32_t)),
                       take(graph->num_nodes, sizeof(uint32_t)), 0 };
    memset(met.position, 0xff, graph->num_nodes * sizeof(uint32_t));
    for (uint32_t i = 0; i < num_seeds; i++)
        meet(&met, seeds[i]);
    assert(met.count == num_seeds);
    struct mini_batch *batch = take(1, sizeof *batch);
    struct block *blocks = take(layers, sizeof *blocks);
    struct batch_table *tables = take(layers, sizeof *tables);
    for (uint32_t l = layers; l-- > 0;) {
        fill_block(&blocks[l], &tables[l], graph, &met, fanout, key_mix(key + l));
        tables[l].layer = l;
    }
    struct batch_nodes *nodes = take(1, sizeof *nodes);
    fill_batch_nodes(nodes, graph, &met, num_seeds);
    *batch = (struct mini_batch){ .step_seeds = num_seeds,
                                  .num_ntypes = 1,
                                  .num_etypes = 1,
                                  .num_layers = layers,
                                  .blocks = blocks,
                                  .nodes = nodes,
                                  .num_tables = layers,
                                  .tables = tables };
    free(met.nodes);
    free(met.position);
    return batch;
}
