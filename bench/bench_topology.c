/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Topology: resident bytes an edge of a loaded partition, all that sampling reads (row bounds,
 * columns, original IDs, ranks), beside the 4 bytes of a column. And the memory of a whole server:
 * its peak from start to readiness, beside the files it serves.
 */
#include "bench/benches.h"

#include <stdlib.h>

#include <troupe/graph.h>
#include <troupe/session.h>

#include "bench/bench_child.h"
#include "bench/disk.h"
#include "partition/store/store.h"

struct topology {
    struct disk_graph graph;
    const char *path;
    double file_bytes;
};

static int measure_topology(void *arg, double *value, struct error *error)
{
    const struct topology *topology = arg;
    const struct partition_load load = { .mode = PARTITION_COPY, .edge_rank = true };
    struct store *store;
    struct graph_part *part;
    int rv = store_open(topology->path, &store, error);
    if (rv != 0)
        return rv;
    uint64_t before = child_resident();
    rv = store_load(store, 0, &load, &part, error);
    if (rv == 0) {
        uint64_t edges = part->edges[0].csc.num_edges;
        *value = (double)(child_resident() - before) / (double)edges;
        store_unload(store, part);
    }
    store_close(store);
    return rv;
}

/* The bytes of a partition that a session reads. */
static int count_file_bytes(struct topology *topology, struct error *error)
{
    const struct partition_load load = { .features = true, .degrees = true };
    struct store *store;
    int rv = store_open(topology->path, &store, error);
    if (rv != 0)
        return rv;
    topology->file_bytes = (double)store_part_bytes(store, 0, &load);
    store_close(store);
    return 0;
}

static int measure_server(void *arg, double *value, struct error *error)
{
    struct tr_error why = TR_ERROR_INIT;
    const struct topology *topology = arg;
    struct tr_session_options options;
    struct tr_session *session;
    struct tr_graph *graph = NULL;
    uint64_t before = child_resident();
    tr_session_options_init(&options);
    options.loops = options.samplers = 1;
    int rv = tr_session_open(&options, &session, &why);
    if (rv == 0)
        rv = tr_graph_open(session, topology->path, TR_WAIT_FOREVER, &graph, &why);
    if (rv != 0)
        error_set(error, rv, "%s", why.message);
    *value = (double)(child_resident_peak() - before);
    tr_graph_close(graph);
    tr_session_close(session);
    return rv;
}

static int measure_server_here(void *arg, double *value, struct error *error)
{
    return child_measure(measure_server, arg, value, error);
}

static int measure_topology_here(void *arg, double *value, struct error *error)
{
    return child_measure(measure_topology, arg, value, error);
}

static int emit_figures(struct topology *topology, bench_emit *emit, void *arg, struct error *error)
{
    struct figure bytes = { .name = "topology",
                            .unit = "bytes/edge",
                            .goal = 1.13,
                            .reference = "the bytes of a column",
                            .lower_is_better = true };
    /* Memory is no matter of luck: one round says it. */
    int rv = figure_against(&bytes, 1, measure_topology_here, topology, 4, error);
    if (rv != 0)
        return rv;
    emit(arg, &bytes);
    struct figure server = { .name = "server_memory",
                             .unit = "bytes",
                             .goal = 1.1,
                             .reference = "its files",
                             .lower_is_better = true };
    rv = count_file_bytes(topology, error);
    if (rv == 0)
        rv = figure_against(&server, 1, measure_server_here, topology, topology->file_bytes, error);
    if (rv == 0)
        emit(arg, &server);
    return rv;
}

int topology_bench(const struct bench_options *options, bench_emit *emit, void *arg,
                   struct error *error)
{
    struct disk disk;
    struct topology topology = { .graph = disk_big(options->scale) };
    char *path;
    int rv = disk_open(&disk, options, error);
    if (rv != 0)
        return rv;
    rv = disk_partition(&disk, &topology.graph, 1, &path, error);
    if (rv != 0)
        goto out;
    topology.path = path;
    rv = emit_figures(&topology, emit, arg, error);
    free(path);
out:
    disk_close(&disk);
    return rv;
}
