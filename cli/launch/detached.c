/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h" /* pipe2 */

#include "cli/launch/detached.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* The exit code that a shell shows for a process that a signal ended, less the signal. */
#define EXIT_SIGNAL 128

/* To whom the process that waits passes signals on; a handler has no other place to find it. */
static volatile sig_atomic_t waited_for;

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
