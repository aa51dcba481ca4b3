/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The launcher without its I/O: what lines of processes mean to it, and what requests to stop mean.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "actors/cluster/launcher.h"
#include "actors/cluster/process_notice.h"

#define SECOND UINT64_C(1000000000)
#define PROCESSES 3u

struct world {
    struct plan plan;
    struct plan_process processes[PROCESSES];
    struct launcher launcher;
    uint32_t starts[PROCESSES], restarts[PROCESSES], asked[PROCESSES], killed[PROCESSES];
    uint32_t incarnation[PROCESSES];
    bool refuses; /* to start anything */
};

static int start(void *arg, uint32_t process, uint32_t incarnation, uint32_t restarts)
{
    struct world *world = arg;
    world->starts[process]++;
    world->restarts[process] = restarts;
    world->incarnation[process] = incarnation;
    return world->refuses ? TR_ENOENT : 0;
}

static void ask_to_stop(void *arg, uint32_t process)
{
    ((struct world *)arg)->asked[process]++;
}

static void kill_process(void *arg, uint32_t process)
{
    ((struct world *)arg)->killed[process]++;
}

/* A server, a sampler and a trainer. */
static void begin(struct world *world)
{
    static const struct launcher_ops OPS = { start, ask_to_stop, kill_process };
    *world = (struct world){ .plan = { .num_processes = PROCESSES } };
    world->plan.processes = world->processes;
    world->processes[1].samplers.count = 1;
    world->processes[2].samplers.count = 1;
    world->processes[2].trainers.count = 1;
    const struct launcher_options options = { .plan = &world->plan,
                                              .incarnation = 7,
                                              .restarts = 1,
                                              .period_ns = 600 * SECOND,
                                              .ops = &OPS,
                                              .arg = world };
    assert_int_equal(launcher_init(&world->launcher, &options, SECOND), 0);
}

static bool says(struct world *world, uint32_t process, const char *line)
{
    return launcher_take_line(&world->launcher, process, line, NULL, 2 * SECOND);
}

static void processes_are_what_they_play(void **unused)
{
    struct world world;
    (void)unused;
    begin(&world);
    assert_int_equal(launcher_role_of(&world.plan, 0), LAUNCHER_SERVER);
    assert_int_equal(launcher_role_of(&world.plan, 1), LAUNCHER_SAMPLER);
    assert_int_equal(launcher_role_of(&world.plan, 2), LAUNCHER_TRAINER);
    launcher_fini(&world.launcher);
}

static void a_life_after_the_first_is_a_restart(void **unused)
{
    struct world world;
    (void)unused;
    begin(&world);
    assert_true(launcher_turn(&world.launcher, SECOND));
    launcher_take_end(&world.launcher, 0, 1, 0, 2 * SECOND);
    assert_true(launcher_turn(&world.launcher, launcher_wake_ns(&world.launcher)));
    assert_int_equal(world.starts[0], 2);
    assert_int_equal(world.restarts[0], 1);
    assert_int_equal(world.incarnation[0], 8);
    assert_int_equal(world.restarts[1] + world.restarts[2], 0);
    launcher_fini(&world.launcher);
}

/* A process that cannot be started has failed as often, until its budget is used. */
static void what_cannot_be_started_has_failed(void **unused)
{
    struct world world;
    struct error error = { 0 };
    (void)unused;
    begin(&world);
    world.refuses = true;
    while (launcher_turn(&world.launcher, launcher_wake_ns(&world.launcher)))
        assert_true(launcher_wake_ns(&world.launcher) != LAUNCHER_NEVER);
    assert_int_equal(launcher_result(&world.launcher, &error), TR_ECHILD);
    assert_non_null(strstr(error.text, "exit code 126"));
    assert_true(world.starts[0] <= 2);
    launcher_fini(&world.launcher);
}

