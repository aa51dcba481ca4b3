/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h" /* asprintf, pipe2 */

#include "cli/launch/detached.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* The exit code that a shell shows for a process that a signal ended, less the signal. */
#define EXIT_SIGNAL 128
#define TEXT_MAX 32

/* To whom the process that waits passes signals on; a handler has no other place to find it. */
static volatile sig_atomic_t waited_for;

static int open_mark(const char *log, int flags, char **path)
{
    if (asprintf(path, "%s.job", log) < 0) {
        *path = NULL;
        errno = ENOMEM;
        return -1;
    }
    return open(*path, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0644);
}

int job_mark_take(struct job_mark *mark, const char *log, struct tr_error *error)
{
    struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
    char *path;
    int fd = open_mark(log, O_RDWR | O_CREAT, &path), rv = 0;
    if (fd < 0)
        rv = tr_error_set(error, TR_EIO, "--log %s: cannot open %s.job: %s", log, log,
                          strerror(errno));
    else if (fcntl(fd, F_SETLK, &lock) != 0)
        rv = errno == EACCES || errno == EAGAIN
                 ? tr_error_set(error, TR_EEXIST,
                                "--log %s: another job that runs has this log; name another file",
                                log)
                 : tr_error_set(error, TR_EIO, "--log %s: cannot lock %s: %s", log, path,
                                strerror(errno));
    /* How the last job ended is not how this one does. */
    else if (ftruncate(fd, 0) != 0)
        rv = tr_error_set(error, TR_EIO, "--log %s: cannot write %s: %s", log, path,
                          strerror(errno));
    if (rv != 0 && fd >= 0)
        close(fd);
    free(path);
    *mark = (struct job_mark){ .held = rv == 0, .fd = fd };
    return rv;
}

void job_mark_release(struct job_mark *mark, int code)
{
    char text[TEXT_MAX];
    if (!mark->held)
        return;
    int length = snprintf(text, sizeof text, "%d\n", code);
    ssize_t written = pwrite(mark->fd, text, (size_t)length, 0);
    (void)written; /* the job then looks as if its launcher had been killed */
    close(mark->fd);
    mark->held = false;
}

int job_mark_look(const char *log, struct job_state *state, struct tr_error *error)
{
    struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
    char *path, text[TEXT_MAX] = "", *end = text;
    int fd = open_mark(log, O_RDONLY, &path), rv = 0;
    *state = (struct job_state){ .code = -1 };
    if (fd < 0)
        rv = tr_error_set(error, errno == ENOENT ? TR_ENOENT : TR_EIO,
                          "%s: no job has this log (%s.job: %s); give the file that troupe launch "
                          "--log named",
                          log, log, strerror(errno));
    else if (fcntl(fd, F_GETLK, &lock) != 0)
        rv = tr_error_set(error, TR_EIO, "%s: cannot ask for its lock: %s", path, strerror(errno));
    else if (lock.l_type != F_UNLCK)
        *state = (struct job_state){ .runs = true,
                                     .launcher = lock.l_pid > 0 ? lock.l_pid : 0,
                                     .code = -1 };
    else if (pread(fd, text, sizeof text - 1, 0) > 0) {
        long code = strtol(text, &end, 10);
        state->code = *end == '\n' && code >= 0 && code < 256 ? (int)code : -1;
    }
    if (fd >= 0)
        close(fd);
    free(path);
    return rv;
}

static void pass_on(int number)
{
    int saved = errno;
    (void)kill((pid_t)waited_for, number);
    errno = saved;
}

/* Until the job is up, Ctrl-C is for it. */
static int await_job(int fd, pid_t child)
{
    static const int passed[] = { SIGINT, SIGTERM };
    struct sigaction action = { .sa_handler = pass_on };
    char byte;
    ssize_t got;
    int status = 0;
    sigemptyset(&action.sa_mask);
    waited_for = child;
    for (size_t i = 0; i < sizeof passed / sizeof *passed; i++)
        sigaction(passed[i], &action, NULL);
    do
        got = read(fd, &byte, 1);
    while (got < 0 && errno == EINTR);
    if (got == 1)
        return 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_SIGNAL + WTERMSIG(status);
}

bool detach_begin(struct detached *detached, int *code, struct tr_error *error)
{
    int ends[2];
    *code = -1;
    detached->fd = -1;
    if (pipe2(ends, O_CLOEXEC) != 0) {
        (void)tr_error_set(error, TR_EIO, "--detach: no pipe: %s", strerror(errno));
        return false;
    }
    fflush(NULL); /* so that nothing is printed twice */
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        (void)setsid();
        detached->fd = ends[1];
        return true;
    }
    close(ends[1]);
    if (child < 0)
        (void)tr_error_set(error, TR_ENOMEM, "--detach: no process: %s", strerror(errno));
    else
        *code = await_job(ends[0], child);
    close(ends[0]);
    return false;
}

void detach_up(struct detached *detached)
{
    if (detached->fd < 0)
        return;
    fflush(NULL);
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int fd = 0; null >= 0 && fd <= 2; fd++)
        (void)dup2(null, fd);
    if (null > 2)
        close(null);
    ssize_t written = write(detached->fd, "", 1);
    (void)written; /* who waited has gone, and the job goes on */
    close(detached->fd);
    detached->fd = -1;
}
