/* Batches of samplers in other processes: pulled in pieces into one buffer. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "actors/batch_flat.h"
#include "actors/proxy_state.h"
#include "actors/room.h"
#include "runtime/crew.h"
#include "runtime/timer.h"

/* Pieces of one batch that are on their way: one travels while the next is asked for. */
#define PIECES_MAX 4u

/* Pieces start at a multiple of this in the batch. */
#define PIECE_ALIGN 64u

/* A sampler whose mailbox is full takes a piece's request after this. */
#define AGAIN_NS UINT64_C(1000000)

struct piece {
    struct proxy_slot *slot;
    uint64_t offset;
    uint32_t count; /* 0: nothing is asked for */
    struct call_id call;
    struct room room;
    struct timer again;
};

/* The bytes are charged as what was reserved for the batch, until it lies in the bank. */
struct proxy_pull {
    unsigned char *bytes;
    uint64_t total, next, taken;
    struct address from;
    struct piece pieces[PIECES_MAX];
    struct proxy_slot *slot;     /* NULL: given up while the crew reads it */
    struct sampled_batch *batch; /* that it becomes */
    const struct graph_types *types;
    struct job job;
    int read;
};

static void ask(struct piece *piece);

static struct proxy *proxy_of(const struct piece *piece)
{
    return piece->slot->loader->proxy;
}

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
            .loader = slot->loader->open->loader, .batch = slot->step, .offset = offset,
            .epoch = slot->epoch, .bytes_max = count,
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
    for (uint32_t i = 0; i < PIECES_MAX; i++) {
        struct call_id call = pull->pieces[i].call;
        pull->pieces[i].call = (struct call_id){ 0 };
        if (call.id != 0)
            actor_cancel(slot->loader->proxy->self, call);
        timer_stop(&pull->pieces[i].again);
        room_release(&pull->pieces[i].room);
    }
    if (pull->taken < pull->total)
        proxy_unwanted(slot, pull->from);
    free_pull(pull);
}

void proxy_pull_fini(struct proxy_slot *slot)
{
    for (uint32_t i = 0; slot->pull != NULL && i < PIECES_MAX; i++)
        room_fini(&slot->pull->pieces[i].room);
    if (slot->pull != NULL)
        free_pull(slot->pull);
    slot->pull = NULL;
}

static void finish(struct proxy_slot *slot, int status, int failed, const struct error *error)
{
    proxy_pull_end(slot);
    proxy_settle(slot, status, failed, error);
}

static int take(struct proxy_pull *pull, struct piece *piece, const struct message *reply)
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
    pull->read = batch_unflatten(pull->batch, pull->types, pull->bytes, pull->total);
    return CREW_DONE;
}

static void deposit(struct proxy_pull *pull)
{
    struct error error = { 0 };
    struct sampled_batch *batch = pull->batch;
    pull->batch = NULL;
    int failed = proxy_deposit(pull->slot, batch, pull->read, &error);
    finish(pull->slot, 0, failed, &error);
}

static void read_done(struct actor *self, struct job *job, int status)
{
    struct proxy_pull *pull = job->arg;
    (void)self;
    if (pull->slot == NULL)
        free_pull(pull);
    else if (status == 0)
        deposit(pull);
    else /* the proxy ends, and frees it with its loader */
        pull->read = status;
}

/* All bytes are there: they become a batch, now or on the crew. */
static void read_all(struct proxy_pull *pull)
{
    struct proxy *p = pull->slot->loader->proxy;
    size_t at_once = p->options->at_once_bytes;
    pull->types = &p->options->book->types;
    pull->batch = proxy_take_batch(pull->slot);
    pull->job = (struct job){ .piece = read_piece, .done = read_done, .arg = pull };
    if (pull->batch == NULL) {
        finish(pull->slot, TR_ENOMEM, 0, &(struct error){ 0 });
    } else if (pull->total > (at_once != 0 ? at_once : PROXY_AT_ONCE_BYTES)) {
        crew_submit(p->self, &pull->job);
    } else {
        (void)read_piece(&pull->job);
        deposit(pull);
    }
}

static void send(struct piece *piece);

static void send_again(struct actor *self, void *arg)
{
    (void)self;
    send(arg);
}

