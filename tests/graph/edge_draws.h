/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Draws from the edges of one partition that a test makes in memory: the features by which edges are
 * drawn, the ways to draw by them with every sampler, and a draw.
 */
#ifndef TESTS_GRAPH_EDGE_DRAWS_H
#define TESTS_GRAPH_EDGE_DRAWS_H

#include "graph/local_sample.h"
#include "graph/part.h"
#include "graph/sample.h"

/* The places of an edge type's features by which DRAW_WAYS draw. */
enum { EDGE_WEIGHTS, EDGE_MASK, EDGE_TABLES };

/* One number an edge. The rows are the caller's. */
struct feature_table edge_feature(const char *name, enum tr_dtype dtype, uint64_t num_edges,
                                  const void *rows);

struct draw_way {
    uint32_t kind, weights, mask; /* SAMPLE_NO_TABLE: none */
    bool replace;
};

/* Every sampler with each of what it reads. */
#define NUM_DRAW_WAYS 12u
extern const struct draw_way DRAW_WAYS[NUM_DRAW_WAYS];

struct sample_term draw_term(const struct draw_way *way, int32_t fanout);

/* For struct original_ids_of: global IDs are the original ones. */
int read_same_ids(void *arg, uint32_t ntype, uint64_t first, size_t count, uint64_t *ids,
                  struct error *error);

/* Makes what the draw is made by, and draws. `weights` gets the edges' weights where the way gives
 * some. No more edges come than local_sample_bound() says. */
void draw_edges_of(const struct local_sample *what, struct sample_space *space,
                   struct sample_result *result, float *weights);

#endif
