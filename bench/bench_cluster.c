/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whole batches over several processes of this machine, on two loops in all:
 *
 *     cluster_loader         two server processes, all by messages over TCP loopback, beside bare
 *                            loops that sample, gather, send and read; by wall clock
 *     cluster_loader_core    the same by CPU time, which a neighbour does not take away
 *     cluster_loader_mapped  two processes that serve, sample and train, and map each other's files
 *     cluster_mapped_core    the same by CPU time
 *     cluster_epoch          their epoch beside that of one process with as many loops
 */
#include "bench/benches.h"

#include <stdlib.h>

#include "bench/bench_job.h"
#include "bench/clock.h"
#include "bench/disk.h"
#include "bench/loading.h"
#include "bench/reference_job.h"
#include "bench/walk.h"

#define GOAL 0.65
#define GOAL_MAPPED 16e6
#define GOAL_EPOCH 1.3
#define LOOPS 2u

struct cluster_pair {
    struct bench_job job;
    struct reference_job bare;
    struct loading *alone; /* one process */
    double epoch_batches;
};

/* From a window that is full to a full one. */
static int take_ours(struct cluster_pair *pair, double *wall, double *core, struct error *error)
{
    uint64_t edges;
    int rv = job_take(&pair->job, WALK_BATCHES / 4, &edges, error);
    double start = clock_wall(), cpu = job_cpu(&pair->job);
    if (rv == 0)
        rv = job_take(&pair->job, WALK_BATCHES, &edges, error);
    *wall = (double)edges / (clock_wall() - start);
    *core = (double)edges / (job_cpu(&pair->job) - cpu);
    return rv;
}

static int take_reference(struct cluster_pair *pair, double *wall, double *core,
                          struct error *error)
{
    uint64_t edges;
    double start = clock_wall(), cpu = reference_job_cpu(&pair->bare);
    int rv = reference_job_take(&pair->bare, WALK_BATCHES, &edges, error);
    *wall = (double)edges / (clock_wall() - start);
    *core = (double)edges / (reference_job_cpu(&pair->bare) - cpu);
    return rv;
}

static int measure_ours(void *arg, double *value, struct error *error)
{
    double core;
    return take_ours(arg, value, &core, error);
}

static int measure_reference(void *arg, double *value, struct error *error)
{
    double core;
    return take_reference(arg, value, &core, error);
}

static int measure_ours_core(void *arg, double *value, struct error *error)
{
    double wall;
    return take_ours(arg, &wall, value, error);
}

static int measure_bare_core(void *arg, double *value, struct error *error)
{
    double wall;
    return take_reference(arg, &wall, value, error);
}

static int emit_served(struct cluster_pair *pair, const struct bench_options *options,
                       bench_emit *emit, void *arg, struct error *error)
{
    struct figure wall = { .name = "cluster_loader",
                           .unit = "edges/s",
                           .goal = GOAL,
                           .reference = "bare loops: sample, gather, send, read" };
    struct figure core = wall;
    int rv = figure_pair(&wall, options->rounds, measure_ours, measure_reference, pair, error);
    if (rv != 0)
        return rv;
    emit(arg, &wall);
    core.name = "cluster_loader_core";
    core.unit = "edges/s/core";
    rv = figure_pair(&core, options->rounds, measure_ours_core, measure_bare_core, pair, error);
    if (rv == 0)
        emit(arg, &core);
    return rv;
}

/* The rates of all trainers together: edges and batches a second, and edges a second and core. */
struct cluster_rates {
    double edges, batches, core;
};

static int take_shared(struct cluster_pair *pair, struct cluster_rates *rates, struct error *error)
{
    uint64_t mine;
    job_go(&pair->job, true);
    int rv = job_take(&pair->job, WALK_BATCHES / 4, &mine, error);
    uint64_t edges = job_others_edges(&pair->job), batches = job_others_batches(&pair->job);
    double start = clock_wall(), cpu = job_cpu(&pair->job);
    if (rv == 0)
        rv = job_take(&pair->job, WALK_BATCHES, &mine, error);
    double seconds = clock_wall() - start;
    cpu = job_cpu(&pair->job) - cpu;
    edges = job_others_edges(&pair->job) - edges + mine;
    batches = job_others_batches(&pair->job) - batches + WALK_BATCHES;
    job_go(&pair->job, false);
    *rates = (struct cluster_rates){ (double)edges / seconds, (double)batches / seconds,
                                     (double)edges / cpu };
    return rv;
}

