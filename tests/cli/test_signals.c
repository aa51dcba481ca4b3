/* SPDX-License-Identifier: Apache-2.0 */
/* Signals become calls on another thread; progress is bounded where nobody looks. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include <troupe/task.h>

#include "cli/lib/canceller.h"
#include "cli/lib/progress.h"
#include "cli/lib/self_pipe.h"
#include "cli/lib/signals.h"

/* The linker gives this the clock (tests.mk). While it stands, no time passes but what a test takes
 * off the beginning of a piece, or adds to the clock. */
static atomic_bool clock_stands;
static atomic_long clock_tenths;

int __real_clock_gettime(clockid_t clock, struct timespec *now);
int __wrap_clock_gettime(clockid_t clock, struct timespec *now);

int __wrap_clock_gettime(clockid_t clock, struct timespec *now)
{
    if (!atomic_load(&clock_stands))
        return __real_clock_gettime(clock, now);
    long tenths = atomic_load(&clock_tenths);
    *now = (struct timespec){ .tv_sec = 1000000 + tenths / 10, .tv_nsec = tenths % 10 * 100000000 };
    return 0;
}

static int stop_clock(void **state)
{
    (void)state;
    atomic_store(&clock_stands, true);
    return 0;
}

static int start_clock(void **state)
{
    (void)state;
    atomic_store(&clock_stands, false);
    return 0;
}

struct seen {
    atomic_int cancels;
    atomic_int dumps;
};

static void count_cancel(void *arg)
{
    struct seen *seen = arg;
    atomic_fetch_add(&seen->cancels, 1);
}

static void count_dump(void *arg)
{
    struct seen *seen = arg;
    atomic_fetch_add(&seen->dumps, 1);
}

/* Within ten seconds, or the test fails. */
static void wait_for(atomic_int *counter, int wanted)
{
    struct timespec pause = { .tv_nsec = 1000000 };
    for (int i = 0; i < 10000 && atomic_load(counter) < wanted; i++)
        nanosleep(&pause, NULL);
    assert_int_equal(atomic_load(counter), wanted);
}

static void the_first_interrupt_calls_the_hook(void **state)
{
    (void)state;
    struct seen seen = { 0 };
    struct signals signals;
    struct tr_error error = TR_ERROR_INIT;
    assert_int_equal(signals_start(&signals, count_cancel, count_dump, &seen, NULL, &error), 0);
    kill(getpid(), SIGUSR1);
    wait_for(&seen.dumps, 1);
    assert_false(atomic_load(&signals.cancelled));
    kill(getpid(), SIGINT);
    wait_for(&seen.cancels, 1);
    assert_true(atomic_load(&signals.cancelled));
    signals_stop(&signals);
}

/* timeout(1) sends it to the process and then to the process's group. */
static void a_second_termination_is_patient(void **state)
{
    (void)state;
    struct seen seen = { 0 };
    struct signals signals;
    struct tr_error error = TR_ERROR_INIT;
    assert_int_equal(signals_start(&signals, count_cancel, count_dump, &seen, NULL, &error), 0);
    kill(getpid(), SIGTERM);
    wait_for(&seen.cancels, 1);
    kill(getpid(), SIGTERM);
    kill(getpid(), SIGUSR1);
    wait_for(&seen.dumps, 1);
    signals_stop(&signals);
    assert_int_equal(atomic_load(&seen.cancels), 1);
}

/* A terminal that is closed asks like SIGTERM, and again does not end the process at once. */
static void a_closed_terminal_calls_the_hook(void **state)
{
    (void)state;
    struct seen seen = { 0 };
    struct signals signals;
    struct tr_error error = TR_ERROR_INIT;
    void (*before)(int) = signal(SIGHUP, SIG_DFL); /* nohup(1) may have started the test */
    assert_int_equal(signals_start(&signals, count_cancel, count_dump, &seen, NULL, &error), 0);
    kill(getpid(), SIGHUP);
    wait_for(&seen.cancels, 1);
    kill(getpid(), SIGHUP);
    kill(getpid(), SIGUSR1);
    wait_for(&seen.dumps, 1);
    signals_stop(&signals);
    signal(SIGHUP, before);
    assert_int_equal(atomic_load(&seen.cancels), 1);
}

static void the_second_interrupt_ends_the_process(void **state)
{
    (void)state;
    pid_t child = fork();
    if (child == 0) {
        struct seen seen = { 0 };
        struct signals signals;
        alarm(120); /* one that goes on dies of it */
        if (signals_start(&signals, count_cancel, NULL, &seen, NULL, NULL) < 0)
            _exit(1);
        kill(getpid(), SIGINT);
        while (atomic_load(&seen.cancels) == 0)
            usleep(1000);
        kill(getpid(), SIGINT);
        for (;;)
            pause();
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 130);
}

