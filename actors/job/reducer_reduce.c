/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reducing: the values of this rank, piece by piece, to their owners and back.
 *
 * Invariants: pieces before `first` have their sums, pieces [first, first + REDUCER_WINDOW) are in
 * slots, piece p in slot p % REDUCER_WINDOW, and none beyond was sent. All ranks send in the order
 * of pieces, so an owner that waits for a rank waits for one that is not ahead of it: no circle.
 * Sums take the place of addends in the request's body, which a piece that was sent is not read
 * from again.
 */
#include <inttypes.h>
#include <string.h>

#include "actors/job/reducer_state.h"

uint32_t reducer_piece_values(uint64_t total, uint32_t world)
{
    uint64_t each = total / world + (total % world != 0);
    each = each < REDUCER_PIECE_MIN ? REDUCER_PIECE_MIN : each;
    return (uint32_t)(each < MSG_REDUCE_VALUES_MAX ? each : MSG_REDUCE_VALUES_MAX);
}

static uint32_t piece_count(const struct reduction *reduction, uint32_t piece)
{
    uint64_t from = (uint64_t)piece * reduction->piece_values;
    uint64_t left = reduction->total - from;
    return (uint32_t)(left < reduction->piece_values ? left : reduction->piece_values);
}

static struct message *make_piece(struct actor *self, const struct reducer *r, uint32_t piece)
{
    const struct reduction *reduction = &r->operation.reduction;
    uint32_t count = piece_count(reduction, piece);
    struct message *request = message_create(self, MSG_REDUCE);
    void *body = request == NULL ? NULL : message_body_alloc(self, request, count * sizeof(float));
    if (body == NULL) {
        message_release(self, request);
        return NULL;
    }
    *(struct msg_reduce *)message_head(request) = (struct msg_reduce){
        .sequence = reduction->sequence,
        .total = reduction->total,
        .piece = piece,
        .piece_values = reduction->piece_values,
        .count = count,
        .era = r->era,
        .rank = r->options->rank,
        .world = r->options->world,
    };
    memcpy(body, reduction->values + (uint64_t)piece * reduction->piece_values,
           count * sizeof(float));
    return request;
}

/* All sums are there: they go back in the buffer that the values came in. */
static void reducer_reduce_finish(struct actor *self)
{
    struct reducer *r = actor_state(self);
    struct reducer_operation *op = &r->operation;
    /* The reply is made first: where there is no memory for it nothing has changed, and this comes
     * again. Detached or counted before, the sums would be lost and the second try would answer
     * without any. */
    struct message *reply = message_create(self, MSG_GROUP_REPLY);
    if (reply == NULL) {
        reducer_again(self);
        return;
    }
    r->reductions = op->reduction.sequence; /* in the turn of the answer, which the next follows */
    *(struct msg_group_reply *)message_head(
        reply) = (struct msg_group_reply){ .count = op->reduction.total, .era = r->era };
    /* The sums leave the request before the reply goes, which releases the request with all that it
     * holds. */
    struct buffer *buffer = message_body_detach(op->request);
    if (buffer != NULL)
        message_body_attach(reply, buffer, op->reduction.total * sizeof(float));
    reducer_reply(self, reply);
}

static bool is_sum(const struct reducer *r, const struct slot *slot, const struct message *reply)
{
    const struct msg_reduced *head = (const void *)reply->head;
    return reply->frame.kind == MSG_REDUCED && head->sequence == r->operation.reduction.sequence &&
           head->era == r->era && head->piece == slot->piece &&
           head->count == piece_count(&r->operation.reduction, slot->piece);
}

static void reducer_reduce_store(struct actor *self, struct slot *slot, const struct message *reply)
{
    struct reducer *r = actor_state(self);
    struct reduction *reduction = &r->operation.reduction;
    memcpy(reduction->values + (uint64_t)slot->piece * reduction->piece_values, message_body(reply),
           piece_count(reduction, slot->piece) * sizeof(float));
    /* The slot is done before the window moves, which goes over what is done. */
    slot->state = SLOT_DONE;
    reducer_reduce_pump(self);
}

static int locate_owner(struct part_call *call, struct address *to)
{
    const struct reducer *r = actor_state(call->self);
    const struct slot *slot = call->arg;
    *to = r->peers[slot->piece % r->options->world];
    return 0;
}

static int make_request(struct part_call *call, struct message **request)
{
    const struct slot *slot = call->arg;
    *request = make_piece(call->self, actor_state(call->self), slot->piece);
    return *request != NULL ? 0 : TR_ENOMEM;
}

