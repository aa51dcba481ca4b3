/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Edges by their rank: their place in the order of (original destination, original edge ID), which
 * no placement changes. Edge IDs do depend on the placement; what leads from the one to the other
 * is a table of runs.
 *
 * A run is a row of edges whose ranks follow one another and whose global IDs do too: those of a
 * node, and of the nodes after it as long as one partition has them. So there are at most as many
 * runs as nodes with in-edges, and one where there is one partition. Partition p of P has the runs
 * of an even slice of the ranks, as of a table of ranks (graph/ranks.h), whichever partition owns
 * the edges; a run ends where its slice does.
 *
 * Thread rules: pure.
 */
#ifndef GRAPH_EDGE_RUNS_H
#define GRAPH_EDGE_RUNS_H

#include <stdbool.h>
#include <stdint.h>

#include "graph/ranks.h"
#include "runtime/base/error.h"

/* Whether edges have ranks, so many over so many partitions: places in a slice are rows, which are
 * 32 bits wide. Types of more edges have no runs. */
static inline bool edge_runs_may_be(uint64_t num_edges, uint32_t num_parts)
{
    return num_edges <= RANKS_MAX && (num_edges + num_parts - 1) / num_parts <= UINT64_C(1) << 32;
}

/* It goes on until the next run begins, or the slice ends. */
struct edge_run {
    uint64_t rank; /* of its first edge */
    uint64_t edge; /* that edge, by its per-type global ID */
};

/* One partition's slice. */
struct edge_runs {
    uint64_t first_rank, num_ranks;
    uint64_t num_runs;
    const struct edge_run *runs; /* [num_runs], by rank; NULL: not loaded, or there are none */
};

/* The number of the first run that is wrong; num_runs: the runs are those of some slice: the first
 * begins with it, ranks increase, and IDs stay below num_edges. Slices that hold it may be read. */
uint64_t edge_runs_check(const struct edge_runs *slice, uint64_t num_edges);

/* The IDs of edges, by the places of their ranks in the slice, which were checked. places NULL: one
 * after the other; else edge i goes to place places[i]. */
void edge_runs_read(const struct edge_runs *slice, const uint32_t *rows, uint64_t n,
                    const uint32_t *places, uint64_t *ids);

/* Makes the runs of all slices, one after the other. */
struct edge_run_maker {
    uint64_t num_edges;
    uint32_t num_parts;
    uint32_t part;      /* whose slice is being made */
    uint64_t slice_end; /* the rank that it ends before */
    uint64_t rank;      /* of the next edge */
    uint64_t next;      /* the ID with which the run would go on */
};

/* Called with each run; what it returns but 0 ends the making. */
typedef int edge_run_visit(void *arg, uint32_t part, const struct edge_run *run,
                           struct error *error);

struct edge_run_maker edge_run_maker_begin(uint64_t num_edges, uint32_t num_parts);
/* The next `count` edges by rank are those from ID `first` on; no more than num_edges in all. */
int edge_run_maker_add(struct edge_run_maker *maker, uint64_t first, uint64_t count,
                       edge_run_visit *visit, void *arg, struct error *error);

#endif
