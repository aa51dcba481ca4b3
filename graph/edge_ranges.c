/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/edge_ranges.h"

#include <stddef.h>

void edge_ranges_read(const struct edge_ranges *from, const uint32_t *rows, uint64_t n,
                      const uint32_t *places, uint64_t *ranges)
{
    for (uint64_t i = 0; i < n; i++) {
        const uint64_t *bounds = &from->index[rows[i]];
        uint64_t *to = ranges + 2 * (places == NULL ? i : places[i]);
        to[0] = from->first + bounds[0];
        to[1] = bounds[1] - bounds[0];
    }
}
