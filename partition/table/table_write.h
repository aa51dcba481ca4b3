/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was read of tables, written as a raw graph. Thread rules: one thread.
 */
#ifndef PARTITION_TABLE_TABLE_WRITE_H
#define PARTITION_TABLE_TABLE_WRITE_H

#include "partition/table/table_edges.h"
#include "partition/table/table_nodes.h"

/* nodes: NULL, or those that have the first numbers of ids. features: NULL, or those of the nodes in a
 * file of their own. Sets found->num_features. */
int table_write(const struct table_options *options, const char *out,
                const struct raw_write_options *write, const char *name, const struct id_map *ids,
                const struct table_edges *edges, const struct table_nodes *nodes,
                struct node_features *features, struct table_found *found, struct error *error);

#endif
