/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The partitions of a graph that this process has in memory, as exact inference reads them: what
 * include/troupe/part.h shows of them, with two tables of each node type and a few
 * of each edge type.
 *
 * Ownership: embedded; the rows are the graph's, which must stay open. Thread rules: one thread
 * fills it; any thread may read it then.
 */
#ifndef MODEL_PART_VIEW_H
#define MODEL_PART_VIEW_H

#include <troupe/troupe.h>

#include "graph/part.h"
#include "runtime/base/error.h"

struct part_view;

/* Features of edges that are viewed: what weighs them, what they are drawn by, and what marks those
 * that are. */
#define PART_VIEW_EDGE_TABLES 3

struct part_views {
    struct tr_graph *graph;
    const char *features, *labels;                  /* borrowed names */
    const char *edge_tables[PART_VIEW_EDGE_TABLES]; /* the same; NULL: none is viewed */
    uint32_t count;
    struct part_view *views;         /* [count] */
    const struct graph_part **parts; /* [count]; NULL: not in this process */
};

/* TR_ENOMEM; what a partition shows wrong. edge_tables: [PART_VIEW_EDGE_TABLES]. */
int part_views_init(struct part_views *views, struct tr_graph *graph, const char *features,
                    const char *labels, const char *const *edge_tables, struct error *error);
/* Takes up the partitions that came since. */
int part_views_update(struct part_views *views, struct error *error);
void part_views_fini(struct part_views *views);

#endif
