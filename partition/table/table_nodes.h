/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The nodes table: its names, and columns of numbers, of texts, of labels and of masks.
 *
 * A first pass finds what each column holds, a second one keeps its values, 4 bytes each. A table
 * that changes between them, or is replaced, is refused: nodes would get the values of others. The
 * second pass takes nothing for granted that the first one found, since it learns of a change
 * behind the last row.
 *
 * Ownership: table_nodes_fini frees all; options are borrowed. Thread rules: one thread.
 */
#ifndef PARTITION_TABLE_TABLE_NODES_H
#define PARTITION_TABLE_TABLE_NODES_H

#include "partition/table/id_map.h"
#include "partition/table/node_column.h"

struct table_nodes {
    const struct table_options *options;
    const struct id_map *ids;
    struct table_roles roles;
    struct value_reader values;
    uint64_t rows;
    uint32_t count;
    bool keys;          /* the columns are keys of JSON objects */
    uint32_t num_flags; /* columns of labels that are 0 or 1 */
    uint32_t checksum;  /* of the header and all rows, as the first pass read them */
    struct node_column *columns;
    uint8_t *masks; /* [rows]: bit i of mask i; NULL: none */
    bool has_masks[VALUE_MASKS];
    /* The values of all columns of texts, each behind NODE_TEXT_PREFIX bytes that name the column. */
    struct id_map texts;
};

/* Reads options->nodes, adds its names to ids and what was chosen to found. */
int table_nodes_read(struct table_nodes *nodes, const struct table_options *options,
                     struct id_map *ids, struct table_found *found, struct error *error);
void table_nodes_fini(struct table_nodes *nodes);

#endif
