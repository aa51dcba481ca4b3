/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables of owned nodes: features, the special ones (original IDs, degrees), slices of ranks, the
 * ends of edges and edges by rank, found and gathered in the one way that servers and samplers
 * share.
 *
 * Thread rules: pure.
 */
#ifndef GRAPH_LOCAL_ROWS_H
#define GRAPH_LOCAL_ROWS_H

#include "graph/edge_ends.h"
#include "graph/edge_ranges.h"
#include "graph/part.h"
#include "runtime/base/error.h"

/* Special tables beside the features of a node type (0, 1, ...). */
#define TABLE_ORIGINAL_ID 0xfffffffdu /* u64 rows */
#define TABLE_IN_DEGREE 0xfffffffeu   /* u32 rows */
#define TABLE_OUT_DEGREE 0xffffffffu  /* u32 rows */

/* From here on the slices of tables of ranks, by their number: u64 rows, a global ID each.
 * Tables of features end at 65536 a graph, tables of ranks at 131072. */
#define TABLE_RANKS 0xf0000000u

/* From here on the features of an edge type, by their number; row i is the edge at position i. */
#define TABLE_EDGES 0xe0000000u

/* Both ends of an edge type's edges: two u64 a row, the global IDs of source and destination;
 * row i is the edge at position i. It is computed from the edges, so it has no rows in memory. */
#define TABLE_EDGE_ENDS 0xd0000000u

/* A slice of an edge type's edges by rank (graph/edge_runs.h): a u64 a row, the global ID of an
 * edge, whichever partition owns it; row i is the i-th rank of the slice. It is computed from
 * runs. */
#define TABLE_EDGE_RANKS 0xc0000000u

/* The in-edges of nodes, of an edge type: two u64 a row, the global ID of the first one and their
 * number; row i is the node at row i of the destination type. The other IDs follow the first. */
#define TABLE_IN_EDGES 0xa0000000u

/* The sources of an edge type's edges, a u64 a row; row i is the edge at position i. */
#define TABLE_EDGE_SOURCES 0x90000000u

/* The out-edges of nodes, of an edge type: two u64 a row, the place of the first one and their
 * number; row i is the node at row i of the source type. */
#define TABLE_OUT_EDGES 0x80000000u

/* Out-edges by place (graph/out_edges.h): two u64 a row, the global IDs of edge and destination;
 * row i is that at position i. */
#define TABLE_OUT_PLACES 0x70000000u

/* The original IDs of an edge type's edges, a u64 a row; row i is the edge at position i. */
#define TABLE_EDGE_ORIGINALS 0x60000000u

/* A table as somebody reads it; points into the partition. */
struct local_table {
    const void *rows; /* NULL where they are computed, or sparse */
    uint64_t num_rows;
    size_t row_bytes;
    uint64_t width; /* elements a row */
    size_t element_bytes;
    struct edge_ends ends;        /* of TABLE_EDGE_ENDS and TABLE_EDGE_SOURCES */
    struct edge_ranges ranges;    /* of TABLE_IN_EDGES and TABLE_OUT_EDGES */
    const struct out_edges *out;  /* of TABLE_OUT_PLACES; NULL: of none */
    const struct edge_runs *runs; /* of TABLE_EDGE_RANKS; NULL: of none */
    const struct csr_rows *csr;   /* sparse rows, which are widened; NULL: of none */
};

/* type: of nodes, or of edges for TABLE_EDGES. table: a feature's number or TABLE_*. TR_ERANGE,
 * or TR_ENOENT for one that is not loaded. */
int local_table_find(const struct graph_part *part, uint32_t type, uint32_t table,
                     struct local_table *out, struct error *error);

/* TR_ERANGE: there is no such edge type. */
int local_etype_check(const struct graph_part *part, uint32_t etype, struct error *error);
/* TR_ERANGE: there is no such edge type; TR_EUNSUPPORTED: the original IDs of its edges are not
 * loaded. */
int local_edge_originals_check(const struct graph_part *part, uint32_t etype, struct error *error);

/* Checks rows that came from outside: TR_ERANGE names partition, row and bound. TR_EFORMAT: what lies
 * there, in a file that is read only now, is none of the graph. */
int local_rows_check(const struct graph_part *part, const struct local_table *table,
                     const uint32_t *rows, uint64_t num_rows, struct error *error);

/* Copies the rows, one after the other, to out[num_rows * row_bytes]. Rows were checked. */
void local_rows_read(const struct local_table *table, const uint32_t *rows, uint64_t num_rows,
                     void *out);

/* The same, each row to where it belongs: row i to place places[i] of to. */
void local_rows_scatter(const struct local_table *table, const uint32_t *rows,
                        const uint32_t *places, uint64_t num_rows, void *to);

/* How many rows in memory are copied in the time that one of these takes. */
static inline uint32_t local_rows_cost(const struct local_table *table)
{
    /* Runs are searched as rows are. */
    bool searched = table->runs != NULL || (table->ends.csc != NULL && !table->ends.sources_only);
    return searched ? EDGE_ENDS_COST : 1;
}

#endif
