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

#include "runtime/base/error.h"

#define WAKEUPS_CAUGHT 4

struct wakeups {
    int pipe[2]; /* poll [0] for reading */
    struct sigaction before[WAKEUPS_CAUGHT];
};

/* What came since the last take. */
struct wakeups_seen {
    unsigned stops;    /* SIGINT, SIGTERM, SIGHUP */
    bool interrupted;  /* one of them was a Ctrl-C */
    bool child;        /* a child changed */
};

int wakeups_start(struct wakeups *wakeups, struct error *error);
void wakeups_take(struct wakeups *wakeups, struct wakeups_seen *seen);
void wakeups_stop(struct wakeups *wakeups);

#endif
