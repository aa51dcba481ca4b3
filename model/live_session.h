/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The session of a task, as the one who cancels the task may reach it: from any thread, and from a
 * signal handler, whatever the task does meanwhile.
 *
 * The task names its session as soon as it is open, and takes the name back before it closes it.
 * Taking back waits for those that interrupt it in that moment; they only post a semaphore.
 *
 * Ownership: embedded; borrows the session. Thread rules: live_session_set() on one thread at a time.
 */
#ifndef MODEL_LIVE_SESSION_H
#define MODEL_LIVE_SESSION_H

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>

#include <troupe/session.h>

struct live_session {
    _Atomic(struct tr_session *) session;
    atomic_uint users; /* who may be using it */
    atomic_bool fired;
};

/* NULL: it is about to be closed. One that was interrupted before it was named is so now. */
static inline void live_session_set(struct live_session *live, struct tr_session *session)
{
    atomic_store(&live->session, session);
    if (session != NULL && atomic_load(&live->fired))
        tr_session_interrupt(session);
    while (session == NULL && atomic_load(&live->users) > 0)
        sched_yield();
}

/* Safe in a signal handler. In this order nobody is missed: who names the session after this has
 * read none sees that it was fired. */
static inline void live_session_interrupt(struct live_session *live)
{
    atomic_store(&live->fired, true);
    atomic_fetch_add(&live->users, 1);
    struct tr_session *session = atomic_load(&live->session);
    if (session != NULL)
        tr_session_interrupt(session);
    atomic_fetch_sub(&live->users, 1);
}

#endif
