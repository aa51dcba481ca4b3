/* SPDX-License-Identifier: Apache-2.0 */
/* A process tells its status to whoever asks: one document, with what each loop holds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "actors/report/metrics.h"
#include "actors/report/status.h"
#include "runtime/core/port.h"
#include "runtime/event/env_event.h"
#include "schemas/messages.h"

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
    request = port_message(port, MSG_META_REQUEST);
    assert_non_null(request);
    assert_int_equal(port_call(port, status, request, deadline_ns, &reply), TR_EUNSUPPORTED);
    port_close(port);
    port_destroy(port);
    return document;
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
    job_progress_note_checkpoint(&progress, 130);
    job_progress_note_step(&progress, 2, 5, 50);
    job_progress_note_epochs(&progress, 9);
    const struct status_options status = { .job = "job",
                                           .roles = "server",
                                           .store = store,
                                           .progress = &progress,
                                           .node = 3,
                                           .incarnation = 9,
                                           .begin_ns = env_now_ns(env) };
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
    uint32_t probes = 0;
    for (size_t i = 0; i < json_array_size(actors); i++) {
        const char *name = json_string_value(json_object_get(json_array_get(actors, i), "name"));
        probes += strcmp(name, "status probe") == 0;
    }
    assert_int_equal(probes, LOOPS);
    json_decref(document);

    char *text = metrics_text(&status, node, env_now_ns(env));
    assert_non_null(text);
    assert_non_null(strstr(text, "\ntroupe_era 4\n"));
    assert_non_null(strstr(text, "\ntroupe_checkpoint_step 130\n"));
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_process_tells_what_each_loop_holds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
