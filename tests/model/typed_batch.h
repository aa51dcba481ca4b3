/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random mini-batches over several node types and relations, for the tests of model/.
 *
 * Ownership: typed_batch_destroy frees all of a batch.
 */
#ifndef TESTS_MODEL_TYPED_BATCH_H
#define TESTS_MODEL_TYPED_BATCH_H

#include "graph/batch.h"
#include "model/model_types.h"

struct typed_shape {
    const struct model_types *types;
    uint32_t layers;
    uint32_t seeds; /* of the target type */
    uint32_t fanout_max;
    uint32_t classes;
    uint64_t seed;
};

/* Types that are embedded have distinct original IDs below their number of rows, others features of
 * the width that they have. */
struct mini_batch *typed_batch_create(const struct typed_shape *shape);
void typed_batch_destroy(struct mini_batch *batch);

#endif