/* A shell without job control starts a command that way in the background. */
static void an_ignored_interrupt_stays_ignored(void **state)
{
    (void)state;
    struct seen seen = { 0 };
    struct signals signals;
    signal(SIGINT, SIG_IGN);
    int rc = signals_start(&signals, count_cancel, count_dump, &seen, NULL, NULL);
    kill(getpid(), SIGINT);
    kill(getpid(), SIGUSR1);
    signal(SIGINT, SIG_DFL);
    assert_int_equal(rc, 0);
    wait_for(&seen.dumps, 1);
    signals_stop(&signals);
    signal(SIGINT, SIG_DFL);
    assert_int_equal(atomic_load(&seen.cancels), 0);
}

static void stopping_gives_the_mask_back(void **state)
{
    (void)state;
    struct signals signals;
    sigset_t before, after;
    pthread_sigmask(SIG_SETMASK, NULL, &before);
    assert_int_equal(signals_start(&signals, NULL, NULL, NULL, NULL, NULL), 0);
    signals_stop(&signals);
    pthread_sigmask(SIG_SETMASK, NULL, &after);
    assert_int_equal(sigismember(&before, SIGINT), sigismember(&after, SIGINT));
    assert_int_equal(sigismember(&after, SIGUSR1), 0);
}

/* Lines that a million updates write to something that is not a terminal. */
static long shown_bytes(bool quiet)
{
    struct progress progress;
    FILE *file = tmpfile();
    assert_non_null(file);
    progress_init(&progress, quiet);
    progress.out = file;
    progress.terminal = false;
    progress_begin(&progress, "edges", "edges", 1000000);
    for (uint64_t i = 0; i <= 1000000; i++)
        progress_update(&progress, i);
    progress_end(&progress);
    long bytes = ftell(file);
    fclose(file);
    return bytes;
}

static void a_log_does_not_fill_up(void **state)
{
    (void)state;
    assert_true(shown_bytes(false) < 1000);
    assert_int_equal(shown_bytes(true), 0);
}

static void a_line_says_how_far_and_how_fast(void **state)
{
    (void)state;
    struct progress progress;
    char text[256] = { 0 };
    FILE *file = tmpfile();
    assert_non_null(file);
    progress_init(&progress, false);
    progress.out = file;
    progress.terminal = false;
    progress_begin(&progress, "reading", "edges", 4000000);
    progress.begin_ns -= UINT64_C(10000000000);
    progress_update(&progress, 1000000);
    rewind(file);
    assert_non_null(fgets(text, sizeof text, file));
    fclose(file);
    assert_non_null(strstr(text, "reading  25%"));
    assert_non_null(strstr(text, "k edges/s"));
    assert_non_null(strstr(text, "s left"));
}

static void a_slow_rate_is_not_0(void **state)
{
    (void)state;
    char text[256] = { 0 };
    FILE *file = tmpfile();
    assert_non_null(file);
    struct progress progress = { .out = file };
    progress_begin(&progress, "epoch 1", "batches", 4);
    progress.begin_ns -= UINT64_C(10000000000);
    progress_update(&progress, 2);
    rewind(file);
    assert_non_null(fgets(text, sizeof text, file));
    fclose(file);
    assert_non_null(strstr(text, "epoch 1  50% 0.2 batches/s, 10."));
}

static void the_last_line_of_a_piece_says_how_long_it_took(void **state)
{
    (void)state;
    struct progress progress;
    char text[512] = { 0 };
    FILE *file = tmpfile();
    assert_non_null(file);
    progress_init(&progress, false);
    progress.out = file;
    progress.terminal = false;
    progress_step(&progress, "first", "edges", 0, 100);
    progress.begin_ns -= UINT64_C(10000000000);
    progress_step(&progress, "first", "edges", 50, 100);
    progress_step(&progress, "second", "edges", 0, 100);
    progress_end(&progress);
    rewind(file);
    size_t length = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    assert_true(length > 0);
    assert_non_null(strstr(text, "first 100% 10 edges/s, 10.0 s\n"));
    assert_null(strstr(text, "second"));
}

