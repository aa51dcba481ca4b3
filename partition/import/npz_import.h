/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Graphs that are published as one .npz archive, as a raw graph.
 *
 * Two styles, told apart by the names of their arrays:
 *
 *  - GNN-benchmark (Shchur et al.: "Pitfalls of Graph Neural Network Evaluation", 2018; what PyG
 *    and DGL load as Amazon, Coauthor, CitationFull): compressed sparse rows adj_data,
 *    adj_indices, adj_indptr and adj_shape, entry (i, j) an edge from i to j; attr_... alike, or a
 *    dense attr_matrix; labels.
 *  - heterophilous graphs (Platonov et al., ICLR 2023: Tolokers and others) and their like: edges of
 *    shape [E, 2] or [2, E]; node_features, node_labels; train_masks, val_masks and test_masks of
 *    shape [splits, N], or one mask each.
 *
 * The graph that is made has "feat", "label", "train_mask", "val_mask", "test_mask", and on edges
 * "weight" where adj_data holds other numbers than 1. node_names, class_names and attr_names become
 * its lists of names where they are texts of NumPy.
 *
 * Edges are held in memory, 8 bytes each beside the arrays that they come from; so are sparse
 * features (feature_rows.h). Thread rules: one thread at a time.
 */
#ifndef PARTITION_IMPORT_NPZ_IMPORT_H
#define PARTITION_IMPORT_NPZ_IMPORT_H

#include "partition/raw/raw_write.h"

struct npz_import_options {
    bool undirected;
    uint32_t split; /* of several, from 0 */
    enum raw_loops loops;
    enum raw_duplicates duplicates;
    enum raw_rows rows; /* of sparse features */
};

struct npz_facts {
    const char *edges_name, *features_name, *labels_name; /* of arrays; NULL: there is none */
    char *unread;          /* the names of the others, printable, separated by ", "; NULL: none */
    uint64_t sparse_items; /* of sparse rows in the archive; 0: they are dense */
    bool kept_sparse;      /* features were, with feature_items elements that are not 0 */
    uint64_t feature_items;
    uint64_t sparse_bytes, dense_bytes; /* of features in either form; 0: the archive's are dense */
    uint32_t num_splits;                /* 0: there are no masks */
    uint64_t self_loops, duplicates;
    uint64_t pairs_seen, pairs_mutual; /* see reverse_pairs.h; before reverses are added */
};

void npz_facts_fini(struct npz_facts *facts);

/* Reads the archive `from` and writes the graph at path. Errors name the array. facts is freed by
 * npz_facts_fini() after a success alone. */
int npz_import(const char *from, const struct npz_import_options *options, const char *path,
               const struct raw_write_options *write, struct npz_facts *facts, struct error *error);

#endif
