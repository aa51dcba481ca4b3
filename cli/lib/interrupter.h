/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The effect of a signal, or of the end of a launcher, on the session of a command: it ends the
 * calls that wait, so that a command ends at once also while the peers that it waits for never
 * come.
 *
 * Thread rules: watch on the main thread; fire on any, but in no signal handler.
 */
#ifndef CLI_LIB_INTERRUPTER_H
#define CLI_LIB_INTERRUPTER_H

#include <pthread.h>
#include <stdbool.h>

#include <troupe/session.h>

struct interrupter {
    pthread_mutex_t mutex; /* guards all below */
    bool fired;
    struct tr_session *session;
};

void interrupter_init(struct interrupter *interrupter);
void interrupter_fini(struct interrupter *interrupter);

/* Fires on that session from now on, at once if it has fired before. NULL, before the session is
 * closed: on none. */
void interrupter_watch(struct interrupter *interrupter, struct tr_session *session);

/* A hook of signals_start (arg: the interrupter). */
void interrupter_fire(void *interrupter);

#endif
