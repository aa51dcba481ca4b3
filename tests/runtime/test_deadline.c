/* SPDX-License-Identifier: Apache-2.0 */
/* A timeout has one end however often a wait wakes up, none where it is below 0 or too long to be
 * added, and a wait of poll(2) is never too short. */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <troupe/error.h>

#include "runtime/base/deadline.h"

#define SECOND_NS INT64_C(1000000000)

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * SECOND_NS + (uint64_t)now.tv_nsec;
}

static void a_timeout_has_one_end(void **unused)
{
    (void)unused;
    uint64_t before_ns = now_ns();
    struct deadline deadline = deadline_after(3 * SECOND_NS / 2);
    uint64_t after_ns = now_ns();
    assert_false(deadline.never);
    assert_true(deadline.at.tv_nsec >= 0 && deadline.at.tv_nsec < SECOND_NS);
    uint64_t at_ns = (uint64_t)deadline.at.tv_sec * SECOND_NS + (uint64_t)deadline.at.tv_nsec;
    assert_true(at_ns >= before_ns + 3 * SECOND_NS / 2 && at_ns <= after_ns + 3 * SECOND_NS / 2);
}

static void what_cannot_be_added_has_no_end(void **unused)
{
    (void)unused;
    const int64_t without[] = { -1, INT64_MIN };
    const int64_t long_ones[] = { INT64_MAX, ((INT64_C(1) << 32) + 1) * SECOND_NS };
    struct timespec left;
    for (size_t i = 0; i < sizeof without / sizeof without[0]; i++) {
        struct deadline deadline = deadline_after(without[i]);
        assert_true(deadline.never);
        assert_false(deadline_passed(&deadline));
        assert_true(deadline_left(&deadline, &left) && left.tv_sec > SECOND_NS);
        assert_int_equal(deadline_poll_ms(&deadline), -1);
    }
    /* Such a one is cut, but it is one: whoever shares out what is left of it has a time to give. */
    for (size_t i = 0; i < sizeof long_ones / sizeof long_ones[0]; i++) {
        struct deadline deadline = deadline_after(long_ones[i]);
        int64_t left_ns = deadline_left_ns(&deadline);
        assert_true(left_ns > (INT64_C(1) << 31) * SECOND_NS);
        assert_true(left_ns <= (INT64_C(1) << 32) * SECOND_NS);
        assert_int_equal(deadline_poll_ms(&deadline), INT_MAX);
    }
    assert_true(deadline_at(UINT64_MAX).never);
    assert_false(deadline_after((INT64_C(1) << 32) * SECOND_NS).never);
    assert_false(deadline_at(UINT64_MAX - 1).never);
}

static void none_left_has_passed(void **unused)
{
    (void)unused;
    struct deadline now = deadline_after(0), past = deadline_at(1);
    struct timespec left;
    assert_true(deadline_passed(&now));
    assert_true(deadline_passed(&past));
    assert_false(deadline_left(&past, &left));
    assert_int_equal(deadline_poll_ms(&past), 0);
}

static void poll_waits_long_enough(void **unused)
{
    (void)unused;
    struct deadline hour = deadline_after(3600 * SECOND_NS);
    struct deadline years = deadline_after((INT64_C(1) << 31) * SECOND_NS);
    struct deadline soon = deadline_at(now_ns() + 3600 * (uint64_t)SECOND_NS + 1);
    int ms = deadline_poll_ms(&hour);
    assert_true(ms > 3500 * 1000 && ms <= 3600 * 1000);
    assert_int_equal(deadline_poll_ms(&years), INT32_MAX);
    struct timespec left;
    ms = deadline_poll_ms(&soon);
    assert_true(deadline_left(&soon, &left)); /* less than when the wait was asked for */
    int64_t left_ns = left.tv_sec * SECOND_NS + left.tv_nsec;
    assert_true(ms * INT64_C(1000000) >= left_ns);
}

static void a_wait_ends_at_its_deadline(void **unused)
{
    (void)unused;
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t cond;
    deadline_init_cond(&cond);
    struct deadline deadline = deadline_after(20000000);
    pthread_mutex_lock(&mutex);
    int rv = 0;
    while (rv == 0)
        rv = deadline_wait(&deadline, &cond, &mutex);
    pthread_mutex_unlock(&mutex);
    assert_int_equal(rv, TR_ETIMEDOUT);
    assert_true(deadline_passed(&deadline));
    pthread_cond_destroy(&cond);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_timeout_has_one_end),
        cmocka_unit_test(what_cannot_be_added_has_no_end),
        cmocka_unit_test(none_left_has_passed),
        cmocka_unit_test(poll_waits_long_enough),
        cmocka_unit_test(a_wait_ends_at_its_deadline),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
