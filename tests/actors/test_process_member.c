/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A member of the job and a coordinator that answers as a script says: how often and how long the
 * member asks, with what it ends, and what becomes of its process then.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "actors/common/error_reply.h"
#include "actors/common/process_member.h"
#include "runtime/base/error.h"
#include "runtime/core/call.h"
#include "runtime/core/directory.h"
#include "runtime/core/monitor.h"
#include "runtime/core/node_impl.h"
#include "tests/actors/asker.h"

#define MS UINT64_C(1000000)
#define JOINED 0
#define OTHER_KIND 1 /* an answer to something else */
#define ANSWERS_MAX 4
#define TRIES_MAX 64
#define LINE_MAX_BYTES 256
#define ERA 5

struct stage {
    struct asker asker;
    struct plan plan;
    struct process_member member;
    bool absent;              /* there is no coordinator */
    bool with_root;           /* the member has a process to end */
    int answers[ANSWERS_MAX]; /* the last one for ever */
    uint32_t num_answers;
    uint64_t stop_after_ns; /* 0: the member is not stopped */
    struct address member_address, root_address;
    struct timer timer;
    /* The outcome. */
    struct msg_join join; /* the first */
    uint64_t tries_ns[TRIES_MAX];
    uint32_t tries, joins;
    bool member_ended, root_ended;
    int member_reason, root_reason;
    uint64_t ended_ns;
    char line[LINE_MAX_BYTES];
};

static int drop(struct actor *self, struct message *message)
{
    message_release(self, message);
    return 0;
}

static int start_coordinator(struct actor *self, const void *arg)
{
    actor_set_state(self, (void *)(uintptr_t)arg);
    return directory_register(self, COORDINATOR_NAME, NULL, NULL);
}

static int answer_join(struct actor *self, struct message *request)
{
    struct stage *stage = actor_state(self);
    uint32_t turn = stage->tries < stage->num_answers ? stage->tries : stage->num_answers - 1;
    int answer = stage->answers[turn];
    assert_int_equal(request->frame.kind, MSG_JOIN);
    assert_true(stage->tries < TRIES_MAX);
    if (stage->tries == 0)
        memcpy(&stage->join, message_head(request), sizeof stage->join);
    stage->tries_ns[stage->tries++] = actor_now_ns(self);
    if (answer < 0) {
        struct error error = { 0 };
        error_set(&error, answer, "as the script says");
        error_reply_send(self, request, &error);
        return 0;
    }
    struct message *reply = message_create(self, answer == JOINED ? MSG_JOINED : MSG_BARRIER_DONE);
    assert_non_null(reply);
    if (answer == JOINED)
        ((struct msg_joined *)message_head(reply))->era = ERA;
    actor_reply(self, request, reply);
    return 0;
}

static const struct actor_ops coordinator = { .name = "coordinator",
                                              .start = start_coordinator,
                                              .receive = answer_join };

static void on_joined(struct actor *self, struct process_member *member)
{
    struct stage *stage = actor_state(self);
    stage->joins++;
    assert_int_equal(member->era, ERA);
    assert_true(address_equal(member->coordinator, stage->asker.to));
}

static void stop_member(struct actor *self, void *arg)
{
    struct stage *stage = arg;
    env_sim_set_alloc_fail(stage->asker.env, stage->asker.alloc_fail_ppm);
    process_member_stop(self, &stage->member);
}

static int start_member(struct actor *self, const void *arg)
{
    struct stage *stage = (struct stage *)(uintptr_t)arg;
    actor_set_state(self, stage);
    stage->member.joined = on_joined;
    if (stage->stop_after_ns != 0)
        timer_start(self, &stage->timer, actor_now_ns(self) + stage->stop_after_ns, stop_member,
                    stage);
    return process_member_join(self, &stage->member);
}

static const struct actor_ops member_ops = { .name = "member",
                                             .start = start_member,
                                             .receive = drop };
static const struct actor_ops root_ops = { .name = "root", .receive = drop };

static void down(struct actor *self, void *arg, struct address who, int reason)
{
    struct stage *stage = arg;
    if (address_equal(who, stage->root_address)) {
        stage->root_ended = true;
        stage->root_reason = reason;
    } else {
        stage->member_ended = true;
        stage->member_reason = reason;
        stage->ended_ns = actor_now_ns(self);
    }
}

