/* SPDX-License-Identifier: Apache-2.0 */
/* The state that a thread, a forked child and a started program take over from their process, and
 * the memory that large blocks take from the system. */
#include "config.h" /* pthread_getname_np */

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
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

#include <troupe/types.h>

#include "runtime/base/failpoint.h"
#include "runtime/base/fork_mark.h"
#include "runtime/base/helper_program.h"
#include "runtime/base/hotmem.h"
#include "runtime/base/parallel.h"
#include "runtime/base/thread.h"

struct seen_by_thread {
    sigset_t blocked;
    pthread_t self;
};

static void *look_around(void *arg)
{
    struct seen_by_thread *seen = arg;
    seen->self = pthread_self();
    pthread_sigmask(SIG_SETMASK, NULL, &seen->blocked);
    return seen;
}

/* Signals are the application's: none is handled on our threads, and its own mask stays. */
static void a_thread_takes_no_signals(void **state)
{
    struct seen_by_thread seen;
    sigset_t before, after;
    pthread_t thread;
    void *result = NULL;
    (void)state;
    sigemptyset(&before);
    sigaddset(&before, SIGUSR2);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    assert_int_equal(thread_create(&thread, "tr-test", look_around, &seen), 0);
    assert_int_equal(pthread_join(thread, &result), 0);
    assert_ptr_equal(result, &seen);
    assert_true(pthread_equal(seen.self, thread));
    assert_true(sigismember(&seen.blocked, SIGINT) && sigismember(&seen.blocked, SIGUSR1));
    pthread_sigmask(SIG_SETMASK, NULL, &after);
    assert_true(sigismember(&after, SIGUSR2) && !sigismember(&after, SIGINT));
    pthread_sigmask(SIG_UNBLOCK, &before, NULL);
}

static void *wait_for_byte(void *arg)
{
    char byte;
    ssize_t got = read(*(int *)arg, &byte, 1);
    (void)got;
    return NULL;
}

static void a_thread_has_its_name(void **state)
{
    int ends[2];
    char name[16];
    pthread_t thread;
    (void)state;
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(thread_create(&thread, "tr-test", wait_for_byte, &ends[0]), 0);
    assert_int_equal(pthread_getname_np(thread, name, sizeof name), 0);
    assert_string_equal(name, "tr-test");
    assert_int_equal(write(ends[1], "x", 1), 1);
    assert_int_equal(pthread_join(thread, NULL), 0);
    close(ends[0]);
    close(ends[1]);
}

static int exit_of(pid_t pid)
{
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void a_mark_knows_the_children_of_its_process(void **state)
{
    struct fork_mark *mark = fork_mark_create();
    (void)state;
    assert_non_null(mark);
    assert_false(fork_mark_is_child(mark));
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0)
        _exit(fork_mark_is_child(mark) ? 11 : 12);
    assert_int_equal(exit_of(pid), 11);
    assert_false(fork_mark_is_child(mark));
    fork_mark_destroy(mark);
    fork_mark_destroy(NULL);
}

/* A program that says what it was given: blocked and ignored signals, and whether it leads a
 * group. */
static int start(const char *program, bool in_path, bool own_group, const char *script)
{
    char shell[] = "sh", option[] = "-c", *text = strdup(script);
    char *const argv[] = { shell, option, text, NULL };
    const struct helper_program helper = {
        .program = program, .in_path = in_path, .argv = argv, .own_group = own_group
    };
    pid_t pid = 0;
    int rc = helper_program_start(&helper, &pid);
    free(text);
    return rc != 0 ? -rc : exit_of(pid);
}

