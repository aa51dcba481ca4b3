/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reducer as an actor: its one operation, the repeats of that, and what ends it. The states of
 * the operation stand in reducer_state.h.
 *
 * Invariants:
 *  1. An operation ends once. All of it is stopped before it is answered, and what is stopped
 *     reports nothing more. While the crew works for it (`working`) it is marked (`ended`)
 *     instead, for the crew has its request's and its reply's memory; the crew's end then ends it.
 *  2. An answer is noted before the request is released, which says what is noted.
 *  3. A message that is answered is gone: whatever of the operation points to it is changed before.
 *  4. The rank leaves an era in the turn in which all of that era ends, and learns the
 *     coordinator's era before it tells or asks it anything.
 */
#include "actors/job/reducer.h"
#include "actors/common/job_era.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "actors/common/error_reply.h"
#include "actors/common/part_call.h"
#include "actors/job/checkpoint.h"
#include "actors/job/reducer_state.h"
#include "runtime/core/directory.h"

void reducer_name(uint32_t rank, char *name, size_t size)
{
    snprintf(name, size, "reducer/%" PRIu32, rank);
}

/* Stops what the operation has under way; its request stays. */
static void reducer_halt(struct actor *self)
{
    struct reducer *r = actor_state(self);
    struct reducer_operation *op = &r->operation;
    /* Calls and timers end before the memory that their answers would be put into. */
    timer_stop(&op->expire);
    timer_stop(&op->again);
    if (op->kind == MSG_GROUP_REDUCE)
        reducer_reduce_stop(self);
    reducer_copy_stop(self);
    if (op->calling) {
        op->calling = false;
        actor_cancel(self, op->call);
    }
    message_release(self, op->reply);
    op->reply = NULL;
}

/* Drops the operation, which has nothing under way any more, and returns the call that waits for
 * its answer, if one does. */
static struct message *release_operation(struct actor *self)
{
    struct reducer *r = actor_state(self);
    struct reducer_operation *op = &r->operation;
    struct message *waiting = op->waiting;
    /* The request may be the call that waits, which is the caller's to answer. */
    if (op->request != waiting)
        message_release(self, op->request);
    message_release(self, op->outcome);
    op->request = op->waiting = op->outcome = NULL;
    op->failure = (struct error){ 0 };
    return waiting;
}

/* Stops the operation. False: the crew works for it, and it ends with `status` after that. */
static bool halt_or_mark(struct actor *self, int status)
{
    struct reducer *r = actor_state(self);
    struct reducer_operation *op = &r->operation;
    /* The crew is asked for before anything is stopped (1): stopping frees the reply, whose body
     * the crew may be filling. The first reason to end counts. */
    if (op->working) {
        op->ended = op->ended != 0 ? op->ended : status;
        crew_cancel(&op->part.job);
        return false;
    }
    reducer_halt(self);
    return true;
}

/* Ends the operation and forgets its outcome, whether or not a call waits for it. */
static void reducer_withdraw(struct actor *self, int status)
{
    if (!halt_or_mark(self, status))
        return;
    struct message *waiting = release_operation(self);
    if (waiting != NULL)
        actor_refuse(self, waiting, status);
}

/* False: a call that gets that status is made again by itself (reducer_call_failed), and begins
 * anew. Kept for the repeat, the status would be that of every further repeat. */
static bool is_outcome(int status)
{
    return !part_call_peer_recovers(status);
}

/* The operation's answer goes to the call that waits, or to its repeat. failure: NULL,
 * it succeeded. */
static void note_answered(struct reducer *r, const struct error *failure)
{
    const struct reducer_operation *op = &r->operation;
    if (op->kind != MSG_GROUP_SAVE || (failure != NULL && !is_outcome(failure->code)))
        return;
    r->answered.number =
        ((const struct msg_group_request *)(const void *)op->request->head)->number;
    r->answered.step = op->part.step;
    r->answered.failure = failure != NULL ? *failure : (struct error){ 0 };
}

void reducer_reply(struct actor *self, struct message *reply)
{
    struct reducer *r = actor_state(self);
    struct reducer_operation *op = &r->operation;
    assert(!op->working);
    /* The operation is halted first: it is over, and nothing of it may end it again. */
    reducer_halt(self);
    /* A call that waits comes before the rest: it gets even a restore to an era that has ended
     * since, and hears of that at its next operation. The answer is noted before the request is
     * released (2). */
    if (op->waiting != NULL) {
        note_answered(r, NULL);
        actor_reply(self, release_operation(self), reply);
    } else if (op->kind == MSG_GROUP_RESTORE && r->era == 0) {
        message_release(self, reply); /* the era is over already: a repeat is restored anew */
        release_operation(self);
    } else {
        op->outcome = reply;
    }
}

