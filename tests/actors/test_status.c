/* SPDX-License-Identifier: Apache-2.0 */
/* A process gives its status to all that ask: one document, with what each loop holds. */
#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "actors/report/metrics.h"
#include "actors/report/status.h"
#include "runtime/core/call.h"
#include "runtime/core/port.h"
#include "runtime/event/env_event.h"
#include "runtime/net/links.h"
#include "runtime/sim/env_sim.h"
#include "schemas/messages.h"
#include "tests/actors/asker.h"
#include "tests/actors/linked_pair.h"

#define LOOPS 3u
#define WAIT_NS UINT64_C(30000000000)

static json_t *ask(struct node *node)
{
    struct port *port;
    struct address status;
    struct message *reply;
    assert_int_equal(port_open(node, 1, &port), 0);
    uint64_t deadline_ns = port_now_ns(port) + WAIT_NS;
    assert_int_equal(port_find(port, STATUS_NAME, deadline_ns, &status), 0);
    struct message *request = port_message(port, MSG_STATUS_REQUEST);
    assert_non_null(request);
    assert_int_equal(port_call(port, status, request, deadline_ns, &reply), 0);
    const struct msg_status_reply *head = message_head(reply);
    assert_int_equal(head->count, reply->frame.body_bytes);
    json_t *document = json_loadb(message_body(reply), head->count, 0, NULL);
    assert_non_null(document);
    port_release(port, reply);
    request = port_message(port, MSG_SELECT_REQUEST);
    assert_non_null(request);
    assert_int_equal(port_call(port, status, request, deadline_ns, &reply), TR_EUNSUPPORTED);
    port_close(port);
    port_destroy(port);
    return document;
}

static void use_known(struct process_usage *usage)
{
    *usage = (struct process_usage){ .resident_bytes = 4096, .cpu_ns = UINT64_C(1500000000) };
}

