/* SPDX-License-Identifier: Apache-2.0 */
/* The launcher's policy: what it starts, starts again and stops, over whole lives of jobs in
 * virtual time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "actors/cluster/launcher_policy.h"
#include "tests/schemas/random.h"
#include "tests/seeds.h"

#define SECOND UINT64_C(1000000000)
#define PROCESSES_MAX 12u
#define EVENTS_MAX 100000

static const enum launcher_role FOUR[] = { LAUNCHER_SERVER, LAUNCHER_SERVER, LAUNCHER_SAMPLER,
                                           LAUNCHER_TRAINER };

/* A job of that many processes, which follows the commands and asserts what holds for each of
 * them. */
struct world {
    struct launcher_policy policy;
    uint64_t now_ns;
    uint32_t count;
    bool alive[PROCESSES_MAX], asked[PROCESSES_MAX], killed[PROCESSES_MAX], silent[PROCESSES_MAX];
    uint64_t asked_ns[PROCESSES_MAX], dies_ns[PROCESSES_MAX];
    uint32_t incarnation[PROCESSES_MAX];
    uint32_t starts, stops_asked;
    bool complete, done;
};

static void begin(struct world *world, const enum launcher_role *roles, uint32_t count)
{
    memset(world, 0, sizeof *world);
    world->count = count;
    world->now_ns = 7 * SECOND;
    const struct launcher_policy_options options = { .roles = roles,
                                                     .count = count,
                                                     .incarnation = 1000,
                                                     .restarts = LAUNCHER_RESTARTS,
                                                     .period_ns = LAUNCHER_PERIOD_NS };
    assert_int_equal(launcher_policy_init(&world->policy, &options, world->now_ns), 0);
}

static void started(struct world *world, const struct launcher_command *command)
{
    uint32_t p = command->process;
    assert_false(world->alive[p]);
    assert_int_equal(world->stops_asked, 0);
    assert_false(world->complete);
    assert_true(command->incarnation > world->incarnation[p]);
    world->alive[p] = true;
    world->asked[p] = world->killed[p] = world->silent[p] = false;
    world->dies_ns[p] = LAUNCHER_NEVER;
    world->incarnation[p] = command->incarnation;
    world->starts++;
}

/* Nobody is asked while a process is alive that may still ask it. */
static void asked(struct world *world, uint32_t p)
{
    assert_true(world->alive[p] && !world->asked[p] && !world->killed[p]);
    for (uint32_t q = 0; q < world->count; q++)
        if (world->policy.members[q].role < world->policy.members[p].role)
            assert_false(world->alive[q]);
    world->asked[p] = true;
    world->asked_ns[p] = world->now_ns;
}

static void killed(struct world *world, uint32_t p)
{
    assert_true(world->alive[p] && !world->killed[p]);
    if (world->stops_asked < 2 && !world->policy.killing && !world->silent[p])
        assert_true(world->asked[p] && world->now_ns - world->asked_ns[p] >= LAUNCHER_GRACE_NS);
    world->killed[p] = true;
}

static void obey(struct world *world)
{
    struct launcher_command command;
    while (launcher_policy_next(&world->policy, &command)) {
        assert_false(world->done);
        switch (command.action) {
        case LAUNCHER_START:
            started(world, &command);
            break;
        case LAUNCHER_TERM:
            asked(world, command.process);
            break;
        case LAUNCHER_KILL:
            killed(world, command.process);
            break;
        case LAUNCHER_DONE:
            for (uint32_t p = 0; p < world->count; p++)
                assert_false(world->alive[p]);
            world->done = true;
        }
    }
}

static void ends(struct world *world, uint32_t p, int code, int signal)
{
    world->alive[p] = false;
    launcher_policy_exited(&world->policy, p, code, signal, world->now_ns);
    obey(world);
}

static void wait_for_it(struct world *world)
{
    uint64_t wake_ns = launcher_policy_wake_ns(&world->policy);
    assert_true(wake_ns != LAUNCHER_NEVER);
    if (wake_ns > world->now_ns)
        world->now_ns = wake_ns;
    launcher_policy_tick(&world->policy, world->now_ns);
    obey(world);
}

static int result(struct world *world, struct error *error)
{
    assert_true(world->done);
    int rv = launcher_policy_result(&world->policy, error);
    launcher_policy_fini(&world->policy);
    return rv;
}

static void a_job_ends_well(void **unused)
{
    struct world world;
    (void)unused;
    begin(&world, FOUR, 4);
    obey(&world);
    assert_int_equal(world.starts, 4);
    ends(&world, 3, 0, 0);
    assert_true(world.asked[2] && !world.asked[0]);
    ends(&world, 2, 0, 0);
    assert_true(world.asked[0] && world.asked[1]);
    ends(&world, 0, 1, 0); /* how it ends when it is asked to is of no concern */
    ends(&world, 1, 0, 15);
    assert_int_equal(result(&world, NULL), 0);
}

