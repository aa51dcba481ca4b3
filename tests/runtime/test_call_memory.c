/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that ends at any allocation of a call: the call is refused with TR_ENOMEM, not with the
 * code of a peer that is down, its request is gone, and the next call goes out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "runtime/core/call.h"
#include "runtime/core/kind.h"
#include "runtime/core/node.h"
#include "runtime/sim/env_sim.h"
#include "tests/short_memory.h"

#define KIND_ID 900
#define ALLOCATIONS_MAX 50

static const struct kind asked = {
    .id = KIND_ID, .name = "asked", .lane = KIND_DATA, .class = KIND_ONCE, .head_bytes = 8
};

struct stage {
    struct env *env;
    struct node *node;
    struct kinds kinds;
    struct address mute;
    uint32_t refused, ended;
    bool went_out;
};

static int drop(struct actor *self, struct message *message)
{
    message_release(self, message);
    return 0;
}

static void end(struct actor *self, void *arg, int status, struct message *reply)
{
    struct stage *stage = arg;
    stage->ended++;
    assert_true(status < 0); /* nobody answers */
    message_release(self, reply);
}

/* The first call of a loop: it has no entry for one yet. */
static int start(struct actor *self, const void *arg)
{
    struct stage *stage = (struct stage *)(uintptr_t)arg;
    for (int tries = 0; tries < ALLOCATIONS_MAX && !stage->went_out; tries++) {
        struct message *request = message_create(self, KIND_ID);
        assert_non_null(request);
        allocations_left = tries;
        int rv = actor_call(self, stage->mute, request, actor_now_ns(self) + ENV_SECOND_NS, end,
                            stage, NULL);
        bool failed = allocations_left < 0;
        allocations_left = -1;
        assert_int_equal(rv, failed ? TR_ENOMEM : 0);
        stage->refused += failed;
        stage->went_out = !failed;
    }
    return 0;
}

static const struct actor_ops mute_ops = { .name = "mute", .receive = drop };
static const struct actor_ops asker_ops = { .name = "asker", .start = start, .receive = drop };

static void a_call_without_memory_is_refused(void **state)
{
    struct stage stage = { 0 };
    struct node_counters counters;
    struct address ignored;
    (void)state;
    assert_int_equal(env_sim_create(1, NULL, &stage.env), 0);
    assert_int_equal(kinds_add(&stage.kinds, &asked, NULL), 0);
    const struct node_options options = { .id = 1, .loops = 1, .kinds = &stage.kinds };
    assert_int_equal(node_create(stage.env, &options, &stage.node, NULL), 0);
    assert_int_equal(node_start(stage.node), 0);
    const struct actor_options mute = { .ops = &mute_ops };
    const struct actor_options asker = { .ops = &asker_ops, .arg = &stage };
    assert_int_equal(node_spawn(stage.node, &mute, &stage.mute), 0);
    assert_int_equal(node_spawn(stage.node, &asker, &ignored), 0);
    (void)env_sim_run(stage.env, NULL, NULL, env_sim_now_ns(stage.env) + 10 * ENV_SECOND_NS);
    assert_true(stage.went_out);
    assert_true(stage.refused > 1);
    assert_int_equal(stage.ended, 1);
    node_stop(stage.node, env_sim_now_ns(stage.env) + ENV_SECOND_NS);
    (void)env_sim_run(stage.env, NULL, NULL, env_sim_now_ns(stage.env) + 10 * ENV_SECOND_NS);
    assert_true(node_is_stopped(stage.node));
    node_counters(stage.node, &counters);
    assert_int_equal(counters.messages_live, 0);
    assert_int_equal(counters.calls_open, 0);
    node_destroy(stage.node);
    env_destroy(stage.env);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_call_without_memory_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
