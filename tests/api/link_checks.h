/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What tests of edges as seeds share: a set of listed edges, and what any batch of edges must hold,
 * whatever else is tested of it.
 *
 * `sample` is the graph by original IDs, from which the partitions were made.
 */
#ifndef TESTS_API_LINK_CHECKS_H
#define TESTS_API_LINK_CHECKS_H

#include "tests/partition/graph_util.h"

#include <troupe/troupe.h>

/* `count` edges of the type in no order, some of them twice. They are chosen by rank, so that they are
 * the same on every placement. The caller closes the set. */
struct tr_nodes *list_some_edges(struct tr_graph *graph, uint32_t etype, size_t count);

/* The pairs of the batch have the ends that the graph says of their edges. */
void check_ends_of_pairs(struct tr_graph *graph, const struct sample *sample,
                         const struct tr_batch *batch, const struct tr_pairs *pairs);

/* No layer draws an edge of the pairs where `left_out`, and each draw is as full as the other edges
 * allow. Both layers draw `fanout` edges. */
void check_draws_beside_pairs(struct tr_graph *graph, const struct sample *sample,
                              const struct tr_batch *batch, const struct tr_pairs *pairs,
                              bool left_out, uint64_t fanout);

#endif
