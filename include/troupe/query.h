/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Questions about the edges of a partitioned graph, of the whole graph whichever process owns them.
 *
 * Nodes and edges are per-type global IDs, in any order, repeats allowed; answers stand in the order
 * of the questions. A question takes no more memory here than its arrays: it goes to the owners in
 * pieces.
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
 * [count], of its destination type; either may be NULL. */
TR_API int tr_graph_find_edges(struct tr_graph *graph, uint32_t etype, const uint64_t *edge_ids,
                               size_t count, int64_t timeout_ns, uint64_t *sources,
                               uint64_t *destinations, struct tr_error *error);

#ifdef __cplusplus
}
#endif

#endif
