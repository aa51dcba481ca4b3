/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/runtime/support.h"

#include "runtime/core/loop.h"
#include "runtime/core/node_impl.h"

static const struct kind kinds_of_tests[] = {
    { .id = KIND_NUMBER,
      .name = "number",
      .lane = KIND_DATA,
      .class = KIND_ONCE,
      .head_bytes = sizeof(struct number) },
    { .id = KIND_ASK,
      .name = "ask",
      .lane = KIND_DATA,
      .class = KIND_PURE,
      .head_bytes = sizeof(struct number),
      .body_bytes_max = 1 << 20 },
    { .id = KIND_ANSWER,
      .name = "answer",
      .lane = KIND_DATA,
      .class = KIND_PURE,
      .head_bytes = sizeof(struct number),
      .body_bytes_max = 1 << 20 },
    { .id = KIND_URGENT,
      .name = "urgent",
      .lane = KIND_CONTROL,
      .class = KIND_ONCE,
      .head_bytes = sizeof(struct number) },
    { .id = KIND_ORDER,
      .name = "order",
      .lane = KIND_DATA,
      .class = KIND_SEQUENCED,
      .head_bytes = sizeof(struct number) },
    { .id = KIND_BULK,
      .name = "bulk",
      .lane = KIND_DATA,
      .class = KIND_ONCE,
      .head_bytes = sizeof(struct number),
      .body_bytes_max = 1 << 30 },
};

const struct kinds *support_kinds(void)
{
    static struct kinds kinds;
    for (size_t i = 0; i < sizeof kinds_of_tests / sizeof *kinds_of_tests; i++)
        kinds.by_id[kinds_of_tests[i].id] = &kinds_of_tests[i];
    return &kinds;
}

static bool knows_all(const struct router *router, uint32_t node)
{
    (void)router;
    (void)node;
    return true;
}

static void hand_over(struct loop *loop, struct message *message)
{
    struct support_router *router = (struct support_router *)(void *)loop->node->router;
    router->send(router->arg, loop, message);
}

static void keep_nothing(struct router *router)
{
    (void)router;
}

void support_attach_router(struct node *node, struct support_router *router)
{
    static const struct router_ops ops = {
        .knows = knows_all,
        .send = hand_over,
        .dump = keep_nothing,
        .drop_leftovers = keep_nothing,
        .destroy = keep_nothing,
    };
    router->router.ops = &ops;
    node_attach_router(node, &router->router);
}

struct node *support_sim_node(struct env *env, uint32_t id, uint32_t loops)
{
    struct node_options options = { .id = id, .loops = loops, .kinds = support_kinds() };
    struct node *node = NULL;
    assert_int_equal(node_create(env, &options, &node, NULL), 0);
    return node;
}

int support_send(struct actor *self, struct address to, uint32_t kind, uint64_t value)
{
    struct message *message = message_create(self, kind);
    if (message == NULL)
        return TR_ENOMEM;
    struct number *number = message_head(message);
    number->value = value;
    number->sender = actor_address(self).slot;
    return actor_send(self, to, message);
}

int support_discard(struct actor *self, struct message *message)
{
    message_release(self, message);
    return 0;
}

void support_check_zero(struct node *node)
{
    struct node_counters counters;
    node_counters(node, &counters);
    assert_int_equal(counters.actors_live, 0);
    assert_int_equal(counters.messages_live, 0);
    assert_int_equal(counters.buffers_live, 0);
    assert_int_equal(counters.calls_open, 0);
    assert_int_equal(counters.mailbox_messages, 0);
    assert_int_equal(counters.mailbox_bytes, 0);
}

void support_sim_finish(struct env *env, struct node *node)
{
    env_sim_set_alloc_fail(env, 0);
    node_stop(node, env_sim_now_ns(env) + 10 * ENV_SECOND_NS);
    int rc = env_sim_run(env, NULL, NULL, env_sim_now_ns(env) + 60 * ENV_SECOND_NS);
    assert_true(rc == TR_EEND || rc == TR_ETIMEDOUT);
    assert_true(node_is_stopped(node));
    support_check_zero(node);
    node_destroy(node);
}

int support_finish(struct node *node)
{
    node_stop(node, env_now_ns(node_env(node)) + 60 * ENV_SECOND_NS);
    int rc = node_join(node);
    support_check_zero(node);
    node_destroy(node);
    return rc;
}
