/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samplers, without actors and without relabelling: each draws for the same scattered rows of the
 * big graph, of which one partition has all. Those that draw by weights and masks stand beside the
 * uniform kernel, in edges drawn; LABOR, which reads rows whole, stands beside a bare loop that reads
 * the same rows, makes the number of each source and counts those below the threshold, in edges read.
 *
 * Original IDs are shuffled, so that LABOR's array is there. Weights are 1 to 64, a tenth of them 0.
 */
#include "bench/benches.h"

#include <string.h>

#include "bench/biggraph.h"
#include "bench/clock.h"
#include "bench/walk.h"
#include "graph/key.h"
#include "graph/local_sample.h"
#include "graph/on_demand.h"
#include "graph/samplers.h"
#include "runtime/base/hotmem.h"

/* Rows of one measurement: a tenth of a second and more. */
#define ROWS (64u * WALK_SEEDS)
#define FANOUT 10u
/* Edges that the bare scan keeps of a row: it is tens of times the fanout. */
#define KEPT_MAX 255u

enum { WEIGHTS, MASK };

struct samplers_bench {
    const struct biggraph *graph;
    struct graph_part part;
    struct edge_part edges;
    struct feature_table tables[2];
    struct walk walk;
    struct sample_space space;
    uint64_t num_nodes[1], next;
    float *weights;
    uint8_t *mask;
    uint32_t *rows, *counts, *columns;
    float *edge_weights;
    uint64_t columns_max;
    /* What is measured now. */
    uint32_t kind;
    struct sample_term term;
    bool by_edges_read;
    uint64_t found; /* by the bare scan */
    const uint32_t *kept[KEPT_MAX + 1];
};

/* A permutation of the nodes, by a multiplication with a prime that is above their number. */
static uint64_t shuffled_id(const struct samplers_bench *bench, uint64_t id)
{
    return (id * UINT64_C(2654435761) + 12345) % bench->num_nodes[0];
}

static int read_ids(void *arg, uint32_t ntype, uint64_t first, size_t count, uint64_t *ids,
                    struct error *error)
{
    const struct samplers_bench *bench = arg;
    (void)ntype, (void)error;
    for (size_t i = 0; i < count; i++)
        ids[i] = shuffled_id(bench, first + i);
    return 0;
}

static void deal_rows(struct samplers_bench *bench)
{
    for (uint32_t i = 0; i < ROWS / WALK_SEEDS; i++) {
        walk_deal(&bench->walk, bench->next++);
        memcpy(bench->rows + (size_t)i * WALK_SEEDS, bench->walk.seeds, sizeof bench->walk.seeds);
    }
}

static uint64_t edges_read(const struct samplers_bench *bench)
{
    const struct csc *csc = &bench->edges.csc;
    uint64_t edges = 0;
    for (uint32_t i = 0; i < ROWS; i++)
        edges += csc->index[bench->rows[i] + UINT64_C(1)] - csc->index[bench->rows[i]];
    return edges;
}

/* One draw for the rows, in edges a second. */
static int draw_rows(struct samplers_bench *bench, uint32_t kind, const struct sample_term *term,
                     double *value, struct error *error)
{
    const struct draw_key key = { .seed = 1, .batch = bench->next };
    const struct local_sample what = { .part = &bench->part,
                                       .draw = &key,
                                       .kind = kind,
                                       .term = *term,
                                       .rows = bench->rows,
                                       .num_rows = ROWS };
    struct sample_result result = { .counts = bench->counts, .columns = bench->columns };
    struct sample_request request;
    int rv = local_sample_prepare(&what, &request, error);
    if (rv != 0)
        return rv;
    if (sample_gives_weights(kind, term))
        result.edge_weights = bench->edge_weights;
    double start = clock_thread();
    rv = local_sample_draw(&bench->space, &request, &result);
    double took = clock_thread() - start;
    *value = (double)(bench->by_edges_read ? edges_read(bench) : result.num_edges) / took;
    return rv == 0 ? 0 : error_set(error, rv, "samplers: drawing failed");
}

