/* SPDX-License-Identifier: Apache-2.0 */
/* What the live page keeps: rows and notices behind any look, whole JSON, and no more than its
 * bound. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>
#include <cmocka.h>

#include "launch/web/live_history.h"

#define PROCESSES 3u
#define SECOND UINT64_C(1000000000)

struct job {
    struct live_history *history;
    struct tr_job_status now;
    struct tr_process_status processes[PROCESSES];
    uint64_t seconds;
};

static int set_up(void **state)
{
    struct job *job = calloc(1, sizeof *job);
    assert_non_null(job);
    job->history = live_history_create();
    assert_non_null(job->history);
    job->now = (struct tr_job_status)TR_JOB_STATUS_INIT;
    job->now.num_processes = PROCESSES;
    job->now.era = 1;
    for (uint32_t p = 0; p < PROCESSES; p++) {
        job->processes[p] = (struct tr_process_status)TR_PROCESS_STATUS_INIT;
        job->processes[p].host = "</script><script>\"\\";
        job->processes[p].roles = "server";
        job->processes[p].incarnation = 7;
        job->processes[p].up = true;
    }
    *state = job;
    return 0;
}

static int tear_down(void **state)
{
    struct job *job = *state;
    live_history_destroy(job->history);
    free(job);
    return 0;
}

static void look(struct job *job)
{
    job->seconds++;
    job->now.num_up = 0;
    for (uint32_t p = 0; p < PROCESSES; p++) {
        job->now.num_up += job->processes[p].up;
        job->processes[p].at_ns = job->seconds * SECOND;
    }
    assert_int_equal(live_history_add(job->history, &job->now, job->processes, 1000 * job->seconds),
                     0);
}

static json_t *written(const struct job *job, uint64_t seen)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    fputc('{', out);
    live_history_write(job->history, seen, out);
    fputc('}', out);
    assert_int_equal(fclose(out), 0);
    json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    if (root == NULL)
        fail_msg("no JSON: %.400s", text);
    free(text);
    return root;
}

static size_t count(const json_t *root, const char *list)
{
    return json_array_size(json_object_get(root, list));
}

static json_t *cell(const json_t *root, size_t row, const char *column)
{
    const json_t *columns = json_object_get(root, "columns");
    for (size_t c = 0; c < json_array_size(columns); c++)
        if (strcmp(json_string_value(json_array_get(columns, c)), column) == 0)
            return json_array_get(json_array_get(json_object_get(root, "rows"), row), c);
    fail_msg("there is no column %s", column);
    return NULL;
}

static double value(const json_t *root, size_t row, const char *column)
{
    return json_number_value(cell(root, row, column));
}

/* The what of the notices, "a b c". */
static void check_notices(const struct job *job, uint64_t seen, const char *expected)
{
    char all[400] = "";
    json_t *root = written(job, seen), *notice;
    size_t i;
    json_array_foreach(json_object_get(root, "notices"), i, notice)
    {
        strcat(all, i > 0 ? "; " : "");
        strcat(all, json_string_value(json_object_get(notice, "what")));
    }
    assert_string_equal(all, expected);
    json_decref(root);
}

static void nothing_is_whole_too(void **state)
{
    json_t *root = written(*state, 0);
    assert_int_equal(count(root, "rows"), 0);
    assert_int_equal(count(root, "notices"), 0);
    assert_int_equal(live_history_last(((struct job *)*state)->history), 0);
    json_decref(root);
}

static void a_page_gets_what_it_has_not_seen(void **state)
{
    struct job *job = *state;
    for (uint32_t i = 0; i < 10; i++) {
        job->processes[1].batches_made += 6 * i;
        look(job);
    }
    for (uint64_t seen = 0; seen <= 10; seen++) {
        json_t *root = written(job, seen);
        assert_int_equal(count(root, "rows"), 10 - seen);
        for (uint64_t i = seen; i < 10; i++) {
            assert_true(value(root, i - seen, "time_ms") == 1000.0 * (double)(i + 1));
            assert_true(value(root, i - seen, "batches_made_per_second") == 6.0 * (double)i);
        }
        json_decref(root);
    }
    /* A number of a server that was there before. */
    json_t *root = written(job, 4711);
    assert_int_equal(count(root, "rows"), 10);
    json_decref(root);
}

/* A loss that nobody noted is a gap, not 0. */
static void a_loss_is_there_once_it_is_known(void **state)
{
    struct job *job = *state;
    look(job);
    job->now.has_loss = true;
    job->now.loss = 0.25;
    job->now.seeds_per_s = 70;
    look(job);
    json_t *root = written(job, 0);
    assert_true(json_is_null(cell(root, 0, "loss")));
    assert_true(value(root, 1, "loss") == 0.25);
    assert_true(json_is_null(cell(root, 1, "score")));
    assert_true(value(root, 1, "seeds_per_second") == 70);
    json_decref(root);
}

