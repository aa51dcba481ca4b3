/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/edge_runs.h"

#include <assert.h>
#include <stddef.h>

static bool is_right(const struct edge_runs *slice, uint64_t i, uint64_t num_edges)
{
    const struct edge_run *run = &slice->runs[i];
    uint64_t slice_end = slice->first_rank + slice->num_ranks;
    uint64_t end = i + 1 < slice->num_runs ? run[1].rank : slice_end;
    /* Where the next run is wrong itself, it is the one to name. */
    uint64_t length = end > run->rank && end <= slice_end ? end - run->rank : 1;
    if (i == 0 ? run->rank != slice->first_rank : run->rank <= run[-1].rank)
        return false;
    return run->rank < slice_end && run->edge < num_edges && length <= num_edges - run->edge;
}

uint64_t edge_runs_check(const struct edge_runs *slice, uint64_t num_edges)
{
    uint64_t i = 0;
    while (i < slice->num_runs && is_right(slice, i, num_edges))
        i++;
    return i;
}

/* The last run that begins at the rank or before. */
static const struct edge_run *find_run(const struct edge_runs *slice, uint64_t rank)
{
    uint64_t low = 0, high = slice->num_runs;
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        if (slice->runs[middle].rank <= rank)
            low = middle;
        else
            high = middle;
    }
    return &slice->runs[low];
}

void edge_runs_read(const struct edge_runs *slice, const uint32_t *rows, uint64_t n,
                    const uint32_t *places, uint64_t *ids)
{
    for (uint64_t i = 0; i < n; i++) {
        uint64_t rank = slice->first_rank + rows[i];
        const struct edge_run *run = find_run(slice, rank);
        ids[places == NULL ? i : places[i]] = run->edge + (rank - run->rank);
    }
}

struct edge_run_maker edge_run_maker_begin(uint64_t num_edges, uint32_t num_parts)
{
    return (struct edge_run_maker){ .num_edges = num_edges, .num_parts = num_parts };
}

int edge_run_maker_add(struct edge_run_maker *m, uint64_t first, uint64_t count,
                       edge_run_visit *visit, void *arg, struct error *error)
{
    uint64_t end = m->rank + count;
    assert(count <= m->num_edges - m->rank);
    while (m->rank < end) {
        bool begins = m->rank == m->slice_end || first != m->next;
        if (m->rank == m->slice_end) {
            m->part = ranks_part(m->num_edges, m->num_parts, m->rank);
            m->slice_end = ranks_begin(m->num_edges, m->num_parts, m->part + 1);
        }
        const struct edge_run run = { m->rank, first };
        int rv = begins ? visit(arg, m->part, &run, error) : 0;
        if (rv != 0)
            return rv;
        uint64_t stop = end < m->slice_end ? end : m->slice_end;
        first += stop - m->rank;
        m->rank = stop;
        m->next = first;
    }
    return 0;
}
