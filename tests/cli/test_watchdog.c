/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The watch over trainers, each time in a process of its own: one that hangs is ended with its
 * stack shown, one that waits, gets on, or was stopped with its whole process is left alone.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "cli/lib/command.h"
#include "cli/train/stall.h"
#include "model/watchdog.h"
#include "runtime/core/crew.h"

#define MS UINT64_C(1000000)
#define SECOND UINT64_C(1000000000)
/* The exit code of a child that did all it had to. */
#define EXIT_WELL 77

static void sleep_ms(uint64_t ms)
{
    struct timespec left = { (time_t)(ms / 1000), (long)(ms % 1000 * MS) };
    while (nanosleep(&left, &left) != 0) {
    }
}

static bool always(void *arg)
{
    (void)arg;
    return true;
}

struct dog {
    struct watchdog dog;
    struct watched place;
    struct watched *places[1];
    int refusals; /* of the next reports, for want of memory */
};

/* As troupe train does when its task says so. */
static bool end_process(void *arg, const struct watchdog_stall *stall)
{
    struct tr_model_event event = TR_MODEL_EVENT_INIT;
    struct dog *dog = arg;
    if (dog->refusals > 0) {
        dog->refusals--;
        fputs("no memory\n", stderr);
        return false;
    }
    snprintf(event.text, sizeof event.text, "trainer %u made no progress for %llu s%s",
             (unsigned)stall->rank, (unsigned long long)(stall->ns / SECOND),
             stall->asked ? " after it was asked to stop" : "");
    event.number = stall->asked;
    event.num_threads = stall->num_threads;
    memcpy(event.threads, stall->threads, sizeof event.threads);
    stall_end_process(&event, NULL);
    return true;
}

static void start(struct dog *dog, uint64_t limit_ns, const struct cancel *cancel)
{
    *dog = (struct dog){ .place = { .rank = 7 } };
    dog->places[0] = &dog->place;
    dog->dog = (struct watchdog){ .limit_ns = limit_ns,
                                  .stalled = end_process,
                                  .arg = dog,
                                  .cancel = cancel,
                                  .watched = dog->places,
                                  .count = 1 };
    stall_prepare();
    if (watchdog_start(&dog->dog, NULL) != 0)
        _exit(1);
}

static void end_well(struct dog *dog)
{
    watchdog_stop(&dog->dog);
    _exit(EXIT_WELL);
}

static void hang(void)
{
    for (volatile uint64_t i = 0;; i++) {
    }
}

static void hangs(void)
{
    struct dog dog;
    start(&dog, SECOND, NULL);
    watchdog_enter(&dog.dog, &dog.place);
    hang();
}

static void hangs_without_memory(void)
{
    struct dog dog;
    start(&dog, SECOND, NULL);
    dog.refusals = 3;
    watchdog_enter(&dog.dog, &dog.place);
    hang();
}

static void hang_in_piece(void *arg, size_t index, size_t worker)
{
    (void)arg;
    (void)index;
    (void)worker;
    hang();
}

static void hangs_with_a_helper(void)
{
    struct dog dog;
    struct parallel *parallel = crew_parallel_create_watched(1);
    start(&dog, SECOND, NULL);
    watchdog_enter(&dog.dog, &dog.place);
    parallel_for(parallel, 2, hang_in_piece, NULL);
}

static void hangs_when_asked_to_stop(void)
{
    static const struct cancel cancel = { .asked = always };
    struct dog dog;
    start(&dog, 0, &cancel);
    watchdog_enter(&dog.dog, &dog.place);
    hang();
}

/* Each piece is far below the limit, so that a machine that stands still for seconds does not make
 * it longer; all of them are above it. */
static void gets_on(void)
{
    struct dog dog;
    start(&dog, 6 * SECOND, NULL);
    watchdog_enter(&dog.dog, &dog.place);
    for (int i = 0; i < 80; i++) {
        sleep_ms(100);
        watchdog_beat(&dog.dog);
    }
    watchdog_leave(&dog.dog, &dog.place);
    end_well(&dog);
}

static void waits_for_others(void)
{
    struct dog dog;
    start(&dog, SECOND, NULL);
    watchdog_enter(&dog.dog, &dog.place);
    watchdog_leave(&dog.dog, &dog.place);
    sleep_ms(3000);
    end_well(&dog);
}

static volatile sig_atomic_t goes_on;

static void note_continue(int number)
{
    (void)number;
    goes_on = 1;
}

