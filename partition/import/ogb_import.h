/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A folder of the Open Graph Benchmark as a raw graph; ogb_layout.h says what it holds.
 *
 * Edges and features are streamed, so memory does not grow with them, but for a bit an edge where
 * both reverses and edge features are wanted, and the masks. Names: "feat", "label", "train_mask",
 * "val_mask", "test_mask"; node_year and edge_weight are "year" and "weight", as in DGL.
 * Thread rules: one thread at a time.
 */
#ifndef PARTITION_IMPORT_OGB_IMPORT_H
#define PARTITION_IMPORT_OGB_IMPORT_H

#include "partition/raw/raw_write.h"

struct ogb_import_options {
    bool undirected;   /* graphs of one type */
    const char *split; /* the scheme; NULL: the only one */
};

struct ogb_facts {
    bool heterogeneous;
    char *split;  /* the scheme whose masks were written; NULL: there are none */
    char *unread; /* what of the folder was not read, separated by ", "; NULL: nothing */
    char *pickle; /* the .pt file that holds the split of nodes with labels; NULL: there is none */
    uint64_t self_loops;
    uint64_t pairs_seen, pairs_mutual; /* see reverse_pairs.h; of graphs of one type */
};

void ogb_facts_fini(struct ogb_facts *facts);

/* Reads the folder `from` and writes the graph at path. Errors name the file. facts is freed by
 * ogb_facts_fini() after a success alone. */
int ogb_import(const char *from, const struct ogb_import_options *options, const char *path,
               const struct raw_write_options *write, struct ogb_facts *facts, struct error *error);

#endif
