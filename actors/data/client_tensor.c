/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tensors: what is done with one as a whole is handed to the owners that the request names, and
 * rows that are stored go to theirs in pieces, which answer when they are written.
 *
 * A piece goes out when the one before it of its partition was answered, and rows of a partition
 * stay in the order in which they were given: so of a row that is there twice the last one counts.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "actors/data/client_state.h"
#include "actors/data/id_groups.h"
#include "graph/gather.h"
#include "schemas/body.h"

struct client_order {
    struct operation op;
    const struct msg_tensor_request *head;
};

static struct client_order *order_operation(struct operation *op)
{
    return (struct client_order *)(void *)op;
}

static int order_size(const struct client *client, const struct message *request, size_t *bytes,
                      struct error *error)
{
    const struct msg_tensor_request *head = (const void *)request->head;
    (void)client;
    if (messages_verify(MSG_TENSOR_REQUEST, head, NULL, request->frame.body_bytes) != 0)
        return error_set(error, TR_EFORMAT, "the body of a request is not what its head says");
    *bytes = (size_t)request->frame.body_bytes * CLIENT_LANES;
    return 0;
}

static int order_begin(struct operation *op, struct error *error)
{
    order_operation(op)->head = message_head(op->request);
    op->at_owners = true;
    op->reply = message_create(op->client->self, MSG_TENSOR_REPLY);
    return op->reply != NULL
               ? 0
               : error_set(error, TR_ENOMEM, "no memory for what a tensor's owners say");
}

/* Partition 0 is the home. */
static bool order_wants(const struct operation *op, uint32_t part)
{
    const struct client_order *order = (const void *)op;
    return (part == 0) == (order->head->parts == MSG_TENSOR_HOME);
}

static size_t order_choose(struct lane *lane)
{
    (void)lane;
    return 0;
}

static int order_make(struct lane *lane, struct message **out)
{
    const struct operation *op = lane->op;
    struct actor *self = op->client->self;
    size_t bytes = (size_t)op->request->frame.body_bytes;
    struct message *request = message_create(self, MSG_TENSOR_REQUEST);
    void *body = request == NULL || bytes == 0 ? NULL : message_body_alloc(self, request, bytes);
    if (request == NULL || (bytes > 0 && body == NULL)) {
        message_release(self, request);
        return TR_ENOMEM;
    }
    if (bytes > 0)
        memcpy(body, message_body(op->request), bytes);
    struct msg_tensor_request *head = message_head(request);
    *head = *order_operation(lane->op)->head;
    head->part = lane->part;
    *out = request;
    return 0;
}

static int order_take(struct lane *lane, struct message *reply, struct error *error)
{
    if (reply->frame.kind != MSG_TENSOR_REPLY)
        return error_set(error, TR_EFORMAT, "partition %" PRIu32 " answered with something else",
                         lane->part);
    /* Of several owners the last answer is as good as any: each has the same number. */
    *(struct msg_tensor_reply *)message_head(
        lane->op->reply) = *(const struct msg_tensor_reply *)(const void *)reply->head;
    return LANE_DONE;
}

/* Nothing of a tensor is read in place. */
static int tensor_read_here(struct lane *lane, struct error *error)
{
    return error_set(error, TR_EUNSUPPORTED, "partition %" PRIu32 ": no tensor is read in place",
                     lane->part);
}

static void order_finish(struct operation *op)
{
    operation_end(op, 0, "");
}

static void order_fini(struct operation *op)
{
    (void)op;
}

const struct operation_ops tensor_order_ops = {
    .state_bytes = sizeof(struct client_order),
    .size = order_size,
    .begin = order_begin,
    .wants = order_wants,
    .choose = order_choose,
    .make = order_make,
    .take = order_take,
    .read = tensor_read_here,
    .finish = order_finish,
    .fini = order_fini,
};

struct client_store {
    struct operation op;
    const struct msg_tensor_store *head;
    struct id_groups groups;
};

static struct client_store *store_operation(struct operation *op)
{
    return (struct client_store *)(void *)op;
}

static const unsigned char *store_values(const struct client_store *s)
{
    const unsigned char *body = message_body(s->op.request);
    return body + tensor_rows_begin(s->head->count, sizeof(uint64_t));
}

