/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory of a struct exact, for the files that implement it.
 */
#ifndef MODEL_EXACT_MEMORY_H
#define MODEL_EXACT_MEMORY_H

#include "model/exact.h"
#include "model/exact_features.h"

struct exact {
    struct model *model;
    struct exact_graph graph;
    struct node_map map;
    struct weight_rows *weights; /* [num_parts]; NULL: edges have none that count */
    bool prepared;               /* features */
    struct exact_features features;
    struct tensor hidden[2]; /* a layer reads one and writes the other */
    struct tensor products;
    struct tensor transposed;
    struct tensor *scratch; /* [num_scratch], one for each worker */
    size_t num_scratch;
    struct tensor picked; /* the outputs and labels of the nodes that are scored */
    struct storage labels;
};

#endif
