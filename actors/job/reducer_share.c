/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Adding up: the pieces that this rank owns, in the order of ranks.
 *
 * The table of clients holds the request of each rank for each piece, and recognizes repeats. The
 * answer to all ranks is one, so the piece keeps it, not the table: until the reduction after the
 * next begins, when no rank can ask for it any more.
 *
 * Invariants: ranks before `next` are in the sums, in their order and once each; a request that
 * came out of order waits in the table. The values of a request that was added are freed, its frame
 * is kept for the answer. Two reductions are there at most, by sequence % 2.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "actors/job/reducer_state.h"

struct share_piece {
    struct buffer *sums; /* of ranks before `next` */
    uint32_t next;       /* rank; world: all were added */
};

/* The pieces of one reduction that this rank owns. */
struct share {
    uint64_t sequence;
    uint64_t total;
    uint32_t era;
    uint32_t piece_values;
    uint32_t num_pieces; /* owned */
    struct share_piece *pieces[];
};

/* owned: number among the pieces of this rank. */
static struct sequenced_id id_of(const struct reducer *r, const struct share *share, uint32_t owned,
                                 uint32_t rank)
{
    uint64_t piece = (uint64_t)owned * r->options->world + r->options->rank;
    return (struct sequenced_id){ { MSG_REDUCE, rank, piece }, share->era, share->sequence };
}

static void free_share(struct actor *self, struct share *share, int status)
{
    struct reducer *r = actor_state(self);
    for (uint32_t i = 0; share != NULL && i < share->num_pieces; i++) {
        if (share->pieces[i] == NULL)
            continue;
        /* The requests leave the table before the share goes, by whose numbers they are found
         * there. */
        for (uint32_t rank = 0; rank < r->options->world; rank++) {
            const struct sequenced_id id = id_of(r, share, i, rank);
            struct message *request = sequenced_release(&r->adders, &id);
            if (request != NULL)
                actor_refuse(self, request, status);
        }
        buffer_release(self, share->pieces[i]->sums);
        free(share->pieces[i]);
    }
    free(share);
}

void reducer_drop_shares(struct actor *self, int status)
{
    struct reducer *r = actor_state(self);
    for (uint32_t i = 0; i < 2; i++) {
        struct share *share = r->shares[i];
        r->shares[i] = NULL;
        free_share(self, share, status);
    }
}

static int reducer_share_check(const struct reducer *r, const struct msg_reduce *head,
                               struct error *error)
{
    const struct reducer_options *o = r->options;
    /* The era before the rest: what an older one says is not compared with this one. */
    if (head->era < r->seen || head->era == 0)
        return TR_EROLLBACK;
    if (head->era > r->era) /* this rank has yet to hear that it begins */
        return TR_EFULL;
    if (head->world != o->world || head->rank >= o->world)
        return error_set(error, TR_EMISMATCH,
                         "rank %" PRIu32 " of %" PRIu32 " reduces with "
                         "%" PRIu32 " others",
                         head->rank, head->world, o->world);
    /* The world is compared before the piece: an owner's pieces are counted by it. */
    uint64_t from = (uint64_t)head->piece * head->piece_values;
    uint64_t left = from < head->total ? head->total - from : 0;
    if (head->total > REDUCER_VALUES_MAX ||
        head->piece_values != reducer_piece_values(head->total, o->world) ||
        head->piece % o->world != o->rank || head->count == 0 ||
        head->count != (left < head->piece_values ? left : head->piece_values))
        return error_set(error, TR_ERANGE,
                         "piece %" PRIu32 " of %" PRIu64 " values is not rank %" PRIu32 "'s to add",
                         head->piece, head->total, o->rank);
    return 0;
}

/* Pieces of that reduction that are this rank's. */
static uint32_t count_owned(const struct reducer_options *o, const struct msg_reduce *head)
{
    uint64_t pieces = (head->total + head->piece_values - 1) / head->piece_values;
    return (uint32_t)((pieces + o->world - 1 - o->rank) / o->world);
}