void reducer_end(struct actor *self, int status)
{
    struct reducer *r = actor_state(self);
    bool told = r->operation.waiting != NULL || status == TR_EROLLBACK || status == TR_ECANCELED ||
                !is_outcome(status);
    /* Where nobody waits a failure is kept for the repeat, but for those that a repeat is not to
     * have: it begins anew. */
    if (told)
        reducer_withdraw(self, status);
    else if (halt_or_mark(self, status))
        error_set(&r->operation.failure, status, "%s", tr_strerror(status));
}

void reducer_fail(struct actor *self, const struct error *error)
{
    struct reducer *r = actor_state(self);
    const struct error failure = *error; /* it may be the operation's own */
    if (!halt_or_mark(self, failure.code))
        return;
    /* The answer is noted before the request is released (2). */
    if (r->operation.waiting != NULL) {
        note_answered(r, &failure);
        error_reply_send(self, release_operation(self), &failure);
    } else if (is_outcome(failure.code)) {
        r->operation.failure = failure;
    } else {
        release_operation(self);
    }
}

static bool is_completing(const struct msg_group_request *head)
{
    return head->operation == MSG_GROUP_FINISH && head->value == 0 && head->count != 0;
}

bool reducer_is_completing(const struct reducer *r)
{
    return r->operation.request != NULL && is_completing(message_head(r->operation.request));
}

void reducer_roll_back(struct actor *self, uint32_t era)
{
    struct reducer *r = actor_state(self);
    /* The era is noted even where this rank is in none: it joins, and is restored, knowing it. */
    r->seen = r->member.seen = era > r->seen ? era : r->seen;
    /* Before the trainer hears of it: what it asks next is of the new era. */
    job_era_note(r->options->heard, era);
    if (r->era == 0 || r->era >= r->seen || r->finished)
        return;
    /* The rank leaves the era in the turn in which all of that is refused (4), be it before or
     * after: what comes later of it is refused too. A restore that is under way goes on, since it
     * leads to the next era; its outcome, though, is of this one. */
    r->era = r->member.restored = 0;
    reducer_drop_shares(self, TR_EROLLBACK);
    sequenced_end_eras(&r->adders, self, r->seen, TR_EROLLBACK);
    if (r->operation.request != NULL && !reducer_is_completing(r) &&
        (r->operation.kind != MSG_GROUP_RESTORE || r->operation.outcome != NULL))
        reducer_withdraw(self, TR_EROLLBACK);
}

static void step_again(struct actor *self, void *arg)
{
    struct reducer_operation *op = arg;
    /* A reduction is never away. While another operation is, the coordinator is asked for
     * nothing. */
    if (op->kind == MSG_GROUP_REDUCE)
        reducer_reduce_pump(self);
    else if (op->away)
        reducer_copy_again(self);
    else
        reducer_ask(self);
}

void reducer_again(struct actor *self)
{
    struct reducer *r = actor_state(self);
    /* A timer that runs is left: an operation that asks for it again and again would never have its
     * step. */
    if (!timer_is_started(&r->operation.again))
        timer_start(self, &r->operation.again, actor_now_ns(self) + REDUCER_AGAIN_NS, step_again,
                    &r->operation);
}

/* Ends the call that waits, and leaves the operation under way: false where there is no memory for
 * that, and the operation was withdrawn. The operands stay in a message of their own, since the
 * call's goes back with the answer. */
static bool reducer_dismiss(struct actor *self, int status)
{
    struct reducer *r = actor_state(self);
    struct reducer_operation *op = &r->operation;
    struct message *waiting = op->waiting;
    if (waiting == NULL)
        return true;
    struct message *operands = waiting == op->request ? message_copy(self, waiting) : op->request;
    if (operands == NULL) {
        reducer_withdraw(self, status);
        return false;
    }
    /* The operation has its own operands before the refusal goes, which gives the call's message
     * away (3). The copy shares the body, since the crew may have that. */
    op->request = operands;
    op->waiting = NULL;
    actor_refuse(self, waiting, status);
    return true;
}

