/* SPDX-License-Identifier: Apache-2.0 */
/* The queue of a launch's events: in order, bounded, and readable exactly while something is
 * there. */
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cmocka.h>

#include "launch/launch_events.h"

#define TEXT_BYTES ((size_t)64 * 1024)

struct fixture {
    struct launch_events events;
    int room;
    char text[TEXT_BYTES];
};

static void begin(struct fixture *fixture, bool keep)
{
    struct error error = { 0 };
    fixture->room = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    assert_true(fixture->room >= 0);
    memset(fixture->text, 'x', sizeof fixture->text);
    assert_int_equal(launch_events_init(&fixture->events, keep, fixture->room, &error), 0);
}

static void end(struct fixture *fixture)
{
    launch_events_fini(&fixture->events);
    close(fixture->room);
}

static bool is_readable(int fd)
{
    struct pollfd polled = { .fd = fd, .events = POLLIN };
    return poll(&polled, 1, 0) == 1;
}

/* Its process is the number by which it is known. */
static void put(struct fixture *fixture, enum tr_launch_event_kind kind, uint32_t number,
                const char *text, size_t bytes)
{
    const struct tr_launch_event event = { .kind = kind, .process = number };
    launch_events_put(&fixture->events, &event, text, bytes);
}

static int take(struct fixture *fixture, struct tr_launch_event *event)
{
    event->size = sizeof *event;
    return launch_events_take(&fixture->events, 0, event, NULL);
}

static void assert_next(struct fixture *fixture, uint32_t number, uint64_t dropped)
{
    struct tr_launch_event event;
    assert_int_equal(take(fixture, &event), 0);
    assert_int_equal(event.process, number);
    assert_int_equal(event.dropped, dropped);
}

static void events_come_in_order_until_the_end(void **state)
{
    struct fixture fixture;
    struct tr_launch_event event;
    (void)state;
    begin(&fixture, false);
    for (int round = 0; round < 2; round++) { /* filled, drained and filled again */
        assert_false(is_readable(fixture.events.queue.descriptor));
        assert_int_equal(take(&fixture, &event), TR_ETIMEDOUT);
        put(&fixture, TR_LAUNCH_NOTE, 1, "one and more", 3);
        put(&fixture, TR_LAUNCH_LINE, 2, "", 0);
        put(&fixture, TR_LAUNCH_ENDED, 3, "three", 5);
        assert_int_equal(take(&fixture, &event), 0);
        assert_int_equal(event.kind, TR_LAUNCH_NOTE);
        assert_string_equal(event.text, "one");
        assert_int_equal(event.text_bytes, 3);
        assert_true(is_readable(fixture.events.queue.descriptor));
        assert_int_equal(take(&fixture, &event), 0);
        assert_int_equal(event.process, 2);
        assert_string_equal(event.text, "");
        assert_true(is_readable(fixture.events.queue.descriptor));
        assert_int_equal(take(&fixture, &event), 0);
        assert_int_equal(event.kind, TR_LAUNCH_ENDED);
        assert_string_equal(event.text, "three");
        assert_false(is_readable(fixture.events.queue.descriptor));
    }
    put(&fixture, TR_LAUNCH_NOTE, 4, "", 0);
    event_queue_end(&fixture.events.queue);
    assert_true(is_readable(fixture.events.queue.descriptor));
    assert_next(&fixture, 4, 0);
    for (int i = 0; i < 3; i++) { /* the end is there however often it is looked for */
        assert_true(is_readable(fixture.events.queue.descriptor));
        assert_int_equal(take(&fixture, &event), TR_EEND);
    }
    end(&fixture);
    begin(&fixture, false); /* the end of an empty queue wakes as well */
    event_queue_end(&fixture.events.queue);
    assert_true(is_readable(fixture.events.queue.descriptor));
    assert_int_equal(launch_events_take(&fixture.events, -1, &event, NULL), TR_EEND);
    end(&fixture);
}

/* Until the first line goes; the number of those that were put. */
static uint32_t fill(struct fixture *fixture, size_t bytes)
{
    size_t before = 0;
    uint32_t count = 0;
    while (fixture->events.queue.cost > before || count == 0) {
        before = fixture->events.queue.cost;
        put(fixture, TR_LAUNCH_LINE, count++, fixture->text, bytes);
    }
    return count;
}

static void the_oldest_lines_make_room(void **state)
{
    struct fixture fixture;
    struct tr_launch_event event;
    (void)state;
    begin(&fixture, false);
    put(&fixture, TR_LAUNCH_STARTED, 1000, "", 0);
    uint32_t count = fill(&fixture, TEXT_BYTES);
    assert_true(count - 1 <= TR_LAUNCH_EVENT_BYTES / TEXT_BYTES);
    assert_true(count > TR_LAUNCH_EVENT_BYTES / TEXT_BYTES - 2);
    assert_true(fixture.events.queue.cost <= TR_LAUNCH_EVENT_BYTES);
    assert_false(launch_events_full(&fixture.events)); /* it never is where lines may go */
    assert_next(&fixture, 1000, 0);                    /* no line: it stays */
    for (uint32_t i = 1; i < count; i++)
        assert_next(&fixture, i, i == 1); /* the line that follows says what was lost */
    assert_int_equal(take(&fixture, &event), TR_ETIMEDOUT);
    assert_int_equal(fixture.events.queue.cost, 0);
    assert_false(is_readable(fixture.room)); /* nobody waited for it */
    end(&fixture);
}