static void a_program_starts_with_no_signal_blocked_or_ignored(void **state)
{
    /* The first 28 signals: the C library keeps two behind them for itself. */
    static const char clean[] = "while read -r name value; do case $name in SigBlk:|SigIgn:) "
                                "case $value in *0000000) ;; *) exit 9;; esac;; esac; "
                                "done </proc/self/status; exit 7";
    static const char leads[] = "read -r pid name state parent group rest </proc/$$/stat; "
                                "[ \"$group\" = $$ ] && exit 5; exit 6";
    sigset_t all, before;
    (void)state;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    signal(SIGUSR1, SIG_IGN);
    int result = start("/bin/sh", false, false, clean);
    signal(SIGUSR1, SIG_DFL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    assert_int_equal(result, 7);
    assert_int_equal(start("/bin/sh", false, true, leads), 5);
    assert_int_equal(start("/bin/sh", false, false, leads), 6);
    assert_int_equal(start("sh", true, false, "exit 3"), 3);
    assert_int_equal(start("sh", false, false, "exit 3"), -ENOENT);
    assert_int_equal(start("/nowhere/sh", true, false, "exit 3"), -ENOENT);
}

/* Pages of this process's address space; no call in here takes memory. */
static long pages_mapped(void)
{
    char text[128];
    int fd = open("/proc/self/statm", O_RDONLY);
    ssize_t got = read(fd, text, sizeof text - 1);
    close(fd);
    assert_true(got > 0);
    text[got] = '\0';
    return strtol(text, NULL, 10);
}

static void hot_memory_is_aligned_zeroed_and_given_back(void **state)
{
    static const size_t sizes[] = { 0,
                                    1,
                                    63,
                                    64,
                                    65,
                                    4097,
                                    HOTMEM_HUGE_BYTES - 1,
                                    HOTMEM_HUGE_BYTES,
                                    HOTMEM_HUGE_BYTES + 1,
                                    3 * HOTMEM_HUGE_BYTES };
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        size_t bytes = sizes[i], huge = HOTMEM_HUGE_BYTES;
        long before = pages_mapped();
        unsigned char *block = hotmem_alloc(bytes);
        long after = pages_mapped();
        assert_non_null(block);
        assert_int_equal((uintptr_t)block % (bytes < huge ? 64 : huge), 0);
        for (size_t j = 0; j < bytes; j += bytes < huge ? 1 : 4096)
            assert_int_equal(block[j], 0);
        if (bytes > 0)
            block[0] = block[bytes - 1] = 1;
        if (bytes >= huge)
            assert_int_equal((size_t)(after - before) * (size_t)sysconf(_SC_PAGESIZE),
                             (bytes + huge - 1) / huge * huge);
        hotmem_free(block, bytes);
        if (bytes >= huge)
            assert_int_equal(pages_mapped(), before);
    }
    assert_null(hotmem_alloc(SIZE_MAX));
    assert_null(hotmem_alloc(SIZE_MAX - 2 * HOTMEM_HUGE_BYTES + 1));
    hotmem_free(NULL, 10);
}

static void note(void *arg, size_t index, size_t worker)
{
    size_t *sum = arg;
    assert_int_equal(worker, 0);
    *sum = *sum * 10 + index + 1;
}

static void work_without_helpers_is_done_in_order(void **state)
{
    size_t sum = 0;
    (void)state;
    assert_int_equal(parallel_serial->workers, 1);
    parallel_serial->run(parallel_serial, 0, note, &sum);
    assert_int_equal(sum, 0);
    parallel_serial->run(parallel_serial, 4, note, &sum);
    assert_int_equal(sum, 1234);
}

static void names_and_sizes_of_types_are_the_documented_ones(void **state)
{
#define X(dtype, number, text, bytes)              \
    assert_int_equal(tr_dtype_size(dtype), bytes); \
    assert_string_equal(tr_dtype_name(dtype), text);
    (void)state;
    TR_DTYPES(X)
#undef X
    assert_int_equal(tr_dtype_size((enum tr_dtype)1000), 0);
    assert_string_equal(tr_dtype_name((enum tr_dtype)1000), "unknown");
}

static void fail_points_are_found_by_their_whole_name(void **state)
{
    (void)state;
    for (int point = 0; point < FAILPOINTS_COUNT; point++) {
        const char *name = failpoint_name((enum failpoint)point);
        assert_int_equal(failpoint_find(name, strlen(name)), point);
        assert_int_equal(failpoint_find(name, strlen(name) - 1), FAILPOINTS_COUNT);
    }
    assert_int_equal(failpoint_find("era.down:2", 8), FAILPOINT_ERA_DOWN);
    assert_int_equal(failpoint_find("era.down:2", 9), FAILPOINTS_COUNT);
    assert_int_equal(failpoint_find("era.downs", 9), FAILPOINTS_COUNT);
    assert_true(failpoint_is_simulated(FAILPOINT_ERA_DOWN));
    assert_false(failpoint_is_simulated(FAILPOINT_START_OPENED));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_thread_takes_no_signals),
        cmocka_unit_test(a_thread_has_its_name),
        cmocka_unit_test(a_mark_knows_the_children_of_its_process),
        cmocka_unit_test(a_program_starts_with_no_signal_blocked_or_ignored),
        cmocka_unit_test(hot_memory_is_aligned_zeroed_and_given_back),
        cmocka_unit_test(work_without_helpers_is_done_in_order),
        cmocka_unit_test(names_and_sizes_of_types_are_the_documented_ones),
        cmocka_unit_test(fail_points_are_found_by_their_whole_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
