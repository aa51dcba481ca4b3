/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The session of a task, for those that cancel it: it is reached from any thread, and from a signal
 * handler, whatever the task does meanwhile.
 *
 * The task names its session as soon as it is open, and takes the name back before it closes it.
 * Taking back waits for those that use it in that moment, which is short.
 *
 * Ownership: embedded; borrows the session. Thread rules: live_session_set() on one thread at a
 * time.
 */
#ifndef MODEL_LIVE_SESSION_H
#define MODEL_LIVE_SESSION_H

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>

#include <troupe/session.h>

struct live_session {
    _Atomic(struct tr_session *) session;
    atomic_uint users; /* calls that may be using it */
    atomic_bool fired;
};

/* NULL: it is about to be closed. One that was interrupted before it was named is so now. */
static inline void live_session_set(struct live_session *live, struct tr_session *session)
{
    atomic_store(&live->session, session);
    if (session != NULL && atomic_load(&live->fired))
        tr_session_interrupt(session);
    /* The wait comes behind the store: a thread that comes later finds no session. */
    while (session == NULL && atomic_load(&live->users) > 0)
        sched_yield();
}

/* The session or NULL; it stays open until live_session_release(), which is called in both
 * cases. */
static inline struct tr_session *live_session_acquire(struct live_session *live)
{
    atomic_fetch_add(&live->users, 1);
    return atomic_load(&live->session);
}

static inline void live_session_release(struct live_session *live)
{
    atomic_fetch_sub(&live->users, 1);
}

/* Safe in a signal handler. In this order nobody is missed: a task that names its session after
 * this has found none sees that it was fired. */
static inline void live_session_interrupt(struct live_session *live)
{
    atomic_store(&live->fired, true);
    struct tr_session *session = live_session_acquire(live);
    if (session != NULL)
        tr_session_interrupt(session);
    live_session_release(live);
}

#endif
