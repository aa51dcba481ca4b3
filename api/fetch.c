/* SPDX-License-Identifier: Apache-2.0 */
/* Rows by ID, in pieces, each an operation of the client, several under way. */
#include <inttypes.h>
#include <string.h>

#include "actors/data/client.h"
#include "actors/data/id_groups.h"
#include "api/internal.h"

/* A piece of a fetch: of each owner about so much, so that what is gathered, sent and received is
 * still in the caches of the thread that works on it next ... */
#define PIECE_BYTES ((size_t)1 << 20)
/* ... and no more in all, since several are under way. */
#define PIECE_BYTES_MAX ((size_t)8 << 20)
/* Under way: one is gathered, one travels, one is put into place. */
#define PIECES 4u

struct fetch {
    uint32_t ntype, table; /* of tables of edges, ntype is an edge type */
    uint32_t era;          /* of a tensor, */
    uint64_t tensor;       /* and its number */
    size_t row_bytes;
    const uint64_t *ids;
    size_t count;
    uint32_t piece_rows;
    unsigned char *rows;
    /* Rows are pairs of IDs, which go to two arrays; either may be NULL. */
    bool paired;
    uint64_t *firsts, *seconds;
};

/* One operation of the client. */
struct piece {
    const struct fetch *fetch;
    size_t first;
    uint32_t count;
    struct port_errand *errand;
};

static int make_request(void *arg, struct port *port, uint64_t timeout_ns, struct message **out)
{
    const struct piece *piece = arg;
    const struct fetch *f = piece->fetch;
    struct message *request = port_message(port, MSG_FETCH_REQUEST);
    size_t bytes = piece->count * sizeof *f->ids;
    void *body = request == NULL ? NULL : port_body_alloc(port, request, bytes);
    if (body == NULL) {
        port_release(port, request);
        return TR_ENOMEM;
    }
    if (bytes > 0)
        memcpy(body, f->ids + piece->first, bytes);
    *(struct msg_fetch_request *)message_head(request) = (struct msg_fetch_request){
        .timeout_ns = timeout_ns,
        .first = piece->first,
        .row_bytes = f->row_bytes,
        .ntype = f->ntype,
        .table = f->table,
        .count = piece->count,
        .era = f->era,
        .tensor = f->tensor,
    };
    *out = request;
    return 0;
}

static void put_pairs(const struct piece *piece, const uint64_t *pairs)
{
    const struct fetch *f = piece->fetch;
    for (size_t i = 0; f->firsts != NULL && i < piece->count; i++)
        f->firsts[piece->first + i] = pairs[2 * i];
    for (size_t i = 0; f->seconds != NULL && i < piece->count; i++)
        f->seconds[piece->first + i] = pairs[2 * i + 1];
}

static int take_reply(const struct piece *piece, const struct message *reply, struct error *error)
{
    const struct fetch *f = piece->fetch;
    size_t bytes = piece->count * f->row_bytes;
    if (reply->frame.kind != MSG_FETCH_REPLY || reply->frame.body_bytes != bytes)
        return error_set(error, TR_EFORMAT, "the client answered with rows of the wrong shape");
    if (f->paired)
        put_pairs(piece, message_body(reply));
    else if (bytes > 0)
        memcpy(f->rows + piece->first * f->row_bytes, message_body(reply), bytes);
    return 0;
}

static int finish_piece(struct piece *piece, struct port *port, uint64_t deadline_ns,
                        struct error *error)
{
    struct message *reply;
    int rv = graph_await(port, piece->errand, deadline_ns, make_request, piece, &reply, error);
    if (rv != 0)
        return rv;
    rv = take_reply(piece, reply, error);
    port_release(port, reply);
    return rv;
}

/* Without an errand it is begun when it is awaited. */
static void begin_piece(const struct fetch *f, struct port *port, const struct address *client,
                        size_t first, uint64_t deadline_ns, struct piece *piece)
{
    size_t left = f->count - first;
    *piece = (struct piece){ .fetch = f, .first = first };
    piece->count = left < f->piece_rows ? (uint32_t)left : f->piece_rows;
    if (client == NULL ||
        graph_begin(port, *client, deadline_ns, make_request, piece, &piece->errand) != 0)
        piece->errand = NULL;
}

/* Some pieces are under way while the oldest is put into place. A piece that is not awaited is
 * given up: nobody but this thread writes rows. */
static int fetch_pieces(const struct fetch *f, struct port *port, uint64_t deadline_ns,
                        struct error *error)
{
    struct piece pieces[PIECES];
    struct address client;
    bool found = f->count > 0 && graph_find_client(port, deadline_ns, &client) == 0;
    size_t begun = 0, done = 0, next = 0;
    int rv = 0;
    while (rv == 0 && (done < begun || next < f->count)) {
        /* A new piece goes before the wait for the oldest, so that the owners have work
         * meanwhile. */
        if (next < f->count && begun - done < PIECES) {
            struct piece *piece = &pieces[begun++ % PIECES];
            begin_piece(f, port, found ? &client : NULL, next, deadline_ns, piece);
            next += piece->count;
        } else {
            rv = finish_piece(&pieces[done++ % PIECES], port, deadline_ns, error);
        }
    }
    for (; done < begun; done++)
        if (pieces[done % PIECES].errand != NULL)
            port_abandon(port, pieces[done % PIECES].errand);
    return rv;
}