static void a_role_has_five_restarts_in_ten_minutes(void **unused)
{
    struct world world;
    struct error error;
    (void)unused;
    begin(&world, FOUR, 4);
    obey(&world);
    for (uint32_t i = 0; i < LAUNCHER_RESTARTS; i++) {
        uint32_t p = i % 2; /* both servers share the budget */
        ends(&world, p, 0, 9);
        assert_false(world.alive[p]);
        wait_for_it(&world);
        assert_true(world.alive[p]);
    }
    ends(&world, 2, 1, 0); /* another role has its own */
    wait_for_it(&world);
    assert_true(world.alive[2]);
    ends(&world, 1, 0, 9);
    assert_true(world.asked[3]);
    ends(&world, 3, 1, 0);
    ends(&world, 2, 1, 0);
    ends(&world, 0, 1, 0);
    assert_int_equal(result(&world, &error), TR_ECHILD);
    assert_non_null(strstr(error.text, "process 1 (server) was ended by signal 9"));
}

static void a_budget_comes_back(void **unused)
{
    struct world world;
    (void)unused;
    for (int by_checkpoint = 0; by_checkpoint < 2; by_checkpoint++) {
        begin(&world, FOUR, 4);
        obey(&world);
        for (uint32_t i = 0; i < 4 * LAUNCHER_RESTARTS; i++) {
            if (by_checkpoint)
                launcher_policy_checkpoint(&world.policy, world.now_ns);
            else
                world.now_ns += LAUNCHER_PERIOD_NS / LAUNCHER_RESTARTS;
            ends(&world, 0, 0, 11);
            wait_for_it(&world);
            assert_true(world.alive[0]);
        }
        launcher_policy_fini(&world.policy);
    }
}

/* Its place in the budget is free again when the period is over, neither before nor after. */
static void a_restart_counts_for_exactly_the_period(void **unused)
{
    struct world world;
    (void)unused;
    for (uint64_t late = 0; late < 3; late++) {
        begin(&world, FOUR, 4);
        obey(&world);
        uint64_t first_ns = world.now_ns;
        for (uint32_t i = 0; i < LAUNCHER_RESTARTS; i++) {
            ends(&world, 0, 0, 9);
            wait_for_it(&world);
        }
        assert_true(world.now_ns < first_ns + LAUNCHER_PERIOD_NS - 1);
        world.now_ns = first_ns + LAUNCHER_PERIOD_NS - 1 + late;
        ends(&world, 0, 0, 9);
        assert_int_equal(world.asked[3], late == 0); /* the job has failed */
        if (late > 0)
            wait_for_it(&world);
        assert_int_equal(world.alive[0], late > 0);
        launcher_policy_fini(&world.policy);
    }
}

static void pauses_double_until_it_is_ready(void **unused)
{
    struct world world;
    (void)unused;
    begin(&world, FOUR, 4);
    obey(&world);
    for (uint32_t i = 0; i < 3; i++) {
        uint64_t before_ns = world.now_ns;
        ends(&world, 0, 1, 0);
        wait_for_it(&world);
        assert_int_equal(world.now_ns - before_ns, LAUNCHER_PAUSE_FIRST_NS << i);
    }
    launcher_policy_ready(&world.policy, 0, world.now_ns);
    uint64_t before_ns = world.now_ns;
    ends(&world, 0, 1, 0);
    wait_for_it(&world);
    assert_int_equal(world.now_ns - before_ns, LAUNCHER_PAUSE_FIRST_NS);
    launcher_policy_fini(&world.policy);
}

static void wrong_usage_is_final(void **unused)
{
    struct world world;
    struct error error;
    (void)unused;
    begin(&world, FOUR, 4);
    obey(&world);
    ends(&world, 3, 2, 0);
    ends(&world, 2, 0, 0);
    ends(&world, 1, 0, 0);
    ends(&world, 0, 0, 0);
    assert_int_equal(world.starts, 4);
    assert_int_equal(result(&world, &error), TR_EINVAL);
    assert_non_null(strstr(error.text, "process 3 (trainer)"));
}

/* What a process that was ready cannot do is no option of the job. */
static void what_ends_a_ready_process_for_good_is_no_wrong_usage(void **unused)
{
    struct world world;
    struct error error;
    (void)unused;
    begin(&world, FOUR, 4);
    obey(&world);
    launcher_policy_ready(&world.policy, 3, world.now_ns);
    ends(&world, 3, 2, 0);
    ends(&world, 2, 0, 0);
    ends(&world, 1, 0, 0);
    ends(&world, 0, 0, 0);
    assert_int_equal(world.starts, 4);
    assert_int_equal(result(&world, &error), TR_ECHILD);
    assert_non_null(strstr(error.text, "process 3 (trainer) ended with exit code 2 after it was"));
}

static void a_trainer_that_fails_brings_the_others_back(void **unused)
{
    static const enum launcher_role TWO[] = { LAUNCHER_TRAINER, LAUNCHER_TRAINER };
    struct world world;
    (void)unused;
    begin(&world, TWO, 2);
    obey(&world);
    ends(&world, 0, 0, 0);
    assert_false(world.alive[0]);
    ends(&world, 1, 0, 9);
    assert_true(world.alive[0] && !world.alive[1]);
    wait_for_it(&world);
    assert_true(world.alive[1]);
    ends(&world, 1, 0, 0);
    ends(&world, 0, 0, 0);
    assert_int_equal(result(&world, NULL), 0);
}

