/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A reducer's questions to the coordinator: to restore it, a barrier, to take its part.
 *
 * Invariants: one call at most is under way (`calling`), and none while the crew works for the
 * operation or its part travels. Sequences of barriers and saves grow only when an outcome is known
 * here, so a question is repeated, to this coordinator or the next, by the number that it had. In a
 * failure the end of the era counts before all that concerns the operation.
 */
#include <stdlib.h>
#include <string.h>

#include "actors/common/error_reply.h"
#include "actors/common/job_era.h"
#include "actors/common/job_progress.h"
#include "actors/job/reducer_state.h"

static struct message *wish_make(struct actor *self, const struct reducer *r)
{
    const struct reducer_operation *op = &r->operation;
    const struct msg_group_request *asked = message_head(op->request);
    uint32_t rank = r->options->rank, world = r->options->world;
    static const uint32_t kinds[] = { [MSG_GROUP_RESTORE] = MSG_RESTORE,
                                      [MSG_GROUP_BARRIER] = MSG_BARRIER,
                                      [MSG_GROUP_SAVE] = MSG_CHECKPOINT_PART,
                                      [MSG_GROUP_FINISH] = MSG_JOB_DONE };
    struct message *request = message_create(self, kinds[op->kind]);
    const char *path = r->options->checkpoints;
    bool with_path = path != NULL && (op->kind == MSG_GROUP_RESTORE || op->kind == MSG_GROUP_SAVE);
    uint32_t path_bytes = with_path ? (uint32_t)strlen(path) : 0;
    uint32_t keep = r->options->checkpoint_keep;
    void *body = request == NULL || !with_path ? NULL
                                               : message_body_alloc(self, request, path_bytes);
    if (request == NULL || (with_path && body == NULL)) {
        message_release(self, request);
        return NULL;
    }
    if (with_path)
        memcpy(body, path, path_bytes);
    void *head = message_head(request);
    if (op->kind == MSG_GROUP_RESTORE)
        *(struct msg_restore *)head = (struct msg_restore){ rank, world, path_bytes, keep };
    else if (op->kind == MSG_GROUP_BARRIER)
        *(struct msg_barrier *)head = (struct msg_barrier){ .name = asked->value,
                                                            .sequence = r->barriers + 1,
                                                            .rank = rank,
                                                            .count = world,
                                                            .era = r->era };
    else if (op->kind == MSG_GROUP_FINISH)
        *(struct msg_job_done *)head = (struct msg_job_done){ (int32_t)asked->value, rank,
                                                              reducer_is_completing(r) };
    else
        *(struct msg_checkpoint_part *)head = (struct msg_checkpoint_part){
            .step = asked->value,
            .bytes = op->part.bytes,
            .crc32c = op->part.crc32c,
            .era = r->era,
            .rank = rank,
            .world = world,
            .path_bytes = path_bytes,
            .keep = keep,
            .sequence = r->saves + 1,
            .status = op->part.error.code
        };
    return request;
}

static struct message *make_done(struct actor *self, uint64_t step)
{
    const struct reducer *r = actor_state(self);
    struct message *reply = message_create(self, MSG_GROUP_REPLY);
    if (reply != NULL)
        *(struct msg_group_reply *)message_head(reply) = (struct msg_group_reply){ .step = step,
                                                                                   .era = r->era };
    return reply;
}

static void reply_done(struct actor *self, uint64_t step)
{
    struct message *reply = make_done(self, step);
    if (reply != NULL)
        reducer_reply(self, reply);
    else
        reducer_end(self, TR_ENOMEM);
}

