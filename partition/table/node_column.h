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

/* Numbers of a column, or of one place of its lists. */
struct number_stats {
    uint64_t count;
    double mean, squares; /* the sum of squared distances from the mean */
    double most;          /* the largest absolute value */
    double deviation;     /* what numbers are divided by where they are scaled */
    bool scaled;          /* to mean 0 and deviation 1 */
};

struct node_column {
    enum table_role role;
    bool numbers; /* every value is one, if doubles held it */
    bool prose;   /* values are too long or too many for categories */
    uint64_t present, missing;
    uint64_t numeric;   /* values in which people read a number */
    uint64_t bracketed; /* texts in brackets, as lists of texts are written */
    /* The first line of such a value; 0: none. */
    uint64_t missing_line;
    uint64_t text_line; /* of a value that is no number */
    uint64_t fraction_line;
    uint64_t large_line; /* of a whole number that doubles do not hold exactly */
    uint64_t huge_line;  /* of a number beyond all doubles */
    uint64_t prose_line;
    uint64_t foreign_line; /* of bytes that are no UTF-8 */
    /* What the first row without a value has in its place. */
    char missing_text[VALUE_SHOWN];
    /* Two values that differ in small and capital letters alone, with a comma between them. */
    char alike[TABLE_DOUBTED_MAX];
    /* What seems to stand between several values in one, and the first of these; 0: nothing does. */
    char separator;
    char several[TABLE_DOUBTED_MAX];
    /* Values that may stand for none: those words, and their rows. */
    char doubted[TABLE_DOUBTED_MAX];
    uint64_t doubted_line, doubted_rows;
    uint64_t minus_line, minus_rows; /* of -1 */
    struct number_stats stats;       /* of numbers */
    uint64_t small;                  /* bit i: the number i is there */
    bool other_than_small;           /* so is one that has no bit */
    bool chosen;                     /* the options say that they are kinds */
    /* Of lists of numbers, of which plain numbers are some of one: */
    uint64_t lists;
    bool sure;                   /* one cannot be a number that is written with a comma */
    uint32_t width;              /* of the first row's list */
    uint64_t width_line;         /* the first of another width */
    uint32_t other_width;        /* that one's */
    uint64_t no_list_line;       /* the first value that is no list */
    struct number_stats *vector; /* [width] */
    double *row;                 /* [width], of a row that is looked at */
    /* [rows][width] of features, scaled; of rows without one, what stands for it */
    float *values;
    /* [rows] of texts: the value's place in names; of flags: 0 or 1; [set_ends[rows - 1]] of
     * sets, the places of each row's values. */
    int32_t *codes;
    uint64_t *set_ends; /* [rows] of sets */
    uint64_t codes_room, num_codes;
    uint32_t num_values;
    uint64_t *names;  /* [num_values]: numbers in table_nodes.texts, in the order of the values */
    bool is_counting; /* labels that are the numbers 0, 1, 2 ... */
    bool amounts;     /* labels that are whole numbers and do not count from 0 */
};

void node_column_fini(struct node_column *column);

/* A whole number that doubles hold exactly. */
bool node_column_is_whole(double number);

/* Counts what the column has in a row of the first pass. TR_ENOMEM. */
int node_column_survey(struct node_column *column, const struct value_reader *values,
                       const struct table_field *field, uint64_t line);
/* The same of labels of which a node may have several. */
void node_column_survey_labels(struct node_column *column, const struct value_reader *values,
                               const struct table_field *field, uint64_t line);
/* Decides behind the last row what becomes of column number i, which was surveyed. Fails on the
 * reader, with the line that says why. */
int node_column_decide(struct node_column *column, uint32_t i, struct table_reader *reader);

static inline bool node_column_has_numbers(const struct node_column *column)
{
    return column->role == TABLE_NUMBERS || column->role == TABLE_VECTORS;
}

/* Whether nearly all values are lists of texts, "['a', 'b']", each of which is one text here. */
bool node_column_is_text_lists(const struct node_column *column);

/* Whether numbers of the column are brought to mean 0 and deviation 1. */
bool node_column_is_scaled(const struct node_column *column);

/* How many different numbers there are, where they may stand for kinds and not for amounts: few small
 * whole ones, of which each has many rows; else 0. */
uint32_t node_column_kinds(const struct node_column *column);

/* The first line whose value is no number, where nearly all values are meant as numbers and the
 * column is one of texts for a few of them; 0: it is what it seems. */
uint64_t node_column_odd_line(const struct node_column *column);

/* The column's numbers of a row: [width]. false: the field has others than the first pass saw; or
 * *too_large: one is, for a float. */
bool node_column_numbers(const struct node_column *column, const struct value_reader *values,
                         const struct table_field *field, enum table_missing missing,
                         float *numbers, bool *too_large);

#endif
