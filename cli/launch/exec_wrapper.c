/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `troupe hold`: runs a program that knows nothing of Troupe's launcher, and ends it and all it
 * started when the standard input ends: then the launcher is gone, or wants it to stop.
 *
 * `troupe launch --exec` runs it on every host. It has no summary: people use the launcher.
 */
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "cli/launch/child.h"
#include "cli/lib/argv_builder.h"
#include "cli/lib/command.h"
#include "cli/lib/inside.h"
#include "cli/lib/self_pipe.h"
#include "launch/job_key.h"

/* Less than the launcher waits before it kills the holder. */
#define GRACE_MS 15000
/* What a shell shows for a process that a signal ended. */
#define EXIT_SIGNAL 128

struct exec_wrapper_values {
    bool json;
};

static const struct option_spec OPTIONS[] = { OPTION_ROW_END };

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static bool input_ended(int revents)
{
    char bytes[256];
    return revents != 0 && read(STDIN_FILENO, bytes, sizeof bytes) == 0;
}

/* Asks it to stop once; kills it when that took too long or was asked for twice. */
static void stop(const struct child_process *child, int64_t *kill_ms)
{
    if (*kill_ms != 0) {
        child_signal(child, SIGKILL);
        return;
    }
    *kill_ms = now_ms() + GRACE_MS;
    child_signal(child, SIGTERM);
}

static int hold(struct child_process *child, struct self_pipe *wakeups)
{
    struct pollfd polled[] = { { .fd = wakeups->pipe[0], .events = POLLIN },
                               { .fd = STDIN_FILENO, .events = POLLIN } };
    int64_t kill_ms = 0;
    int code, number;
    while (!child_ended(child, &code, &number)) {
        int64_t left_ms = kill_ms == 0 ? -1 : kill_ms - now_ms();
        if (kill_ms != 0 && left_ms <= 0) {
            child_signal(child, SIGKILL);
            left_ms = 1000;
        }
        polled[0].revents = polled[1].revents = 0;
        poll(polled, 2, (int)left_ms);
        struct self_pipe_seen seen;
        self_pipe_take(wakeups, &seen);
        if (input_ended(polled[1].revents)) {
            polled[1].fd = -1;
            stop(child, &kill_ms);
        }
        for (; seen.stops > 0; seen.stops--)
            stop(child, &kill_ms);
    }
    return number != 0 ? EXIT_SIGNAL + number : code;
}

/* The key of the job stands in the input that is held; the program finds it by a path. */
static int take_key(struct job_key *key, struct argv_builder *environment, struct error *error)
{
    int rv = job_key_find(key, TR_WAIT_FOREVER, error);
    if (rv == 0 && key->path != NULL)
        argv_builder_addf(environment, JOB_KEY_VARIABLE "=%s", key->path);
    return rv == 0 && argv_builder_failed(environment)
               ? error_set(error, TR_ENOMEM, "no memory for the path of a key")
               : rv;
}

static int run(const struct invocation *invocation, const void *values)
{
    (void)values;
    struct argv_builder words = { 0 }, environment = { 0 };
    struct job_key key;
    struct self_pipe wakeups;
    struct child_process child;
    struct error error = { 0 };
    for (int i = 0; i < invocation->num_operands; i++)
        argv_builder_add(&words, invocation->operands[i]);
    if (argv_builder_failed(&words)) {
        argv_builder_fini(&words);
        error_set(&error, TR_ENOMEM, "no memory for the command");
        return fail_inside(invocation, &error);
    }
    int code = EXIT_FAILED;
    int rv = take_key(&key, &environment, &error);
    if (rv == 0)
        rv = self_pipe_start_inside(&wakeups, &error);
    if (rv == 0) {
        const struct child_start start = { .words = words.list,
                                           .environment = environment.list,
                                           .orphan_signal = SIGKILL,
                                           .inherit = true };
        rv = child_start(&child, &start, &error);
        if (rv == 0) {
            code = hold(&child, &wakeups);
            child_close(&child);
        }
        self_pipe_stop(&wakeups);
    }
    argv_builder_fini(&words);
    argv_builder_fini(&environment);
    job_key_fini(&key);
    return rv == 0 ? code : fail_inside(invocation, &error);
}

const struct command command_exec_wrapper = {
    .name = "hold",
    .operands = "COMMAND...",
    .operands_min = 1,
    .operands_max = ARGV_WORDS_MAX,
    .options = OPTIONS,
    .values_size = sizeof(struct exec_wrapper_values),
    .run = run,
};
