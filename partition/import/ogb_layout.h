/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a folder of the Open Graph Benchmark holds (Hu et al., NeurIPS 2020), as it is downloaded
 * and unpacked, and where each thing lies. The layout is that of snap-stanford/ogb,
 * ogb/io/read_graph_raw.py and ogb/nodeproppred/dataset.py:
 *
 *  - text, one type: raw/edge, num-node-list, num-edge-list, node-feat, edge-feat, node_*, edge_*,
 *    node-label, each .csv.gz without a header;
 *  - text, several types: raw/num-node-dict (with a header), triplet-type-list,
 *    relations/A___rel___B/edge and so on, node-feat/TYPE/..., node-label/TYPE/node-label;
 *  - arrays, one type: raw/data.npz with edge_index, num_nodes_list, num_edges_list, node_*, edge_*;
 *    raw/node-label.npz with node_label;
 *  - arrays, several types: raw/edge_index_dict.npz, num_nodes_dict.npz, node_*.npz, edge_*.npz,
 *    node-label.npz, with an array for each type or A___rel___B.
 *  - split/SCHEME/[TYPE/]{train,valid,test}.csv.gz: IDs of nodes. Splits in .pt files are pickles.
 *
 * Ownership: ogb_layout_fini frees all. Thread rules: one thread at a time.
 */
#ifndef PARTITION_IMPORT_OGB_LAYOUT_H
#define PARTITION_IMPORT_OGB_LAYOUT_H

#include "graph/types.h"
#include "runtime/base/cancel.h"
#include "runtime/base/files.h"

/* Files that a folder names; the largest sets have some hundreds. */
#define OGB_ITEMS_MAX 16384

enum ogb_part { OGB_EDGES, OGB_NODE_TABLE, OGB_EDGE_TABLE, OGB_TRAIN, OGB_VALID, OGB_TEST };

/* One thing of the graph, in a text or in an array of an archive. */
struct ogb_item {
    enum ogb_part part;
    uint32_t type; /* node type, or edge type of edges and their tables */
    char *path;
    char *array;        /* NULL: path is a text */
    char *name;         /* of a table; NULL of others */
    uint64_t num_edges; /* of edges, as the folder says; UINT64_MAX: it does not */
};

struct ogb_layout {
    struct graph_types types;
    uint64_t *num_nodes; /* [types.num_ntypes] */
    bool heterogeneous;
    bool arrays;  /* not texts */
    char *split;  /* the scheme of the masks; NULL: there are none */
    char *name;   /* of the folder */
    char *pickle; /* what holds the split of nodes with labels, and is not read; NULL: nothing */
    char *unread; /* what of the folder is not read, separated by ", "; NULL: nothing */
    uint32_t num_items;
    struct ogb_item *items;
};

/* split: the scheme, NULL where there is one at most. */
int ogb_layout_init(struct ogb_layout *layout, struct files *files, const char *folder,
                    const char *split, const struct cancel *cancel, struct error *error);
void ogb_layout_fini(struct ogb_layout *layout);

#endif
