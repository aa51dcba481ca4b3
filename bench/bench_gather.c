/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gather: the rows of a batch's input nodes out of a local table, beside a bare loop that
 * prefetches and copies. Both write the same buffer and read the same rows.
 */
#include "bench/benches.h"

#include "bench/biggraph.h"
#include "bench/clock.h"
#include "bench/walk.h"
#include "graph/gather.h"

/* The bytes of one measurement: a millisecond and more, far above the resolution of the clock. */
#define BYTES_MIN ((size_t)1 << 30)

struct gather {
    struct walk walk;
    size_t row_bytes;
    uint32_t turns;
};

typedef void copy_rows(struct gather *gather);

static void copy_ours(struct gather *gather)
{
    const struct walk *walk = &gather->walk;
    gather_rows(walk->rows, walk->features->rows, gather->row_bytes, walk->bare.nodes,
                walk->bare.num_nodes);
}

static void copy_bare(struct gather *gather)
{
    const struct walk *walk = &gather->walk;
    reference_loops_gather(walk->rows, walk->features->rows, gather->row_bytes, walk->bare.nodes,
                           walk->bare.num_nodes);
}

static double rate(struct gather *gather, copy_rows *copy)
{
    double start = clock_thread();
    for (uint32_t i = 0; i < gather->turns; i++)
        copy(gather);
    return (double)gather->turns * gather->walk.bare.num_nodes * (double)gather->row_bytes /
           (clock_thread() - start);
}

static int measure_ours(void *arg, double *value, struct error *error)
{
    (void)error;
    *value = rate(arg, copy_ours);
    return 0;
}

static int measure_reference(void *arg, double *value, struct error *error)
{
    (void)error;
    *value = rate(arg, copy_bare);
    return 0;
}

int gather_bench(const struct bench_options *options, bench_emit *emit, void *arg,
                 struct error *error)
{
    struct biggraph graph;
    struct gather gather = { .row_bytes = BIGGRAPH_FEATURES * sizeof(float) };
    int rv = biggraph_init(&graph, options->scale);
    if (rv != 0)
        return error_set(error, rv, "gather: no graph of scale %g", options->scale);
    rv = walk_init(&gather.walk, &graph.part, options->seed, error);
    if (rv != 0)
        goto out;
    walk_reference(&gather.walk, 0, 1, 0);
    gather.turns = 1 + (uint32_t)(BYTES_MIN / (gather.walk.bare.num_nodes * gather.row_bytes));
    struct figure figure = { .name = "gather",
                             .unit = "bytes/s",
                             .goal = 0.9,
                             .reference = "bare prefetching memcpy gather" };
    rv = figure_pair(&figure, options->rounds, measure_ours, measure_reference, &gather, error);
    if (rv == 0)
        emit(arg, &figure);
    walk_fini(&gather.walk);
out:
    biggraph_fini(&graph);
    return rv;
}