static void who_is_said_to_be_silent_is_killed(void **unused)
{
    struct world world;
    (void)unused;
    begin(&world);
    assert_true(launcher_turn(&world.launcher, SECOND));
    says(&world, 2, NOTICE_SILENT " process 0 incarnation 6"); /* a past one */
    says(&world, 2, NOTICE_SILENT " process 0");
    says(&world, 2, NOTICE_SILENT " process x incarnation 7");
    says(&world, 2, NOTICE_SILENT "er process 0 incarnation 7");
    says(&world, 2, NOTICE_SILENT " process 9 incarnation 7");
    assert_true(launcher_turn(&world.launcher, 2 * SECOND));
    assert_int_equal(world.killed[0], 0);
    says(&world, 2, NOTICE_SILENT " process 0 incarnation 7");
    assert_true(launcher_turn(&world.launcher, 2 * SECOND));
    assert_int_equal(world.killed[0], 1);
    launcher_fini(&world.launcher);
}

/* A role has one restart here: a second one is had after a checkpoint, and a third after none. */
static void a_checkpoint_gives_restarts_back(void **unused)
{
    struct world world;
    (void)unused;
    begin(&world);
    assert_true(launcher_turn(&world.launcher, SECOND));
    for (uint32_t i = 0; i < 3; i++) {
        if (i == 1)
            says(&world, 2, NOTICE_CHECKPOINT " 30");
        launcher_take_end(&world.launcher, 0, 1, 0, (20 * i + 2) * SECOND);
        assert_true(launcher_turn(&world.launcher, (20 * i + 20) * SECOND));
    }
    assert_int_equal(world.starts[0], 3);
    assert_int_equal(world.asked[2], 1);
    launcher_fini(&world.launcher);
}

static void a_complete_job_has_succeeded(void **unused)
{
    struct world world;
    (void)unused;
    begin(&world);
    assert_true(launcher_turn(&world.launcher, SECOND));
    says(&world, 2, NOTICE_COMPLETE);
    launcher_take_end(&world.launcher, 2, 0, 9, 2 * SECOND);
    assert_true(launcher_turn(&world.launcher, 2 * SECOND));
    assert_int_equal(world.asked[1], 1);
    launcher_take_end(&world.launcher, 1, 0, 15, 3 * SECOND);
    assert_true(launcher_turn(&world.launcher, 3 * SECOND));
    launcher_take_end(&world.launcher, 0, 0, 15, 4 * SECOND);
    assert_false(launcher_turn(&world.launcher, 4 * SECOND));
    assert_int_equal(launcher_result(&world.launcher, NULL), 0);
    launcher_fini(&world.launcher);
}

static void other_kernels_are_noticed(void **unused)
{
    struct world world;
    struct launcher_kernels differ;
    (void)unused;
    begin(&world);
    assert_false(says(&world, 2, NOTICE_KERNELS " blas A, loops one"));
    assert_false(says(&world, 1, NOTICE_KERNELS " blas A, loops one"));
    assert_true(launcher_take_line(&world.launcher, 1, NOTICE_KERNELS " blas B, loops one", &differ,
                                   SECOND));
    assert_string_equal(differ.here, "blas B, loops one");
    assert_string_equal(differ.there, "blas A, loops one");
    assert_int_equal(differ.process, 2);
    assert_false(says(&world, 2, NOTICE_KERNELS " blas B, loops one")); /* on another host since */
    assert_false(says(&world, 1, NOTICE_KERNELS " blas B, loops one"));
    launcher_fini(&world.launcher);
}

/* timeout(1) sends SIGTERM twice. */
static void only_a_second_word_from_the_keyboard_is_in_a_hurry(void **unused)
{
    struct world world;
    (void)unused;
    begin(&world);
    assert_true(launcher_turn(&world.launcher, SECOND));
    launcher_take_stops(&world.launcher, 2, false, 2 * SECOND);
    assert_true(launcher_turn(&world.launcher, 2 * SECOND));
    assert_int_equal(world.asked[2], 1);
    assert_int_equal(world.asked[0] + world.killed[0] + world.killed[2], 0);
    launcher_take_stops(&world.launcher, 1, true, 3 * SECOND);
    assert_true(launcher_turn(&world.launcher, 3 * SECOND));
    for (uint32_t p = 0; p < PROCESSES; p++)
        assert_int_equal(world.killed[p], 1);
    launcher_fini(&world.launcher);
}

