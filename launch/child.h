/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A child process with pipes: its standard input, held open for as long as it is to run, and what
 * it prints.
 *
 * It leads a session of its own, so that a Ctrl-C on the terminal reaches only its parent, which
 * stops it in order, and so that it can be ended together with whatever it started. When the
 * parent dies without a word the child reads the end of its input; and, as a second belt, the
 * kernel sends it a signal.
 *
 * Ownership: child_start fills it; child_close closes the pipes; the pid is the caller's to wait
 * for. Thread rules: child_start on a thread that lives as long as the child may: the kernel's
 * signal comes when that thread ends.
 */
#ifndef LAUNCH_CHILD_H
#define LAUNCH_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "runtime/base/error.h"

struct child_process {
    pid_t pid;        /* 0: none */
    int in, out, err; /* -1: closed */
    int pidfd;        /* readable once it has ended; -1: ends have to be looked for */
};
#define CHILD_NONE        \
    {                     \
        0, -1, -1, -1, -1 \
    }
/* How often, where there is no pidfd. */
#define CHILD_LOOK_MS 50

struct child_start {
    char *const *words;       /* what runs, looked up in PATH; NULL ends */
    char *const *environment; /* "NAME=VALUE" added to ours; NULL: none; NULL ends */
    const char *folder;       /* where; NULL: here */
    const char *input;        /* what it reads first, at most PIPE_BUF bytes; NULL: nothing */
    int orphan_signal;        /* sent to it when we die */
    bool inherit;             /* no pipes but the input: it prints where we do */
};

/* TR_ENOMEM, TR_EIO; that the program is not there shows as exit code 127, with its text in the
 * child's standard error. */
int child_start(struct child_process *child, const struct child_start *start, struct error *error);

/* Closes its input: it is to end by itself. */
void child_close_input(struct child_process *child);
void child_close(struct child_process *child);

/* Signals the child and the programs that it started, unless the program waited for it elsewhere. */
void child_signal(const struct child_process *child, int number);

/* Did it end? Fills code and signal (0: none). Doesn't wait. The programs that it started are ended
 * with it, unless the program waited for it elsewhere. */
bool child_ended(struct child_process *child, int *code, int *signal);

#endif
