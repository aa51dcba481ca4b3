/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/lib/interrupter.h"

void interrupter_init(struct interrupter *interrupter)
{
    pthread_mutex_init(&interrupter->mutex, NULL);
    interrupter->fired = false;
    interrupter->session = NULL;
}

void interrupter_fini(struct interrupter *interrupter)
{
    pthread_mutex_destroy(&interrupter->mutex);
}

void interrupter_watch(struct interrupter *interrupter, struct tr_session *session)
{
    pthread_mutex_lock(&interrupter->mutex);
    /* The session is set, and the flag is read, in one hold of the mutex: a signal that came
     * before is found here, one that comes afterwards finds the session. */
    interrupter->session = session;
    if (interrupter->fired && session != NULL)
        tr_session_interrupt(session);
    pthread_mutex_unlock(&interrupter->mutex);
}

/* Under the mutex, so that the session is not closed meanwhile. */
void interrupter_fire(void *arg)
{
    struct interrupter *interrupter = arg;
    pthread_mutex_lock(&interrupter->mutex);
    interrupter->fired = true;
    if (interrupter->session != NULL)
        tr_session_interrupt(interrupter->session);
    pthread_mutex_unlock(&interrupter->mutex);
}
