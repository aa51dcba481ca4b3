/* SPDX-License-Identifier: Apache-2.0 */
/*
 * This rank's part on another host: copied there before it is reported, pulled from there where it
 * is gone or damaged here. The other host's store says whether there is anything to copy: where
 * both see one folder, it has the part already.
 *
 * One piece is on its way at a time. It is asked for until the operation ends. Invariants: `copied`
 * bytes are there, from the beginning on; `away` from the first question until the last answer, so
 * that meanwhile nothing is asked of the coordinator.
 */
#include <string.h>

#include "actors/common/part_call.h"
#include "actors/job/checkpoint_store.h"
#include "actors/job/reducer_state.h"
#include "runtime/base/crc32c.h"

static uint32_t second_node(const struct reducer *r)
{
    const struct plan *plan = r->options->plan;
    if (plan == NULL || plan->num_hosts < 2)
        return PLAN_NO_NODE;
    return plan_second_node(plan, plan->processes[plan_trainer_node(plan, r->options->rank)].host);
}

bool reducer_has_second(const struct reducer *r)
{
    return second_node(r) != PLAN_NO_NODE;
}

static uint64_t pieces_end(const struct reducer_operation *op)
{
    uint64_t left = op->part.bytes - op->copied;
    return op->copied + (left < MSG_CHECKPOINT_PIECE_MAX ? left : MSG_CHECKPOINT_PIECE_MAX);
}

static struct message *make_copy(struct actor *self, const struct reducer *r)
{
    const struct reducer_operation *op = &r->operation;
    const char *folder = r->options->checkpoints;
    uint32_t count = (uint32_t)(pieces_end(op) - op->copied);
    const unsigned char *data = op->part.data;
    struct message *request = checkpoint_store_request(
        self, MSG_CHECKPOINT_COPY, count > 0 ? data + op->copied : NULL, count, folder);
    if (request != NULL)
        *(struct msg_checkpoint_copy *)message_head(
            request) = (struct msg_checkpoint_copy){ .step = op->part.step,
                                                     .bytes = op->part.bytes,
                                                     .offset = op->copied,
                                                     .sequence = r->saves + 1,
                                                     .crc32c = op->part.crc32c,
                                                     .era = op->part.era,
                                                     .rank = r->options->rank,
                                                     .count = count,
                                                     .path_bytes = (uint32_t)strlen(folder) };
    return request;
}

static struct message *make_fetch(struct actor *self, const struct reducer *r)
{
    const struct reducer_operation *op = &r->operation;
    const char *folder = r->options->checkpoints;
    struct message *request = checkpoint_store_request(self, MSG_CHECKPOINT_FETCH, NULL, 0, folder);
    if (request != NULL)
        *(struct msg_checkpoint_fetch *)message_head(
            request) = (struct msg_checkpoint_fetch){ .step = op->part.step,
                                                      .bytes = op->part.bytes,
                                                      .offset = op->copied,
                                                      .crc32c = op->part.crc32c,
                                                      .era = op->part.era,
                                                      .rank = r->options->rank,
                                                      .path_bytes = (uint32_t)strlen(folder) };
    return request;
}

static struct message *make_look(struct actor *self, const struct reducer *r)
{
    const struct part_work *part = &r->operation.part;
    const struct checkpoint_part wanted = { part->bytes, part->crc32c };
    return checkpoint_store_look(self, r->options->checkpoints, part->step, part->era, part->rank,
                                 &wanted);
}

/* The call has no deadline: the operation may outlive its own, and its end cancels the call. */
static void reducer_send_copy(struct actor *self, struct message *request,
                              checkpoint_store_done *done)
{
    struct reducer *r = actor_state(self);
    if (request == NULL || checkpoint_store_call(self, &r->checkpoint_store_calls, second_node(r),
                                                 request, UINT64_MAX, done, NULL) != 0)
        reducer_again(self);
}

/* True: the answer is one of that kind. Else the operation goes on later, or ends: a failure after
 * which it begins anew, or which may pass, comes first; a save that fails for good is reported, for
 * the other ranks wait for it; only then is the failure the trainer's. */
static bool reducer_take_copy(struct actor *self, int status, const struct message *reply,
                              uint32_t kind, const struct error *why)
{
    struct reducer *r = actor_state(self);
    struct error error = { 0 };
    if (why != NULL)
        error = *why;
    if (status == 0 && reply->frame.kind == kind)
        return true;
    if (status == TR_ECANCELED) /* self ends; asked before what may pass, which it counts as */
        return false;
    if (status == TR_EFORMAT && kind == MSG_CHECKPOINT_COPIED) {
        r->operation.copied = 0; /* pieces of another attempt came between */
        reducer_again(self);
    } else if (part_call_is_transient(status)) {
        reducer_again(self);
    } else if (r->operation.kind == MSG_GROUP_SAVE) {
        if (error.code == 0)
            error_set(&error, status != 0 ? status : TR_EFORMAT,
                      "a part of a checkpoint on a "
                      "second host: %s",
                      tr_strerror(status));
        /* The part is not away any more before the coordinator is asked: meanwhile nothing is. */
        reducer_copy_stop(self);
        reducer_save_refused(self, &error);
    } else if (error.code != 0) {
        reducer_fail(self, &error);
    } else {
        reducer_end(self, status != 0 ? status : TR_EFORMAT);
    }
    return false;
}

static void finish_copy(struct actor *self)
{
    reducer_copy_stop(self); /* first: while the part is away nothing is asked of the coordinator */
    reducer_ask(self);
}

