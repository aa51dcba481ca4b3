/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `troupe hold`: runs a program that knows nothing of Troupe's launcher, and ends it and all it
 * started when the standard input ends: then the launcher is gone, or wants it to stop.
 *
 * `troupe launch --exec` runs it on every host. It has no summary: people use the launcher.
 */
#include <stddef.h>

#include <troupe/launch.h>

#include "cli/lib/command.h"
#include "cli/lib/fail.h"
#include "cli/lib/self_pipe.h"

/* The exit code that a shell shows for a process that a signal ended, less the signal. */
#define EXIT_SIGNAL 128
/* How often the pipe is polled for signals: shorter than anyone notices. */
#define LOOK_NS INT64_C(50000000)

struct exec_wrapper_values {
    bool json;
};

static const struct option_spec OPTIONS[] = { OPTION_ROW_END };

static int hold(struct tr_task *task, struct self_pipe *signals, int *code, struct tr_error *error)
{
    int number = 0, rv;
    while ((rv = tr_task_wait(task, LOOK_NS, error)) == TR_ETIMEDOUT) {
        struct self_pipe_seen seen;
        self_pipe_take(signals, &seen);
        for (seen.stops += seen.hangups; seen.stops > 0; seen.stops--)
            tr_hold_stop(task);
    }
    if (rv == 0)
        rv = tr_hold_end(task, code, &number, error);
    if (rv == 0 && number != 0)
        *code = EXIT_SIGNAL + number;
    return rv;
}

static int run(const struct invocation *invocation, const void *values)
{
    struct self_pipe signals;
    struct tr_task *task;
    struct tr_error error = TR_ERROR_INIT;
    int code = EXIT_FAILED;
    (void)values;
    /* Signals are caught from before the program starts until its task is closed: in between one
     * that was not caught would end this process and leave the program behind. */
    int rv = self_pipe_start(&signals, false, &error);
    if (rv != 0)
        return fail(invocation, &error);
    rv = tr_hold_start((const char *const *)invocation->operands, (size_t)invocation->num_operands,
                       &task, &error);
    if (rv == 0)
        rv = hold(task, &signals, &code, &error);
    tr_task_close(task);
    self_pipe_stop(&signals);
    return rv == 0 ? code : fail(invocation, &error);
}

const struct command command_exec_wrapper = {
    .name = "hold",
    .operands = "COMMAND...",
    .operands_min = 1,
    .operands_max = TR_LAUNCH_WORDS_MAX,
    .options = OPTIONS,
    .values_size = sizeof(struct exec_wrapper_values),
    .run = run,
};