/* Numbers of any process and incarnation are read, whatever follows them, and nothing else is. */
static void a_notice_of_silence_is_read_to_the_letter(void **unused)
{
    static const struct {
        const char *line;
        uint32_t process, incarnation;
    } good[] = {
        { NOTICE_SILENT " process 0 incarnation 0", 0, 0 },
        { NOTICE_SILENT " process 190 incarnation 280000011", 190, 280000011 },
        { NOTICE_SILENT " process 4294967295 incarnation 4294967295", UINT32_MAX, UINT32_MAX },
        { NOTICE_SILENT " process 7 incarnation 9 for 20 seconds", 7, 9 },
    };
    static const char *const bad[] = {
        "",
        NOTICE_SILENT,
        NOTICE_READY " process 0 incarnation 7",
        NOTICE_SILENT "process 0 incarnation 7",
        NOTICE_SILENT " process 4294967296 incarnation 7",
        NOTICE_SILENT " process 0 incarnation 4294967296",
        NOTICE_SILENT " process 0 incarnation 99999999999999999999999",
        NOTICE_SILENT " process / incarnation 7",
        NOTICE_SILENT " process : incarnation 7",
        NOTICE_SILENT " process -1 incarnation 7",
        NOTICE_SILENT " process  incarnation 7",
        NOTICE_SILENT " process 0, incarnation 7",
        NOTICE_SILENT " process 0 incarnation ",
        NOTICE_SILENT " process 0 incarnation 7s",
        NOTICE_SILENT " process 0 incarnatiom 7",
        NOTICE_SILENT " procesS 0 incarnation 7",
        NOTICE_SILENT " incarnation 7 process 0",
    };
    uint32_t process = 1, incarnation = 1;
    (void)unused;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_true(notice_silent(good[i].line, &process, &incarnation));
        assert_int_equal(process, good[i].process);
        assert_int_equal(incarnation, good[i].incarnation);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (notice_silent(bad[i], &process, &incarnation))
            fail_msg("%s", bad[i]);
    char line[100];
    snprintf(line, sizeof line, NOTICE_SILENT NOTICE_SILENT_WRITE, 12u, 345u);
    assert_true(notice_silent(line, &process, &incarnation));
    assert_true(process == 12 && incarnation == 345);
    uint64_t step = 1;
    assert_true(notice_step(NOTICE_CHECKPOINT " 0", NOTICE_CHECKPOINT, &step) && step == 0);
    assert_true(notice_step(NOTICE_ERA " 9223372036854775807 more", NOTICE_ERA, &step) &&
                step == INT64_MAX);
    assert_false(notice_step(NOTICE_ERA " 9223372036854775808", NOTICE_ERA, &step));
    assert_false(notice_step(NOTICE_ERA, NOTICE_ERA, &step));
    assert_false(notice_step(NOTICE_ERA " -1", NOTICE_ERA, &step));
    assert_false(notice_step(NOTICE_ERA " 1", NOTICE_CHECKPOINT, &step));
    assert_string_equal(notice_kernels(NOTICE_KERNELS " a b"), "a b");
    assert_string_equal(notice_kernels(NOTICE_KERNELS), "");
    assert_true(notice_is(NOTICE_COMPLETE, NOTICE_COMPLETE));
    assert_false(notice_is(NOTICE_COMPLETE "d", NOTICE_COMPLETE));
}

/* One that says that it is ready has no failures behind it: its next pause is the first again. */
static void a_process_that_is_ready_is_started_sooner(void **unused)
{
    (void)unused;
    for (uint32_t ready = 0; ready < 2; ready++) {
        struct world world;
        begin(&world);
        world.launcher.policy.restarts = 2;
        assert_true(launcher_turn(&world.launcher, SECOND));
        launcher_take_end(&world.launcher, 0, 1, 0, 2 * SECOND);
        assert_true(launcher_turn(&world.launcher, 3 * SECOND));
        if (ready)
            says(&world, 0, NOTICE_READY " process 0");
        launcher_take_end(&world.launcher, 0, 1, 0, 3 * SECOND);
        assert_int_equal(launcher_wake_ns(&world.launcher),
                         3 * SECOND + (LAUNCHER_PAUSE_FIRST_NS << (1 - ready)));
        launcher_fini(&world.launcher);
    }
}

