/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/base/deadline.h"

#include <limits.h>

#include <troupe/error.h>

#define SECOND_NS INT64_C(1000000000)
#define MS_NS INT64_C(1000000)
/* A longer timeout is cut to this many seconds, 136 years, so that no sum of times wraps. */
#define TIMEOUT_SECONDS_MAX (INT64_C(1) << 32)

struct deadline deadline_after(int64_t timeout_ns)
{
    struct deadline deadline = { .never = true };
    if (timeout_ns < 0)
        return deadline;
    if (timeout_ns / SECOND_NS > TIMEOUT_SECONDS_MAX)
        timeout_ns = TIMEOUT_SECONDS_MAX * SECOND_NS;
    deadline.never = false;
    clock_gettime(CLOCK_MONOTONIC, &deadline.at);
    deadline.at.tv_nsec += timeout_ns % SECOND_NS;
    deadline.at.tv_sec += timeout_ns / SECOND_NS + deadline.at.tv_nsec / SECOND_NS;
    deadline.at.tv_nsec %= SECOND_NS;
    return deadline;
}

struct deadline deadline_at(uint64_t now_ns)
{
    const struct timespec at = { (time_t)(now_ns / SECOND_NS), (long)(now_ns % SECOND_NS) };
    return (struct deadline){ .never = now_ns == UINT64_MAX, .at = at };
}

bool deadline_left(const struct deadline *deadline, struct timespec *left)
{
    *left = (struct timespec){ .tv_sec = TIMEOUT_SECONDS_MAX };
    if (deadline->never)
        return true;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    left->tv_sec = deadline->at.tv_sec - now.tv_sec;
    left->tv_nsec = deadline->at.tv_nsec - now.tv_nsec;
    if (left->tv_nsec < 0) {
        left->tv_nsec += SECOND_NS;
        left->tv_sec--;
    }
    return left->tv_sec > 0 || (left->tv_sec == 0 && left->tv_nsec > 0);
}

bool deadline_passed(const struct deadline *deadline)
{
    struct timespec left;
    return !deadline_left(deadline, &left);
}

int64_t deadline_left_ns(const struct deadline *deadline)
{
    struct timespec left;
    if (deadline->never)
        return -1;
    return deadline_left(deadline, &left) ? left.tv_sec * SECOND_NS + left.tv_nsec : 0;
}

int deadline_poll_ms(const struct deadline *deadline)
{
    struct timespec left;
    if (deadline->never)
        return -1;
    if (!deadline_left(deadline, &left))
        return 0;
    if (left.tv_sec >= INT_MAX / 1000)
        return INT_MAX;
    return (int)(left.tv_sec * 1000 + (left.tv_nsec + MS_NS - 1) / MS_NS);
}

void deadline_init_cond(pthread_cond_t *cond)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(cond, &attributes);
    pthread_condattr_destroy(&attributes);
}

int deadline_wait(const struct deadline *deadline, pthread_cond_t *cond, pthread_mutex_t *mutex)
{
    int rc = deadline->never ? pthread_cond_wait(cond, mutex)
                             : pthread_cond_timedwait(cond, mutex, &deadline->at);
    return rc == 0 ? 0 : TR_ETIMEDOUT;
}