static void reducer_copied(struct actor *self, void *arg, int status, struct message *reply,
                           const struct error *error);

/* From here on the other host may have something of this save. */
static void send_copy(struct actor *self, struct reducer *r)
{
    r->operation.copies = true;
    reducer_send_copy(self, make_copy(self, r), reducer_copied);
}

static void reducer_copied(struct actor *self, void *arg, int status, struct message *reply,
                           const struct error *error)
{
    struct reducer *r = actor_state(self);
    struct reducer_operation *op = &r->operation;
    (void)arg;
    if (reducer_take_copy(self, status, reply, MSG_CHECKPOINT_COPIED, error)) {
        /* The piece is counted before the next one is made, which begins behind it. */
        op->copied = pieces_end(op);
        if (op->copied == op->part.bytes)
            finish_copy(self);
        else
            send_copy(self, r);
    }
    message_release(self, reply);
}

static void reducer_looked(struct actor *self, void *arg, int status, struct message *reply,
                           const struct error *error)
{
    struct reducer *r = actor_state(self);
    (void)arg;
    /* A store that could not look gets the part as one without it does: whether it can be kept
     * there, the copy itself tells. */
    if (status < 0 && !part_call_is_transient(status)) {
        send_copy(self, r);
    } else if (reducer_take_copy(self, status, reply, MSG_CHECKPOINT_SEEN, error)) {
        if (((const struct msg_checkpoint_seen *)(const void *)reply->head)->found != 0)
            finish_copy(self);
        else
            send_copy(self, r);
    }
    message_release(self, reply);
}

static void reducer_pulled(struct actor *self, void *arg, int status, struct message *reply,
                           const struct error *error)
{
    struct reducer *r = actor_state(self);
    struct reducer_operation *op = &r->operation;
    (void)arg;
    if (reducer_take_copy(self, status, reply, MSG_CHECKPOINT_PIECE, error)) {
        const struct msg_checkpoint_piece *piece = (const void *)reply->head;
        uint64_t end = pieces_end(op);
        /* The piece is checked before a byte of it is taken: the part has room for what was asked
         * for, no more. */
        if (piece->offset != op->copied || piece->count != end - op->copied) {
            reducer_end(self, TR_EFORMAT);
        } else {
            if (piece->count > 0)
                memcpy((char *)op->part.data + op->copied, message_body(reply), piece->count);
            op->crc32c = crc32c(op->crc32c, message_body(reply), piece->count);
            op->copied = end;
            reducer_copy_again(self);
        }
    }
    message_release(self, reply);
}

/* All is there: it is compared with what was saved before anything is made of it. */
static void finish_pull(struct actor *self)
{
    struct reducer *r = actor_state(self);
    struct reducer_operation *op = &r->operation;
    /* The part is not away any more first: what follows ends the operation, or goes on with it
     * here. */
    reducer_copy_stop(self);
    if (op->crc32c == op->part.crc32c)
        reducer_keep_begin(self);
    else
        reducer_fail(self, &op->part.error); /* it says what is wrong with the one here */
}

void reducer_copy_again(struct actor *self)
{
    struct reducer *r = actor_state(self);
    struct reducer_operation *op = &r->operation;
    /* The host is asked whether it has the part before the first piece is sent, which it need not
     * have where both see one folder. While pieces are on their way it is not asked again. */
    if (op->kind == MSG_GROUP_SAVE && op->copied > 0)
        send_copy(self, r);
    else if (op->kind == MSG_GROUP_SAVE)
        reducer_send_copy(self, make_look(self, r), reducer_looked);
    else if (op->copied < op->part.bytes)
        reducer_send_copy(self, make_fetch(self, r), reducer_pulled);
    else
        finish_pull(self);
}

void reducer_copy_begin(struct actor *self)
{
    struct reducer *r = actor_state(self);
    r->operation.away = true;
    r->operation.copied = 0;
    reducer_copy_again(self);
}

void reducer_pull_begin(struct actor *self)
{
    struct reducer *r = actor_state(self);
    r->operation.crc32c = 0;
    reducer_copy_begin(self);
}

void reducer_copy_stop(struct actor *self)
{
    struct reducer *r = actor_state(self);
    checkpoint_store_calls_cancel(&r->checkpoint_store_calls);
    r->operation.away = false;
}

/* The copy was dropped or not: what stays there goes with the next checkpoint or the next era. */
static void drop_ended(struct actor *self, void *arg, int status, struct message *reply,
                       const struct error *error)
{
    (void)arg, (void)status, (void)error;
    message_release(self, reply);
}

void reducer_copy_drop(struct actor *self, uint64_t sequence)
{
    struct reducer *r = actor_state(self);
    const struct reducer_operation *op = &r->operation;
    const char *folder = r->options->checkpoints;
    if (!op->copies)
        return;
    struct message *request = checkpoint_store_request(self, MSG_CHECKPOINT_DROP, NULL, 0, folder);
    if (request == NULL)
        return;
    *(struct msg_checkpoint_drop *)message_head(
        request) = (struct msg_checkpoint_drop){ .step = op->part.step,
                                                 .sequence = sequence,
                                                 .era = op->part.era,
                                                 .rank = r->options->rank,
                                                 .path_bytes = (uint32_t)strlen(folder) };
    /* Only one drop is under way, which bounds them; the one before this had until now. It is ended
     * when this one is made: without memory for this, that goes on. */
    checkpoint_store_calls_cancel(&r->drops);
    (void)checkpoint_store_call(self, &r->drops, second_node(r), request,
                                actor_now_ns(self) + REDUCER_DROP_NS, drop_ended, NULL);
}
