/* SPDX-License-Identifier: Apache-2.0 */
/* Accounts: bounds hold, refusals name the account, waiters are served in line, once. */
#include "tests/runtime/support.h"

#include <stdlib.h>

#include "runtime/core/account.h"
#include "runtime/core/timer.h"

#define WAITERS 6
#define ROUNDS 40

static void a_full_account_says_its_name_and_numbers(void **state)
{
    (void)state;
    struct account account;
    struct error error = { 0 };
    account_init(&account, "batches", 100);
    assert_int_equal(account_reserve(&account, 60, &error), 0);
    assert_int_equal(account_reserve(&account, 41, &error), TR_EFULL);
    assert_string_equal(error.text, "account batches is full: 60 of 100 bytes used, 41 asked for");
    assert_int_equal(account_reserve(&account, SIZE_MAX, &error), TR_EFULL);
    assert_int_equal(account_reserve(&account, 40, &error), 0);
    assert_int_equal(account_used(&account), 100);
    account_release(&account, 100);
    account_fini(&account);
}

struct queue {
    struct account account;
    size_t held;
    uint32_t asked, granted, expired, canceled, bad;
};

struct waiter {
    struct queue *queue;
    struct timer timer;
    struct account_wait *wait;
    size_t bytes;
    uint32_t rounds;
};

static void next_round(struct actor *self, void *arg);

static void hold(struct actor *self, struct waiter *waiter)
{
    struct queue *queue = waiter->queue;
    queue->held += waiter->bytes;
    if (queue->held > queue->account.bound_bytes)
        queue->bad++;
    timer_start(self, &waiter->timer, actor_now_ns(self) + actor_random(self) % 100000, next_round,
                waiter);
}

static void granted(struct actor *self, void *arg, int status)
{
    struct waiter *waiter = arg;
    waiter->wait = NULL;
    if (status == 0) {
        waiter->queue->granted++;
        hold(self, waiter);
        return;
    }
    waiter->queue->expired++;
    waiter->bytes = 0;
    timer_start(self, &waiter->timer, actor_now_ns(self), next_round, waiter);
}

static void give_up(struct actor *self, void *arg)
{
    struct waiter *waiter = arg;
    if (waiter->wait == NULL)
        return;
    account_wait_cancel(waiter->wait);
    waiter->wait = NULL;
    waiter->queue->canceled++;
    waiter->bytes = 0;
    timer_start(self, &waiter->timer, actor_now_ns(self) + 1000, next_round, waiter);
}

static void next_round(struct actor *self, void *arg)
{
    struct waiter *waiter = arg;
    struct queue *queue = waiter->queue;
    if (waiter->bytes > 0) {
        queue->held -= waiter->bytes;
        account_release(&queue->account, waiter->bytes);
    }
    waiter->bytes = 0;
    if (waiter->rounds-- == 0)
        return;
    waiter->bytes = 1 + actor_random(self) % 60;
    queue->asked++;
    uint64_t deadline_ns = actor_now_ns(self) + 1 + actor_random(self) % 300000;
    int rc = account_reserve_wait(&queue->account, self, waiter->bytes, deadline_ns, granted,
                                  waiter, &waiter->wait);
    if (rc == 0) {
        queue->granted++;
        hold(self, waiter);
    } else if (actor_random(self) % 4 == 0) {
        timer_start(self, &waiter->timer, actor_now_ns(self) + actor_random(self) % 100000, give_up,
                    waiter);
    }
}

static int start(struct actor *self, const void *arg)
{
    struct waiter *waiter = calloc(1, sizeof *waiter);
    if (waiter == NULL)
        return TR_ENOMEM;
    actor_set_state(self, waiter);
    waiter->queue = (void *)(uintptr_t)arg;
    waiter->rounds = ROUNDS;
    struct account_wait *wait = NULL;
    assert_int_equal(account_reserve_wait(&waiter->queue->account, self, 101, UINT64_MAX, granted,
                                          waiter, &wait),
                     TR_ETOOBIG);
    next_round(self, waiter);
    return 0;
}

static int receive(struct actor *self, struct message *message)
{
    message_release(self, message);
    return 0;
}

/* May end with a wait open, which its end cancelled, or with bytes held, which it gives back. */
static void fini(struct actor *self)
{
    struct waiter *waiter = actor_state(self);
    if (waiter != NULL && waiter->wait == NULL && waiter->bytes > 0)
        account_release(&waiter->queue->account, waiter->bytes);
    free(waiter);
}

static const struct actor_ops ops = { "waiter", start, receive, NULL, fini };

