/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values of a column of texts that look like several in one, as "Action|Comedy" does beside
 * "Comedy": each is one category or one class unless the user says what separates them.
 *
 * Thread rules: pure.
 */
#ifndef PARTITION_TABLE_VALUE_LISTS_H
#define PARTITION_TABLE_VALUE_LISTS_H

#include <stddef.h>

#include "partition/table/table_nodes.h"

/* What separates the parts of some values of the column, whose names are known; '\0': nothing seems
 * to. example: the first such value, printable. TR_ENOMEM without a message. */
int value_lists_find(const struct table_nodes *nodes, const struct node_column *column,
                     char *separator, char example[TABLE_DOUBTED_MAX]);

#endif
