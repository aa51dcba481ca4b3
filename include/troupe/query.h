/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Questions about the edges of a partitioned graph, of the whole graph whichever process owns them.
 *
 * Nodes and edges are per-type global IDs, in any order, repeats allowed; answers stand in the order
 * of the questions. A question goes to the owners in pieces, so that it takes little memory beside
 * its arrays.
 *
 * All calls fail alike. TR_ERANGE: there is no such type, or the message names the first ID that is
 * none; TR_ETOOBIG names an edge beyond the first 2^32 that its partition has of the type;
 * TR_ETIMEDOUT. After a failure the arrays may hold some of the answers.
 *
 * Thread rules: as for the session.
 */
#ifndef TROUPE_QUERY_H
#define TROUPE_QUERY_H

#include <stddef.h>
#include <stdint.h>

#include <troupe/error.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tr_graph;

/* Both ends of edges of a type: sources [count], of the edge type's source type, and destinations
 * [count], of its destination type; either may be NULL, or both, where the IDs are to be checked. */
TR_API int tr_graph_find_edges(struct tr_graph *graph, uint32_t etype, const uint64_t *edge_ids,
                               size_t count, int64_t timeout_ns, uint64_t *sources,
                               uint64_t *destinations, struct tr_error *error);

/* The original IDs of edges of a type, by which they were numbered in the raw graph: original_ids
 * [count]. TR_EUNSUPPORTED: the partitions were written without them (`--drop-edge-ids`). */
TR_API int tr_graph_original_edge_ids(struct tr_graph *graph, uint32_t etype,
                                      const uint64_t *edge_ids, size_t count, int64_t timeout_ns,
                                      uint64_t *original_ids, struct tr_error *error);

/* In-degrees of nodes along one edge type: degrees [count], of nodes of its destination type.
 * tr_graph_degrees() has those over all edge types. */
TR_API int tr_graph_in_degrees(struct tr_graph *graph, uint32_t etype, const uint64_t *ids,
                               size_t count, int64_t timeout_ns, uint64_t *degrees,
                               struct tr_error *error);

/* The in-edges of nodes of an edge type's destination type, which together are the subgraph that
 * they bring: node i has [index[i], index[i + 1]) of sources [room] and edge_ids [room], in the
 * order of original edge IDs; a node that is given twice has its edges twice. index [count + 1].
 * TR_ETOOBIG where there are more than room: then index is filled, and index[count] is how many
 * there are. The in-edges of a node have IDs that follow one another. */
TR_API int tr_graph_in_edges(struct tr_graph *graph, uint32_t etype, const uint64_t *ids,
                             size_t count, int64_t timeout_ns, size_t room, uint64_t *index,
                             uint64_t *sources, uint64_t *edge_ids, struct tr_error *error);

/* The same along out-edges, of nodes of the edge type's source type. TR_EUNSUPPORTED: the partitions
 * were written without out-edges; partition again with out_edges (`--out-edges`). Out-degrees along
 * an edge type that is the only one out of its source type need none. */
TR_API int tr_graph_out_degrees(struct tr_graph *graph, uint32_t etype, const uint64_t *ids,
                                size_t count, int64_t timeout_ns, uint64_t *degrees,
                                struct tr_error *error);
TR_API int tr_graph_out_edges(struct tr_graph *graph, uint32_t etype, const uint64_t *ids,
                              size_t count, int64_t timeout_ns, size_t room, uint64_t *index,
                              uint64_t *destinations, uint64_t *edge_ids, struct tr_error *error);

/* Subgraphs of edges and of nodes of all types at once: type after type, in the order of the types'
 * numbers, each with its count. */

/* The subgraph that edges are: counts [edge types], edge_ids [their sum]. Its nodes are the ends of
 * the edges, each once: nodes [at most twice that sum], node_counts [node types]. In a type they stand
 * in the order in which the edges have them, type after type, all sources of a type before its
 * destinations. sources and destinations [the sum] are numbers of nodes in it: places among the nodes
 * of their type. TR_ETOOBIG: a type has 2^30 nodes or more in it. */
TR_API int tr_graph_edge_subgraph(struct tr_graph *graph, const uint64_t *edge_ids,
                                  const size_t *counts, int64_t timeout_ns, uint64_t *sources,
                                  uint64_t *destinations, uint64_t *nodes, size_t *node_counts,
                                  struct tr_error *error);

/* The in-edges of nodes, of every edge type: counts [node types], ids [their sum]; a node that is given
 * twice has its edges twice. edge_counts [edge types]; sources, destinations and edge_ids [room] are
 * global IDs, and stand node by node, as tr_graph_in_edges() has them. TR_ETOOBIG where there are more
 * than room: then edge_counts says how many there are, and the others hold nothing of use. */
TR_API int tr_graph_in_subgraph(struct tr_graph *graph, const uint64_t *ids, const size_t *counts,
                                int64_t timeout_ns, size_t room, size_t *edge_counts,
                                uint64_t *sources, uint64_t *destinations, uint64_t *edge_ids,
                                struct tr_error *error);

/* Edges between nodes: edge_ids [count], of the edge from sources[i] to destinations[i]; of several
 * the one of the least original ID, TR_EDGE_NONE where there is none. All in-edges of each
 * destination travel, unless an early one is found: 12 bytes each. */
#define TR_EDGE_NONE UINT64_MAX
TR_API int tr_graph_edges_between(struct tr_graph *graph, uint32_t etype, const uint64_t *sources,
                                  const uint64_t *destinations, size_t count, int64_t timeout_ns,
                                  uint64_t *edge_ids, struct tr_error *error);

#ifdef __cplusplus
}
#endif

#endif
