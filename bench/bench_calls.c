/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Small calls between two processes over TCP loopback: the median of one at a time, beside a bare
 * ping-pong of as many bytes with epoll, with the two processes on two cores, and both on one; and
 * calls/s with 256 under way.
 */
#include "config.h" /* cpu_set_t */

#include "bench/benches.h"

#include "bench/cores.h"
#include "bench/reference_net.h"
#include "bench/remote_echo.h"

#define BYTES 88u /* of a record with its frame and the head of 8 bytes */
#define TRIPS 40000.0
#define TRIPS_MIN 500.0
#define WINDOW 256u
#define GOAL 1e6
#define CALLS 2e6
#define CALLS_MIN 10000.0

struct call_bench {
    struct remote_echo *echo;
    struct reference_net net;
    double scale;
};

static uint64_t count(const struct call_bench *calls, double full, double least)
{
    double wanted = full * calls->scale;
    return (uint64_t)(wanted < least ? least : wanted);
}

static int measure_one(void *arg, double *value, struct error *error)
{
    struct call_bench *calls = arg;
    struct remote_echo_result result = { 0 };
    struct remote_echo_load load = { .calls = count(calls, TRIPS, TRIPS_MIN), .window = 1 };
    int rv = remote_echo_run(calls->echo, &load, &result, error);
    *value = result.median;
    return rv;
}

static int measure_reference(void *arg, double *value, struct error *error)
{
    struct call_bench *calls = arg;
    return reference_net_ping(&calls->net, (uint32_t)count(calls, TRIPS, TRIPS_MIN), BYTES, value,
                              error);
}

static int measure_many(void *arg, double *value, struct error *error)
{
    struct call_bench *calls = arg;
    struct remote_echo_result result = { .seconds = 1 };
    struct remote_echo_load load = { .calls = count(calls, CALLS, CALLS_MIN), .window = WINDOW };
    int rv = remote_echo_run(calls->echo, &load, &result, error);
    *value = (double)load.calls / result.seconds;
    return rv;
}

static int open_both(struct call_bench *calls, struct error *error)
{
    int rv = reference_net_open(&calls->net, error);
    return rv == 0 ? remote_echo_open(false, &calls->echo, error) : rv;
}

static void close_both(struct call_bench *calls)
{
    remote_echo_close(calls->echo);
    reference_net_close(&calls->net);
    calls->echo = NULL;
}

/* The other processes are started on their core, and then this one goes to its own. */
static int measure_pinned(struct call_bench *calls, const struct cores *cores, int other_core,
                          struct figure *figure, uint32_t rounds, struct error *error)
{
    int rv = cores_use(other_core, error);
    if (rv == 0)
        rv = open_both(calls, error);
    if (rv == 0)
        rv = cores_use(cores->first, error);
    if (rv == 0)
        rv = figure_pair(figure, rounds, measure_one, measure_reference, calls, error);
    close_both(calls);
    cores_end(cores);
    return rv;
}

static int measure_latency(struct call_bench *calls, const struct bench_options *options,
                           bench_emit *emit, void *arg, struct error *error)
{
    struct cores cores;
    int rv = cores_begin(&cores, error);
    for (int shared = cores.second == cores.first; shared < 2 && rv == 0; shared++) {
        struct figure figure = { .name = shared ? "calls_one_core" : "calls",
                                 .unit = "seconds",
                                 .goal = 1.3,
                                 .lower_is_better = true,
                                 .reference = shared ? "bare ping-pong with epoll, there too"
                                                     : "bare ping-pong with epoll" };
        rv = measure_pinned(calls, &cores, shared ? cores.first : cores.second, &figure,
                            options->rounds, error);
        if (rv == 0)
            emit(arg, &figure);
    }
    return rv;
}

static int measure_rate(struct call_bench *calls, const struct bench_options *options,
                        bench_emit *emit, void *arg, struct error *error)
{
    struct figure many = {
        .name = "calls_many", .unit = "calls/s", .goal = 1, .reference = "goal"
    };
    int rv = remote_echo_open(false, &calls->echo, error);
    if (rv == 0)
        rv = figure_against(&many, options->rounds, measure_many, calls, GOAL, error);
    if (rv == 0)
        emit(arg, &many);
    remote_echo_close(calls->echo);
    calls->echo = NULL;
    return rv;
}

int calls_bench(const struct bench_options *options, bench_emit *emit, void *arg,
                struct error *error)
{
    struct call_bench calls = { .scale = options->scale };
    int rv = measure_latency(&calls, options, emit, arg, error);
    return rv == 0 ? measure_rate(&calls, options, emit, arg, error) : rv;
}
