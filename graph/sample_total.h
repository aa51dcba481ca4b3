/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Uniform draws of so many edges over all edge types together.
 *
 * The edges of a node of all edge types, in the order of the types' numbers, are one row: of in-edges
 * all types that enter the node's type, of out-edges all that leave it. `fanout` of that row are drawn
 * with one key, which no edge type is part of; so each edge type, asked by itself, gives those of the
 * same draw that are its own. The draw is made once for each type, and no edge travels twice: a
 * partition has all in-edges, and all out-edges, of its nodes.
 *
 * Edges that are left out are out of that row. Weights and masks there are none.
 *
 * Thread rules: as in graph/sample.h.
 */
#ifndef GRAPH_SAMPLE_TOTAL_H
#define GRAPH_SAMPLE_TOTAL_H

#include "graph/sample.h"

/* Draws for a request whose term says so. TR_ETOOBIG: a row has 2^32 - 1 edges or more. */
int sample_total(struct sample_space *space, const struct sample_request *request,
                 struct sample_result *result);

#endif
