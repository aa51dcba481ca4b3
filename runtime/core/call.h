/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls: a request that completes exactly once.
 *
 * Completion is a reply (status 0), a refusal by the callee (its TR_E*; TR_EFULL when its mailbox
 * was full), TR_ETIMEDOUT, TR_EPEERDOWN or TR_ECANCELED. The last three say nothing about
 * whether the work was done. The deadline travels with the request; work whose deadline passed is
 * dropped before it starts. Replies travel in the control lane.
 *
 * Bound: CALLS_MAX open calls a loop (TR_EFULL "calls"): more are a leak or a missing window.
 */
#ifndef RUNTIME_CORE_CALL_H
#define RUNTIME_CORE_CALL_H

#include <stdint.h>

#include "runtime/core/actor.h"

#define CALLS_MAX (1u << 18) /* open calls and monitors of all actors of one loop */

struct call_id {
    uint64_t id; /* 0: none */
};

/* status 0: reply is the callee's and now yours; else reply is NULL. Runs once for each call for
 * which actor_call returned 0, on self's loop, before self's fini. */
typedef void call_done(struct actor *self, void *arg, int status, struct message *reply);

/* Sends the request and remembers the call. Consumes the request whatever the result; when it
 * returns a failure (TR_ENOMEM, TR_EFULL) done is never called. deadline_ns is a time of
 * actor_now_ns; a past one completes with TR_ETIMEDOUT. id may be NULL. */
int actor_call(struct actor *self, struct address to, struct message *request, uint64_t deadline_ns,
               call_done *done, void *arg, struct call_id *id);

/* Completes the call with TR_ECANCELED, before it returns. TR_ENOENT: completed already. */
int actor_cancel(struct actor *self, struct call_id id);

/* Answers a request; consumes both. A plain message (nobody waits) just releases them. */
int actor_reply(struct actor *self, struct message *request, struct message *reply);

/* Answers with a TR_E* instead, which needs no memory. Consumes the request. */
void actor_refuse(struct actor *self, struct message *request, int status);

#endif
