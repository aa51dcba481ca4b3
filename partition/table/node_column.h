/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A column of a nodes table: what its values are, as a first pass over the rows finds it, what
 * becomes of it, and the values that a second pass keeps.
 *
 * Ownership: node_column_fini frees. Thread rules: one thread a table.
 */
#ifndef PARTITION_TABLE_NODE_COLUMN_H
#define PARTITION_TABLE_NODE_COLUMN_H

#include "partition/table/table_import.h"
#include "partition/table/table_values.h"

/* A row without a value in a column of texts or labels. */
#define NODE_NO_CODE (-1)
/* A text of a column that is kept has so many bytes in front, which name the column. */
#define NODE_TEXT_PREFIX 3u

struct node_column {
    enum table_role role;
    bool numbers; /* every value is one */
    bool scaled;  /* numbers, brought to mean 0 and deviation 1 */
    bool prose;   /* values are too long or too many for categories */
    uint64_t present, missing;
    uint64_t numeric; /* values in which people read a number */
    /* The first line of such a value; 0: none. */
    uint64_t missing_line;
    uint64_t text_line; /* of a value that is no number */
    uint64_t fraction_line;
    uint64_t large_line; /* of a whole number that doubles do not hold */
    uint64_t prose_line;
    uint64_t foreign_line; /* of bytes that are no UTF-8 */
    /* What the first row without a value has in its place. */
    char missing_text[VALUE_SHOWN];
    /* Values that may stand for none: those words, and their rows. */
    char doubted[TABLE_DOUBTED_MAX];
    uint64_t doubted_line, doubted_rows;
    uint64_t minus_line, minus_rows; /* of -1 */
    double mean, squares;            /* of numbers; the sum of squared distances from the mean */
    double most;                     /* the largest absolute value */
    double deviation;                /* what numbers are divided by where they are scaled */
    float *values; /* [rows] of features, scaled; of rows without one, what stands for it */
    /* [rows] of texts: the value's place in names; of flags: 0 or 1; [set_ends[rows - 1]] of
     * sets, the places of each row's values. */
    int32_t *codes;
    uint64_t *set_ends; /* [rows] of sets */
    uint64_t codes_room, num_codes;
    uint32_t num_values;
    uint64_t *names;  /* [num_values]: numbers in table_nodes.texts, in the order of the values */
    bool is_counting; /* labels that are the numbers 0, 1, 2 ... */
};

void node_column_fini(struct node_column *column);

/* A whole number that doubles hold exactly. */
bool node_column_is_whole(double number);

/* Counts what the column has in a row of the first pass. */
void node_column_survey(struct node_column *column, const struct value_reader *values,
                        const struct table_field *field, uint64_t line);
/* The same of labels of which a node may have several. */
void node_column_survey_labels(struct node_column *column, const struct value_reader *values,
                               const struct table_field *field, uint64_t line);
/* Decides behind the last row what becomes of column number i, which was surveyed. Fails on the
 * reader, with the line that says why. */
int node_column_decide(struct node_column *column, uint32_t i, struct table_reader *reader);

/* The first line whose value is no number, where nearly all values are meant as numbers and the
 * column is one of texts for a few of them; 0: it is what it seems. */
uint64_t node_column_odd_line(const struct node_column *column);

/* The column's number of a row. false: the field is none, which the first pass would have seen; or
 * *too_large: it is, for a float. */
bool node_column_number(const struct node_column *column, const struct value_reader *values,
                        const struct table_field *field, enum table_missing missing, float *number,
                        bool *too_large);

#endif
