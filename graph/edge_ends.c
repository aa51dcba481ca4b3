/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/edge_ends.h"

/* Searches that go through the index side by side: each step of one misses the caches, and those of
 * the others are under way meanwhile. More of them than a core has misses in flight gain nothing. */
#define SEARCHES 16u

/* Finds for each position the last row that begins there or before: rows without edges before it
 * begin there too. All searches halve the same number of rows, so they are at the same step. */
static void find_rows(const struct csc *csc, const uint32_t *positions, uint32_t n, uint64_t *rows)
{
    for (uint32_t i = 0; i < n; i++)
        rows[i] = 0;
    for (uint64_t left = csc->num_rows; left > 1;) {
        uint64_t half = left / 2, next = (left - half) / 2;
        for (uint32_t i = 0; i < n; i++) {
            rows[i] += csc->index[rows[i] + half] <= positions[i] ? half : 0;
            __builtin_prefetch(&csc->index[rows[i] + next]);
        }
        left -= half;
    }
}

void edge_sources_read(const struct edge_ends *from, const uint32_t *positions, uint64_t n,
                       const uint32_t *places, uint64_t *sources)
{
    for (uint64_t i = 0; i < n; i++)
        sources[places == NULL ? i : places[i]] = csc_source(from->csc, positions[i]);
}

void edge_ends_read(const struct edge_ends *from, const uint32_t *positions, uint64_t n,
                    const uint32_t *places, uint64_t *ends)
{
    const struct csc *csc = from->csc;
    uint64_t rows[SEARCHES];
    for (uint64_t first = 0; first < n; first += SEARCHES) {
        uint32_t some = n - first < SEARCHES ? (uint32_t)(n - first) : SEARCHES;
        for (uint32_t i = 0; i < some; i++)
            __builtin_prefetch(&csc->indices[positions[first + i]]);
        find_rows(csc, positions + first, some, rows);
        for (uint32_t i = 0; i < some; i++) {
            uint64_t *to = ends + 2 * (places == NULL ? first + i : places[first + i]);
            to[0] = csc_source(csc, positions[first + i]);
            to[1] = from->first_destination + rows[i];
        }
    }
}
