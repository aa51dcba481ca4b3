/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Group calls whose deadlines are shorter than an answer's way: what a call that timed out began
 * stays under way, and a repeat gets its answer. So every operation ends after about as long as one
 * call without a deadline takes, whatever the deadline is.
 *
 * The network here takes up to five times the deadline for each piece of the way, so hardly a call
 * is answered before it timed out. Barriers are not among them: all ranks or the deadline is what
 * they promise.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "actors/common/error_reply.h"
#include "actors/job/reducer.h"
#include "runtime/base/error.h"
#include "runtime/core/call.h"
#include "runtime/core/directory.h"
#include "runtime/core/timer.h"
#include "runtime/sim/env_sim.h"
#include "schemas/messages.h"
#include "tests/actors/cluster_fixture.h"

#define SEEDS 30
#define RANKS 2u
#define STEPS 4
#define VALUES 20000u /* some pieces for each owner */
#define MS UINT64_C(1000000)
#define TIMEOUT_NS MS
#define AGAIN_NS MS
#define NET_DELAY_NS (5 * MS)
/* Far more than all operations need one after the other; a call that starts anew never ends. */
#define LIMIT_NS (60 * CLUSTER_FIXTURE_SECOND)

static const struct cluster_fixture_layout layout = {
    .num_processes = 2,
    .samplers = 1,
    .trainers = RANKS,
    .coordinator = 0,
    .direct = true,
    .checkpoints = "checkpoints",
    .processes = { { 2, { 0, 1 }, { 0, 1 }, { 0, 1 } }, { 0, { 0 }, { 0, 0 }, { 1, 1 } } },
};

enum stage { FIND, RESTORE, REDUCE, SAVE, DONE };

struct trainer {
    uint32_t rank;
    enum stage stage;
    struct address reducer;
    struct timer timer;
    uint64_t step;
    uint32_t era;
    uint32_t timed_out;
    bool saves_fail;   /* rank 0 has no part to save: no checkpoint is made */
    bool misses_saves; /* the first answer to each save comes too late for the trainer */
    uint64_t missed;   /* the step whose answer did */
    uint64_t late;     /* the step whose save timed out */
};

static void go(struct actor *self, void *arg);

static void later(struct actor *self, struct trainer *t)
{
    timer_start(self, &t->timer, actor_now_ns(self) + AGAIN_NS, go, t);
}

static float value_of(const struct trainer *t, uint32_t rank, uint32_t i)
{
    return (float)(t->step * 7 + rank * 3 + i % 1001) / 3.0f;
}

static void check_sums(const struct trainer *t, const struct message *reply)
{
    const float *sums = message_body(reply);
    assert_int_equal(reply->frame.body_bytes, VALUES * sizeof *sums);
    for (uint32_t i = 0; i < VALUES; i++) {
        float wanted = value_of(t, 0, i) + value_of(t, 1, i);
        assert_memory_equal(&sums[i], &wanted, sizeof wanted);
    }
}

static void end_save(struct trainer *t)
{
    t->stage = t->step == STEPS ? DONE : REDUCE;
}

/* True: nobody hears this answer, and the trainer repeats its call. */
static bool miss(struct trainer *t)
{
    bool misses = t->stage == SAVE && t->misses_saves && t->missed != t->step;
    if (misses)
        t->missed = t->step;
    return misses;
}

static void succeed(struct trainer *t, const struct message *reply)
{
    const struct msg_group_reply *head = (const void *)reply->head;
    switch (t->stage) {
    case RESTORE:
        t->era = head->era;
        assert_int_equal(head->found, 0);
        t->stage = REDUCE;
        break;
    case REDUCE:
        check_sums(t, reply);
        t->step++;
        t->stage = SAVE;
        break;
    default:
        assert_int_equal(head->step, t->step);
        assert_false(t->saves_fail);
        end_save(t);
    }
    /* No call that timed out made the group begin again. */
    assert_int_equal(head->era, t->era);
}

static void answered(struct actor *self, void *arg, int status, struct message *reply)
{
    struct trainer *t = arg;
    if (status == 0)
        status = error_reply_read(reply, NULL);
    if (status != TR_ETIMEDOUT && miss(t))
        ;
    else if (status == 0)
        succeed(t, reply);
    else if (status == TR_ENOSPC && t->stage == SAVE && t->saves_fail)
        end_save(t);
    else if (status != TR_ETIMEDOUT)
        fail_msg("rank %" PRIu32 ", stage %d: %s", t->rank, (int)t->stage, tr_error_name(status));
    if (status == TR_ETIMEDOUT && t->stage == SAVE)
        t->late = t->step;
    t->timed_out += status != 0;
    message_release(self, reply);
    if (t->stage != DONE)
        later(self, t);
}

