/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The values of columns of texts and of labels: numbers for them while rows are read, and their
 * order behind the last row, whatever the order of the rows.
 *
 * Ownership: node_values_fini frees; columns are borrowed. Thread rules: one thread.
 */
#ifndef PARTITION_TABLE_NODE_VALUES_H
#define PARTITION_TABLE_NODE_VALUES_H

#include "partition/table/table_nodes.h"

/* The texts of a row with their columns in front, and what gives them numbers. */
struct node_values {
    struct table_nodes *nodes;
    char *arena;
    size_t arena_room, arena_used;
    struct id_text *texts; /* [room] */
    uint64_t *numbers;
    uint32_t *columns;
    uint32_t room, count;
};

/* Whether rows have codes of the column. */
bool node_values_has_codes(const struct node_column *column);

/* TR_ENOMEM. */
int node_values_init(struct node_values *values, struct table_nodes *nodes);
void node_values_fini(struct node_values *values);

/* Takes the codes of the reader's row, which is number `row`; codes are numbers in nodes->texts for
 * now. TR_EMISMATCH without a message: the first pass would have seen the field. Fails on the reader
 * else. */
int node_values_take(struct node_values *values, struct table_reader *reader, uint64_t row);

/* Gives the codes of all rows the order of their values. TR_ENOMEM, without a message. */
int node_values_sort(struct table_nodes *nodes);

/* The text of a value of a column. */
struct id_text node_values_text(const struct table_nodes *nodes, const struct node_column *column,
                                uint32_t value);

#endif
