/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The edges that a run's draws may take, for passes that draw nothing: those whose value of
 * options.draw_by is positive, and that options.draw_mask marks. An edge type that lacks a feature is
 * not restricted by it.
 *
 * Ownership: the caller frees what drawn_edges_find() allocates; the tables are the partitions'.
 * Thread rules: one thread finds them; any thread may read them then.
 */
#ifndef MODEL_DRAWN_EDGES_H
#define MODEL_DRAWN_EDGES_H

#include <stdbool.h>

#include "graph/part.h"
#include "model/edge_weights.h"

/* Of one edge type of a partition. */
struct drawn_edges {
    struct weight_rows by, mask; /* rows NULL: not restricted */
};

static inline bool drawn_edges_pass(const struct drawn_edges *drawn, uint64_t edge)
{
    return (drawn->by.rows == NULL || weight_rows_at(&drawn->by, edge) > 0) &&
           (drawn->mask.rows == NULL || weight_rows_at(&drawn->mask, edge) != 0);
}

/* *out: [num_parts][edge types], by names of features of one number an edge, each of which may be
 * NULL. TR_ENOENT: no edge type has one of them; TR_EMISMATCH: it has several numbers an edge;
 * TR_ENOMEM. */
int drawn_edges_find(const struct graph_part *const *parts, uint32_t num_parts, const char *by,
                     const char *mask, struct drawn_edges **out, struct error *error);

#endif
