/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Round trips/s between two actors of one loop: as plain messages, and as calls with a deadline
 * and a completion. The goal is a number, so the reference is the goal.
 */
#include "bench/benches.h"

#include "bench/bench_messages.h"

#define GOAL 5e6
#define ROUND_TRIPS 2e6 /* of one measurement at scale 1: less than half a second */
#define ROUND_TRIPS_MIN 10000.0

static uint64_t round_trips(const struct bench_options *options)
{
    double wanted = ROUND_TRIPS * options->scale;
    return (uint64_t)(wanted < ROUND_TRIPS_MIN ? ROUND_TRIPS_MIN : wanted);
}

static int measure_plain(void *arg, double *value, struct error *error)
{
    return bench_roundtrip(round_trips(arg), value, error);
}

static int measure_call(void *arg, double *value, struct error *error)
{
    return bench_call_roundtrip(round_trips(arg), value, error);
}

int roundtrip_bench(const struct bench_options *options, bench_emit *emit, void *arg,
                    struct error *error)
{
    struct bench_options copy = *options;
    struct figure plain = {
        .name = "roundtrip", .unit = "round trips/s", .reference = "goal", .goal = 1
    };
    int rv = figure_against(&plain, options->rounds, measure_plain, &copy, GOAL, error);
    if (rv != 0)
        return rv;
    emit(arg, &plain);
    struct figure call = { .name = "roundtrip_call",
                           .unit = "round trips/s",
                           .reference = "plain messages",
                           .goal = 0.3 };
    rv = figure_pair(&call, options->rounds, measure_call, measure_plain, &copy, error);
    if (rv == 0)
        emit(arg, &call);
    return rv;
}