/* This rank is in the era from here on. */
static void wish_enter(struct actor *self, const struct message *reply)
{
    struct reducer *r = actor_state(self);
    const struct msg_restored *head = (const void *)reply->head;
    uint32_t world = r->options->world;
    if (r->peers == NULL)
        r->peers = malloc(world * sizeof *r->peers);
    if (head->world != world || r->peers == NULL || head->era == 0) {
        reducer_end(self, r->peers == NULL ? TR_ENOMEM : TR_EMISMATCH);
        return;
    }
    /* All of the old era's counts are gone before anything is done in the new one. */
    memcpy(r->peers, message_body(reply), world * sizeof *r->peers);
    r->era = r->member.restored = head->era;
    r->seen = r->member.seen = head->era > r->seen ? head->era : r->seen;
    r->reductions = r->barriers = r->passed = 0;
    r->member.passed_sequence = r->member.over_sequence = 0;
    r->saves = 0;
    r->refused = (struct msg_checkpoint_done){ 0 };
    r->answered = (struct answered_save){ 0 };
    job_era_note(r->options->heard, head->ended);
    job_progress_note_era(r->options->progress, head->era, head->found != 0, head->step);
    actor_failpoint(self, FAILPOINT_ERA_RESTORED);
    /* An era that is over is left before its part is read: reading it would be in vain. */
    if (r->seen > r->era) { /* over already */
        r->era = r->member.restored = 0;
        reducer_ask(self);
    } else if (head->found != 0) {
        reducer_load_begin(self, head);
    } else {
        reply_done(self, 0);
    }
}

/* The barrier is over here, whatever its outcome; with those up to `sequence` it timed out. */
static void wish_pass(struct actor *self, uint64_t sequence, int status)
{
    struct reducer *r = actor_state(self);
    const struct msg_group_request *asked = message_head(r->operation.request);
    /* The barrier is noted before the trainer is answered, which releases the request that names
     * it. A coordinator that is started again hears of this one when this rank joins. */
    r->barriers = sequence > r->barriers ? sequence : r->barriers + 1;
    r->member.over_name = asked->value;
    r->member.over_sequence = r->barriers;
    if (status != 0) {
        reducer_end(self, status);
        return;
    }
    r->passed++;
    r->member.passed_name = asked->value;
    r->member.passed_sequence = r->barriers;
    reply_done(self, 0);
}

void reducer_barrier_begin(struct actor *self)
{
    const struct reducer *r = actor_state(self);
    const struct msg_group_request *asked = message_head(r->operation.request);
    /* A barrier that was passed, which the trainer did not hear of, is not asked for: the
     * coordinator would take it for the next one, and wait for ranks that do not come. */
    if (asked->count != 0 && asked->count <= r->passed)
        reply_done(self, 0);
    else
        reducer_ask(self);
}

static void wish_finish(struct actor *self)
{
    struct reducer *r = actor_state(self);
    const struct msg_group_request *asked = message_head(r->operation.request);
    /* The coordinator is notified before the trainer is answered: its process may end with that.
     * Nothing is sent unless `finished` is set. */
    r->finished = true;
    r->result = (int32_t)asked->value;
    reducer_tell_end(self);
    reply_done(self, 0);
}

static void wish_saved(struct actor *self)
{
    struct reducer *r = actor_state(self);
    uint64_t step = r->operation.part.step;
    /* The reply comes before the save is counted. Without memory for it the coordinator is asked
     * again by the same number, which has that answer; by the next number this rank would be one
     * save ahead of the others. */
    struct message *reply = make_done(self, step);
    if (reply == NULL) {
        reducer_again(self);
        return;
    }
    r->saves++;
    job_progress_note_checkpoint(r->options->progress, step, actor_now_ns(self));
    reducer_reply(self, reply);
}

/* Nobody has this checkpoint; the group goes on. */
static void save_failed(struct actor *self, int status, const struct error *error)
{
    struct reducer *r = actor_state(self);
    struct error why = *error;
    if (why.code == 0)
        error_set(&why, status, "a checkpoint: %s", tr_strerror(status));
    /* The save is counted before the rest: what a later coordinator is notified of, and what the
     * other host drops, has its number. */
    r->saves++;
    r->refused = (struct msg_checkpoint_done){
        .step = r->operation.part.step, .sequence = r->saves, .era = r->era, .status = why.code
    };
    reducer_drop_begin(self, &why);
}

/* A failure is the end of the era, or of a barrier whose outcome is then asked for, or it may pass,
 * or it is the operation's. They are asked for in this order: the first two would count as failures
 * that may pass. A save that fails for good has a part to give back before it is answered. */
