/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A line on the standard output, for the launcher, within a time: a launcher that reads nothing lets
 * the pipe fill, and a write to a full pipe has no deadline. So at most PIPE_BUF bytes are written at
 * once, and only when the output is ready, which a pipe then takes.
 *
 * Thread rules: any thread; lines of several do not mix. A line that another process writes to the
 * same pipe may take the room between the look and the write.
 */
#ifndef LAUNCH_NOTICE_PRINT_H
#define LAUNCH_NOTICE_PRINT_H

#include <stdint.h>

#include "api/public_error.h"

/* The format ends the line. timeout_ns as for tr_process_say_ready(). TR_ETIMEDOUT, TR_EIO (the
 * output is gone), TR_ENOMEM, each with its text. */
int notice_print(int64_t timeout_ns, struct tr_error *error, const char *format, ...)
    TR_PRINTF(3, 4);

#endif
