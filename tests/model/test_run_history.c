/* SPDX-License-Identifier: Apache-2.0 */
/* The history of a run, read: what the writer wrote, and nothing of what is no event. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#include "model/run_history.h"
#include "runtime/base/history_file.h"
#include "tests/scratch.h"

struct fixture {
    char folder[64], path[96], older[96];
};

static void set_up(struct fixture *f)
{
    assert_non_null(mkdtemp(scratch_template(f->folder, sizeof f->folder, "events")));
    snprintf(f->path, sizeof f->path, "%s/" HISTORY_NAME, f->folder);
    snprintf(f->older, sizeof f->older, "%s/" HISTORY_OLDER_NAME, f->folder);
}

static void tear_down(struct fixture *f)
{
    assert_int_equal(files_remove_tree(files_posix, f->folder, NULL), 0);
}

static void put(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void read_it(const struct fixture *f, struct run_history *history)
{
    struct error error = { 0 };
    assert_int_equal(run_history_read(history, files_posix, f->folder, &error), 0);
}

static void what_was_written_is_read(void **unused)
{
    struct fixture f;
    struct history_file writer;
    struct run_history history;
    struct timespec before, after;
    (void)unused;
    set_up(&f);
    clock_gettime(CLOCK_REALTIME, &before);
    assert_int_equal(history_file_init(&writer, files_posix, f.folder), 0);
    history_file_begin(&writer);
    history_file_add(&writer, "ended",
                     json_pack("{s:i, s:s, s:s, s:i}", "process", 3, "host", "a", "role", "trainer",
                               "signal", 9));
    history_file_add(
        &writer, "finished",
        json_pack("{s:s, s:o}", "outcome", "failed", "text", history_text("no \033 memory")));
    history_file_fini(&writer);
    clock_gettime(CLOCK_REALTIME, &after);
    read_it(&f, &history);
    assert_int_equal(history.count, 2);
    const struct tr_run_event *ended = &history.events[0].event, *last = &history.events[1].event;
    assert_string_equal(ended->event, "ended");
    assert_string_equal(ended->host, "a");
    assert_string_equal(ended->role, "trainer");
    assert_int_equal(ended->process, 3);
    assert_int_equal(ended->signal, 9);
    assert_string_equal(last->outcome, "failed");
    assert_string_equal(last->text, "no ? memory");
    assert_int_equal(last->process, UINT32_MAX);
    /* Times are cut to milliseconds. */
    assert_true(ended->time_ns >= (int64_t)before.tv_sec * 1000000000 + before.tv_nsec - 1000000);
    assert_true(last->time_ns <= (int64_t)after.tv_sec * 1000000000 + after.tv_nsec);
    run_history_fini(&history);
    tear_down(&f);
}

#define LINE(event) "{\"time\":\"2026-02-03T04:05:06.789Z\",\"event\":\"" event "\"}\n"

static void both_files_are_read_in_order(void **unused)
{
    struct fixture f;
    struct run_history history;
    (void)unused;
    set_up(&f);
    put(f.older, LINE("one") LINE("two"));
    put(f.path, LINE("three"));
    read_it(&f, &history);
    assert_int_equal(history.count, 3);
    assert_string_equal(history.events[0].event.event, "one");
    assert_string_equal(history.events[2].event.event, "three");
    /* date -u -d 2026-02-03T04:05:06 +%s */
    assert_int_equal(history.events[0].event.time_ns, INT64_C(1770091506789000000));
    run_history_fini(&history);
    tear_down(&f);
}

static void what_is_no_event_is_passed_over(void **unused)
{
    struct fixture f;
    struct run_history history;
    (void)unused;
    set_up(&f);
    read_it(&f, &history); /* there is none */
    assert_int_equal(history.count, 0);
    put(f.path, "\n{}\n[]\nx\n{\"time\":\"2026-02-03T04:05:0\n"
                "{\"time\":\"2026-02-03T04:05:06.789Z\"}\n"
                "{\"time\":\"2026-02-03T24:05:06.789Z\",\"event\":\"x\"}\n"
                "{\"time\":\"2026-02-03T04:05:06.7Z\",\"event\":\"x\"}\n"
                "{\"time\":\"2026-02-03T04:05:06.789Z \",\"event\":\"x\"}\n"
                "{\"time\":7,\"event\":\"x\"}\n" LINE("good") "{\"time\":\"2026-02-03T");
    read_it(&f, &history);
    assert_int_equal(history.count, 1);
    assert_string_equal(history.events[0].event.event, "good");
    run_history_fini(&history);
    /* A folder of that name is no history either. */
    assert_int_equal(files_remove_tree(files_posix, f.path, NULL), 0);
    assert_int_equal(files_make_folders(files_posix, f.path, NULL), 0);
    read_it(&f, &history);
    assert_int_equal(history.count, 0);
    run_history_fini(&history);
    tear_down(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_written_is_read),
        cmocka_unit_test(both_files_are_read_in_order),
        cmocka_unit_test(what_is_no_event_is_passed_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
