/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ctrl-C, SIGTERM, SIGHUP and SIGUSR1, each turned into a call.
 *
 * A handler writes the signal's number to a pipe, and a thread reads it, so the hooks may do what
 * a signal handler must not (take locks, post messages). Blocking the signals and waiting for
 * them would not do: the BLAS makes threads of its own before main(), which block nothing. The
 * first Ctrl-C asks for an orderly end; the second ends the process at once, because the first may
 * hang; SIGTERM, and SIGHUP when the terminal is closed, ask like the first, however often they come.
 * A signal that was ignored when the process began stays ignored: nohup(1) goes before SIGHUP. A
 * process with a log is not its terminal's: there SIGHUP opens the log again, also under nohup(1).
 *
 * Thread rules: start and stop on the main thread, one struct at a time in a process. The hooks run
 * on the signal thread.
 */
#ifndef CLI_LIB_SIGNALS_H
#define CLI_LIB_SIGNALS_H

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>

#include <troupe/error.h>

#include <troupe/log_file.h>

#define SIGNALS_CAUGHT 4

struct signals {
    atomic_bool cancelled; /* set before the cancel hook is called */
    void (*on_cancel)(void *arg);
    void (*on_dump)(void *arg);
    void *arg;
    struct tr_log_file *log;
    pthread_t thread;
    sem_t running; /* posted when the thread runs */
    int pipe[2];
    struct sigaction before[SIGNALS_CAUGHT];
};

/* Hooks may be NULL. log: that SIGHUP opens again; NULL: SIGHUP cancels. */
int signals_start(struct signals *signals, void (*on_cancel)(void *arg), void (*on_dump)(void *arg),
                  void *arg, struct tr_log_file *log, struct tr_error *error);
void signals_stop(struct signals *signals);

#endif
