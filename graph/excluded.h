/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Edges that a draw leaves out: which of them are a row's, and where the others stand.
 *
 * A request lists them by their per-type global IDs, in increasing order; those of other rows or of
 * other partitions may be among them. Since the in-edges of a row have consecutive IDs, the row's are a
 * run of that list; out-edges have any IDs, and each is looked for in it. What a row draws depends on
 * its own run alone, never on who else is listed, so that any partition draws alike.
 *
 * Thread rules: pure.
 */
#ifndef GRAPH_EXCLUDED_H
#define GRAPH_EXCLUDED_H

#include <stdbool.h>
#include <stdint.h>

#include "graph/sample.h"
#include "graph/vec.h"

/* The edges of a row that are left out. */
struct excluded_edges {
    const uint64_t *ids; /* [count], increasing */
    uint32_t count;      /* at most the row's edges */
    uint64_t first;      /* the ID of the row's position 0 */
};

/* The first of increasing IDs that is not below `id`. */
static inline uint64_t excluded_bound(const uint64_t *ids, uint64_t count, uint64_t id)
{
    uint64_t low = 0, high = count;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (ids[middle] < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Those of the row whose edges stand at [begin, begin + degree) of the CSC. */
static inline struct excluded_edges excluded_of(const struct sample_request *request,
                                                uint64_t begin, uint64_t degree)
{
    uint64_t first = request->csc->first_edge + begin;
    const uint64_t *ids = request->excluded;
    if (request->num_excluded == 0)
        return (struct excluded_edges){ .ids = NULL, .first = first };
    uint64_t low = excluded_bound(ids, request->num_excluded, first);
    uint64_t count = excluded_bound(ids + low, request->num_excluded - low, first + degree);
    return (struct excluded_edges){ .ids = ids + low, .count = (uint32_t)count, .first = first };
}

/* The same of any row. Of edges that have IDs of their own, positions in the row stand in their IDs'
 * place, in the space. TR_ENOMEM. */
static inline int excluded_of_row(const struct sample_request *request, uint64_t begin,
                                  uint64_t degree, struct vec *space, struct excluded_edges *out)
{
    if (request->csc->edge_ids == NULL || request->num_excluded == 0) {
        *out = excluded_of(request, begin, degree);
        return 0;
    }
    if (vec_reserve(space, degree, sizeof(uint64_t), 0) != 0)
        return TR_ENOMEM;
    const uint64_t *ids = request->csc->edge_ids + begin;
    *out = (struct excluded_edges){ .ids = space->data };
    for (uint64_t i = 0; i < degree; i++) {
        uint64_t at = excluded_bound(request->excluded, request->num_excluded, ids[i]);
        if (at < request->num_excluded && request->excluded[at] == ids[i])
            ((uint64_t *)space->data)[out->count++] = i;
    }
    return 0;
}

static inline uint32_t excluded_position(const struct excluded_edges *excluded, uint32_t i)
{
    return (uint32_t)(excluded->ids[i] - excluded->first);
}

static inline bool is_excluded_position(const struct excluded_edges *excluded, uint32_t position)
{
    uint64_t id = excluded->first + position;
    uint64_t at = excluded_bound(excluded->ids, excluded->count, id);
    return at < excluded->count && excluded->ids[at] == id;
}

/* The position of the n-th edge of those that are left. */
static inline uint32_t excluded_left(const struct excluded_edges *excluded, uint32_t n)
{
    /* Behind j edges that are left out come those left from number position_j - j on. */
    uint32_t low = 0, high = excluded->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (excluded_position(excluded, middle) - middle <= n)
            low = middle + 1;
        else
            high = middle;
    }
    return n + low;
}

#endif
