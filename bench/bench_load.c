/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loading: a partition read into fresh memory with its files compared with their checksums, beside
 * the same without. Files lie in the page cache, where reading is fastest and summing costs most.
 */
#include "bench/benches.h"

#include <stdlib.h>

#include "bench/clock.h"
#include "bench/disk.h"
#include "partition/store/store.h"

struct loads {
    struct store *store;
    struct disk_graph graph;
};

static int load(const struct loads *loads, enum partition_check check, double *value,
                struct error *error)
{
    const struct partition_load what = {
        .mode = PARTITION_COPY, .check = check, .features = true, .degrees = true, .edge_rank = true
    };
    struct graph_part *part;
    double start = clock_thread();
    int rv = store_load(loads->store, 0, &what, &part, error);
    if (rv != 0)
        return rv;
    *value = (double)store_part_bytes(loads->store, 0, &what) / (clock_thread() - start);
    store_unload(loads->store, part);
    return 0;
}

static int measure_checked(void *arg, double *value, struct error *error)
{
    return load(arg, PARTITION_CHECK_COPIES, value, error);
}

static int measure_unchecked(void *arg, double *value, struct error *error)
{
    return load(arg, PARTITION_CHECK_NONE, value, error);
}

int load_bench(const struct bench_options *options, bench_emit *emit, void *arg,
               struct error *error)
{
    struct disk disk;
    struct loads loads = { .graph = disk_big(options->scale) };
    char *path = NULL;
    struct figure figure = { .name = "load_checked",
                             .unit = "bytes/s",
                             .goal = 0.9,
                             .reference = "loading without checksums" };
    int rv = disk_open(&disk, options, error);
    if (rv != 0)
        return rv;
    rv = disk_partition(&disk, &loads.graph, 1, &path, error);
    if (rv == 0)
        rv = store_open(path, &loads.store, error);
    if (rv == 0)
        rv = figure_pair(&figure, options->rounds, measure_checked, measure_unchecked, &loads,
                         error);
    if (rv == 0)
        emit(arg, &figure);
    store_close(loads.store);
    free(path);
    disk_close(&disk);
    return rv;
}
