/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The standard input of a process that a launcher started: first the line of the job's key, where
 * it comes that way (launch/job_key.h), then nothing that anybody reads, and at last its end, which
 * means that the launcher has gone or wants the process to stop.
 *
 * Only that end is one: neither a signal nor an input that has nothing yet. An input that cannot be
 * read at all, or is closed in this process, has ended, since it will never say anything.
 *
 * Thread rules: one thread at a time reads the input of a process.
 */
#ifndef LAUNCH_INPUT_WATCH_H
#define LAUNCH_INPUT_WATCH_H

#include <stdbool.h>

#include "runtime/base/deadline.h"

/* Waits until the input has bytes or its end to read (0). TR_ETIMEDOUT; TR_ECANCELED: stop, a
 * descriptor (-1: none), is readable. */
int input_watch_wait(int stop, const struct deadline *until);

/* Reads one byte: 1; 0: the end, or nothing can be read; below 0: wait again. */
int input_watch_read(char *byte);

/* Takes what poll(2) said of the input, and drops what came. True: it has ended. */
bool input_watch_ended(short revents);

#endif