static void found(struct actor *self, void *arg, int status, struct address address)
{
    struct trainer *t = arg;
    assert_int_equal(status, 0);
    t->reducer = address;
    t->stage = RESTORE;
    later(self, t);
}

static void operate(struct actor *self, struct trainer *t)
{
    struct message *request = message_create(self, MSG_GROUP_REQUEST);
    assert_non_null(request);
    struct msg_group_request head = { .timeout_ns = TIMEOUT_NS, .operation = MSG_GROUP_RESTORE };
    if (t->stage == REDUCE) {
        head.operation = MSG_GROUP_REDUCE;
        head.value = t->step + 1;
        head.count = VALUES;
        float *values = message_body_alloc(self, request, VALUES * sizeof *values);
        for (uint32_t i = 0; i < VALUES; i++)
            values[i] = value_of(t, t->rank, i);
    } else if (t->stage == SAVE) {
        head.operation = MSG_GROUP_SAVE;
        head.value = t->step;
        /* As where a call after the one that timed out failed for want of memory. */
        head.number = 2 * t->step + (t->late == t->step);
        head.count = sizeof t->step;
        if (t->saves_fail && t->rank == 0) {
            head.operation = MSG_GROUP_SKIP;
            head.count = (uint32_t)TR_ENOSPC;
        } else {
            memcpy(message_body_alloc(self, request, sizeof t->step), &t->step, sizeof t->step);
        }
    }
    *(struct msg_group_request *)message_head(request) = head;
    assert_int_equal(
        actor_call(self, t->reducer, request, actor_now_ns(self) + LIMIT_NS, answered, t, NULL), 0);
}

static void go(struct actor *self, void *arg)
{
    struct trainer *t = arg;
    char name[DIRECTORY_NAME_MAX];
    reducer_name(t->rank, name, sizeof name);
    if (t->stage == FIND)
        assert_int_equal(directory_wait(self, name, actor_now_ns(self) + LIMIT_NS, found, t), 0);
    else
        operate(self, t);
}

static int start(struct actor *self, const void *arg)
{
    later(self, (struct trainer *)(uintptr_t)arg);
    return 0;
}

static int drop(struct actor *self, struct message *message)
{
    message_release(self, message);
    return 0;
}

static const struct actor_ops trainer_ops = { .name = "trainer", .start = start, .receive = drop };

static bool all_done(void *arg)
{
    const struct trainer *trainers = arg;
    return trainers[0].stage == DONE && trainers[1].stage == DONE;
}

static void play(bool saves_fail, bool misses_saves)
{
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct trainer trainers[RANKS] = {
            { .rank = 0, .saves_fail = saves_fail },
            { .rank = 1, .saves_fail = saves_fail, .misses_saves = misses_saves },
        };
        struct cluster_fixture fixture;
        struct env *env;
        assert_int_equal(env_sim_create(seed, NULL, &env), 0);
        env_sim_net_delay(env, NET_DELAY_NS);
        cluster_fixture_open(&fixture, &layout, env, true);
        for (uint32_t rank = 0; rank < RANKS; rank++) {
            const struct actor_options options = { .ops = &trainer_ops, .arg = &trainers[rank] };
            struct address ignored;
            assert_int_equal(node_spawn(fixture.parties[rank].node, &options, &ignored), 0);
        }
        int rv = env_sim_run(env, all_done, trainers, env_sim_now_ns(env) + LIMIT_NS);
        for (uint32_t rank = 0; rank < RANKS; rank++) {
            if (rv != 0)
                print_message("# seed %" PRIu64 ", rank %" PRIu32 ": step %" PRIu64 ", stage %d\n",
                              seed, rank, trainers[rank].step, (int)trainers[rank].stage);
            assert_true(trainers[rank].timed_out > STEPS);
        }
        assert_int_equal(rv, 0);
        cluster_fixture_close(&fixture);
    }
}

static void repeated_calls_get_the_answer_of_the_first(void **state)
{
    (void)state;
    play(false, false);
}

/* The others have heard it and go on, so a save begun anew would wait for them for ever. */
static void an_answer_to_a_save_that_came_too_late_is_given_again(void **state)
{
    (void)state;
    play(false, true);
    play(true, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(repeated_calls_get_the_answer_of_the_first),
        cmocka_unit_test(an_answer_to_a_save_that_came_too_late_is_given_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
