/* Rows by ID: grouped by owner, in pieces of a bounded size. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "api/internal.h"
#include "graph/gather.h"
#include "schemas/body.h"

/* Small against a link's window, large against the cost of a message. */
#define PIECE_BYTES ((size_t)4 << 20)

struct fetch {
    struct tr_graph *graph;
    uint32_t ntype, table;
    size_t row_bytes;
    uint32_t *owners;    /* [count] */
    uint32_t *rows;      /* [count], owner after owner */
    uint32_t *places;    /* [count]: where each row goes */
    size_t *starts;      /* [num_parts + 1] */
    /* The piece under way. */
    uint32_t part;
    size_t begin;
    uint32_t piece;
};

static int make_request(void *arg, struct port *port, struct message **out)
{
    const struct fetch *f = arg;
    struct message *request = port_message(port, MSG_ROWS_REQUEST);
    size_t bytes = sizeof(struct msg_rows_section) + f->piece * sizeof(uint32_t);
    struct msg_rows_section *section = request == NULL ? NULL : port_body_alloc(port, request, bytes);
    if (section == NULL) {
        port_release(port, request);
        return TR_ENOMEM;
    }
    *section = (struct msg_rows_section){ f->ntype, f->table, f->piece, 0 };
    memcpy(section + 1, f->rows + f->begin, f->piece * sizeof(uint32_t));
    struct msg_rows_request *head = message_head(request);
    head->part = f->part;
    head->version = f->graph->book->node_extents[f->ntype][f->part].version;
    head->num_sections = 1;
    *out = request;
    return 0;
}

static int take_reply(const struct fetch *f, const struct message *reply, void *to,
                      struct error *error)
{
    struct body_reader reader;
    const void *rows;
    int rv = reply->frame.kind != MSG_ROWS_REPLY ? TR_EFORMAT
             : rows_reply_begin(&reader, message_body(reply), reply->frame.body_bytes);
    if (rv == 0)
        rv = rows_reply_next(&reader, f->piece, f->row_bytes, &rows);
    if (rv == 0)
        rv = rows_reply_end(&reader);
    if (rv != 0)
        return error_set(error, rv, "partition %" PRIu32 " answered with rows of the wrong shape",
                         f->part);
    scatter_rows(to, f->places + f->begin, rows, f->row_bytes, f->piece);
    return 0;
}

static int fetch_part(struct fetch *f, struct port *port, uint64_t deadline_ns, void *to,
                      struct error *error)
{
    size_t end = f->starts[f->part + 1];
    size_t most = PIECE_BYTES / (f->row_bytes + sizeof(uint32_t)) + 1;
    int rv = 0;
    for (f->begin = f->starts[f->part]; f->begin < end && rv == 0; f->begin += f->piece) {
        size_t left = end - f->begin;
        f->piece = (uint32_t)(left < most ? left : most);
        struct message *reply;
        rv = graph_call_part(f->graph, port, f->part, deadline_ns, make_request, f, &reply, error);
        if (rv != 0)
            break;
        rv = take_reply(f, reply, to, error);
        port_release(port, reply);
    }
    return rv;
}

static int find_owners(struct fetch *f, const uint64_t *ids, size_t count, struct error *error)
{
    const struct book *book = f->graph->book;
    for (size_t i = 0; i < count; i++) {
        int owner = book_node_owner(book, f->ntype, ids[i]);
        if (owner < 0)
            return error_set(error, TR_ERANGE, "ids[%zu] = %" PRIu64 " is no node of type %s, "
                             "which has %" PRIu64, i, ids[i], book->types.ntypes[f->ntype],
                             book->num_nodes[f->ntype]);
        f->owners[i] = (uint32_t)owner;
        f->starts[owner + 1]++;
    }
    return 0;
}

