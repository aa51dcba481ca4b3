/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The big graph of the benchmarks, made in memory: as many nodes and edges as ogbn-products.
 *
 * In-degrees and sources are skewed as N * u^2 with u uniform, source IDs are scattered over the
 * range, so that a row's neighbours share no cache line. One partition holds it all, global IDs
 * are original IDs. It is a pure function of the scale: everything compares on the same graph.
 *
 * Ownership: the struct owns its tables, in huge-page-advised memory.
 */
#ifndef BENCH_BIGGRAPH_H
#define BENCH_BIGGRAPH_H

#include <stdint.h>

#include "graph/part.h"

#define BIGGRAPH_NODES UINT64_C(2449029)
#define BIGGRAPH_EDGES UINT64_C(123718280)
#define BIGGRAPH_FEATURES 100 /* float32 each */
#define BIGGRAPH_CLASSES 47

struct biggraph {
    struct graph_types types;
    struct graph_part part; /* with the node features "feat" and "label" (int64) */
    struct node_part node;
    struct edge_part edge;
    struct feature_table features[2];
    uint64_t *index;
    uint64_t *original_ids;
    uint32_t *indices;
    float *rows;
    int64_t *labels;
};

/* 1.6 GB at scale 1; 0 < scale <= 1 scales nodes and edges. */
int biggraph_init(struct biggraph *graph, double scale);
void biggraph_fini(struct biggraph *graph);

#endif
