/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The standard input of a launched process: only its end is one, and a thread that waits for it can
 * be stopped. Each scenario runs in a forked child with an input of its own.
 */
#include "config.h" /* pipe2 */

#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include <troupe/launch.h>

#include "launch/argv_builder.h"
#include "launch/child.h"
#include "launch/input_watch.h"

#define SECOND INT64_C(1000000000)
#define LONG (60 * SECOND)

/* In a child nothing of cmocka may run. */
#define HOLDS(what)                                              \
    do {                                                         \
        if (!(what)) {                                           \
            fprintf(stderr, "# line %d: %s\n", __LINE__, #what); \
            _exit(1);                                            \
        }                                                        \
    } while (0)

/* in: the other end of its input. */
static void play(void (*scenario)(int in))
{
    int in[2], status;
    assert_int_equal(pipe2(in, O_CLOEXEC), 0);
    fflush(NULL);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        alarm(120);
        HOLDS(dup2(in[0], STDIN_FILENO) == STDIN_FILENO && close(in[0]) == 0);
        scenario(in[1]);
        _exit(0);
    }
    close(in[0]);
    close(in[1]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

static void watch(int in)
{
    const struct deadline soon = deadline_after(1000000), later = deadline_after(LONG);
    int stop[2];
    char byte = 0;
    HOLDS(fcntl(STDIN_FILENO, F_SETFL, O_NONBLOCK) == 0 && pipe2(stop, O_CLOEXEC) == 0);
    /* Somebody else was quicker, or a signal came: it goes on. */
    HOLDS(!input_watch_ended(POLLIN) && input_watch_read(&byte) < 0);
    HOLDS(!input_watch_ended(0));
    HOLDS(input_watch_wait(-1, &soon) == TR_ETIMEDOUT);
    HOLDS(write(in, "ab", 2) == 2 && input_watch_wait(stop[0], &later) == 0);
    HOLDS(input_watch_read(&byte) == 1 && byte == 'a');
    HOLDS(!input_watch_ended(POLLIN)); /* what came means nothing */
    HOLDS(write(stop[1], "x", 1) == 1 && input_watch_wait(stop[0], &later) == TR_ECANCELED);
    HOLDS(close(in) == 0 && input_watch_wait(-1, &later) == 0);
    HOLDS(input_watch_ended(POLLHUP) && input_watch_read(&byte) == 0);
    HOLDS(close(STDIN_FILENO) == 0 && input_watch_wait(-1, &later) == 0);
    HOLDS(input_watch_ended(POLLNVAL));
}

static void only_its_end_is_one(void **unused)
{
    (void)unused;
    play(watch);
}

static void hold(int in)
{
    const char *const words[] = { "true" };
    struct tr_task *task;
    struct tr_error error = TR_ERROR_INIT;
    (void)in;
    setenv("TROUPE_SHARED_KEY", "-", 1);
    HOLDS(tr_hold_start(words, 1, &task, &error) == 0);
    HOLDS(tr_task_wait(task, 1000000, &error) == TR_ETIMEDOUT);
    tr_hold_stop(task);
    HOLDS(tr_task_wait(task, LONG, &error) == TR_ECANCELED);
    tr_task_close(task);
    HOLDS(close(STDIN_FILENO) == 0 && tr_hold_start(words, 1, &task, &error) == TR_EINVAL);
}

static void a_stop_ends_the_wait_for_a_key(void **unused)
{
    (void)unused;
    play(hold);
}

/* A daemon closes them, and the system gives their numbers to the next pipes. */
static void start_without_streams(int in)
{
    struct argv_builder words = { 0 };
    argv_builder_add(&words, "sh");
    argv_builder_add(&words, "-c");
    argv_builder_add(&words, "read word; echo \"out $word\"; echo err >&2");
    const struct child_start start = { .words = words.list,
                                       .input = "in\n",
                                       .orphan_signal = SIGKILL };
    struct child_process child;
    struct error error = { 0 };
    char text[64];
    int report = dup(STDERR_FILENO), code, number;
    HOLDS(fcntl(report, F_SETFD, FD_CLOEXEC) == 0 && in > STDERR_FILENO);
    for (int fd = 0; fd <= STDERR_FILENO; fd++)
        close(fd);
    int rv = child_start(&child, &start, &error);
    ssize_t got = rv == 0 ? read(child.out, text, sizeof text) : -1;
    bool out = got == 7 && memcmp(text, "out in\n", 7) == 0;
    got = rv == 0 ? read(child.err, text, sizeof text) : -1;
    bool err = got == 4 && memcmp(text, "err\n", 4) == 0;
    while (rv == 0 && !child_ended(&child, &code, &number))
        usleep(1000);
    dup2(report, STDERR_FILENO);
    HOLDS(rv == 0 && out && err && code == 0);
    child_close(&child);
    argv_builder_fini(&words);
}

static void a_child_has_streams_where_this_process_has_none(void **unused)
{
    (void)unused;
    play(start_without_streams);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_its_end_is_one),
        cmocka_unit_test(a_stop_ends_the_wait_for_a_key),
        cmocka_unit_test(a_child_has_streams_where_this_process_has_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
