/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/reverse_edges.h"

uint64_t reverse_candidate(uint32_t rule, uint64_t original, uint64_t num_edges, uint32_t i)
{
    uint64_t half = num_edges / 2;
    switch (rule) {
    case REVERSE_SAME:
        return original;
    case REVERSE_HALVES:
        /* Where the number of edges is odd, the last one has no counterpart. */
        return original < half       ? original + half
               : original < 2 * half ? original - half
                                     : REVERSE_NO_EDGE;
    default:
        if (i == 0)
            return original > 0 ? original - 1 : REVERSE_NO_EDGE;
        return original + 1 < num_edges ? original + 1 : REVERSE_NO_EDGE;
    }
}

bool reverse_edges_are_known(const struct edge_part *edges)
{
    return edges->original_edge_ids != NULL || edges->csc.num_edges == 0;
}

uint64_t reverse_edge_find(const struct edge_part *edges, const struct reverse_question *asked)
{
    const struct csc *csc = &edges->csc;
    uint64_t low = csc->index[asked->row], high = csc->index[asked->row + UINT64_C(1)];
    const uint64_t end = high;
    if (asked->original == REVERSE_NO_EDGE)
        return REVERSE_NO_EDGE;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (edges->original_edge_ids[middle] < asked->original)
            low = middle + 1;
        else
            high = middle;
    }
    /* The IDs lie in a file that nobody checked: whatever stands there, no edge but the wanted one
     * is taken for it. */
    bool found = low < end && edges->original_edge_ids[low] == asked->original &&
                 csc_source(csc, low) == asked->source;
    return found ? csc->first_edge + low : REVERSE_NO_EDGE;
}

int edge_scan_find(const struct edge_part *edges, const struct reverse_question *asked,
                   struct edge_scan *scan, uint64_t *edge)
{
    const struct csc *csc = &edges->csc;
    const uint64_t begin = csc->index[asked->row], end = csc->index[asked->row + UINT64_C(1)];
    uint64_t at = begin + scan->at;
    uint64_t stop = end - at < scan->left ? end : at + scan->left;
    *edge = REVERSE_NO_EDGE;
    scan->left -= stop - at;
    while (at < stop && csc_source(csc, at) != asked->source)
        at++;
    if (at == stop && stop < end) {
        scan->at = stop - begin;
        return 1;
    }
    scan->at = 0;
    if (at < stop)
        *edge = csc->first_edge + at;
    return 0;
}
