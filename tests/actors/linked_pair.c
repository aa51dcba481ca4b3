/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/actors/linked_pair.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "runtime/net/links.h"

void linked_pair_open(struct linked_pair *pair, uint64_t seed)
{
    const struct endpoint ends[2] = { { .kind = ENDPOINT_UNIX, .host = "n/0" },
                                      { .kind = ENDPOINT_UNIX, .host = "n/1" } };
    *pair = (struct linked_pair){ .env = NULL };
    assert_int_equal(env_sim_create(seed, NULL, &pair->env), 0);
    assert_int_equal(messages_register(&pair->kinds, NULL), 0);
    for (uint32_t i = 0; i < 2; i++) {
        const struct node_options options = { .id = i, .loops = 1, .kinds = &pair->kinds };
        const struct links_peer peer = { .node = 1 - i, .endpoint = ends[1 - i] };
        const struct links_options links = { .cluster = "test",
                                             .listen = &ends[i],
                                             .num_listen = 1,
                                             .peers = &peer,
                                             .num_peers = 1,
                                             .heartbeat_ns = ENV_SECOND_NS / 5,
                                             .dead_ns = ENV_SECOND_NS };
        assert_int_equal(node_create(pair->env, &options, &pair->nodes[i], NULL), 0);
        assert_int_equal(links_create(pair->nodes[i], &links, NULL), 0);
        assert_int_equal(node_start(pair->nodes[i]), 0);
    }
}

void linked_pair_run(struct linked_pair *pair, uint64_t ns)
{
    env_sim_run(pair->env, NULL, NULL, env_sim_now_ns(pair->env) + ns);
}

static bool are_stopped(void *arg)
{
    const struct linked_pair *pair = arg;
    return node_is_stopped(pair->nodes[0]) && node_is_stopped(pair->nodes[1]);
}

void linked_pair_close(struct linked_pair *pair)
{
    for (uint32_t i = 0; i < 2; i++)
        node_stop(pair->nodes[i], env_sim_now_ns(pair->env) + ENV_SECOND_NS);
    assert_int_equal(
        env_sim_run(pair->env, are_stopped, pair, env_sim_now_ns(pair->env) + 60 * ENV_SECOND_NS),
        0);
    for (uint32_t i = 0; i < 2; i++) {
        struct node_counters counters;
        node_counters(pair->nodes[i], &counters);
        assert_int_equal(counters.calls_open, 0);
        node_destroy(pair->nodes[i]);
    }
    env_destroy(pair->env);
}
