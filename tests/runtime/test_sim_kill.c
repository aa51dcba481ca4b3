/* SPDX-License-Identifier: Apache-2.0 */
/* A node that dies at any step: nothing of it is seen afterwards, no memory stays, and a new
 * incarnation takes its place. */
#include "tests/runtime/support.h"

#include <stdlib.h>

#include "runtime/core/call.h"
#include "runtime/core/crew.h"
#include "runtime/core/loop.h"
#include "runtime/core/monitor.h"
#include "runtime/core/run_queue.h"
#include "runtime/core/timer.h"
#include "tests/runtime/echo.h"

/* The acts that the actors below may no longer do once their node is dead. */
struct life {
    bool dead;
    uint32_t acted, acted_dead; /* messages, timers, starts, stops */
    uint32_t left_dead;         /* messages that left the node */
    uint32_t open;              /* allocations that a completion or fini has to free */
};

struct busy {
    struct life *life;
    struct timer timer;
    struct job job;
    struct address child, other;
    uint32_t pieces;
    bool working;
};

static void act(struct life *life)
{
    life->acted++;
    life->acted_dead += life->dead;
}

static void leave_node(void *arg, struct loop *loop, struct message *message)
{
    struct life *life = arg;
    life->left_dead += life->dead;
    if (loop_choose(loop, 2) == 0)
        loop_bounce(loop, message, TR_EPEERDOWN);
    else
        loop_free_message(loop, message); /* a call that nobody answers */
}

static void answered(struct actor *self, void *arg, int status, struct message *reply)
{
    struct busy *busy = actor_state(self);
    (void)status;
    message_release(self, reply);
    free(arg);
    busy->life->open--;
}

static void ask(struct actor *self, struct busy *busy, struct address who)
{
    struct message *request = message_create(self, KIND_ASK);
    void *note = malloc(10);
    assert_non_null(request);
    assert_non_null(note);
    busy->life->open++;
    if (actor_call(self, who, request, actor_now_ns(self) + 100 * ENV_SECOND_NS, answered, note,
                   NULL) < 0) {
        free(note);
        busy->life->open--;
    }
}

static int work(struct job *job)
{
    struct busy *busy = job->arg;
    return busy->pieces-- > 0 ? CREW_MORE : CREW_DONE;
}

static void worked(struct actor *self, struct job *job, int status)
{
    struct busy *busy = job->arg;
    (void)self;
    (void)status;
    busy->working = false;
}

static void go_down(struct actor *self, void *arg, struct address who, int reason)
{
    (void)self;
    (void)arg;
    (void)who;
    (void)reason;
}

static void tick(struct actor *self, void *arg)
{
    struct busy *busy = arg;
    struct address far = { .node = 9, .incarnation = 1, .slot = 1, .generation = 1 };
    act(busy->life);
    support_send(self, far, KIND_NUMBER, 1);
    ask(self, busy, far);
    ask(self, busy, busy->child);
    if (!busy->working) {
        busy->working = true;
        busy->pieces = 10;
        busy->job = (struct job){ .piece = work, .done = worked, .arg = busy };
        crew_submit(self, &busy->job);
    }
    timer_start(self, &busy->timer, actor_now_ns(self) + 20000, tick, busy);
}

static int receive(struct actor *self, struct message *message)
{
    struct busy *busy = actor_state(self);
    act(busy->life);
    if (actor_random(self) % 2 == 0) {
        struct message *reply = message_create(self, KIND_ANSWER);
        actor_reply(self, message, reply);
    } else {
        message_release(self, message);
    }
    return 0;
}

static void stop(struct actor *self)
{
    struct busy *busy = actor_state(self);
    act(busy->life);
    actor_exit(self, 0);
}

static void fini(struct actor *self)
{
    struct busy *busy = actor_state(self);
    if (busy == NULL)
        return;
    busy->life->open--;
    support_send(self, busy->other, KIND_NUMBER, 2); /* goes nowhere when dead */
    free(busy);
}

static int start(struct actor *self, const void *arg);

static const struct actor_ops busy_ops = { "busy", start, receive, stop, fini };

static struct busy *make(struct actor *self, const void *arg)
{
    struct busy *busy = calloc(1, sizeof *busy);
    assert_non_null(busy);
    busy->life = (void *)(uintptr_t)arg;
    busy->life->open++;
    busy->other = (struct address){ .node = 9, .incarnation = 1, .slot = 1, .generation = 1 };
    act(busy->life);
    actor_set_state(self, busy);
    return busy;
}

static int start_child(struct actor *self, const void *arg)
{
    make(self, arg);
    return 0;
}

static const struct actor_ops child_ops = { "child", start_child, receive, stop, fini };

static int start(struct actor *self, const void *arg)
{
    struct busy *busy = make(self, arg);
    struct actor_options options = { .ops = &child_ops, .arg = arg, .loop = 1 };
    options.restart = ACTOR_RESTART_ALWAYS;
    assert_int_equal(actor_spawn(self, &options, &busy->child), 0);
    assert_int_equal(actor_monitor(self, busy->child, go_down, busy, NULL), 0);
    tick(self, busy);
    return 0;
}

struct town {
    struct env *env;
    struct life life;
    struct node *nodes[2];
    struct support_router routers[2];
    struct echo_server server;
    struct echo_client client;
};

static void spawn(struct node *node, const struct actor_ops *ops, const void *arg)
{
    struct actor_options options = { .ops = ops, .arg = arg };
    struct address address;
    assert_int_equal(node_spawn(node, &options, &address), 0);
}