/* It says when it is at work, and its parent stops it there; it is at work until it goes on. */
static void is_stopped(void)
{
    struct dog dog;
    signal(SIGCONT, note_continue);
    start(&dog, 8 * SECOND, NULL);
    watchdog_enter(&dog.dog, &dog.place);
    (void)!write(STDERR_FILENO, "!", 1);
    while (!goes_on)
        sleep_ms(50);
    watchdog_leave(&dog.dog, &dog.place);
    end_well(&dog);
}

static pid_t begin(void (*child)(void), int *from)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        alarm(120);
        child();
        _exit(1);
    }
    close(ends[1]);
    *from = ends[0];
    return pid;
}

/* Gives the output of a child, and its exit code. */
static int finish(pid_t pid, int from, char *said, size_t size)
{
    size_t used = 0;
    ssize_t got;
    int status;
    while ((got = read(from, said + used, size - 1 - used)) > 0 && used < size - 1)
        used += (size_t)got;
    said[used] = '\0';
    close(from);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void a_trainer_that_hangs_ends_with_its_stack(void **state)
{
    (void)state;
    char said[16384];
    int from;
    pid_t pid = begin(hangs, &from);
    assert_int_equal(finish(pid, from, said, sizeof said), EXIT_FAILED);
    assert_non_null(strstr(said, "trainer 7 made no progress for 1 s (--step-limit)"));
    assert_non_null(strstr(said, "that trains):\n"));
    /* The frames of this program, by its name. */
    assert_non_null(strstr(strstr(said, "that trains):\n"), "test_watchdog"));
}

static void a_report_that_found_no_memory_is_made_again(void **state)
{
    (void)state;
    char said[16384];
    int from;
    pid_t pid = begin(hangs_without_memory, &from);
    assert_int_equal(finish(pid, from, said, sizeof said), EXIT_FAILED);
    assert_non_null(strstr(said, "no memory\nno memory\nno memory\n"));
    /* Each round that could not report it has made it longer, on a busy machine by half a second. */
    const char *for_long = strstr(said, "trainer 7 made no progress for ");
    assert_non_null(for_long);
    int seconds = 0;
    assert_int_equal(sscanf(for_long, "trainer 7 made no progress for %d s", &seconds), 1);
    assert_in_range(seconds, 1, 2);
}

static void the_stacks_of_helpers_are_shown(void **state)
{
    (void)state;
    char said[16384];
    int from;
    pid_t pid = begin(hangs_with_a_helper, &from);
    assert_int_equal(finish(pid, from, said, sizeof said), EXIT_FAILED);
    assert_non_null(strstr(said, "(tr-parallel):\n"));
    assert_non_null(strstr(strstr(said, "(tr-parallel):\n"), "test_watchdog"));
}

static void a_trainer_that_is_to_stop_ends_though_it_hangs(void **state)
{
    (void)state;
    char said[16384];
    int from;
    pid_t pid = begin(hangs_when_asked_to_stop, &from);
    assert_int_equal(finish(pid, from, said, sizeof said), EXIT_FAILED);
    assert_non_null(strstr(said, "after it was asked to stop"));
}

static void one_that_gets_on_or_waits_is_left_alone(void **state)
{
    (void)state;
    char said[16384];
    int from;
    pid_t pid = begin(gets_on, &from);
    assert_int_equal(finish(pid, from, said, sizeof said), EXIT_WELL);
    pid = begin(waits_for_others, &from);
    assert_int_equal(finish(pid, from, said, sizeof said), EXIT_WELL);
    assert_string_equal(said, "");
}

static void time_in_which_all_stood_still_does_not_count(void **state)
{
    (void)state;
    char said[16384];
    int from;
    pid_t pid = begin(is_stopped, &from);
    assert_int_equal(read(from, said, 1), 1);
    int stopped = 0;
    kill(pid, SIGSTOP);
    assert_int_equal(waitpid(pid, &stopped, WUNTRACED), pid);
    assert_true(WIFSTOPPED(stopped));
    sleep_ms(12000);
    /* It stood still all the time: nobody else let it go on. */
    assert_int_equal(waitpid(pid, &stopped, WCONTINUED | WNOHANG), 0);
    kill(pid, SIGCONT);
    int code = finish(pid, from, said, sizeof said);
    if (code != EXIT_WELL)
        print_message("it said: %s\n", said);
    assert_int_equal(code, EXIT_WELL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_trainer_that_hangs_ends_with_its_stack),
        cmocka_unit_test(a_report_that_found_no_memory_is_made_again),
        cmocka_unit_test(the_stacks_of_helpers_are_shown),
        cmocka_unit_test(a_trainer_that_is_to_stop_ends_though_it_hangs),
        cmocka_unit_test(one_that_gets_on_or_waits_is_left_alone),
        cmocka_unit_test(time_in_which_all_stood_still_does_not_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
