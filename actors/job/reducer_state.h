/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reducer's files share this. Internal to the reducer.
 */
#ifndef ACTORS_JOB_REDUCER_STATE_H
#define ACTORS_JOB_REDUCER_STATE_H

#include <stdbool.h>

#include "actors/common/part_call.h"
#include "actors/common/process_member.h"
#include "actors/job/checkpoint_store.h"
#include "actors/job/reducer.h"
#include "runtime/base/error.h"
#include "runtime/core/call.h"
#include "runtime/core/crew.h"
#include "runtime/core/sequenced.h"
#include "runtime/core/timer.h"
#include "schemas/messages.h"

/* A message that did not arrive is sent again after this. */
#define REDUCER_AGAIN_NS UINT64_C(2000000)
/* How long the outcome of a barrier whose deadline passed is asked for. */
#define REDUCER_OUTCOME_NS UINT64_C(1000000000)

/* How long a host that keeps the copy of a part is asked to drop it. */
#define REDUCER_DROP_NS UINT64_C(60000000000)

struct share;

enum reducer_slot_state { SLOT_FREE, SLOT_SENT, SLOT_DONE };

/* A piece in the window, at piece % REDUCER_WINDOW. */
struct slot {
    enum reducer_slot_state state;
    uint32_t piece;
    struct part_call call; /* to the owner of the piece */
};

/* Values of this rank that are being reduced. */
struct reduction {
    uint64_t sequence;
    uint64_t total;
    uint32_t piece_values;
    uint32_t num_pieces;
    uint32_t first; /* piece that has no sums yet */
    float *values;  /* the request's body: sums take the place of addends */
    struct slot slots[REDUCER_WINDOW];
};

struct reducer;

/* Reads or writes this rank's part of a checkpoint on the crew. */
struct part_work {
    struct job job;
    struct files *files;
    const char *folder;
    uint64_t step;
    uint32_t era, rank; /* era: in which it was saved */
    uint64_t bytes;
    uint32_t crc32c;
    void *data;
    struct error error;
};

/*
 * The trainer's request. It outlives the time-out of the call that asked for it: what it has
 * sent and written stays under way, and a repeat of the call joins it. One that began anew each
 * time would be late each time, behind what the attempts before it left on the links.
 *
 *     begun, waiting != NULL      the answer goes to `waiting`
 *     begun, waiting == NULL      the call timed out; the answer is kept in `outcome` or `failure`
 *     `outcome` or `failure` set  the operation is over, nothing of it is under way
 *
 * Every other operation, the end of the era and MSG_GROUP_CANCEL withdraw it. A barrier is never
 * joined: its deadline is an outcome, and the coordinator's to see.
 */
struct reducer_operation {
    struct message *request; /* its head and body are the operands; NULL: there is no operation */
    struct message *waiting; /* `request`, a repeat of it, or NULL */
    struct message *outcome; /* an answer that nobody has had */
    struct error failure;    /* the same of an operation that failed */
    uint32_t kind;           /* MSG_GROUP_* */
    uint64_t deadline_ns;
    struct timer expire;
    struct timer again;
    struct call_id call; /* to the coordinator */
    uint64_t until_ns;   /* the deadline of that */
    bool calling;
    bool asks_outcome; /* of a barrier whose deadline passed */
    bool working;      /* the crew has `part` and the request's body */
    int ended;         /* while working: the status to end with; 0: none */
    struct part_work part;
    bool away;             /* the part is copied to, or pulled from, another host */
    bool copies;           /* that host was sent pieces of the part that is being saved */
    uint64_t copied;       /* bytes of it */
    uint32_t crc32c;       /* of those that were pulled */
    struct message *reply; /* of a restore: made, waits for its body */
    struct reduction reduction;
};

/* The answer to the trainer's last save of the era. The call may have timed out while the answer
 * was on its way: its repeat, which has the same number, gets it again. A new save in its place
 * would wait for ranks that have gone on. */
struct answered_save {
    uint64_t number; /* 0: there was none */
    uint64_t step;
    struct error failure; /* code 0: the checkpoint was made */
};

struct reducer {
    const struct reducer_options *options;
    struct process_member member;
    uint32_t era;                       /* restored to; 0: none, or it is over */
    uint32_t seen;                      /* the newest heard of */
    struct address *peers;              /* [world], of the era */
    uint64_t reductions;                /* of the era that are done here */
    uint64_t barriers;                  /* that are over here */
    uint64_t passed;                    /* of those the ones that all came to */
    uint64_t saves;                     /* of the era that were answered here */
    struct msg_checkpoint_done refused; /* the last that failed; sequence 0: none did */
    struct answered_save answered;
    bool finished; /* the job is over, as far as this rank is concerned */
    int32_t result;
    struct reducer_operation operation;
    char *folder; /* of checkpoints here; NULL: none are kept */
    struct checkpoint_store_calls
        checkpoint_store_calls;          /* one at a time: what is asked of another host */
    struct checkpoint_store_calls drops; /* no operation waits for it */
    struct share *shares[2];             /* pieces that this rank owns, by sequence % 2 */
    struct account account;              /* "sequenced" */
    struct sequenced adders; /* requests that wait for sums: a client is a rank at a piece */
};

/* Ends the operation: with a reply of the reducer's, a status alone, or a message. */
void reducer_reply(struct actor *self, struct message *reply);
void reducer_end(struct actor *self, int status);
void reducer_fail(struct actor *self, const struct error *error);

/* Tells the coordinator that this rank knows of the end of the job, if it does. */
void reducer_tell_end(struct actor *self);

/* Its trainer has written the job's result and says so: no roll-back ends that. */
bool reducer_is_completing(const struct reducer *r);

/* Every era before this one is over. */
void reducer_roll_back(struct actor *self, uint32_t era);

/* Calls the operation's step again a little later. */
void reducer_again(struct actor *self);

/* reducer_reduce.c */
int reducer_reduce_begin(struct actor *self, struct error *error);
void reducer_reduce_pump(struct actor *self);
void reducer_reduce_stop(struct actor *self);

/* reducer_share.c: the owner's side. Consumes the request unless it returns a failure. */
int reducer_add(struct actor *self, struct message *request, struct error *error);
/* status: for those who wait for sums. */
void reducer_drop_shares(struct actor *self, int status);

/* reducer_part.c */
void reducer_save_begin(struct actor *self);
/* Takes part in a save without a part of its own. */
void reducer_skip_begin(struct actor *self);
/* This rank has no part: says so to the coordinator, whose answer the others wait for too. */
void reducer_save_refused(struct actor *self, const struct error *error);
/* There is no such checkpoint: gives the part's room on the disk back, then ends the operation. */
void reducer_drop_begin(struct actor *self, const struct error *error);
void reducer_load_begin(struct actor *self, const struct msg_restored *head);
/* The part was pulled: puts it back on this host, so that two have it, and ends the operation. */
void reducer_keep_begin(struct actor *self);

/* reducer_copy.c: the same on another host. Each ends with what follows, or ends the operation. */
bool reducer_has_second(const struct reducer *r);
void reducer_copy_begin(struct actor *self);
void reducer_pull_begin(struct actor *self);
void reducer_copy_again(struct actor *self);
void reducer_copy_stop(struct actor *self);
/* The save of that number failed: has the other host give back the room of what it was sent. */
void reducer_copy_drop(struct actor *self, uint64_t sequence);

/* The part is in the reply. */
void reducer_loaded(struct actor *self);

/* reducer_ask.c: calls to the coordinator. */
void reducer_ask(struct actor *self);
void reducer_barrier_begin(struct actor *self);

#endif
