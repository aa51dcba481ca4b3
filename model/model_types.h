/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The types of a graph as a model of relations takes them: what each node type brings to the first
 * layer, and which relations carry rows from one type to another.
 *
 * Ownership: plain data, borrowed by whoever has a struct model_config; it must outlive the model.
 */
#ifndef MODEL_MODEL_TYPES_H
#define MODEL_MODEL_TYPES_H

#include <stdint.h>

struct model_ntype {
    const char *name;
    uint32_t inputs; /* features a node */
    /* Not 0: nodes have no features, and rows are learned for that many, by original ID: in rgcn those of
     * the first layer's matrices, over one-hot rows; in gat one that the first layer reads. */
    uint64_t embedded;
};

struct model_etype {
    const char *name; /* "source:edge:destination" */
    uint32_t src, dst;
};

struct model_types {
    uint32_t num_ntypes, num_etypes;
    const struct model_ntype *ntypes;
    const struct model_etype *etypes;
    uint32_t target; /* the node type whose outputs count */
};

#endif
