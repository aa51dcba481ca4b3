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
#include "partition/table/table_import.h"
#include "partition/table/table_values.h"

/* A row without a value in a column of texts or labels. */
#define NODE_NO_CODE (-1)

struct node_column {
    enum table_role role;
    bool numbers; /* every value is one */
    bool scaled;  /* numbers, brought to mean 0 and deviation 1 */
    bool prose;   /* values are too long or too many for categories */
    uint64_t present, missing;
    /* The first line of such a value; 0: none. */
    uint64_t missing_line;
    uint64_t fraction_line;
    uint64_t large_line; /* of a whole number that doubles do not hold */
    uint64_t prose_line;
    uint64_t foreign_line; /* of bytes that are no UTF-8 */
    /* What the first row without a value has in its place. */
    char missing_text[VALUE_MISSING_MAX + 1];
    double mean, squares; /* of numbers; the sum of squared distances from the mean */
    double most;          /* the largest absolute value */
    double deviation;     /* what numbers are divided by where they are scaled */
    float *values;        /* [rows] of features, scaled; of rows without one, what stands for it */
    int32_t *codes;       /* [rows] of texts: the value's place in names */
    uint32_t num_values;
    uint64_t *names;  /* [num_values]: numbers in table_nodes.texts, in the order of the values */
    bool is_counting; /* labels that are the numbers 0, 1, 2 ... */
};

struct table_nodes {
    const struct table_options *options;
    const struct id_map *ids;
    struct table_roles roles;
    struct value_reader values;
    uint64_t rows;
    uint32_t count;
    uint32_t checksum; /* of the header and all rows, as the first pass read them */
    struct node_column *columns;
    uint8_t *masks; /* [rows]: bit i of mask i; NULL: none */
    bool has_masks[VALUE_MASKS];
    /* The values of all columns of texts, each behind TEXT_PREFIX bytes that name the column. */
    struct id_map texts;
};

/* Where a column's value, number `name` of texts, begins in its text. */
#define TEXT_PREFIX 3u

/* Reads options->nodes, adds its names to ids and what was chosen to found. */
int table_nodes_read(struct table_nodes *nodes, const struct table_options *options,
                     struct id_map *ids, struct table_found *found, struct error *error);
void table_nodes_fini(struct table_nodes *nodes);

/* The text of a value of a column. */
struct id_text table_nodes_value(const struct table_nodes *nodes, const struct node_column *column,
                                 uint32_t value);

#endif