static void reducer_expire(struct actor *self, void *arg)
{
    const struct reducer_operation *op = arg;
    if (op->kind == MSG_GROUP_BARRIER)
        reducer_end(self, TR_ETIMEDOUT);
    else
        (void)reducer_dismiss(self, TR_ETIMEDOUT);
}

static void set_deadline(struct actor *self, struct reducer_operation *op, uint64_t timeout_ns)
{
    uint64_t now_ns = actor_now_ns(self);
    op->deadline_ns = timeout_ns < UINT64_MAX - now_ns ? now_ns + timeout_ns : UINT64_MAX;
    /* A barrier's deadline is the coordinator's to see. */
    uint64_t late = op->kind == MSG_GROUP_BARRIER ? 2 * REDUCER_OUTCOME_NS : 0;
    uint64_t at_ns = op->deadline_ns < UINT64_MAX - late ? op->deadline_ns + late : UINT64_MAX;
    timer_start(self, &op->expire, at_ns, reducer_expire, op);
}

static bool is_save(const struct msg_group_request *head)
{
    return head->operation == MSG_GROUP_SAVE || head->operation == MSG_GROUP_SKIP;
}

/* The same call again, for an operation that is under way or whose outcome nobody has had. A save
 * that timed out may be skipped at its repeat, or the other way round, or be skipped for another
 * reason: the coordinator has this rank's report of it, and as a save of its own the repeat would
 * wait for ranks that do not come. */
static bool is_repeat(const struct reducer_operation *op, const struct msg_group_request *head)
{
    if (op->request == NULL || op->ended != 0 || op->kind == MSG_GROUP_BARRIER)
        return false;
    const struct msg_group_request *asked = (const void *)op->request->head;
    bool skips = head->operation == MSG_GROUP_SKIP || asked->operation == MSG_GROUP_SKIP;
    if (is_save(head) && is_save(asked) && skips)
        return head->value == asked->value;
    return head->operation == asked->operation && head->value == asked->value &&
           head->count == asked->count;
}

/* The repeat gets the operation's answer. Its own operands are those of the first, but for the
 * number: where a call between the two failed before it came here, the trainer counts from that on,
 * and a repeat of this one has this one's number. */
static void reducer_join(struct actor *self, struct message *request)
{
    struct reducer *r = actor_state(self);
    struct reducer_operation *op = &r->operation;
    const struct msg_group_request *head = message_head(request);
    /* The number comes first, since the answer is noted under it. */
    ((struct msg_group_request *)message_head(op->request))->number = head->number;
    if (op->outcome != NULL) {
        struct message *outcome = op->outcome;
        /* The outcome is taken out before the operation is released, which would release it too. */
        op->outcome = NULL;
        note_answered(r, NULL);
        release_operation(self);
        actor_reply(self, request, outcome);
    } else if (op->failure.code != 0) {
        /* The failure is copied, since the operation's is cleared when that is released. */
        const struct error failure = op->failure;
        note_answered(r, &failure);
        release_operation(self);
        error_reply_send(self, request, &failure);
    } else {
        op->waiting = request;
        buffer_release(self, message_body_detach(request));
        set_deadline(self, op, head->timeout_ns);
    }
}

static bool is_answered(const struct reducer *r, const struct msg_group_request *head)
{
    return is_save(head) && head->number != 0 && head->number == r->answered.number &&
           head->value == r->answered.step;
}

static int answer_again(struct actor *self, struct message *request, struct error *error)
{
    const struct reducer *r = actor_state(self);
    if (r->answered.failure.code != 0) {
        error_reply_send(self, request, &r->answered.failure);
        return 0;
    }
    struct message *reply = message_create(self, MSG_GROUP_REPLY);
    if (reply == NULL)
        return error_set(error, TR_ENOMEM, "no memory for a reply");
    *(struct msg_group_reply *)message_head(
        reply) = (struct msg_group_reply){ .step = r->answered.step, .era = r->era };
    actor_reply(self, request, reply);
    return 0;
}

static int reducer_begin(struct actor *self, struct error *error)
{
    struct reducer *r = actor_state(self);
    switch (r->operation.kind) {
    case MSG_GROUP_REDUCE:
        return reducer_reduce_begin(self, error);
    case MSG_GROUP_SAVE:
        reducer_save_begin(self);
        return 0;
    case MSG_GROUP_SKIP:
        reducer_skip_begin(self);
        return 0;
    case MSG_GROUP_BARRIER:
        reducer_barrier_begin(self);
        return 0;
    default:
        reducer_ask(self);
        return 0;
    }
}

