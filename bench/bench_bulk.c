/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bulk: bytes/s of pooled bodies that actors of one process send to one of another, over TCP
 * loopback: plain with a checksum a record, beside one stream of iperf3 (or a bare loop of writes
 * and reads where that is not installed); and through TLS, beside a bare loop of OpenSSL.
 */
#include "bench/benches.h"

#include "bench/reference_net.h"
#include "bench/remote_echo.h"

#define BODY_BYTES (UINT64_C(1) << 20)
#define WINDOW 16u
#define GOAL_TLS 1.5e9
#define BYTES (UINT64_C(4) << 30) /* of one measurement at scale 1: a second and more */
#define BYTES_MIN (UINT64_C(16) << 20)

struct bulk {
    struct remote_echo *echo;
    struct reference_net net;
    uint64_t bytes;
    bool tls;
};

static int measure_ours(void *arg, double *value, struct error *error)
{
    struct bulk *bulk = arg;
    struct remote_echo_result result;
    struct remote_echo_load load = { .calls = bulk->bytes / BODY_BYTES,
                                     .window = WINDOW,
                                     .request_bytes = BODY_BYTES };
    int rv = remote_echo_run(bulk->echo, &load, &result, error);
    *value = (double)load.calls * (double)BODY_BYTES / result.seconds;
    return rv;
}

static int measure_reference(void *arg, double *value, struct error *error)
{
    struct bulk *bulk = arg;
    double seconds = 1;
    int rv = reference_net_bulk(&bulk->net, bulk->tls, bulk->bytes, &seconds, error);
    *value = (double)bulk->bytes / seconds;
    return rv;
}

static int measure_iperf(void *arg, double *value, struct error *error)
{
    return reference_net_iperf(((struct bulk *)arg)->bytes, value, error);
}

static int measure_plain(struct bulk *bulk, const struct bench_options *options, bench_emit *emit,
                         void *arg, struct error *error)
{
    bool iperf = reference_net_has_iperf();
    struct figure figure = { .name = "bulk",
                             .unit = "bytes/s",
                             .goal = 1,
                             .reference = iperf ? "iperf3, one stream"
                                                : "bare loop of writes and reads" };
    int rv = figure_pair(&figure, options->rounds, measure_ours,
                         iperf ? measure_iperf : measure_reference, bulk, error);
    if (rv == 0)
        emit(arg, &figure);
    return rv;
}

static int measure_tls(struct bulk *bulk, const struct bench_options *options, bench_emit *emit,
                       void *arg, struct error *error)
{
    struct figure bare = {
        .name = "bulk_tls_bare", .unit = "bytes/s", .goal = 0.7, .reference = "bare OpenSSL loop"
    };
    int rv = figure_pair(&bare, options->rounds, measure_ours, measure_reference, bulk, error);
    if (rv != 0)
        return rv;
    emit(arg, &bare);
    struct figure figure = {
        .name = "bulk_tls", .unit = "bytes/s", .goal = 1, .reference = "goal"
    };
    rv = figure_against(&figure, options->rounds, measure_ours, bulk, GOAL_TLS, error);
    if (rv == 0)
        emit(arg, &figure);
    return rv;
}

int bulk_bench(const struct bench_options *options, bench_emit *emit, void *arg,
               struct error *error)
{
    struct bulk bulk = { .bytes = (uint64_t)(options->scale * (double)BYTES) };
    bulk.bytes = bulk.bytes < BYTES_MIN ? BYTES_MIN : bulk.bytes;
    int rv = reference_net_open(&bulk.net, error);
    for (int tls = 0; tls < 2 && rv == 0; tls++) {
        bulk.tls = tls;
        rv = remote_echo_open(tls, &bulk.echo, error);
        if (rv == 0)
            rv = (tls ? measure_tls : measure_plain)(&bulk, options, emit, arg, error);
        remote_echo_close(bulk.echo);
        bulk.echo = NULL;
    }
    reference_net_close(&bulk.net);
    return rv;
}