/* Pieces are asked for together, which a small mailbox refuses again and again: those that it took
 * are not to be asked for anew. */
static bool may_be_sent_again(const struct actor *self, const struct piece *piece, int status)
{
    return status == TR_EFULL && actor_now_ns(self) + AGAIN_NS < piece->slot->until_ns;
}

static void done(struct actor *self, void *arg, int status, struct message *reply)
{
    struct piece *piece = arg;
    struct error error = { 0 };
    if (piece->call.id == 0) /* given up by us */
        return;
    struct proxy_slot *slot = piece->slot;
    struct proxy_pull *pull = slot->pull;
    piece->call = (struct call_id){ 0 };
    if (may_be_sent_again(self, piece, status)) {
        timer_start(self, &piece->again, actor_now_ns(self) + AGAIN_NS, send_again, piece);
        return;
    }
    room_release(&piece->room);
    int failed = status != 0 ? 0 : take(pull, piece, reply);
    message_release(self, reply);
    if (failed != 0)
        error_set(&error, failed, "batch %" PRIu64 " of sampler %" PRIu32 " came in pieces that "
                  "were not asked for", slot->step, slot->sampler);
    if (status == 0 && failed == 0 && pull->taken < pull->total) {
        ask(piece);
        return;
    }
    if (status == 0 && failed == 0)
        read_all(pull);
    else
        finish(slot, status, failed, &error);
}

/* The next piece of the batch, if one is left. */
static void choose(struct proxy_pull *pull, struct piece *piece, uint32_t most)
{
    uint64_t left = pull->total - pull->next;
    piece->offset = pull->next;
    piece->count = left < most ? (uint32_t)left : most;
    pull->next += piece->count;
}

static void send(struct piece *piece)
{
    struct proxy_slot *slot = piece->slot;
    struct proxy *p = proxy_of(piece);
    struct message *request = make_pull(slot, piece->offset, piece->count);
    int rv = request == NULL
                 ? TR_ENOMEM
                 : actor_call(p->self, slot->pull->from, request, slot->until_ns + PROXY_GRACE_NS,
                              done, piece, &piece->call);
    if (rv != 0)
        finish(slot, rv, 0, &(struct error){ 0 });
}

static void granted(struct actor *self, void *arg, int status)
{
    struct piece *piece = arg;
    (void)self;
    if (status == 0)
        send(piece);
    else
        finish(piece->slot, status, 0, &(struct error){ 0 });
}

static void ask(struct piece *piece)
{
    struct proxy *p = proxy_of(piece);
    struct proxy_pull *pull = piece->slot->pull;
    struct account *replies = room_is_needed(p->self, pull->from) ? p->options->replies : NULL;
    choose(pull, piece, piece_bytes(p->options));
    if (piece->count == 0)
        return;
    int rv = room_reserve(&piece->room, replies, p->self, piece->count,
                          piece->slot->until_ns + PROXY_GRACE_NS, granted, piece);
    if (rv == 0)
        send(piece);
    else if (rv < 0)
        finish(piece->slot, rv, 0, &(struct error){ 0 });
}

static struct proxy_pull *make(struct proxy_slot *slot, struct address from, uint64_t total)
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
        pull->pieces[i].slot = slot;
    return pull;
}

int proxy_pull(struct proxy_slot *slot, struct address from, uint64_t total, struct error *error)
{
    const struct proxy_options *o = slot->loader->proxy->options;
    if (total > MSG_BATCH_BYTES_MAX)
        return error_set(error, TR_EFORMAT, "batch %" PRIu64 " of sampler %" PRIu32 ": %" PRIu64
                         " bytes are no batch", slot->step, slot->sampler, total);
    if (total > batch_bank_bound(o->bank))
        return batch_bank_say_full(o->bank, total, error);
    slot->pull = make(slot, from, total);
    if (slot->pull == NULL)
        return error_set(error, TR_ENOMEM, "no memory for batch %" PRIu64, slot->step);
    slot->state = SLOT_PULLED;
    for (uint32_t i = 0; i < PIECES_MAX && slot->pull != NULL; i++)
        ask(&slot->pull->pieces[i]);
    return 0;
}
