/* SPDX-License-Identifier: Apache-2.0 */
/* Messages: order per (sender, receiver, lane), control before data, and pools back to zero; on
 * threads and under many orders of the simulator. */
#include "tests/runtime/support.h"
#include "tests/seeds.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "runtime/event/env_event.h"

#define SENDERS 6
#define NUMBERS 500

struct sink {
    uint64_t next[2][SENDERS]; /* by lane */
    atomic_uint got;
    atomic_uint disorder;
};

struct source {
    struct address to;
    uint32_t index;
};

struct sending {
    const struct source *source;
    uint64_t sent;
};

static int sink_start(struct actor *self, const void *arg)
{
    actor_set_state(self, (void *)(uintptr_t)arg);
    return 0;
}

static int sink_receive(struct actor *self, struct message *message)
{
    struct sink *sink = actor_state(self);
    const struct number *number = message_head(message);
    int lane = message->frame.kind == KIND_URGENT ? KIND_CONTROL : KIND_DATA;
    uint64_t sender = number->value >> 32;
    if ((uint32_t)number->value != sink->next[lane][sender]++)
        atomic_fetch_add(&sink->disorder, 1);
    atomic_fetch_add(&sink->got, 1);
    message_release(self, message);
    return 0;
}

static const struct actor_ops sink_ops = { "sink", sink_start, sink_receive, NULL, NULL };

/* Sends itself one message a number, so that its turns interleave with the others'. */
static int source_start(struct actor *self, const void *arg)
{
    struct sending *sending = calloc(1, sizeof *sending);
    if (sending == NULL)
        return TR_ENOMEM;
    sending->source = arg;
    actor_set_state(self, sending);
    return support_send(self, actor_address(self), KIND_URGENT, 0);
}

static int source_receive(struct actor *self, struct message *message)
{
    struct sending *sending = actor_state(self);
    const struct source *source = sending->source;
    uint64_t value = (uint64_t)source->index << 32 | sending->sent;
    message_release(self, message);
    support_send(self, source->to, KIND_NUMBER, value);
    support_send(self, source->to, KIND_URGENT, value);
    if (++sending->sent < NUMBERS)
        return support_send(self, actor_address(self), KIND_URGENT, 0);
    return 0;
}

static void source_fini(struct actor *self)
{
    free(actor_state(self));
}

static const struct actor_ops source_ops = { "source", source_start, source_receive, NULL,
                                             source_fini };

static void spawn_all(struct node *node, struct sink *sink, struct source *sources)
{
    struct address to;
    struct actor_options options = { .ops = &sink_ops, .arg = sink };
    assert_int_equal(node_spawn(node, &options, &to), 0);
    for (uint32_t i = 0; i < SENDERS; i++) {
        struct address from;
        sources[i] = (struct source){ to, i };
        struct actor_options source = { .ops = &source_ops,
                                        .arg = &sources[i],
                                        .loop = i % node_loops(node) };
        assert_int_equal(node_spawn(node, &source, &from), 0);
    }
}

static bool all_came(void *arg)
{
    struct sink *sink = arg;
    return atomic_load(&sink->got) == 2 * SENDERS * NUMBERS;
}

static void order_holds_on_threads(void **state)
{
    (void)state;
    struct env *env = NULL;
    assert_int_equal(env_event_create(1, &env, NULL), 0);
    struct node_options options = { .id = 1, .loops = 3, .kinds = support_kinds() };
    struct node *node = NULL;
    assert_int_equal(node_create(env, &options, &node, NULL), 0);
    struct sink sink = { 0 };
    struct source sources[SENDERS];
    spawn_all(node, &sink, sources);
    assert_int_equal(node_start(node), 0);
    for (int i = 0; i < 10000 && !all_came(&sink); i++)
        nanosleep(&(struct timespec){ 0, 1000000 }, NULL);
    assert_true(all_came(&sink));
    assert_int_equal(atomic_load(&sink.disorder), 0);
    assert_int_equal(support_finish(node), 0);
    env_destroy(env);
}

static uint64_t run_simulated(uint64_t seed)
{
    struct env *env = NULL;
    assert_int_equal(env_sim_create(seed, NULL, &env), 0);
    struct node *node = support_sim_node(env, 1, 3);
    struct sink sink = { 0 };
    struct source sources[SENDERS];
    spawn_all(node, &sink, sources);
    assert_int_equal(node_start(node), 0);
    assert_int_equal(env_sim_run(env, all_came, &sink, 60 * ENV_SECOND_NS), 0);
    assert_int_equal(atomic_load(&sink.disorder), 0);
    support_sim_finish(env, node);
    uint64_t trace = env_sim_trace(env);
    env_destroy(env);
    return trace;
}

static void order_holds_in_any_simulated_order(void **state)
{
    (void)state;
    struct seeds seeds = seeds_wanted(10);
    for (uint64_t seed = seeds.begin; seed < seeds.end; seed++) {
        seeds_note(seed);
        run_simulated(seed);
    }
}

static void a_seed_gives_one_run(void **state)
{
    (void)state;
    assert_int_equal(run_simulated(7), run_simulated(7));
    assert_int_not_equal(run_simulated(7), run_simulated(8));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_seed_gives_one_run),
        cmocka_unit_test(order_holds_in_any_simulated_order),
        cmocka_unit_test(order_holds_on_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