static void a_process_tells_what_each_loop_holds(void **unused)
{
    struct error error = { 0 };
    struct env *env;
    struct node *node;
    struct kinds kinds = { { NULL } };
    struct address address;
    (void)unused;
    struct batch_store *store = batch_store_create(1 << 20);
    assert_non_null(store);
    batch_store_note_made(store);
    assert_int_equal(env_event_create(1, &env, &error), 0);
    assert_int_equal(messages_register(&kinds, &error), 0);
    const struct node_options options = { .id = 3, .loops = LOOPS, .kinds = &kinds, .codec = true };
    assert_int_equal(node_create(env, &options, &node, &error), 0);
    struct job_progress progress;
    job_progress_init(&progress);
    job_progress_note_era(&progress, 4, true, 120);
    job_progress_note_checkpoint(&progress, 130, 1);
    job_progress_note_step(&progress, 2, 5, 50);
    job_progress_note_epochs(&progress, 9);
    job_progress_note_seeds(&progress, 512, 1);
    job_progress_note_loss(&progress, 0.25);
    job_progress_note_score(&progress, "accuracy", 0.75);
    const struct status_options status = { .job = "job",
                                           .roles = "server",
                                           .store = store,
                                           .progress = &progress,
                                           .node = 3,
                                           .incarnation = 9,
                                           .begin_ns = env_now_ns(env),
                                           .began_at = 1000.5,
                                           .begin_cpu_ns = 500000000,
                                           .usage = use_known };
    const struct actor_options root = { .ops = &status_ops, .arg = &status };
    assert_int_equal(node_spawn(node, &root, &address), 0);
    assert_int_equal(node_start(node), 0);

    json_t *document = ask(node);
    const char *job, *roles;
    int number, incarnation, made, taken;
    json_t *actors, *links;
    assert_int_equal(json_unpack(document, "{s:s, s:s, s:i, s:i, s:i, s:i, s:o, s:o}", "job", &job,
                                 "roles", &roles, "node", &number, "incarnation", &incarnation,
                                 "batches_made", &made, "batches_taken", &taken, "actors", &actors,
                                 "links", &links),
                     0);
    assert_string_equal(job, "job");
    assert_string_equal(roles, "server");
    assert_int_equal(number, 3);
    assert_int_equal(incarnation, 9);
    assert_int_equal(made, 1);
    assert_int_equal(taken, 0);
    assert_int_equal(json_array_size(links), 0);
    int era, epoch, epochs, step, steps, checkpoint;
    assert_int_equal(json_unpack(document, "{s:i, s:i, s:i, s:i, s:i, s:i}", "era", &era, "epoch",
                                 &epoch, "epochs", &epochs, "step", &step, "steps", &steps,
                                 "checkpoint", &checkpoint),
                     0);
    assert_int_equal(era, 4);
    assert_int_equal(epoch, 3);
    assert_int_equal(epochs, 9);
    assert_int_equal(step, 5);
    assert_int_equal(steps, 50);
    assert_int_equal(checkpoint, 130);
    double loss, score;
    const char *score_name;
    int seeds;
    assert_int_equal(json_unpack(document, "{s:F, s:F, s:s, s:i}", "loss", &loss, "score", &score,
                                 "score_name", &score_name, "seeds", &seeds),
                     0);
    assert_true(loss == 0.25 && score == 0.75);
    assert_string_equal(score_name, "accuracy");
    assert_int_equal(seeds, 512);
    assert_true(json_real_value(json_object_get(document, "checkpoint_age_seconds")) > 0);
    assert_int_equal(json_integer_value(json_object_get(document, "rss_bytes")), 4096);
    assert_true(json_real_value(json_object_get(document, "cpu_seconds")) == 1.5);
    assert_true(json_real_value(json_object_get(document, "cpus")) > 0);
    uint32_t probes = 0;
    for (size_t i = 0; i < json_array_size(actors); i++) {
        const char *name;
        json_int_t messages, bytes, bytes_max, calls, received;
        assert_int_equal(json_unpack(json_array_get(actors, i), "{s:s, s:I, s:I, s:I, s:I, s:I}",
                                     "name", &name, "messages", &messages, "bytes", &bytes,
                                     "bytes_max", &bytes_max, "calls", &calls, "received",
                                     &received),
                         0);
        assert_true(messages >= 0 && bytes >= 0 && bytes_max > 0);
        /* The one that asks waits for its own loop's probe at least, which has had the request. */
        assert_true(strcmp(name, STATUS_NAME) != 0 || (calls > 0 && received > 0));
        assert_true(strcmp(name, "status probe") != 0 || received > 0);
        probes += strcmp(name, "status probe") == 0;
    }
    assert_int_equal(probes, LOOPS);
    json_decref(document);

    char *text = metrics_text(&status, node, env_now_ns(env));
    assert_non_null(text);
    assert_non_null(strstr(text, "\ntroupe_era 4\n"));
    assert_non_null(strstr(text, "\ntroupe_checkpoint_step 130\n"));
    assert_non_null(strstr(text, "\ntroupe_checkpoint_age_seconds "));
    assert_non_null(strstr(text, "\ntroupe_seeds_total 512\n"));
    assert_non_null(strstr(text, "\ntroupe_loss 0.25\n"));
    assert_non_null(strstr(text, "\ntroupe_validation_score{score=\"accuracy\"} 0.75\n"));
    assert_non_null(strstr(text, "\nprocess_resident_memory_bytes 4096\n"));
    assert_non_null(strstr(text, "\nprocess_cpu_seconds_total 1.500000\n"));
    assert_non_null(strstr(text, "\nprocess_start_time_seconds 1000.500\n"));
    free(text);
    job_progress_note_era(&progress, 5, false, 0);
    text = metrics_text(&status, node, env_now_ns(env));
    assert_non_null(text);
    assert_null(strstr(text, "troupe_checkpoint_step"));
    assert_non_null(strstr(text, "\ntroupe_epoch 0\n"));
    assert_non_null(strstr(text, "\ntroupe_epochs 9\n"));
    assert_non_null(strstr(text, "\ntroupe_step 0\n"));
    free(text);
    document = status_json(&status, node, env_now_ns(env));
    assert_null(json_object_get(document, "checkpoint"));
    json_decref(document);

    node_stop(node, env_now_ns(env) + WAIT_NS);
    assert_int_equal(node_join(node), 0);
    node_destroy(node);
    env_destroy(env);
    job_progress_fini(&progress);
    batch_store_release(store);
}

struct number {
    const char *name;
    uint64_t value;
};

/* The document has exactly these numbers under these keys. */
static void has_numbers(const json_t *object, const struct number *numbers, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const json_t *found = json_object_get(object, numbers[i].name);
        if (!json_is_integer(found) || (uint64_t)json_integer_value(found) != numbers[i].value)
            fail_msg("%s is not %" PRIu64, numbers[i].name, numbers[i].value);
    }
}

