/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A task as a command runs it: its progress is shown, and Ctrl-C, SIGTERM or SIGHUP cancels it.
 *
 * Signals are caught before the task begins, so that none can leave a half-written folder behind.
 *
 * Thread rules: the main thread, one at a time in a process. Ownership: the task stays the
 * caller's.
 */
#ifndef CLI_LIB_FOLLOW_H
#define CLI_LIB_FOLLOW_H

#include <stdbool.h>

#include <troupe/task.h>

/* How a command begins its task: a tr_X_start() with the options of `arg`. */
typedef int follow_start(const void *arg, struct tr_task **out, struct tr_error *error);

/* Starts the task and returns its outcome when it has ended. *task: the task, for its result, or
 * NULL where it did not start; the caller closes it either way. */
int follow_task(bool quiet, follow_start *start, const void *arg, struct tr_task **task,
                struct tr_error *error);

#endif
