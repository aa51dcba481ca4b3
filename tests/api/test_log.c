/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Log lines are pulled: whole and in order, with what was lost counted; a thread, an event loop and
 * a signal handler can wait for them and end the wait; no session waits for the thread that takes
 * them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <troupe/troupe.h>

#include "api/log_queue.h"
#include "api_world.h"
#include "outcome.h"

#define SECOND_NS INT64_C(1000000000)
#define WRITERS 4
#define LINES_OF_A_WRITER 20000u

static struct tr_log *open_log(enum tr_log_level level, uint32_t lines_max)
{
    struct tr_log_options options;
    struct tr_log *log;
    tr_log_options_init(&options);
    options.level = level;
    options.lines_max = lines_max;
    ok(tr_log_open(&options, &log, &failure));
    return log;
}

static void say(struct tr_log *log, enum log_level level, const char *text)
{
    struct log_sink sink = log_sink_of(log);
    sink.write(sink.arg, level, "job", text);
}

static bool readable(const struct tr_log *log)
{
    struct pollfd watched = { .fd = tr_log_descriptor(log), .events = POLLIN };
    return poll(&watched, 1, 0) == 1;
}

static void lines_come_whole_and_in_order(void **state)
{
    (void)state;
    struct tr_log *log = open_log(TR_LOG_INFO, 10);
    struct tr_log_line line = TR_LOG_LINE_INIT;
    struct timespec before, after;
    assert_int_equal(log_sink_of(log).level, LOG_LEVEL_INFO);
    assert_false(readable(log));
    assert_int_equal(tr_log_next(log, 0, &line, &failure), TR_ETIMEDOUT);
    clock_gettime(CLOCK_REALTIME, &before);
    say(log, LOG_LEVEL_WARN, "first");
    say(log, LOG_LEVEL_ERROR, "second");
    clock_gettime(CLOCK_REALTIME, &after);
    assert_true(readable(log));
    ok(tr_log_next(log, 0, &line, &failure));
    assert_int_equal(line.level, TR_LOG_WARN);
    assert_string_equal(line.component, "job");
    assert_string_equal(line.text, "first");
    assert_int_equal(line.lost, 0);
    assert_true(line.time_ns >= before.tv_sec * SECOND_NS + before.tv_nsec);
    assert_true(line.time_ns <= after.tv_sec * SECOND_NS + after.tv_nsec);
    assert_true(readable(log));
    ok(tr_log_next(log, TR_WAIT_FOREVER, &line, &failure));
    assert_int_equal(line.level, TR_LOG_ERROR);
    assert_string_equal(line.text, "second");
    assert_false(readable(log));
    tr_log_close(log);
    tr_log_close(NULL);
}

/* Lines of each length, so that one fills its memory to the last byte. */
static void lines_of_each_length_come_whole(void **state)
{
    enum { LONGEST = 200 };
    (void)state;
    struct tr_log *log = open_log(TR_LOG_INFO, LONGEST);
    struct tr_log_line line = TR_LOG_LINE_INIT;
    char text[LONGEST + 1] = "";
    for (int i = 0; i < LONGEST; i++) {
        say(log, LOG_LEVEL_INFO, text);
        text[i] = (char)('a' + i % 26);
        text[i + 1] = '\0';
    }
    for (int i = 0; i < LONGEST; i++) {
        ok(tr_log_next(log, 0, &line, &failure));
        assert_int_equal(strlen(line.text), i);
        assert_memory_equal(line.text, text, (size_t)i);
    }
    tr_log_close(log);
}

static void a_full_log_loses_the_oldest_and_says_so(void **state)
{
    (void)state;
    struct tr_log *log = open_log(TR_LOG_INFO, 3);
    struct tr_log_line line = TR_LOG_LINE_INIT;
    char text[8];
    for (int i = 0; i < 10; i++) {
        snprintf(text, sizeof text, "%d", i);
        say(log, LOG_LEVEL_INFO, text);
    }
    for (int i = 7; i < 10; i++) {
        snprintf(text, sizeof text, "%d", i);
        ok(tr_log_next(log, 0, &line, &failure));
        assert_string_equal(line.text, text);
        assert_int_equal(line.lost, i == 7 ? 7 : 0);
    }
    assert_int_equal(tr_log_next(log, 0, &line, &failure), TR_ETIMEDOUT);
    tr_log_close(log);
    /* With a bound of one the next line says what went before it. */
    log = open_log(TR_LOG_INFO, 1);
    say(log, LOG_LEVEL_INFO, "a");
    say(log, LOG_LEVEL_INFO, "b");
    say(log, LOG_LEVEL_INFO, "c");
    ok(tr_log_next(log, 0, &line, &failure));
    assert_string_equal(line.text, "c");
    assert_int_equal(line.lost, 2);
    tr_log_close(log);
}