/* The text has each of these samples, under a family of its own of that type. */
static void has_samples(const char *text, const char *type, const char *labels,
                        const struct number *numbers, size_t count)
{
    const char *suffix = strcmp(type, "counter") == 0 ? "_total" : "";
    for (size_t i = 0; i < count; i++) {
        char line[200];
        snprintf(line, sizeof line, "# TYPE %s %s\n", numbers[i].name, type);
        if (strstr(text, line) == NULL)
            fail_msg("no line %s", line);
        snprintf(line, sizeof line, "# HELP %s ", numbers[i].name);
        if (strstr(text, line) == NULL)
            fail_msg("no line %s", line);
        snprintf(line, sizeof line, "\n%s%s%s %" PRIu64 "\n", numbers[i].name, suffix, labels,
                 numbers[i].value);
        if (strstr(text, line) == NULL)
            fail_msg("no line %s in %s", line, text);
    }
}

#define COUNT(numbers) (sizeof(numbers) / sizeof *(numbers))

/* Every counter of the node, its batches, its connections and its links is in the document and in
 * the metrics, under its own name. */
static void every_counter_is_reported(void **unused)
{
    struct linked_pair pair;
    struct node_counters c;
    struct links_counters refused;
    struct links_status link;
    struct job_progress progress;
    (void)unused;
    linked_pair_open(&pair, 1);
    linked_pair_run(&pair, 2 * ENV_SECOND_NS);
    struct batch_store *store = batch_store_create(1 << 20);
    assert_non_null(store);
    for (uint32_t i = 0; i < 3; i++)
        batch_store_note_made(store);
    job_progress_init(&progress);
    uint64_t now_ns = env_sim_now_ns(pair.env);
    const struct status_options options = { .job = "job",
                                            .roles = "server, trainer",
                                            .store = store,
                                            .progress = &progress,
                                            .node = 7,
                                            .incarnation = 9,
                                            .restarts = 5,
                                            .begin_ns = now_ns - ENV_SECOND_NS * 3 / 2 };
    json_t *document = status_json(&options, pair.nodes[0], now_ns);
    char *text = metrics_text(&options, pair.nodes[0], now_ns);
    assert_true(document != NULL && text != NULL);
    node_counters(pair.nodes[0], &c);
    links_counters(pair.nodes[0], &refused);
    assert_int_equal(links_status(pair.nodes[0], &link, 1), 1);
    assert_true(link.state == LINKS_UP && link.bytes_sent > 0 && link.connections > 0);
    assert_true(link.bytes_received > 0 && link.credit_bytes > 0);

    const struct number of_node[] = {
        { "messages_live", c.messages_live },
        { "buffers_live", c.buffers_live },
        { "calls_open", c.calls_open },
        { "actors_live", c.actors_live },
        { "sent", c.sent },
        { "delivered", c.delivered },
        { "dropped_full", c.dropped_full },
        { "dropped_expired", c.dropped_expired },
        { "stale", c.stale },
        { "late_replies", c.late_replies },
        { "long_turns", c.long_turns },
        { "restarts", c.restarts },
        { "mailbox_messages_max", c.mailbox_messages_max },
    };
    const struct number of_connections[] = {
        { "accepted", refused.accepted },         { "refused", refused.refused },
        { "unproved", refused.dropped_unproved }, { "corrupt", refused.corrupt },
        { "observers", refused.observers },
    };
    const struct number of_link[] = {
        { "node", 1 },
        { "incarnation", link.incarnation },
        { "bytes_sent", link.bytes_sent },
        { "bytes_received", link.bytes_received },
        { "messages_sent", link.messages_sent },
        { "messages_received", link.messages_received },
        { "queued_bytes", link.queued_bytes },
        { "retained_bytes", link.retained_bytes },
        { "credit_bytes", link.credit_bytes },
        { "connections", link.connections },
    };
    const struct number of_process[] = {
        { "node", 7 },          { "incarnation", 9 },
        { "restarts", 5 },      { "batch_bytes", batch_store_used(store) },
        { "era", 0 },           { "epoch", 0 },
        { "epochs", 0 },        { "step", 0 },
        { "steps", 0 },         { "batches_made", 3 },
        { "batches_taken", 0 },
    };
    const json_t *links = json_object_get(document, "links");
    assert_int_equal(json_array_size(links), 1);
    has_numbers(document, of_process, COUNT(of_process));
    has_numbers(json_object_get(document, "counters"), of_node, COUNT(of_node));
    has_numbers(json_object_get(document, "refused"), of_connections, COUNT(of_connections));
    has_numbers(json_array_get(links, 0), of_link, COUNT(of_link));
    const json_t *state = json_object_get(json_array_get(links, 0), "state");
    assert_string_equal(json_string_value(state), "up");
    assert_true(json_real_value(json_object_get(json_array_get(links, 0), "silent_seconds")) ==
                (double)link.silent_ns / 1e9);
    assert_true(json_real_value(json_object_get(document, "uptime_seconds")) == 1.5);
    assert_null(json_object_get(document, "checkpoint"));

    const struct number counters[] = {
        { "troupe_messages_sent", c.sent },
        { "troupe_messages_delivered", c.delivered },
        { "troupe_messages_dropped_full", c.dropped_full },
        { "troupe_requests_expired", c.dropped_expired },
        { "troupe_replies_late", c.late_replies },
        { "troupe_turns_long", c.long_turns },
        { "troupe_actor_restarts", c.restarts },
        { "troupe_connections_accepted", refused.accepted },
        { "troupe_connections_refused", refused.refused },
        { "troupe_connections_unproved", refused.dropped_unproved },
        { "troupe_records_corrupt", refused.corrupt },
        { "troupe_batches_made", 3 },
        { "troupe_batches_taken", 0 },
    };
    const struct number gauges[] = {
        { "troupe_messages_live", c.messages_live },
        { "troupe_calls_open", c.calls_open },
        { "troupe_actors", c.actors_live },
        { "troupe_mailbox_messages", c.mailbox_messages },
        { "troupe_mailbox_bytes", c.mailbox_bytes },
        { "troupe_mailbox_messages_max", c.mailbox_messages_max },
        { "troupe_process_restarts", 5 },
        { "troupe_observers", refused.observers },
        { "troupe_batch_bytes", batch_store_used(store) },
        { "troupe_era", 0 },
        { "troupe_epoch", 0 },
        { "troupe_epochs", 0 },
        { "troupe_step", 0 },
        { "troupe_steps", 0 },
    };
    const struct number link_counters[] = { { "troupe_link_sent_bytes", link.bytes_sent },
                                            { "troupe_link_received_bytes", link.bytes_received } };
    const struct number link_gauges[] = { { "troupe_link_up", 1 },
                                          { "troupe_link_queued_bytes", link.queued_bytes },
                                          { "troupe_link_credit_bytes", link.credit_bytes } };
    has_samples(text, "counter", "", counters, COUNT(counters));
    has_samples(text, "gauge", "", gauges, COUNT(gauges));
    has_samples(text, "counter", "{peer=\"1\"}", link_counters, COUNT(link_counters));
    has_samples(text, "gauge", "{peer=\"1\"}", link_gauges, COUNT(link_gauges));
    assert_non_null(strstr(text, "\ntroupe_uptime_seconds 1.500\n"));
    assert_non_null(strstr(text, "\n# UNIT troupe_uptime_seconds seconds\n"));
    assert_non_null(strstr(text, "\ntroupe_process_info{job=\"job\",process=\"7\",incarnation="
                                 "\"9\",roles=\"server, trainer\"} 1\n"));
    assert_null(strstr(text, "troupe_checkpoint_step"));
    free(text);
    json_decref(document);

    /* A peer that is gone is there, and its link is not up. */
    node_stop(pair.nodes[1], now_ns);
    env_sim_run(pair.env, NULL, NULL, now_ns + 30 * ENV_SECOND_NS);
    document = status_json(&options, pair.nodes[0], now_ns);
    text = metrics_text(&options, pair.nodes[0], now_ns);
    state = json_object_get(json_array_get(json_object_get(document, "links"), 0), "state");
    assert_string_not_equal(json_string_value(state), "up");
    assert_non_null(strstr(text, "\ntroupe_link_up{peer=\"1\"} 0\n"));
    free(text);
    json_decref(document);
    job_progress_fini(&progress);
    batch_store_release(store);
    linked_pair_close(&pair);
}

