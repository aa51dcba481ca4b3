/* SPDX-License-Identifier: Apache-2.0 */
/* The directory: errors, names that wait for their actor, names that end with it. */
#include "tests/runtime/support.h"

#include <stdio.h>
#include <stdlib.h>

#include "runtime/core/actor_impl.h"
#include "runtime/core/call.h"
#include "runtime/core/directory.h"
#include "runtime/core/loop.h"
#include "runtime/core/node_impl.h"
#include "runtime/core/runtime_kinds.h"
#include "runtime/core/timer.h"

struct script {
    const char *name; /* to register as */
    uint64_t at_ns;   /* after its start */
    uint64_t live_ns; /* then it ends */
    int status;
    uint32_t answers;
    struct address found;
    struct timer timer;
    struct timer end;
    void (*act)(struct actor *self, struct script *script);
};

static void registered(struct actor *self, void *arg, int status)
{
    struct script *script = arg;
    (void)self;
    script->status = status;
    script->answers++;
}

static void found(struct actor *self, void *arg, int status, struct address address)
{
    struct script *script = arg;
    registered(self, arg, status);
    script->found = address;
}

static void act_register(struct actor *self, struct script *script)
{
    assert_int_equal(directory_register(self, script->name, registered, script), 0);
}

static void act_lookup(struct actor *self, struct script *script)
{
    assert_int_equal(directory_lookup(self, script->name, found, script), 0);
}

static void act_wait(struct actor *self, struct script *script)
{
    assert_int_equal(
        directory_wait(self, script->name, actor_now_ns(self) + ENV_SECOND_NS, found, script), 0);
}

static void act_bad_names(struct actor *self, struct script *script)
{
    char name[DIRECTORY_NAME_MAX + 1];
    memset(name, 'x', DIRECTORY_NAME_MAX);
    name[DIRECTORY_NAME_MAX] = '\0';
    assert_int_equal(directory_register(self, "", registered, script), TR_EINVAL);
    assert_int_equal(directory_register(self, name, registered, script), TR_EINVAL);
    name[DIRECTORY_NAME_MAX - 1] = '\0';
    assert_int_equal(directory_register(self, name, registered, script), 0);
}

static void begin(struct actor *self, void *arg)
{
    struct script *script = arg;
    script->act(self, script);
}

static void end(struct actor *self, void *arg)
{
    (void)arg;
    actor_exit(self, 0);
}

static int start(struct actor *self, const void *arg)
{
    struct script *script = (void *)(uintptr_t)arg;
    timer_start(self, &script->timer, actor_now_ns(self) + script->at_ns, begin, script);
    if (script->live_ns != 0)
        timer_start(self, &script->end, actor_now_ns(self) + script->live_ns, end, NULL);
    return 0;
}

static int receive(struct actor *self, struct message *message)
{
    message_release(self, message);
    return 0;
}

static const struct actor_ops ops = { "scripted", start, receive, NULL, NULL };

#define MS UINT64_C(1000000)

/* Plays the scripts, each by an actor on its own loop, and gives their addresses. */
static void play(uint64_t seed, struct script *scripts, uint32_t count, struct address *addresses)
{
    struct env *env = NULL;
    assert_int_equal(env_sim_create(seed, NULL, &env), 0);
    struct node *node = support_sim_node(env, 1, 3);
    for (uint32_t i = 0; i < count; i++) {
        struct actor_options options = { .ops = &ops, .arg = &scripts[i], .loop = i % 3 };
        assert_int_equal(node_spawn(node, &options, &addresses[i]), 0);
    }
    assert_int_equal(node_start(node), 0);
    env_sim_run(env, NULL, NULL, env_sim_now_ns(env) + 5 * ENV_SECOND_NS);
    support_sim_finish(env, node);
    for (uint32_t i = 0; i < count; i++)
        assert_int_equal(scripts[i].answers, 1);
    env_destroy(env);
}

static void bad_names_are_refused(void **state)
{
    (void)state;
    struct script scripts[] = { { .act = act_bad_names } };
    struct address addresses[1];
    play(1, scripts, 1, addresses);
    assert_int_equal(scripts[0].status, 0);
}

static void nobody_is_not_found_and_waiting_times_out(void **state)
{
    (void)state;
    struct script scripts[] = { { .name = "a", .act = act_lookup },
                                { .name = "a", .act = act_wait } };
    struct address addresses[2];
    play(2, scripts, 2, addresses);
    assert_int_equal(scripts[0].status, TR_ENOENT);
    assert_int_equal(scripts[1].status, TR_ETIMEDOUT);
}

