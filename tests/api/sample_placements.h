/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A random graph of tests/partition/graph_util.h on several placements: each cuts it into another
 * number of partitions, and opens it with other loops, samplers and servers, in place or by
 * messages. The sum that a test makes of its batches is the same on all of them.
 */
#ifndef TESTS_API_SAMPLE_PLACEMENTS_H
#define TESTS_API_SAMPLE_PLACEMENTS_H

#include "tests/partition/graph_util.h"

#include <troupe/troupe.h>

#define PLACEMENTS 6

/* Partitions the sample for the first `count` placements, opens the graph on each, and calls `run`; all
 * calls return the same. Training nodes are dealt to so many trainers; 0: they are not. */
void graphs_agree(struct sample *sample, int count, uint32_t trainers,
                  uint64_t (*run)(struct tr_graph *graph));

/* The same for tests that read the .json of each placement, or open the graph themselves. */
void placements_agree(struct sample *sample, int count, uint32_t trainers,
                      uint64_t (*run)(const char *path, int placement));

/* The graph at the path that `run` was called with, in the session that its placement wants. The
 * caller closes both. */
struct tr_session *placement_open(const char *path, int placement, struct tr_graph **graph);

#endif
