/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Uniform draws of a few edges a row, the same as those of graph/sample.c, by a loop whose fanout is
 * a constant.
 *
 * Graphs of many edge types draw a few edges of each. Then a row costs more than its draws: whether
 * it has as few edges as are drawn, how many, and whether a position was drawn before are branches
 * that are guessed wrong. So there is none of them here: positions and counts are selected, and a
 * column that is not drawn is read all the same and written nowhere.
 *
 * The indexes of edge types lie apart. Interleaved by node, so that a cache line has the bounds of
 * eight types, 65536 rows, drawn type by type, came at 0.87 to 0.90 of the rate, and 4096 at 0.98; only
 * 1024 rows, whose lines stay in the cache until the next type, came at 1.1. Bounds are prefetched a
 * block ahead whichever line they are in.
 *
 * Thread rules: as in graph/sample.h.
 */
#ifndef GRAPH_SAMPLE_FEW_H
#define GRAPH_SAMPLE_FEW_H

#include <stdbool.h>

#include "graph/sample.h"

/* With more, comparing each two draws costs more than branches do. */
#define SAMPLE_FEW_MAX 8u
/* Up to here it pays whatever the degrees; above, where most rows have more edges than are drawn: a row
 * that is taken whole needs no draws, and here it makes them. */
#define SAMPLE_FEW_ANY_DEGREE 3u

/* Whether the request, which has neither mask nor exclusions nor totals, draws so few. */
static inline bool sample_is_few(const struct sample_request *request)
{
    const struct csc *csc = request->csc;
    uint32_t fanout = sample_fanout(request);
    if (fanout - 1 >= SAMPLE_FEW_MAX || csc->num_edges == 0)
        return false;
    return fanout <= SAMPLE_FEW_ANY_DEGREE || csc->num_edges / csc->num_rows >= 4 * fanout;
}

/* sample_uniform() of such a request, which needs no scratch memory. */
int sample_few(const struct sample_request *request, struct sample_result *result);

#endif
