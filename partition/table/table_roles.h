/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which column of a table of edges or of nodes has which role, and whether the first line names
 * them.
 *
 * What the user says counts first; then the names that people give to such columns. A first line
 * that may be a header or a row is refused, unless it is said which: with names for nodes both look
 * alike.
 *
 * Ownership: table_roles_fini frees. Thread rules: pure.
 */
#ifndef PARTITION_TABLE_TABLE_ROLES_H
#define PARTITION_TABLE_TABLE_ROLES_H

#include "partition/table/table_reader.h"

enum table_role {
    TABLE_DROPPED, /* is not read */
    TABLE_SOURCE,
    TABLE_TARGET,
    TABLE_WEIGHT,
    TABLE_TIME,
    TABLE_ID,
    TABLE_NUMBERS,
    TABLE_CATEGORIES, /* a column of the features for each value */
    TABLE_CODES,      /* the values' numbers are a table of their own */
    TABLE_LABELS,
    TABLE_SPLIT,
    TABLE_MASK,
    TABLE_LABEL_FLAG, /* one of several columns of labels: 0 or 1 */
    TABLE_LABEL_SETS, /* several labels a node, with separators between them */
    TABLE_VECTORS,    /* lists of numbers, a number of the features for each place */
    TABLE_GRAPH,      /* of which graph a row is */
    TABLE_KINDS,      /* what nobody has looked at yet becomes CATEGORIES, numbers too */
};

enum table_header { TABLE_HEADER_FIND, TABLE_HEADER_YES, TABLE_HEADER_NO };

/* Columns by name or number; NULL: found, or none. */
struct table_edge_names {
    const char *source, *target, *weight, *time;
};
struct table_node_names {
    const char *id, *split;
    const char *labels;     /* several with commas between them: each has 0 or 1 */
    const char *features;   /* with commas between them; NULL: all others, "": none */
    const char *categories; /* numbers that stand for kinds; NULL: none */
};

struct table_roles {
    bool header;
    bool in_comment; /* the header is the comment before the first line, whose names were taken */
    uint32_t count;
    enum table_role *roles; /* [count], by column from 0; features are NUMBERS until looked at */
    uint32_t id;            /* columns from 1; 0: none */
    uint32_t source, target, weight, time;
    uint32_t labels, split, masks[3];
    uint32_t graph;
};

/* label_sets: the column of labels has several a node. The reader's first line is looked at, not
 * skipped; a comment before it is the header where its names are known and those of the first line
 * are not. Fails on the reader. */
int table_roles_of_edges(struct table_roles *roles, struct table_reader *reader,
                         enum table_header header, const struct table_edge_names *names);
int table_roles_of_nodes(struct table_roles *roles, struct table_reader *reader,
                         enum table_header header, const struct table_node_names *names,
                         bool label_sets);
void table_roles_fini(struct table_roles *roles);

#endif
