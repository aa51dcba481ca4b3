/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Features of nodes in a file of their own, row i of node i: text in SVMlight's format, or SciPy's
 * archive of a csr_matrix (scipy.sparse.save_npz). They become "feat" of a raw graph that is written,
 * and the labels of such text "label".
 *
 * Labels are classes. -1 and 1 alone are two; elsewhere -1 is a node without a label. Those that are
 * 0, 1, 2 ... without a gap stay; others are numbered in their order, and their names are kept.
 *
 * Ownership: node_features_fini frees all; path is borrowed. Thread rules: one thread at a time.
 */
#ifndef PARTITION_RAW_NODE_FEATURES_H
#define PARTITION_RAW_NODE_FEATURES_H

#include "partition/raw/svmlight.h"

/* More different labels are numbers to be guessed, or names. */
#define NODE_FEATURES_CLASSES_MAX 65536u

/* Why labels of the file are not written. */
enum node_features_labels {
    NODE_LABELS_NONE,     /* the file has none */
    NODE_LABELS_WRITTEN,  /* they are */
    NODE_LABELS_OTHER,    /* the graph has labels from elsewhere */
    NODE_LABELS_ONE,      /* all are the same */
    NODE_LABELS_FRACTION, /* they are numbers, which are not learned */
    NODE_LABELS_MANY,     /* more than NODE_FEATURES_CLASSES_MAX */
};

/* What a file was found to hold. */
struct node_features_found {
    bool is_read;
    bool is_text; /* in SVMlight's format */
    uint32_t base;
    uint64_t rows, columns;
    uint64_t qid_rows;
    /* Known once they are written. */
    struct sparse_written written;
    enum node_features_labels labels;
    uint64_t num_classes;
};

struct node_features {
    const char *path;
    struct svmlight read; /* its rows, of either format */
    struct node_features_found found;
};

/* Reads the file. TR_EFORMAT and others name it. After a failure there is nothing to free. */
int node_features_read(struct node_features *features, struct files *files, const char *path,
                       enum svmlight_base base, const struct cancel *cancel, struct error *error);
/* Harmless on a zeroed one. */
void node_features_fini(struct node_features *features);

/* Checks that the rows are those of the graph's nodes. may_grow: an edge list has as many nodes as
 * there are rows, also where the last ones have no edge. TR_EMISMATCH names the file and both
 * numbers. */
int node_features_fit(const struct node_features *features, struct raw_graph *graph, bool may_grow,
                      struct error *error);

/* Writes "feat" and, unless has_labels says that the graph has others, "label" for num_nodes nodes;
 * those behind the last row have neither. */
int node_features_write(struct node_features *features, uint64_t num_nodes, bool has_labels,
                        enum raw_rows form, struct raw_writer *writer, struct error *error);

#endif