/* Trainers that go back together: whichever fails, no trainer is started before all of them have
 * ended, and one failure is counted, however many ended. */
static void trainers_that_go_back_together_begin_together(void **unused)
{
    static const enum launcher_role ROLES[] = { LAUNCHER_SERVER, LAUNCHER_TRAINER, LAUNCHER_TRAINER,
                                                LAUNCHER_TRAINER };
    struct world world;
    struct error error;
    (void)unused;
    begin(&world, ROLES, 4);
    world.policy.together = true;
    obey(&world);
    ends(&world, 1, 0, 0); /* it was done, and is needed again */
    for (uint32_t i = 0; i < LAUNCHER_RESTARTS; i++) {
        if (i > 0)
            launcher_policy_ready(&world.policy, 1, world.now_ns);
        world.silent[1] = world.silent[2] = world.silent[3] = true; /* they may be killed */
        ends(&world, 2 + i % 2, 0, 9);
        uint32_t other = 3 - i % 2;
        assert_true(world.killed[other] && world.killed[1] == (i > 0));
        assert_false(world.killed[0]);
        /* Time alone brings nobody back while one lives. */
        assert_true(launcher_policy_wake_ns(&world.policy) == LAUNCHER_NEVER);
        if (i > 0)
            ends(&world, 1, 1, 0); /* it failed by itself, of the same cause */
        assert_true(launcher_policy_wake_ns(&world.policy) == LAUNCHER_NEVER);
        ends(&world, other, i % 2, 0);
        assert_true(!world.alive[1] && !world.alive[2] && !world.alive[3]);
        wait_for_it(&world);
        assert_true(world.alive[1] && world.alive[2] && world.alive[3]);
    }
    world.silent[1] = world.silent[2] = true;
    ends(&world, 3, 1, 0);
    assert_true(world.asked[1] && world.asked[2]);
    ends(&world, 1, 1, 0);
    ends(&world, 2, 1, 0);
    ends(&world, 0, 0, 0);
    assert_int_equal(result(&world, &error), TR_ECHILD);
}

/* A stop while they go back starts none of them. */
static void a_stop_ends_trainers_that_go_back(void **unused)
{
    static const enum launcher_role TWO[] = { LAUNCHER_TRAINER, LAUNCHER_TRAINER };
    struct world world;
    (void)unused;
    begin(&world, TWO, 2);
    world.policy.together = true;
    obey(&world);
    world.silent[0] = true;
    ends(&world, 1, 1, 0);
    launcher_policy_stop(&world.policy, world.now_ns);
    obey(&world);
    ends(&world, 0, 0, 9);
    assert_int_equal(world.starts, 2);
    assert_int_equal(result(&world, NULL), TR_ECANCELED);
}

static void a_server_that_left_too_early_is_missed(void **unused)
{
    struct world world;
    (void)unused;
    begin(&world, FOUR, 4);
    obey(&world);
    ends(&world, 1, 0, 0);
    uint64_t before_ns = world.now_ns;
    wait_for_it(&world);
    assert_true(world.alive[1]);
    assert_int_equal(world.now_ns - before_ns, LAUNCHER_GRACE_NS);
    ends(&world, 0, 0, 0);
    ends(&world, 3, 0, 0); /* the trainer: now nobody is missed any more */
    ends(&world, 2, 0, 0);
    ends(&world, 1, 0, 0);
    assert_int_equal(result(&world, NULL), 0);
}

/* It had told the coordinator that it was done, and died: the others heard of it and end well. */
static void a_trainer_that_fails_at_the_end_finds_the_others(void **unused)
{
    static const enum launcher_role ROLES[] = { LAUNCHER_SERVER, LAUNCHER_TRAINER, LAUNCHER_TRAINER,
                                                LAUNCHER_SERVER, LAUNCHER_SERVER };
    struct world world;
    (void)unused;
    begin(&world, ROLES, 5);
    obey(&world);
    for (uint32_t p = 0; p < 5; p++)
        launcher_policy_ready(&world.policy, p, world.now_ns);
    ends(&world, 3, 0, 0);
    ends(&world, 1, 0, 9);
    ends(&world, 0, 0, 0);
    launcher_policy_checkpoint(&world.policy, world.now_ns); /* what it said before it died */
    ends(&world, 2, 0, 0);
    assert_true(world.alive[0] && world.alive[2] && world.alive[3]);
    wait_for_it(&world);
    assert_true(world.alive[1]);
    ends(&world, 4, 0, 0);
    assert_true(world.alive[4]);
    launcher_policy_ready(&world.policy, 1, world.now_ns);
    ends(&world, 4, 0, 0);
    assert_false(world.alive[4]);
    ends(&world, 2, 0, 0);
    ends(&world, 1, 0, 0);
    ends(&world, 3, 0, 0);
    ends(&world, 0, 0, 0);
    assert_int_equal(result(&world, NULL), 0);
}

