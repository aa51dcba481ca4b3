/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signals for a command that waits in poll(2): each becomes a byte in a pipe.
 *
 * Other than signals.h, which serves commands whose main thread works, and which ends the process
 * at a second Ctrl-C, this leaves every decision to the loop: it has children to end first.
 * A signal that was ignored when the process began stays ignored, but for SIGCHLD.
 *
 * Thread rules: the main thread; one in a process, and not beside signals.h.
 */
#ifndef CLI_LIB_SELF_PIPE_H
#define CLI_LIB_SELF_PIPE_H

#include <signal.h>
#include <stdbool.h>

#include <troupe/error.h>

#define SELF_PIPE_CAUGHT 4

struct self_pipe {
    int pipe[2]; /* poll [0] for reading */
    struct sigaction before[SELF_PIPE_CAUGHT];
};

/* The signals since the last take. */
struct self_pipe_seen {
    unsigned stops;   /* SIGINT, SIGTERM */
    unsigned hangups; /* SIGHUP: stops, or a log that was rotated */
    bool interrupted; /* one of them was a Ctrl-C */
    bool child;       /* a child changed */
};

/* What is ignored stays so, as nohup(1) has it; but SIGHUP is caught where `hangups` says so. */
int self_pipe_start(struct self_pipe *signals, bool hangups, struct tr_error *error);
void self_pipe_take(struct self_pipe *signals, struct self_pipe_seen *seen);
void self_pipe_stop(struct self_pipe *signals);

#endif
