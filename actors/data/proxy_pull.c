/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Batches of samplers in other processes: pulled in pieces into one buffer.
 *
 * Invariants: each byte is asked for once (`next`) and taken once (`taken`), by the piece that
 * asked; a sampler that was started again has another batch in other memory, so no piece is asked
 * of a second life (`one_life`). When all are taken the crew has the pull alone: `slot` is NULL
 * where it was given up meanwhile, and then the crew's end frees it.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "actors/data/batch_flat.h"
#include "actors/data/proxy_state.h"
#include "runtime/core/crew.h"

/* Pieces of one batch that are on their way: one travels while the next is asked for. */
#define PIECES_MAX 4u

/* Pieces start at a multiple of this in the batch. */
#define PIECE_ALIGN 64u

struct pulled_piece {
    struct proxy_slot *slot;
    uint64_t offset;
    uint32_t count; /* 0: nothing is asked for */
    struct part_call call;
};

/* The bytes are charged as what was reserved for the batch, until it lies in the store or the slot
 * gives the pull up. What the crew still reads then is charged no more. */
struct proxy_pull {
    unsigned char *bytes;
    uint64_t total, next, taken;
    struct address from;
    struct pulled_piece pieces[PIECES_MAX];
    struct proxy_slot *slot;     /* NULL: given up while the crew reads it */
    struct sampled_batch *batch; /* that it becomes */
    const struct book *book;
    struct job job;
    int read;
};

static void pull_ask(struct pulled_piece *piece);

static uint32_t piece_bytes(const struct proxy_options *o)
{
    uint64_t bytes = o->piece_bytes_max != 0 ? o->piece_bytes_max : PROXY_PIECE_BYTES;
    bytes = bytes < MSG_REPLY_BYTES_MAX ? bytes : MSG_REPLY_BYTES_MAX;
    bytes -= bytes % PIECE_ALIGN;
    return bytes != 0 ? (uint32_t)bytes : PIECE_ALIGN;
}

static struct message *make_pull(const struct proxy_slot *slot, uint64_t offset, uint32_t count)
{
    struct message *message = message_create(slot->loader->proxy->self, MSG_BATCH_PULL);
    if (message != NULL)
        *(struct msg_batch_pull *)message_head(message) = (struct msg_batch_pull){
            .loader = slot->loader->open.loader,
            .batch = slot->step,
            .offset = offset,
            .epoch = slot->epoch,
            .bytes_max = count,
        };
    return message;
}

void proxy_unwanted(const struct proxy_slot *slot, struct address sampler)
{
    struct message *notice = make_pull(slot, MSG_PULL_NONE, 0);
    if (notice != NULL) /* else it is kept until the loader is closed there */
        actor_send(slot->loader->proxy->self, sampler, notice);
}

static void free_pull(struct proxy_pull *pull)
{
    sampled_batch_release(pull->batch);
    free(pull->bytes);
    free(pull);
}

void proxy_pull_end(struct proxy_slot *slot)
{
    struct proxy_pull *pull = slot->pull;
    if (pull == NULL)
        return;
    slot->pull = NULL;
    if (pull->batch != NULL) { /* the crew has it */
        pull->slot = NULL;
        crew_cancel(&pull->job);
        return;
    }
    for (uint32_t i = 0; i < PIECES_MAX; i++)
        part_call_cancel(&pull->pieces[i].call);
    /* A sampler forgets a batch with its last piece; where pieces are left it is notified that
     * nobody pulls them. */
    if (pull->taken < pull->total)
        proxy_unwanted(slot, pull->from);
    free_pull(pull);
}

void proxy_pull_fini(struct proxy_slot *slot)
{
    for (uint32_t i = 0; slot->pull != NULL && i < PIECES_MAX; i++)
        part_call_fini(&slot->pull->pieces[i].call);
    if (slot->pull != NULL)
        free_pull(slot->pull);
    slot->pull = NULL;
}

/* A batch that the sampler keeps no more, or lost with its life, is made again. */
static void pull_finish(struct proxy_slot *slot, int status, const struct error *error)
{
    /* The pull ends before the slot is asked for again, which begins another. */
    proxy_pull_end(slot);
    proxy_settle(slot, status == TR_ENOENT ? TR_ECLOSED : status, error);
}

static int pull_take(struct proxy_pull *pull, struct pulled_piece *piece,
                     const struct message *reply)
{
    const struct msg_batch_piece *head = (const void *)reply->head;
    if (reply->frame.kind != MSG_BATCH_PIECE || head->offset != piece->offset ||
        head->count != piece->count || reply->frame.body_bytes != piece->count)
        return TR_EFORMAT;
    memcpy(pull->bytes + piece->offset, message_body(reply), piece->count);
    pull->taken += piece->count;
    return 0;
}

static int read_piece(struct job *job)
{
    struct proxy_pull *pull = job->arg;
    pull->read = batch_unflatten(pull->batch, pull->book, pull->bytes, pull->total);
    return CREW_DONE;
}

static void pull_deposit(struct proxy_pull *pull)
{
    struct error error = { 0 };
    struct sampled_batch *batch = pull->batch;
    pull->batch = NULL; /* first: the end of the pull would take it for the crew's */
    struct proxy_slot *slot = pull->slot;
    int rv = proxy_deposit(slot, batch, pull->read, &error);
    /* The pull ends before the slot is settled, which may begin another. */
    proxy_pull_end(slot);
    if (rv == TR_EFULL) /* the client's account: it is the client that has to release batches */
        proxy_fail(slot, rv, &error);
    else
        proxy_settle(slot, rv, &error);
}

