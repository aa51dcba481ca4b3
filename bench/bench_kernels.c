/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels: sampling and relabelling as a sampler calls them, without its actors. The loss of
 * `sampling` beside this is the price of messages; the loss of this beside the bare loop is the
 * price of exact draws, of any number of types and of checks.
 */
#include "bench/benches.h"

#include <string.h>

#include "bench/biggraph.h"
#include "bench/clock.h"
#include "bench/walk.h"
#include "graph/key.h"
#include "graph/relabel.h"
#include "graph/sample.h"
#include "runtime/base/hotmem.h"

struct kernel_bench {
    struct walk walk;
    uint64_t batches; /* of one measurement */
    uint64_t next;
    struct sample_space space;
    struct relabel nodes;
    uint32_t *rows;
    uint32_t *counts;
    uint32_t *columns;
    uint32_t *sources;
    size_t words; /* of each of the four */
};

static const uint32_t fanouts[REFERENCE_LAYERS] = WALK_FANOUTS;

/* Rows are the low halves of the node list: one partition owns all. */
static uint32_t list_rows(struct kernel_bench *kernels)
{
    for (uint32_t i = 0; i < kernels->nodes.num_ids; i++)
        kernels->rows[i] = (uint32_t)kernels->nodes.ids[i];
    return kernels->nodes.num_ids;
}

static int draw_hop(struct kernel_bench *kernels, uint64_t batch, uint32_t hop, uint64_t *edges)
{
    const struct graph_part *part = kernels->walk.part;
    struct draw_key key = {
        .seed = kernels->walk.seed, .batch = batch, .hop = hop, .purpose = KEY_NEIGHBOURS
    };
    struct sample_request request = {
        .csc = &part->edges[0].csc,
        .original_ids = part->nodes[0].original_ids,
        .rows = kernels->rows,
        .num_rows = list_rows(kernels),
        .term = SAMPLE_TERM((int32_t)fanouts[hop], false),
        .key_base = key_base(&key),
    };
    struct sample_result result = { .counts = kernels->counts, .columns = kernels->columns };
    int rv = sample_uniform(&kernels->space, &request, &result);
    if (rv == 0)
        rv = relabel_add_u32(&kernels->nodes, result.columns, result.num_edges,
                             kernels->sources + *edges);
    *edges += result.num_edges;
    return rv;
}

static int draw_batch(struct kernel_bench *kernels, uint64_t batch, uint64_t *edges)
{
    walk_deal(&kernels->walk, batch);
    *edges = 0;
    int rv = relabel_reset(&kernels->nodes, 0);
    if (rv == 0)
        rv = relabel_add_u32(&kernels->nodes, kernels->walk.seeds, WALK_SEEDS, kernels->counts);
    for (uint32_t hop = 0; hop < REFERENCE_LAYERS && rv == 0; hop++)
        rv = draw_hop(kernels, batch, hop, edges);
    return rv;
}

static int measure_ours(void *arg, double *value, struct error *error)
{
    struct kernel_bench *kernels = arg;
    uint64_t total = 0, edges = 0;
    double start = clock_thread();
    for (uint64_t i = 0; i < kernels->batches; i++) {
        int rv = draw_batch(kernels, kernels->next + i, &edges);
        if (rv != 0)
            return error_set(error, rv, "kernels: out of memory");
        total += edges;
    }
    *value = (double)total / (clock_thread() - start);
    kernels->next += kernels->batches;
    return 0;
}

static int measure_reference(void *arg, double *value, struct error *error)
{
    (void)error;
    struct kernel_bench *kernels = arg;
    double start = clock_thread();
    uint64_t edges = walk_reference(&kernels->walk, kernels->next, kernels->batches, 0);
    *value = (double)edges / (clock_thread() - start);
    return 0;
}

static void fini(struct kernel_bench *kernels)
{
    sample_space_fini(&kernels->space);
    relabel_fini(&kernels->nodes);
    hotmem_free(kernels->rows, kernels->words * sizeof *kernels->rows);
    hotmem_free(kernels->counts, kernels->words * sizeof *kernels->counts);
    hotmem_free(kernels->columns, kernels->words * sizeof *kernels->columns);
    hotmem_free(kernels->sources, kernels->words * sizeof *kernels->sources);
    walk_fini(&kernels->walk);
}

static int init(struct kernel_bench *kernels, const struct biggraph *graph,
                const struct bench_options *options, struct error *error)
{
    *kernels = (struct kernel_bench){ .batches = WALK_BATCHES };
    int rv = walk_init(&kernels->walk, &graph->part, options->seed, error);
    if (rv != 0)
        return rv;
    kernels->words = kernels->walk.bare.edges_max;
    kernels->rows = hotmem_alloc(kernels->words * sizeof *kernels->rows);
    kernels->counts = hotmem_alloc(kernels->words * sizeof *kernels->counts);
    kernels->columns = hotmem_alloc(kernels->words * sizeof *kernels->columns);
    kernels->sources = hotmem_alloc(kernels->words * sizeof *kernels->sources);
    if (kernels->rows == NULL || kernels->counts == NULL || kernels->columns == NULL ||
        kernels->sources == NULL) {
        fini(kernels);
        return error_set(error, TR_ENOMEM, "kernels: out of memory");
    }
    return 0;
}

int kernels_bench(const struct bench_options *options, bench_emit *emit, void *arg,
                  struct error *error)
{
    struct biggraph graph;
    struct kernel_bench kernels;
    int rv = biggraph_init(&graph, options->scale);
    if (rv != 0)
        return error_set(error, rv, "kernels: no graph of scale %g", options->scale);
    rv = init(&kernels, &graph, options, error);
    if (rv != 0)
        goto out;
    struct figure figure = {
        .name = "kernels", .unit = "edges/s/core", .reference = "bare loop", .goal = 0.85
    };
    rv = figure_pair(&figure, options->rounds, measure_ours, measure_reference, &kernels, error);
    if (rv == 0)
        emit(arg, &figure);
    fini(&kernels);
out:
    biggraph_fini(&graph);
    return rv;
}
