/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The launches of a simulated job, whose processes only look as if they ran: which ends of a
 * launcher are allowed, and what becomes of the processes of one that was killed.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "actors/cluster/process_notice.h"
#include "runtime/sim/env_sim.h"
#include "sim/draws.h"
#include "sim/fleet.h"

#define PROCESSES 2u /* a trainer and a server */
#define RESTARTS 2u
#define DRAWS 200u
#define LASTS_NS (3 * ENV_SECOND_NS)

void __wrap_fleet_boot(struct fleet *fleet, uint32_t number, uint32_t incarnation);
void __wrap_fleet_ask_to_leave(struct fleet *fleet, uint32_t number);
void __wrap_fleet_kill(struct fleet *fleet, uint32_t number);

void __wrap_fleet_boot(struct fleet *fleet, uint32_t number, uint32_t incarnation)
{
    struct fleet_process *process = &fleet->processes[number];
    assert_null(process->node);
    *process = (struct fleet_process){ .number = number,
                                       .incarnation = incarnation,
                                       .node = (struct node *)(void *)fleet };
}

void __wrap_fleet_ask_to_leave(struct fleet *fleet, uint32_t number)
{
    fleet->processes[number].ending = fleet->processes[number].node != NULL;
}

void __wrap_fleet_kill(struct fleet *fleet, uint32_t number)
{
    struct fleet_process *process = &fleet->processes[number];
    process->died = process->node != NULL;
    process->node = NULL;
}

/* A job of which both processes were started. */
static struct fleet *open_fleet(uint32_t resumes)
{
    struct fleet *fleet = calloc(1, sizeof *fleet);
    assert_non_null(fleet);
    assert_int_equal(env_sim_create(1, NULL, &fleet->env), 0);
    fleet->plan.plan.num_processes = PROCESSES;
    fleet->plan.plan.processes = fleet->plan.processes;
    fleet->plan.processes[0].trainers.count = 1;
    fleet->plan.restarts = RESTARTS;
    fleet->plan.restarts_ns = LAUNCHER_PERIOD_NS;
    fleet->plan.resumes = resumes;
    fleet->plan.resume_ns = LASTS_NS;
    fleet_launch_init(fleet);
    fleet_launch_turn(fleet);
    for (uint32_t p = 0; p < PROCESSES; p++)
        assert_non_null(fleet->processes[p].node);
    return fleet;
}

static void close_fleet(struct fleet *fleet)
{
    fleet_launch_fini(fleet);
    env_destroy(fleet->env);
    free(fleet);
}

static void pass(struct fleet *fleet, uint64_t ns)
{
    env_sim_wait(fleet->env, env_sim_now_ns(fleet->env) + ns);
    fleet_launch_turn(fleet);
}

static bool runs(const struct fleet *fleet, uint32_t number)
{
    return fleet->processes[number].node != NULL;
}

/* A process dies, and the launcher's longest pause passes. */
static void kill_once(struct fleet *fleet, uint32_t number)
{
    __wrap_fleet_kill(fleet, number);
    fleet_launch_turn(fleet);
    pass(fleet, LAUNCHER_PAUSE_MAX_NS);
}

/* A process that was asked to stop has ended. */
static void end_asked(struct fleet *fleet, uint32_t number)
{
    assert_true(fleet->processes[number].ending);
    fleet->processes[number].node = NULL;
    fleet_launch_end(fleet, number, 0, 0);
    fleet_launch_turn(fleet);
}

static void a_job_without_restarts_ends(void **state)
{
    struct fleet *fleet = open_fleet(0);
    (void)state;
    for (uint32_t i = 0; i < RESTARTS; i++) {
        kill_once(fleet, 1);
        assert_true(runs(fleet, 1));
    }
    kill_once(fleet, 1);
    assert_false(runs(fleet, 1));
    assert_false(fleet->launch.over);
    end_asked(fleet, 0);
    assert_true(fleet->launch.over);
    assert_int_equal(fleet->launch.result, TR_ECHILD);
    assert_int_equal(fleet->tally.spent, 1);
    assert_int_equal(fleet->error.code, 0);
    close_fleet(fleet);
}

static void a_checkpoint_gives_restarts_back(void **state)
{
    struct fleet *fleet = open_fleet(0);
    (void)state;
    for (uint32_t i = 0; i < 3 * RESTARTS; i++) {
        kill_once(fleet, 1);
        assert_true(runs(fleet, 1));
        if (i % RESTARTS == RESTARTS - 1)
            fleet_launch_line(fleet, 0, NOTICE_CHECKPOINT " 1");
    }
    assert_int_equal(fleet->error.code, 0);
    close_fleet(fleet);
}

static void restarts_of_long_ago_do_not_count(void **state)
{
    struct fleet *fleet = open_fleet(0);
    (void)state;
    for (uint32_t i = 0; i < 3 * RESTARTS; i++) {
        kill_once(fleet, 1);
        assert_true(runs(fleet, 1));
        pass(fleet, LAUNCHER_PERIOD_NS / RESTARTS);
    }
    assert_int_equal(fleet->error.code, 0);
    close_fleet(fleet);
}

/* A launcher that ends a job which had restarts left, or one that goes on without, is found. */
static void an_end_for_nothing_is_found(void **state)
{
    struct fleet *fleet = open_fleet(0);
    uint64_t now_ns = env_sim_now_ns(fleet->env);
    (void)state;
    fleet->processes[1].node = NULL;
    launcher_take_end(&fleet->launch.launcher, 1, 2, 0, now_ns);
    fleet_launch_turn(fleet);
    end_asked(fleet, 0);
    assert_int_not_equal(fleet->error.code, 0);
    assert_non_null(strstr(fleet->error.text, "TR_EINVAL"));
    close_fleet(fleet);
    fleet = open_fleet(0);
    fleet->launch.launcher.policy.restarts = 2 * RESTARTS;
    for (uint32_t i = 0; i <= RESTARTS; i++)
        kill_once(fleet, 1);
    assert_int_not_equal(fleet->error.code, 0);
    assert_non_null(strstr(fleet->error.text, "is to stop"));
    close_fleet(fleet);
}

