/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Partitioning. With METIS: everything around METIS's own time, beside that time. At random: the
 * seconds for 40 million edges into 2 parts, and the memory of the big graph into 4, beside goals
 * that are numbers. Time that METIS takes and what is around it come from the same run.
 */
#include "bench/benches.h"

#include <stdlib.h>

#include "bench/bench_child.h"
#include "bench/biggraph.h"
#include "bench/clock.h"
#include "bench/disk.h"
#include "partition/build/partition.h"
#include "runtime/core/crew.h"

#define METIS_NODES 1e6 /* at scale 1 */
#define METIS_EDGES 12e6
#define RANDOM_EDGES 40e6
#define RANDOM_GOAL_S 6.0
#define MEMORY_GOAL 20.0
/* METIS is slow, and what is around it is of the same run: few runs tell enough. */
#define ROUNDS_MAX 3u
/* Small graphs are scheduled rather than partitioned. */
#define NODES_MIN 2000.0

struct partitioning {
    struct disk *disk;
    const char *raw;
    struct partition_options options;
    struct partition_report report;
};

static int partition_now(struct partitioning *partitioning, struct error *error)
{
    struct raw_graph *raw;
    char *out;
    int rv = disk_spare(partitioning->disk, &out, error);
    if (rv != 0)
        return rv;
    rv = raw_open(partitioning->raw, NULL, &raw, error);
    if (rv == 0) {
        rv = partition_graph(raw, &partitioning->options, out, partitioning->disk->parallel, NULL,
                             &partitioning->report, error);
        raw_close(raw);
        files_remove_tree(files_posix, out, NULL);
    }
    free(out);
    return rv;
}

/* METIS first, so that the pair's reference is of the run that ours is taken from next. */
static int measure_metis(void *arg, double *value, struct error *error)
{
    struct partitioning *partitioning = arg;
    int rv = partition_now(partitioning, error);
    *value = partitioning->report.metis_seconds;
    return rv;
}

static int measure_around(void *arg, double *value, struct error *error)
{
    (void)error;
    const struct partition_report *report = &((struct partitioning *)arg)->report;
    *value = report->total_seconds - report->metis_seconds;
    return 0;
}

static int measure_seconds(void *arg, double *value, struct error *error)
{
    double start = clock_wall();
    int rv = partition_now(arg, error);
    *value = clock_wall() - start;
    return rv;
}

static int measure_memory(void *arg, double *value, struct error *error)
{
    struct partitioning *partitioning = arg;
    /* Threads do not come along into a child. */
    struct disk disk = *partitioning->disk;
    uint64_t before = child_resident();
    disk.parallel = crew_parallel_create(partitioning->disk->parallel->workers - 1);
    if (disk.parallel == NULL)
        return error_set(error, TR_ENOMEM, "out of memory or threads");
    partitioning->disk = &disk;
    int rv = partition_now(partitioning, error);
    uint64_t edges = partitioning->report.num_edges;
    *value = (double)(child_resident_peak() - before) / (double)(edges > 0 ? edges : 1);
    return rv;
}

static int measure_memory_here(void *arg, double *value, struct error *error)
{
    return child_measure(measure_memory, arg, value, error);
}

static int partition_metis(struct disk *disk, const struct bench_options *options,
                           struct figure *figure, struct error *error)
{
    double nodes = METIS_NODES * options->scale;
    struct disk_graph graph = { .blocks = true,
                                .features = 100,
                                .num_nodes = (uint64_t)(nodes < NODES_MIN ? NODES_MIN : nodes),
                                .num_edges = (uint64_t)(METIS_EDGES * options->scale) };
    char *raw;
    int rv = disk_raw(disk, &graph, &raw, error);
    if (rv != 0)
        return rv;
    struct partitioning partitioning = { .disk = disk,
                                         .raw = raw,
                                         .options = { .method = PARTITION_METIS,
                                                      .num_parts = 4,
                                                      .halo_hops = 1,
                                                      .seed = options->seed } };
    uint32_t rounds = options->rounds < ROUNDS_MAX ? options->rounds : ROUNDS_MAX;
    rv = figure_pair(figure, rounds, measure_around, measure_metis, &partitioning, error);
    free(raw);
    return rv;
}

static int partition_random(struct disk *disk, const struct bench_options *options, double scale,
                            uint32_t parts, figure_measure *measure, uint32_t rounds,
                            double reference, struct figure *figure, struct error *error)
{
    struct disk_graph graph = disk_big(scale);
    char *raw;
    int rv = disk_raw(disk, &graph, &raw, error);
    if (rv != 0)
        return rv;
    struct partitioning partitioning = { .disk = disk,
                                         .raw = raw,
                                         .options = { .method = PARTITION_RANDOM,
                                                      .num_parts = parts,
                                                      .halo_hops = 1,
                                                      .seed = options->seed } };
    rv = figure_against(figure, rounds, measure, &partitioning, reference, error);
    free(raw);
    return rv;
}

static int emit_figures(struct disk *disk, const struct bench_options *options, bench_emit *emit,
                        void *arg, struct error *error)
{
    struct figure metis = { .name = "partition",
                            .unit = "s",
                            .goal = 0.25,
                            .reference = "METIS's own time",
                            .lower_is_better = true };
    int rv = partition_metis(disk, options, &metis, error);
    if (rv != 0)
        return rv;
    emit(arg, &metis);
    struct figure seconds = { .name = "partition_random",
                              .unit = "s",
                              .goal = 1,
                              .reference = "goal",
                              .lower_is_better = true };
    rv = partition_random(disk, options, options->scale * RANDOM_EDGES / (double)BIGGRAPH_EDGES, 2,
                          measure_seconds, options->rounds, RANDOM_GOAL_S * options->scale,
                          &seconds, error);
    if (rv != 0)
        return rv;
    emit(arg, &seconds);
    struct figure memory = { .name = "partition_memory",
                             .unit = "bytes/edge",
                             .goal = 1,
                             .reference = "goal",
                             .lower_is_better = true };
    rv = partition_random(disk, options, options->scale, 4, measure_memory_here, 1, MEMORY_GOAL,
                          &memory, error);
    if (rv == 0)
        emit(arg, &memory);
    return rv;
}

int partition_bench(const struct bench_options *options, bench_emit *emit, void *arg,
                    struct error *error)
{
    struct disk disk;
    int rv = disk_open(&disk, options, error);
    if (rv != 0)
        return rv;
    rv = emit_figures(&disk, options, emit, arg, error);
    disk_close(&disk);
    return rv;
}
