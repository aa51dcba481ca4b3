/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/biggraph.h"

#include "graph/key.h"
#include "runtime/base/hotmem.h"

/* Odd and larger than any scaled graph's factor: multiplication by it scatters IDs. */
#define SCATTER UINT64_C(0x9e3779b1)

/* floor(n * u^2) for a uniform u of 32 bits, in integers. */
static uint64_t skewed(uint64_t bits, uint64_t n)
{
    uint64_t u = bits >> 32;
    return (uint64_t)((unsigned __int128)(u * u) * n >> 64);
}

/* In-degrees: each edge picks its destination as the sources are picked. */
static void make_index(uint64_t *index, uint64_t num_nodes, uint64_t num_edges)
{
    for (uint64_t e = 0; e < num_edges; e++)
        index[skewed(key_draw(1, e), num_nodes) * SCATTER % num_nodes + 1]++;
    for (uint64_t i = 0; i < num_nodes; i++)
        index[i + 1] += index[i];
}

static void fill(struct biggraph *graph, uint64_t num_nodes, uint64_t num_edges)
{
    make_index(graph->index, num_nodes, num_edges);
    for (uint64_t e = 0; e < num_edges; e++)
        graph->indices[e] = (uint32_t)(skewed(key_draw(2, e), num_nodes) * SCATTER % num_nodes);
    for (uint64_t i = 0; i < num_nodes; i++) {
        graph->original_ids[i] = i;
        graph->labels[i] = (int64_t)(key_draw(3, i) % BIGGRAPH_CLASSES);
    }
    for (uint64_t i = 0; i < num_nodes * BIGGRAPH_FEATURES; i++)
        graph->rows[i] = (float)(uint32_t)(i * SCATTER) * 0x1p-32f;
}

/* Describes the tables as a part does. */
static void describe(struct biggraph *graph, uint64_t num_nodes, uint64_t num_edges)
{
    graph->features[0] = (struct feature_table){ .name = "feat",
                                                 .dtype = TR_F32,
                                                 .num_rows = num_nodes,
                                                 .width = BIGGRAPH_FEATURES,
                                                 .row_bytes = BIGGRAPH_FEATURES * sizeof(float),
                                                 .rows = graph->rows,
                                                 .ndim = 1,
                                                 .shape = { BIGGRAPH_FEATURES } };
    graph->features[1] = (struct feature_table){ .name = "label",
                                                 .dtype = TR_I64,
                                                 .num_rows = num_nodes,
                                                 .width = 1,
                                                 .row_bytes = sizeof(int64_t),
                                                 .rows = graph->labels };
    graph->node = (struct node_part){ .num_nodes = num_nodes,
                                      .num_features = 2,
                                      .original_ids = graph->original_ids,
                                      .features = graph->features };
    graph->edge.csc = (struct csc){ .num_rows = num_nodes,
                                    .num_edges = num_edges,
                                    .index = graph->index,
                                    .indices = graph->indices };
    graph->edge.edge_rank = graph->index;
    graph->part = (struct graph_part){ .types = &graph->types,
                                       .nodes = &graph->node,
                                       .edges = &graph->edge };
}

int biggraph_init(struct biggraph *graph, double scale)
{
    *graph = (struct biggraph){ 0 };
    if (!(scale > 0 && scale <= 1))
        return TR_EINVAL;
    uint64_t num_nodes = (uint64_t)(scale * (double)BIGGRAPH_NODES) + 1;
    uint64_t num_edges = (uint64_t)(scale * (double)BIGGRAPH_EDGES);
    num_nodes -= scale == 1;
    int rv = graph_types_init_homogeneous(&graph->types);
    if (rv != 0)
        return rv;
    graph->index = hotmem_alloc((num_nodes + 1) * sizeof *graph->index);
    graph->original_ids = hotmem_alloc(num_nodes * sizeof *graph->original_ids);
    graph->indices = hotmem_alloc(num_edges * sizeof *graph->indices);
    graph->rows = hotmem_alloc(num_nodes * BIGGRAPH_FEATURES * sizeof *graph->rows);
    graph->labels = hotmem_alloc(num_nodes * sizeof *graph->labels);
    describe(graph, num_nodes, num_edges);
    if (graph->index == NULL || graph->original_ids == NULL || graph->indices == NULL ||
        graph->rows == NULL || graph->labels == NULL) {
        biggraph_fini(graph);
        return TR_ENOMEM;
    }
    fill(graph, num_nodes, num_edges);
    return 0;
}

void biggraph_fini(struct biggraph *graph)
{
    uint64_t num_nodes = graph->node.num_nodes;
    hotmem_free(graph->index, (num_nodes + 1) * sizeof *graph->index);
    hotmem_free(graph->original_ids, num_nodes * sizeof *graph->original_ids);
    hotmem_free(graph->indices, graph->edge.csc.num_edges * sizeof *graph->indices);
    hotmem_free(graph->rows, num_nodes * BIGGRAPH_FEATURES * sizeof *graph->rows);
    hotmem_free(graph->labels, num_nodes * sizeof *graph->labels);
    graph_types_fini(&graph->types);
    *graph = (struct biggraph){ 0 };
}
