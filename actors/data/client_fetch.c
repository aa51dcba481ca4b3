/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fetching: IDs grouped by owner, each owner's rows in pieces, put where the IDs stood.
 *
 * Invariants, from fetch_begin() on: `groups` has each partition's IDs. A lane at p has taken the
 * first `at` of them, and asks for, or reads, the next `piece`. Each place of the answer is written
 * once, by the lane whose partition owns its ID, so lanes end in any order and the answer is the
 * same.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "actors/data/client_state.h"
#include "actors/data/id_groups.h"
#include "actors/data/sparse_reply.h"
#include "graph/csr.h"
#include "graph/gather.h"
#include "graph/local_rows.h"
#include "schemas/body.h"

/* Gathered at 0.5 GB/s, on memory that is slow and busy, these take 4 ms. */
#define SLICE_BYTES ((uint64_t)2 << 20)

struct client_fetch {
    struct operation op;
    const struct msg_fetch_request *head;
    struct id_groups groups;
    const struct feature_meta *sparse; /* of a table that partitions keep sparse; else NULL */
    unsigned char *out;
};

static struct client_fetch *fetch_operation(struct operation *op)
{
    return (struct client_fetch *)(void *)op;
}

uint32_t client_fetch_rows_max(uint64_t row_bytes)
{
    uint64_t rows = MSG_REPLY_BYTES_MAX / (row_bytes > 0 ? row_bytes : 1);
    return rows < CLIENT_FETCH_ROWS_MAX ? (uint32_t)rows : CLIENT_FETCH_ROWS_MAX;
}

/* The table's facts where its rows travel sparse: the owner answers in the form of fewer bytes. A
 * row that was announced with another width is left to the owner, which refuses it. */
static const struct feature_meta *find_sparse(const struct client *client,
                                              const struct msg_fetch_request *head)
{
    const struct graph_meta *meta = client->options->meta;
    if (meta == NULL || head->ntype >= meta->num_ntypes ||
        head->table >= meta->nodes[head->ntype].num_features)
        return NULL;
    const struct feature_meta *table = &meta->nodes[head->ntype].features[head->table];
    return table->form == TABLE_CSR && table->row_bytes == head->row_bytes ? table : NULL;
}

static int check_type(const struct book *book, const struct msg_fetch_request *head,
                      struct error *error)
{
    bool edges = table_is_of_edges(head->table);
    uint32_t count = edges ? book->types.num_etypes : book->types.num_ntypes;
    return head->ntype < count
               ? 0
               : error_set(error, TR_ERANGE,
                           "%s type %" PRIu32
                           ": types are numbered from 0, and the graph has %" PRIu32,
                           edges ? "edge" : "node", head->ntype, count);
}

static int fetch_size(const struct client *client, const struct message *request, size_t *bytes,
                      struct error *error)
{
    const struct msg_fetch_request *head = (const void *)request->head;
    const struct book *book = client->options->book;
    uint64_t out;
    int rv = check_type(book, head, error);
    if (rv != 0)
        return rv;
    if (__builtin_mul_overflow(head->count, head->row_bytes, &out) || out > MSG_REPLY_BYTES_MAX ||
        head->count > CLIENT_FETCH_ROWS_MAX)
        return error_set(error, TR_ETOOBIG,
                         "%" PRIu32 " rows of %" PRIu64 " bytes asked for at "
                         "once; ask for at most %" PRIu32,
                         head->count, head->row_bytes, client_fetch_rows_max(head->row_bytes));
    if (request->frame.body_bytes != head->count * UINT64_C(8))
        return error_set(error, TR_EFORMAT,
                         "%" PRIu32 " IDs announced, %" PRIu64 " bytes of them "
                         "came",
                         head->count, request->frame.body_bytes);
    uint64_t piece = client_piece_bytes(client);
    piece = piece > head->row_bytes ? piece : head->row_bytes;
    uint64_t beside = find_sparse(client, head) != NULL ? SPARSE_SECTION_BYTES : 0;
    uint64_t in_flight = CLIENT_LANES * (piece + beside);
    *bytes = (size_t)(out + (in_flight < out ? in_flight : out) +
                      head->count * (uint64_t)ID_GROUPS_BYTES +
                      (book->num_parts + UINT64_C(1)) * sizeof(uint32_t));
    return 0;
}

static int make_reply(struct client_fetch *f)
{
    struct actor *self = f->op.client->self;
    f->op.reply = message_create(self, MSG_FETCH_REPLY);
    if (f->op.reply == NULL)
        return TR_ENOMEM;
    *(struct msg_fetch_reply *)message_head(f->op.reply) = (struct msg_fetch_reply){
        .row_bytes = f->head->row_bytes, .count = f->head->count
    };
    size_t bytes = (size_t)(f->head->count * f->head->row_bytes);
    f->out = bytes == 0 ? NULL : message_body_alloc(self, f->op.reply, bytes);
    return f->out == NULL && bytes > 0 ? TR_ENOMEM : 0;
}