/* The last line of all is one in the middle of the list, or its end; what comes then is kept. */
static void the_last_line_may_be_the_one_that_goes(void **state)
{
    struct fixture fixture;
    (void)state;
    begin(&fixture, false);
    put(&fixture, TR_LAUNCH_STARTED, 1, fixture.text, TEXT_BYTES);
    size_t cost = fixture.events.queue.cost;
    uint32_t others = (uint32_t)(TR_LAUNCH_EVENT_BYTES / cost) - 2;
    for (uint32_t i = 0; i < others; i++)
        put(&fixture, TR_LAUNCH_NOTE, 2 + i, fixture.text, TEXT_BYTES);
    put(&fixture, TR_LAUNCH_LINE, 500, fixture.text, TEXT_BYTES);
    put(&fixture, TR_LAUNCH_ENDED, 501, fixture.text, TEXT_BYTES); /* the line goes */
    put(&fixture, TR_LAUNCH_ENDED, 502, fixture.text, TEXT_BYTES); /* then the oldest of all */
    assert_next(&fixture, 2, 1);
    for (uint32_t i = 1; i < others; i++)
        assert_next(&fixture, 2 + i, 0);
    assert_next(&fixture, 501, 1);
    assert_next(&fixture, 502, 0);
    assert_int_equal(fixture.events.queue.cost, 0);
    end(&fixture);
}

/* One larger than all room is taken, and leaves no other. */
static void the_bound_is_exact(void **state)
{
    for (size_t over = 0; over < 2; over++) {
        struct fixture fixture;
        struct tr_launch_event event;
        (void)state;
        begin(&fixture, false);
        put(&fixture, TR_LAUNCH_LINE, 0, "", 0);
        size_t cost = fixture.events.queue.cost, bytes = TR_LAUNCH_EVENT_BYTES - 2 * cost + over;
        char *text = calloc(1, bytes);
        assert_non_null(text);
        put(&fixture, TR_LAUNCH_LINE, 1, text, bytes);
        assert_int_equal(fixture.events.queue.cost,
                         TR_LAUNCH_EVENT_BYTES - (over == 0 ? 0 : cost - 1));
        assert_int_equal(take(&fixture, &event), 0);
        assert_int_equal(event.process, over);
        assert_int_equal(event.dropped, over);
        free(text);
        end(&fixture);
    }
}

/* Nothing goes where all are kept: the launch's thread does not read on until half of the room is
 * there again, and is woken then, once. */
static void kept_events_wake_whoever_waits_for_room(void **state)
{
    struct fixture fixture;
    struct tr_launch_event event;
    uint64_t woken;
    (void)state;
    begin(&fixture, true);
    for (int round = 0; round < 2; round++) {
        uint32_t count = 0, taken = 0;
        while (!launch_events_full(&fixture.events)) {
            assert_true(fixture.events.queue.cost < TR_LAUNCH_EVENT_BYTES);
            put(&fixture, TR_LAUNCH_LINE, count++, fixture.text, TEXT_BYTES);
        }
        put(&fixture, TR_LAUNCH_LINE, count++, fixture.text, TEXT_BYTES); /* above, and kept */
        assert_int_equal(fixture.events.queue.lost, 0);
        while (fixture.events.queue.cost >= TR_LAUNCH_EVENT_BYTES / 2) {
            assert_false(is_readable(fixture.room));
            assert_next(&fixture, taken++, 0);
        }
        assert_int_equal(read(fixture.room, &woken, sizeof woken), sizeof woken);
        assert_int_equal(woken, 1);
        while (taken < count) {
            assert_next(&fixture, taken++, 0);
            assert_false(is_readable(fixture.room));
        }
        assert_int_equal(take(&fixture, &event), TR_ETIMEDOUT);
    }
    end(&fixture);
}

/* Exactly the bound is full, a byte less is not. */
static void full_is_the_bound_itself(void **state)
{
    for (size_t less = 0; less < 2; less++) {
        struct fixture fixture;
        (void)state;
        begin(&fixture, true);
        put(&fixture, TR_LAUNCH_LINE, 0, "", 0);
        size_t cost = fixture.events.queue.cost, bytes = TR_LAUNCH_EVENT_BYTES - 2 * cost - less;
        char *text = calloc(1, bytes);
        assert_non_null(text);
        put(&fixture, TR_LAUNCH_LINE, 1, text, bytes);
        assert_int_equal(launch_events_full(&fixture.events), less == 0);
        free(text);
        end(&fixture);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_come_in_order_until_the_end),
        cmocka_unit_test(the_oldest_lines_make_room),
        cmocka_unit_test(the_last_line_may_be_the_one_that_goes),
        cmocka_unit_test(the_bound_is_exact),
        cmocka_unit_test(kept_events_wake_whoever_waits_for_room),
        cmocka_unit_test(full_is_the_bound_itself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
