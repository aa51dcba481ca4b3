/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small random graph, written as a raw folder and partitioned in the ways a test asks for.
 */
#ifndef TESTS_API_API_WORLD_H
#define TESTS_API_API_WORLD_H

#include <stdint.h>

#include "partition/build/partition.h"

#define WORLD_NODES 1500u
#define WORLD_EDGES 12000u
#define WORLD_WIDTH 7u
#define WORLD_CLASSES 5u

struct world {
    char dir[64]; /* a folder of its own, removed with all that is in it */
};

void world_init(struct world *world);
void world_fini(struct world *world);

/* The path of the .json of that partitioning, made when it is asked for first. */
void world_partition(struct world *world, enum partition_method method, uint32_t num_parts,
                     char path[256]);

/* Features and labels by original ID, as they were written. */
void world_truth(const struct world *world, float *features, int64_t *labels);

#endif