/* An owner that is not in the era yet refuses as full, and is asked again; one that died comes back
 * in another era. */
static void piece_done(struct part_call *call, int status, struct message *reply,
                       const struct error *error)
{
    struct actor *self = call->self;
    struct reducer *r = actor_state(self);
    struct slot *slot = call->arg;
    /* The slot is free before anything is made of the answer: ending the operation cancels what is
     * sent. The answer itself goes last: its sums and its reason are read from it. */
    slot->state = SLOT_FREE;
    if (status == 0 && is_sum(r, slot, reply))
        reducer_reduce_store(self, slot, reply);
    else if (status == 0)
        reducer_end(self, TR_EFORMAT);
    else if (status == TR_EROLLBACK)
        reducer_roll_back(self, r->era + 1);
    else
        reducer_fail(self, error);
    message_release(self, reply);
}

static const struct part_call_ops piece_ops = { .locate = locate_owner,
                                                .make = make_request,
                                                .done = piece_done };

/* Without a deadline: the reduction outlives the call that asked for it, and a piece that was
 * sent once is not sent again behind itself. It ends with the owner, or with the era. */
static void reducer_reduce_send(struct slot *slot, uint32_t piece)
{
    /* The slot is set before the call, which makes its request of it at once. */
    slot->piece = piece;
    slot->state = SLOT_SENT;
    part_call_reset(&slot->call);
    part_call_send(&slot->call, UINT64_MAX);
}

void reducer_reduce_pump(struct actor *self)
{
    struct reducer *r = actor_state(self);
    struct reduction *reduction = &r->operation.reduction;
    struct slot *slots = reduction->slots;
    /* The window moves before it is filled: a slot is used again only for a piece beyond it. */
    while (reduction->first < reduction->num_pieces &&
           slots[reduction->first % REDUCER_WINDOW].state == SLOT_DONE) {
        slots[reduction->first % REDUCER_WINDOW].state = SLOT_FREE;
        reduction->first++;
    }
    /* After the end nothing more is sent: the operation, which the slots are of, is over. */
    if (reduction->first == reduction->num_pieces) {
        reducer_reduce_finish(self);
        return;
    }
    for (uint32_t i = 0; i < REDUCER_WINDOW && i < reduction->num_pieces - reduction->first; i++) {
        uint32_t piece = reduction->first + i;
        struct slot *slot = &slots[piece % REDUCER_WINDOW];
        if (slot->state == SLOT_FREE)
            reducer_reduce_send(slot, piece);
    }
}

int reducer_reduce_begin(struct actor *self, struct error *error)
{
    struct reducer *r = actor_state(self);
    struct reducer_operation *op = &r->operation;
    const struct msg_group_request *head = message_head(op->request);
    if (head->count > REDUCER_VALUES_MAX)
        return error_set(error, TR_ETOOBIG, "%" PRIu64 " values to reduce; at most %" PRIu64,
                         head->count, (uint64_t)REDUCER_VALUES_MAX);
    uint64_t sequence = head->value != 0 ? head->value : r->reductions + 1;
    if (sequence != r->reductions + 1 && (sequence != r->reductions || sequence == 0))
        return error_set(error, TR_EINVAL, "reduction %" PRIu64 " after %" PRIu64, sequence,
                         r->reductions);
    /* Nothing is to be undone here, since all that may be refused was; and all is in place before
     * the pump, which sends, and of no values ends the operation. */
    uint32_t piece_values = reducer_piece_values(head->count, r->options->world);
    op->reduction = (struct reduction){
        .sequence = sequence,
        .total = head->count,
        .piece_values = piece_values,
        .num_pieces = (uint32_t)((head->count + piece_values - 1) / piece_values),
        .values = message_body(op->request),
    };
    for (uint32_t i = 0; i < REDUCER_WINDOW; i++) {
        struct slot *slot = &op->reduction.slots[i];
        slot->call = (struct part_call){
            .ops = &piece_ops, .self = self, .arg = slot, .call_ns = PART_CALL_PATIENT
        };
    }
    reducer_reduce_pump(self);
    return 0;
}

void reducer_reduce_stop(struct actor *self)
{
    struct reducer *r = actor_state(self);
    for (uint32_t i = 0; i < REDUCER_WINDOW; i++) {
        struct slot *slot = &r->operation.reduction.slots[i];
        if (slot->state != SLOT_SENT)
            continue;
        /* These two may stand in any order: a piece that is cancelled reports nothing. */
        slot->state = SLOT_FREE;
        part_call_cancel(&slot->call);
    }
}