static void rates_pass_over_looks_without_an_answer(void **state)
{
    struct job *job = *state;
    look(job);
    job->processes[0].sent_bytes = 500;
    look(job);
    job->seconds++;
    assert_int_equal(live_history_add(job->history, &job->now, job->processes, 0), 0);
    /* Another incarnation counts from 0 again. */
    job->processes[0].incarnation++;
    job->processes[0].sent_bytes = 3;
    look(job);
    json_t *root = written(job, 0);
    assert_true(value(root, 1, "bytes_sent_per_second") == 500);
    assert_true(value(root, 2, "bytes_sent_per_second") == 500);
    assert_true(value(root, 3, "bytes_sent_per_second") == 0);
    json_decref(root);
}

static void what_happens_is_noticed_once(void **state)
{
    struct job *job = *state;
    job->processes[2].up = false; /* it was never up: nothing was lost */
    look(job);
    job->processes[2].up = true;
    look(job);
    check_notices(job, 0, "");
    job->processes[2].up = false;
    snprintf(job->processes[2].why, sizeof job->processes[2].why, "</script>\n\"");
    look(job);
    look(job);
    check_notices(job, 0, "down");
    job->processes[2].up = true;
    job->processes[2].incarnation = 8;
    job->now.era = 2;
    look(job);
    look(job);
    check_notices(job, 0, "down; restarted; era");
    check_notices(job, 4, "restarted; era");
    job->processes[0].restarts = 1;
    look(job);
    check_notices(job, 6, "actors restarted");
    job->processes[0].up = false;
    look(job);
    job->processes[0].up = true;
    look(job);
    check_notices(job, 7, "down; up");
}

static void only_the_last_of_checkpoints_in_a_row_stays(void **state)
{
    struct job *job = *state;
    job->now.has_checkpoint = true;
    for (uint32_t i = 0; i < 2 * LIVE_NOTICES; i++) {
        job->now.checkpoint++;
        look(job);
    }
    check_notices(job, 0, "checkpoint");
    check_notices(job, job->seconds - 1, "checkpoint");
    check_notices(job, job->seconds, "");
    job->now.era++;
    look(job);
    job->now.checkpoint++;
    look(job);
    check_notices(job, 0, "checkpoint; era; checkpoint");
}

static void the_end_is_noticed(void **state)
{
    struct job *job = *state;
    job->now.epoch = job->now.epochs = 3;
    job->now.steps = 5;
    job->now.step = 4;
    look(job);
    for (uint32_t p = 0; p < PROCESSES; p++)
        job->processes[p].up = false;
    look(job);
    look(job);
    check_notices(job, 0, "down; down; down; silent");
    for (uint32_t p = 0; p < PROCESSES; p++)
        job->processes[p].up = true;
    job->now.step = 5;
    look(job);
    for (uint32_t p = 0; p < PROCESSES; p++)
        job->processes[p].up = false;
    job->now.step = job->now.steps = 0; /* nobody says it any more */
    look(job);
    check_notices(job, 4, "down; down; down; complete");
}

/* Its launcher says how the job ended, before or after nobody answers. */
static void an_end_that_is_known_is_noticed_once(void **state)
{
    struct job *job = *state;
    look(job);
    /* The job that the first look finds ended did so before. */
    live_history_outcome(job->history, 1000, "failed");
    check_notices(job, 0, "");
    live_history_outcome(job->history, 1500, NULL);
    look(job);
    live_history_outcome(job->history, 1500, "complete");
    live_history_outcome(job->history, 1500, "complete");
    check_notices(job, 0, "complete");
    for (uint32_t p = 0; p < PROCESSES; p++)
        job->processes[p].up = false;
    look(job);
    check_notices(job, 2, "down; down; down");
    /* It goes on, and nobody says how it ends. */
    live_history_outcome(job->history, 2500, NULL);
    for (uint32_t p = 0; p < PROCESSES; p++)
        job->processes[p].up = true;
    look(job);
    for (uint32_t p = 0; p < PROCESSES; p++)
        job->processes[p].up = false;
    look(job);
    check_notices(job, 4, "down; down; down; silent");
    live_history_outcome(job->history, 4500, "failed");
    check_notices(job, 4, "down; down; down; silent; failed");
}

static void no_more_is_kept_than_the_bound(void **state)
{
    struct job *job = *state;
    for (uint32_t i = 0; i < LIVE_ROWS + 10; i++) {
        job->processes[1].restarts++;
        look(job);
    }
    json_t *root = written(job, 0);
    assert_int_equal(count(root, "rows"), LIVE_ROWS);
    assert_int_equal(count(root, "notices"), LIVE_NOTICES);
    assert_true(value(root, 0, "time_ms") == 1000.0 * 11);
    assert_true(value(root, LIVE_ROWS - 1, "time_ms") == 1000.0 * (LIVE_ROWS + 10));
    json_decref(root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(nothing_is_whole_too, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_page_gets_what_it_has_not_seen, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_loss_is_there_once_it_is_known, set_up, tear_down),
        cmocka_unit_test_setup_teardown(rates_pass_over_looks_without_an_answer, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_happens_is_noticed_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(only_the_last_of_checkpoints_in_a_row_stays, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(the_end_is_noticed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_end_that_is_known_is_noticed_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(no_more_is_kept_than_the_bound, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
