/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Clocks of the benchmarks, in seconds.
 *
 * Thread rules: any thread; clock_thread counts the calling one.
 */
#ifndef BENCH_CLOCK_H
#define BENCH_CLOCK_H

#include <time.h>

static inline double clock_seconds(clockid_t id)
{
    struct timespec time;
    clock_gettime(id, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static inline double clock_wall(void)
{
    return clock_seconds(CLOCK_MONOTONIC);
}

/* CPU time of the calling thread; of all threads of the process. */
static inline double clock_thread(void)
{
    return clock_seconds(CLOCK_THREAD_CPUTIME_ID);
}

static inline double clock_process(void)
{
    return clock_seconds(CLOCK_PROCESS_CPUTIME_ID);
}

#endif
