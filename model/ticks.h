/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time in which this process ran: a clock that stands still while the process is stopped.
 *
 * It is read in short waits, and one that took much longer than it should counts as one that did
 * not: the process was stopped (SIGSTOP, a debugger, a laptop's lid), or the machine was.
 *
 * Thread rules: one thread.
 */
#ifndef MODEL_TICKS_H
#define MODEL_TICKS_H

#include <stdint.h>
#include <time.h>

/* The most that one wait counts: a loaded machine may be that late, and more is progress still. */
#define TICKS_AT_ONCE_NS UINT64_C(500000000)

struct ticks {
    uint64_t counted_ns;
    uint64_t at_ns; /* when it was read last */
};

static inline uint64_t ticks_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

static inline void ticks_init(struct ticks *ticks)
{
    *ticks = (struct ticks){ .at_ns = ticks_now_ns() };
}

/* The time that has passed since the last call; at most TICKS_AT_ONCE_NS. */
static inline uint64_t ticks_read(struct ticks *ticks)
{
    uint64_t now_ns = ticks_now_ns(), passed_ns = now_ns - ticks->at_ns;
    passed_ns = passed_ns < TICKS_AT_ONCE_NS ? passed_ns : TICKS_AT_ONCE_NS;
    ticks->at_ns = now_ns;
    ticks->counted_ns += passed_ns;
    return passed_ns;
}

/* Sleeps for less than TICKS_AT_ONCE_NS. */
static inline void ticks_wait(struct ticks *ticks, uint64_t ns)
{
    nanosleep(&(struct timespec){ .tv_nsec = (long)ns }, NULL);
    ticks_read(ticks);
}

#endif