static int reducer_check(const struct reducer *r, const struct msg_group_request *head,
                         struct error *error)
{
    /* The kind comes first, since the rest goes by it; the others may stand in any order. */
    if (head->operation > MSG_GROUP_SKIP)
        return error_set(error, TR_EUNSUPPORTED, "a group has no operation %" PRIu32,
                         head->operation);
    /* A trainer that failed, or has written the result, may say so at any time. */
    bool anytime = head->operation == MSG_GROUP_RESTORE || is_completing(head) ||
                   (head->operation == MSG_GROUP_FINISH && (head->value != 0 || r->finished));
    if (!anytime && r->era == 0)
        return error_set(error, TR_EROLLBACK,
                         "trainer %" PRIu32 " is not in an era of its group; "
                         "call tr_group_restore()",
                         r->options->rank);
    if (r->options->checkpoints != NULL && strlen(r->options->checkpoints) > MSG_PATH_BYTES_MAX)
        return error_set(error, TR_ETOOBIG,
                         "the path of the checkpoints' folder has more than %u "
                         "bytes",
                         MSG_PATH_BYTES_MAX);
    if (is_save(head) && r->options->checkpoints == NULL)
        return error_set(error, TR_EINVAL, "no folder for checkpoints was set");
    return 0;
}

static int reducer_operate(struct actor *self, struct message *request, struct error *error)
{
    struct reducer *r = actor_state(self);
    const struct msg_group_request *head = message_head(request);
    struct reducer_operation *op = &r->operation;
    /* The thread that waits was interrupted. Its operation goes on, for the repeat to join: so this
     * comes before all that withdraws it. */
    if (head->operation == MSG_GROUP_DISMISS) {
        (void)reducer_dismiss(self, TR_ECANCELED);
        message_release(self, request);
        return 0;
    }
    /* Three kinds of repeat come before new work: of a save that was answered, whose operation is
     * gone; of the operation that is under way; and else what is under way is of no interest
     * any more. */
    if (is_answered(r, head))
        return answer_again(self, request, error);
    /* The call before this one is not waited for any more: the trainer has one at a time. It ends
     * before the repeat takes its place, or nobody would answer it. */
    if (is_repeat(op, head) && reducer_dismiss(self, TR_ECANCELED)) {
        reducer_join(self, request);
        return 0;
    }
    if (op->request != NULL)
        reducer_withdraw(self, TR_ECANCELED);
    if (head->operation == MSG_GROUP_CANCEL) {
        message_release(self, request);
        return 0;
    }
    /* An operation is still there only where the crew works for it: it is marked by now, and ends
     * with the crew's work. If this came before the withdrawal, an operation that nobody wants
     * would refuse every new one, and nothing would end it; if it came before CANCEL, which needs
     * no place, that would be refused just where there is something to cancel. */
    if (op->request != NULL)
        return error_set(error, TR_EFULL, "trainer %" PRIu32 " still writes a checkpoint",
                         r->options->rank);
    /* The check comes after the withdrawal: whatever becomes of this operation, the trainer does
     * not wait for the last one any more. */
    int rv = reducer_check(r, head, error);
    if (rv != 0)
        return rv;
    *op = (struct reducer_operation){ .request = request,
                                      .waiting = request,
                                      .kind = head->operation };
    /* The deadline is set before the beginning: a barrier's question takes it along, and an
     * operation that is answered at once stops its timer. */
    set_deadline(self, op, head->timeout_ns);
    /* The roll-back comes before the restore begins, which is the operation under way by then: a
     * roll-back ends all others. */
    if (op->kind == MSG_GROUP_RESTORE && r->era != 0)
        reducer_roll_back(self, r->era + 1); /* it leaves the era that it is in */
    /* A beginning may end the operation: nothing of it is looked at below, but where it failed. */
    rv = reducer_begin(self, error);
    if (rv != 0) {
        reducer_halt(self);
        op->waiting = NULL; /* the caller answers it */
        op->request = NULL;
    }
    return rv;
}

static int reducer_hear(struct actor *self, struct message *message)
{
    reducer_roll_back(self, ((const struct msg_era *)message_head(message))->era);
    message_release(self, message);
    return 0;
}

