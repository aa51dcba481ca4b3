/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `troupe attach`: shows what a job logs that was launched with --log, from its last lines to its end,
 * whose exit code it has. The job does not know who is attached. It is named by its log, or, where it
 * runs on this host, by the folder of its run or by its cluster file.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "cli/launch/job_mark.h"
#include "cli/lib/command.h"
#include "cli/lib/fail.h"
#include "cli/lib/options.h"

/* How often the file is read: shorter than anyone notices. */
#define LOOK_NS 100000000L
/* The whole lines within the last bytes of the log are shown first. */
#define LAST_BYTES 2048
#define PIECE_BYTES 65536

struct attach_values {
    bool stop, reopen;
};

static const struct option_spec OPTIONS[] = {
    { .name = "stop",
      .kind = OPTION_FLAG,
      .offset = offsetof(struct attach_values, stop),
      .help = "stop the job as Ctrl-C of troupe launch would, and show its end" },
    { .name = "reopen",
      .kind = OPTION_FLAG,
      .offset = offsetof(struct attach_values, reopen),
      .help = "have the job open its log again, which was renamed, and show nothing" },
    OPTION_ROW_END,
};

struct log_reader {
    const char *path;
    int fd;
};

static int read_error(const char *path, struct tr_error *error)
{
    return tr_error_set(error, errno == ENOENT ? TR_ENOENT : TR_EIO, "%s: %s", path,
                        strerror(errno));
}

/* Prints what is there. */
static int print_rest(struct log_reader *reader, struct tr_error *error)
{
    char piece[PIECE_BYTES];
    ssize_t got;
    while ((got = read(reader->fd, piece, sizeof piece)) > 0)
        if (fwrite(piece, 1, (size_t)got, stdout) != (size_t)got)
            return tr_error_set(error, TR_EIO, "cannot write to the standard output");
    if (got < 0)
        return read_error(reader->path, error);
    return fflush(stdout) == 0 ? 0
                               : tr_error_set(error, TR_EIO, "cannot write to the standard output");
}

/* From the first line that begins within the last bytes. */
static int open_at_end(struct log_reader *reader, struct tr_error *error)
{
    char byte = '\n';
    struct stat facts;
    reader->fd = open(reader->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (reader->fd < 0)
        return read_error(reader->path, error);
    if (fstat(reader->fd, &facts) != 0)
        return read_error(reader->path, error);
    if (!S_ISREG(facts.st_mode))
        return tr_error_set(error, TR_EINVAL, "%s: no file, so it has no lines of a log to show",
                            reader->path);
    off_t size = lseek(reader->fd, 0, SEEK_END);
    if (lseek(reader->fd, size > LAST_BYTES ? size - LAST_BYTES - 1 : 0, SEEK_SET) < 0)
        return read_error(reader->path, error);
    while (size > LAST_BYTES && read(reader->fd, &byte, 1) == 1 && byte != '\n') {
    }
    return 0;
}

/* A log that was rotated: the old file to its end, then the new one. The launcher may still write
 * into the old one until it has opened the new one, which is there from then on. */
static int follow_rename(struct log_reader *reader, struct tr_error *error)
{
    struct stat old, now;
    if (stat(reader->path, &now) != 0 || fstat(reader->fd, &old) != 0 ||
        (old.st_ino == now.st_ino && old.st_dev == now.st_dev))
        return 0;
    int fd = open(reader->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return errno == ENOENT ? 0 : read_error(reader->path, error);
    int rv = print_rest(reader, error);
    close(reader->fd);
    reader->fd = fd;
    return rv == 0 ? print_rest(reader, error) : rv;
}

/* A job that has ended has nothing to be asked. */
static int signal_job(const char *log, const struct job_state *state, int number,
                      struct tr_error *error)
{
    if (!state->runs)
        return 0;
    if (state->launcher == 0)
        return tr_error_set(error, TR_EPERM,
                            "%s: the job was launched on another host; run this there", log);
    /* The lock is asked for again behind the descriptor, which then is of the launcher: the number
     * alone may be another process's by now. */
    struct job_state now;
    int fd = (int)syscall(SYS_pidfd_open, state->launcher, 0);
    int rv = job_mark_look(log, &now, error);
    if (rv == 0 && now.runs && now.launcher == state->launcher &&
        (fd >= 0 ? syscall(SYS_pidfd_send_signal, fd, number, NULL, 0)
                 : kill(state->launcher, number)) != 0 &&
        errno != ESRCH)
        rv = tr_error_set(error, TR_EPERM,
                          "%s: cannot signal process %ld, which launched the job: %s", log,
                          (long)state->launcher, strerror(errno));
    if (fd >= 0)
        close(fd);
    return rv;
}

static int follow_log(struct log_reader *reader, struct job_state *state, struct tr_error *error)
{
    const struct timespec pause = { .tv_nsec = LOOK_NS };
    for (;;) {
        /* The end is looked for before the rest is read, which is all then. */
        int rv = job_mark_look(reader->path, state, error);
        if (rv == 0)
            rv = print_rest(reader, error);
        if (rv == 0)
            rv = follow_rename(reader, error);
        if (rv != 0 || !state->runs)
            return rv;
        nanosleep(&pause, NULL);
    }
}

static int show_job(const char *log, bool stop, struct job_state *state, struct tr_error *error)
{
    struct log_reader reader = { .path = log, .fd = -1 };
    int rv = open_at_end(&reader, error);
    /* A log that was renamed just now is there again soon. */
    while (rv == TR_ENOENT && state->runs) {
        nanosleep(&(const struct timespec){ .tv_nsec = LOOK_NS }, NULL);
        rv = job_mark_look(log, state, error);
        if (rv == 0)
            rv = open_at_end(&reader, error);
    }
    if (rv == 0 && stop)
        rv = signal_job(log, state, SIGTERM, error);
    if (rv == 0)
        rv = follow_log(&reader, state, error);
    if (reader.fd >= 0)
        close(reader.fd);
    return rv;
}

static int cmd_attach_run(const struct invocation *invocation, const void *opaque)
{
    const struct attach_values *values = opaque;
    struct job_state state;
    struct tr_error error = TR_ERROR_INIT;
    char *log;
    if (values->stop && values->reopen) {
        (void)tr_error_set(&error, TR_EINVAL,
                           "--reopen: the job is not stopped by it; give --stop or --reopen");
        return fail_usage(invocation, &error);
    }
    int rv = job_mark_find(invocation->operands[0], &log, &error);
    if (rv == 0)
        rv = job_mark_look(log, &state, &error);
    if (rv == 0 && values->reopen) {
        rv = signal_job(log, &state, SIGHUP, &error);
        free(log);
        return rv == 0 ? EXIT_DONE : fail(invocation, &error);
    }
    if (rv == 0)
        rv = show_job(log, values->stop, &state, &error);
    if (rv == 0 && state.code < 0)
        rv = tr_error_set(&error, TR_ECHILD,
                          "%s: the launcher of the job was killed, and the job "
                          "with it",
                          log);
    free(log);
    return rv == 0 ? state.code : fail(invocation, &error);
}

static const char *const EXAMPLES[] = {
    "troupe attach job.log",
    "troupe attach runs/a",
    "troupe attach --stop cluster.json",
    NULL,
};

const struct command command_attach = {
    .name = "attach",
    .summary = "Show what a launched job logs, until its end",
    .operands = "LOG|RUN|CLUSTER",
    .operands_min = 1,
    .operands_max = 1,
    .options = OPTIONS,
    .values_size = sizeof(struct attach_values),
    .examples = EXAMPLES,
    .run = cmd_attach_run,
};
