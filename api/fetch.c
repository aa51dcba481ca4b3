/* Rows by ID, as many at a time as one operation of the client takes. */
#include <inttypes.h>
#include <string.h>

#include "actors/client.h"
#include "api/internal.h"

struct fetch {
    uint32_t ntype, table;
    size_t row_bytes;
    const uint64_t *ids;
    size_t first;
    uint32_t count; /* of this piece */
};

static int make_request(void *arg, struct port *port, uint64_t timeout_ns, struct message **out)
{
    const struct fetch *f = arg;
    struct message *request = port_message(port, MSG_FETCH_REQUEST);
    size_t bytes = f->count * sizeof *f->ids;
    void *body = request == NULL ? NULL : port_body_alloc(port, request, bytes);
    if (body == NULL) {
        port_release(port, request);
        return TR_ENOMEM;
    }
    if (bytes > 0)
        memcpy(body, f->ids + f->first, bytes);
    *(struct msg_fetch_request *)message_head(request) = (struct msg_fetch_request){
        .timeout_ns = timeout_ns,
        .first = f->first,
        .row_bytes = f->row_bytes,
        .ntype = f->ntype,
        .table = f->table,
        .count = f->count,
    };
    *out = request;
    return 0;
}

static int take_reply(const struct fetch *f, const struct message *reply, unsigned char *rows,
                      struct error *error)
{
    size_t bytes = f->count * f->row_bytes;
    if (reply->frame.kind != MSG_FETCH_REPLY || reply->frame.body_bytes != bytes)
        return error_set(error, TR_EFORMAT, "the client answered with rows of the wrong shape");
    if (bytes > 0)
        memcpy(rows + f->first * f->row_bytes, message_body(reply), bytes);
    return 0;
}

static int fetch_all(struct fetch *f, struct port *port, size_t count, uint64_t deadline_ns,
                     void *rows, struct error *error)
{
    size_t most = client_fetch_rows_max(f->row_bytes);
    int rv = most > 0 ? 0 : error_set(error, TR_ETOOBIG, "a row has %zu bytes; at most %" PRIu64
                                      " fit a message", f->row_bytes, MSG_REPLY_BYTES_MAX);
    for (f->first = 0; f->first < count && rv == 0; f->first += f->count) {
        struct message *reply;
        f->count = (uint32_t)(count - f->first < most ? count - f->first : most);
        rv = graph_operate(port, deadline_ns, make_request, f, &reply, error);
        if (rv != 0)
            break;
        rv = take_reply(f, reply, rows, error);
        port_release(port, reply);
    }
    return rv;
}

/* All of them before the first row is written. */
static int check_ids(const struct tr_graph *graph, uint32_t ntype, const uint64_t *ids,
                     size_t count, struct error *error)
{
    uint64_t nodes = graph->book->num_nodes[ntype];
    for (size_t i = 0; i < count; i++)
        if (ids[i] >= nodes)
            return error_set(error, TR_ERANGE, "ids[%zu] = %" PRIu64 " is no node of type %s, "
                             "which has %" PRIu64, i, ids[i], graph->book->types.ntypes[ntype],
                             nodes);
    return 0;
}

/* Rows of one table for IDs in any order, checked; rows: [count * row_bytes]. */
static int fetch_table(struct tr_graph *graph, uint32_t ntype, uint32_t table, size_t row_bytes,
                       const uint64_t *ids, size_t count, int64_t timeout_ns, void *rows)
{
    struct fetch f = { .ntype = ntype, .table = table, .row_bytes = row_bytes, .ids = ids };
    struct error error = { 0 };
    struct graph_port *port;
    int rv = graph_enter(graph, &port);
    if (rv != 0)
        return session_failf(graph->session, rv, "the graph: %s", tr_strerror(rv));
    rv = check_ids(graph, ntype, ids, count, &error);
    if (rv == 0)
        rv = fetch_all(&f, port->port, count, graph_deadline(graph, port->port, timeout_ns), rows,
                       &error);
    graph_leave(graph, port);
    return rv == 0 ? 0 : session_fail(graph->session, &error);
}

static int check_ntype(struct tr_graph *graph, uint32_t ntype)
{
    if (ntype < graph->book->types.num_ntypes)
        return 0;
    return session_failf(graph->session, TR_ERANGE, "node type %u, the graph has %u", ntype,
                         graph->book->types.num_ntypes);
}

int tr_graph_fetch(struct tr_graph *graph, uint32_t ntype, const char *feature,
                   const uint64_t *ids, size_t count, int64_t timeout_ns, void *rows)
{
    struct tr_feature_info info;
    int rv = check_ntype(graph, ntype);
    if (rv != 0)
        return rv;
    rv = tr_graph_find_feature(graph, ntype, feature, &info);
    if (rv != 0)
        return session_failf(graph->session, rv, "nodes of type %s have no feature \"%s\"",
                             tr_graph_ntype_name(graph, ntype), feature);
    int number = graph_meta_name(&graph->meta, feature);
    int table = graph_meta_table(&graph->meta, ntype, (uint32_t)number);
    return fetch_table(graph, ntype, (uint32_t)table, info.row_bytes, ids, count, timeout_ns,
                       rows);
}

int tr_graph_original_ids(struct tr_graph *graph, uint32_t ntype, const uint64_t *ids,
                          size_t count, int64_t timeout_ns, uint64_t *original_ids)
{
    int rv = check_ntype(graph, ntype);
    if (rv != 0)
        return rv;
    return fetch_table(graph, ntype, MSG_TABLE_ORIGINAL_ID, sizeof(uint64_t), ids, count,
                       timeout_ns, original_ids);
}

int tr_graph_degrees(struct tr_graph *graph, uint32_t ntype, const uint64_t *ids, size_t count,
                     int64_t timeout_ns, uint32_t *in_degrees, uint32_t *out_degrees)
{
    int rv = check_ntype(graph, ntype);
    if (rv == 0 && in_degrees != NULL)
        rv = fetch_table(graph, ntype, MSG_TABLE_IN_DEGREE, sizeof(uint32_t), ids, count,
                         timeout_ns, in_degrees);
    if (rv == 0 && out_degrees != NULL)
        rv = fetch_table(graph, ntype, MSG_TABLE_OUT_DEGREE, sizeof(uint32_t), ids, count,
                         timeout_ns, out_degrees);
    return rv;
}
