/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The types of a graph as a model of relations takes them: what each node type brings to the first
 * layer, and which relations carry rows from one type to another.
 *
 * Ownership: plain data, borrowed by whoever has a struct model_config; it must outlive the model.
 */
#ifndef MODEL_MODEL_TYPES_H
#define MODEL_MODEL_TYPES_H

#include <stdbool.h>
#include <stdint.h>

/* The ends of an edge that is scored. */
enum model_end { MODEL_SOURCES, MODEL_DESTINATIONS, MODEL_ENDS };

struct model_ntype {
    const char *name;
    uint32_t inputs; /* features a node */
    /* Not 0: nodes have no features, and rows are learned for that many, by original ID: in rgcn
     * those of the first layer's matrices, over one-hot rows; in gat one that the first layer
     * reads. */
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
    /* The node types whose outputs count: of sources and of destinations of the edges that are
     * scored. Of labels, and of edges within a type, both are that type. */
    uint32_t targets[MODEL_ENDS];
};

/* Different ones: the first so many of targets. */
static inline uint32_t model_types_targets(const struct model_types *types)
{
    return 1 + (types->targets[MODEL_SOURCES] != types->targets[MODEL_DESTINATIONS]);
}

/* Which of these an end has. */
static inline uint32_t model_types_target_of(const struct model_types *types, uint32_t end)
{
    return end < model_types_targets(types) ? end : 0;
}

static inline bool model_types_is_target(const struct model_types *types, uint32_t ntype)
{
    return ntype == types->targets[MODEL_SOURCES] || ntype == types->targets[MODEL_DESTINATIONS];
}

#endif
