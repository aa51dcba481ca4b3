/*
 * Ctrl-C, SIGTERM and SIGUSR1, each turned into a call.
 *
 * A thread waits for the signals, which all other threads block, so the hooks may do what a
 * signal handler must not (take locks, post messages). The first Ctrl-C asks for an orderly
 * end; the second ends the process at once, because the first may hang.
 *
 * Thread rules: start before any other thread is made, stop after they have ended; both on the
 * main thread. The hooks run on the signal thread.
 */
#ifndef CLI_SIGNALS_H
#define CLI_SIGNALS_H

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "runtime/error.h"

struct signals {
    atomic_bool cancelled; /* set before the cancel hook is called */
    void (*on_cancel)(void *arg);
    void (*on_dump)(void *arg);
    void *arg;
    pthread_t thread;
    sigset_t waited;
    sigset_t before;
};

/* Hooks may be NULL. */
int signals_start(struct signals *signals, void (*on_cancel)(void *arg),
                  void (*on_dump)(void *arg), void *arg, struct error *error);
void signals_stop(struct signals *signals);

#endif