/* A result that was not written, and one that was. */
static void a_job_ends_with_its_result(void **state)
{
    (void)state;
    for (int written = 0; written < 2; written++) {
        struct fleet *fleet = open_fleet(0);
        if (written != 0) {
            fleet->written = fleet->complete = true;
            fleet_launch_line(fleet, 0, NOTICE_COMPLETE);
        }
        fleet->processes[0].node = NULL;
        fleet_launch_end(fleet, 0, 0, 0);
        fleet_launch_turn(fleet);
        end_asked(fleet, 1);
        assert_true(fleet->launch.over);
        assert_int_equal(fleet->error.code == 0, written);
        close_fleet(fleet);
    }
}

/* Asked once, or again by a signal: in order. Asked again from the keyboard: at once. Then the job
 * is launched again. */
static void a_job_that_is_stopped_ends_in_order_or_at_once(void **state)
{
    uint32_t orderly = 0, at_once = 0;
    (void)state;
    for (uint64_t draw = 0; draw < DRAWS; draw++) {
        const struct fleet_strike strike = { .fault = FLEET_STOP, .draw = draw };
        struct fleet *fleet = open_fleet(1);
        fleet_launch_stop(fleet, &strike);
        fleet_launch_turn(fleet);
        assert_true(fleet->processes[0].ending);
        assert_false(fleet->processes[1].ending);
        if (fleet->launch.ask_ns != UINT64_MAX)
            pass(fleet, fleet->launch.ask_ns - env_sim_now_ns(fleet->env));
        if (runs(fleet, 0)) {
            orderly++;
            end_asked(fleet, 0);
            end_asked(fleet, 1);
        } else {
            at_once++;
            assert_false(runs(fleet, 1));
        }
        assert_int_equal(fleet->launch.result, TR_ECANCELED);
        assert_false(fleet->launch.lives);
        assert_int_equal(fleet_launch_wake_ns(fleet), env_sim_now_ns(fleet->env) + LASTS_NS);
        pass(fleet, LASTS_NS);
        assert_true(runs(fleet, 0) && runs(fleet, 1));
        assert_int_equal(fleet->tally.launches, 2);
        assert_int_equal(fleet->error.code, 0);
        close_fleet(fleet);
    }
    assert_true(orderly > DRAWS / 4);
    assert_true(at_once > DRAWS / 10);
}

/* Processes of a launcher that was killed end by themselves; the next ones wait for their addresses,
 * and nothing of the old ones counts. */
static void a_launcher_that_is_killed_is_followed(void **state)
{
    const struct fleet_strike strike = { .fault = FLEET_LAUNCHER, .lasts_ns = LASTS_NS };
    struct fleet *fleet = open_fleet(0);
    (void)state;
    fleet_launch_kill(fleet, &strike);
    for (uint32_t p = 0; p < PROCESSES; p++)
        assert_true(fleet->processes[p].ending && fleet->processes[p].orphan);
    __wrap_fleet_kill(fleet, 0);
    pass(fleet, LASTS_NS);
    assert_true(runs(fleet, 0));
    assert_false(fleet->processes[0].orphan);
    assert_true(fleet->processes[1].orphan);
    fleet_launch_line(fleet, 1, NOTICE_COMPLETE);
    assert_false(fleet->launch.launcher.policy.complete);
    uint32_t waits = fleet->processes[1].waits;
    assert_true(waits > fleet->processes[1].incarnation);
    fleet->processes[1].node = NULL;
    fleet_launch_end(fleet, 1, 1, 0);
    fleet_launch_turn(fleet);
    assert_true(runs(fleet, 1));
    assert_int_equal(fleet->processes[1].incarnation, waits);
    assert_int_equal(fleet->launch.restarts[LAUNCHER_SERVER].count, 0);
    assert_int_equal(fleet->error.code, 0);
    close_fleet(fleet);
}

/* A process that waits for its address is ended without one. */
static void who_waits_for_an_address_is_stopped(void **state)
{
    const struct fleet_strike killed = { .fault = FLEET_LAUNCHER, .lasts_ns = LASTS_NS };
    const struct fleet_strike stopped = { .fault = FLEET_STOP };
    struct fleet *fleet = open_fleet(0);
    (void)state;
    fleet_launch_kill(fleet, &killed);
    pass(fleet, LASTS_NS);
    assert_true(fleet->processes[0].waits != 0 && fleet->processes[1].waits != 0);
    fleet_launch_stop(fleet, &stopped);
    fleet_launch_turn(fleet);
    assert_true(fleet->launch.over);
    assert_int_equal(fleet->launch.result, TR_ECANCELED);
    for (uint32_t p = 0; p < PROCESSES; p++)
        assert_true(runs(fleet, p) && fleet->processes[p].waits == 0);
    assert_int_equal(fleet->error.code, 0);
    close_fleet(fleet);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_without_restarts_ends),
        cmocka_unit_test(a_checkpoint_gives_restarts_back),
        cmocka_unit_test(restarts_of_long_ago_do_not_count),
        cmocka_unit_test(an_end_for_nothing_is_found),
        cmocka_unit_test(a_job_ends_with_its_result),
        cmocka_unit_test(a_job_that_is_stopped_ends_in_order_or_at_once),
        cmocka_unit_test(a_launcher_that_is_killed_is_followed),
        cmocka_unit_test(who_waits_for_an_address_is_stopped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
