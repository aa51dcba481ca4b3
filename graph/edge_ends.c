/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/edge_ends.h"

/* The last row that begins at the position or before: rows without edges before it begin there
 * too. */
static uint64_t find_row(const struct csc *csc, uint64_t position)
{
    uint64_t low = 0, high = csc->num_rows;
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        if (csc->index[middle] <= position)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static uint64_t source_of(const struct csc *csc, uint32_t position)
{
    uint32_t column = csc->indices[position];
    return csc->column_global == NULL ? column : csc->column_global[column];
}

void edge_sources_read(const struct edge_ends *from, const uint32_t *positions, uint64_t n,
                       const uint32_t *places, uint64_t *sources)
{
    for (uint64_t i = 0; i < n; i++)
        sources[places == NULL ? i : places[i]] = source_of(from->csc, positions[i]);
}

void edge_ends_read(const struct edge_ends *from, const uint32_t *positions, uint64_t n,
                    const uint32_t *places, uint64_t *ends)
{
    const struct csc *csc = from->csc;
    for (uint64_t i = 0; i < n; i++) {
        uint64_t *to = ends + 2 * (places == NULL ? i : places[i]);
        to[0] = source_of(csc, positions[i]);
        to[1] = from->first_destination + find_row(csc, positions[i]);
    }
}