static struct node *create(struct town *town, uint32_t id, uint32_t incarnation)
{
    struct node_options options = {
        .id = id, .incarnation = incarnation, .loops = 2, .kinds = support_kinds()
    };
    struct node *node = NULL;
    assert_int_equal(node_create(town->env, &options, &node, NULL), 0);
    struct support_router *router = &town->routers[id];
    *router = (struct support_router){ .send = leave_node, .arg = &town->life };
    support_attach_router(node, router);
    assert_int_equal(node_start(node), 0);
    return node;
}

static void serve(struct town *town, uint32_t incarnation)
{
    town->life = (struct life){ .dead = false };
    town->server = (struct echo_server){ .pieces_max = 100 };
    assert_int_equal(endpoint_parse("unix:/run/0.sock", &town->server.endpoint, NULL), 0);
    town->nodes[0] = create(town, 0, incarnation);
    spawn(town->nodes[0], &busy_ops, &town->life);
    spawn(town->nodes[0], &echo_server_ops, &town->server);
}

static void check_empty(struct node *node)
{
    struct node_counters counters;
    assert_true(node_is_stopped(node));
    node_counters(node, &counters);
    assert_int_equal(counters.actors_live, 0);
    assert_int_equal(counters.messages_live, 0);
    assert_int_equal(counters.buffers_live, 0);
    assert_int_equal(counters.calls_open, 0);
}

static bool is_listening(void *arg)
{
    return ((struct town *)arg)->server.listening == 1;
}

static void connect_client(struct town *town, uint64_t bytes)
{
    town->client = (struct echo_client){ .endpoint = town->server.endpoint, .bytes = bytes };
    spawn(town->nodes[1], &echo_client_ops, &town->client);
}

static uint64_t live_and_die(uint64_t seed)
{
    struct town town = { .env = NULL };
    assert_int_equal(env_sim_create(seed, NULL, &town.env), 0);
    town.nodes[1] = create(&town, 1, 1);
    serve(&town, 1);
    bool serves = seed % 4 != 0; /* else it may die before it has begun */
    if (serves) {
        assert_int_equal(env_sim_run(town.env, is_listening, &town, ENV_SECOND_NS * 9), 0);
        connect_client(&town, UINT64_C(1) << 40);
    }
    env_sim_run(town.env, NULL, NULL, env_sim_now_ns(town.env) + seed * 3001);

    town.life.dead = true;
    uint32_t acted = town.life.acted;
    env_sim_kill(town.env, town.nodes[0]);
    assert_int_equal(town.life.acted, acted);
    assert_int_equal(town.life.acted_dead, 0);
    assert_int_equal(town.life.left_dead, 0);
    assert_int_equal(town.life.open, 0);
    check_empty(town.nodes[0]);
    node_destroy(town.nodes[0]);

    env_sim_run(town.env, NULL, NULL, env_sim_now_ns(town.env) + ENV_SECOND_NS);
    if (serves) { /* the client has found out, and what it got was right */
        assert_true(town.client.result == TR_EEND || town.client.result == TR_EPEERDOWN);
        assert_int_equal(town.client.wrong, 0);
    }

    serve(&town, 2); /* at the same endpoint */
    assert_int_equal(
        env_sim_run(town.env, is_listening, &town, env_sim_now_ns(town.env) + ENV_SECOND_NS), 0);
    connect_client(&town, 1000);
    env_sim_run(town.env, NULL, NULL, env_sim_now_ns(town.env) + ENV_SECOND_NS / 10);
    assert_int_equal(town.client.result, 1);
    support_sim_finish(town.env, town.nodes[0]);
    assert_int_equal(town.life.open, 0);
    env_sim_kill(town.env, town.nodes[1]);
    node_destroy(town.nodes[1]);
    uint64_t trace = env_sim_trace(town.env);
    env_destroy(town.env);
    return trace;
}

static void nothing_of_a_dead_node_is_seen(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 100; seed++) {
        uint64_t trace = live_and_die(seed);
        if (seed % 10 == 0)
            assert_true(trace == live_and_die(seed));
    }
}

static void a_node_that_never_started_dies_too(void **state)
{
    (void)state;
    struct town town = { .env = NULL };
    struct node_options options = { .id = 0, .loops = 2, .kinds = support_kinds() };
    assert_int_equal(env_sim_create(1, NULL, &town.env), 0);
    assert_int_equal(node_create(town.env, &options, &town.nodes[0], NULL), 0);
    spawn(town.nodes[0], &busy_ops, &town.life);
    env_sim_kill(town.env, town.nodes[0]);
    assert_int_equal(town.life.acted, 0);
    check_empty(town.nodes[0]);
    node_destroy(town.nodes[0]);
    env_destroy(town.env);
}

static void the_wall_clock_can_be_set(void **state)
{
    (void)state;
    struct env *env = NULL;
    assert_int_equal(env_sim_create(1, NULL, &env), 0);
    uint64_t wall_ms = env_wall_ms(env);
    uint64_t now_ns = env_now_ns(env);
    env_sim_wall_jump(env, -3600000);
    assert_int_equal(env_wall_ms(env), wall_ms - 3600000);
    env_sim_wall_jump(env, 7200000);
    assert_int_equal(env_wall_ms(env), wall_ms + 3600000);
    assert_int_equal(env_now_ns(env), now_ns); /* deadlines do not care */
    env_destroy(env);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_of_a_dead_node_is_seen),
        cmocka_unit_test(a_node_that_never_started_dies_too),
        cmocka_unit_test(the_wall_clock_can_be_set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
