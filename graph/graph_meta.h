/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The feature tables that a graph has, by name: the numbers that messages use for them.
 *
 * Partitions of one graph have the same tables; a name is the same number in every partition, but
 * types may number their tables differently. So loaders name a feature by its place in the list of
 * all names, in the order of node types and their tables, then of edge types and theirs.
 *
 * Ownership: a meta owns its strings. Immutable after it was filled; any thread may read it.
 */
#ifndef GRAPH_GRAPH_META_H
#define GRAPH_GRAPH_META_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <troupe/types.h>

#include "graph/part.h"
#include "runtime/base/error.h"

struct feature_meta {
    char *name;
    enum tr_dtype dtype;
    uint64_t width;
    size_t row_bytes;
    uint32_t name_number; /* among all names of the graph */
    enum table_form form;
    uint32_t row_nnz_max; /* TABLE_CSR: elements that a row has, at most, in any partition */
    bool has_values;      /* TABLE_CSR: else each element is 1 */
};

struct node_meta {
    bool wide; /* some partition lists its nodes in 8 bytes */
    uint32_t num_features;
    struct feature_meta *features;
};

struct edge_meta {
    uint32_t num_features;
    struct feature_meta *features;
};

struct graph_meta {
    uint32_t num_ntypes, num_etypes;
    uint32_t num_names;
    struct node_meta *nodes; /* [num_ntypes] */
    struct edge_meta *edges; /* [num_etypes] */
};

/* With the tables of a partition. TR_ENOMEM: nothing is left to take down. */
int graph_meta_init(struct graph_meta *meta, const struct graph_part *part);
/* Without a partition: the tables are added one by one, in their order. TR_ENOMEM: graph_meta_fini
 * takes down what is there. */
int graph_meta_create(struct graph_meta *meta, uint32_t num_ntypes, uint32_t num_etypes);
/* All tables of nodes come before those of edges. */
int graph_meta_add_table(struct graph_meta *meta, bool on_edges, uint32_t type, const char *name,
                         enum tr_dtype dtype, uint64_t width, size_t row_bytes);
/* The table that was added last is sparse, of nodes. */
void graph_meta_set_csr(struct graph_meta *meta, uint32_t ntype, uint32_t row_nnz_max,
                        bool has_values);
/* Some partition lists nodes of this type in 8 bytes. */
void graph_meta_set_wide(struct graph_meta *meta, uint32_t ntype);
/* Each partition in this process tells how wide its columns are. */
void graph_meta_add_part(struct graph_meta *meta, const struct graph_part *part);
/* After all were added: TR_EFORMAT where edge types of one source type differ in how they list it,
 * since then their columns can't be distinguished from IDs. */
int graph_meta_check_part(const struct graph_meta *meta, const struct graph_part *part,
                          struct error *error);
void graph_meta_fini(struct graph_meta *meta);

/* The number of the name, or -1: of tables of nodes, and of edges. */
int graph_meta_name(const struct graph_meta *meta, const char *name);
int graph_meta_edge_name(const struct graph_meta *meta, const char *name);

/* The table of a type that has that name number, or -1. */
int graph_meta_table(const struct graph_meta *meta, uint32_t ntype, uint32_t name_number);
int graph_meta_edge_table(const struct graph_meta *meta, uint32_t etype, uint32_t name_number);

#endif