/* The processes of an earlier launcher may notify new ones of the end of their job, which those that
 * come later do not hear of. */
static void a_trainer_that_ends_before_all_have_come_is_started_again(void **unused)
{
    static const enum launcher_role ROLES[] = { LAUNCHER_SERVER, LAUNCHER_TRAINER,
                                                LAUNCHER_TRAINER };
    struct world world;
    (void)unused;
    for (uint32_t late = 0; late < 2; late++) {
        begin(&world, ROLES, 3);
        obey(&world);
        launcher_policy_ready(&world.policy, 1, world.now_ns);
        if (late == 0)
            launcher_policy_ready(&world.policy, 2, world.now_ns);
        ends(&world, 1, 0, 0);
        launcher_policy_ready(&world.policy, 2, world.now_ns);
        world.now_ns += LAUNCHER_GRACE_NS;
        launcher_policy_tick(&world.policy, world.now_ns);
        obey(&world);
        assert_int_equal(world.alive[1], late);
        if (late == 1) {
            launcher_policy_ready(&world.policy, 1, world.now_ns);
            ends(&world, 1, 0, 0);
            assert_true(world.alive[2]);
        }
        ends(&world, 2, 0, 0);
        ends(&world, 0, 0, 0);
        assert_int_equal(result(&world, NULL), 0);
    }
}

static void a_stop_is_in_order_and_a_second_one_at_once(void **unused)
{
    struct world world;
    (void)unused;
    begin(&world, FOUR, 4);
    obey(&world);
    ends(&world, 1, 1, 0);
    launcher_policy_stop(&world.policy, world.now_ns);
    world.stops_asked = 1;
    obey(&world);
    assert_true(world.asked[3] && !world.asked[2] && !world.alive[1]);
    launcher_policy_stop(&world.policy, world.now_ns);
    world.stops_asked = 2;
    obey(&world);
    assert_true(world.killed[0] && world.killed[2] && world.killed[3]);
    ends(&world, 0, 0, 9);
    ends(&world, 2, 0, 9);
    ends(&world, 3, 0, 9);
    assert_int_equal(result(&world, NULL), TR_ECANCELED);
}

static void grows_silent(struct world *world, uint32_t witness, uint32_t p, uint32_t incarnation)
{
    if (incarnation == world->incarnation[p])
        world->silent[p] = true;
    launcher_policy_silent(&world->policy, witness, p, incarnation, world->now_ns);
    obey(world);
}

static void a_silent_process_is_replaced(void **unused)
{
    struct world world;
    (void)unused;
    begin(&world, FOUR, 4);
    obey(&world);
    grows_silent(&world, 0, 3, world.incarnation[3] - 1); /* a past one: it is gone */
    grows_silent(&world, 3, 3, world.incarnation[3]);
    grows_silent(&world, 4, 3, world.incarnation[3]);
    grows_silent(&world, 0, 4, 1000);
    assert_false(world.killed[3]);
    grows_silent(&world, 0, 3, world.incarnation[3]);
    assert_true(world.killed[3]);
    grows_silent(&world, 1, 3, world.incarnation[3]); /* so do the others */
    grows_silent(&world, 3, 0, world.incarnation[0]); /* its own word counts no more */
    assert_false(world.killed[0]);
    ends(&world, 3, 0, 9);
    wait_for_it(&world);
    assert_true(world.alive[3]);
    grows_silent(&world, 2, 3, world.incarnation[3] - 1); /* late */
    assert_false(world.killed[3]);
    for (uint32_t p = 4; p-- > 0;)
        ends(&world, p, 0, 0);
    assert_int_equal(result(&world, NULL), 0);
}

static void who_does_not_stop_is_killed(void **unused)
{
    static const enum launcher_role ONE[] = { LAUNCHER_SERVER };
    struct world world;
    (void)unused;
    begin(&world, ONE, 1);
    obey(&world);
    launcher_policy_stop(&world.policy, world.now_ns);
    obey(&world);
    uint64_t before_ns = world.now_ns;
    wait_for_it(&world);
    assert_int_equal(world.now_ns - before_ns, LAUNCHER_GRACE_NS);
    assert_true(world.killed[0]);
    ends(&world, 0, 0, 9);
    assert_int_equal(result(&world, NULL), TR_ECANCELED);
}

static void completes(struct world *world)
{
    world->complete = true;
    launcher_policy_complete(&world->policy, world->now_ns);
    obey(world);
}

/* The rest may wait for it, so they are asked to stop. */
static void a_death_after_the_result_is_written_is_no_failure(void **unused)
{
    struct world world;
    (void)unused;
    begin(&world, FOUR, 4);
    obey(&world);
    ends(&world, 0, 0, 0); /* it would be started again */
    completes(&world);
    assert_false(world.asked[2] || world.asked[3]);
    ends(&world, 3, 0, 9);
    assert_true(world.asked[2] && !world.asked[1]);
    ends(&world, 2, 1, 0);
    assert_true(world.asked[1]);
    ends(&world, 1, 2, 0);
    assert_int_equal(world.starts, 4);
    assert_int_equal(result(&world, NULL), 0);
}