static void a_name_belongs_to_one_living_actor(void **state)
{
    (void)state;
    struct script scripts[] = {
        { .name = "a", .at_ns = 1 * MS, .live_ns = 50 * MS, .act = act_register },
        { .name = "a", .at_ns = 20 * MS, .act = act_register },
        { .name = "a", .at_ns = 80 * MS, .act = act_lookup },
        { .name = "a", .at_ns = 100 * MS, .act = act_register },
    };
    struct address addresses[4];
    play(3, scripts, 4, addresses);
    assert_int_equal(scripts[0].status, 0);
    assert_int_equal(scripts[1].status, TR_EEXIST);
    assert_int_equal(scripts[2].status, TR_ENOENT);
    assert_int_equal(scripts[3].status, 0);
}

static void who_waits_gets_the_address_when_it_comes(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 30; seed++) {
        struct script scripts[] = {
            { .name = "a", .act = act_wait },
            { .name = "a", .at_ns = 100 * MS, .act = act_wait },
            { .name = "a", .at_ns = 300 * MS, .act = act_register },
            { .name = "a", .at_ns = 600 * MS, .act = act_wait },
            { .name = "b", .at_ns = 10 * MS, .act = act_wait },
        };
        struct address addresses[5];
        play(seed, scripts, 5, addresses);
        for (uint32_t i = 0; i < 4; i++)
            assert_int_equal(scripts[i].status, 0);
        assert_true(address_equal(scripts[0].found, addresses[2]));
        assert_true(address_equal(scripts[1].found, addresses[2]));
        assert_true(address_equal(scripts[3].found, addresses[2]));
        assert_int_equal(scripts[4].status, TR_ETIMEDOUT);
    }
}

#define NAMES 700u /* several in each bucket */

/* Names that share their bucket are found one by one, and go one by one. */
static void each_of_many_names_is_its_actors(void **state)
{
    static struct script scripts[2 * NAMES];
    static struct address addresses[2 * NAMES];
    static char names[NAMES][16];
    (void)state;
    memset(scripts, 0, sizeof scripts);
    for (uint32_t i = 0; i < NAMES; i++) {
        snprintf(names[i], sizeof names[i], "actor/%u", i * 37 % NAMES);
        scripts[i] = (struct script){ .name = names[i],
                                      .live_ns = i % 3 == 0 ? 100 * MS : 0,
                                      .act = act_register };
        scripts[NAMES + i] = (struct script){ .name = names[i],
                                              .at_ns = 1000 * MS,
                                              .act = act_lookup };
    }
    play(4, scripts, 2 * NAMES, addresses);
    for (uint32_t i = 0; i < NAMES; i++) {
        assert_int_equal(scripts[i].status, 0);
        assert_int_equal(scripts[NAMES + i].status, i % 3 == 0 ? TR_ENOENT : 0);
        if (i % 3 != 0)
            assert_true(address_equal(scripts[NAMES + i].found, addresses[i]));
    }
}

static void act_lookup_elsewhere(struct actor *self, struct script *script)
{
    assert_int_equal(
        directory_lookup_at(self, 7, script->name, actor_now_ns(self) + MS, found, script),
        TR_ENOENT);
    script->answers++; /* nothing else comes */
}

static void a_node_that_is_not_known_has_no_names(void **state)
{
    (void)state;
    struct script scripts[] = { { .name = "a", .act = act_lookup_elsewhere } };
    struct address addresses[1];
    play(5, scripts, 1, addresses);
}

static void refused(struct actor *self, void *arg, int status, struct message *reply)
{
    registered(self, arg, status);
    message_release(self, reply);
}

/* The name as it came, which may have no end. */
static void act_ask_raw(struct actor *self, struct script *script)
{
    struct message *request = message_create(self, RUNTIME_LOOKUP);
    assert_non_null(request);
    struct runtime_name *head = message_head(request);
    if (script->name != NULL)
        memset(head->name, script->name[0], sizeof head->name);
    assert_int_equal(actor_call(self, self->loop->node->directory, request,
                                actor_now_ns(self) + ENV_SECOND_NS, refused, script, NULL),
                     0);
}

static void names_without_a_beginning_or_an_end_are_refused(void **state)
{
    (void)state;
    struct script scripts[] = { { .name = "x", .act = act_ask_raw }, { .act = act_ask_raw } };
    struct address addresses[2];
    play(6, scripts, 2, addresses);
    assert_int_equal(scripts[0].status, TR_EINVAL);
    assert_int_equal(scripts[1].status, TR_EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_names_are_refused),
        cmocka_unit_test(each_of_many_names_is_its_actors),
        cmocka_unit_test(a_node_that_is_not_known_has_no_names),
        cmocka_unit_test(names_without_a_beginning_or_an_end_are_refused),
        cmocka_unit_test(nobody_is_not_found_and_waiting_times_out),
        cmocka_unit_test(a_name_belongs_to_one_living_actor),
        cmocka_unit_test(who_waits_gets_the_address_when_it_comes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