static int measure_ours(void *arg, double *value, struct error *error)
{
    struct samplers_bench *bench = arg;
    deal_rows(bench);
    return draw_rows(bench, bench->kind, &bench->term, value, error);
}

static int measure_uniform(void *arg, double *value, struct error *error)
{
    const struct sample_term term = SAMPLE_TERM((int32_t)FANOUT, false);
    return draw_rows(arg, SAMPLE_UNIFORM, &term, value, error);
}

/* The same rows as the draw before it. */
static int measure_scan(void *arg, double *value, struct error *error)
{
    struct samplers_bench *bench = arg;
    const struct csc *csc = &bench->edges.csc;
    const struct on_demand_key key = { ON_DEMAND_SOURCES, 0, 0, 0 };
    const uint32_t *ids = on_demand_sources(bench->part.on_demand, &key)->narrow;
    uint64_t found = 0;
    (void)error;
    double start = clock_thread();
    for (uint32_t i = 0; i < ROWS; i++) {
        for (uint32_t ahead = i + 16; i % 16 == 0 && ahead < i + 32 && ahead < ROWS; ahead++)
            __builtin_prefetch(&csc->index[bench->rows[ahead]]);
        if (i + 8 < ROWS)
            __builtin_prefetch(&ids[csc->index[bench->rows[i + 8]]]);
        uint64_t begin = csc->index[bench->rows[i]];
        uint64_t end = csc->index[bench->rows[i] + UINT64_C(1)];
        uint64_t threshold = UINT64_MAX / (end - begin + 1) * FANOUT;
        /* Without a branch at each edge, which would be guessed wrong at one in five. */
        uint32_t kept = 0;
        for (uint64_t e = begin; e < end; e++) {
            bench->kept[kept] = csc->indices + e;
            kept += kept < KEPT_MAX && key_node(1, ids[e]) < threshold;
        }
        for (uint32_t k = 0; k < kept; k++)
            found += *bench->kept[k];
    }
    *value = (double)edges_read(bench) / (clock_thread() - start);
    bench->found += found; /* or it would not be computed */
    return 0;
}

static int make_arrays(struct samplers_bench *bench, struct error *error)
{
    const struct local_sample what = { .part = &bench->part,
                                       .kind = bench->kind,
                                       .term = bench->term };
    int rv;
    while ((rv = local_sample_make(&what, error)) == 1)
        ;
    return rv;
}

static int emit_figures(struct samplers_bench *bench, uint32_t rounds, bench_emit *emit, void *arg,
                        struct error *error)
{
    static const struct {
        const char *name;
        uint32_t kind;
        bool replace, weights, mask, scan;
        double goal;
    } figures[] = {
        { "samplers_masked", SAMPLE_UNIFORM, false, false, true, false, 0.5 },
        { "samplers_weighted", SAMPLE_WEIGHTED, false, true, false, false, 0.5 },
        { "samplers_weighted_replaced", SAMPLE_WEIGHTED, true, true, false, false, 0.5 },
        { "samplers_labor", SAMPLE_LABOR, false, false, false, true, 0.8 },
        { "samplers_labor_poisson", SAMPLE_LABOR_POISSON, false, false, false, true, 0.8 },
    };
    int rv = 0;
    for (size_t i = 0; i < sizeof figures / sizeof *figures && rv == 0; i++) {
        bench->kind = figures[i].kind;
        bench->term = SAMPLE_TERM((int32_t)FANOUT, figures[i].replace);
        bench->term.weights = figures[i].weights ? WEIGHTS : SAMPLE_NO_TABLE;
        bench->term.mask = figures[i].mask ? MASK : SAMPLE_NO_TABLE;
        bench->by_edges_read = figures[i].scan;
        struct figure figure = { .name = figures[i].name,
                                 .unit = figures[i].scan ? "edges read/s/core" : "edges/s/core",
                                 .reference = figures[i].scan ? "bare scan" : "uniform",
                                 .goal = figures[i].goal };
        rv = make_arrays(bench, error);
        if (rv == 0)
            rv = figure_pair(&figure, rounds, measure_ours,
                             figures[i].scan ? measure_scan : measure_uniform, bench, error);
        if (rv == 0)
            emit(arg, &figure);
    }
    return rv;
}

