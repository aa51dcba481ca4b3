/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Questions about edges, without actors: the ends of edges by ID, scattered over the big graph, beside
 * a bare loop that searches for each in turn.
 *
 * The limit is memory: a search through the index of two million rows is 21 steps, of which the first
 * dozen stay in the caches, and the source is one more miss.
 */
#include "bench/benches.h"

#include <stdlib.h>

#include "bench/biggraph.h"
#include "bench/clock.h"
#include "graph/edge_ends.h"
#include "graph/key.h"

/* Edges of one measurement: a tenth of a second and more. */
#define EDGES ((uint32_t)1 << 20)

struct queries_bench {
    const struct csc *csc;
    uint32_t *positions; /* [EDGES] */
    uint64_t *ends;      /* [2 * EDGES] */
};

static int measure_ours(void *arg, double *value, struct error *error)
{
    struct queries_bench *bench = arg;
    const struct edge_ends ends = { .csc = bench->csc };
    (void)error;
    double start = clock_thread();
    edge_ends_read(&ends, bench->positions, EDGES, NULL, bench->ends);
    *value = EDGES / (clock_thread() - start);
    return 0;
}

static uint64_t search(const struct csc *csc, uint64_t position)
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

static int measure_reference(void *arg, double *value, struct error *error)
{
    struct queries_bench *bench = arg;
    (void)error;
    double start = clock_thread();
    for (uint32_t i = 0; i < EDGES; i++) {
        bench->ends[2 * (size_t)i] = bench->csc->indices[bench->positions[i]];
        bench->ends[2 * (size_t)i + 1] = search(bench->csc, bench->positions[i]);
    }
    *value = EDGES / (clock_thread() - start);
    return 0;
}

int queries_bench(const struct bench_options *options, bench_emit *emit, void *arg,
                  struct error *error)
{
    struct biggraph graph;
    struct queries_bench bench = { .positions = malloc(EDGES * sizeof *bench.positions),
                                   .ends = malloc(EDGES * 2 * sizeof *bench.ends) };
    int rv = bench.positions == NULL || bench.ends == NULL ? TR_ENOMEM
                                                           : biggraph_init(&graph, options->scale);
    if (rv != 0) {
        error_set(error, rv, "queries: no graph of scale %g", options->scale);
        goto out;
    }
    bench.csc = &graph.edge.csc;
    uint64_t draw = 0;
    for (uint32_t i = 0; i < EDGES && bench.csc->num_edges > 0; i++)
        bench.positions[i] = (uint32_t)key_below(options->seed, &draw, bench.csc->num_edges);
    struct figure figure = { .name = "queries_find_edges",
                             .unit = "edges/s",
                             .goal = 2,
                             .reference = "bare binary searches, one after the other" };
    rv = figure_pair(&figure, options->rounds, measure_ours, measure_reference, &bench, error);
    if (rv == 0)
        emit(arg, &figure);
    biggraph_fini(&graph);
out:
    free(bench.ends);
    free(bench.positions);
    return rv;
}
