/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h" /* pipe2, execvpe */

#include "cli/launch/child.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* As a shell says that a command is not there. */
#define EXIT_NO_PROGRAM 127

/* Ours, with the additions instead of what has their names. */
static char **join_environment(char *const *more)
{
    size_t count = 0, added = 0;
    while (environ[count] != NULL)
        count++;
    while (more != NULL && more[added] != NULL)
        added++;
    char **all = malloc((count + added + 1) * sizeof *all);
    if (all == NULL)
        return NULL;
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        size_t name = strcspn(environ[i], "=");
        bool replaced = false;
        for (size_t k = 0; k < added && !replaced; k++)
            replaced = strncmp(environ[i], more[k], name + 1) == 0;
        if (!replaced)
            all[used++] = environ[i];
    }
    for (size_t k = 0; k < added; k++)
        all[used++] = more[k];
    all[used] = NULL;
    return all;
}

static void close_pair(int pair[2])
{
    for (int i = 0; i < 2; i++)
        if (pair[i] >= 0)
            close(pair[i]);
}

struct pipes {
    int in[2], out[2], err[2];
};

static void close_pipes(struct pipes *pipes)
{
    close_pair(pipes->in);
    close_pair(pipes->out);
    close_pair(pipes->err);
}

/* Before the child is there: this process has the other end, so writing neither waits nor ends us
 * by SIGPIPE. */
static bool put_input(const struct pipes *pipes, const char *input)
{
    size_t length = input != NULL ? strlen(input) : 0;
    assert(length <= PIPE_BUF);
    return length == 0 || write(pipes->in[1], input, length) == (ssize_t)length;
}

static int open_pipes(struct pipes *pipes, const char *input, bool inherit)
{
    *pipes = (struct pipes){ { -1, -1 }, { -1, -1 }, { -1, -1 } };
    if (pipe2(pipes->in, O_CLOEXEC) == 0 && put_input(pipes, input) &&
        (inherit || (pipe2(pipes->out, O_CLOEXEC) == 0 && pipe2(pipes->err, O_CLOEXEC) == 0)))
        return 0;
    int saved = errno;
    close_pipes(pipes);
    return saved;
}

/* Only what may be called after fork in a process with threads. */
static void say(const char *text)
{
    ssize_t written = write(STDERR_FILENO, text, strlen(text));
    (void)written;
}

static void become(const struct child_start *start, struct pipes *pipes, char **environment,
                   pid_t parent)
{
    static const int CAUGHT[] = { SIGINT, SIGTERM, SIGHUP, SIGCHLD, SIGPIPE, SIGXFSZ };
    for (size_t i = 0; i < sizeof CAUGHT / sizeof CAUGHT[0]; i++)
        signal(CAUGHT[i], SIG_DFL);
    setsid();
    prctl(PR_SET_PDEATHSIG, start->orphan_signal);
    if (getppid() != parent) /* it died before the line above */
        _exit(EXIT_NO_PROGRAM);
    bool placed = dup2(pipes->in[0], STDIN_FILENO) >= 0;
    if (!start->inherit)
        placed = placed && dup2(pipes->out[1], STDOUT_FILENO) >= 0 &&
                 dup2(pipes->err[1], STDERR_FILENO) >= 0;
    if (placed && start->folder != NULL && chdir(start->folder) != 0) {
        say(start->folder);
        say(": cannot go to this folder\n");
        _exit(EXIT_NO_PROGRAM);
    }
    if (placed)
        execvpe(start->words[0], start->words, environment);
    say(start->words[0]);
    say(": cannot be run\n");
    _exit(EXIT_NO_PROGRAM);
}

int child_start(struct child_process *child, const struct child_start *start, struct error *error)
{
    struct pipes pipes;
    *child = (struct child_process){ 0, -1, -1, -1 };
    char **environment = join_environment(start->environment);
    if (environment == NULL)
        return error_set(error, TR_ENOMEM, "%s: no memory to start it", start->words[0]);
    int failed = open_pipes(&pipes, start->input, start->inherit);
    if (failed != 0) {
        free(environment);
        return error_set_errno(error, failed, "%s: cannot make its pipes", start->words[0]);
    }
    pid_t parent = getpid();
    pid_t pid = fork();
    if (pid == 0)
        become(start, &pipes, environment, parent);
    failed = errno;
    free(environment);
    if (pid < 0) {
        close_pipes(&pipes);
        return error_set_errno(error, failed, "%s: cannot be started", start->words[0]);
    }
    *child = (struct child_process){ pid, pipes.in[1], pipes.out[0], pipes.err[0] };
    pipes.in[1] = pipes.out[0] = pipes.err[0] = -1;
    close_pipes(&pipes);
    return 0;
}

static void close_one(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

void child_close_input(struct child_process *child)
{
    close_one(&child->in);
}

void child_close(struct child_process *child)
{
    close_one(&child->in);
    close_one(&child->out);
    close_one(&child->err);
}

void child_signal(const struct child_process *child, int number)
{
    if (child->pid <= 0)
        return;
    /* Until it called setsid the group isn't there yet. */
    if (kill(-child->pid, number) != 0)
        kill(child->pid, number);
}

bool child_ended(struct child_process *child, int *code, int *signal)
{
    siginfo_t info = { 0 };
    if (child->pid <= 0)
        return false;
    /* Its number stays its own until it is waited for, so the group that is ended is surely it. */
    if (waitid(P_PID, (id_t)child->pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
        info.si_pid != child->pid)
        return false;
    kill(-child->pid, SIGKILL);
    int status;
    if (waitpid(child->pid, &status, 0) != child->pid)
        return false;
    *code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
    *signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    child->pid = 0;
    return true;
}