/* As it is redrawn: a share of the cells of the bar, never more than all of them. */
static void a_bar_is_as_full_as_its_share(void **state)
{
    static const struct {
        uint64_t done;
        const char *bar;
    } CASES[] = {
        { 25, "\r\033[Kreading [######..................]  25% " },
        { 50, "\r\033[Kreading [############............]  50% " },
        { 100, "\r\033[Kreading [########################] 100% " },
        { 150, "\r\033[Kreading [########################] 100% " },
    };
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        struct progress progress;
        char text[512] = { 0 };
        FILE *file = tmpfile();
        assert_non_null(file);
        progress_init(&progress, false);
        progress.out = file;
        progress.terminal = true;
        progress_begin(&progress, "reading", "edges", 100);
        progress_update(&progress, 1); /* too early to be shown */
        assert_int_equal(ftell(file), 0);
        progress.begin_ns -= UINT64_C(10000000000);
        progress_update(&progress, CASES[i].done);
        long shown = ftell(file);
        progress_update(&progress, CASES[i].done); /* so is this */
        assert_int_equal(ftell(file), shown);
        rewind(file);
        text[fread(text, 1, sizeof text - 1, file)] = '\0';
        assert_memory_equal(text, CASES[i].bar, strlen(CASES[i].bar));
        assert_int_equal(strstr(text, " left") != NULL, CASES[i].done < 100);
        assert_null(strchr(text, '\n'));
        progress_end(&progress);
        progress_end(&progress); /* once */
        rewind(file);
        text[fread(text, 1, sizeof text - 1, file)] = '\0';
        fclose(file);
        assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
    }
}

/* Without a number of all there is neither a share nor a rest of the time. */
static void a_piece_without_an_end_says_how_much_it_did(void **state)
{
    struct progress progress;
    char text[512] = { 0 };
    FILE *file = tmpfile();
    (void)state;
    assert_non_null(file);
    progress_init(&progress, false);
    progress.out = file;
    progress.terminal = false;
    progress_begin(&progress, "waiting", "", 0);
    progress.begin_ns -= UINT64_C(10000000000);
    progress_update(&progress, 7);
    rewind(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    assert_string_equal(text, "waiting, 10.0 s\n");
}

/* What is shown in so many seconds of a piece whose count stands at `done`, asked ten times each. */
static size_t show_standing(bool terminal, uint64_t done, uint64_t total, int seconds, char *text,
                            size_t size)
{
    struct progress progress;
    FILE *file = tmpfile();
    assert_non_null(file);
    progress_init(&progress, false);
    progress.out = file;
    progress.terminal = terminal;
    for (int tenth = 0; tenth <= seconds * 10; tenth++) {
        progress_step(&progress, "METIS", "", done, total);
        atomic_fetch_add(&clock_tenths, 1);
    }
    rewind(file);
    size_t length = fread(text, 1, size - 1, file);
    text[length] = '\0';
    fclose(file);
    return length;
}

static size_t times_in(const char *text, const char *part)
{
    size_t count = 0;
    for (const char *at = strstr(text, part); at != NULL; at = strstr(at + 1, part))
        count++;
    return count;
}

static void work_that_stands_still_is_shown_with_its_time(void **state)
{
    char text[8192];
    (void)state;
    for (uint64_t done = 0; done < 2; done++) {
        show_standing(true, done, 4, 21, text, sizeof text);
        /* Redrawn each second, and no more often. */
        assert_in_range(times_in(text, "\r\033[KMETIS ["), 20, 22);
        assert_non_null(strstr(text, done == 0 ? ", 5.00 s" : ", 5.10 s"));
        assert_non_null(strstr(text, done == 0 ? ", 20.0 s" : ", 20.1 s"));
        show_standing(false, done, 4, 60, text, sizeof text);
        assert_in_range(times_in(text, "\n"), 5, 7);
        assert_non_null(strstr(text, done == 0 ? "METIS   0%, 20.0 s\n" : "METIS  25%"));
    }
    show_standing(true, 0, 0, 3, text, sizeof text);
    assert_string_equal(text, "\r\033[KMETIS, 1.00 s\r\033[KMETIS, 2.00 s\r\033[KMETIS, 3.00 s");
}

static void no_signal(int number)
{
    (void)number;
}

/* Each signal by itself and several together; what was taken is not taken again. */
static void a_pipe_tells_which_signals_came(void **state)
{
    static const struct {
        int numbers[4];
        struct self_pipe_seen seen;
    } CASES[] = {
        { { 0 }, { 0, 0, false, false } },
        { { SIGINT }, { 1, 0, true, false } },
        { { SIGTERM }, { 1, 0, false, false } },
        { { SIGHUP }, { 0, 1, false, false } },
        { { SIGCHLD }, { 0, 0, false, true } },
        { { SIGINT, SIGTERM, SIGCHLD, SIGTERM }, { 3, 0, true, true } },
        { { SIGTERM, SIGINT }, { 2, 0, true, false } },
        { { SIGCHLD, SIGHUP }, { 0, 1, false, true } },
    };
    struct self_pipe signals;
    struct self_pipe_seen seen;
    struct sigaction before, after;
    (void)state;
    signal(SIGHUP, no_signal);
    assert_int_equal(self_pipe_start(&signals, false, NULL), 0);
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        for (int k = 0; k < 4 && CASES[i].numbers[k] != 0; k++)
            raise(CASES[i].numbers[k]);
        for (int take = 0; take < 2; take++) {
            self_pipe_take(&signals, &seen);
            assert_int_equal(seen.stops, take == 0 ? CASES[i].seen.stops : 0);
            assert_int_equal(seen.hangups, take == 0 ? CASES[i].seen.hangups : 0);
            assert_int_equal(seen.interrupted, take == 0 && CASES[i].seen.interrupted);
            assert_int_equal(seen.child, take == 0 && CASES[i].seen.child);
        }
    }
    for (int i = 0; i < 200; i++) /* more than are read at once */
        raise(SIGTERM);
    self_pipe_take(&signals, &seen);
    assert_int_equal(seen.stops, 200);
    self_pipe_stop(&signals);
    sigaction(SIGHUP, NULL, &after);
    assert_ptr_equal(after.sa_handler, no_signal);
    signal(SIGHUP, SIG_IGN); /* as nohup(1) starts a command */
    assert_int_equal(self_pipe_start(&signals, true, NULL), 0);
    raise(SIGHUP);
    self_pipe_take(&signals, &seen);
    assert_int_equal(seen.hangups, 1);
    self_pipe_stop(&signals);
    assert_int_equal(self_pipe_start(&signals, false, NULL), 0);
    sigaction(SIGHUP, NULL, &before);
    assert_ptr_equal(before.sa_handler, SIG_IGN);
    raise(SIGHUP);
    self_pipe_take(&signals, &seen);
    assert_int_equal(seen.stops, 0);
    self_pipe_stop(&signals);
    signal(SIGHUP, SIG_DFL);
}