/* Seeds a second are those of the last seconds, or of the last batches where these are slower; they
 * fall where no batch comes any more. What is not finite is not known. */
static void a_pace_is_of_late(void **unused)
{
    struct job_progress progress;
    (void)unused;
    job_progress_init(&progress);
    assert_true(job_progress_pace(&progress, 5 * ENV_SECOND_NS) == 0);
    /* 100 seeds each tenth of a second. */
    uint64_t now_ns = ENV_SECOND_NS;
    for (uint32_t i = 0; i < 100; i++, now_ns += ENV_SECOND_NS / 10)
        job_progress_note_seeds(&progress, 100, now_ns);
    double pace = job_progress_pace(&progress, now_ns);
    assert_true(pace > 999 && pace < 1001);
    assert_int_equal(job_progress_look(&progress).seeds, 10000);
    /* It ended. */
    assert_true(job_progress_pace(&progress, now_ns + 100 * ENV_SECOND_NS) < 20);
    /* Batches that take 20 s each: between two of them the pace stays. */
    for (uint32_t i = 0; i < 3; i++, now_ns += 20 * ENV_SECOND_NS)
        job_progress_note_seeds(&progress, 100, now_ns);
    pace = job_progress_pace(&progress, now_ns - ENV_SECOND_NS);
    assert_true(pace > 4.9 && pace < 5.1);
    pace = job_progress_pace(&progress, now_ns + 10 * ENV_SECOND_NS);
    assert_true(pace > 4.9 && pace < 5.1);

    job_progress_note_loss(&progress, (double)NAN);
    job_progress_note_score(&progress, "a name that is far longer than its bound",
                            (double)INFINITY);
    struct job_progress_now now = job_progress_look(&progress);
    assert_false(now.has_loss || now.has_score);
    assert_int_equal(strlen(now.score_name), JOB_SCORE_NAME_MAX - 1);
    job_progress_note_loss(&progress, 1.5);
    assert_true(job_progress_look(&progress).has_loss);
    job_progress_fini(&progress);

    job_progress_note_seeds(NULL, 1, 1);
    job_progress_note_loss(NULL, 1);
    job_progress_note_score(NULL, "", 1);
    assert_true(job_progress_pace(NULL, 1) == 0);
}

