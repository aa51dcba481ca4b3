/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h" /* vasprintf */

#include "launch/notice_print.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "runtime/base/deadline.h"

/* The lock of the output is another thread's for as long as that prints, maybe into a full pipe. No
 * deadline can be given to it, so it is tried this often. */
#define OUTPUT_LOCK_NS 1000000L

static int lock_output(const struct deadline *until)
{
    while (ftrylockfile(stdout) != 0) {
        if (deadline_passed(until))
            return TR_ETIMEDOUT;
        nanosleep(&(struct timespec){ .tv_nsec = OUTPUT_LOCK_NS }, NULL);
    }
    return 0;
}

/* A pipe that is ready takes PIPE_BUF bytes at once; why another output is ready the write says. */
static int await_output(const struct deadline *until)
{
    struct pollfd output = { .fd = STDOUT_FILENO, .events = POLLOUT };
    int ready = poll(&output, 1, deadline_poll_ms(until));
    while (ready < 0 && errno == EINTR)
        ready = poll(&output, 1, deadline_poll_ms(until));
    return ready != 0 ? 0 : TR_ETIMEDOUT;
}

/* The output of the program goes before the line. Unless the program gave it a larger one, the
 * buffer of a pipe has PIPE_BUF bytes, which a pipe that is ready takes at once. */
static int flush_output(const struct deadline *until)
{
    if (__fpending(stdout) == 0)
        return 0;
    int rv = await_output(until);
    return rv != 0 ? rv : fflush(stdout) == 0 ? 0 : TR_EIO;
}

static int write_output(const char *text, size_t bytes, const struct deadline *until)
{
    int rv = 0;
    while (rv == 0 && bytes > 0) {
        rv = await_output(until);
        ssize_t written = rv != 0 ? 0
                                  : write(STDOUT_FILENO, text, bytes < PIPE_BUF ? bytes : PIPE_BUF);
        if (written < 0 && errno != EINTR)
            rv = TR_EIO;
        text += written > 0 ? written : 0;
        bytes -= written > 0 ? (size_t)written : 0;
    }
    return rv;
}

/* A line is one write under the lock, so that it is no part of another one. */
static int print_line(const char *line, size_t bytes, int64_t timeout_ns, struct tr_error *error)
{
    const struct deadline until = deadline_after(timeout_ns);
    int rv = lock_output(&until);
    if (rv == 0) {
        rv = flush_output(&until);
        if (rv == 0)
            rv = write_output(line, bytes, &until);
        int number = errno;
        funlockfile(stdout);
        errno = number;
    }
    if (rv == TR_EIO)
        return tr_error_set(error, rv, "cannot write to the standard output: %s", strerror(errno));
    return rv == 0 ? 0
                   : tr_error_set(error, rv,
                                  "cannot write to the standard output: the program that reads it "
                                  "has stopped reading");
}

int notice_print(int64_t timeout_ns, struct tr_error *error, const char *format, ...)
{
    char *line;
    va_list args;
    va_start(args, format);
    int length = vasprintf(&line, format, args);
    va_end(args);
    if (length < 0)
        return tr_error_set(error, TR_ENOMEM, "no memory for a line to the launcher");
    int rv = print_line(line, (size_t)length, timeout_ns, error);
    free(line);
    return rv;
}
