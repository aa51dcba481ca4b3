/* SPDX-License-Identifier: Apache-2.0 */
/* The one contract of events that are pulled: order, bounds, what was lost, refused takers, ends,
 * closes and interrupts. tests/api/test_log.c tries it with threads and signal handlers too. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "api/event_queue.h"

#define LONG INT64_C(60000000000)

struct numbered {
    struct queued_event queued; /* first */
    int number;
};

static void put(struct event_queue *queue, int number, size_t cost, bool kept)
{
    struct numbered *event = calloc(1, sizeof *event);
    assert_non_null(event);
    event->queued.cost = cost;
    event->queued.kept = kept;
    event->number = number;
    event_queue_put(queue, &event->queued);
}

struct taker {
    int number;
    uint64_t lost;
    int refuses; /* result; 0: takes */
};

static int give(void *arg, const struct queued_event *event)
{
    struct taker *taker = arg;
    taker->number = ((const struct numbered *)(const void *)event)->number;
    taker->lost = event->lost;
    return taker->refuses;
}

static int take(struct event_queue *queue, int64_t timeout_ns, struct taker *taker)
{
    struct queued_event *taken;
    int rv = event_queue_take(queue, timeout_ns, give, taker, &taken);
    assert_true((rv == 0) == (taken != NULL));
    free(taken);
    return rv;
}

static void expect(struct event_queue *queue, int number, uint64_t lost)
{
    struct taker taker = { 0 };
    assert_int_equal(take(queue, LONG, &taker), 0);
    assert_int_equal(taker.number, number);
    assert_int_equal(taker.lost, lost);
}

static bool readable(int fd)
{
    struct pollfd polled = { .fd = fd, .events = POLLIN };
    return poll(&polled, 1, 0) == 1;
}

static void the_oldest_goes_and_the_next_says_so(void **unused)
{
    (void)unused;
    struct event_queue queue;
    struct taker taker = { 0 };
    assert_int_equal(event_queue_init(&queue, 3, NULL), 0);
    assert_false(readable(queue.descriptor));
    for (int i = 0; i < 3; i++)
        put(&queue, i, 1, false);
    assert_true(readable(queue.descriptor));
    expect(&queue, 0, 0);
    for (int i = 3; i < 7; i++)
        put(&queue, i, 1, false);
    expect(&queue, 4, 3);
    event_queue_put(&queue, NULL); /* there was no memory for it */
    put(&queue, 7, 1, false);
    put(&queue, 8, 9, false); /* larger than all: alone */
    expect(&queue, 8, 4);
    assert_false(readable(queue.descriptor));
    assert_int_equal(take(&queue, 0, &taker), TR_ETIMEDOUT);
    event_queue_fini(&queue);
}

static void what_is_kept_goes_last(void **unused)
{
    (void)unused;
    struct event_queue queue;
    assert_int_equal(event_queue_init(&queue, 3, NULL), 0);
    put(&queue, 0, 1, true);
    put(&queue, 1, 1, false);
    put(&queue, 2, 1, true);
    put(&queue, 3, 1, true); /* 1 goes */
    put(&queue, 4, 1, true); /* 0 goes */
    expect(&queue, 2, 2);
    expect(&queue, 3, 0);
    put(&queue, 5, 1, false);
    put(&queue, 6, 2, false); /* 5 goes, the last of the queue */
    expect(&queue, 4, 0);
    expect(&queue, 6, 1);
    event_queue_fini(&queue);
}

static void a_refused_taker_loses_nothing(void **unused)
{
    (void)unused;
    struct event_queue queue;
    struct taker taker = { .refuses = TR_EINVAL };
    assert_int_equal(event_queue_init(&queue, 3, NULL), 0);
    put(&queue, 1, 1, false);
    assert_int_equal(take(&queue, 0, &taker), TR_EINVAL);
    assert_true(readable(queue.descriptor));
    expect(&queue, 1, 0);
    event_queue_fini(&queue);
}

static void what_keeps_all_says_when_it_is_full_and_has_room(void **unused)
{
    (void)unused;
    struct event_queue queue;
    int room = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    assert_int_equal(event_queue_init(&queue, 4, NULL), 0);
    event_queue_keep_all(&queue, room);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(event_queue_is_full(&queue), i == 4);
        put(&queue, i, 1, false);
    }
    for (int i = 0; i < 3; i++) {
        assert_false(readable(room));
        expect(&queue, i, 0);
    }
    assert_false(event_queue_is_full(&queue));
    expect(&queue, 3, 0);
    assert_true(readable(room));
    event_queue_fini(&queue);
    close(room);
}

static void an_end_comes_after_all_events(void **unused)
{
    (void)unused;
    struct event_queue queue;
    struct taker taker = { 0 };
    assert_int_equal(event_queue_init(&queue, 3, NULL), 0);
    put(&queue, 1, 1, false);
    event_queue_end(&queue);
    expect(&queue, 1, 0);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(take(&queue, LONG, &taker), TR_EEND);
        assert_true(readable(queue.descriptor));
    }
    event_queue_fini(&queue);
}

static void an_interrupt_ends_waits_until_it_is_resumed(void **unused)
{
    (void)unused;
    struct event_queue queue;
    struct taker taker = { 0 };
    assert_int_equal(event_queue_init(&queue, 3, NULL), 0);
    event_queue_interrupt(&queue);
    assert_int_equal(take(&queue, LONG, &taker), TR_ECANCELED);
    put(&queue, 1, 1, false);
    expect(&queue, 1, 0); /* what is there is given */
    assert_true(readable(queue.descriptor));
    event_queue_resume(&queue);
    assert_int_equal(take(&queue, 1, &taker), TR_ETIMEDOUT);
    assert_false(readable(queue.descriptor));
    event_queue_fini(&queue);
}

static void *wait_for_one(void *arg)
{
    struct taker taker = { 0 };
    return (void *)(intptr_t)take(arg, LONG, &taker);
}

static void a_close_wakes_all_and_waits_for_them(void **unused)
{
    (void)unused;
    struct event_queue queue;
    struct taker taker = { 0 };
    pthread_t threads[4];
    uint32_t inside;
    assert_int_equal(event_queue_init(&queue, 3, NULL), 0);
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, wait_for_one, &queue), 0);
    do {
        usleep(1000);
        pthread_mutex_lock(&queue.mutex);
        inside = queue.inside;
        pthread_mutex_unlock(&queue.mutex);
    } while (inside < 4);
    event_queue_close(&queue);
    assert_int_equal(queue.inside, 0);
    put(&queue, 1, 1, false); /* nobody takes it any more */
    assert_int_equal(take(&queue, LONG, &taker), TR_ECLOSED);
    for (int i = 0; i < 4; i++) {
        void *rv;
        pthread_join(threads[i], &rv);
        assert_int_equal((intptr_t)rv, TR_ECLOSED);
    }
    event_queue_fini(&queue);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_oldest_goes_and_the_next_says_so),
        cmocka_unit_test(what_is_kept_goes_last),
        cmocka_unit_test(a_refused_taker_loses_nothing),
        cmocka_unit_test(what_keeps_all_says_when_it_is_full_and_has_room),
        cmocka_unit_test(an_end_comes_after_all_events),
        cmocka_unit_test(an_interrupt_ends_waits_until_it_is_resumed),
        cmocka_unit_test(a_close_wakes_all_and_waits_for_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
