/*
 * Small calls between two processes over TCP loopback: the median of one at a time, beside a bare
 * ping-pong of as many bytes with epoll; and calls/s with 256 under way.
 */
#include "bench/benches.h"

#include "bench/bare_net.h"
#include "bench/talk.h"

#define BYTES 88u /* of a record with its frame and the head of 8 bytes */
#define TRIPS 40000.0
#define TRIPS_MIN 500.0
#define WINDOW 256u
#define GOAL 1e6
#define CALLS 2e6
#define CALLS_MIN 10000.0

struct calls {
    struct talk *talk;
    struct bare_net net;
    double scale;
};

static uint64_t count(const struct calls *calls, double full, double least)
{
    double wanted = full * calls->scale;
    return (uint64_t)(wanted < least ? least : wanted);
}

static int measure_one(void *arg, double *value, struct error *error)
{
    struct calls *calls = arg;
    struct talk_result result = { 0 };
    struct talk_load load = { .calls = count(calls, TRIPS, TRIPS_MIN), .window = 1 };
    int rv = talk_run(calls->talk, &load, &result, error);
    *value = result.median;
    return rv;
}

static int measure_bare(void *arg, double *value, struct error *error)
{
    struct calls *calls = arg;
    return bare_net_ping(&calls->net, (uint32_t)count(calls, TRIPS, TRIPS_MIN), BYTES, value,
                         error);
}

static int measure_many(void *arg, double *value, struct error *error)
{
    struct calls *calls = arg;
    struct talk_result result = { .seconds = 1 };
    struct talk_load load = { .calls = count(calls, CALLS, CALLS_MIN), .window = WINDOW };
    int rv = talk_run(calls->talk, &load, &result, error);
    *value = (double)load.calls / result.seconds;
    return rv;
}

static int measure(struct calls *calls, const struct bench_options *options, bench_emit *emit,
                   void *arg, struct error *error)
{
    struct figure one = { .name = "calls", .unit = "seconds", .goal = 1.3,
                          .lower_is_better = true,
                          .reference = "bare ping-pong with epoll" };
    int rv = figure_pair(&one, options->rounds, measure_one, measure_bare, calls, error);
    if (rv != 0)
        return rv;
    emit(arg, &one);
    struct figure many = { .name = "calls_many", .unit = "calls/s", .goal = 1,
                           .reference = "goal" };
    rv = figure_against(&many, options->rounds, measure_many, calls, GOAL, error);
    if (rv == 0)
        emit(arg, &many);
    return rv;
}

int calls_bench(const struct bench_options *options, bench_emit *emit, void *arg,
                struct error *error)
{
    struct calls calls = { .scale = options->scale };
    int rv = bare_net_open(&calls.net, error);
    if (rv != 0)
        return rv;
    rv = talk_open(false, &calls.talk, error);
    if (rv == 0)
        rv = measure(&calls, options, emit, arg, error);
    talk_close(calls.talk);
    bare_net_close(&calls.net);
    return rv;
}
