/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables that hold several graphs, as sets for predicting properties of graphs do: a column says of
 * which graph a row is, and each graph may number its nodes anew. Then one graph is read, since
 * the nodes of one ID would become one.
 *
 * Ownership: node_graphs_fini frees. Thread rules: pure, one thread.
 */
#ifndef PARTITION_TABLE_ROW_GRAPH_H
#define PARTITION_TABLE_ROW_GRAPH_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "partition/table/table_reader.h"

/* column: that says it, from 1; 0: none does. wanted: the graph that is read; NULL: all. */
static inline bool row_graph_is_wanted(const struct table_field *fields, uint32_t column,
                                       const char *wanted)
{
    return column == 0 || wanted == NULL ||
           (fields[column - 1].length == strlen(wanted) &&
            memcmp(fields[column - 1].at, wanted, strlen(wanted)) == 0);
}

/* The graph of each node: a number made of its name. */
struct node_graphs {
    uint32_t *of; /* [room]; 0: none yet */
    uint64_t room;
};

uint32_t row_graph_number(const struct table_field *name);
/* TR_EMISMATCH: the node is in another graph. TR_ENOMEM. Without a message. */
int node_graphs_note(struct node_graphs *graphs, uint64_t node, uint32_t graph);
void node_graphs_fini(struct node_graphs *graphs);

#endif