static int fetch_begin(struct operation *op, struct error *error)
{
    struct client_fetch *f = fetch_operation(op);
    const struct book *book = op->client->options->book;
    f->head = message_head(op->request);
    f->sparse = find_sparse(op->client, f->head);
    op->at_owners = f->head->table == MSG_TABLE_TENSOR;
    const struct id_list list = { .ids = message_body(op->request),
                                  .count = f->head->count,
                                  .first = f->head->first,
                                  .type = f->head->ntype,
                                  .table = f->head->table };
    /* All memory comes before the grouping, which would be done anew with each attempt. */
    int rv = id_groups_init(&f->groups, book, list.count);
    if (rv == 0)
        rv = make_reply(f);
    if (rv == 0)
        rv = id_groups_fill(&f->groups, book, &list, error);
    else
        error_set(error, rv, "no memory to fetch %" PRIu32 " rows", f->head->count);
    return rv;
}

static bool fetch_wants(const struct operation *op, uint32_t part)
{
    const struct client_fetch *f = (const void *)op;
    return f->groups.starts[part + 1] > f->groups.starts[part];
}

static size_t fetch_choose(struct lane *lane)
{
    const struct client_fetch *f = fetch_operation(lane->op);
    uint32_t begin = f->groups.starts[lane->part] + (uint32_t)lane->at;
    lane->piece = id_groups_piece(f->head->row_bytes, client_piece_bytes(lane->op->client),
                                  f->groups.starts[lane->part + 1] - begin);
    if (f->sparse == NULL)
        return (size_t)(lane->piece * f->head->row_bytes);
    const struct sparse_form form = feature_sparse_form(f->sparse);
    return (size_t)(lane->piece * sparse_row_bytes_max(&form) + SPARSE_SECTION_BYTES);
}

/* Of a tensor, which its owner alone has, with its number. */
static int make_tensor_read(const struct client_fetch *f, struct lane *lane, struct message **out)
{
    struct actor *self = f->op.client->self;
    uint32_t begin = f->groups.starts[lane->part] + (uint32_t)lane->at;
    size_t bytes = lane->piece * sizeof *f->groups.rows;
    struct message *request = message_create(self, MSG_TENSOR_READ);
    void *body = request == NULL ? NULL : message_body_alloc(self, request, bytes);
    if (body == NULL) {
        message_release(self, request);
        return TR_ENOMEM;
    }
    memcpy(body, f->groups.rows + begin, bytes);
    *(struct msg_tensor_read *)message_head(request) = (struct msg_tensor_read){
        .tensor = f->head->tensor,
        .row_bytes = f->head->row_bytes,
        .part = lane->part,
        .era = f->head->era,
        .count = lane->piece,
    };
    *out = request;
    return 0;
}

static int fetch_make(struct lane *lane, struct message **out)
{
    struct client_fetch *f = fetch_operation(lane->op);
    struct client *client = lane->op->client;
    if (f->head->table == MSG_TABLE_TENSOR)
        return make_tensor_read(f, lane, out);
    uint32_t begin = f->groups.starts[lane->part] + (uint32_t)lane->at;
    struct message *request = message_create(client->self, MSG_ROWS_REQUEST);
    size_t bytes = sizeof(struct msg_rows_section) + lane->piece * sizeof *f->groups.rows;
    struct msg_rows_section *section = request == NULL
                                           ? NULL
                                           : message_body_alloc(client->self, request, bytes);
    if (section == NULL) {
        message_release(client->self, request);
        return TR_ENOMEM;
    }
    *section = (struct msg_rows_section){ f->head->ntype, f->head->table, lane->piece, 0 };
    memcpy(section + 1, f->groups.rows + begin, lane->piece * sizeof *f->groups.rows);
    struct msg_rows_request *head = message_head(request);
    head->part = lane->part;
    head->version = book_part_version(client->options->book, lane->part);
    head->num_sections = 1;
    head->sparse = f->sparse != NULL;
    *out = request;
    return 0;
}

static int step_on(struct client_fetch *f, struct lane *lane)
{
    lane->at += lane->piece;
    return lane->at < f->groups.starts[lane->part + 1] - f->groups.starts[lane->part] ? LANE_MORE
                                                                                      : LANE_DONE;
}

/* All rows, in the order of the IDs, are one owner's answer: then its body becomes ours. */
static bool is_whole(const struct client_fetch *f, const struct lane *lane,
                     const struct message *reply, const void *rows)
{
    return lane->piece == f->head->count && rows == reply->body->data &&
           reply->frame.body_bytes == f->op.reply->frame.body_bytes;
}

