/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A node without a router: its actors call each other, and every other node is down.
 *
 * The program is linked without the rooms event and net, so it shows too that the core needs
 * neither.
 */
#include "tests/runtime/support.h"

#include "runtime/core/call.h"
#include "runtime/core/directory.h"
#include "runtime/core/dump.h"
#include "runtime/core/monitor.h"
#include "runtime/core/timer.h"

#define CALLS 100u

/* The calls that were tried, and how they ended; 1: not yet. */
struct outcome {
    struct address server;
    uint32_t answered;
    int sent, called, forwarded, down, looked_up, waited;
};

static const struct address elsewhere = { .node = 7, .incarnation = 1, .slot = 3, .generation = 1 };
static const struct address observer = {
    .node = NODE_OBSERVERS + 1, .incarnation = 1, .slot = 3, .generation = 1
};

static int serve(struct actor *self, struct message *message)
{
    struct message *reply = message_create(self, KIND_ANSWER);
    assert_non_null(reply);
    *(struct number *)message_head(reply) = *(struct number *)message_head(message);
    return actor_reply(self, message, reply);
}

static const struct actor_ops server_ops = { .name = "server", .receive = serve };

static void answered(struct actor *self, void *arg, int status, struct message *reply)
{
    struct outcome *outcome = arg;
    assert_int_equal(status, 0);
    outcome->answered++;
    message_release(self, reply);
}

static void keep_status(struct actor *self, void *arg, int status, struct message *reply)
{
    assert_null(reply);
    (void)self;
    *(int *)arg = status;
}

static void keep_down(struct actor *self, void *arg, struct address who, int reason)
{
    (void)self;
    assert_true(address_equal(who, observer));
    *(int *)arg = reason;
}

static void keep_found(struct actor *self, void *arg, int status, struct address address)
{
    (void)self;
    (void)address;
    *(int *)arg = status;
}

static void call(struct actor *self, struct address to, call_done *done, void *arg)
{
    struct message *request = message_create(self, KIND_ASK);
    assert_non_null(request);
    assert_int_equal(
        actor_call(self, to, request, actor_now_ns(self) + ENV_SECOND_NS, done, arg, NULL), 0);
}

static int try_all(struct actor *self, const void *arg)
{
    struct outcome *outcome = (void *)(uintptr_t)arg;
    for (uint32_t i = 0; i < CALLS; i++)
        call(self, outcome->server, answered, outcome);
    outcome->sent = support_send(self, elsewhere, KIND_NUMBER, 1);
    call(self, elsewhere, keep_status, &outcome->called);
    call(self, observer, keep_status, &outcome->forwarded);
    assert_int_equal(actor_monitor(self, observer, keep_down, &outcome->down, NULL), 0);
    outcome->looked_up = directory_lookup_at(self, 7, "server", actor_now_ns(self) + ENV_SECOND_NS,
                                             keep_found, &outcome->waited);
    return 0;
}

static const struct actor_ops tester_ops = { .name = "tester",
                                             .start = try_all,
                                             .receive = support_discard };

static bool is_over(void *arg)
{
    const struct outcome *outcome = arg;
    return outcome->answered == CALLS && outcome->called < 1 && outcome->forwarded < 1 &&
           outcome->down < 1;
}

static void a_node_without_a_router_runs_its_actors_and_finds_others_down(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 50; seed++) {
        struct env *env = NULL;
        assert_int_equal(env_sim_create(seed, NULL, &env), 0);
        struct node *node = support_sim_node(env, 1, 3);
        struct outcome outcome = {
            .called = 1, .forwarded = 1, .down = 1, .looked_up = 1, .waited = 1
        };
        struct actor_options server = { .ops = &server_ops, .loop = 1 };
        struct actor_options tester = { .ops = &tester_ops, .arg = &outcome, .loop = 2 };
        struct address address;
        assert_int_equal(node_spawn(node, &server, &outcome.server), 0);
        assert_int_equal(node_spawn(node, &tester, &address), 0);
        assert_int_equal(node_start(node), 0);
        uint64_t deadline_ns = env_sim_now_ns(env) + 10 * ENV_SECOND_NS;
        assert_int_equal(env_sim_run(env, is_over, &outcome, deadline_ns), 0);
        assert_int_equal(outcome.sent, TR_EPEERDOWN);
        assert_int_equal(outcome.called, TR_EPEERDOWN);
        assert_int_equal(outcome.forwarded, TR_EPEERDOWN);
        assert_int_equal(outcome.down, TR_EPEERDOWN);
        assert_int_equal(outcome.looked_up, TR_ENOENT);
        assert_int_equal(outcome.waited, 1); /* nothing was asked */
        node_dump_request(node);
        support_sim_finish(env, node);
        env_destroy(env);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_node_without_a_router_runs_its_actors_and_finds_others_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
