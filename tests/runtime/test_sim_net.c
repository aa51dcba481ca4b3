/* SPDX-License-Identifier: Apache-2.0 */
/* The simulated network: bytes in order and unchanged without faults, the same again from one seed,
 * and every fault seen by those whom it concerns. */
#include "tests/runtime/support.h"

#include "tests/runtime/echo.h"

struct town {
    struct env *env;
    struct node *nodes[3];
    struct echo_server server;
    struct echo_client clients[8];
};

static void spawn(struct town *town, int node, uint32_t loop, const struct actor_ops *ops,
                  void *arg)
{
    struct actor_options options = { .ops = ops, .arg = arg, .loop = loop };
    struct address address;
    assert_int_equal(node_spawn(town->nodes[node], &options, &address), 0);
}

static void found(struct town *town, uint64_t seed)
{
    memset(town, 0, sizeof *town);
    assert_int_equal(env_sim_create(seed, NULL, &town->env), 0);
    for (uint32_t i = 0; i < 3; i++) {
        town->nodes[i] = support_sim_node(town->env, i, 2);
        assert_int_equal(node_start(town->nodes[i]), 0);
    }
    assert_int_equal(endpoint_parse("tcp:host0:7000", &town->server.endpoint, NULL), 0);
    spawn(town, 0, 0, &echo_server_ops, &town->server);
    assert_int_equal(env_sim_run(town->env, NULL, NULL, UINT64_MAX), TR_EEND);
    assert_int_equal(town->server.listening, 1);
}

static void add_client(struct town *town, int i, int node, uint64_t bytes)
{
    town->clients[i].endpoint = town->server.endpoint;
    town->clients[i].bytes = bytes;
    spawn(town, node, (uint32_t)i % 2, &echo_client_ops, &town->clients[i]);
}

static void leave(struct town *town)
{
    for (int i = 0; i < 3; i++)
        support_sim_finish(town->env, town->nodes[i]);
    env_destroy(town->env);
}

static int run_for(struct town *town, uint64_t ns)
{
    return env_sim_run(town->env, NULL, NULL, env_sim_now_ns(town->env) + ns);
}

static uint64_t play(uint64_t seed)
{
    struct town town;
    found(&town, seed);
    for (int i = 0; i < 8; i++)
        add_client(&town, i, 1 + i % 2, 20000);
    assert_int_equal(run_for(&town, 100 * ENV_SECOND_NS), TR_EEND); /* quiescent */
    for (int i = 0; i < 8; i++) {
        assert_int_equal(town.clients[i].result, 1);
        assert_int_equal(town.clients[i].received, 20000);
        assert_int_equal(town.clients[i].wrong, 0);
    }
    assert_int_equal(town.server.ended, 8);
    assert_int_equal(town.server.broken, 0);
    uint64_t trace = env_sim_trace(town.env);
    leave(&town);
    return trace;
}

static void bytes_arrive_in_order_and_a_seed_repeats(void **state)
{
    (void)state;
    uint64_t before = 0;
    for (uint64_t seed = 0; seed < 20; seed++) {
        uint64_t trace = play(seed);
        assert_true(trace == play(seed));
        assert_true(trace != before);
        before = trace;
    }
}

static bool is_half_way(void *arg)
{
    struct town *town = arg;
    return town->clients[0].received > 1000;
}

static void a_reset_is_seen_by_both_ends(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 50; seed++) {
        struct town town;
        found(&town, seed);
        add_client(&town, 0, 1, 100000);
        assert_int_equal(env_sim_run(town.env, is_half_way, &town, 100 * ENV_SECOND_NS), 0);
        assert_true(env_sim_net_reset(town.env));
        assert_int_equal(run_for(&town, 100 * ENV_SECOND_NS), TR_EEND);
        assert_int_equal(town.clients[0].result, TR_EPEERDOWN);
        assert_int_equal(town.clients[0].wrong, 0); /* what came before it is right */
        assert_int_equal(town.server.broken, 1);
        assert_int_equal(town.server.ended, 0);
        assert_false(env_sim_net_reset(town.env)); /* none is left */
        leave(&town);
    }
}

static void a_clogged_way_delays_all_and_loses_nothing(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 50; seed++) {
        struct town town;
        found(&town, seed);
        add_client(&town, 0, 1, 600000); /* more than a pipe holds */
        assert_int_equal(env_sim_run(town.env, is_half_way, &town, 100 * ENV_SECOND_NS), 0);
        uint64_t until_ns = env_sim_now_ns(town.env) + 10 * ENV_SECOND_NS;
        bool there = seed % 2 == 0;
        env_sim_net_clog(town.env, there ? 1 : 0, there ? 0 : 1, until_ns);
        add_client(&town, 1, 1, 100); /* connecting hangs too */
        add_client(&town, 2, 2, 100); /* another way is free */
        run_for(&town, 9 * ENV_SECOND_NS);
        assert_int_equal(town.clients[0].result, 0);
        assert_int_equal(town.clients[1].result, 0);
        assert_int_equal(town.clients[2].result, 1);
        uint64_t received = town.clients[0].received;
        if (seed % 4 < 2) { /* freed early */
            env_sim_net_clog(town.env, there ? 1 : 0, there ? 0 : 1, 0);
            assert_int_equal(env_sim_run(town.env, NULL, NULL, until_ns - 1), TR_EEND);
        } else {
            assert_int_equal(run_for(&town, 100 * ENV_SECOND_NS), TR_EEND);
        }
        assert_true(town.clients[0].received > received);
        assert_int_equal(town.clients[0].result, 1);
        assert_int_equal(town.clients[0].wrong, 0);
        assert_int_equal(town.clients[1].result, 1);
        leave(&town);
    }
}

