/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One question to the owner of a partition, asked until it is answered.
 *
 * A server may be full for a moment, short of memory, slow, stopped, or dead and about to be
 * started again. None of that concerns the actor that wants an answer: a part_call locates the
 * owner, reserves memory for the reply where it comes through a link, sends the request with a
 * deadline of this attempt, and repeats all of it with growing pauses and growing patience. It ends
 * with the answer, with a refusal that asking again cannot change, or at the deadline of the whole.
 *
 * A request must be pure, or deduplicated by its receiver: an attempt that timed out may have
 * had its effect.
 *
 * Ownership: embedded in the state of an actor, all zeros at first; part_call_fini before that is
 * freed in the actor's fini. Thread rules: the actor's.
 */
#ifndef ACTORS_COMMON_PART_CALL_H
#define ACTORS_COMMON_PART_CALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "actors/common/part_locator.h"
#include "actors/common/reply_budget.h"
#include "runtime/base/error.h"
#include "runtime/core/call.h"
#include "runtime/core/timer.h"

/* The reason of the last failed attempt, which the message of a deadline repeats. */
#define PART_CALL_WHY_MAX 320u

struct part_call;

struct part_call_ops {
    /* The address to ask now. 0; 1: nobody is known yet, and part_call_located follows; TR_E*.
     * NULL: the owner of call->part. */
    int (*locate)(struct part_call *call, struct address *to);
    /* The request, anew for each attempt, since sending consumes it. 0 or TR_E*. */
    int (*make)(struct part_call *call, struct message **request);
    /* An attempt failed for a reason that may pass: why->code, of the call or of the peer's
     * message. NULL: not of interest. The call may be cancelled, or its deadline moved, in it. */
    void (*failed)(struct part_call *call, const struct error *why);
    /* Runs once for each part_call_send, after that returned, unless the call is cancelled or the
     * actor ends. status 0: the reply, which is no MSG_ERROR_REPLY, now belongs to the callee.
     * Else error says why: the refusal of the peer, or TR_ETIMEDOUT with the last reason. The call
     * may be sent again, or its memory freed. */
    void (*done)(struct part_call *call, int status, struct message *reply,
                 const struct error *error);
};

enum part_call_state {
    PART_CALL_IDLE,
    PART_CALL_LOCATING,
    PART_CALL_RESERVING,
    PART_CALL_SENT,
    PART_CALL_PAUSED,
    PART_CALL_ENDING, /* part_call_send found that it cannot be; done follows */
};

struct part_call {
    /* Set by the owner before part_call_send. */
    const struct part_call_ops *ops;
    struct actor *self;
    void *arg;                   /* the owner's */
    struct part_locator *owners; /* NULL: ops->locate */
    uint32_t part;               /* of owners */
    struct account *replies;     /* NULL: replies need no reservation */
    size_t reply_bytes;          /* most that this request may bring */
    uint64_t call_ns;            /* patience of the first attempt; 0: PART_CALL_NS */
    uint64_t grace_ns; /* an attempt that is under way at the deadline may take so much more */
    bool one_life;     /* only this life of the peer has the answer: its end is final */
    /* The machine's. */
    enum part_call_state state;
    bool sending; /* part_call_send runs */
    int status;   /* of ENDING */
    uint32_t timeouts, failures;
    uint64_t deadline_ns;
    struct address to;
    struct call_id call;
    struct reply_budget room;
    struct part_locator_wait wait;
    struct timer timer;
    char why[PART_CALL_WHY_MAX];
    uint32_t why_process_1; /* as in struct error */
};

/* The patience of a first attempt: answers take milliseconds. */
#define PART_CALL_NS UINT64_C(10000000000)

/* Work without a bound of its own, such as a whole batch, is waited for until the deadline. */
#define PART_CALL_PATIENT UINT64_MAX

/* Whether the peer may answer another time: it is started again, its queue is served, memory comes
 * free. Every caller that asks again does so for these. */
bool part_call_peer_recovers(int code);

/* Whether asking again may help a part_call, which has a deadline above that of each attempt and
 * ends with its actor alone: for it a timeout, and the end of whatever was asked, pass too. Callers
 * whose single call has the deadline of the whole take those for the end. */
bool part_call_is_transient(int code);

/* Forgets how patient earlier requests had to be: what follows is a new question. */
void part_call_reset(struct part_call *call);

/* Asks until the deadline. The call is idle. The patience that earlier requests since the last
 * reset had to learn is kept, so a slow peer is not asked twice for each of many pieces. */
void part_call_send(struct part_call *call, uint64_t deadline_ns);

/* For calls with ops->locate: an address may be known now. Nothing happens unless the call waits
 * for that. */
void part_call_located(struct part_call *call, int status);

/* Safe in every state, inside of done as well: done is not called after this, and nothing stays
 * reserved. */
void part_call_cancel(struct part_call *call);

/* The same in the actor's fini, when calls, waits and timers have ended by themselves. */
void part_call_fini(struct part_call *call);

#endif
