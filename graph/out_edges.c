/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/out_edges.h"

#include <stddef.h>

uint64_t out_edges_check(const struct out_edges *from, const uint32_t *positions, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        if (from->edge_ids[positions[i]] >= from->edges_end ||
            from->destinations[positions[i]] >= from->nodes_end)
            return i;
    return count;
}

void out_edges_read(const struct out_edges *from, const uint32_t *positions, uint64_t n,
                    const uint32_t *places, uint64_t *edges)
{
    for (uint64_t i = 0; i < n; i++) {
        uint64_t *to = edges + 2 * (places == NULL ? i : places[i]);
        to[0] = from->edge_ids[positions[i]];
        to[1] = from->destinations[positions[i]];
    }
}