static void a_complete_job_ends_by_itself_or_is_ended(void **unused)
{
    struct world world;
    (void)unused;
    begin(&world, FOUR, 4);
    obey(&world);
    completes(&world);
    uint64_t before_ns = world.now_ns;
    ends(&world, 0, 0, 0); /* in whatever order */
    ends(&world, 2, 0, 0);
    assert_false(world.asked[1] || world.asked[3]);
    wait_for_it(&world);
    assert_int_equal(world.now_ns - before_ns, LAUNCHER_GRACE_NS);
    assert_true(world.asked[3] && !world.asked[1]);
    wait_for_it(&world);
    assert_int_equal(world.now_ns - before_ns, 2 * LAUNCHER_GRACE_NS);
    assert_true(world.killed[3]);
    ends(&world, 3, 0, 9);
    ends(&world, 1, 0, 0);
    assert_int_equal(world.starts, 4);
    assert_int_equal(result(&world, NULL), 0);
}

/* The others may have waited for the one that was to come back. */
static void a_restart_that_is_due_is_left_out_of_a_complete_job(void **unused)
{
    struct world world;
    (void)unused;
    begin(&world, FOUR, 4);
    obey(&world);
    ends(&world, 1, 0, 11);
    completes(&world);
    assert_true(world.asked[3]);
    for (uint32_t p = 4; p-- > 0;)
        if (world.alive[p])
            ends(&world, p, 0, 0);
    assert_int_equal(world.starts, 4);
    assert_int_equal(result(&world, NULL), 0);
}

static void a_stop_after_the_result_is_written_takes_nothing_back(void **unused)
{
    struct world world;
    (void)unused;
    begin(&world, FOUR, 4);
    obey(&world);
    completes(&world);
    launcher_policy_stop(&world.policy, world.now_ns);
    world.stops_asked = 1;
    obey(&world);
    for (uint32_t p = 4; p-- > 0;)
        ends(&world, p, 0, 15);
    assert_int_equal(result(&world, NULL), 0);
}

/* Processes die, hang and stop as the seed says; every such job ends, with nothing alive. */
static void draw_deaths(struct world *world, uint64_t *state)
{
    for (uint32_t p = 0; p < world->count; p++) {
        if (!world->alive[p])
            continue;
        uint64_t soon_ns = world->now_ns + random_below(state, SECOND);
        if (world->dies_ns[p] == LAUNCHER_NEVER && random_below(state, 8) == 0)
            world->dies_ns[p] = world->now_ns + random_below(state, 90 * SECOND);
        if (world->killed[p] && world->dies_ns[p] > soon_ns)
            world->dies_ns[p] = soon_ns;
        else if (world->asked[p] && world->dies_ns[p] > soon_ns && random_below(state, 3) != 0)
            world->dies_ns[p] = soon_ns;
    }
}

static void let_die(struct world *world, uint64_t *state)
{
    for (uint32_t p = 0; p < world->count; p++) {
        if (!world->alive[p] || world->dies_ns[p] > world->now_ns)
            continue;
        bool well = random_below(state, 3) == 0;
        ends(world, p, well ? 0 : (int)random_below(state, 256), well ? 0 : 9);
    }
}

static void happen(struct world *world, uint64_t *state)
{
    uint32_t p = (uint32_t)random_below(state, world->count);
    switch (random_below(state, 200)) {
    case 0:
        launcher_policy_checkpoint(&world->policy, world->now_ns);
        break;
    case 1:
        launcher_policy_ready(&world->policy, p, world->now_ns);
        break;
    case 2:
        world->stops_asked++;
        launcher_policy_stop(&world->policy, world->now_ns);
        break;
    case 4: {
        uint32_t q = (uint32_t)random_below(state, world->count);
        grows_silent(world, p, q, world->incarnation[q] - (uint32_t)random_below(state, 2));
        break;
    }
    case 3:
        launcher_policy_exited(&world->policy, world->count + p, 1, 0, world->now_ns);
        break;
    case 5:
        completes(world);
        break;
    default:
        launcher_policy_tick(&world->policy, world->now_ns);
    }
    obey(world);
}

static void every_job_ends(void **unused)
{
    (void)unused;
    struct seeds seeds = seeds_wanted(300);
    for (uint64_t seed = seeds.begin; seed < seeds.end; seed++) {
        uint64_t state = seed;
        enum launcher_role roles[PROCESSES_MAX];
        uint32_t count = 1 + (uint32_t)random_below(&state, PROCESSES_MAX);
        for (uint32_t p = 0; p < count; p++)
            roles[p] = (enum launcher_role)random_below(&state, LAUNCHER_ROLES);
        struct world world;
        begin(&world, roles, count);
        obey(&world);
        for (int i = 0; i < EVENTS_MAX && !world.done; i++) {
            world.now_ns += random_below(&state, SECOND);
            draw_deaths(&world, &state);
            let_die(&world, &state);
            if (!world.done)
                happen(&world, &state);
            if (i == EVENTS_MAX / 2 && !world.done) { /* servers alone end when they are asked to */
                world.stops_asked++;
                launcher_policy_stop(&world.policy, world.now_ns);
                obey(&world);
            }
        }
        if (!world.done)
            seeds_note(seed);
        struct error error = { 0 };
        int rv = result(&world, &error);
        assert_true(rv == 0 || rv == TR_ECHILD || rv == TR_ECANCELED);
        assert_true(rv == 0 || error.text[0] != '\0');
        assert_true(rv == 0 || !world.complete);
    }
}

