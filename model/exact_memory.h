/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory of a struct exact, for the files that implement it.
 */
#ifndef MODEL_EXACT_MEMORY_H
#define MODEL_EXACT_MEMORY_H

#include "model/exact.h"
#include "model/exact_features.h"
#include "model/whole_batch.h"

struct exact {
    struct model *model;
    struct exact_graph graph;
    uint32_t num_maps;
    struct node_map *maps;                  /* [node types] */
    struct weight_rows *weights;            /* [num_parts]; NULL: edges have none that count */
    struct drawn_edges *drawn;              /* [num_parts][edge types]; NULL: all of them count */
    bool prepared;                          /* features */
    struct exact_features features;         /* of sage and gcn */
    struct whole_batch whole;               /* of models of relations */
    struct tensor whole_hidden[MODEL_ENDS]; /* of the targets */
    struct tensor hidden[2];                /* a layer reads one and writes the other */
    struct tensor products;
    struct tensor transposed;
    struct tensor *scratch; /* [num_scratch], one for each worker */
    size_t num_scratch;
    struct tensor picked; /* the outputs and labels of the nodes that are scored */
    struct storage labels;
};

#endif