/* The progress of trainers here: an era takes back the steps of the one before, whatever else
 * stays. */
static void progress_is_what_was_noted_last(void **unused)
{
    struct job_progress progress;
    (void)unused;
    job_progress_init(&progress);
    job_progress_note_epochs(&progress, 4);
    job_progress_note_era(&progress, 3, true, 70);
    job_progress_note_step(&progress, 0, 8, 20);
    struct job_progress_now now = job_progress_look(&progress);
    assert_true(now.era == 3 && now.has_checkpoint && now.checkpoint == 70);
    assert_true(now.epoch == 1 && now.epochs == 4 && now.step == 8 && now.steps == 20);
    job_progress_note_era(&progress, 3, true, 71); /* said again */
    now = job_progress_look(&progress);
    assert_true(now.epoch == 1 && now.step == 8 && now.steps == 20 && now.checkpoint == 71);
    job_progress_note_checkpoint(&progress, 90, 1);
    assert_int_equal(job_progress_look(&progress).checkpoint, 90);
    job_progress_note_era(&progress, 4, false, 90);
    now = job_progress_look(&progress);
    assert_true(now.era == 4 && !now.has_checkpoint && now.checkpoint == 0);
    assert_true(now.epoch == 0 && now.epochs == 4 && now.step == 0 && now.steps == 0);
    job_progress_note_checkpoint(&progress, 0, 1); /* before the first step */
    assert_true(job_progress_look(&progress).has_checkpoint);
    job_progress_fini(&progress);
    /* Where nobody keeps it, nothing is noted. */
    job_progress_note_era(NULL, 1, true, 1);
    job_progress_note_checkpoint(NULL, 1, 1);
    job_progress_note_step(NULL, 1, 1, 1);
    job_progress_note_epochs(NULL, 1);
    now = job_progress_look(NULL);
    assert_true(now.era == 0 && !now.has_checkpoint && now.epochs == 0 && now.step == 0);
}

/* Asks more often than are answered at a time, in one turn. */
struct crowd {
    struct address status;
    uint32_t answered, refused, other;
};

static void crowd_answered(struct actor *self, void *arg, int status, struct message *reply)
{
    struct crowd *crowd = arg;
    crowd->answered += status == 0 && reply->frame.kind == MSG_STATUS_REPLY;
    crowd->refused += status == TR_EFULL;
    crowd->other += status != 0 && status != TR_EFULL;
    message_release(self, reply);
}

