/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Between vfork() and exec the child runs on the memory of its parent, whose other threads go on,
 * and whose calling thread waits: it may call what a signal handler may, and change nothing that
 * the parent reads. All signals are blocked meanwhile, so that no handler of the program runs
 * there; the child's own dispositions are set back before it unblocks them.
 */
#include "config.h" /* pipe2, execvpe */

#include "launch/child.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* As a shell says that a command is not there. */
#define EXIT_NO_PROGRAM 127
/* The code of an end that the program waited for elsewhere: no success. */
#define EXIT_UNKNOWN 255

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

/* A pipe above the standard streams. Where this process has closed some of those, an end of the
 * pipe would get the number of one, and what the child makes of its own streams would overwrite
 * it. */
static bool open_pipe(int pair[2])
{
    if (pipe2(pair, O_CLOEXEC) != 0)
        return false;
    for (int i = 0; i < 2; i++) {
        if (pair[i] > STDERR_FILENO)
            continue;
        int low = pair[i];
        pair[i] = fcntl(low, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
        int saved = errno;
        close(low);
        errno = saved;
        if (pair[i] < 0)
            return false;
    }
    return true;
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
    if (open_pipe(pipes->in) && put_input(pipes, input) &&
        (inherit || (open_pipe(pipes->out) && open_pipe(pipes->err))))
        return 0;
    int saved = errno;
    close_pipes(pipes);
    return saved;
}

/* Only what may be called after fork in a process with threads. */
static void child_say(const char *text)
{
    ssize_t written = write(STDERR_FILENO, text, strlen(text));
    (void)written;
}

static void child_become(const struct child_start *start, const struct pipes *pipes,
                         char **environment, pid_t parent)
{
    struct sigaction action;
    sigset_t none;
    for (int number = 1; number < NSIG; number++)
        if (sigaction(number, NULL, &action) == 0 && action.sa_handler != SIG_IGN)
            signal(number, SIG_DFL);
    static const int HEARD[] = { SIGINT, SIGTERM, SIGHUP, SIGCHLD, SIGPIPE, SIGXFSZ };
    for (size_t i = 0; i < sizeof HEARD / sizeof HEARD[0]; i++)
        signal(HEARD[i], SIG_DFL); /* also where this program ignores them */
    setsid();
    prctl(PR_SET_PDEATHSIG, start->orphan_signal);
    /* This is asked behind prctl(): a parent that died before it sends no signal any more. */
    if (getppid() != parent) /* it died before the line above */
        _exit(EXIT_NO_PROGRAM);
    bool placed = dup2(pipes->in[0], STDIN_FILENO) >= 0;
    if (!start->inherit)
        placed = placed && dup2(pipes->out[1], STDOUT_FILENO) >= 0 &&
                 dup2(pipes->err[1], STDERR_FILENO) >= 0;
    /* The streams are placed before the folder, so that a failure is said where the parent reads
     * it. */
    if (placed && start->folder != NULL && chdir(start->folder) != 0) {
        child_say(start->folder);
        child_say(": cannot go to this folder\n");
        _exit(EXIT_NO_PROGRAM);
    }
    /* Signals are let in last: from here on they find the dispositions set above. */
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (placed)
        execvpe(start->words[0], start->words, environment);
    child_say(start->words[0]);
    child_say(": cannot be run\n");
    _exit(EXIT_NO_PROGRAM);
}

/* The child shares this frame's memory until it has become another program. */
__attribute__((noinline)) static pid_t child_spawn(const struct child_start *start,
                                                   const struct pipes *pipes, char **environment)
{
    pid_t parent = getpid();
    pid_t pid = vfork();
    if (pid == 0)
        child_become(start, pipes, environment, parent);
    return pid;
}

/* -1: this kernel has none; ends are then looked for. */
static int open_pidfd(pid_t pid)
{
    int fd = (int)syscall(SYS_pidfd_open, pid, 0);
    if (fd >= 0)
        fcntl(fd, F_SETFD, FD_CLOEXEC);
    return fd;
}

int child_start(struct child_process *child, const struct child_start *start, struct error *error)
{
    struct pipes pipes;
    *child = (struct child_process)CHILD_NONE;
    char **environment = join_environment(start->environment);
    if (environment == NULL)
        return error_set(error, TR_ENOMEM, "%s: no memory to start it", start->words[0]);
    int failed = open_pipes(&pipes, start->input, start->inherit);
    if (failed != 0) {
        free(environment);
        return error_set_errno(error, failed, "%s: cannot make its pipes", start->words[0]);
    }
    /* Memory and pipes are made before: between vfork() and exec nothing may be allocated. */
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pid_t pid = child_spawn(start, &pipes, environment);
    /* The number is kept before the calls below change it. */
    failed = errno;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    free(environment);
    if (pid < 0) {
        close_pipes(&pipes);
        return error_set_errno(error, failed, "%s: cannot be started", start->words[0]);
    }
    *child = (struct child_process){ pid, pipes.in[1], pipes.out[0], pipes.err[0],
                                     open_pidfd(pid) };
    /* The child's ends are closed here: its pipes end when it does, and what it started. */
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
    close_one(&child->pidfd);
}

/* Looks at a child without waiting for it. False: the program has waited for it elsewhere, and its
 * number may be another process's. Where the program ignores SIGCHLD, or waits for any child, that is
 * so as soon as the child has ended. */
static bool child_look(const struct child_process *child, siginfo_t *info)
{
    *info = (siginfo_t){ 0 };
    return waitid(P_PID, (id_t)child->pid, info, WEXITED | WNOHANG | WNOWAIT) == 0 ||
           errno != ECHILD;
}

void child_signal(const struct child_process *child, int number)
{
    siginfo_t info;
    /* Its group is there: vfork() returned once it had become the program, which is after
     * setsid(). */
    if (child->pid > 0 && child_look(child, &info))
        kill(-child->pid, number);
}

bool child_ended(struct child_process *child, int *code, int *signal)
{
    siginfo_t info;
    int status;
    *code = EXIT_UNKNOWN;
    *signal = 0;
    if (child->pid <= 0)
        return false;
    /* Its number stays its own until it is waited for, so the group is ended before, and is surely
     * its. Where the program has waited elsewhere, only the end of the child is known, not how it
     * ended. */
    if (!child_look(child, &info)) {
        child->pid = 0;
        return true;
    }
    if (info.si_pid != child->pid)
        return false;
    kill(-child->pid, SIGKILL);
    if (waitpid(child->pid, &status, 0) == child->pid) {
        *code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
        *signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    }
    child->pid = 0;
    return true;
}