static int spawn(struct actor *self, const struct actor_ops *ops, struct stage *stage,
                 struct address *address)
{
    const struct actor_options options = { .ops = ops,
                                           .arg = stage,
                                           .restart = ACTOR_RESTART_NEVER };
    return actor_spawn(self, &options, address);
}

/* The parent of all, so that the failure of one concerns nobody else. */
static int start_watcher(struct actor *self, const void *arg)
{
    struct stage *stage = (struct stage *)(uintptr_t)arg;
    actor_set_state(self, stage);
    if (!stage->absent)
        assert_int_equal(spawn(self, &coordinator, stage, &stage->asker.to), 0);
    assert_int_equal(spawn(self, &root_ops, stage, &stage->root_address), 0);
    if (stage->with_root)
        stage->member.root = stage->root_address;
    assert_int_equal(spawn(self, &member_ops, stage, &stage->member_address), 0);
    assert_int_equal(actor_monitor(self, stage->root_address, down, stage, NULL), 0);
    return actor_monitor(self, stage->member_address, down, stage, NULL);
}

static const struct actor_ops watcher_ops = { .name = "watcher",
                                              .start = start_watcher,
                                              .receive = drop };

static int kill_coordinator(struct actor *self, const void *arg)
{
    const struct stage *stage = arg;
    return actor_kill(self, stage->asker.to, TR_EIO);
}

static const struct actor_ops killer_ops = { .name = "killer",
                                             .start = kill_coordinator,
                                             .receive = drop };

static void spawn_root(struct stage *stage, const struct actor_ops *ops)
{
    const struct actor_options options = { .ops = ops, .arg = stage };
    struct address ignored;
    assert_int_equal(node_spawn(stage->asker.node, &options, &ignored), 0);
}

static void keep_error(void *arg, enum log_level level, const char *component, const char *line)
{
    char *kept = arg;
    if (level != LOG_LEVEL_ERROR || strcmp(component, "job") != 0)
        return;
    assert_string_equal(kept, ""); /* said once */
    snprintf(kept, LINE_MAX_BYTES, "%s", line);
}

static void run_for(struct stage *stage, uint64_t ns)
{
    struct env *env = stage->asker.env;
    (void)env_sim_run(env, NULL, NULL, env_sim_now_ns(env) + ns);
}

static void open_stage(struct stage *stage, bool with_root)
{
    asker_open(&stage->asker, 1, true);
    stage->asker.node->log = (struct log_sink){ keep_error, stage->line, LOG_LEVEL_ERROR };
    stage->with_root = with_root;
    spawn_root(stage, &watcher_ops);
}

static void expect_asked(const struct stage *stage, uint32_t tries)
{
    assert_int_equal(stage->tries, tries);
    for (uint32_t i = 1; i < tries; i++) {
        uint64_t pause_ns = stage->tries_ns[i] - stage->tries_ns[i - 1];
        assert_true(pause_ns >= MEMBER_RETRY_NS && pause_ns < 2 * MEMBER_RETRY_NS);
    }
}

/* A member says all that its owner set, and has what the coordinator answers. */
static void a_member_says_who_it_is(void **unused)
{
    (void)unused;
    for (int planned = 0; planned < 2; planned++) {
        struct stage stage = { .num_answers = 1,
                               .plan = { .coordinator = 1, .marks = { .plan = 11, .graph = 12 } },
                               .member = { .role = MSG_ROLE_REDUCER,
                                           .rank = 2,
                                           .restored = 3,
                                           .seen = 4,
                                           .passed_name = 5,
                                           .passed_sequence = 6,
                                           .over_name = 7,
                                           .over_sequence = 8 } };
        stage.member.plan = planned ? &stage.plan : NULL;
        open_stage(&stage, true);
        run_for(&stage, 100 * ENV_SECOND_NS);
        expect_asked(&stage, 1);
        assert_int_equal(stage.joins, 1);
        assert_int_equal(stage.join.role, MSG_ROLE_REDUCER);
        assert_int_equal(stage.join.rank, 2);
        assert_int_equal(stage.join.era, 3);
        assert_int_equal(stage.join.seen, 4);
        assert_int_equal(stage.join.plan, planned ? 11 : 0);
        assert_int_equal(stage.join.graph, planned ? 12 : 0);
        assert_int_equal(stage.join.passed_name, 5);
        assert_int_equal(stage.join.passed_sequence, 6);
        assert_int_equal(stage.join.over_name, 7);
        assert_int_equal(stage.join.over_sequence, 8);
        assert_false(stage.member_ended || stage.root_ended);
        asker_close(&stage.asker);
    }
}