static int store_size(const struct client *client, const struct message *request, size_t *bytes,
                      struct error *error)
{
    const struct msg_tensor_store *head = (const void *)request->head;
    const struct book *book = client->options->book;
    if (messages_verify(MSG_TENSOR_STORE, head, NULL, request->frame.body_bytes) != 0)
        return error_set(error, TR_EFORMAT, "the body of a request is not what its head says");
    if (head->ntype >= book->types.num_ntypes)
        return error_set(error, TR_ERANGE,
                         "node type %" PRIu32
                         ": types are numbered from 0, and the graph has %" PRIu32,
                         head->ntype, book->types.num_ntypes);
    if (head->count > CLIENT_FETCH_ROWS_MAX || head->row_bytes > MSG_TENSOR_ROW_BYTES_MAX)
        return error_set(error, TR_ETOOBIG, "%" PRIu32 " rows of %" PRIu64 " bytes written at once",
                         head->count, head->row_bytes);
    uint64_t in_flight = CLIENT_LANES * (client_piece_bytes(client) + head->row_bytes);
    uint64_t all = request->frame.body_bytes;
    *bytes = (size_t)(all + (in_flight < all ? in_flight : all) +
                      head->count * (uint64_t)ID_GROUPS_BYTES +
                      (book->num_parts + UINT64_C(1)) * sizeof(uint32_t));
    return 0;
}

static int store_begin(struct operation *op, struct error *error)
{
    struct client_store *s = store_operation(op);
    const struct book *book = op->client->options->book;
    s->head = message_head(op->request);
    op->at_owners = true;
    const struct id_list list = { .ids = message_body(op->request),
                                  .count = s->head->count,
                                  .first = s->head->first,
                                  .type = s->head->ntype,
                                  .table = MSG_TABLE_TENSOR };
    /* All memory comes before the grouping, which would be done anew with each attempt. */
    op->reply = message_create(op->client->self, MSG_TENSOR_REPLY);
    int rv = op->reply == NULL ? TR_ENOMEM : id_groups_init(&s->groups, book, list.count);
    if (rv != 0)
        return error_set(error, rv, "no memory to write %" PRIu32 " rows", s->head->count);
    *(struct msg_tensor_reply *)message_head(
        op->reply) = (struct msg_tensor_reply){ .tensor = s->head->tensor, .era = s->head->era };
    return id_groups_fill(&s->groups, book, &list, error);
}

static bool store_wants(const struct operation *op, uint32_t part)
{
    const struct client_store *s = (const void *)op;
    return s->groups.starts[part + 1] > s->groups.starts[part];
}

static size_t store_choose(struct lane *lane)
{
    const struct client_store *s = store_operation(lane->op);
    uint32_t begin = s->groups.starts[lane->part] + (uint32_t)lane->at;
    lane->piece = id_groups_piece(s->head->row_bytes, client_piece_bytes(lane->op->client),
                                  s->groups.starts[lane->part + 1] - begin);
    return 0;
}

static int store_make(struct lane *lane, struct message **out)
{
    const struct client_store *s = store_operation(lane->op);
    struct actor *self = lane->op->client->self;
    uint32_t begin = s->groups.starts[lane->part] + (uint32_t)lane->at;
    size_t rows_begin = (size_t)tensor_rows_begin(lane->piece, sizeof(uint32_t));
    size_t numbers = lane->piece * sizeof *s->groups.rows;
    struct message *request = message_create(self, MSG_TENSOR_WRITE);
    unsigned char *body = request == NULL
                              ? NULL
                              : message_body_alloc(self, request,
                                                   rows_begin +
                                                       (size_t)(lane->piece * s->head->row_bytes));
    if (body == NULL) {
        message_release(self, request);
        return TR_ENOMEM;
    }
    memcpy(body, s->groups.rows + begin, numbers);
    /* The gap is sent too, so it must not be what was there before. */
    memset(body + numbers, 0, rows_begin - numbers);
    if (s->head->row_bytes > 0)
        gather_rows(body + rows_begin, store_values(s), (size_t)s->head->row_bytes,
                    s->groups.places + begin, lane->piece);
    *(struct msg_tensor_write *)message_head(request) = (struct msg_tensor_write){
        .tensor = s->head->tensor,
        .row_bytes = s->head->row_bytes,
        .part = lane->part,
        .era = s->head->era,
        .count = lane->piece,
    };
    *out = request;
    return 0;
}

static int store_take(struct lane *lane, struct message *reply, struct error *error)
{
    const struct client_store *s = store_operation(lane->op);
    if (reply->frame.kind != MSG_TENSOR_REPLY)
        return error_set(error, TR_EFORMAT, "partition %" PRIu32 " answered with something else",
                         lane->part);
    lane->at += lane->piece;
    return lane->at < s->groups.starts[lane->part + 1] - s->groups.starts[lane->part] ? LANE_MORE
                                                                                      : LANE_DONE;
}

static void store_fini(struct operation *op)
{
    id_groups_fini(&store_operation(op)->groups);
}

const struct operation_ops tensor_store_ops = {
    .state_bytes = sizeof(struct client_store),
    .size = store_size,
    .begin = store_begin,
    .wants = store_wants,
    .choose = store_choose,
    .make = store_make,
    .take = store_take,
    .read = tensor_read_here,
    .finish = order_finish,
    .fini = store_fini,
};
