/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One partition of a graph in memory: what a server owns and what samplers read.
 *
 * A partition owns the nodes of one contiguous range of per-type global IDs for each node
 * type, and the in-edges of those nodes. Rows are owned nodes in the order of their global
 * IDs (which, inside a partition, is the order of their original IDs). The in-edges of a row
 * stand in the order of their original edge IDs, so "the 3rd neighbour" is the same node
 * whatever the partitioning.
 *
 * Ownership: the struct points into memory that its opener (partition/) holds; it is frozen, any
 * thread may read it while the snapshot that pins it is held.
 */
#ifndef GRAPH_PART_H
#define GRAPH_PART_H

#include <stddef.h>
#include <stdint.h>

#include <troupe/types.h>

#include "graph/csr.h"
#include "graph/edge_runs.h"
#include "graph/out_edges.h"
#include "graph/types.h"

/* In-edges of the owned nodes of one edge type's destination type (compressed sparse columns
 * of the adjacency matrix). Row r has the edges index[r] .. index[r + 1]. */
struct csc {
    uint64_t num_rows;
    uint64_t num_edges;
    const uint64_t *index;   /* [num_rows + 1] */
    const uint32_t *indices; /* [num_edges], columns */
    /* NULL: a column is the source's per-type global ID. Else column c is global ID
     * column_global[c]: types with 2^32 nodes or more have owned nodes first, then halo. */
    const uint64_t *column_global;
    uint64_t first_edge; /* per-type global edge ID of position 0; the rest are implicit */
    /* NULL, or [num_edges]: the per-type global IDs of edges that do not follow one another, as
     * out-edges do not; then first_edge is not read. */
    const uint64_t *edge_ids;
};

/* Out-edges as draws along them read them: the rows are sources, the columns destinations. */
static inline struct csc out_edges_csc(const struct out_edges *out)
{
    return (struct csc){ .num_rows = out->num_rows,
                         .num_edges = out->num_edges,
                         .index = out->index,
                         .indices = out->destinations,
                         .edge_ids = out->edge_ids };
}

/* The source of the edge at a position: a per-type global ID. */
static inline uint64_t csc_source(const struct csc *csc, uint64_t position)
{
    uint32_t column = csc->indices[position];
    return csc->column_global == NULL ? column : csc->column_global[column];
}

/* How the rows of a table are kept. Readers get dense rows, whatever the form. */
enum table_form {
    TABLE_DENSE, /* row-major */
    TABLE_CSR,   /* the elements that are not 0, of nodes' tables alone */
};

/* Row i of a table belongs to owned node (or edge position) i. */
struct feature_table {
    const char *name;
    enum tr_dtype dtype;
    uint64_t num_rows;
    uint64_t width;    /* elements a row; 0 is allowed */
    size_t row_bytes;  /* width * tr_dtype_size(dtype), of a dense row */
    const void *rows;  /* of TABLE_DENSE */
    uint32_t ndim;     /* of one row, 0 (a scalar a row) .. FEATURE_NDIM_MAX */
    uint64_t shape[4]; /* of one row */
    enum table_form form;
    const struct csr_rows *csr; /* of TABLE_CSR; NULL of others */
};

#define FEATURE_NDIM_MAX 4

struct node_part {
    uint64_t num_nodes;           /* owned */
    uint64_t global_begin;        /* per-type global ID of row 0 */
    const uint64_t *original_ids; /* [num_nodes], increasing */
    const uint32_t *in_degrees;   /* [num_nodes], over all edge types, in the whole graph */
    const uint32_t *out_degrees;  /* [num_nodes], over all edge types, in the whole graph */
    uint32_t num_features;
    const struct feature_table *features;
};

struct edge_part {
    struct csc csc;
    /* [csc.num_rows]: in-degree prefix sum by original destination ID, so that
     * rank of an edge = edge_rank[row] + its position in the row. */
    const uint64_t *edge_rank;
    const uint64_t *original_edge_ids; /* [csc.num_edges] or NULL when not loaded */
    struct out_edges out;
    struct edge_runs runs; /* this partition's slice of all edges by rank, which are anybody's */
    uint32_t num_features;
    const struct feature_table *features;
};

/* This partition's slice of a table of ranks (graph/ranks.h); its nodes are anybody's. */
struct rank_slice {
    uint32_t ntype;
    uint64_t num_ranks;  /* of the slice */
    const uint64_t *ids; /* [num_ranks], per-type global IDs; NULL: a rank is its ID */
};

struct on_demand;

struct graph_part {
    uint32_t part_id;
    uint32_t version;
    const struct graph_types *types;
    struct node_part *nodes; /* [types->num_ntypes] */
    struct edge_part *edges; /* [types->num_etypes] */
    uint32_t num_slices;     /* 0: not loaded, or there are none */
    const struct rank_slice *slices;
    /* Arrays that samplers have made (graph/on_demand.h), of a partition in a set of snapshots; its
     * holder makes and frees it. NULL: such samplers cannot draw. */
    struct on_demand *on_demand;
};

/* The table of that name, or NULL. */
const struct feature_table *node_part_feature(const struct node_part *part, const char *name);
const struct feature_table *edge_part_feature(const struct edge_part *part, const char *name);

#endif