static int reducer_receive(struct actor *self, struct message *message)
{
    struct error error = { 0 };
    int rv;
    switch (message->frame.kind) {
    case MSG_ERA:
        return reducer_hear(self, message);
    case MSG_REDUCE:
        rv = reducer_add(self, message, &error);
        break;
    case MSG_GROUP_REQUEST:
        rv = reducer_operate(self, message, &error);
        break;
    default:
        actor_refuse(self, message, TR_EUNSUPPORTED);
        return 0;
    }
    if (rv != 0 && error.code != 0)
        error_reply_send(self, message, &error);
    else if (rv != 0)
        actor_refuse(self, message, rv);
    return 0;
}

void reducer_tell_end(struct actor *self)
{
    const struct reducer *r = actor_state(self);
    struct message *message = r->finished ? message_create(self, MSG_JOB_DONE) : NULL;
    if (message == NULL)
        return;
    *(struct msg_job_done *)message_head(
        message) = (struct msg_job_done){ .code = r->result, .rank = r->options->rank };
    (void)actor_send(self, r->member.coordinator, message);
}

/* A coordinator that was started again is notified of what it cannot know. Barriers are not among
 * it: what this rank knows of them came with its joining. */
static void tell_outcome(struct actor *self, const struct reducer *r)
{
    struct message *message = NULL;
    if (r->refused.sequence != 0 && r->refused.era == r->era && r->era != 0)
        message = message_create(self, MSG_CHECKPOINT_DONE);
    if (message == NULL)
        return;
    *(struct msg_checkpoint_done *)message_head(message) = r->refused;
    (void)actor_send(self, r->member.coordinator, message);
}

static void reducer_joined(struct actor *self, struct process_member *member)
{
    struct reducer *r = actor_state(self);
    /* The coordinator's era comes first: of an older one there is nothing left to say or to ask.
     * The things that it cannot know go before the question whose answer depends on them. */
    reducer_roll_back(self, member->era);
    tell_outcome(self, r);
    reducer_tell_end(self);
    if (r->operation.request != NULL && r->operation.kind != MSG_GROUP_REDUCE)
        reducer_ask(self);
}

static int reducer_start(struct actor *self, const void *arg)
{
    struct reducer *r = calloc(1, sizeof *r);
    if (r == NULL)
        return TR_ENOMEM;
    /* The state is the actor's before anything can fail: fini takes down what is there. */
    actor_set_state(self, r);
    account_init(&r->account, "sequenced", REDUCER_CLIENTS_BYTES);
    sequenced_init(&r->adders, &r->account, REDUCER_CLIENTS_MAX);
    r->options = arg;
    r->member = (struct process_member){ .role = MSG_ROLE_REDUCER,
                                         .rank = r->options->rank,
                                         .plan = r->options->plan,
                                         .root = r->options->root,
                                         .joined = reducer_joined };
    const char *given = r->options->checkpoints;
    r->folder = given == NULL ? NULL : checkpoint_folder(given, r->options->host);
    if (given != NULL && r->folder == NULL)
        return TR_ENOMEM;
    char name[DIRECTORY_NAME_MAX];
    reducer_name(r->options->rank, name, sizeof name);
    int rv = directory_register(self, name, NULL, NULL);
    return rv != 0 ? rv : process_member_join(self, &r->member);
}

static void reducer_stop(struct actor *self)
{
    struct reducer *reducer = actor_state(self);
    process_member_stop(self, &reducer->member);
}

static void reducer_fini(struct actor *self)
{
    struct reducer *r = actor_state(self);
    if (r == NULL)
        return;
    /* The calls end first, since their completions look at the operation; the account ends last,
     * since it asserts that the table has given all of it back. */
    checkpoint_store_calls_fini(&r->checkpoint_store_calls);
    checkpoint_store_calls_fini(&r->drops);
    message_release(self, release_operation(self));
    message_release(self, r->operation.reply);
    reducer_drop_shares(self, TR_EPEERDOWN);
    sequenced_fini(&r->adders, self);
    account_fini(&r->account);
    free(r->peers);
    free(r->folder);
    free(r);
}

int reducer_call_failed(uint32_t operation, bool completes, int status)
{
    /* This stands before the peers that recover, of which it is one: for these operations its next
     * life has no answer. */
    if (status == TR_EPEERDOWN && operation != MSG_GROUP_RESTORE && !completes)
        return TR_EROLLBACK;
    return part_call_peer_recovers(status) ? 0 : status;
}

const struct actor_ops reducer_ops = {
    .name = "reducer",
    .start = reducer_start,
    .receive = reducer_receive,
    .stop = reducer_stop,
    .fini = reducer_fini,
};
