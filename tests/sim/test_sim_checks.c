/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The checkers of a simulated job do watch it: a runtime checker notices numbers that come late or
 * twice, and the simulated trainers number their saves as real ones do, so that a repeat is known
 * for one.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/core/call.h"
#include "runtime/core/node.h"
#include "runtime/sim/env_sim.h"
#include "schemas/messages.h"
#include "sim/fleet_run.h"
#include "sim/runtime_checker.h"

#define FLEETS 3u

/* As a checker sends them. */
struct number {
    uint64_t value;
    uint32_t sender;
    uint32_t lane;
};

struct sending {
    struct address to;
    const struct number *numbers;
    size_t count;
};

static int send_all(struct actor *self, const void *arg)
{
    const struct sending *sending = arg;
    for (size_t i = 0; i < sending->count; i++) {
        const struct number *number = &sending->numbers[i];
        struct message *message = message_create(self, number->lane == 0 ? WORLD_KIND_DATA
                                                                         : WORLD_KIND_URGENT);
        assert_non_null(message);
        memcpy(message_head(message), number, sizeof *number);
        assert_int_equal(actor_send(self, sending->to, message), 0);
    }
    return 0;
}

static int drop(struct actor *self, struct message *message)
{
    message_release(self, message);
    return 0;
}

static const struct actor_ops sender_ops = { .name = "sender", .start = send_all, .receive = drop };

/* Compares what a checker says of numbers that come to it in that order, after a wait for its
 * own. */
static void check_numbers(const struct number *numbers, size_t count, const char *wanted)
{
    struct world *world = calloc(1, sizeof *world);
    struct runtime_checker_args args = { .world = world, .number = 1 };
    struct sending sending = { .numbers = numbers, .count = count };
    struct address ignored;
    assert_non_null(world);
    world->scenario.checkers = world->scenario.parts = world->scenario.samplers = 1;
    assert_int_equal(env_sim_create(1, NULL, &world->env), 0);
    assert_int_equal(messages_register(&world->kinds, NULL), 0);
    assert_int_equal(runtime_checker_register(&world->kinds, NULL), 0);
    const struct node_options options = { .id = 1, .loops = 1, .kinds = &world->kinds };
    assert_int_equal(node_create(world->env, &options, &world->node, NULL), 0);
    assert_int_equal(node_start(world->node), 0);
    const struct actor_options checker = { .ops = &runtime_checker_ops, .arg = &args };
    const struct actor_options sender = { .ops = &sender_ops, .arg = &sending };
    assert_int_equal(node_spawn(world->node, &checker, &sending.to), 0);
    args.peers[0] = sending.to; /* its own numbers go to itself, as those of number 1 */
    (void)env_sim_run(world->env, NULL, NULL, env_sim_now_ns(world->env) + ENV_SECOND_NS);
    assert_int_equal(world->error.code, 0);
    assert_int_equal(node_spawn(world->node, &sender, &ignored), 0);
    (void)env_sim_run(world->env, NULL, NULL, env_sim_now_ns(world->env) + ENV_SECOND_NS);
    assert_int_equal(world->error.code, wanted == NULL ? 0 : TR_EMISMATCH);
    if (wanted != NULL)
        assert_string_equal(world->error.text, wanted);
    node_stop(world->node, env_sim_now_ns(world->env) + ENV_SECOND_NS);
    (void)env_sim_run(world->env, NULL, NULL, env_sim_now_ns(world->env) + 10 * ENV_SECOND_NS);
    assert_true(node_is_stopped(world->node));
    node_destroy(world->node);
    env_destroy(world->env);
    free(world);
}

/* The numbers of each sender in each lane rise; some may be missing. */
static void numbers_that_come_late_are_noticed(void **state)
{
    static const struct number well[] = { { 1, 0, 0 }, { 3, 0, 0 }, { 1, 0, 1 },
                                          { 1, 2, 0 }, { 2, 2, 0 }, { 4, 0, 0 } };
    static const struct number twice[] = { { 1, 0, 0 }, { 2, 0, 0 }, { 2, 0, 0 } };
    static const struct number late[] = { { 1, 0, 1 }, { 5, 0, 1 }, { 7, 2, 1 }, { 4, 0, 1 } };
    static const struct number none[] = { { 0, 3, 0 } };
    (void)state;
    check_numbers(well, sizeof well / sizeof *well, NULL);
    check_numbers(twice, sizeof twice / sizeof *twice,
                  "checker 1: number 2 of 0 in lane 0 came after 2");
    check_numbers(late, sizeof late / sizeof *late,
                  "checker 1: number 4 of 0 in lane 1 came after 5");
    check_numbers(none, 1, "checker 1: number 0 of 3 in lane 0 came after 0");
}

static uint32_t saves, others;

int __wrap_actor_call(struct actor *self, struct address to, struct message *request,
                      uint64_t deadline_ns, call_done *done, void *arg, struct call_id *id);
int __real_actor_call(struct actor *self, struct address to, struct message *request,
                      uint64_t deadline_ns, call_done *done, void *arg, struct call_id *id);

int __wrap_actor_call(struct actor *self, struct address to, struct message *request,
                      uint64_t deadline_ns, call_done *done, void *arg, struct call_id *id)
{
    if (request->frame.kind == MSG_GROUP_REQUEST) {
        const struct msg_group_request *head = message_head(request);
        bool numbered = head->operation == MSG_GROUP_SAVE || head->operation == MSG_GROUP_SKIP;
        assert_int_equal(head->number != 0, numbered);
        saves += numbered;
        others += !numbered;
    }
    return __real_actor_call(self, to, request, deadline_ns, done, arg, id);
}

static void saves_alone_are_numbered(void **state)
{
    uint32_t played = 0;
    (void)state;
    for (uint64_t seed = 0; played < FLEETS; seed++) {
        struct sim_result result;
        if (!fleet_run_is_for(seed))
            continue;
        fleet_run(seed, NULL, NULL, &result);
        if (result.error.code != 0)
            fail_msg("seed %" PRIu64 ": %s", seed, result.error.text);
        played++;
    }
    assert_true(saves > 0 && others > saves);
}

/* A seed that is for a cluster plays one, and any other a node: a list of seeds that were chosen for
 * what they draw is played as it was chosen. */
static void a_seed_plays_what_it_is_for(void **state)
{
    uint32_t played[2] = { 0 };
    (void)state;
    for (uint64_t seed = 0; played[0] == 0 || played[1] == 0; seed++) {
        struct sim_result result, of_fleet;
        bool for_fleet = fleet_run_is_for(seed);
        if (played[for_fleet]++ > 0)
            continue;
        sim_run(seed, NULL, &result);
        fleet_run(seed, NULL, NULL, &of_fleet);
        assert_int_equal(result.error.code, 0);
        assert_int_equal(of_fleet.error.code, 0);
        assert_int_equal(result.trace == of_fleet.trace, for_fleet);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_that_come_late_are_noticed),
        cmocka_unit_test(saves_alone_are_numbered),
        cmocka_unit_test(a_seed_plays_what_it_is_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
