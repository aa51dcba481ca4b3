/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The time of one training step beside that of its matrix products alone.
 *
 * GraphSAGE of 3 layers on a made batch with the shape that fanout 5,10,15 and 1024 seeds give
 * on a graph of num_nodes nodes with skewed sources: sizes are those of such a batch, ids are
 * drawn with the same skew. The products run in the same BLAS, on the same shapes, in blocks of
 * the same size, and the two are measured in turns, so that a neighbour slows both.
 *
 * Thread rules: blocks; uses the struct parallel given.
 */
#ifndef BENCH_STEP_H
#define BENCH_STEP_H

#include <stdint.h>

#include "runtime/base/error.h"
#include "runtime/base/parallel.h"

struct bench_step_plan {
    uint64_t num_nodes; /* 0: 2,449,029 */
    uint32_t seeds;     /* 0: 1024 */
    uint32_t repeats;   /* 0: 7; the median counts */
    float dropout;
    uint64_t seed;
};

struct bench_step {
    double step_s;     /* forward, loss, backward, Adam */
    double products_s; /* the matrix products of it */
    double ratio;      /* median of the ratios of each turn */
    double flops;      /* of the products */
    uint32_t input_nodes;
    uint32_t edges;
};

int bench_step(const struct bench_step_plan *plan, struct parallel *parallel,
               struct bench_step *result, struct error *error);

#endif