static void wrong_options_are_named(void **state)
{
    (void)state;
    struct tr_log_options options;
    struct tr_log *log;
    tr_log_options_init(&options);
    options.lines_max = 0;
    assert_int_equal(tr_log_open(&options, &log, &failure), TR_ERANGE);
    assert_non_null(strstr(failure.message, "lines_max"));
    assert_null(log);
    options.lines_max = UINT32_MAX;
    assert_int_equal(tr_log_open(&options, &log, &failure), TR_ERANGE);
    tr_log_options_init(&options);
    options.level = (enum tr_log_level)4;
    assert_int_equal(tr_log_open(&options, &log, &failure), TR_ERANGE);
    assert_non_null(strstr(failure.message, "level"));
}

static void a_line_that_cannot_be_given_stays(void **state)
{
    (void)state;
    struct tr_log *log = open_log(TR_LOG_INFO, 3);
    struct tr_log_line line = TR_LOG_LINE_INIT;
    say(log, LOG_LEVEL_INFO, "kept");
    line.size = 0;
    assert_int_equal(tr_log_next(log, 0, &line, &failure), TR_EINVAL);
    line.size = sizeof line;
    ok(tr_log_next(log, 0, &line, &failure));
    assert_string_equal(line.text, "kept");
    tr_log_close(log);
}

struct taker {
    struct tr_log *log;
    atomic_int result; /* 1: still inside */
    pthread_t thread;
};

static void *take(void *arg)
{
    struct taker *taker = arg;
    struct tr_log_line line = TR_LOG_LINE_INIT;
    atomic_store(&taker->result, tr_log_next(taker->log, TR_WAIT_FOREVER, &line, NULL));
    return NULL;
}

static void start_taker(struct taker *taker, struct tr_log *log)
{
    taker->log = log;
    atomic_init(&taker->result, 1);
    assert_int_equal(pthread_create(&taker->thread, NULL, take, taker), 0);
}

static struct tr_log *signalled;

static void interrupt_log(int number)
{
    (void)number;
    tr_log_interrupt(signalled);
}

static void waits_end_by_a_signal_a_line_and_the_close(void **state)
{
    (void)state;
    struct tr_log *log = open_log(TR_LOG_INFO, 3);
    struct tr_log_line line = TR_LOG_LINE_INIT;
    struct taker takers[2];
    for (int i = 0; i < 2; i++)
        start_taker(&takers[i], log);
    signalled = log;
    signal(SIGUSR1, interrupt_log);
    raise(SIGUSR1);
    for (int i = 0; i < 2; i++) {
        pthread_join(takers[i].thread, NULL);
        assert_int_equal(atomic_load(&takers[i].result), TR_ECANCELED);
    }
    signal(SIGUSR1, SIG_DFL);
    /* A line that is there goes before an interrupt, which lasts until it is resumed. */
    say(log, LOG_LEVEL_INFO, "there");
    ok(tr_log_next(log, TR_WAIT_FOREVER, &line, &failure));
    assert_true(readable(log));
    assert_int_equal(tr_log_next(log, TR_WAIT_FOREVER, &line, &failure), TR_ECANCELED);
    tr_log_resume(log);
    assert_int_equal(tr_log_next(log, 0, &line, &failure), TR_ETIMEDOUT);
    assert_false(readable(log));
    start_taker(&takers[0], log);
    say(log, LOG_LEVEL_INFO, "new");
    pthread_join(takers[0].thread, NULL);
    assert_int_equal(atomic_load(&takers[0].result), 0);
    start_taker(&takers[0], log);
    nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
    tr_log_interrupt(
        log); /* a thread that has not begun its call must not begin it on a closed log */
    pthread_join(takers[0].thread, NULL);
    assert_int_equal(atomic_load(&takers[0].result), TR_ECANCELED);
    tr_log_close(log);
}

