/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Under kills, failing allocations, refusals, silence and late answers, in hundreds of simulated
 * orders: every call completes exactly once, every monitor gets one DOWN, and nothing is left.
 */
#include "tests/runtime/support.h"
#include "tests/seeds.h"

#include <stdlib.h>

#include "runtime/core/monitor.h"
#include "runtime/core/supervisor.h"
#include "runtime/core/timer.h"
#include "runtime/sim/env_sim.h"

#define SEEDS 200
#define WORKERS 4
#define CALLERS 3
#define CALLS 60

struct record {
    uint32_t opened, completed, twice, monitors, downs, wrong;
    uint32_t by_status[32]; /* [-status] */
};

struct world {
    struct record record;
    struct address workers[WORKERS]; /* of the present life */
    uint32_t finished;
};

struct worker {
    struct world *world;
    struct message *held;
    struct timer timer;
};

static void answer_late(struct actor *self, void *arg)
{
    struct worker *worker = arg;
    struct message *request = worker->held;
    struct message *reply = message_create(self, KIND_ANSWER);
    worker->held = NULL;
    if (reply == NULL)
        actor_refuse(self, request, TR_ENOMEM);
    else
        actor_reply(self, request, reply);
}

static int worker_start(struct actor *self, const void *arg)
{
    struct worker *worker = calloc(1, sizeof *worker);
    if (worker == NULL)
        return TR_ENOMEM;
    actor_set_state(self, worker);
    worker->world = (void *)(uintptr_t)arg;
    return 0;
}

static int echo(struct actor *self, struct message *request)
{
    struct message *reply = message_create(self, KIND_ANSWER);
    if (reply == NULL) {
        actor_refuse(self, request, TR_ENOMEM);
        return 0;
    }
    ((struct number *)message_head(reply))->value = ((struct number *)message_head(request))->value;
    struct buffer *body = message_body_detach(request);
    if (body != NULL)
        message_body_attach(reply, body, 1);
    return actor_reply(self, request, reply);
}

static int worker_receive(struct actor *self, struct message *message)
{
    struct worker *worker = actor_state(self);
    switch (actor_random(self) % 24) {
    case 0: /* silence: the caller hears that we gave it up */
        message_release(self, message);
        return 0;
    case 1:
        actor_refuse(self, message, TR_ERANGE);
        return 0;
    case 2: /* failure with the request in hand */
        message_release(self, message);
        return TR_EIO;
    case 3: /* failure after the answer */
        echo(self, message);
        return TR_EIO;
    case 4: /* an answer that may come too late, or never */
    case 5:
    case 6:
        if (worker->held != NULL)
            break;
        worker->held = message;
        timer_start(self, &worker->timer, actor_now_ns(self) + actor_random(self) % 2000000,
                    answer_late, worker);
        return 0;
    default:
        break;
    }
    return echo(self, message);
}

static void worker_fini(struct actor *self)
{
    struct worker *worker = actor_state(self);
    if (worker != NULL)
        message_release(self, worker->held);
    free(worker);
}

static const struct actor_ops worker_ops = { "worker", worker_start, worker_receive, NULL,
                                             worker_fini };

struct caller {
    struct world *world;
    uint32_t to_make;
    struct timer timer;
};

struct ticket {
    struct world *world;
    uint64_t value;
    struct call_id id;
    uint32_t completions;
};

static void call_done_once(struct actor *self, void *arg, int status, struct message *reply)
{
    struct ticket *ticket = arg;
    struct record *record = &ticket->world->record;
    record->completed++;
    record->by_status[-status]++;
    if (ticket->completions++ > 0)
        record->twice++;
    if ((status == 0) != (reply != NULL))
        record->wrong++;
    message_release(self, reply);
    free(ticket);
}

static void went_down(struct actor *self, void *arg, struct address who, int reason)
{
    struct ticket *ticket = arg;
    (void)self;
    (void)who;
    (void)reason;
    ticket->world->record.downs++;
    free(ticket);
}

static struct ticket *ticket_create(struct world *world)
{
    struct ticket *ticket = calloc(1, sizeof *ticket);
    assert_non_null(ticket);
    ticket->world = world;
    return ticket;
}

static void one_call(struct actor *self, struct world *world)
{
    struct address to = world->workers[actor_random(self) % WORKERS];
    struct ticket *ticket = ticket_create(world);
    struct message *request = message_create(self, KIND_ASK);
    if (request != NULL && actor_random(self) % 4 == 0)
        message_body_alloc(self, request, 1 + actor_random(self) % 100000);
    struct call_id id;
    /* Some deadlines are as short as a turn, so work expires in mailboxes too. */
    uint64_t reach_ns = actor_random(self) % 2 == 0 ? 5000 : 1000000;
    uint64_t deadline_ns = actor_now_ns(self) + actor_random(self) % reach_ns;
    if (request == NULL ||
        actor_call(self, to, request, deadline_ns, call_done_once, ticket, &id) < 0) {
        free(ticket);
        return;
    }
    world->record.opened++;
    if (actor_random(self) % 8 == 0)
        actor_cancel(self, id);
}

static void one_monitor(struct actor *self, struct world *world)
{
    struct ticket *ticket = ticket_create(world);
    struct call_id id;
    if (actor_monitor(self, world->workers[actor_random(self) % WORKERS], went_down, ticket, &id) <
        0) {
        free(ticket);
        return;
    }
    if (actor_random(self) % 4 == 0 && actor_demonitor(self, id) == 0)
        free(ticket);
    else
        world->record.monitors++;
}