static void hand_on(struct client_fetch *f, struct message *reply)
{
    struct actor *self = f->op.client->self;
    size_t bytes = (size_t)reply->frame.body_bytes;
    buffer_release(self, message_body_detach(f->op.reply));
    message_body_attach(f->op.reply, message_body_detach(reply), bytes);
    f->out = message_body(f->op.reply);
}

/* Rows that may have come sparse, widened where the answer has them. */
static int take_sparse(struct client_fetch *f, const struct lane *lane, struct body_reader *reader)
{
    const struct sparse_form form = feature_sparse_form(f->sparse);
    const uint32_t *places = f->groups.places + f->groups.starts[lane->part] + lane->at;
    struct sparse_answer answer;
    int rv = rows_reply_next_sparse(reader, lane->piece, &form, &answer);
    if (rv == 0)
        rv = rows_reply_end(reader);
    if (rv == 0 && answer.dense != NULL)
        scatter_rows(f->out, places, answer.dense, f->head->row_bytes, lane->piece);
    else if (rv == 0)
        csr_widen_answer(f->out, f->head->row_bytes, f->sparse->dtype, places, answer.counts,
                         answer.columns, answer.values, lane->piece);
    return rv;
}

static int fetch_take(struct lane *lane, struct message *reply, struct error *error)
{
    struct client_fetch *f = fetch_operation(lane->op);
    struct body_reader reader;
    const void *rows = NULL;
    int rv = reply->frame.kind != MSG_ROWS_REPLY
                 ? TR_EFORMAT
                 : rows_reply_begin(&reader, message_body(reply), reply->frame.body_bytes);
    if (rv == 0 && f->sparse != NULL) {
        rv = take_sparse(f, lane, &reader);
    } else if (rv == 0) {
        rv = rows_reply_next(&reader, lane->piece, f->head->row_bytes, &rows);
        if (rv == 0)
            rv = rows_reply_end(&reader);
    }
    if (rv != 0)
        return error_set(error, rv, "partition %" PRIu32 " answered with rows of the wrong shape",
                         lane->part);
    if (f->sparse != NULL)
        return step_on(f, lane);
    /* Rows are placed only now, when the whole body has its shape: they go by the numbers that
     * were asked for. */
    if (f->head->row_bytes > 0 && is_whole(f, lane, reply, rows))
        hand_on(f, reply);
    else if (f->head->row_bytes > 0)
        scatter_rows(f->out, f->groups.places + f->groups.starts[lane->part] + lane->at, rows,
                     f->head->row_bytes, lane->piece);
    return step_on(f, lane);
}

static int read_rows(struct lane *lane, struct error *error)
{
    struct client_fetch *f = fetch_operation(lane->op);
    const struct graph_part *part = snapshot_part(lane->snapshot);
    uint32_t begin = f->groups.starts[lane->part] + (uint32_t)lane->at;
    struct local_table table;
    /* The table must have the width that the answer was sized by, then the rows, before any is
     * copied. */
    int rv = local_table_find(part, f->head->ntype, f->head->table, &table, error);
    if (rv == 0 && table.row_bytes != f->head->row_bytes)
        rv = error_set(error, TR_EMISMATCH,
                       "partition %" PRIu32 ": rows of %" PRIu64 " bytes "
                       "asked for, the table has %zu",
                       lane->part, f->head->row_bytes, table.row_bytes);
    if (rv == 0) {
        /* Rows that are computed are fewer to a slice. */
        lane->piece = id_groups_piece(f->head->row_bytes, SLICE_BYTES / local_rows_cost(&table),
                                      f->groups.starts[lane->part + 1] - begin);
        rv = local_rows_check(part, &table, f->groups.rows + begin, lane->piece, error);
    }
    if (rv != 0)
        return rv;
    if (f->head->row_bytes > 0)
        local_rows_scatter(&table, f->groups.rows + begin, f->groups.places + begin, lane->piece,
                           f->out);
    return step_on(f, lane);
}

static void fetch_finish(struct operation *op)
{
    operation_end(op, 0, "");
}

static void fetch_fini(struct operation *op)
{
    struct client_fetch *f = fetch_operation(op);
    id_groups_fini(&f->groups);
    f->out = NULL;
}

const struct operation_ops fetch_ops = {
    .state_bytes = sizeof(struct client_fetch),
    .size = fetch_size,
    .begin = fetch_begin,
    .wants = fetch_wants,
    .choose = fetch_choose,
    .make = fetch_make,
    .take = fetch_take,
    .read = read_rows,
    .finish = fetch_finish,
    .fini = fetch_fini,
};
