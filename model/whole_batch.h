/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A whole graph as one batch, over which a model of relations computes every node: all nodes of all
 * types by original ID, and in each layer all edges that draws may take. What comes out depends on
 * the graph alone, not on its partitioning, and the same code computes it that trains.
 *
 * Memory: 4 bytes an edge and 16 a node, beside 4 a number of the features; the model's own rows of
 * all nodes in each layer.
 *
 * Ownership: embedded; owns its copies, borrows the maps. Thread rules: one thread makes it, any may
 * read it then.
 */
#ifndef MODEL_WHOLE_BATCH_H
#define MODEL_WHOLE_BATCH_H

#include "graph/batch.h"
#include "graph/part.h"
#include "model/drawn_edges.h"
#include "model/link_split.h"
#include "model/model.h"
#include "model/node_map.h"
#include "model/tensor.h"

struct whole_graph {
    const struct graph_part *const *parts;
    uint32_t num_parts;
    const struct node_map *maps; /* [node types] */
    const char *features;
    const struct link_split *links;  /* whose held-out edges carry no messages; NULL: all do */
    const struct drawn_edges *drawn; /* [parts][edge types] those that do; NULL: all do */
};

struct whole_batch {
    struct mini_batch batch;
    struct block *blocks;      /* [layers] */
    struct batch_nodes *nodes; /* [node types] */
    uint32_t *counts;          /* [2][node types]: all; those that come out of the last layer */
    struct block_edges *edges; /* [2][edge types]: of all layers but the last; of that */
    struct storage *memory;    /* [edge types] */
    struct tensor *features;   /* [node types] */
    uint64_t *ids;             /* 0, 1, ... */
    uint32_t num_ntypes, num_etypes;
};

/* TR_ENOENT, TR_EMISMATCH: features do not fit the model; TR_ETOOBIG: 2^32 edges of a relation;
 * TR_ENOMEM. After a failure only whole_batch_fini() may follow. */
int whole_batch_init(struct whole_batch *whole, const struct model *model,
                     const struct whole_graph *graph, struct error *error);
void whole_batch_fini(struct whole_batch *whole);

#endif
