/* SPDX-License-Identifier: Apache-2.0 */
/* The status that is shown of a process is what its answer says, and the job is where its furthest
 * process is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "launch/status_view.h"

static char host_a[] = "a", host_b[] = "b";
static struct cluster_process processes[] = { { .host = 1, .roles = 1 }, { .host = 0 } };
static struct cluster_host hosts[] = { { .name = host_a }, { .name = host_b } };
static struct cluster cluster = { .hosts = hosts, .num_hosts = 2 };
static const struct cluster_plan plan = { .cluster = &cluster, .processes = processes };

static json_t *parse(const char *text)
{
    return status_view_parse(text, strlen(text));
}

static void only_objects_are_answers(void **state)
{
    static const char *const NONE[] = { "", "[]", "3", "{", "null", "{} {}" };
    (void)state;
    for (size_t i = 0; i < sizeof NONE / sizeof *NONE; i++)
        assert_null(parse(NONE[i]));
    json_t *document = status_view_parse("{}x", 2); /* as many bytes as are given */
    assert_non_null(document);
    json_decref(document);
}

static void every_field_is_shown(void **state)
{
    struct status_view view;
    json_t *document = parse(
        "{\"incarnation\": 3, \"uptime_seconds\": 1.5, \"batches_made\": 11, \"batches_taken\": 12,"
        " \"rss_bytes\": 15, \"cpu_seconds\": 2.5, \"cpus\": 0.5, \"seeds\": 16,"
        " \"seeds_per_second\": 17.5, \"loss\": -0.25, \"score\": 0.75, \"score_name\": \"mrr\","
        " \"checkpoint\": 18, \"checkpoint_age_seconds\": 19.5,"
        " \"batch_bytes\": 13, \"restarts\": 20,"
        " \"counters\": {\"restarts\": 14, \"mailbox_messages_max\": 21}, \"links\": ["
        "{\"state\": \"up\", \"bytes_sent\": 100, \"bytes_received\": 20, \"queued_bytes\": 3,"
        " \"credit_bytes\": 70},"
        "{\"node\": 7, \"silent_seconds\": 1.5, \"state\": \"down\", \"bytes_sent\": 1000, "
        "\"bytes_received\": 200, \"queued_bytes\": 30,"
        " \"credit_bytes\": 1},"
        "{\"state\": \"up\", \"bytes_sent\": 1, \"bytes_received\": 2, \"queued_bytes\": -3,"
        " \"credit_bytes\": 60},"
        "{\"state\": \"up\", \"credit_bytes\": 80}, {}],"
        " \"actors\": [{\"messages\": 5, \"bytes\": 50}, {\"messages\": 6, \"bytes\": 60}]}");
    (void)state;
    status_view_fill(&plan, 0, document, 2500000, &view);
    struct status_link_view link;
    assert_true(status_view_link(document, 1, &link));
    assert_false(link.up);
    assert_int_equal(link.process, 7);
    assert_int_equal(link.sent_bytes, 1000);
    assert_int_equal(link.received_bytes, 200);
    assert_int_equal(link.queued_bytes, 30);
    assert_true(link.silent_s == 1.5);
    assert_true(status_view_link(document, 4, &link));
    assert_false(status_view_link(document, 5, &link));
    assert_false(status_view_link(NULL, 0, &link));
    json_decref(document);
    assert_int_equal(view.rss_bytes, 15);
    assert_true(view.cpu_s == 2.5 && view.cpus == 0.5);
    assert_int_equal(view.progress.seeds, 16);
    assert_true(view.seeds_per_s == 17.5 && view.checkpoint_age_s == 19.5);
    assert_true(view.progress.has_loss && view.progress.loss == -0.25);
    assert_true(view.progress.has_score && view.progress.score == 0.75);
    assert_string_equal(view.progress.score_name, "mrr");
    assert_int_equal(view.progress.checkpoint, 18);
    assert_string_equal(view.host, "b");
    assert_string_equal(view.roles, "server");
    assert_true(view.up);
    assert_int_equal(view.incarnation, 3);
    assert_true(view.uptime_s == 1.5);
    assert_true(view.lag_ms == 2.5);
    assert_int_equal(view.made, 11);
    assert_int_equal(view.taken, 12);
    assert_int_equal(view.batch_bytes, 13);
    assert_int_equal(view.restarts, 14);
    assert_int_equal(view.process_restarts, 20);
    assert_int_equal(view.mailbox_messages_max, 21);
    assert_int_equal(view.links, 5);
    assert_int_equal(view.links_up, 3);
    assert_int_equal(view.sent_bytes, 1101);
    assert_int_equal(view.received_bytes, 222);
    assert_int_equal(view.queued_bytes, 33); /* no count is negative */
    assert_int_equal(view.credit_bytes, 60); /* the least of those that are up */
    assert_int_equal(view.mailbox_messages, 11);
    assert_int_equal(view.mailbox_bytes, 110);
}

