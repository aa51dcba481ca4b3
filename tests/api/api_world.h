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

/* The graph is made in a folder of its own, and that is removed with all that is in it. Both are
 * for cmocka_run_group_tests(): the tests of a program share one graph, and `*state` stays as it
 * is. */
int world_setup(void **state);
int world_teardown(void **state);

/* That folder, where a test may lay files of its own. */
const char *world_folder(void);

/* The path of the .json of that partitioning, made when it is asked for first. */
void world_partition(enum partition_method method, uint32_t num_parts, char path[256]);

/* Features and labels by original ID, as they were written. */
void world_truth(float *features, int64_t *labels);

#endif
