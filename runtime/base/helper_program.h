/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starting a program that helps this process: no signal is blocked or ignored in it, whatever the
 * thread that starts it does with them.
 *
 * Spawned, not forked: a child of a process with threads may only call few functions.
 * Ownership: the child is the caller's, to be waited for. Thread rules: any thread.
 */
#ifndef RUNTIME_BASE_HELPER_PROGRAM_H
#define RUNTIME_BASE_HELPER_PROGRAM_H

#include <spawn.h>
#include <stdbool.h>
#include <sys/types.h>

struct helper_program {
    const char *program;
    bool in_path; /* program is a name that PATH knows, not a path */
    char *const *argv;
    const posix_spawn_file_actions_t *actions;
    bool own_group; /* signals that a terminal sends to the whole group do not reach it */
};

/* 0, or an errno. */
int helper_program_start(const struct helper_program *helper, pid_t *child);

#endif
