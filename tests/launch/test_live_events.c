/* SPDX-License-Identifier: Apache-2.0 */
/* The history of a job that the live page follows: each event once, no line that is none, how it
 * ended. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>
#include <cmocka.h>

#include "launch/web/live_events.h"
#include "runtime/base/history_file.h"

static char folder[64], path[100];
static struct live_events *events;
static uint64_t looks;

static int set_up(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/troupe-live-events.XXXXXX");
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/" HISTORY_NAME, folder);
    looks = 0;
    events = live_events_create(folder);
    return events == NULL;
}

static int tear_down(void **state)
{
    (void)state;
    live_events_destroy(events);
    unlink(path);
    return rmdir(folder);
}

static json_t *written(uint64_t seen)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    fputc('{', out);
    live_events_write(events, seen, out);
    fputc('}', out);
    assert_int_equal(fclose(out), 0);
    json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    if (root == NULL)
        fail_msg("no JSON: %.400s", text);
    free(text);
    return root;
}

/* The names of the events that one more look finds, "a b c". */
static void expect_new(const char *expected)
{
    char all[400] = "";
    size_t i;
    json_t *event;
    live_events_look(events, ++looks);
    json_t *root = written(looks - 1);
    json_array_foreach(json_object_get(root, "events"), i, event)
    {
        strcat(all, i > 0 ? " " : "");
        strcat(all, json_string_value(json_object_get(event, "event")));
    }
    assert_string_equal(all, expected);
    json_decref(root);
}

/* As the launcher writes it. */
static void the_history_of_a_job_is_followed(void **state)
{
    struct history_file history;
    (void)state;
    expect_new("");
    assert_int_equal(history_file_init(&history, files_posix, folder), 0);
    history_file_add(&history, "begun", json_pack("{s:s}", "job", "job"));
    expect_new("");
    history_file_begin(&history);
    history_file_add(&history, "started", json_pack("{s:i, s:s}", "process", 1, "host", "<b>"));
    expect_new("begun started");
    expect_new("");
    assert_int_equal(live_events_outcome(events), LIVE_RUNS);
    history_file_add(&history, "ended", json_pack("{s:i, s:i}", "process", 1, "signal", 9));
    history_file_add(&history, "finished", json_pack("{s:s}", "outcome", "complete"));
    expect_new("ended finished");
    assert_int_equal(live_events_outcome(events), LIVE_COMPLETE);
    /* It goes on, and is stopped. */
    history_file_add(&history, "begun", json_pack("{s:b}", "resumed", 1));
    expect_new("begun");
    assert_int_equal(live_events_outcome(events), LIVE_RUNS);
    history_file_add(&history, "finished",
                     json_pack("{s:s, s:s}", "outcome", "stopped", "text", "by SIGTERM"));
    expect_new("finished");
    assert_int_equal(live_events_outcome(events), LIVE_STOPPED);
    history_file_fini(&history);
    json_t *root = written(0), *all = json_object_get(root, "events");
    assert_int_equal(json_array_size(all), 6);
    json_t *started = json_array_get(all, 1);
    assert_string_equal(json_string_value(json_object_get(started, "host")), "<b>");
    assert_int_equal(json_integer_value(json_object_get(started, "process")), 1);
    json_decref(root);
}

static void add_lines(const char *text)
{
    live_events_take(events, text, strlen(text), ++looks);
}

static void what_is_no_event_is_passed_over(void **state)
{
    (void)state;
    add_lines(
        "\n{\n{}\n[]\n7\nnull\n{\"event\":\"a\"}\n{\"time\":\"t\"}\n{\"time\":1,\"event\":\"b\"}\n"
        "{\"time\":\"t\",\"event\":[\"c\"]}\n{\"time\":\"t\",\"event\":\"\xff\"}\n"
        "{\"time\":\"t\",\"event\":\"of a later "
        "version\",\"more\":{\"a\":1},\"x\":[[]],\"y\":true}\n"
        "{\"time\":\"t\",\"event\":\"torn");
    json_t *root = written(0), *all = json_object_get(root, "events");
    assert_int_equal(json_array_size(all), 1);
    assert_int_equal(json_object_size(json_array_get(all, 0)), 3);
    json_decref(root);
    /* One that is over in a way that is not known is over all the same, and nothing more is said. */
    add_lines("\"}\n{\"time\":\"t\",\"event\":\"finished\",\"outcome\":\"otherwise\"}\n");
    assert_int_equal(live_events_outcome(events), LIVE_RUNS);
}

static void no_more_is_kept_than_the_bound(void **state)
{
    char line[HISTORY_LINE_MAX + 100];
    (void)state;
    for (uint32_t i = 0; i < LIVE_EVENTS + 7; i++) {
        snprintf(line, sizeof line, "{\"time\":\"t\",\"event\":\"started\",\"process\":%u}\n", i);
        add_lines(line);
    }
    for (uint32_t i = 0; i < 3 * LIVE_EVENTS; i++) {
        snprintf(line, sizeof line, "{\"time\":\"t\",\"event\":\"checkpoint\",\"step\":%u}\n", i);
        add_lines(line);
    }
    /* A line that is longer than any of a history is cut, and no event then. */
    snprintf(line, sizeof line, "{\"time\":\"t\",\"event\":\"started\",\"text\":\"%0*d\"}\n",
             (int)HISTORY_LINE_MAX, 0);
    add_lines(line);
    json_t *root = written(0), *all = json_object_get(root, "events");
    assert_int_equal(json_array_size(all), LIVE_EVENTS);
    assert_int_equal(json_integer_value(json_object_get(json_array_get(all, 0), "process")), 8);
    json_t *last = json_array_get(all, LIVE_EVENTS - 1);
    assert_int_equal(json_integer_value(json_object_get(last, "step")), 3 * LIVE_EVENTS - 1);
    json_decref(root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_history_of_a_job_is_followed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_no_event_is_passed_over, set_up, tear_down),
        cmocka_unit_test_setup_teardown(no_more_is_kept_than_the_bound, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