static void waiters_are_served_once_in_any_order(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 60; seed++) {
        struct env *env = NULL;
        struct queue queue = { .held = 0 };
        account_init(&queue.account, "held", 100);
        assert_int_equal(env_sim_create(seed, NULL, &env), 0);
        struct node *node = support_sim_node(env, 1, 3);
        for (uint32_t i = 0; i < WAITERS; i++) {
            struct actor_options options = { .ops = &ops, .arg = &queue, .loop = i % 3 };
            struct address address;
            assert_int_equal(node_spawn(node, &options, &address), 0);
        }
        assert_int_equal(node_start(node), 0);
        /* Odd seeds stop in the middle, with waits open. */
        uint64_t run_ns = seed % 2 == 1 ? ENV_SECOND_NS / 1000 : ENV_SECOND_NS;
        env_sim_run(env, NULL, NULL, env_sim_now_ns(env) + run_ns);
        if (seed % 2 == 0) {
            assert_int_equal(queue.asked, WAITERS * ROUNDS);
            assert_int_equal(queue.asked, queue.granted + queue.expired + queue.canceled);
            assert_true(queue.expired > 0 && queue.canceled > 0);
        }
        assert_int_equal(queue.bad, 0);
        support_sim_finish(env, node);
        account_fini(&queue.account);
        env_destroy(env);
    }
}

/* Two in line for an account that is partly used: the first wants more than is left, the second
 * would fit. */
struct line {
    struct account account;
    struct account_wait *first;
    struct timer timer;
    bool cancels; /* the first leaves by itself; else its deadline passes */
    int first_status, second_status;
    uint64_t second_ns;
};

#define FIRST_LEAVES_NS (ENV_SECOND_NS / 10)

static void first_ended(struct actor *self, void *arg, int status)
{
    struct line *line = arg;
    (void)self;
    line->first_status = status;
}

static void second_ended(struct actor *self, void *arg, int status)
{
    struct line *line = arg;
    line->second_status = status;
    line->second_ns = actor_now_ns(self);
}

static void cancel_first(struct actor *self, void *arg)
{
    struct line *line = arg;
    (void)self;
    account_wait_cancel(line->first);
}

static int start_line(struct actor *self, const void *arg)
{
    struct line *line = (void *)(uintptr_t)arg;
    uint64_t now_ns = actor_now_ns(self), late_ns = now_ns + ENV_SECOND_NS;
    struct error error = { 0 };
    assert_int_equal(account_reserve(&line->account, 60, &error), 0);
    assert_int_equal(account_reserve_wait(&line->account, self, 60,
                                          line->cancels ? late_ns : now_ns + FIRST_LEAVES_NS,
                                          first_ended, line, &line->first),
                     1);
    /* A request that would fit does not pass those in line, whether it waits or not. */
    assert_int_equal(account_reserve(&line->account, 30, &error), TR_EFULL);
    assert_int_equal(
        account_reserve_wait(&line->account, self, 30, late_ns, second_ended, line, NULL), 1);
    assert_int_equal(account_used(&line->account), 60);
    if (line->cancels)
        timer_start(self, &line->timer, now_ns + FIRST_LEAVES_NS, cancel_first, line);
    return 0;
}

static const struct actor_ops line_ops = { "line", start_line, receive, NULL, NULL };

/* Nothing is released: the one behind is served because the first went. */
static void leaving_the_line_serves_those_behind(void **state)
{
    (void)state;
    for (int cancels = 0; cancels < 2; cancels++) {
        struct line line = { .cancels = cancels, .first_status = 1, .second_status = 1 };
        struct actor_options options = { .ops = &line_ops, .arg = &line };
        struct address address;
        struct env *env = NULL;
        account_init(&line.account, "line", 100);
        assert_int_equal(env_sim_create((uint64_t)cancels, NULL, &env), 0);
        struct node *node = support_sim_node(env, 1, 1);
        uint64_t begin_ns = env_sim_now_ns(env);
        assert_int_equal(node_spawn(node, &options, &address), 0);
        assert_int_equal(node_start(node), 0);
        env_sim_run(env, NULL, NULL, begin_ns + 3 * ENV_SECOND_NS);
        assert_int_equal(line.first_status, cancels ? 1 : TR_ETIMEDOUT);
        assert_int_equal(line.second_status, 0);
        assert_true(line.second_ns - begin_ns >= FIRST_LEAVES_NS);
        assert_true(line.second_ns - begin_ns < ENV_SECOND_NS);
        assert_int_equal(account_used(&line.account), 90);
        account_release(&line.account, 90);
        support_sim_finish(env, node);
        account_fini(&line.account);
        env_destroy(env);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_full_account_says_its_name_and_numbers),
        cmocka_unit_test(leaving_the_line_serves_those_behind),
        cmocka_unit_test(waiters_are_served_once_in_any_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