static int fetch_all(const struct tr_graph *graph, struct fetch *f, struct port *port,
                     uint64_t deadline_ns, struct error *error)
{
    size_t most = client_fetch_rows_max(f->row_bytes), row_bytes = f->row_bytes;
    if (most == 0)
        return error_set(error, TR_ETOOBIG,
                         "a row has %zu bytes; at most %" PRIu64 " fit a "
                         "message",
                         f->row_bytes, MSG_REPLY_BYTES_MAX);
    size_t bytes = graph->book->num_parts < PIECE_BYTES_MAX / PIECE_BYTES
                       ? graph->book->num_parts * PIECE_BYTES
                       : PIECE_BYTES_MAX;
    size_t fit = row_bytes == 0 ? most : row_bytes < bytes ? bytes / row_bytes : 1;
    f->piece_rows = (uint32_t)(fit < most ? fit : most);
    return fetch_pieces(f, port, deadline_ns, error);
}

/* All of them before the first row is written. */
static int check_ids(const struct tr_graph *graph, uint32_t type, uint32_t table,
                     const uint64_t *ids, size_t count, struct error *error)
{
    if (table == MSG_TABLE_EDGE_RANKS) /* are those of a range, which was checked */
        return 0;
    const struct table_ids of = table_ids_of(graph->book, type, table);
    for (size_t i = 0; i < count; i++)
        if (ids[i] >= of.count)
            return error_set(error, TR_ERANGE,
                             "ids[%zu] = %" PRIu64
                             ": no %s of type %s has this ID; it must be below %" PRIu64,
                             i, ids[i], of.what, of.type, of.count);
    return 0;
}

int graph_fetch_tensor(struct tr_graph *graph, struct port *port,
                       const struct graph_tensor_rows *tensor, const uint64_t *ids, size_t count,
                       uint64_t deadline_ns, void *rows, struct error *error)
{
    struct fetch f = { .ntype = tensor->ntype,
                       .table = MSG_TABLE_TENSOR,
                       .era = tensor->era,
                       .tensor = tensor->number,
                       .row_bytes = (size_t)tensor->row_bytes,
                       .ids = ids,
                       .count = count,
                       .rows = rows };
    int rv = check_ids(graph, tensor->ntype, MSG_TABLE_TENSOR, ids, count, error);
    return rv != 0 ? rv : fetch_all(graph, &f, port, deadline_ns, error);
}

/* Of one table, for IDs in any order, which are checked. */
static int fetch_here(struct tr_graph *graph, struct fetch *f, int64_t timeout_ns,
                      struct tr_error *error)
{
    struct error why = { 0 };
    struct graph_port *port;
    int rv = graph_enter(graph, &port);
    if (rv != 0)
        return graph_refused(graph, rv, error);
    rv = check_ids(graph, f->ntype, f->table, f->ids, f->count, &why);
    if (rv == 0)
        rv = fetch_all(graph, f, port->port, graph_deadline(graph, port->port, timeout_ns), &why);
    if (rv != 0)
        rv = graph_failed(graph, &why, error);
    /* The port is given back behind the reason of a failure: the graph may be gone then. */
    graph_leave(graph, port);
    return rv;
}

int graph_fetch_table(struct tr_graph *graph, uint32_t ntype, uint32_t table, size_t row_bytes,
                      const uint64_t *ids, size_t count, int64_t timeout_ns, void *rows,
                      struct tr_error *error)
{
    struct fetch f = { .ntype = ntype,
                       .table = table,
                       .row_bytes = row_bytes,
                       .ids = ids,
                       .count = count,
                       .rows = rows };
    return fetch_here(graph, &f, timeout_ns, error);
}

int graph_fetch_pairs(struct tr_graph *graph, uint32_t type, uint32_t table, const uint64_t *ids,
                      size_t count, int64_t timeout_ns, uint64_t *firsts, uint64_t *seconds,
                      struct tr_error *error)
{
    struct fetch f = { .ntype = type,
                       .table = table,
                       .row_bytes = 2 * sizeof *ids,
                       .ids = ids,
                       .count = count,
                       .paired = true,
                       .firsts = firsts,
                       .seconds = seconds };
    return fetch_here(graph, &f, timeout_ns, error);
}

int graph_check_ntype(const struct tr_graph *graph, uint32_t ntype, struct tr_error *error)
{
    int rv = session_mine(graph->session, error);
    if (rv != 0)
        return rv;
    if (ntype < graph->book->types.num_ntypes)
        return 0;
    return tr_error_set(error, TR_ERANGE,
                        "node type %u: types are numbered from 0, and the graph has %u", ntype,
                        graph->book->types.num_ntypes);
}

