/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h" /* pipe2 */

#include "cli/lib/self_pipe.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static const int CAUGHT[SELF_PIPE_CAUGHT] = { SIGINT, SIGTERM, SIGHUP, SIGCHLD };

/* Where handlers write: a signal belongs to the process, so its handler has no other place to find
 * this. Set while no handler is installed. */
static volatile sig_atomic_t handler_fd = -1;

static void handle(int number)
{
    int saved = errno;
    unsigned char byte = (unsigned char)number;
    ssize_t written = write((int)handler_fd, &byte, 1);
    (void)written; /* a full pipe wakes as well */
    errno = saved;
}

int self_pipe_start(struct self_pipe *signals, bool hangups, struct tr_error *error)
{
    if (pipe2(signals->pipe, O_CLOEXEC | O_NONBLOCK) != 0)
        return tr_error_set(error, TR_EIO, "cannot make the pipe for signals: %s", strerror(errno));
    /* The descriptor is set before the handlers: a signal may come as soon as its handler is
     * there. */
    handler_fd = signals->pipe[1];
    struct sigaction action = { .sa_handler = handle, .sa_flags = SA_RESTART };
    sigemptyset(&action.sa_mask);
    for (int i = 0; i < SELF_PIPE_CAUGHT; i++) {
        sigaction(CAUGHT[i], NULL, &signals->before[i]);
        if (CAUGHT[i] == SIGCHLD || signals->before[i].sa_handler != SIG_IGN ||
            (CAUGHT[i] == SIGHUP && hangups))
            sigaction(CAUGHT[i], &action, NULL);
    }
    return 0;
}

void self_pipe_take(struct self_pipe *signals, struct self_pipe_seen *seen)
{
    unsigned char numbers[64];
    ssize_t got;
    *seen = (struct self_pipe_seen){ 0 };
    while ((got = read(signals->pipe[0], numbers, sizeof numbers)) > 0)
        for (ssize_t i = 0; i < got; i++) {
            seen->child = seen->child || numbers[i] == SIGCHLD;
            seen->stops += numbers[i] == SIGINT || numbers[i] == SIGTERM;
            seen->hangups += numbers[i] == SIGHUP;
            seen->interrupted = seen->interrupted || numbers[i] == SIGINT;
        }
}

void self_pipe_stop(struct self_pipe *signals)
{
    /* The handlers go first: a signal that one of them caught from here on would be read by
     * nobody. */
    for (int i = 0; i < SELF_PIPE_CAUGHT; i++)
        sigaction(CAUGHT[i], &signals->before[i], NULL);
    handler_fd = -1;
    close(signals->pipe[0]);
    close(signals->pipe[1]);
}
