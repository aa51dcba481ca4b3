/* SPDX-License-Identifier: Apache-2.0 */
/* A process ends when another one of its job has never been there in the time that the plan gives,
 * whichever of the two is to connect; one that has been there, and went, ends nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "actors/common/process_member.h"
#include "actors/job/first_contact.h"
#include "runtime/net/links.h"
#include "runtime/sim/env_sim.h"
#include "schemas/messages.h"

#define PROCESSES 3u
#define SELF 1u /* 2 connects to it, and it connects to 0 */
#define NOBODY UINT32_MAX

struct stage {
    struct env *env;
    struct kinds kinds;
    struct node *nodes[PROCESSES];
    struct plan plan;
    struct first_contact_options options;
    bool root_ended;
    int root_reason;
    char line[LOG_LINE_MAX];
};

static void keep_line(void *arg, enum log_level level, const char *component, const char *line)
{
    struct stage *stage = arg;
    if (level == LOG_LEVEL_ERROR && strcmp(component, "job") == 0)
        snprintf(stage->line, sizeof stage->line, "%s", line);
}

static int drop(struct actor *self, struct message *message)
{
    message_release(self, message);
    return 0;
}

static int keep_stage(struct actor *self, const void *arg)
{
    actor_set_state(self, (void *)(uintptr_t)arg);
    return 0;
}

static void root_fini(struct actor *self)
{
    struct stage *stage = actor_state(self);
    stage->root_ended = true;
    stage->root_reason = actor_reason(self);
}

static void open_stage(struct stage *stage, uint64_t limit_ns, uint32_t missing)
{
    static const struct endpoint ends[PROCESSES] = {
        { .kind = ENDPOINT_UNIX, .host = "n/0" },
        { .kind = ENDPOINT_UNIX, .host = "n/1" },
        { .kind = ENDPOINT_UNIX, .host = "n/2" },
    };
    static const struct actor_ops root_ops = {
        .name = "root", .start = keep_stage, .receive = drop, .fini = root_fini
    };
    *stage = (struct stage){ .plan = { .num_processes = PROCESSES, .first_ns = limit_ns } };
    assert_int_equal(env_sim_create(1, NULL, &stage->env), 0);
    assert_int_equal(messages_register(&stage->kinds, NULL), 0);
    for (uint32_t i = 0; i < PROCESSES; i++) {
        struct links_peer peers[PROCESSES - 1];
        for (uint32_t p = 0; p < PROCESSES - 1; p++) {
            uint32_t other = p + (p >= i);
            peers[p] = (struct links_peer){ .node = other,
                                            .endpoint = ends[other],
                                            .name = other == 0 ? "a" : "c" };
        }
        const struct node_options options = { .id = i,
                                              .loops = 1,
                                              .kinds = &stage->kinds,
                                              .log = { keep_line, stage, LOG_LEVEL_ERROR } };
        const struct links_options links = { .cluster = "test",
                                             .listen = &ends[i],
                                             .num_listen = 1,
                                             .peers = peers,
                                             .num_peers = PROCESSES - 1 };
        if (i == missing)
            continue;
        assert_int_equal(node_create(stage->env, &options, &stage->nodes[i], NULL), 0);
        assert_int_equal(links_create(stage->nodes[i], &links, NULL), 0);
        assert_int_equal(node_start(stage->nodes[i]), 0);
    }
    const struct actor_options root = { .ops = &root_ops, .arg = stage };
    assert_int_equal(node_spawn(stage->nodes[SELF], &root, &stage->options.root), 0);
    stage->options.plan = &stage->plan;
    const struct actor_options watcher = { .ops = &first_contact_ops, .arg = &stage->options };
    struct address address;
    assert_int_equal(node_spawn(stage->nodes[SELF], &watcher, &address), 0);
}

static void run_for(struct stage *stage, uint64_t ns)
{
    env_sim_run(stage->env, NULL, NULL, env_sim_now_ns(stage->env) + ns);
}

static bool are_stopped(void *arg)
{
    const struct stage *stage = arg;
    for (uint32_t i = 0; i < PROCESSES; i++)
        if (stage->nodes[i] != NULL && !node_is_stopped(stage->nodes[i]))
            return false;
    return true;
}

static void close_stage(struct stage *stage)
{
    for (uint32_t i = 0; i < PROCESSES; i++)
        if (stage->nodes[i] != NULL)
            node_stop(stage->nodes[i], env_sim_now_ns(stage->env) + ENV_SECOND_NS);
    assert_int_equal(env_sim_run(stage->env, are_stopped, stage,
                                 env_sim_now_ns(stage->env) + 60 * ENV_SECOND_NS),
                     0);
    for (uint32_t i = 0; i < PROCESSES; i++)
        if (stage->nodes[i] != NULL)
            node_destroy(stage->nodes[i]);
    env_destroy(stage->env);
}

static void a_process_that_never_comes_ends_this_one(void **unused)
{
    static const struct {
        uint64_t planned_ns, limit_ns;
        uint32_t missing;
        const char *line;
    } cases[] = {
        { 9 * ENV_SECOND_NS, 9 * ENV_SECOND_NS, 0,
          "process 0 (a, unix:n/0) never answered in 9 seconds; this process ends: " },
        { 9 * ENV_SECOND_NS, 9 * ENV_SECOND_NS, 2,
          "process 2 (c, unix:n/2) never answered in 9 seconds; this process ends: " },
        { 0, MEMBER_FIRST_JOIN_NS, 2,
          "process 2 (c, unix:n/2) never answered in 600 seconds; this process ends: " },
    };
    (void)unused;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct stage stage;
        open_stage(&stage, cases[i].planned_ns, cases[i].missing);
        run_for(&stage, cases[i].limit_ns - ENV_SECOND_NS / 2);
        assert_false(stage.root_ended);
        assert_string_equal(stage.line, "");
        run_for(&stage, 2 * ENV_SECOND_NS);
        assert_true(stage.root_ended);
        assert_int_equal(stage.root_reason, TR_EPEERDOWN);
        assert_memory_equal(stage.line, cases[i].line, strlen(cases[i].line));
        assert_non_null(strstr(stage.line, "limits.start of the cluster file"));
        close_stage(&stage);
    }
}

static void one_that_came_and_went_ends_nothing(void **unused)
{
    struct stage stage;
    (void)unused;
    open_stage(&stage, 9 * ENV_SECOND_NS, NOBODY);
    run_for(&stage, 4 * ENV_SECOND_NS);
    node_stop(stage.nodes[0], env_sim_now_ns(stage.env) + ENV_SECOND_NS);
    run_for(&stage, 60 * ENV_SECOND_NS);
    assert_false(stage.root_ended);
    assert_string_equal(stage.line, "");
    close_stage(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_process_that_never_comes_ends_this_one),
        cmocka_unit_test(one_that_came_and_went_ends_nothing),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests_name("first_contact", tests, NULL, NULL);
}