/* The first life has the incarnation that was asked for, and each further one the next. */
static void lives_are_counted_from_the_first(void **unused)
{
    struct world world;
    (void)unused;
    begin(&world, FOUR, 4);
    obey(&world);
    for (uint32_t life = 0; life < 4; life++) {
        for (uint32_t p = 0; p < 4; p++)
            assert_int_equal(world.incarnation[p], 1000 + (p == 2 ? life : 0));
        ends(&world, 2, 1, 0);
        wait_for_it(&world);
    }
    launcher_policy_fini(&world.policy);
    struct launcher_policy_options options = {
        .roles = FOUR, .count = 4, .restarts = LAUNCHER_RESTARTS_MAX, .period_ns = SECOND
    };
    struct launcher_policy policy;
    assert_int_equal(launcher_policy_init(&policy, &options, 0), 0);
    launcher_policy_fini(&policy);
    options.restarts++;
    assert_int_equal(launcher_policy_init(&policy, &options, 0), TR_ERANGE);
    launcher_policy_fini(&policy);
}

/* The oldest of restarts 100 s apart alone is free again after the period: one more is had then,
 * and none a moment later. */
static void restarts_become_free_one_by_one(void **unused)
{
    struct world world;
    struct error error;
    (void)unused;
    begin(&world, FOUR, 4);
    obey(&world);
    uint64_t first_ns = world.now_ns;
    for (uint32_t i = 0; i < LAUNCHER_RESTARTS; i++) {
        world.now_ns = first_ns + i * 100 * SECOND;
        ends(&world, 0, 0, 9);
        wait_for_it(&world);
        assert_true(world.alive[0]);
    }
    world.now_ns = first_ns + 650 * SECOND;
    ends(&world, 0, 0, 9);
    wait_for_it(&world);
    assert_true(world.alive[0]);
    world.now_ns = first_ns + 690 * SECOND;
    ends(&world, 0, 1, 0);
    assert_true(world.asked[3]);
    for (uint32_t p = 4; p-- > 1;)
        ends(&world, p, 0, 0);
    assert_int_equal(result(&world, &error), TR_ECHILD);
    assert_string_equal(error.text, "process 0 (server) ended with exit code 1; processes of this "
                                    "role were started again 5 times in 600 seconds");
}

/* A checkpoint gives every role its whole budget back, and no more than that. */
static void a_checkpoint_gives_each_role_its_budget(void **unused)
{
    static const enum launcher_role THREE[] = { LAUNCHER_TRAINER, LAUNCHER_SAMPLER,
                                                LAUNCHER_SERVER };
    (void)unused;
    for (uint32_t p = 0; p < 3; p++) {
        struct world world;
        begin(&world, THREE, 3);
        obey(&world);
        for (uint32_t i = 0; i < 2 * LAUNCHER_RESTARTS; i++) {
            if (i == LAUNCHER_RESTARTS)
                launcher_policy_checkpoint(&world.policy, world.now_ns);
            uint64_t before_ns = world.now_ns;
            ends(&world, p, 1, 0);
            wait_for_it(&world);
            assert_true(world.alive[p]);
            assert_int_equal(world.now_ns - before_ns, /* which forgets its failures, too */
                             LAUNCHER_PAUSE_FIRST_NS << i % LAUNCHER_RESTARTS);
        }
        ends(&world, p, 1, 0);
        assert_int_equal(world.starts, 3 + 2 * LAUNCHER_RESTARTS);
        assert_true(world.policy.failed);
        launcher_policy_fini(&world.policy);
    }
}

/* A pause is never longer than its bound, however often a process fails. */
static void pauses_have_a_bound(void **unused)
{
    struct world world;
    (void)unused;
    begin(&world, FOUR, 4);
    world.policy.restarts = 12;
    obey(&world);
    for (uint32_t i = 0; i < 12; i++) {
        uint64_t before_ns = world.now_ns, pause_ns = LAUNCHER_PAUSE_FIRST_NS << i;
        ends(&world, 0, 1, 0);
        launcher_policy_ready(&world.policy, 0, world.now_ns); /* a line of the one that died */
        wait_for_it(&world);
        assert_int_equal(world.now_ns - before_ns,
                         pause_ns < LAUNCHER_PAUSE_MAX_NS ? pause_ns : LAUNCHER_PAUSE_MAX_NS);
    }
    launcher_policy_fini(&world.policy);
}

