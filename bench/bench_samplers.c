/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samplers, without actors and without relabelling: each draws for the same scattered rows of the
 * big graph, of which one partition has all. Uniform draws stand beside a bare loop that draws for as
 * many other rows (bench/reference_loops.h). Draws from eight edge types, one type after the other as
 * a batch draws them, stand beside as many draws from the same edges in one type. Draws
 * by weights and masks stand beside the uniform kernel, all of these in edges drawn; LABOR, which
 * reads rows whole, stands beside a bare loop that reads the same rows, makes the number of each
 * source and counts those below the threshold, in edges read.
 *
 * Original IDs are shuffled, so that LABOR's array is there. Weights are 1 to 64, a tenth of them 0.
 */
#include "bench/benches.h"

#include <string.h>

#include "bench/biggraph.h"
#include "bench/clock.h"
#include "bench/reference_loops.h"
#include "bench/typed_graph.h"
#include "bench/walk.h"
#include "graph/key.h"
#include "graph/local_sample.h"
#include "graph/on_demand.h"
#include "graph/samplers.h"
#include "runtime/base/hotmem.h"

/* Rows of one measurement: a tenth of a second and more. */
#define ROWS (64u * WALK_SEEDS)
#define FANOUT 10u
#define TYPED_FANOUT 2u /* of each edge type */
/* Edges that the bare scan keeps of a row: it is tens of times the fanout. */
#define KEPT_MAX 255u

enum { WEIGHTS, MASK };

struct samplers_bench {
    const struct biggraph *graph;
    struct typed_graph typed;
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

/* One draw for the rows by an edge type: the edges drawn, and the seconds that it took. */
static int draw_type(struct samplers_bench *bench, const struct graph_part *part, uint32_t etype,
                     uint32_t kind, const struct sample_term *term, uint64_t *edges, double *took,
                     struct error *error)
{
    const struct draw_key key = { .seed = 1, .batch = bench->next };
    const struct local_sample what = { .part = part,
                                       .draw = &key,
                                       .kind = kind,
                                       .etype = etype,
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
    *took = clock_thread() - start;
    *edges = result.num_edges;
    return rv == 0 ? 0 : error_set(error, rv, "samplers: drawing failed");
}

/* The same of the graph with one edge type, in edges a second. */
static int draw_rows(struct samplers_bench *bench, uint32_t kind, const struct sample_term *term,
                     double *value, struct error *error)
{
    uint64_t edges;
    double took;
    int rv = draw_type(bench, &bench->part, 0, kind, term, &edges, &took, error);
    if (rv == 0)
        *value = (double)(bench->by_edges_read ? edges_read(bench) : edges) / took;
    return rv;
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

/* Other rows than the draw before it, whose lines may still be cached; so with the two below. */
static int measure_bare(void *arg, double *value, struct error *error)
{
    struct samplers_bench *bench = arg;
    (void)error;
    deal_rows(bench);
    double start = clock_thread();
    uint64_t edges = reference_loops_draw(&bench->edges.csc, bench->rows, ROWS, FANOUT, bench->next,
                                          bench->counts, bench->columns);
    *value = (double)edges / (clock_thread() - start);
    return 0;
}

static int measure_typed(void *arg, double *value, struct error *error)
{
    const struct sample_term term = SAMPLE_TERM((int32_t)TYPED_FANOUT, false);
    struct samplers_bench *bench = arg;
    uint64_t edges = 0;
    double took = 0;
    int rv = 0;
    deal_rows(bench);
    for (uint32_t type = 0; type < TYPED_GRAPH_TYPES && rv == 0; type++) {
        uint64_t more;
        double longer;
        rv = draw_type(bench, &bench->typed.part, type, SAMPLE_UNIFORM, &term, &more, &longer,
                       error);
        edges += rv == 0 ? more : 0;
        took += rv == 0 ? longer : 0;
    }
    *value = (double)edges / took;
    return rv;
}

static int measure_untyped(void *arg, double *value, struct error *error)
{
    const struct sample_term term = SAMPLE_TERM((int32_t)(TYPED_FANOUT * TYPED_GRAPH_TYPES), false);
    struct samplers_bench *bench = arg;
    deal_rows(bench);
    return draw_rows(bench, SAMPLE_UNIFORM, &term, value, error);
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

static int emit_uniform(struct samplers_bench *bench, uint32_t rounds, bench_emit *emit, void *arg,
                        struct error *error)
{
    struct figure uniform = {
        .name = "samplers_uniform", .unit = "edges/s/core", .reference = "bare loop", .goal = 0.8
    };
    struct figure typed = {
        .name = "samplers_typed", .unit = "edges/s/core", .reference = "one edge type", .goal = 0.9
    };
    bench->kind = SAMPLE_UNIFORM;
    bench->term = SAMPLE_TERM((int32_t)FANOUT, false);
    int rv = figure_pair(&uniform, rounds, measure_ours, measure_bare, bench, error);
    if (rv != 0)
        return rv;
    emit(arg, &uniform);
    rv = typed_graph_init(&bench->typed, bench->graph);
    if (rv != 0)
        return error_set(error, rv, "samplers: out of memory");
    rv = figure_pair(&typed, rounds, measure_typed, measure_untyped, bench, error);
    typed_graph_fini(&bench->typed);
    if (rv == 0)
        emit(arg, &typed);
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
        rv = emit_uniform(&bench, options->rounds, emit, arg, error);
        if (rv == 0)
            rv = emit_figures(&bench, options->rounds, emit, arg, error);
        samplers_fini(&bench);
    }
    biggraph_fini(&graph);
    return rv;
}
