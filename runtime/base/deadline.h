/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Until when a thread waits: a time of CLOCK_MONOTONIC, or no end. A timeout becomes a deadline
 * once, at the beginning of a call, so that wake-ups in between do not make it longer.
 *
 * Ownership: plain values. Thread rules: any thread.
 */
#ifndef RUNTIME_BASE_DEADLINE_H
#define RUNTIME_BASE_DEADLINE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

struct deadline {
    bool never; /* there is no end */
    struct timespec at;
};

/* So long from now on; below 0, or so long that no sum of times may be made of it: no end. */
struct deadline deadline_after(int64_t timeout_ns);
/* A time of CLOCK_MONOTONIC, as env_now_ns() of the real env counts; UINT64_MAX: no end. */
struct deadline deadline_at(uint64_t now_ns);

/* Fills how long it is until then, more than a century where there is no end; false: it has
 * passed. */
bool deadline_left(const struct deadline *deadline, struct timespec *left);
bool deadline_passed(const struct deadline *deadline);
/* The rest as a timeout, for one of several steps that share the time of a call: -1 where there is
 * no end, 0 when it has passed. */
int64_t deadline_left_ns(const struct deadline *deadline);
/* As poll(2) takes it: rounded up, so that what it waits for has passed; -1: no end. */
int deadline_poll_ms(const struct deadline *deadline);

/* A condition variable that deadline_wait() waits on. */
void deadline_init_cond(pthread_cond_t *cond);
/* Sleeps until the condition is signalled (0; also without reason) or the time has come
 * (TR_ETIMEDOUT). */
int deadline_wait(const struct deadline *deadline, pthread_cond_t *cond, pthread_mutex_t *mutex);

#endif