static int start_crowd(struct actor *self, const void *arg)
{
    struct crowd *crowd = (struct crowd *)(uintptr_t)arg;
    for (uint32_t i = 0; i <= STATUS_ASKED_MAX; i++) {
        struct message *request = message_create(self, MSG_STATUS_REQUEST);
        assert_non_null(request);
        assert_int_equal(actor_call(self, crowd->status, request,
                                    actor_now_ns(self) + 10 * ENV_SECOND_NS, crowd_answered, crowd,
                                    NULL),
                         0);
    }
    return 0;
}

static int drop(struct actor *self, struct message *message)
{
    message_release(self, message);
    return 0;
}

static const struct actor_ops crowd_ops = { .name = "crowd",
                                            .start = start_crowd,
                                            .receive = drop };

/* One more than the bound is refused at once, and when they are answered as many are again. */
static void so_many_are_answered_at_a_time(void **unused)
{
    struct linked_pair pair;
    (void)unused;
    linked_pair_open(&pair, 1);
    linked_pair_run(&pair, 2 * ENV_SECOND_NS);
    struct batch_store *store = batch_store_create(1 << 20);
    struct crowd crowds[2] = { { .refused = 0 } };
    const struct status_options options = { .job = "job", .roles = "", .store = store };
    const struct actor_options status = { .ops = &status_ops, .arg = &options };
    assert_int_equal(node_spawn(pair.nodes[0], &status, &crowds[0].status), 0);
    linked_pair_run(&pair, ENV_SECOND_NS);
    for (uint32_t i = 0; i < 2; i++) {
        struct actor_options crowd = { .ops = &crowd_ops, .arg = &crowds[i] };
        struct address ignored;
        crowds[i].status = crowds[0].status;
        assert_int_equal(node_spawn(pair.nodes[0], &crowd, &ignored), 0);
        linked_pair_run(&pair, 20 * ENV_SECOND_NS);
        assert_int_equal(crowds[i].answered, STATUS_ASKED_MAX);
        assert_int_equal(crowds[i].refused, 1);
        assert_int_equal(crowds[i].other, 0);
    }
    linked_pair_close(&pair);
    batch_store_release(store);
}

/* Whatever is short, each request is answered: with a whole document, or that memory is short. */
static void a_process_short_of_memory_answers_too(void **unused)
{
    static const uint32_t FAIL_PPM[] = { 0, 100000, 300000, 1000000 };
    uint32_t told = 0, refused = 0;
    (void)unused;
    for (uint64_t seed = 0; seed < 40; seed++) {
        struct asker asker;
        struct batch_store *store = batch_store_create(1 << 20);
        const struct status_options options = { .job = "job", .roles = "", .store = store };
        asker_open(&asker, seed, true);
        asker_spawn(&asker, &status_ops, &options);
        assert_int_equal(asker_ask(&asker, MSG_STATUS_REQUEST, NULL, 0, NULL, 0), 0);
        asker.alloc_fail_ppm = FAIL_PPM[seed % COUNT(FAIL_PPM)];
        asker_ask(&asker, MSG_STATUS_REQUEST, NULL, 0, NULL, 0);
        if (asker.status != 0 && asker.status != TR_ENOMEM)
            fail_msg("seed %" PRIu64 ": %s", seed, tr_error_name(asker.status));
        refused += asker.status != 0;
        if (asker.alloc_fail_ppm == 1000000)
            assert_int_equal(asker.status, TR_ENOMEM);
        asker.alloc_fail_ppm = 0;
        assert_int_equal(asker_ask(&asker, MSG_STATUS_REQUEST, NULL, 0, NULL, 0), 0);
        assert_int_equal(asker.reply_kind, MSG_STATUS_REPLY);
        json_t *document = json_loadb((const char *)asker.reply, asker.reply_bytes, 0, NULL);
        assert_non_null(document);
        assert_true(json_array_size(json_object_get(document, "actors")) >= 3);
        json_decref(document);
        told++;
        asker_close(&asker);
        batch_store_release(store);
    }
    assert_true(told == 40 && refused >= 10 && refused < 30);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_process_tells_what_each_loop_holds),
        cmocka_unit_test(a_pace_is_of_late),
        cmocka_unit_test(every_counter_is_reported),
        cmocka_unit_test(progress_is_what_was_noted_last),
        cmocka_unit_test(so_many_are_answered_at_a_time),
        cmocka_unit_test(a_process_short_of_memory_answers_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
