/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The IDs of the rows of a nodes table, in their order: each row has one of its own. They wait until
 * there are some, since a map gives numbers to many at a time faster than to one.
 *
 * Ownership: the map is borrowed; IDs are copied. Thread rules: one thread.
 */
#ifndef PARTITION_TABLE_NODE_IDS_H
#define PARTITION_TABLE_NODE_IDS_H

#include "partition/table/id_map.h"
#include "partition/table/table_reader.h"

#define NODE_IDS_AT_ONCE 64u

struct node_ids {
    struct id_map *ids;
    uint64_t first; /* the number that the first of them must get */
    uint32_t count;
    bool of_graphs; /* a column says of which graph a row is: for messages */
    struct id_text names[NODE_IDS_AT_ONCE];
    uint64_t lines[NODE_IDS_AT_ONCE];
    char texts[NODE_IDS_AT_ONCE][ID_TEXT_MAX];
};

/* Takes the ID of the reader's row. Fails on the reader: no ID, no name, or one that an earlier row
 * has. */
int node_ids_take(struct node_ids *waiting, struct table_reader *reader,
                  const struct table_field *field);
/* Adds those that wait to the map. */
int node_ids_flush(struct node_ids *waiting, struct table_reader *reader);

#endif
