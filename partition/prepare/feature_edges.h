/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the edges of a raw graph say of its nodes: degrees and PageRank (feature.h).
 *
 * Thread rules: one thread a raw graph.
 */
#ifndef PARTITION_PREPARE_FEATURE_EDGES_H
#define PARTITION_PREPARE_FEATURE_EDGES_H

#include "partition/prepare/feature.h"

/* In- and out-degrees of the nodes of a type, over all edge types; free *in and *out. Above 2^32 - 1
 * a degree stays that. */
int feature_degrees(struct raw_graph *graph, uint32_t ntype, const struct feature_options *options,
                    uint32_t **in, uint32_t **out, struct error *error);

/* The PageRank of the nodes of all types, one type after the other; free *ranks. */
int feature_pagerank(struct raw_graph *graph, const struct feature_options *options, double **ranks,
                     uint32_t *rounds, struct error *error);

#endif