static void corruption_changes_bits_and_nothing_else(void **state)
{
    (void)state;
    uint64_t wrong = 0;
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct town town;
        found(&town, seed);
        env_sim_net_corrupt(town.env, 100000);
        add_client(&town, 0, 1, 50000);
        assert_int_equal(run_for(&town, 100 * ENV_SECOND_NS), TR_EEND);
        assert_int_equal(town.clients[0].result, 1);
        assert_int_equal(town.clients[0].received, 50000);
        wrong += town.clients[0].wrong;
        leave(&town);
    }
    assert_true(wrong > 0);
}

static void who_cannot_connect_learns_why(void **state)
{
    (void)state;
    static const struct {
        const char *endpoint;
        int code;
    } cases[] = { { "tcp:host0:7001", TR_EPEERDOWN },
                  { "unix:/none", TR_EPEERDOWN },
                  { "tcp:no-such-host.invalid:7000", TR_ENOENT } };
    struct town town;
    found(&town, 1);
    for (int i = 0; i < 3; i++) {
        add_client(&town, i, 1, 100);
        assert_int_equal(endpoint_parse(cases[i].endpoint, &town.clients[i].endpoint, NULL), 0);
    }
    struct echo_server second = { .endpoint = town.server.endpoint };
    spawn(&town, 2, 0, &echo_server_ops, &second);
    assert_int_equal(run_for(&town, 100 * ENV_SECOND_NS), TR_EEND);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(town.clients[i].result, cases[i].code);
        assert_non_null(strstr(town.clients[i].error.text, cases[i].endpoint));
    }
    assert_int_equal(second.listening, TR_EEXIST);
    leave(&town);
}

/* An endpoint that was not given is refused by both, at once; ports that nobody chose differ. */
static void endpoints_that_are_not_given_are_refused(void **state)
{
    (void)state;
    struct town town;
    found(&town, 1);
    add_client(&town, 0, 1, 100);
    town.clients[0].endpoint = (struct endpoint){ .kind = ENDPOINT_NONE };
    struct echo_server servers[3] = { { .listening = 0 } };
    for (int i = 1; i < 3; i++)
        assert_int_equal(endpoint_parse("tcp:host2:0", &servers[i].endpoint, NULL), 0);
    for (int i = 0; i < 3; i++)
        spawn(&town, 2, 0, &echo_server_ops, &servers[i]);
    assert_int_equal(run_for(&town, 100 * ENV_SECOND_NS), TR_EEND);
    assert_int_equal(town.clients[0].result, TR_EINVAL);
    assert_int_equal(servers[0].listening, TR_EINVAL);
    assert_int_equal(servers[1].listening, 1);
    assert_int_equal(servers[2].listening, 1);
    assert_true(servers[1].endpoint.port != 0 && servers[2].endpoint.port != 0);
    assert_true(servers[1].endpoint.port != servers[2].endpoint.port);
    leave(&town);
}

static void a_node_refuses_as_long_as_it_is_told(void **state)
{
    (void)state;
    struct town town;
    found(&town, 1);
    env_sim_net_refuse(town.env, 0, env_sim_now_ns(town.env) + ENV_SECOND_NS);
    add_client(&town, 0, 1, 100);
    assert_int_equal(run_for(&town, ENV_SECOND_NS / 2), TR_EEND);
    assert_int_equal(town.clients[0].result, TR_EPEERDOWN);
    env_sim_net_refuse(town.env, 0, 0);
    add_client(&town, 1, 1, 100);
    assert_int_equal(run_for(&town, ENV_SECOND_NS), TR_EEND);
    assert_int_equal(town.clients[1].result, 1);
    leave(&town);
}

static void a_connection_that_is_closed_at_once_ends_for_both(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 50; seed++) {
        struct town town;
        found(&town, seed);
        town.server.close_at_once = true;
        add_client(&town, 0, 1, 100000);
        assert_int_equal(run_for(&town, 100 * ENV_SECOND_NS), TR_EEND);
        assert_true(town.clients[0].result == TR_EEND || town.clients[0].result == TR_EPEERDOWN);
        assert_int_equal(town.server.ended, 1);
        leave(&town);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_arrive_in_order_and_a_seed_repeats),
        cmocka_unit_test(a_reset_is_seen_by_both_ends),
        cmocka_unit_test(a_clogged_way_delays_all_and_loses_nothing),
        cmocka_unit_test(corruption_changes_bits_and_nothing_else),
        cmocka_unit_test(who_cannot_connect_learns_why),
        cmocka_unit_test(endpoints_that_are_not_given_are_refused),
        cmocka_unit_test(a_node_refuses_as_long_as_it_is_told),
        cmocka_unit_test(a_connection_that_is_closed_at_once_ends_for_both),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