static void samplers_fini(struct samplers_bench *bench)
{
    uint64_t edges = bench->edges.csc.num_edges;
    on_demand_destroy(bench->part.on_demand);
    sample_space_fini(&bench->space);
    hotmem_free(bench->weights, edges * sizeof *bench->weights);
    hotmem_free(bench->mask, edges);
    hotmem_free(bench->rows, ROWS * sizeof *bench->rows);
    hotmem_free(bench->counts, ROWS * sizeof *bench->counts);
    hotmem_free(bench->columns, bench->columns_max * sizeof *bench->columns);
    hotmem_free(bench->edge_weights, bench->columns_max * sizeof *bench->edge_weights);
    walk_fini(&bench->walk);
}

static void fill_tables(struct samplers_bench *bench, uint64_t edges)
{
    for (uint64_t e = 0; e < edges; e++) {
        uint64_t drawn = key_draw(7, e);
        bench->weights[e] = drawn % 10 == 0 ? 0 : (float)(drawn >> 8 & 63) + 1;
        bench->mask[e] = drawn >> 16 & 1;
    }
    bench->tables[WEIGHTS] = (struct feature_table){ .name = "weight",
                                                     .dtype = TR_F32,
                                                     .num_rows = edges,
                                                     .width = 1,
                                                     .row_bytes = sizeof(float),
                                                     .rows = bench->weights };
    bench->tables[MASK] = (struct feature_table){ .name = "mask",
                                                  .dtype = TR_U8,
                                                  .num_rows = edges,
                                                  .width = 1,
                                                  .row_bytes = 1,
                                                  .rows = bench->mask };
}

static int samplers_init(struct samplers_bench *bench, const struct biggraph *graph,
                         const struct bench_options *options, struct error *error)
{
    *bench = (struct samplers_bench){ .graph = graph,
                                      .part = graph->part,
                                      .edges = graph->edge,
                                      .num_nodes = { graph->node.num_nodes },
                                      /* Any row's draw fits, and those of Poisson in the mean. */
                                      .columns_max = UINT64_C(4) * ROWS * FANOUT };
    uint64_t edges = bench->edges.csc.num_edges;
    int rv = walk_init(&bench->walk, &graph->part, options->seed, error);
    if (rv != 0)
        return rv;
    const struct original_ids_of ids = { bench, read_ids, bench->num_nodes };
    bench->part.edges = &bench->edges;
    bench->edges.num_features = 2;
    bench->edges.features = bench->tables;
    bench->part.on_demand = on_demand_create(&bench->part, &ids);
    bench->weights = hotmem_alloc(edges * sizeof *bench->weights);
    bench->mask = hotmem_alloc(edges);
    bench->rows = hotmem_alloc(ROWS * sizeof *bench->rows);
    bench->counts = hotmem_alloc(ROWS * sizeof *bench->counts);
    bench->columns = hotmem_alloc(bench->columns_max * sizeof *bench->columns);
    bench->edge_weights = hotmem_alloc(bench->columns_max * sizeof *bench->edge_weights);
    if (bench->part.on_demand == NULL || bench->weights == NULL || bench->mask == NULL ||
        bench->rows == NULL || bench->counts == NULL || bench->columns == NULL ||
        bench->edge_weights == NULL) {
        samplers_fini(bench);
        return error_set(error, TR_ENOMEM, "samplers: out of memory");
    }
    fill_tables(bench, edges);
    return 0;
}

int samplers_bench(const struct bench_options *options, bench_emit *emit, void *arg,
                   struct error *error)
{
    struct biggraph graph;
    struct samplers_bench bench;
    int rv = biggraph_init(&graph, options->scale);
    if (rv != 0)
        return error_set(error, rv, "samplers: no graph of scale %g", options->scale);
    rv = samplers_init(&bench, &graph, options, error);
    if (rv == 0) {
        rv = emit_figures(&bench, options->rounds, emit, arg, error);
        samplers_fini(&bench);
    }
    biggraph_fini(&graph);
    return rv;
}