/* Exit code 2 alone is wrong usage; a signal that comes with that number is a failure as any. */
static void how_a_process_ended_is_said(void **unused)
{
    static const struct {
        int code, signal;
        uint32_t restarts;
        const char *says;
    } ends_of[] = {
        { 2, 0, 0,
          "process 1 (server) ended with exit code 2: bad option or cluster file; restarting "
          "cannot help, job stopped" },
        { 2, 9, 1,
          "process 1 (server) was ended by signal 9; processes of this role were started "
          "again 1 times in 600 seconds" },
        { 0, 2, 1,
          "process 1 (server) was ended by signal 2; processes of this role were started "
          "again 1 times in 600 seconds" },
        { 3, 0, 1,
          "process 1 (server) ended with exit code 3; processes of this role were started "
          "again 1 times in 600 seconds" },
        { 1, 0, 1,
          "process 1 (server) ended with exit code 1; processes of this role were started "
          "again 1 times in 600 seconds" },
    };
    (void)unused;
    for (size_t i = 0; i < sizeof ends_of / sizeof *ends_of; i++) {
        struct world world;
        struct error error = { 0 };
        begin(&world, FOUR, 4);
        world.policy.restarts = 1;
        obey(&world);
        for (uint32_t life = 0; life <= ends_of[i].restarts; life++) {
            ends(&world, 1, ends_of[i].code, ends_of[i].signal);
            if (life < ends_of[i].restarts)
                wait_for_it(&world);
        }
        ends(&world, 3, 0, 0);
        ends(&world, 2, 0, 0);
        ends(&world, 0, 0, 0);
        assert_int_equal(world.starts, 4 + ends_of[i].restarts);
        assert_int_equal(result(&world, &error), i == 0 ? TR_EINVAL : TR_ECHILD);
        assert_string_equal(error.text, ends_of[i].says);
    }
}

/* Without trainers nobody is waited for: a process that ends well stays so, until all have. */
static void a_job_without_trainers_ends_one_by_one(void **unused)
{
    static const enum launcher_role TWO[] = { LAUNCHER_SERVER, LAUNCHER_SAMPLER };
    (void)unused;
    for (uint32_t first = 0; first < 2; first++) {
        struct world world;
        begin(&world, TWO, 2);
        obey(&world);
        ends(&world, first, 0, 0);
        assert_int_equal(launcher_policy_wake_ns(&world.policy), LAUNCHER_NEVER);
        assert_true(world.alive[1 - first] && !world.asked[1 - first]);
        ends(&world, 1 - first, 0, 0);
        assert_int_equal(world.starts, 2);
        assert_int_equal(result(&world, NULL), 0);
    }
}

/* Said again, it moves no deadline: the rest is ended when the grace of the first word is over. */
static void a_job_is_complete_once(void **unused)
{
    struct world world;
    (void)unused;
    begin(&world, FOUR, 4);
    obey(&world);
    uint64_t begin_ns = world.now_ns;
    completes(&world);
    world.now_ns += LAUNCHER_GRACE_NS / 2;
    completes(&world);
    assert_int_equal(launcher_policy_wake_ns(&world.policy), begin_ns + LAUNCHER_GRACE_NS);
    world.now_ns = begin_ns + LAUNCHER_GRACE_NS - 1;
    launcher_policy_tick(&world.policy, world.now_ns);
    obey(&world);
    assert_false(world.asked[3]);
    wait_for_it(&world);
    assert_true(world.asked[3]);
    launcher_policy_fini(&world.policy);
    /* Whichever process was to be started again when it was said is not. */
    for (uint32_t p = 0; p < 4; p++) {
        begin(&world, FOUR, 4);
        obey(&world);
        ends(&world, p, 1, 0);
        completes(&world);
        for (uint32_t q = 4; q-- > 0;)
            if (world.alive[q])
                ends(&world, q, 0, 0);
        assert_int_equal(world.starts, 4);
        assert_int_equal(result(&world, NULL), 0);
    }
}

static void leaves(struct world *world, uint32_t p, bool asked)
{
    launcher_policy_left(&world->policy, p, asked, world->now_ns);
    obey(world);
}

/* What carries a trainer's process breaks: it takes that for the end of its launcher and has all leave.
 * The others begin again with it, however many they are, at the price of one restart; however often
 * they say that they left, or end before they are killed; and whether or not the new life of the one
 * that was lost is ready by then. To leave since one was asked is to stop, whoever was lost. */
