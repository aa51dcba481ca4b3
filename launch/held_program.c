/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that knows nothing of launchers, held as long as the standard input of this process is
 * open: what it and all that it started are ended by, whatever it does.
 *
 *     waiting for the key -> running -> asked to stop -> killed -> ended
 *
 * The end of the input and tr_hold_stop() ask alike: the first asks the program to stop (SIGTERM),
 * a second one, or the end of GRACE_NS, kills it. Invariants: `kill` is never due before the first
 * asking; each stop is counted once, by `stops`, and `taken` of them were acted upon; the program
 * is not left before it has ended, since it would outlive what holds it.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <troupe/launch.h>

#include "api/public_error.h"
#include "api/task_run.h"
#include "launch/argv_builder.h"
#include "launch/child.h"
#include "launch/input_watch.h"
#include "launch/job_key.h"

/* Less than the launcher waits before it kills the holder. */
#define GRACE_NS INT64_C(15000000000)
/* Between two looks at one that was killed and is not gone yet. */
#define KILLED_LOOK_MS 1000

struct held {
    struct argv_builder words;
    struct job_key key;
    atomic_uint stops;
    int wake; /* an eventfd */
    int code, signal;
};

/* Asks it to stop once; kills it when that took too long or was asked for twice. */
static void held_program_end(const struct child_process *child, struct deadline *kill)
{
    if (!kill->never) {
        child_signal(child, SIGKILL);
        return;
    }
    *kill = deadline_after(GRACE_NS);
    child_signal(child, SIGTERM);
}

static int timeout_of(const struct child_process *child, const struct deadline *kill)
{
    int left_ms = deadline_poll_ms(kill);
    /* The kill is sent where the time is found to be over; one that is not gone yet is killed again
     * after a look. */
    if (left_ms == 0) {
        child_signal(child, SIGKILL);
        left_ms = KILLED_LOOK_MS;
    }
    bool look = child->pidfd < 0 && (left_ms < 0 || left_ms > CHILD_LOOK_MS);
    return look ? CHILD_LOOK_MS : left_ms;
}

static void held_program_hold(struct held *held, struct child_process *child)
{
    struct pollfd polled[] = { { .fd = held->wake, .events = POLLIN },
                               { .fd = STDIN_FILENO, .events = POLLIN },
                               { .fd = child->pidfd, .events = POLLIN } };
    struct deadline kill = { .never = true }; /* until it is asked to stop */
    unsigned taken = 0;
    while (!child_ended(child, &held->code, &held->signal)) {
        uint64_t count;
        polled[0].revents = polled[1].revents = 0;
        poll(polled, 3, timeout_of(child, &kill));
        /* The wake is cleared before the count is read: a stop that comes in between wakes
         * again. */
        if (polled[0].revents != 0 && read(held->wake, &count, sizeof count) < 0)
            continue;
        /* An input that has ended would stay readable: it is not polled again. */
        if (input_watch_ended(polled[1].revents)) {
            polled[1].fd = -1;
            held_program_end(child, &kill);
        }
        for (unsigned stops = atomic_load(&held->stops); taken < stops; taken++)
            held_program_end(child, &kill);
    }
}

/* The key of the job stands in the input that is held; the program finds it by a path. A stop ends
 * the wait for it: then nothing runs. */
static int take_key(struct held *held, struct argv_builder *environment, struct error *error)
{
    int rv = job_key_find(&held->key, TR_WAIT_FOREVER, held->wake, error);
    if (rv == 0 && held->key.path != NULL)
        argv_builder_addf(environment, JOB_KEY_VARIABLE "=%s", held->key.path);
    return rv == 0 && argv_builder_failed(environment)
               ? error_set(error, TR_ENOMEM, "no memory for the path of a key")
               : rv;
}

/* The kernel kills it too when this thread ends, which lives as long as it. */
static int held_program_run(struct tr_task *task, void *arg, struct error *error)
{
    struct held *held = arg;
    struct argv_builder environment = { 0 };
    struct child_process child;
    (void)task;
    int rv = take_key(held, &environment, error);
    if (rv == 0) {
        const struct child_start start = { .words = held->words.list,
                                           .environment = environment.list,
                                           .orphan_signal = SIGKILL,
                                           .inherit = true };
        rv = child_start(&child, &start, error);
    }
    if (rv == 0) {
        held_program_hold(held, &child);
        child_close(&child);
    }
    argv_builder_fini(&environment);
    return rv;
}

static void held_program_stop(void *arg)
{
    struct held *held = arg;
    const uint64_t one = 1;
    int saved = errno;
    /* The stop is counted before the wake, behind which held_program_hold() reads the count. */
    atomic_fetch_add(&held->stops, 1);
    ssize_t written = write(held->wake, &one, sizeof one);
    (void)written; /* a counter that is full wakes as well */
    errno = saved;
}

static void held_program_destroy(void *arg)
{
    struct held *held = arg;
    argv_builder_fini(&held->words);
    job_key_fini(&held->key);
    close(held->wake);
    free(held);
}

static const struct task_work HOLD_WORK = { "hold", held_program_run, held_program_stop,
                                            held_program_destroy, NULL };

int tr_hold_start(const char *const *words, size_t num_words, struct tr_task **task,
                  struct tr_error *error)
{
    *task = NULL;
    if (words == NULL || num_words == 0)
        return tr_error_set(error, TR_EINVAL, "no program is named");
    for (size_t i = 0; i < num_words; i++)
        if (words[i] == NULL)
            return tr_error_set(error, TR_EINVAL, "words[%zu]: it is NULL", i);
    /* The input is asked for before anything is made: without it nothing would end the program. */
    if (fcntl(STDIN_FILENO, F_GETFD) < 0)
        return tr_error_set(error, TR_EINVAL,
                            "the standard input is closed, so nothing would tell when to end %s",
                            words[0]);
    struct held *held = calloc(1, sizeof *held);
    if (held == NULL)
        return tr_error_set(error, TR_ENOMEM, "no memory for the command");
    held->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (held->wake < 0) {
        free(held);
        return tr_error_set(error, TR_EIO, "no descriptor to hold a program with: %s",
                            strerror(errno));
    }
    atomic_init(&held->stops, 0);
    for (size_t i = 0; i < num_words; i++)
        argv_builder_add(&held->words, words[i]);
    if (argv_builder_failed(&held->words)) {
        held_program_destroy(held);
        return tr_error_set(error, TR_ENOMEM, "no memory for the command, or more than %d words",
                            TR_LAUNCH_WORDS_MAX);
    }
    return task_start(&HOLD_WORK, held, task, error);
}

void tr_hold_stop(struct tr_task *task)
{
    void *held;
    if (task == NULL || tr_task_enter(task, &HOLD_WORK, &held, NULL) != 0)
        return;
    held_program_stop(held);
    tr_task_leave(task);
}

int tr_hold_end(struct tr_task *task, int *exit_code, int *signal, struct tr_error *error)
{
    void *arg;
    int rv = tr_task_enter(task, &HOLD_WORK, &arg, error);
    if (rv != 0)
        return rv == TR_EINVAL ? tr_error_set(error, rv, "the task holds no program") : rv;
    const struct held *held = arg;
    /* The wait comes first: the task's thread writes both numbers until it has ended. */
    rv = tr_task_wait(task, 0, error);
    if (rv == 0) {
        *exit_code = held->code;
        *signal = held->signal;
    }
    tr_task_leave(task);
    return rv;
}