static int find_share(struct actor *self, const struct msg_reduce *head, struct share **out,
                      struct error *error)
{
    struct reducer *r = actor_state(self);
    struct share **at = &r->shares[head->sequence % 2];
    /* An older reduction is refused before a place is cleared: a piece that comes late must not
     * take the present one's. */
    if (*at != NULL && head->sequence < (*at)->sequence)
        return error_set(error, TR_ECANCELED, "that reduction ended long ago");
    if (*at != NULL && head->sequence > (*at)->sequence) {
        /* A rank that is at this one has the sums of the one before, so all had those before
         * that. */
        free_share(self, *at, TR_ECANCELED);
        *at = NULL;
    }
    if (*at == NULL) {
        uint32_t count = count_owned(r->options, head);
        struct share *share = calloc(1, sizeof *share + count * sizeof share->pieces[0]);
        if (share == NULL)
            return TR_ENOMEM;
        share->sequence = head->sequence;
        share->era = head->era;
        share->total = head->total;
        share->piece_values = head->piece_values;
        share->num_pieces = count;
        *at = share;
    }
    if ((*at)->total != head->total)
        return error_set(error, TR_EMISMATCH,
                         "rank %" PRIu32 " reduces %" PRIu64 " values, and others %" PRIu64
                         "; all must give the same number",
                         head->rank, head->total, (*at)->total);
    *out = *at;
    return 0;
}

static int open_piece(struct actor *self, struct share *share, const struct msg_reduce *head)
{
    struct reducer *r = actor_state(self);
    struct share_piece **at = &share->pieces[head->piece / r->options->world];
    if (*at == NULL) {
        struct share_piece *piece = calloc(1, sizeof *piece);
        if (piece == NULL)
            return TR_ENOMEM;
        /* The piece is entered only with its sums: an owned piece that is there may be added to. */
        piece->sums = buffer_create(self, head->count * sizeof(float));
        if (piece->sums == NULL) {
            free(piece);
            return TR_ENOMEM;
        }
        *at = piece;
    }
    return 0;
}

static void reducer_share_answer(struct actor *self, struct message *request,
                                 const struct share_piece *piece)
{
    const struct msg_reduce *head = message_head(request);
    struct message *reply = message_create(self, MSG_REDUCED);
    if (reply == NULL) {
        actor_refuse(self, request, TR_ENOMEM); /* it asks again, and the sums are kept */
        return;
    }
    *(struct msg_reduced *)message_head(reply) = (struct msg_reduced){
        .sequence = head->sequence, .piece = head->piece, .count = head->count, .era = head->era
    };
    message_body_attach(reply, buffer_acquire(piece->sums), head->count * sizeof(float));
    actor_reply(self, request, reply);
}

static void add_values(float *sums, const float *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        sums[i] += values[i];
}

/* Adds what has come, as far as ranks are there in their order. */
static void reducer_share_advance(struct actor *self, const struct share *share, uint32_t owned)
{
    struct reducer *r = actor_state(self);
    struct share_piece *piece = share->pieces[owned];
    uint32_t world = r->options->world;
    for (struct message *request; piece->next < world; piece->next++) {
        const struct sequenced_id id = id_of(r, share, owned, piece->next);
        request = sequenced_find(&r->adders, &id);
        if (request == NULL)
            return;
        uint32_t count = ((const struct msg_reduce *)message_head(request))->count;
        /* The first is taken as it is: adding it to zero would lose the sign of -0. */
        if (piece->next == 0)
            memcpy(piece->sums->data, message_body(request), count * sizeof(float));
        else
            add_values(piece->sums->data, message_body(request), count);
        buffer_release(self, message_body_detach(request));
    }
    /* Ranks are answered only when all are added: the sums are whole then. A repeat that comes
     * later is new to the table, finds nothing left to add, and is answered here too. */
    for (uint32_t rank = 0; rank < world; rank++) {
        const struct sequenced_id id = id_of(r, share, owned, rank);
        struct message *request = sequenced_release(&r->adders, &id);
        if (request != NULL)
            reducer_share_answer(self, request, piece);
    }
}

int reducer_add(struct actor *self, struct message *request, struct error *error)
{
    struct reducer *r = actor_state(self);
    const struct msg_reduce *head = message_head(request);
    struct share *share = NULL;
    /* The table takes the request last, when there is a piece to add it to: until then a failure
     * leaves it with the sender, which asks again. */
    int rv = reducer_share_check(r, head, error);
    if (rv == 0)
        rv = find_share(self, head, &share, error);
    if (rv == 0)
        rv = open_piece(self, share, head);
    if (rv != 0)
        return rv;
    uint32_t owned = head->piece / r->options->world;
    const struct sequenced_id id = id_of(r, share, owned, head->rank);
    rv = sequenced_take(&r->adders, self, &id, request, error);
    if (rv < 0)
        return rv;
    reducer_share_advance(self, share, owned);
    return 0;
}
