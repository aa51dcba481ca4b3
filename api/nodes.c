/* SPDX-License-Identifier: Apache-2.0 */
/* Node sets, in the order of original IDs. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "actors/common/node_sort.h"
#include "api/internal.h"

struct selection {
    uint32_t ntype, table;
};

static int make_request(void *arg, struct port *port, uint64_t timeout_ns, struct message **out)
{
    const struct selection *s = arg;
    struct message *request = port_message(port, MSG_NODES_REQUEST);
    if (request == NULL)
        return TR_ENOMEM;
    *(struct msg_nodes_request *)message_head(request) = (struct msg_nodes_request){
        .timeout_ns = timeout_ns,
        .ntype = s->ntype,
        .table = s->table,
    };
    *out = request;
    return 0;
}

static int by_original(const void *a, const void *b)
{
    const struct node_pair *x = a, *y = b;
    return (x->original > y->original) - (x->original < y->original);
}

struct tr_nodes *nodes_create(struct tr_graph *graph, uint32_t ntype, size_t count)
{
    struct tr_nodes *nodes = calloc(1, sizeof *nodes);
    uint64_t *ids = calloc(count + 1, sizeof *ids);
    uint64_t *original_ids = calloc(count + 1, sizeof *original_ids);
    if (nodes == NULL || ids == NULL || original_ids == NULL) {
        free(nodes);
        free(ids);
        free(original_ids);
        session_failf(graph->session, TR_ENOMEM, "no memory for a set of %zu nodes", count);
        return NULL;
    }
    graph_acquire(graph);
    *nodes = (struct tr_nodes){
        .graph = graph, .ntype = ntype, .count = count, .ids = ids, .original_ids = original_ids
    };
    atomic_init(&nodes->references, 1);
    return nodes;
}

static int take_reply(struct tr_graph *graph, uint32_t ntype, const struct message *reply,
                      struct tr_nodes **out)
{
    const struct msg_nodes_reply *head = (const void *)reply->head;
    uint64_t bytes;
    if (reply->frame.kind != MSG_NODES_REPLY ||
        __builtin_mul_overflow(head->count, 2 * sizeof(uint64_t), &bytes) ||
        reply->frame.body_bytes != bytes)
        return session_failf(graph->session, TR_EFORMAT,
                             "the client answered with nodes of the wrong shape");
    struct tr_nodes *nodes = nodes_create(graph, ntype, head->count);
    if (nodes == NULL)
        return TR_ENOMEM;
    const uint64_t *ids = message_body(reply);
    if (bytes > 0) {
        memcpy(nodes->ids, ids, bytes / 2);
        memcpy(nodes->original_ids, ids + head->count, bytes / 2);
    }
    *out = nodes;
    return 0;
}

static int select_nodes(struct tr_graph *graph, uint32_t ntype, uint32_t table,
                        struct tr_nodes **out)
{
    struct selection s = { ntype, table };
    struct error error = { 0 };
    struct graph_port *port;
    struct message *reply;
    *out = NULL;
    if (ntype >= graph->book->types.num_ntypes)
        return session_failf(graph->session, TR_ERANGE, "node type %u, the graph has %u", ntype,
                             graph->book->types.num_ntypes);
    int rv = graph_enter(graph, &port);
    if (rv != 0)
        return session_failf(graph->session, rv, "the graph: %s", call_text(rv));
    uint64_t deadline_ns = graph_deadline(graph, port->port, TR_WAIT_FOREVER);
    rv = graph_operate(port->port, deadline_ns, make_request, &s, &reply, &error);
    if (rv == 0) {
        rv = take_reply(graph, ntype, reply, out);
        port_release(port->port, reply);
    } else {
        session_fail(graph->session, &error);
    }
    graph_leave(graph, port);
    return rv;
}

int tr_nodes_all(struct tr_graph *graph, uint32_t ntype, struct tr_nodes **out)
{
    return select_nodes(graph, ntype, MSG_MASK_ALL, out);
}

int tr_nodes_masked(struct tr_graph *graph, uint32_t ntype, const char *mask, struct tr_nodes **out)
{
    struct tr_feature_info info;
    *out = NULL;
    int rv = tr_graph_find_feature(graph, ntype, mask, &info);
    if (rv != 0)
        return session_failf(graph->session, rv, "node type %u has no feature \"%s\"", ntype, mask);
    if (info.width != 1 || (info.dtype != TR_BOOL && info.dtype != TR_U8))
        return session_failf(graph->session, TR_EINVAL,
                             "feature \"%s\" is %s with %" PRIu64
                             " elements a row; a mask is bool or uint8 with one",
                             mask, tr_dtype_name(info.dtype), info.width);
    int number = graph_meta_name(&graph->meta, mask);
    return select_nodes(graph, ntype,
                        (uint32_t)graph_meta_table(&graph->meta, ntype, (uint32_t)number), out);
}

static int make_set(struct tr_graph *graph, uint32_t ntype, const struct node_pair *pairs,
                    size_t count, struct tr_nodes **out)
{
    struct tr_nodes *nodes = nodes_create(graph, ntype, count);
    if (nodes == NULL)
        return TR_ENOMEM;
    for (size_t i = 0; i < count; i++) {
        nodes->ids[i] = pairs[i].global;
        nodes->original_ids[i] = pairs[i].original;
    }
    *out = nodes;
    return 0;
}

int tr_nodes_listed(struct tr_graph *graph, uint32_t ntype, const uint64_t *ids, size_t count,
                    struct tr_nodes **out)
{
    *out = NULL;
    struct node_pair *pairs = calloc(count + 1, sizeof *pairs);
    uint64_t *original_ids = calloc(count + 1, sizeof *original_ids);
    int rv = pairs != NULL && original_ids != NULL
                 ? 0
                 : session_failf(graph->session, TR_ENOMEM, "no memory for a set of %zu nodes",
                                 count);
    if (rv == 0)
        rv = tr_graph_original_ids(graph, ntype, ids, count, TR_WAIT_FOREVER, original_ids);
    for (size_t i = 0; i < count && rv == 0; i++)
        pairs[i] = (struct node_pair){ original_ids[i], ids[i] };
    if (rv == 0 && count > 0)
        qsort(pairs, count, sizeof *pairs, by_original);
    if (rv == 0)
        rv = make_set(graph, ntype, pairs, count, out);
    free(pairs);
    free(original_ids);
    return rv;
}

void nodes_release(struct tr_nodes *nodes)
{
    if (atomic_fetch_sub_explicit(&nodes->references, 1, memory_order_acq_rel) > 1)
        return;
    graph_release(nodes->graph);
    free(nodes->ids);
    free(nodes->original_ids);
    free(nodes);
}

void tr_nodes_close(struct tr_nodes *nodes)
{
    if (nodes != NULL)
        nodes_release(nodes);
}

uint32_t tr_nodes_ntype(const struct tr_nodes *nodes)
{
    return nodes->ntype;
}

size_t tr_nodes_count(const struct tr_nodes *nodes)
{
    return nodes->count;
}

static int check_piece(const struct tr_nodes *nodes, uint64_t offset, size_t count)
{
    if (offset <= nodes->count && count <= nodes->count - offset)
        return 0;
    return session_failf(nodes->graph->session, TR_ERANGE,
                         "nodes %" PRIu64 " to %" PRIu64 " of a set that has %zu", offset,
                         offset + count, nodes->count);
}

static int read_piece(const struct tr_nodes *nodes, const uint64_t *from, uint64_t offset,
                      size_t count, uint64_t *ids)
{
    int rv = check_piece(nodes, offset, count);
    if (rv == 0 && count > 0)
        memcpy(ids, from + offset, count * sizeof *ids);
    return rv;
}

int tr_nodes_ids(struct tr_nodes *nodes, uint64_t offset, size_t count, int64_t timeout_ns,
                 uint64_t *ids)
{
    (void)timeout_ns;
    return read_piece(nodes, nodes->ids, offset, count, ids);
}

int tr_nodes_original_ids(struct tr_nodes *nodes, uint64_t offset, size_t count, int64_t timeout_ns,
                          uint64_t *ids)
{
    (void)timeout_ns;
    return read_piece(nodes, nodes->original_ids, offset, count, ids);
}
