/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The edges of a table: pairs of numbers for pairs of names, with a weight and a time where columns
 * are named for them.
 *
 * Ownership: table_edges_fini frees all. Thread rules: one thread.
 */
#ifndef PARTITION_TABLE_TABLE_EDGES_H
#define PARTITION_TABLE_TABLE_EDGES_H

#include "partition/raw/raw_memory.h"
#include "partition/table/id_map.h"
#include "partition/table/table_import.h"

struct table_edges {
    struct pairs pairs;
    float *weights; /* [pairs.count]; NULL: none */
    int64_t *times;
    uint64_t values_room; /* of each of them */
    uint64_t rows;
};

/* Reads options->edges. Names that are not in the map are added, or refused where the rule says
 * so. Adds what was chosen to found. */
int table_edges_read(struct table_edges *edges, const struct table_options *options,
                     struct id_map *ids, struct table_found *found, struct error *error);
void table_edges_fini(struct table_edges *edges);

#endif
