/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The launcher: lines and ends go to the policy, its commands to the ops.
 *
 * Invariants: the ops are called from launcher_turn() alone, which takes commands until there is
 * none; an op that fails is an end of its process, given to the policy before the next command is
 * taken.
 */
#include "actors/cluster/launcher.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "actors/cluster/process_notice.h"

enum launcher_role launcher_role_of(const struct plan *plan, uint32_t process)
{
    const struct plan_process *p = &plan->processes[process];
    if (p->trainers.count > 0)
        return LAUNCHER_TRAINER;
    return p->samplers.count > 0 ? LAUNCHER_SAMPLER : LAUNCHER_SERVER;
}

int launcher_init(struct launcher *launcher, const struct launcher_options *options,
                  uint64_t now_ns)
{
    uint32_t count = options->plan->num_processes;
    enum launcher_role *roles = calloc(count + (size_t)1, sizeof *roles);
    *launcher = (struct launcher){ .ops = options->ops,
                                   .arg = options->arg,
                                   .incarnation = options->incarnation };
    if (roles == NULL)
        return TR_ENOMEM;
    for (uint32_t p = 0; p < count; p++)
        roles[p] = launcher_role_of(options->plan, p);
    const struct launcher_policy_options policy = {
        .roles = roles,
        .count = count,
        .incarnation = options->incarnation,
        .restarts = options->restarts,
        .period_ns = options->period_ns,
        .together = options->together,
    };
    int rv = launcher_policy_init(&launcher->policy, &policy, now_ns);
    free(roles);
    return rv;
}

void launcher_fini(struct launcher *launcher)
{
    launcher_policy_fini(&launcher->policy);
    free(launcher->kernels);
    launcher->kernels = NULL;
}

/* A process that others count as dead, as one of them says. */
static void take_silence(struct launcher *launcher, uint32_t witness, const char *line,
                         uint64_t now_ns)
{
    uint32_t process, incarnation;
    if (notice_silent(line, &process, &incarnation))
        launcher_policy_silent(&launcher->policy, witness, process, incarnation, now_ns);
}

/* The same numbers come of equal kernels only. Trainers that have to agree refuse each other; where
 * they need not, a person should know. */
static bool take_kernels(struct launcher *launcher, uint32_t process, const char *line,
                         struct launcher_kernels *differ)
{
    const char *kernels = notice_kernels(line);
    if (launcher->kernels == NULL || process == launcher->kernels_of) {
        free(launcher->kernels);
        launcher->kernels = strdup(kernels);
        launcher->kernels_of = process;
        return false;
    }
    if (differ != NULL)
        *differ = (struct launcher_kernels){ kernels, launcher->kernels, launcher->kernels_of };
    return strcmp(launcher->kernels, kernels) != 0;
}

bool launcher_take_line(struct launcher *launcher, uint32_t process, const char *line,
                        struct launcher_kernels *differ, uint64_t now_ns)
{
    /* The notices may stand in any order: a line is one of them at most. */
    if (notice_is(line, NOTICE_SILENT))
        take_silence(launcher, process, line, now_ns);
    else if (notice_is(line, NOTICE_READY))
        launcher_policy_ready(&launcher->policy, process, now_ns);
    else if (notice_is(line, NOTICE_CHECKPOINT))
        launcher_policy_checkpoint(&launcher->policy, now_ns);
    else if (notice_is(line, NOTICE_LEFT))
        launcher_policy_left(&launcher->policy, process, notice_left_asked(line), now_ns);
    else if (notice_is(line, NOTICE_COMPLETE))
        launcher_policy_complete(&launcher->policy, now_ns);
    else if (notice_is(line, NOTICE_KERNELS))
        return take_kernels(launcher, process, line, differ);
    return false;
}

void launcher_take_end(struct launcher *launcher, uint32_t process, int code, int signal,
                       uint64_t now_ns)
{
    launcher_policy_exited(&launcher->policy, process, code, signal, now_ns);
}

void launcher_take_stops(struct launcher *launcher, uint32_t stops, bool hurried, uint64_t now_ns)
{
    for (; stops > 0; stops--) {
        /* timeout(1) and the like send SIGTERM twice; only a second Ctrl-C is in a hurry. */
        if (launcher->policy.stopping && !hurried)
            break;
        launcher_policy_stop(&launcher->policy, now_ns);
    }
}

static void obey(struct launcher *launcher, const struct launcher_command *command, uint64_t now_ns)
{
    switch (command->action) {
    case LAUNCHER_START:
        /* A process that could not be started has ended like any other: the policy has it running
         * by now. */
        if (launcher->ops->start(launcher->arg, command->process, command->incarnation,
                                 command->incarnation - launcher->incarnation) != 0)
            launcher_policy_exited(&launcher->policy, command->process, LAUNCHER_EXIT_NOT_STARTED,
                                   0, now_ns);
        break;
    case LAUNCHER_TERM:
        launcher->ops->ask_to_stop(launcher->arg, command->process);
        break;
    case LAUNCHER_KILL:
        launcher->ops->kill(launcher->arg, command->process);
        break;
    case LAUNCHER_DONE:
        launcher->done = true;
    }
}

bool launcher_turn(struct launcher *launcher, uint64_t now_ns)
{
    struct launcher_command command;
    /* Deadlines before commands, which follow from them; and commands until there is none, since
     * one that cannot be carried out is an end that leads to others. */
    launcher_policy_tick(&launcher->policy, now_ns);
    while (launcher_policy_next(&launcher->policy, &command))
        obey(launcher, &command, now_ns);
    return !launcher->done;
}

uint64_t launcher_wake_ns(const struct launcher *launcher)
{
    return launcher_policy_wake_ns(&launcher->policy);
}

int launcher_result(const struct launcher *launcher, struct error *error)
{
    return launcher_policy_result(&launcher->policy, error);
}