static void trainers_that_left_for_one_that_was_lost_begin_again(void **unused)
{
    static const enum launcher_role MANY[] = { LAUNCHER_SERVER,  LAUNCHER_TRAINER, LAUNCHER_TRAINER,
                                               LAUNCHER_TRAINER, LAUNCHER_TRAINER, LAUNCHER_TRAINER,
                                               LAUNCHER_TRAINER, LAUNCHER_TRAINER };
    struct world world;
    (void)unused;
    begin(&world, MANY, 8);
    obey(&world);
    for (uint32_t p = 0; p < 8; p++)
        launcher_policy_ready(&world.policy, p, world.now_ns);
    for (uint32_t p = 1; p < 8; p++)
        world.silent[p] = true; /* may be killed unasked */
    ends(&world, 1, 0, 9);
    leaves(&world, 2, false);
    leaves(&world, 3, false);
    leaves(&world, 2, false);
    for (uint32_t p = 2; p < 8; p++) {
        assert_true(world.killed[p]);
        assert_int_equal(world.starts, 8);
        ends(&world, p, p % 2, p % 2 == 0 ? 9 : 0);
    }
    wait_for_it(&world);
    assert_int_equal(world.starts, 8 + 7);
    assert_true(world.alive[0] && !world.asked[0]);
    for (uint32_t p = 1; p < 8; p++)
        launcher_policy_ready(&world.policy, p, world.now_ns);
    for (uint32_t i = 1; i < LAUNCHER_RESTARTS; i++) {
        ends(&world, 1, 0, 9);
        wait_for_it(&world);
    }
    assert_int_equal(world.starts, 8 + 7 + LAUNCHER_RESTARTS - 1);
    for (uint32_t p = 1; p < 8; p++)
        launcher_policy_ready(&world.policy, p, world.now_ns);
    for (uint32_t p = 1; p < 8; p++)
        world.silent[p] = true;
    leaves(&world, 2, false);
    for (uint32_t p = 1; p < 8; p++) {
        assert_true(world.killed[p]);
        ends(&world, p, 0, 9);
    }
    wait_for_it(&world);
    assert_int_equal(world.starts, 8 + 7 + LAUNCHER_RESTARTS - 1 + 7);
    launcher_policy_checkpoint(&world.policy, world.now_ns); /* there are restarts for it */
    ends(&world, 1, 0, 9);
    assert_false(world.policy.stopping);
    leaves(&world, 2, true);
    assert_true(world.asked[2] && world.policy.interrupted);
    launcher_policy_fini(&world.policy);
}

/* The last moment of the grace is still the process's own. */
static void who_is_asked_has_its_whole_grace(void **unused)
{
    struct world world;
    (void)unused;
    begin(&world, FOUR, 4);
    obey(&world);
    launcher_policy_stop(&world.policy, world.now_ns);
    world.stops_asked = 1;
    obey(&world);
    world.now_ns += LAUNCHER_GRACE_NS - 1;
    launcher_policy_tick(&world.policy, world.now_ns);
    obey(&world);
    assert_false(world.killed[3]);
    world.now_ns++;
    launcher_policy_tick(&world.policy, world.now_ns);
    obey(&world);
    assert_true(world.killed[3] && !world.asked[2]);
    launcher_policy_fini(&world.policy);
    assert_string_equal(launcher_role_name(LAUNCHER_TRAINER), "trainer");
    assert_string_equal(launcher_role_name(LAUNCHER_SAMPLER), "sampler");
    assert_string_equal(launcher_role_name(LAUNCHER_SERVER), "server");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_ends_well),
        cmocka_unit_test(a_role_has_five_restarts_in_ten_minutes),
        cmocka_unit_test(a_budget_comes_back),
        cmocka_unit_test(a_restart_counts_for_exactly_the_period),
        cmocka_unit_test(pauses_double_until_it_is_ready),
        cmocka_unit_test(wrong_usage_is_final),
        cmocka_unit_test(what_ends_a_ready_process_for_good_is_no_wrong_usage),
        cmocka_unit_test(a_trainer_that_fails_brings_the_others_back),
        cmocka_unit_test(trainers_that_go_back_together_begin_together),
        cmocka_unit_test(a_stop_ends_trainers_that_go_back),
        cmocka_unit_test(a_server_that_left_too_early_is_missed),
        cmocka_unit_test(a_trainer_that_fails_at_the_end_finds_the_others),
        cmocka_unit_test(a_trainer_that_ends_before_all_have_come_is_started_again),
        cmocka_unit_test(a_stop_is_in_order_and_a_second_one_at_once),
        cmocka_unit_test(a_silent_process_is_replaced),
        cmocka_unit_test(who_does_not_stop_is_killed),
        cmocka_unit_test(a_death_after_the_result_is_written_is_no_failure),
        cmocka_unit_test(a_complete_job_ends_by_itself_or_is_ended),
        cmocka_unit_test(a_restart_that_is_due_is_left_out_of_a_complete_job),
        cmocka_unit_test(a_stop_after_the_result_is_written_takes_nothing_back),
        cmocka_unit_test(every_job_ends),
        cmocka_unit_test(lives_are_counted_from_the_first),
        cmocka_unit_test(restarts_become_free_one_by_one),
        cmocka_unit_test(a_checkpoint_gives_each_role_its_budget),
        cmocka_unit_test(pauses_have_a_bound),
        cmocka_unit_test(how_a_process_ended_is_said),
        cmocka_unit_test(a_job_without_trainers_ends_one_by_one),
        cmocka_unit_test(a_job_is_complete_once),
        cmocka_unit_test(trainers_that_left_for_one_that_was_lost_begin_again),
        cmocka_unit_test(who_is_asked_has_its_whole_grace),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