static atomic_int cancels, dumps;

static int wait_to_be_cancelled(struct tr_task *task, void *arg, struct tr_error *error)
{
    (void)arg;
    while (!tr_task_is_cancelled(task))
        usleep(1000);
    return tr_error_set(error, TR_ECANCELED, "cancelled");
}

static void note_cancel(void *arg)
{
    (void)arg;
    atomic_fetch_add(&cancels, 1);
}

static void note_task(struct tr_task *task)
{
    assert_non_null(task);
    atomic_fetch_add(&dumps, 1);
}

/* A signal cancels the task that is watched, and one that is watched after it. */
static void a_signal_cancels_what_is_watched(void **state)
{
    const struct tr_task_work work = {
        .size = sizeof work, .name = "wait", .run = wait_to_be_cancelled, .interrupt = note_cancel
    };
    struct canceller canceller;
    struct tr_task *first, *second;
    (void)state;
    assert_int_equal(canceller_begin(&canceller, note_task, NULL, NULL), 0);
    assert_int_equal(tr_task_start(&work, NULL, &first, NULL), 0);
    assert_int_equal(tr_task_start(&work, NULL, &second, NULL), 0);
    canceller_watch(&canceller, first);
    kill(getpid(), SIGUSR1);
    wait_for(&dumps, 1);
    assert_int_equal(atomic_load(&cancels), 0);
    kill(getpid(), SIGTERM);
    assert_int_equal(tr_task_wait(first, INT64_C(100000000000), NULL), TR_ECANCELED);
    wait_for(&cancels, 1);
    assert_int_equal(tr_task_wait(second, 0, NULL), TR_ETIMEDOUT);
    canceller_watch(&canceller, second);
    assert_int_equal(tr_task_wait(second, INT64_C(100000000000), NULL), TR_ECANCELED);
    canceller_watch(&canceller, NULL);
    canceller_end(&canceller);
    tr_task_close(first);
    tr_task_close(second);
}

#define AT_REST(test) cmocka_unit_test_setup_teardown(test, stop_clock, start_clock)

int main(void)
{
    /* The shell that started this, perhaps in the background, may have had it ignored. */
    signal(SIGINT, SIG_DFL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_interrupt_calls_the_hook),
        cmocka_unit_test(a_second_termination_is_patient),
        cmocka_unit_test(a_closed_terminal_calls_the_hook),
        cmocka_unit_test(the_second_interrupt_ends_the_process),
        cmocka_unit_test(an_ignored_interrupt_stays_ignored),
        cmocka_unit_test(stopping_gives_the_mask_back),
        cmocka_unit_test(a_log_does_not_fill_up),
        AT_REST(a_line_says_how_far_and_how_fast),
        AT_REST(a_slow_rate_is_not_0),
        AT_REST(the_last_line_of_a_piece_says_how_long_it_took),
        cmocka_unit_test(a_pipe_tells_which_signals_came),
        cmocka_unit_test(a_signal_cancels_what_is_watched),
        AT_REST(a_bar_is_as_full_as_its_share),
        AT_REST(a_piece_without_an_end_says_how_much_it_did),
        AT_REST(work_that_stands_still_is_shown_with_its_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
