/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fan-in: messages/s that many actors of the other loops bring to one actor of the first. The goal
 * is a number, so the reference is the goal.
 */
#include "bench/benches.h"

#include <unistd.h>

#include "bench/bench_messages.h"

#define GOAL 15e6
#define SENDERS 32u
#define MESSAGES_MIN 10000.0
#define MESSAGES 4e6 /* of one measurement at scale 1: a quarter of a second */

static int measure(void *arg, double *value, struct error *error)
{
    const struct bench_options *options = arg;
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    /* More loops than cores would measure the scheduler. */
    uint32_t loops = cores > 4 ? 4 : cores < 2 ? 2 : (uint32_t)cores;
    double messages = MESSAGES * options->scale;
    return bench_fanin(loops, SENDERS,
                       (uint64_t)(messages < MESSAGES_MIN ? MESSAGES_MIN : messages), value, error);
}

int fanin_bench(const struct bench_options *options, bench_emit *emit, void *arg,
                struct error *error)
{
    struct bench_options copy = *options;
    struct figure figure = {
        .name = "fanin", .unit = "messages/s", .reference = "goal", .goal = 1
    };
    int rv = figure_against(&figure, options->rounds, measure, &copy, GOAL, error);
    if (rv == 0)
        emit(arg, &figure);
    return rv;
}