static void *say_many(void *arg)
{
    char text[16];
    for (unsigned i = 0; i < LINES_OF_A_WRITER; i++) {
        snprintf(text, sizeof text, "%u", i);
        say(arg, LOG_LEVEL_INFO, text);
    }
    return NULL;
}

static void every_line_is_taken_or_counted(void **state)
{
    (void)state;
    struct tr_log *log = open_log(TR_LOG_INFO, 64);
    pthread_t threads[WRITERS];
    for (int i = 0; i < WRITERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, say_many, log), 0);
    uint64_t seen = 0;
    while (seen < WRITERS * LINES_OF_A_WRITER) {
        struct tr_log_line line = TR_LOG_LINE_INIT;
        ok(tr_log_next(log, 60 * SECOND_NS, &line, &failure));
        seen += 1 + line.lost;
    }
    assert_int_equal(seen, WRITERS * LINES_OF_A_WRITER);
    assert_false(readable(log));
    for (int i = 0; i < WRITERS; i++)
        pthread_join(threads[i], NULL);
    tr_log_close(log);
}

static void a_child_gets_nothing_and_takes_nothing(void **state)
{
    (void)state;
    struct tr_log *log = open_log(TR_LOG_INFO, 3);
    struct tr_log_line line = TR_LOG_LINE_INIT;
    say(log, LOG_LEVEL_INFO, "of the parent");
    pid_t child = fork();
    if (child == 0) {
        bool right = tr_log_next(log, TR_WAIT_FOREVER, &line, NULL) == TR_EFORKED &&
                     tr_log_descriptor(log) == -1;
        tr_log_interrupt(log);
        tr_log_close(log);
        _exit(right ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    ok(tr_log_next(log, TR_WAIT_FOREVER, &line, &failure));
    assert_int_equal(tr_log_next(log, 0, &line, &failure), TR_ETIMEDOUT);
    tr_log_close(log);
}

/* The log may go before or after its sessions, of which it serves several. */
static void sessions_write_to_it(void **state)
{
    char path[256];
    struct tr_session *sessions[2];
    struct tr_graph *graphs[2];
    struct tr_session_options options;
    struct tr_log_line line = TR_LOG_LINE_INIT;
    world_setup(state);
    world_partition(PARTITION_RANDOM, 2, path);
    tr_session_options_init(&options);
    options.loops = 1;
    options.log = open_log(TR_LOG_INFO, 1000);
    for (int i = 0; i < 2; i++) {
        ok(tr_session_open(&options, &sessions[i], &failure));
        ok(tr_graph_open(sessions[i], path, TR_WAIT_FOREVER, &graphs[i], &failure));
        ok(tr_session_dump(sessions[i], &failure));
        do { /* a loop that was slow says so in between */
            ok(tr_log_next(options.log, 60 * SECOND_NS, &line, &failure));
            assert_int_equal(line.level, TR_LOG_INFO);
        } while (strcmp(line.component, "dump") != 0);
    }
    tr_graph_close(graphs[0]);
    tr_session_close(sessions[0]);
    tr_log_close(options.log);
    ok(tr_session_dump(sessions[1], &failure)); /* goes nowhere */
    tr_graph_close(graphs[1]);
    tr_session_close(sessions[1]);
    assert_int_equal(world_teardown(state), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_come_whole_and_in_order),
        cmocka_unit_test(lines_of_each_length_come_whole),
        cmocka_unit_test(a_full_log_loses_the_oldest_and_says_so),
        cmocka_unit_test(wrong_options_are_named),
        cmocka_unit_test(a_line_that_cannot_be_given_stays),
        cmocka_unit_test(waits_end_by_a_signal_a_line_and_the_close),
        cmocka_unit_test(every_line_is_taken_or_counted),
        cmocka_unit_test(a_child_gets_nothing_and_takes_nothing),
        cmocka_unit_test(sessions_write_to_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
