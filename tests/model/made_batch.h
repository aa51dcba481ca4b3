/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random mini-batches and a struct parallel on real threads, for the tests of model/.
 *
 * Ownership: made_batch_destroy frees all of a batch.
 */
#ifndef TESTS_MODEL_MADE_BATCH_H
#define TESTS_MODEL_MADE_BATCH_H

#include <stdbool.h>

#include "graph/batch.h"
#include "runtime/base/parallel.h"

struct made_shape {
    uint32_t layers;
    uint32_t seeds;
    uint32_t fanout_max; /* each destination has 0 .. fanout_max edges */
    uint32_t growth;     /* new nodes a destination brings, at most */
    uint32_t width;
    uint32_t classes;
    bool targets;  /* rows of sigmoid targets instead of class numbers */
    bool weighted; /* edges have weights, one in eight of them 0, and nodes IDs from 0 on */
    uint64_t seed;
};

struct mini_batch *made_batch_create(const struct made_shape *shape);
void made_batch_destroy(struct mini_batch *batch);

/* Threads that take the indices in no fixed order. */
struct parallel *threads_create(size_t workers);
void threads_destroy(struct parallel *parallel);

#endif