/* Stops that nobody asked for change nothing; and each further one of a person in a hurry kills. */
static void as_many_stops_are_taken_as_there_were(void **unused)
{
    struct world world;
    struct error error = { 0 };
    (void)unused;
    begin(&world);
    assert_true(launcher_turn(&world.launcher, SECOND));
    launcher_take_stops(&world.launcher, 0, true, 2 * SECOND);
    assert_true(launcher_turn(&world.launcher, 2 * SECOND));
    assert_int_equal(world.asked[2], 0);
    launcher_take_stops(&world.launcher, 1, true, 2 * SECOND);
    assert_true(launcher_turn(&world.launcher, 2 * SECOND));
    assert_true(world.asked[2] == 1 && world.killed[2] == 0);
    launcher_take_stops(&world.launcher, 1, false, 2 * SECOND);
    assert_true(launcher_turn(&world.launcher, 2 * SECOND));
    assert_int_equal(world.killed[2], 0);
    launcher_take_stops(&world.launcher, 2, true, 2 * SECOND);
    assert_true(launcher_turn(&world.launcher, 2 * SECOND));
    for (uint32_t p = 0; p < PROCESSES; p++) {
        assert_int_equal(world.killed[p], 1);
        launcher_take_end(&world.launcher, p, 0, 9, 3 * SECOND);
    }
    assert_false(launcher_turn(&world.launcher, 3 * SECOND));
    assert_int_equal(launcher_result(&world.launcher, &error), TR_ECANCELED);
    launcher_fini(&world.launcher);
}

/* Trainers that leave end with a failure, and nothing is started again; with a checkpoint the result
 * says how to go on. A second notice is no hurry. */
static void a_job_that_is_left_is_stopped(void **unused)
{
    (void)unused;
    for (int kept = 0; kept < 2; kept++) {
        struct world world;
        struct error error = { 0 };
        begin(&world);
        assert_true(launcher_turn(&world.launcher, SECOND));
        if (kept)
            says(&world, 2, NOTICE_CHECKPOINT " 12");
        says(&world, 2, NOTICE_LEFT);
        says(&world, 2, NOTICE_LEFT NOTICE_LEFT_ORPHANED);
        launcher_take_end(&world.launcher, 2, 1, 0, 2 * SECOND);
        for (uint32_t p = 0; p < 2; p++)
            launcher_take_end(&world.launcher, p, 0, 0, 2 * SECOND);
        assert_false(launcher_turn(&world.launcher, 2 * SECOND));
        for (uint32_t p = 0; p < PROCESSES; p++)
            assert_true(world.starts[p] == 1 && world.killed[p] == 0);
        assert_int_equal(launcher_result(&world.launcher, &error), TR_ECANCELED);
        assert_string_equal(error.text, kept ? "stopped by signal; continue with --resume"
                                             : "stopped before the job was done");
        launcher_fini(&world.launcher);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(processes_are_what_they_play),
        cmocka_unit_test(a_life_after_the_first_is_a_restart),
        cmocka_unit_test(what_cannot_be_started_has_failed),
        cmocka_unit_test(who_is_said_to_be_silent_is_killed),
        cmocka_unit_test(a_checkpoint_gives_restarts_back),
        cmocka_unit_test(a_complete_job_has_succeeded),
        cmocka_unit_test(other_kernels_are_noticed),
        cmocka_unit_test(only_a_second_word_from_the_keyboard_is_in_a_hurry),
        cmocka_unit_test(a_notice_of_silence_is_read_to_the_letter),
        cmocka_unit_test(a_process_that_is_ready_is_started_sooner),
        cmocka_unit_test(as_many_stops_are_taken_as_there_were),
        cmocka_unit_test(a_job_that_is_left_is_stopped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
