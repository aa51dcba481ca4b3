/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A table of edges between names, and a table of the nodes that have them, as a raw graph.
 *
 *  - Nodes are numbered in the order in which their names come first: those of the nodes table, by
 *    its rows, then those that edges alone have. The names are written beside the graph.
 *  - "feat": the columns of numbers as they are, but those with a value beyond TABLE_SCALED_FROM,
 *    which get mean 0 and deviation 1, those of lists of numbers place by place; and a column of 0
 *    and 1 for each value of a column of
 *    texts that has at most TABLE_ONE_HOT_MAX, which a model can learn from, as it cannot from the
 *    number of a value. A column with more values becomes an int32 table of its own, with the
 *    values' numbers; one with more than TABLE_CATEGORIES_MAX is not read.
 *  - "label": the number of the class, -1 where there is none. Whole numbers that are 0, 1, 2 ...
 *    without a gap stay; other labels are numbered in their order, and their names are kept. Several
 *    labels a node, in columns of 0 and 1 or with separators in one, are a row of 0 and 1, or of -1
 *    where nothing is known.
 *  - "train_mask", "val_mask", "test_mask" of a column of words, or of columns of 0 and 1.
 *
 * The nodes table is read twice: what a column holds is known behind its last row. Memory: the
 * names (id_map.h), 8 bytes an edge (16 where there are 2^32 nodes), and 4 bytes a value of the
 * nodes table.
 *
 * Ownership: table_found_fini frees what was found. Thread rules: one thread.
 */
#ifndef PARTITION_TABLE_TABLE_IMPORT_H
#define PARTITION_TABLE_TABLE_IMPORT_H

#include "partition/raw/node_features.h"
#include "partition/raw/raw.h"
#include "partition/raw/raw_write.h"
#include "partition/table/table_roles.h"

#define TABLE_ONE_HOT_MAX 64u
/* Above it values are names or descriptions, which say nothing about other nodes. */
#define TABLE_CATEGORIES_MAX 65536u
/* Classes where a node may have several: a model has an output for each of them. */
#define TABLE_LABEL_SETS_MAX 4096u
/* Numbers in a list. */
#define TABLE_VECTOR_MAX 65536u
/* Words of a column that a report names. */
#define TABLE_DOUBTED_MAX 64u
/* Numbers of this size make others vanish beside them. */
#define TABLE_SCALED_FROM 10.0

/* A node without a value in a column of numbers or texts. */
enum table_missing {
    TABLE_MISSING_ERROR,
    TABLE_MISSING_MEAN, /* the mean of the others; none of the values of a text */
    /* 0, which is the mean of a column that is scaled; none of the values of a text. */
    TABLE_MISSING_ZERO,
};

/* A name that edges have and the nodes table has not. */
enum table_unknown {
    TABLE_UNKNOWN_ERROR,
    TABLE_UNKNOWN_ADD, /* a node whose features are 0, without a label and in no mask */
};

struct table_options {
    const char *edges;
    const char *nodes; /* NULL: none */
    bool undirected;
    char delimiter; /* 0: found */
    enum table_header header;
    struct table_edge_names edge_names;
    struct table_node_names node_names;
    enum raw_loops loops;
    enum raw_duplicates duplicates;
    enum table_missing missing;
    enum table_unknown unknown;
    /* Words of nodes that stand for no value beside those that programs write, with commas between
     * them; "": none does, those included; NULL: those of programs alone. */
    const char *no_value;
    const char *source_prefix, *target_prefix; /* before the names of ends; NULL: nothing */
    const char *graph;    /* whose rows are read, where a column says it; NULL: all rows */
    char label_separator; /* between the labels of a node; 0: a node has one */
    /* Of the rows of nodes, in a file of their own (node_features.h); NULL: in their columns. */
    const char *node_features;
    enum svmlight_base feature_base;
    enum raw_rows rows;
    struct files *files; /* NULL: files_posix */
    const struct cancel *cancel;
};

/* A column of either table, and what became of it. */
struct table_column {
    char *name; /* printable; NULL: there is no header */
    bool of_nodes;
    bool scaled;
    bool prose;      /* not read, since texts are too long or too many for categories */
    bool text_lists; /* nearly all values are lists of texts, each of which is one text */
    bool amounts;    /* labels that are whole numbers and do not count from 0 */
    uint32_t column; /* from 1 */
    enum table_role role;
    uint64_t values;  /* of texts and labels: how many different ones */
    uint64_t missing; /* rows without one */
    /* Words that may stand for no value and were read as values, with commas between them; "":
     * none. */
    char doubted[TABLE_DOUBTED_MAX];
    char alike
        [TABLE_DOUBTED_MAX]; /* two values that differ in small and capital letters; "": none */
    char separator; /* what seems to stand between several values in one; 0: nothing does */
    char several[TABLE_DOUBTED_MAX]; /* the first of these */
    uint64_t doubted_line;           /* the first of them */
    uint64_t doubted_rows;
    uint64_t odd_line; /* the first that makes texts of what is meant as numbers; 0: none */
};

struct table_found {
    uint32_t num_columns;
    struct table_column *columns; /* those of the edges first */
    uint64_t edges_header_line;   /* skipped; 0: none was */
    uint64_t nodes_header_line;
    uint64_t edge_rows;
    uint64_t node_rows;
    uint64_t added_nodes; /* that are in no row of a nodes table, where there is one */
    uint64_t self_loops;  /* rows, dropped or not */
    uint64_t duplicates;  /* edges, where they were looked for */
    uint64_t num_classes; /* 0: no labels */
    uint64_t num_features;
    uint64_t pairs_seen, pairs_mutual; /* as in struct raw_edges_found */
    /* A node of edges alone whose name may stand for none, such as NULL, and its edges. */
    char doubted_end[TABLE_DOUBTED_MAX];
    uint64_t doubted_end_edges;
    uint64_t spellings; /* nodes whose names are numbers that others have in the usual spelling */
    char spelling[TABLE_DOUBTED_MAX]; /* the first of them: "001 and 1" */
    uint64_t shared_ids;  /* numbers in both columns of ends, where these are of two kinds */
    bool says_undirected; /* the edges are, by the first line or the first row */
    bool maybe_two_kinds; /* numbers in two columns without names look so */
    bool triples; /* the first row, without a header, has words in its first three columns */
    struct node_features_found features; /* of options->node_features */
};

/* Adds the columns of a table, with their roles. TR_ENOMEM, without a message. */
int table_found_add(struct table_found *found, bool of_nodes, const struct column_names *names,
                    const struct table_roles *roles);
void table_found_fini(struct table_found *found);

/* Makes a raw graph at `out`. TR_EFORMAT and others name the file and the line; then nothing is
 * left behind, and nothing in found. */
int table_import(const struct table_options *options, const char *out,
                 const struct raw_write_options *write, struct table_found *found,
                 struct error *error);

#endif