static void a_silent_process_is_shown_as_down(void **state)
{
    struct status_view view;
    (void)state;
    status_view_fill(&plan, 1, NULL, 2500000, &view);
    assert_false(view.up);
    assert_string_equal(view.host, "a");
    assert_int_equal(view.links, 0);
    assert_true(view.lag_ms == 0 && view.uptime_s == 0);
    assert_true(view.checkpoint_age_s < 0 && !view.progress.has_loss);
}

/* What is no number of its kind is none. */
static void numbers_of_another_type_are_not_known(void **state)
{
    struct status_view view;
    json_t *document = parse(
        "{\"loss\": \"0.5\", \"score\": null, \"score_name\": 3, \"seeds\": -4,"
        " \"seeds_per_second\": -1, \"rss_bytes\": 1.5, \"cpu_seconds\": [],"
        " \"cpus\": -0.5, \"checkpoint_age_seconds\": -3}");
    (void)state;
    assert_non_null(document);
    status_view_fill(&plan, 0, document, 0, &view);
    json_decref(document);
    assert_false(view.progress.has_loss || view.progress.has_score);
    assert_string_equal(view.progress.score_name, "");
    assert_int_equal(view.progress.seeds + view.rss_bytes, 0);
    assert_true(view.seeds_per_s == 0 && view.cpu_s == 0 && view.cpus == 0);
    assert_true(view.checkpoint_age_s == 0);
}

struct stand {
    uint64_t era, epoch, epochs, step, steps;
    int64_t checkpoint; /* below 0: none */
};

static void assert_job(const struct job_progress_now *job, const struct stand *expected)
{
    assert_int_equal(job->era, expected->era);
    assert_int_equal(job->epoch, expected->epoch);
    assert_int_equal(job->epochs, expected->epochs);
    assert_int_equal(job->step, expected->step);
    assert_int_equal(job->steps, expected->steps);
    assert_int_equal(job->has_checkpoint, expected->checkpoint >= 0);
    assert_int_equal(job->checkpoint, expected->checkpoint >= 0 ? expected->checkpoint : 0);
}

/* One after the other, as processes answer. */
static void the_furthest_of_the_last_era_counts(void **state)
{
    static const struct {
        const char *says;
        struct stand then;
    } STEPS[] = {
        { "{}", { 0, 0, 0, 0, 0, -1 } },
        { "{\"era\":1,\"epoch\":1,\"epochs\":9,\"step\":4,\"steps\":20}", { 1, 1, 9, 4, 20, -1 } },
        { "{\"era\":1,\"epoch\":1,\"epochs\":8,\"step\":3,\"steps\":21}", { 1, 1, 9, 4, 20, -1 } },
        { "{\"era\":1,\"epoch\":1,\"epochs\":9,\"step\":5,\"steps\":22}", { 1, 1, 9, 5, 22, -1 } },
        { "{\"era\":1,\"epoch\":2,\"epochs\":10,\"step\":1,\"steps\":23}",
          { 1, 2, 10, 1, 23, -1 } },
        { "{\"era\":1,\"epoch\":1,\"step\":30,\"steps\":24}", { 1, 2, 10, 1, 23, -1 } },
        { "{\"era\":1,\"checkpoint\":0}", { 1, 2, 10, 1, 23, 0 } },
        { "{\"era\":1,\"checkpoint\":40}", { 1, 2, 10, 1, 23, 40 } },
        { "{\"era\":1,\"checkpoint\":39}", { 1, 2, 10, 1, 23, 40 } },
        { "{\"era\":2}", { 2, 0, 10, 0, 0, -1 } }, /* what was, is of an era that is over */
        { "{\"era\":1,\"epoch\":5,\"epochs\":11,\"checkpoint\":9}", { 2, 0, 10, 0, 0, -1 } },
        { "{\"era\":2,\"epoch\":1,\"step\":0,\"steps\":7}", { 2, 1, 10, 0, 7, -1 } },
    };
    struct job_progress_now job = { 0 };
    (void)state;
    for (size_t i = 0; i < sizeof STEPS / sizeof *STEPS; i++) {
        json_t *document = parse(STEPS[i].says);
        assert_non_null(document);
        status_view_add_job(&job, document);
        json_decref(document);
        assert_job(&job, &STEPS[i].then);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_objects_are_answers),
        cmocka_unit_test(every_field_is_shown),
        cmocka_unit_test(numbers_of_another_type_are_not_known),
        cmocka_unit_test(a_silent_process_is_shown_as_down),
        cmocka_unit_test(the_furthest_of_the_last_era_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