static void what_passes_is_asked_again_after_a_pause(void **unused)
{
    (void)unused;
    struct stage stage = { .num_answers = 4,
                           .answers = { TR_EEXIST, TR_EPEERDOWN, TR_EEXIST, JOINED } };
    open_stage(&stage, true);
    run_for(&stage, 100 * ENV_SECOND_NS);
    expect_asked(&stage, 4);
    assert_int_equal(stage.joins, 1);
    assert_false(stage.member_ended || stage.root_ended);
    assert_string_equal(stage.line, "");
    asker_close(&stage.asker);
}

/* Each answer that does not pass ends the member at once. Its process is killed for a failure, but
 * left to the coordinator beside it where the job is over. */
static void what_does_not_pass_ends_the_member(void **unused)
{
    (void)unused;
    static const struct {
        int answer;
        bool with_root;
        int reason;
        bool kills, said;
    } cases[] = {
        { TR_EEND, true, 0, false, false },
        { TR_EEND, false, TR_EEND, false, false },
        { TR_ECLOSED, true, TR_ECLOSED, false, false },
        { TR_ECLOSED, false, TR_ECLOSED, false, false },
        { TR_EMISMATCH, true, TR_EMISMATCH, true, true },
        { TR_EMISMATCH, false, TR_EMISMATCH, false, true },
        { OTHER_KIND, true, TR_EFORMAT, true, false },
        { OTHER_KIND, false, TR_EFORMAT, false, false },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0] * 2; i++) {
        struct stage stage = { .num_answers = 1,
                               .answers = { cases[i / 2].answer },
                               .plan = { .coordinator = 1 } };
        stage.member.plan = i % 2 == 0 ? &stage.plan : NULL;
        open_stage(&stage, cases[i / 2].with_root);
        run_for(&stage, MEMBER_RETRY_NS / 2);
        expect_asked(&stage, 1);
        assert_int_equal(stage.joins, 0);
        assert_true(stage.member_ended);
        assert_int_equal(stage.member_reason, cases[i / 2].reason);
        assert_int_equal(stage.root_ended, cases[i / 2].kills);
        if (cases[i / 2].kills)
            assert_int_equal(stage.root_reason, cases[i / 2].reason);
        assert_int_equal(strstr(stage.line, "refuses this process: as the script says") != NULL,
                         cases[i / 2].said);
        assert_int_equal(stage.line[0] != '\0', cases[i / 2].said);
        asker_close(&stage.asker);
    }
}

