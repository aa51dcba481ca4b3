/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The node types and canonical edge types of a graph.
 *
 * Every structure of Troupe is per node type and per (source, edge, destination) type.
 * A homogeneous graph has one of each, named "_N" and "_E" as in DGL.
 * Type names must not be empty nor contain ':', '/' or '~': those separate names in files.
 *
 * Ownership: a struct graph_types owns its names. Immutable after it was filled; any thread
 * may read it.
 */
#ifndef GRAPH_TYPES_H
#define GRAPH_TYPES_H

#include <stddef.h>
#include <stdint.h>

#include "runtime/base/error.h"

#define GRAPH_NTYPE_DEFAULT "_N"
#define GRAPH_ETYPE_DEFAULT "_E"

/* Types are small integers in messages and files; nobody has more. */
#define GRAPH_TYPES_MAX 4096

struct graph_etype {
    char *name;   /* the middle of "source:name:destination" */
    uint32_t src; /* node type of sources */
    uint32_t dst; /* node type of destinations */
};

struct graph_types {
    uint32_t num_ntypes;
    uint32_t num_etypes;
    char **ntypes;              /* [num_ntypes] */
    struct graph_etype *etypes; /* [num_etypes] */
};

int graph_types_init_homogeneous(struct graph_types *types);
int graph_types_copy(struct graph_types *types, const struct graph_types *from);
void graph_types_fini(struct graph_types *types);

/* Appends a type; TR_EINVAL for a forbidden name, TR_EEXIST for a second one of the same name. */
int graph_types_add_ntype(struct graph_types *types, const char *name, struct error *error);
int graph_types_add_etype(struct graph_types *types, const char *canonical, struct error *error);

/* The index of a name, or -1. etype: "source:edge:destination", or the edge name alone where
 * only one canonical type has it. */
int graph_types_find_ntype(const struct graph_types *types, const char *name);
int graph_types_find_etype(const struct graph_types *types, const char *name);

/* Writes "source:edge:destination" into text; returns the length as snprintf does. */
int graph_types_canonical(const struct graph_types *types, uint32_t etype, char *text,
                          size_t text_size);

#endif
