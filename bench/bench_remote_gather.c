/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of a feature that a server of another process gathers and that come over TCP loopback,
 * beside one stream of iperf3, or a bare loop of writes and reads where that is not installed.
 */
#include "bench/benches.h"

#include <stdlib.h>

#include "bench/bench_job.h"
#include "bench/clock.h"
#include "bench/disk.h"
#include "bench/reference_net.h"
#include "graph/key.h"

#define GOAL 0.7
#define ROWS (1u << 16) /* of one fetch */
#define WAIT_NS INT64_C(120000000000)
#define BYTES (UINT64_C(4) << 30) /* of one measurement at scale 1 */
#define BYTES_MIN (UINT64_C(16) << 20)

struct remote {
    struct bench_job job;
    struct reference_net net;
    uint64_t bytes, seed;
    uint32_t feature_bytes;
    uint64_t *ids;
    char *rows;
};

static int measure_ours(void *arg, double *value, struct error *error)
{
    struct tr_error why = TR_ERROR_INIT;
    struct remote *remote = arg;
    uint64_t turn_bytes = (uint64_t)ROWS * remote->feature_bytes;
    uint64_t turns = (remote->bytes + turn_bytes - 1) / turn_bytes;
    int rv = 0;
    double start = clock_wall();
    for (uint64_t i = 0; i < turns && rv == 0; i++)
        rv = tr_graph_fetch(remote->job.graph, 0, "feat", remote->ids, ROWS, WAIT_NS, remote->rows,
                            &why);
    *value = (double)(turns * turn_bytes) / (clock_wall() - start);
    return rv == 0 ? 0 : error_set(error, rv, "%s", why.message);
}

static int measure_reference(void *arg, double *value, struct error *error)
{
    struct remote *remote = arg;
    double seconds = 1;
    int rv = reference_net_bulk(&remote->net, false, remote->bytes, &seconds, error);
    *value = (double)remote->bytes / seconds;
    return rv;
}

static int measure_iperf(void *arg, double *value, struct error *error)
{
    return reference_net_iperf(((struct remote *)arg)->bytes, value, error);
}

/* Nodes anywhere in the table. */
static int draw_ids(struct remote *remote, struct error *error)
{
    struct tr_error why = TR_ERROR_INIT;
    struct tr_feature_info info = TR_FEATURE_INFO_INIT;
    int rv = tr_graph_find_feature(remote->job.graph, 0, "feat", &info, &why);
    if (rv != 0)
        return error_set(error, rv, "%s", why.message);
    uint64_t num_nodes = tr_graph_num_nodes(remote->job.graph, 0);
    remote->feature_bytes = (uint32_t)info.row_bytes;
    remote->ids = calloc(ROWS, sizeof *remote->ids);
    remote->rows = malloc((size_t)ROWS * info.row_bytes);
    if (remote->ids == NULL || remote->rows == NULL)
        return error_set(error, TR_ENOMEM, "out of memory");
    for (uint32_t i = 0; i < ROWS; i++)
        remote->ids[i] = key_draw(remote->seed, i) % num_nodes;
    return 0;
}

static int measure(struct remote *remote, const struct bench_options *options, bench_emit *emit,
                   void *arg, struct error *error)
{
    bool iperf = reference_net_has_iperf();
    struct figure figure = { .name = "remote_gather",
                             .unit = "bytes/s",
                             .goal = GOAL,
                             .reference = iperf ? "iperf3, one stream"
                                                : "bare loop of writes and reads" };
    int rv = draw_ids(remote, error);
    if (rv == 0)
        rv = figure_pair(&figure, options->rounds, measure_ours,
                         iperf ? measure_iperf : measure_reference, remote, error);
    if (rv == 0)
        emit(arg, &figure);
    free(remote->ids);
    free(remote->rows);
    return rv;
}

int remote_gather_bench(const struct bench_options *options, bench_emit *emit, void *arg,
                        struct error *error)
{
    struct remote remote = { .seed = options->seed,
                             .bytes = (uint64_t)(options->scale * (double)BYTES) };
    struct disk_graph graph = disk_big(options->scale);
    struct disk disk;
    char *path = NULL;
    remote.bytes = remote.bytes < BYTES_MIN ? BYTES_MIN : remote.bytes;
    int rv = disk_open(&disk, options, error);
    if (rv != 0)
        return rv;
    rv = disk_partition(&disk, &graph, 1, &path, error);
    disk_rest(&disk);
    if (rv == 0)
        rv = reference_net_open(&remote.net, error);
    if (rv == 0)
        rv = job_open(&remote.job, JOB_SERVED, 2, path, false, options->seed, error);
    if (rv == 0) {
        rv = measure(&remote, options, emit, arg, error);
        job_close(&remote.job);
    }
    reference_net_close(&remote.net);
    free(path);
    disk_close(&disk);
    return rv;
}
