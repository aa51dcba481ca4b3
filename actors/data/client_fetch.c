/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fetching: IDs grouped by owner, each owner's rows in pieces, put where the IDs stood.
 *
 * Invariants, from fetch_begin() on: partition p's IDs are places [starts[p], starts[p + 1]) of
 * `rows` and `places`, in the order of the request. A lane at p has taken the first `at` of them,
 * and asks for, or reads, the next `piece`. Each place of the answer is written once, by the lane
 * whose partition owns its ID, so lanes end in any order and the answer is the same.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "actors/data/client_state.h"
#include "graph/gather.h"
#include "graph/local_rows.h"
#include "graph/ranks.h"
#include "schemas/body.h"

/* Gathered at 0.5 GB/s, on memory that is slow and busy, these take 4 ms. */
#define SLICE_BYTES ((uint64_t)2 << 20)

struct client_fetch {
    struct operation op;
    const struct msg_fetch_request *head;
    uint32_t *starts; /* [num_parts + 1] into rows and places */
    uint32_t *rows;   /* [count] of their partitions, partition after partition */
    uint32_t *places; /* [count]: where each goes in the answer */
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

/* Rows of one piece of which request and answer stay within a bound; at least one. */
static uint32_t piece_rows(uint64_t row_bytes, uint64_t bytes, uint64_t left)
{
    uint64_t fit = bytes / (row_bytes + sizeof(uint32_t));
    fit = fit > 0 ? fit : 1;
    return (uint32_t)(fit < left ? fit : left);
}

/* A feature of an edge type, whose IDs are those of edges. */
static bool is_edge_feature(const struct msg_fetch_request *head)
{
    return head->table >= MSG_TABLE_EDGES && head->table < MSG_TABLE_RANKS;
}

/* Rows of edges, by ID or by rank; all other tables are of nodes. */
static bool is_of_edges(const struct msg_fetch_request *head)
{
    return head->table == MSG_TABLE_EDGE_RANKS || is_edge_feature(head);
}

static int check_type(const struct book *book, const struct msg_fetch_request *head,
                      struct error *error)
{
    bool edges = is_of_edges(head);
    uint32_t count = edges ? book->types.num_etypes : book->types.num_ntypes;
    return head->ntype < count
               ? 0
               : error_set(error, TR_ERANGE, "%s type %" PRIu32 ", the graph has %" PRIu32,
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
    uint64_t in_flight = CLIENT_LANES * piece;
    *bytes = (size_t)(out + (in_flight < out ? in_flight : out) + head->count * UINT64_C(16) +
                      (book->num_parts + UINT64_C(1)) * sizeof(uint32_t));
    return 0;
}

/* Whether IDs are ranks, whose even slices partitions have, and of how many; else rows are their
 * nodes' owners'. */
static bool has_ranks(const struct client_fetch *f, uint64_t *num_ranks)
{
    const struct book *book = f->op.client->options->book;
    if (f->head->table == MSG_TABLE_EDGE_RANKS) {
        *num_ranks = book->num_edges[f->head->ntype];
        return true;
    }
    uint32_t number = f->head->table - MSG_TABLE_RANKS;
    bool any = f->head->table >= MSG_TABLE_RANKS && f->head->table < MSG_TABLE_ORIGINAL_ID;
    if (any && number < book->num_ranks)
        *num_ranks = book->ranks[number].num_ranks;
    return any && number < book->num_ranks;
}

/* The partition that has the row of an ID, and which row of it; negative: none has, or it lies
 * farther into its partition than rows are counted. */
static int row_of(const struct client_fetch *f, uint64_t id, uint64_t *row)
{
    const struct book *book = f->op.client->options->book;
    uint64_t num_ranks;
    if (is_edge_feature(f->head)) {
        int part = book_edge_owner(book, f->head->ntype, id);
        if (part >= 0)
            *row = id - book->edge_extents[f->head->ntype][part].begin;
        return part >= 0 && *row > UINT32_MAX ? TR_ETOOBIG : part;
    }
    if (has_ranks(f, &num_ranks)) {
        if (id >= num_ranks)
            return TR_ERANGE;
        uint32_t part = ranks_part(num_ranks, book->num_parts, id);
        *row = id - ranks_begin(num_ranks, book->num_parts, part);
        return (int)part;
    }
    int owner = book_node_owner(book, f->head->ntype, id);
    if (owner >= 0)
        *row = id - book->node_extents[f->head->ntype][owner].begin;
    return owner;
}

static int say_no_row(const struct client_fetch *f, uint32_t at, uint64_t id, int code,
                      struct error *error)
{
    const struct book *book = f->op.client->options->book;
    uint32_t type = f->head->ntype;
    bool edges = is_of_edges(f->head);
    if (code == TR_ETOOBIG)
        return error_set(error, code,
                         "ids[%" PRIu64 "] = %" PRIu64 " of type %s lies beyond the first 2^32 "
                         "edges of its partition, whose rows alone may be fetched; make more "
                         "partitions",
                         f->head->first + at, id, book->types.etypes[type].name);
    return error_set(error, TR_ERANGE,
                     "ids[%" PRIu64 "] = %" PRIu64 " is no %s of type %s, which has %" PRIu64,
                     f->head->first + at, id,
                     !edges                     ? "node"
                     : is_edge_feature(f->head) ? "edge"
                                                : "rank of edges",
                     edges ? book->types.etypes[type].name : book->types.ntypes[type],
                     edges ? book->num_edges[type] : book->num_nodes[type]);
}

static int count_owners(struct client_fetch *f, const uint64_t *ids, uint32_t *owners,
                        struct error *error)
{
    for (uint32_t i = 0; i < f->head->count; i++) {
        uint64_t row;
        int owner = row_of(f, ids[i], &row);
        if (owner < 0)
            return say_no_row(f, i, ids[i], owner, error);
        owners[i] = (uint32_t)owner;
        f->starts[owner + 1]++;
    }
    return 0;
}

/* A counting sort by owner. */
static int fetch_group(struct client_fetch *f, const uint64_t *ids, uint32_t *owners,
                       struct error *error)
{
    const struct book *book = f->op.client->options->book;
    int rv = count_owners(f, ids, owners, error);
    if (rv != 0)
        return rv;
    for (uint32_t p = 0; p < book->num_parts; p++)
        f->starts[p + 1] += f->starts[p];
    for (uint32_t i = f->head->count; i-- > 0;) {
        uint64_t row = 0;
        uint32_t at = --f->starts[owners[i] + 1];
        row_of(f, ids[i], &row);
        f->rows[at] = (uint32_t)row;
        f->places[at] = i;
    }
    /* Each start stands one place too far to the right now. */
    memmove(f->starts, f->starts + 1, book->num_parts * sizeof *f->starts);
    f->starts[book->num_parts] = f->head->count;
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
    f->head = message_head(op->request);
    size_t room = (size_t)f->head->count + 1;
    f->starts = calloc(op->client->options->book->num_parts + (size_t)2, sizeof *f->starts);
    f->rows = malloc(room * sizeof *f->rows);
    f->places = malloc(room * sizeof *f->places);
    /* All memory comes before the grouping, which would be done anew with each attempt. */
    uint32_t *owners = malloc(room * sizeof *owners);
    int rv = f->starts == NULL || f->rows == NULL || f->places == NULL || owners == NULL
                 ? TR_ENOMEM
                 : make_reply(f);
    if (rv == 0)
        rv = fetch_group(f, message_body(op->request), owners, error);
    else
        error_set(error, rv, "no memory to fetch %" PRIu32 " rows", f->head->count);
    free(owners);
    return rv;
}

static bool fetch_wants(const struct operation *op, uint32_t part)
{
    const struct client_fetch *f = (const void *)op;
    return f->starts[part + 1] > f->starts[part];
}

static size_t fetch_choose(struct lane *lane)
{
    const struct client_fetch *f = fetch_operation(lane->op);
    uint32_t begin = f->starts[lane->part] + (uint32_t)lane->at;
    lane->piece = piece_rows(f->head->row_bytes, client_piece_bytes(lane->op->client),
                             f->starts[lane->part + 1] - begin);
    return (size_t)(lane->piece * f->head->row_bytes);
}

static int fetch_make(struct lane *lane, struct message **out)
{
    struct client_fetch *f = fetch_operation(lane->op);
    struct client *client = lane->op->client;
    uint32_t begin = f->starts[lane->part] + (uint32_t)lane->at;
    struct message *request = message_create(client->self, MSG_ROWS_REQUEST);
    size_t bytes = sizeof(struct msg_rows_section) + lane->piece * sizeof *f->rows;
    struct msg_rows_section *section = request == NULL
                                           ? NULL
                                           : message_body_alloc(client->self, request, bytes);
    if (section == NULL) {
        message_release(client->self, request);
        return TR_ENOMEM;
    }
    *section = (struct msg_rows_section){ f->head->ntype, f->head->table, lane->piece, 0 };
    memcpy(section + 1, f->rows + begin, lane->piece * sizeof *f->rows);
    struct msg_rows_request *head = message_head(request);
    head->part = lane->part;
    head->version = book_part_version(client->options->book, lane->part);
    head->num_sections = 1;
    *out = request;
    return 0;
}

static int step_on(struct client_fetch *f, struct lane *lane)
{
    lane->at += lane->piece;
    return lane->at < f->starts[lane->part + 1] - f->starts[lane->part] ? LANE_MORE : LANE_DONE;
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

static int fetch_take(struct lane *lane, struct message *reply, struct error *error)
{
    struct client_fetch *f = fetch_operation(lane->op);
    struct body_reader reader;
    const void *rows;
    int rv = reply->frame.kind != MSG_ROWS_REPLY
                 ? TR_EFORMAT
                 : rows_reply_begin(&reader, message_body(reply), reply->frame.body_bytes);
    if (rv == 0)
        rv = rows_reply_next(&reader, lane->piece, f->head->row_bytes, &rows);
    if (rv == 0)
        rv = rows_reply_end(&reader);
    if (rv != 0)
        return error_set(error, rv, "partition %" PRIu32 " answered with rows of the wrong shape",
                         lane->part);
    /* Rows are placed only now, when the whole body has its shape: they go by the numbers that
     * were asked for. */
    if (f->head->row_bytes > 0 && is_whole(f, lane, reply, rows))
        hand_on(f, reply);
    else if (f->head->row_bytes > 0)
        scatter_rows(f->out, f->places + f->starts[lane->part] + lane->at, rows, f->head->row_bytes,
                     lane->piece);
    return step_on(f, lane);
}

static int read_rows(struct lane *lane, struct error *error)
{
    struct client_fetch *f = fetch_operation(lane->op);
    const struct graph_part *part = snapshot_part(lane->snapshot);
    uint32_t begin = f->starts[lane->part] + (uint32_t)lane->at;
    struct local_table table;
    lane->piece = piece_rows(f->head->row_bytes, SLICE_BYTES, f->starts[lane->part + 1] - begin);
    /* The table must have the width that the answer was sized by, then the rows, before any is
     * copied. */
    int rv = local_table_find(part, f->head->ntype, f->head->table, &table, error);
    if (rv == 0 && table.row_bytes != f->head->row_bytes)
        rv = error_set(error, TR_EMISMATCH,
                       "partition %" PRIu32 ": rows of %" PRIu64 " bytes "
                       "asked for, the table has %zu",
                       lane->part, f->head->row_bytes, table.row_bytes);
    if (rv == 0)
        rv = local_rows_check(part, &table, f->rows + begin, lane->piece, error);
    if (rv != 0)
        return rv;
    if (f->head->row_bytes > 0)
        local_rows_scatter(&table, f->rows + begin, f->places + begin, lane->piece, f->out);
    return step_on(f, lane);
}

static void fetch_finish(struct operation *op)
{
    operation_end(op, 0, "");
}

static void fetch_fini(struct operation *op)
{
    struct client_fetch *f = fetch_operation(op);
    free(f->starts);
    free(f->rows);
    free(f->places);
    f->starts = f->rows = f->places = NULL;
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