static void tick(struct actor *self, void *arg)
{
    struct caller *caller = arg;
    struct world *world = caller->world;
    one_call(self, world);
    if (actor_random(self) % 3 == 0)
        one_monitor(self, world);
    if (actor_random(self) % 20 == 0)
        actor_kill(self, world->workers[actor_random(self) % WORKERS], TR_EIO);
    if (--caller->to_make > 0)
        timer_start(self, &caller->timer, actor_now_ns(self) + actor_random(self) % 200000, tick,
                    caller);
    else
        world->finished++;
}

static int caller_start(struct actor *self, const void *arg)
{
    struct caller *caller = calloc(1, sizeof *caller);
    if (caller == NULL)
        return TR_ENOMEM;
    actor_set_state(self, caller);
    caller->world = (void *)(uintptr_t)arg;
    caller->to_make = CALLS;
    timer_start(self, &caller->timer, actor_now_ns(self), tick, caller);
    return 0;
}

static void state_free(struct actor *self)
{
    free(actor_state(self));
}

static const struct actor_ops caller_ops = { "caller", caller_start, support_discard, NULL,
                                             state_free };

/* Spawns the workers, and a new one when its monitor says that one is down. */
struct keeper {
    struct world *world;
    struct timer timer;
};

static void refill(struct actor *self, void *arg)
{
    struct keeper *keeper = arg;
    for (uint32_t i = 0; i < WORKERS; i++) {
        struct actor_options options = { .ops = &worker_ops,
                                         .arg = keeper->world,
                                         .loop = i % node_loops(actor_node(self)) };
        struct address address;
        bool none = address_is_none(keeper->world->workers[i]);
        if ((none || actor_random(self) % 2 == 0) && actor_spawn(self, &options, &address) == 0) {
            if (!none)
                actor_stop(self, keeper->world->workers[i]);
            keeper->world->workers[i] = address;
        }
    }
    timer_start(self, &keeper->timer, actor_now_ns(self) + 1000000, refill, keeper);
}

static int keeper_start(struct actor *self, const void *arg)
{
    struct keeper *keeper = calloc(1, sizeof *keeper);
    if (keeper == NULL)
        return TR_ENOMEM;
    actor_set_state(self, keeper);
    keeper->world = (void *)(uintptr_t)arg;
    refill(self, keeper);
    return 0;
}

static const struct actor_ops keeper_ops = { "keeper", keeper_start, support_discard, NULL,
                                             state_free };

static bool callers_finished(void *arg)
{
    return ((struct world *)arg)->finished == CALLERS;
}

static uint64_t run_seed(uint64_t seed, struct record *sum)
{
    struct env *env = NULL;
    struct env_sim_options sim = { .alloc_fail_ppm = 0 };
    assert_int_equal(env_sim_create(seed, &sim, &env), 0);
    struct node *node = support_sim_node(env, 1, 1 + (uint32_t)(seed % 4));
    struct world world = { 0 };
    struct address address;
    struct actor_options keeper = { .ops = &keeper_ops, .arg = &world };
    assert_int_equal(node_spawn(node, &keeper, &address), 0);
    for (uint32_t i = 0; i < CALLERS; i++) {
        struct actor_options caller = { .ops = &caller_ops,
                                        .arg = &world,
                                        .loop = i % node_loops(node) };
        assert_int_equal(node_spawn(node, &caller, &address), 0);
    }
    env_sim_set_alloc_fail(env, seed % 2 == 0 ? 30000 : 0);
    assert_int_equal(node_start(node), 0);
    int rc = env_sim_run(env, callers_finished, &world, 60 * ENV_SECOND_NS);
    /* A directory that fails to start for want of memory stops the node, orderly too. */
    assert_true(rc == 0 || (node_failure(node) < 0 && seed % 2 == 0));
    support_sim_finish(env, node);
    assert_int_equal(world.record.opened, world.record.completed);
    assert_int_equal(world.record.monitors, world.record.downs);
    assert_int_equal(world.record.twice, 0);
    assert_int_equal(world.record.wrong, 0);
    sum->monitors += world.record.monitors;
    for (int i = 0; i < 32; i++)
        sum->by_status[i] += world.record.by_status[i];
    uint64_t trace = env_sim_trace(env);
    env_destroy(env);
    return trace;
}

static void everything_completes_once(void **state)
{
    (void)state;
    struct record sum = { 0 };
    struct seeds seeds = seeds_wanted(SEEDS);
    for (uint64_t seed = seeds.begin; seed < seeds.end; seed++) {
        seeds_note(seed);
        run_seed(seed, &sum);
    }
    if (seeds.end - seeds.begin < SEEDS)
        return;
    /* The faults were real: every way to complete was taken often. */
    assert_true(sum.by_status[0] > 500);
    assert_true(sum.by_status[-TR_ETIMEDOUT] > 500);
    assert_true(sum.by_status[-TR_EPEERDOWN] > 500);
    assert_true(sum.by_status[-TR_ECANCELED] > 500);
    assert_true(sum.by_status[-TR_ERANGE] > 100);
    assert_true(sum.by_status[-TR_ENOMEM] > 10);
    assert_true(sum.monitors > 500);
}

static void faults_repeat_with_their_seed(void **state)
{
    (void)state;
    struct record sum = { 0 };
    for (uint64_t seed = 1; seed <= 20; seed++)
        assert_int_equal(run_seed(seed, &sum), run_seed(seed, &sum));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_completes_once),
        cmocka_unit_test(faults_repeat_with_their_seed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