static void read_done(struct actor *self, struct job *job, int status)
{
    struct proxy_pull *pull = job->arg;
    (void)self;
    /* Whether it was given up is asked first: then there is no slot to settle, whatever was
     * read. */
    if (pull->slot == NULL)
        free_pull(pull);
    else if (status == 0)
        pull_deposit(pull);
    else /* the proxy ends, and frees it with its loader */
        pull->read = status;
}

/* All bytes are there: they become a batch, now or on the crew. */
static void read_all(struct proxy_pull *pull)
{
    struct proxy *p = pull->slot->loader->proxy;
    size_t at_once = p->options->at_once_bytes;
    pull->book = p->options->book;
    /* From here on the pull is the crew's, as far as proxy_pull_end() knows; without a batch it
     * is not. */
    pull->batch = proxy_take_batch(pull->slot);
    pull->job = (struct job){ .piece = read_piece, .done = read_done, .arg = pull };
    if (pull->batch == NULL) {
        pull_finish(pull->slot, TR_ENOMEM, &(struct error){ 0 });
    } else if (pull->total > (at_once != 0 ? at_once : PROXY_AT_ONCE_BYTES)) {
        crew_submit(p->self, &pull->job);
    } else {
        (void)read_piece(&pull->job);
        pull_deposit(pull);
    }
}

static int make_request(struct part_call *call, struct message **request)
{
    const struct pulled_piece *piece = call->arg;
    *request = make_pull(piece->slot, piece->offset, piece->count);
    return *request != NULL ? 0 : TR_ENOMEM;
}

static int locate_sampler_of_batch(struct part_call *call, struct address *to)
{
    const struct pulled_piece *piece = call->arg;
    *to = piece->slot->pull->from;
    return 0;
}

static void piece_done(struct part_call *call, int status, struct message *reply,
                       const struct error *why)
{
    struct pulled_piece *piece = call->arg;
    struct proxy_slot *slot = piece->slot;
    struct proxy_pull *pull = slot->pull;
    struct error error = { 0 };
    if (status != 0) {
        pull_finish(slot, status, why);
        return;
    }
    int rv = pull_take(pull, piece, reply);
    /* The reply is released before the next piece is asked for, whose reply takes the same
     * memory. */
    message_release(call->self, reply);
    if (rv != 0) {
        error_set(&error, rv,
                  "batch %" PRIu64 " of sampler %" PRIu32 " came in pieces that "
                  "were not asked for",
                  slot->step, slot->sampler);
        pull_finish(slot, rv, &error);
    } else if (pull->taken < pull->total) {
        pull_ask(piece);
    } else {
        read_all(pull);
    }
}

static const struct part_call_ops piece_ops = { .locate = locate_sampler_of_batch,
                                                .make = make_request,
                                                .done = piece_done };

/* The next piece of the batch, if one is left. */
static void pull_choose(struct proxy_pull *pull, struct pulled_piece *piece, uint32_t most)
{
    uint64_t left = pull->total - pull->next;
    piece->offset = pull->next;
    piece->count = left < most ? (uint32_t)left : most;
    pull->next += piece->count;
}

/* A piece that the sampler's mailbox refuses is asked for again by itself: pieces are asked for
 * together, and those that were taken are not to be asked for anew. No attempt is given up before
 * the deadline, since the sampler counts the pieces that it sent. */
static void init_piece(struct pulled_piece *piece, struct proxy_slot *slot)
{
    const struct proxy *p = slot->loader->proxy;
    piece->slot = slot;
    piece->call = (struct part_call){ .ops = &piece_ops,
                                      .self = p->self,
                                      .arg = piece,
                                      .replies = p->options->replies,
                                      .call_ns = PART_CALL_PATIENT,
                                      .grace_ns = PROXY_GRACE_NS,
                                      .one_life = true };
}

static void pull_ask(struct pulled_piece *piece)
{
    struct proxy_slot *slot = piece->slot;
    pull_choose(slot->pull, piece, piece_bytes(slot->loader->proxy->options));
    if (piece->count == 0)
        return;
    piece->call.reply_bytes = piece->count;
    part_call_send(&piece->call, slot->until_ns);
}

static struct proxy_pull *pull_make(struct proxy_slot *slot, struct address from, uint64_t total)
{
    struct proxy_pull *pull = calloc(1, sizeof *pull);
    if (pull == NULL)
        return NULL;
    pull->bytes = aligned_alloc(PIECE_ALIGN, (total + PIECE_ALIGN - 1) / PIECE_ALIGN * PIECE_ALIGN);
    if (pull->bytes == NULL) {
        free(pull);
        return NULL;
    }
    pull->total = total;
    pull->from = from;
    pull->slot = slot;
    for (uint32_t i = 0; i < PIECES_MAX; i++)
        init_piece(&pull->pieces[i], slot);
    return pull;
}

int proxy_pull(struct proxy_slot *slot, struct address from, uint64_t total, struct error *error)
{
    const struct proxy_options *o = slot->loader->proxy->options;
    /* A size that no batch has is the sampler's fault, one that the account never has room for
     * is ours. */
    if (total > MSG_BATCH_BYTES_MAX)
        return error_set(error, TR_EFORMAT,
                         "batch %" PRIu64 " of sampler %" PRIu32 ": %" PRIu64
                         " bytes are not a batch",
                         slot->step, slot->sampler, total);
    if (total > batch_store_bound(o->store))
        return batch_store_say_full(o->store, total, error);
    slot->pull = pull_make(slot, from, total);
    if (slot->pull == NULL)
        return error_set(error, TR_ENOMEM, "no memory for batch %" PRIu64, slot->step);
    slot->state = SLOT_PULLED; /* before the first piece, whose failure settles the slot */
    for (uint32_t i = 0; i < PIECES_MAX; i++)
        pull_ask(&slot->pull->pieces[i]);
    return 0;
}
