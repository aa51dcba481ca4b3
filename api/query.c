/* SPDX-License-Identifier: Apache-2.0 */
/* Questions about edges: each is a fetch of a table that owners compute (graph/local_rows.h). */
#include <troupe/query.h>

#include "api/internal.h"

int tr_graph_find_edges(struct tr_graph *graph, uint32_t etype, const uint64_t *edge_ids,
                        size_t count, int64_t timeout_ns, uint64_t *sources, uint64_t *destinations,
                        struct tr_error *error)
{
    int rv = graph_check_etype(graph, etype, error);
    if (rv != 0)
        return rv;
    return graph_fetch_pairs(graph, etype, MSG_TABLE_EDGE_ENDS, edge_ids, count, timeout_ns,
                             sources, destinations, error);
}