/* A counting sort by owner. */
static int group(struct fetch *f, const uint64_t *ids, size_t count, struct error *error)
{
    const struct book *book = f->graph->book;
    f->owners = malloc((count + 1) * sizeof *f->owners);
    f->rows = malloc((count + 1) * sizeof *f->rows);
    f->places = malloc((count + 1) * sizeof *f->places);
    f->starts = calloc(book->num_parts + (size_t)2, sizeof *f->starts);
    if (f->owners == NULL || f->rows == NULL || f->places == NULL || f->starts == NULL)
        return error_set(error, TR_ENOMEM, "no memory to fetch %zu rows", count);
    int rv = find_owners(f, ids, count, error);
    if (rv != 0)
        return rv;
    for (uint32_t p = 0; p < book->num_parts; p++)
        f->starts[p + 1] += f->starts[p];
    for (size_t i = count; i-- > 0;) {
        uint32_t owner = f->owners[i];
        size_t at = --f->starts[owner + 1];
        f->rows[at] = (uint32_t)(ids[i] - book->node_extents[f->ntype][owner].begin);
        f->places[at] = (uint32_t)i;
    }
    /* Each start stands one place too far to the right now. */
    memmove(f->starts, f->starts + 1, book->num_parts * sizeof *f->starts);
    f->starts[book->num_parts] = count;
    return 0;
}

static int fetch_all(struct fetch *f, struct port *port, const uint64_t *ids, size_t count,
                     int64_t timeout_ns, void *rows, struct error *error)
{
    uint64_t deadline_ns = graph_deadline(f->graph, port, timeout_ns);
    int rv = group(f, ids, count, error);
    for (f->part = 0; f->part < f->graph->book->num_parts && rv == 0; f->part++)
        rv = fetch_part(f, port, deadline_ns, rows, error);
    free(f->owners);
    free(f->rows);
    free(f->places);
    free(f->starts);
    return rv;
}

int graph_fetch_table(struct tr_graph *graph, uint32_t ntype, uint32_t table, size_t row_bytes,
                      const uint64_t *ids, size_t count, int64_t timeout_ns, void *rows)
{
    struct fetch f = { .graph = graph, .ntype = ntype, .table = table, .row_bytes = row_bytes };
    struct error error = { 0 };
    if (count > UINT32_MAX)
        return session_failf(graph->session, TR_ETOOBIG,
                             "%zu rows asked for at once; ask for less than 2^32", count);
    struct graph_port *port;
    int rv = graph_enter(graph, &port);
    if (rv != 0)
        return session_failf(graph->session, rv, "the graph: %s", tr_strerror(rv));
    rv = fetch_all(&f, port->port, ids, count, timeout_ns, rows, &error);
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
    return graph_fetch_table(graph, ntype, (uint32_t)table, info.row_bytes, ids, count,
                             timeout_ns, rows);
}

int tr_graph_original_ids(struct tr_graph *graph, uint32_t ntype, const uint64_t *ids,
                          size_t count, int64_t timeout_ns, uint64_t *original_ids)
{
    int rv = check_ntype(graph, ntype);
    return rv != 0 ? rv : graph_fetch_table(graph, ntype, MSG_TABLE_ORIGINAL_ID, sizeof(uint64_t),
                                            ids, count, timeout_ns, original_ids);
}

int tr_graph_degrees(struct tr_graph *graph, uint32_t ntype, const uint64_t *ids, size_t count,
                     int64_t timeout_ns, uint32_t *in_degrees, uint32_t *out_degrees)
{
    int rv = check_ntype(graph, ntype);
    if (rv == 0 && in_degrees != NULL)
        rv = graph_fetch_table(graph, ntype, MSG_TABLE_IN_DEGREE, sizeof(uint32_t), ids, count,
                               timeout_ns, in_degrees);
    if (rv == 0 && out_degrees != NULL)
        rv = graph_fetch_table(graph, ntype, MSG_TABLE_OUT_DEGREE, sizeof(uint32_t), ids, count,
                               timeout_ns, out_degrees);
    return rv;
}
