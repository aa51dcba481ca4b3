/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The partitions of a graph that this process has in memory, read in place.
 *
 * Nodes are numbered by rows: row r of a partition is the global ID first_id + r of the type, and
 * rows stand in the order of original IDs. The in-edges of a row stand in the order of their
 * original edge IDs, so that "the third neighbour" is one node whatever the partitioning.
 *
 * Ownership: arrays are the graph's, and are valid until it is closed or its session is; they do
 * not change. Thread rules: as for the session.
 */
#ifndef TROUPE_PART_H
#define TROUPE_PART_H

#include <stddef.h>
#include <stdint.h>

#include <troupe/batch.h>
#include <troupe/error.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tr_graph;

/* The nodes of one type that a partition owns. */
struct tr_part_nodes {
    size_t size;
    uint64_t num_nodes;
    uint64_t first_id;            /* the global ID of row 0 */
    const uint64_t *original_ids; /* [num_nodes], increasing */
    const uint32_t *in_degrees;   /* [num_nodes], over all edge types, in the whole graph */
    const uint32_t *out_degrees;  /* the same */
};

#define TR_PART_NODES_INIT                                   \
    {                                                        \
        sizeof(struct tr_part_nodes), 0, 0, NULL, NULL, NULL \
    }

/* The in-edges of those nodes, of one edge type: row r has [index[r], index[r + 1]). */
struct tr_part_edges {
    size_t size;
    uint64_t num_rows; /* nodes of the destination type */
    uint64_t num_edges;
    const uint64_t *index;   /* [num_rows + 1] */
    const uint32_t *sources; /* [num_edges], global IDs of the source type, or columns */
    /* NULL: sources are global IDs. Else a source s is the global ID source_ids[s]: types of 2^32
     * nodes and more. */
    const uint64_t *source_ids;
    uint64_t first_edge; /* the global edge ID of the first edge; the others follow it */
};

#define TR_PART_EDGES_INIT                                      \
    {                                                           \
        sizeof(struct tr_part_edges), 0, 0, NULL, NULL, NULL, 0 \
    }

/* The rows of a feature that is kept sparse: row r has the elements [index[r], index[r + 1]), each
 * at its column, in increasing order; all others are 0. */
struct tr_sparse_rows {
    size_t size;
    enum tr_dtype dtype;
    uint32_t row_elements_max;
    uint64_t num_rows;
    uint64_t width;          /* columns */
    const uint64_t *index;   /* [num_rows + 1] */
    const uint32_t *columns; /* [index[num_rows]] */
    const void *values;      /* [index[num_rows]], of dtype; NULL: each is 1 */
};

#define TR_SPARSE_ROWS_INIT                                              \
    {                                                                    \
        sizeof(struct tr_sparse_rows), TR_F32, 0, 0, 0, NULL, NULL, NULL \
    }

/* Maps the files of the partitions that are not in this process, so that all can be read here.
 * TR_ENOENT: they cannot be seen from this host. */
TR_API int tr_graph_map_parts(struct tr_graph *graph, struct tr_error *error);

/* TR_ENOENT: the partition is not in this process, or has no such table; TR_ERANGE: there is no
 * such partition or type. The functions below fail alike. */
TR_API int tr_graph_part_nodes(const struct tr_graph *graph, uint32_t part, uint32_t ntype,
                               struct tr_part_nodes *nodes, struct tr_error *error);
TR_API int tr_graph_part_edges(const struct tr_graph *graph, uint32_t part, uint32_t etype,
                               struct tr_part_edges *edges, struct tr_error *error);
/* The rows of a feature of those nodes; TR_EUNSUPPORTED: they are sparse. */
TR_API int tr_graph_part_rows(const struct tr_graph *graph, uint32_t part, uint32_t ntype,
                              const char *feature, struct tr_rows *rows, struct tr_error *error);
/* The rows of a feature of those edges, in the order of tr_part_edges. */
TR_API int tr_graph_part_edge_rows(const struct tr_graph *graph, uint32_t part, uint32_t etype,
                                   const char *feature, struct tr_rows *rows,
                                   struct tr_error *error);
/* The same where they are sparse; TR_EUNSUPPORTED: they are not. */
TR_API int tr_graph_part_sparse_rows(const struct tr_graph *graph, uint32_t part, uint32_t ntype,
                                     const char *feature, struct tr_sparse_rows *rows,
                                     struct tr_error *error);

#ifdef __cplusplus
}
#endif

#endif