int graph_check_etype(const struct tr_graph *graph, uint32_t etype, struct tr_error *error)
{
    int rv = session_mine(graph->session, error);
    if (rv != 0)
        return rv;
    if (etype < graph->book->types.num_etypes)
        return 0;
    return tr_error_set(error, TR_ERANGE,
                        "edge type %u: types are numbered from 0, and the graph has %u", etype,
                        graph->book->types.num_etypes);
}

int graph_check_out_edges(const struct tr_graph *graph, uint32_t etype, struct tr_error *error)
{
    int rv = graph_check_etype(graph, etype, error);
    if (rv != 0 || graph->book->out_extents != NULL)
        return rv;
    return tr_error_set(error, TR_EUNSUPPORTED,
                        "%s: the partitions were written without out-edges; partition again with "
                        "--out-edges",
                        graph->path);
}

int tr_graph_fetch(struct tr_graph *graph, uint32_t ntype, const char *feature, const uint64_t *ids,
                   size_t count, int64_t timeout_ns, void *rows, struct tr_error *error)
{
    struct tr_feature_info info = TR_FEATURE_INFO_INIT;
    int rv = graph_check_ntype(graph, ntype, error);
    if (rv != 0)
        return rv;
    rv = tr_graph_find_feature(graph, ntype, feature, &info, error);
    if (rv != 0)
        return rv;
    int number = graph_meta_name(&graph->meta, feature);
    int table = graph_meta_table(&graph->meta, ntype, (uint32_t)number);
    return graph_fetch_table(graph, ntype, (uint32_t)table, info.row_bytes, ids, count, timeout_ns,
                             rows, error);
}

int tr_graph_fetch_edges(struct tr_graph *graph, uint32_t etype, const char *feature,
                         const uint64_t *edge_ids, size_t count, int64_t timeout_ns, void *rows,
                         struct tr_error *error)
{
    struct tr_feature_info info = TR_FEATURE_INFO_INIT;
    int rv = graph_check_etype(graph, etype, error);
    if (rv != 0)
        return rv;
    rv = tr_graph_find_edge_feature(graph, etype, feature, &info, error);
    if (rv != 0)
        return rv;
    int number = graph_meta_edge_name(&graph->meta, feature);
    int table = graph_meta_edge_table(&graph->meta, etype, (uint32_t)number);
    return graph_fetch_table(graph, etype, MSG_TABLE_EDGES + (uint32_t)table, info.row_bytes,
                             edge_ids, count, timeout_ns, rows, error);
}

int tr_graph_original_ids(struct tr_graph *graph, uint32_t ntype, const uint64_t *ids, size_t count,
                          int64_t timeout_ns, uint64_t *original_ids, struct tr_error *error)
{
    int rv = graph_check_ntype(graph, ntype, error);
    if (rv != 0)
        return rv;
    return graph_fetch_table(graph, ntype, MSG_TABLE_ORIGINAL_ID, sizeof(uint64_t), ids, count,
                             timeout_ns, original_ids, error);
}

/* Pieces are written where their ranks stood, when no attempt needs those any more. */
int graph_fetch_ranks(struct tr_graph *graph, int ranks, uint64_t *ids, size_t count,
                      int64_t timeout_ns, struct tr_error *error)
{
    return graph_fetch_table(graph, graph->book->ranks[ranks].ntype,
                             MSG_TABLE_RANKS + (uint32_t)ranks, sizeof *ids, ids, count, timeout_ns,
                             ids, error);
}

/* The same with the ranks of edges. */
int graph_fetch_edges(struct tr_graph *graph, uint32_t etype, uint64_t *ids, size_t count,
                      int64_t timeout_ns, struct tr_error *error)
{
    return graph_fetch_table(graph, etype, MSG_TABLE_EDGE_RANKS, sizeof *ids, ids, count,
                             timeout_ns, ids, error);
}

int tr_graph_degrees(struct tr_graph *graph, uint32_t ntype, const uint64_t *ids, size_t count,
                     int64_t timeout_ns, uint32_t *in_degrees, uint32_t *out_degrees,
                     struct tr_error *error)
{
    const struct deadline until = graph_until(graph, timeout_ns);
    int rv = graph_check_ntype(graph, ntype, error);
    if (rv == 0 && in_degrees != NULL)
        rv = graph_fetch_table(graph, ntype, MSG_TABLE_IN_DEGREE, sizeof(uint32_t), ids, count,
                               deadline_left_ns(&until), in_degrees, error);
    if (rv == 0 && out_degrees != NULL)
        rv = graph_fetch_table(graph, ntype, MSG_TABLE_OUT_DEGREE, sizeof(uint32_t), ids, count,
                               deadline_left_ns(&until), out_degrees, error);
    return rv;
}