static int measure_mapped(void *arg, double *value, struct error *error)
{
    struct cluster_rates rates;
    int rv = take_shared(arg, &rates, error);
    *value = rates.edges;
    return rv;
}

static int measure_mapped_core(void *arg, double *value, struct error *error)
{
    struct cluster_rates rates;
    int rv = take_shared(arg, &rates, error);
    *value = rates.core;
    return rv;
}

static int measure_epoch(void *arg, double *value, struct error *error)
{
    struct cluster_pair *pair = arg;
    struct cluster_rates rates;
    int rv = take_shared(pair, &rates, error);
    *value = pair->epoch_batches / rates.batches;
    return rv;
}

static int measure_alone(void *arg, double *value, struct error *error)
{
    struct cluster_pair *pair = arg;
    uint64_t edges;
    int rv = loading_take(pair->alone, WALK_BATCHES / 4, &edges, error);
    double start = clock_wall();
    if (rv == 0)
        rv = loading_take(pair->alone, 2 * WALK_BATCHES, &edges, error);
    *value = pair->epoch_batches * (clock_wall() - start) / (2.0 * (double)WALK_BATCHES);
    return rv;
}

static int emit_shared(struct cluster_pair *pair, const struct bench_options *options,
                       const char *graph, bench_emit *emit, void *arg, struct error *error)
{
    struct figure mapped = {
        .name = "cluster_loader_mapped", .unit = "edges/s", .goal = 1, .reference = "goal"
    };
    struct figure epoch = { .name = "cluster_epoch",
                            .unit = "seconds",
                            .goal = GOAL_EPOCH,
                            .lower_is_better = true,
                            .reference = "one process with as many loops" };
    int rv = figure_against(&mapped, options->rounds, measure_mapped, pair, GOAL_MAPPED, error);
    if (rv != 0)
        return rv;
    emit(arg, &mapped);
    mapped.name = "cluster_mapped_core";
    mapped.unit = "edges/s/core";
    rv = figure_against(&mapped, options->rounds, measure_mapped_core, pair, GOAL_MAPPED / LOOPS,
                        error);
    if (rv != 0)
        return rv;
    emit(arg, &mapped);
    pair->epoch_batches = (double)tr_nodes_count(pair->job.nodes) / WALK_SEEDS;
    rv = loading_open(graph, LOOPS, options->seed, &pair->alone, error);
    if (rv != 0)
        return rv;
    rv = figure_pair(&epoch, options->rounds, measure_epoch, measure_alone, pair, error);
    loading_close(pair->alone);
    if (rv == 0)
        emit(arg, &epoch);
    return rv;
}

static int cluster_measure(const char *whole, const char *halves,
                           const struct bench_options *options, bench_emit *emit, void *arg,
                           struct error *error)
{
    struct cluster_pair pair = { .alone = NULL };
    int rv = reference_job_open(&pair.bare, whole, options->seed, error);
    if (rv != 0)
        return rv;
    rv = job_open(&pair.job, JOB_SERVED, LOOPS + 1, halves, true, options->seed, error);
    if (rv == 0) {
        rv = emit_served(&pair, options, emit, arg, error);
        job_close(&pair.job);
    }
    reference_job_close(&pair.bare);
    if (rv == 0)
        rv = job_open(&pair.job, JOB_SHARED, LOOPS, halves, true, options->seed, error);
    if (rv == 0) {
        rv = emit_shared(&pair, options, whole, emit, arg, error);
        job_close(&pair.job);
    }
    return rv;
}

int cluster_bench(const struct bench_options *options, bench_emit *emit, void *arg,
                  struct error *error)
{
    struct disk disk;
    struct disk_graph graph = disk_big(options->scale);
    char *whole = NULL, *halves = NULL;
    int rv = disk_open(&disk, options, error);
    if (rv != 0)
        return rv;
    rv = disk_partition(&disk, &graph, 1, &whole, error);
    if (rv == 0)
        rv = disk_partition(&disk, &graph, LOOPS, &halves, error);
    disk_rest(&disk);
    if (rv == 0)
        rv = cluster_measure(whole, halves, options, emit, arg, error);
    free(whole);
    free(halves);
    disk_close(&disk);
    return rv;
}
