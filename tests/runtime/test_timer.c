/* SPDX-License-Identifier: Apache-2.0 */
/* Timers: the heap against a plain reference; firing in order, never early or after a stop. */
#include "tests/runtime/support.h"

#include <stdlib.h>

#include "runtime/core/timer.h"
#include "runtime/core/timers.h"

#define TIMERS 200
#define STEPS 20000

static uint64_t next_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 33;
}

static const struct timer *reference_first(const struct timer *timers, const bool *in)
{
    const struct timer *first = NULL;
    for (int i = 0; i < TIMERS; i++)
        if (in[i] && (first == NULL || timers[i].at_ns < first->at_ns ||
                      (timers[i].at_ns == first->at_ns && timers[i].order < first->order)))
            first = &timers[i];
    return first;
}

static void the_heap_agrees_with_a_plain_search(void **state)
{
    (void)state;
    struct timer timers[TIMERS] = { 0 };
    bool in[TIMERS] = { false };
    struct timers heap = { 0 };
    uint64_t random = 42;
    for (int step = 0; step < STEPS; step++) {
        uint64_t i = next_random(&random) % TIMERS;
        if (in[i]) {
            timers_remove(&heap, &timers[i]);
        } else {
            timers[i].at_ns = next_random(&random) % 50; /* many equal times */
            timers_insert(&heap, &timers[i]);
        }
        in[i] = !in[i];
        if (next_random(&random) % 3 == 0 && heap.first != NULL) {
            in[heap.first - timers] = false;
            timers_remove(&heap, heap.first);
        }
        assert_ptr_equal(heap.first, reference_first(timers, in));
    }
}

struct clock_house {
    struct timer timers[32];
    uint64_t due_ns[32];
    uint32_t fired, early, after_stop, restarts;
    bool stopped[32];
};

static struct clock_house *house_of(struct actor *self)
{
    return actor_state(self);
}

static void fire(struct actor *self, void *arg)
{
    struct clock_house *house = house_of(self);
    uint64_t i = (uintptr_t)arg;
    house->fired++;
    if (actor_now_ns(self) < house->due_ns[i])
        house->early++;
    if (house->stopped[i])
        house->after_stop++;
    uint64_t other = actor_random(self) % 32;
    timer_stop(&house->timers[other]);
    house->stopped[other] = true;
    if (house->restarts++ < 500) {
        uint64_t again = actor_random(self) % 32;
        house->stopped[again] = false;
        house->due_ns[again] = actor_now_ns(self) + actor_random(self) % 1000000;
        timer_start(self, &house->timers[again], house->due_ns[again], fire,
                    (void *)(uintptr_t)again);
    }
}

static int start(struct actor *self, const void *arg)
{
    struct clock_house *house = (void *)(uintptr_t)arg;
    actor_set_state(self, house);
    for (uint64_t i = 0; i < 32; i++) {
        house->due_ns[i] = actor_now_ns(self) + actor_random(self) % 1000000;
        timer_start(self, &house->timers[i], house->due_ns[i], fire, (void *)(uintptr_t)i);
    }
    return 0;
}

static int receive(struct actor *self, struct message *message)
{
    message_release(self, message);
    return 0;
}

static void fini(struct actor *self)
{
    struct clock_house *house = house_of(self);
    for (int i = 0; i < 32; i++)
        assert_false(timer_is_started(&house->timers[i]));
}

static const struct actor_ops ops = { "clock", start, receive, NULL, fini };

static void nothing_fires_early_or_after_a_stop(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 50; seed++) {
        struct clock_house house = { .fired = 0 };
        struct env *env = NULL;
        struct address address;
        assert_int_equal(env_sim_create(seed, NULL, &env), 0);
        struct node *node = support_sim_node(env, 1, 1);
        struct actor_options options = { .ops = &ops, .arg = &house };
        assert_int_equal(node_spawn(node, &options, &address), 0);
        assert_int_equal(node_start(node), 0);
        env_sim_run(env, NULL, NULL, env_sim_now_ns(env) + (seed % 2 ? 500000 : ENV_SECOND_NS));
        support_sim_finish(env, node);
        assert_int_equal(house.early, 0);
        assert_int_equal(house.after_stop, 0);
        assert_true(house.fired > 0);
        env_destroy(env);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_heap_agrees_with_a_plain_search),
        cmocka_unit_test(nothing_fires_early_or_after_a_stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