/* Where the plan says how long, that long; else the bounds of the header. */
static void a_member_waits_as_long_as_its_plan_says(void **unused)
{
    (void)unused;
    static const struct {
        bool planned;
        uint64_t first_ns, lost_ns;
        bool loses; /* it has had a coordinator */
        uint64_t expected_ns;
        const char *line;
    } cases[] = {
        { true, 3 * ENV_SECOND_NS, 7 * ENV_SECOND_NS, false, 3 * ENV_SECOND_NS,
          "node 1: the coordinator (process 1) has not answered for 3 seconds; this process ends" },
        { true, 3 * ENV_SECOND_NS, 7 * ENV_SECOND_NS, true, 7 * ENV_SECOND_NS,
          "node 1: the coordinator (process 1) has not answered for 7 seconds; this process ends" },
        { true, 0, 0, false, MEMBER_FIRST_JOIN_NS,
          "(process 1) has not answered for 600 seconds; this process ends" },
        { true, 0, 0, true, MEMBER_JOIN_NS,
          "(process 1) has not answered for 30 seconds; this process ends" },
        { false, 0, 0, false, MEMBER_FIRST_JOIN_NS,
          "(process 1) has not answered for 600 seconds; this process ends" },
        { false, 0, 0, true, MEMBER_JOIN_NS,
          "(process 1) has not answered for 30 seconds; this process ends" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct stage stage = {
            .num_answers = 1,
            .absent = !cases[i].loses,
            .plan = { .coordinator = 1,
                      .first_ns = cases[i].first_ns,
                      .lost_ns = cases[i].lost_ns },
        };
        stage.member.plan = cases[i].planned ? &stage.plan : NULL;
        open_stage(&stage, true);
        if (cases[i].loses) {
            run_for(&stage, 100 * ENV_SECOND_NS);
            assert_int_equal(stage.joins, 1);
            spawn_root(&stage, &killer_ops);
        }
        uint64_t from_ns = env_sim_now_ns(stage.asker.env);
        run_for(&stage, cases[i].expected_ns - 10 * MS);
        assert_false(stage.member_ended || stage.root_ended);
        assert_string_equal(stage.line, "");
        run_for(&stage, 2 * MEMBER_RETRY_NS);
        assert_true(stage.member_ended && stage.root_ended);
        assert_int_equal(stage.member_reason, TR_EPEERDOWN);
        assert_int_equal(stage.root_reason, TR_EPEERDOWN);
        assert_true(stage.ended_ns - from_ns >= cases[i].expected_ns - 10 * MS);
        assert_non_null(strstr(stage.line, cases[i].line));
        asker_close(&stage.asker);
    }
}

/* A refusal that may pass is waited for as long as a coordinator is, and no longer. Then it ends as
 * what was said, which is not that nobody was there: at each share of the pause that may be
 * left. */
static void a_refusal_that_stays_ends_the_member(void **unused)
{
    (void)unused;
    static const uint64_t extra_ns[] = { 0, 1, 10 * MS, MEMBER_RETRY_NS - 1 };
    for (size_t i = 0; i < sizeof extra_ns / sizeof extra_ns[0]; i++) {
        uint64_t patience_ns = ENV_SECOND_NS + extra_ns[i];
        struct stage stage = { .num_answers = 1,
                               .answers = { TR_EEXIST },
                               .plan = { .coordinator = 1, .first_ns = patience_ns } };
        stage.member.plan = &stage.plan;
        open_stage(&stage, true);
        run_for(&stage, patience_ns + 2 * MEMBER_RETRY_NS);
        assert_true(stage.tries > 10 && stage.tries <= patience_ns / MEMBER_RETRY_NS + 1);
        expect_asked(&stage, stage.tries);
        assert_true(stage.member_ended && stage.root_ended);
        assert_true(stage.ended_ns + MEMBER_RETRY_NS >= patience_ns);
        assert_int_equal(stage.member_reason, TR_EEXIST);
        assert_int_equal(stage.root_reason, TR_EEXIST);
        assert_non_null(strstr(stage.line, "refuses this process: as the script says"));
        asker_close(&stage.asker);
    }
}

/* A member that is stopped stops its process too, as soon as there is memory for it. */
static void a_member_that_is_stopped_ends_its_process(void **unused)
{
    (void)unused;
    for (int i = 0; i < 3; i++) {
        struct stage stage = { .num_answers = 1, .stop_after_ns = ENV_SECOND_NS };
        bool with_root = i > 0, short_of_memory = i > 1;
        open_stage(&stage, with_root);
        stage.asker.alloc_fail_ppm = short_of_memory ? 1000000 : 0;
        run_for(&stage, ENV_SECOND_NS + 10 * MEMBER_RETRY_NS);
        assert_int_equal(stage.member_ended, !short_of_memory);
        assert_int_equal(stage.root_ended, with_root && !short_of_memory);
        env_sim_set_alloc_fail(stage.asker.env, 0);
        run_for(&stage, 2 * MEMBER_RETRY_NS);
        assert_true(stage.member_ended);
        assert_int_equal(stage.member_reason, 0);
        assert_int_equal(stage.root_ended, with_root);
        assert_int_equal(stage.root_reason, 0);
        asker_close(&stage.asker);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_member_says_who_it_is),
        cmocka_unit_test(what_passes_is_asked_again_after_a_pause),
        cmocka_unit_test(what_does_not_pass_ends_the_member),
        cmocka_unit_test(a_member_waits_as_long_as_its_plan_says),
        cmocka_unit_test(a_refusal_that_stays_ends_the_member),
        cmocka_unit_test(a_member_that_is_stopped_ends_its_process),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