static void handle_refusal(struct actor *self, int status, const struct error *error)
{
    struct reducer *r = actor_state(self);
    struct reducer_operation *op = &r->operation;
    if (status == TR_EROLLBACK && op->kind != MSG_GROUP_RESTORE && !reducer_is_completing(r))
        reducer_roll_back(self, r->era + 1);
    else if (status == TR_ETIMEDOUT && op->kind == MSG_GROUP_BARRIER) {
        /* The coordinator's answer comes before our own timer. Without one the outcome is not
         * known, and the next call asks for the same again. */
        bool told = actor_now_ns(self) < op->until_ns;
        if (op->asks_outcome && told) {
            wish_pass(self, r->barriers + 1, TR_ETIMEDOUT);
        } else if (op->asks_outcome) {
            reducer_end(self, TR_ETIMEDOUT);
        } else {
            op->asks_outcome = true;
            reducer_ask(self);
        }
    } else if (part_call_is_transient(status) || status == TR_EROLLBACK)
        reducer_again(self);
    else if (op->kind == MSG_GROUP_SAVE)
        save_failed(self, status, error);
    else if (error->code != 0)
        reducer_fail(self, error);
    else
        reducer_end(self, status);
}

/* 0, or when it timed out; both are outcomes. */
static void heard_outcome(struct actor *self, const struct message *reply)
{
    const struct reducer *r = actor_state(self);
    const struct msg_barrier_done *head = (const void *)reply->head;
    if (head->status == 0)
        wish_pass(self, r->barriers + 1, 0);
    else
        wish_pass(self, head->sequence, TR_ETIMEDOUT);
}

static void wish_answered(struct actor *self, void *arg, int status, struct message *reply)
{
    struct reducer_operation *op = arg;
    struct error error = { 0 };
    if (!op->calling) /* it was given up */
        return;
    /* The question is over before its answer is handled, which may ask again: one is under way at
     * most. */
    op->calling = false;
    /* A refusal is read before the kinds are compared, of which it has none: as TR_EFORMAT it would
     * end what may pass. */
    if (status == 0)
        status = error_reply_read(reply, &error);
    if (status != 0)
        handle_refusal(self, status, &error);
    else if (op->kind == MSG_GROUP_RESTORE && reply->frame.kind == MSG_RESTORED)
        wish_enter(self, reply);
    else if (op->kind == MSG_GROUP_BARRIER && reply->frame.kind == MSG_BARRIER_DONE)
        heard_outcome(self, reply);
    else if (op->kind == MSG_GROUP_SAVE && reply->frame.kind == MSG_CHECKPOINT_DONE)
        wish_saved(self);
    else if (op->kind == MSG_GROUP_FINISH && reply->frame.kind == MSG_JOB_DONE)
        wish_finish(self);
    else
        reducer_end(self, TR_EFORMAT);
    /* The reply is released last: an era and a barrier's outcome are read from it. */
    message_release(self, reply);
}

void reducer_ask(struct actor *self)
{
    struct reducer *r = actor_state(self);
    struct reducer_operation *op = &r->operation;
    /* Without a coordinator nothing is asked until one is joined again. */
    if (op->request == NULL || op->outcome != NULL || op->failure.code != 0 || op->calling ||
        op->working || op->away || address_is_none(r->member.coordinator))
        return;
    struct message *request = wish_make(self, r);
    /* A question that is no barrier has no deadline here: a repeat takes the answer of
     * this attempt. */
    op->until_ns = op->kind != MSG_GROUP_BARRIER ? UINT64_MAX
                   : op->asks_outcome            ? actor_now_ns(self) + REDUCER_OUTCOME_NS
                                                 : op->deadline_ns;
    int rv = request == NULL ? TR_ENOMEM : 0;
    /* `calling` is set before the call: a process may die at the fail-points below, in the middle
     * of both. */
    op->calling = rv == 0;
    if (rv == 0)
        rv = actor_call(self, r->member.coordinator, request, op->until_ns, wish_answered, op,
                        &op->call);
    if (rv == 0 && op->kind == MSG_GROUP_RESTORE)
        actor_failpoint(self, FAILPOINT_ERA_ASKED);
    else if (rv == 0 && op->kind == MSG_GROUP_SAVE)
        actor_failpoint(self, FAILPOINT_CHECKPOINT_PART_ASKED);
    if (rv != 0) {
        op->calling = false;
        reducer_again(self);
    }
}
