/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tensors: each call is one or a few operations of the graph's client.
 *
 * One that is made is made at its home first, which decides who makes it, then at the others, and
 * last its home is told that it is there; until then the home has everybody else wait. So nobody
 * sees one that some owners do not have, and one whose maker failed half-way is taken back.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <troupe/dist_tensor.h>

#include "actors/data/client.h"
#include "api/internal.h"
#include "graph/key.h"
#include "schemas/body.h"

/* What was begun and failed is taken back in this time, by nobody who waits for it. */
#define TAKE_BACK_NS UINT64_C(10000000000)

/* Rows of one operation: of each owner about so many bytes, and no more in all. */
#define STORE_BYTES ((size_t)1 << 20)
#define STORE_BYTES_MAX ((size_t)8 << 20)

struct tr_dist_tensor {
    struct tr_graph *graph; /* a reference */
    uint64_t number;
    uint64_t row_bytes;
    uint32_t era; /* in which it was opened */
    uint32_t ntype, dtype, num_dims, name_bytes;
    bool made, held;
    uint64_t dims[MSG_TENSOR_DIMS_MAX];
    char name[MSG_TENSOR_NAME_MAX + 1];
};

/* One MSG_TENSOR_REQUEST. */
struct order {
    const struct tr_dist_tensor *tensor;
    uint32_t action, parts, flags;
};

static int order_make(void *arg, struct port *port, uint64_t timeout_ns, struct message **out)
{
    const struct order *order = arg;
    const struct tr_dist_tensor *t = order->tensor;
    size_t dims = t->num_dims * sizeof *t->dims;
    struct message *request = port_message(port, MSG_TENSOR_REQUEST);
    unsigned char *body = request == NULL ? NULL
                                          : port_body_alloc(port, request, dims + t->name_bytes);
    if (body == NULL) {
        port_release(port, request);
        return TR_ENOMEM;
    }
    memcpy(body, t->dims, dims);
    memcpy(body + dims, t->name, t->name_bytes);
    *(struct msg_tensor_request *)message_head(request) = (struct msg_tensor_request){
        .timeout_ns = timeout_ns,
        .tensor = t->number,
        .action = order->action,
        .parts = order->parts,
        .era = t->era,
        .ntype = t->ntype,
        .dtype = t->dtype,
        .num_dims = t->num_dims,
        .name_bytes = t->name_bytes,
        .flags = order->flags,
    };
    *out = request;
    return 0;
}

static int give_order(struct port *port, const struct tr_dist_tensor *tensor, uint32_t action,
                      uint32_t parts, uint32_t flags, uint64_t deadline_ns,
                      struct msg_tensor_reply *answer, struct error *error)
{
    struct order order = { tensor, action, parts, flags };
    struct message *reply;
    int rv = graph_operate(port, deadline_ns, order_make, &order, &reply, error);
    if (rv != 0)
        return rv;
    if (reply->frame.kind == MSG_TENSOR_REPLY)
        *answer = *(const struct msg_tensor_reply *)message_head(reply);
    else
        rv = error_set(error, TR_EFORMAT, "the client answered with something else");
    port_release(port, reply);
    return rv;
}

/* Names the tensor in whatever failed. */
static int tensor_failed(const struct tr_dist_tensor *t, const struct error *why,
                         struct tr_error *error)
{
    struct error named = *why;
    char begin[MSG_TENSOR_NAME_MAX + 16];
    snprintf(begin, sizeof begin, "tensor \"%s\"", t->name);
    if (strncmp(why->text, begin, strlen(begin)) != 0)
        error_set(&named, why->code, "%s of node type %s: %s", begin,
                  t->graph->book->types.ntypes[t->ntype],
                  why->text[0] != '\0' ? why->text : tr_strerror(why->code));
    named.process_1 = why->process_1;
    return graph_failed(t->graph, &named, error);
}

static int drop_at(struct port *port, struct tr_dist_tensor *t, uint64_t deadline_ns,
                   struct error *error)
{
    struct msg_tensor_reply answer = { .tensor = 0 };
    /* By its name it is looked for at its home, which says the number that the others know it by.
     * The home goes first: from then on nobody finds it. */
    int rv = give_order(port, t, MSG_TENSOR_DROP, MSG_TENSOR_HOME, 0, deadline_ns, &answer, error);
    if (t->number == 0)
        t->number = answer.tensor;
    if (rv == 0 && t->number != 0 && t->graph->book->num_parts > 1)
        rv = give_order(port, t, MSG_TENSOR_DROP, MSG_TENSOR_OTHERS, 0, deadline_ns, &answer,
                        error);
    return rv == TR_EROLLBACK ? 0 : rv; /* it went with its era */
}

/* The client goes on with it when this has returned: the time of the call that failed is over. */
static void take_back(struct port *port, const struct tr_dist_tensor *t)
{
    uint64_t now_ns = port_now_ns(port), until_ns = now_ns + TAKE_BACK_NS;
    struct address client;
    if (graph_find_client(port, now_ns, &client) != 0)
        return;
    for (uint32_t parts = MSG_TENSOR_HOME; parts <= MSG_TENSOR_OTHERS; parts++) {
        struct order order = { t, MSG_TENSOR_DROP, parts, 0 };
        struct port_errand *errand;
        if (graph_begin(port, client, until_ns, order_make, &order, &errand) == 0)
            port_abandon(port, errand);
    }
}

static int publish_at(struct port *port, struct tr_dist_tensor *t, uint64_t deadline_ns,
                      struct error *error)
{
    struct msg_tensor_reply answer;
    int rv = give_order(port, t, MSG_TENSOR_READY, MSG_TENSOR_HOME, 0, deadline_ns, &answer, error);
    if (rv == 0)
        t->held = false;
    return rv;
}

static int open_at(struct port *port, struct tr_dist_tensor *t,
                   const struct tr_dist_tensor_options *o, uint64_t deadline_ns,
                   struct error *error)
{
    uint32_t flags = o->attach ? 0 : MSG_TENSOR_CREATE;
    uint64_t own = t->number;
    struct msg_tensor_reply answer;
    int rv = give_order(port, t, MSG_TENSOR_OPEN, MSG_TENSOR_HOME, flags, deadline_ns, &answer,
                        error);
    if (rv == 0) {
        t->number = answer.tensor;
        t->era = answer.era;
        t->made = t->held = answer.created != 0;
    }
    if (rv == 0 && t->made && t->graph->book->num_parts > 1)
        rv = give_order(port, t, MSG_TENSOR_OPEN, MSG_TENSOR_OTHERS, MSG_TENSOR_CREATE, deadline_ns,
                        &answer, error);
    if (rv == 0 && t->made && !o->hold)
        rv = publish_at(port, t, deadline_ns, error);
    /* The answer to a request that made it may be all that is missing: it is taken back by the
     * number that it would have. */
    if (rv != 0 && !o->attach && (t->made || rv == TR_ETIMEDOUT || rv == TR_ECANCELED)) {
        t->number = own;
        take_back(port, t);
    }
    return rv;
}

static int fill_name(struct tr_dist_tensor *t, const char *name, struct tr_error *error)
{
    size_t bytes = name == NULL ? 0 : strnlen(name, MSG_TENSOR_NAME_MAX + 1);
    if (bytes == 0 || bytes > MSG_TENSOR_NAME_MAX)
        return tr_error_set(error, TR_EINVAL, "name: a tensor's has 1 to %u bytes",
                            MSG_TENSOR_NAME_MAX);
    for (size_t i = 0; i < bytes; i++)
        if ((unsigned char)name[i] < 0x20 || name[i] == 0x7f)
            return tr_error_set(error, TR_EINVAL, "name: byte %zu is a control character", i);
    t->name_bytes = (uint32_t)bytes;
    memcpy(t->name, name, bytes);
    return 0;
}

static int check_ntype(const struct tr_graph *graph, uint32_t ntype, struct tr_error *error)
{
    return ntype < graph->book->types.num_ntypes
               ? 0
               : tr_error_set(error, TR_ERANGE,
                              "ntype: node type %" PRIu32
                              ": types are numbered from 0, and the graph has %" PRIu32,
                              ntype, graph->book->types.num_ntypes);
}

static int fill_tensor(struct tr_dist_tensor *t, const struct tr_dist_tensor_options *o,
                       struct tr_error *error)
{
    uint64_t bytes = tr_dtype_size((enum tr_dtype)o->dtype);
    int rv = fill_name(t, o->name, error);
    if (rv == 0)
        rv = check_ntype(t->graph, o->ntype, error);
    if (rv != 0)
        return rv;
    if (bytes == 0)
        return tr_error_set(error, TR_EINVAL, "dtype: %" PRIu32 " is not a value of enum tr_dtype",
                            o->dtype);
    if (o->num_dims > MSG_TENSOR_DIMS_MAX)
        return tr_error_set(error, TR_EINVAL, "num_dims: %" PRIu32 ", a row has at most %u",
                            o->num_dims, MSG_TENSOR_DIMS_MAX);
    if (o->num_dims > 0 && o->dims == NULL)
        return tr_error_set(error, TR_EINVAL, "dims: it is NULL, and num_dims is %" PRIu32,
                            o->num_dims);
    for (uint32_t i = 0; i < o->num_dims; i++) {
        t->dims[i] = o->dims[i];
        if (__builtin_mul_overflow(bytes, o->dims[i], &bytes))
            bytes = UINT64_MAX;
    }
    if (bytes > MSG_TENSOR_ROW_BYTES_MAX)
        return tr_error_set(error, TR_ETOOBIG,
                            "dims: a row of tensor \"%s\" has more than %" PRIu64 " bytes", t->name,
                            MSG_TENSOR_ROW_BYTES_MAX);
    t->ntype = o->ntype;
    t->dtype = o->dtype;
    t->num_dims = o->num_dims;
    t->row_bytes = bytes;
    return 0;
}

/* No other tensor of the job ever has it: the process, its life and the count of what it opened are
 * mixed by a bijection of each. */
static uint64_t draw_number(struct tr_graph *graph)
{
    uint64_t number = 0;
    while (number == 0)
        number = key_mix(key_of_pair(key_of_pair(graph->process, graph_incarnation(graph)),
                                     atomic_fetch_add(&graph->session->next_loader, 1)));
    return number;
}

/* A handle with nothing but its graph. */
static struct tr_dist_tensor *tensor_create(struct tr_graph *graph, struct tr_error *error)
{
    struct tr_dist_tensor *t = calloc(1, sizeof *t);
    if (t == NULL) {
        tr_error_set(error, TR_ENOMEM, "no memory for a tensor");
        return NULL;
    }
    graph_acquire(graph);
    t->graph = graph;
    return t;
}

int tr_dist_tensor_open(struct tr_graph *graph, const struct tr_dist_tensor_options *options,
                        int64_t timeout_ns, struct tr_dist_tensor **out, struct tr_error *error)
{
    struct tr_dist_tensor_options o = TR_DIST_TENSOR_OPTIONS_INIT;
    struct error why = { 0 };
    struct graph_port *port;
    *out = NULL;
    int rv = session_mine(graph->session, error);
    if (rv == 0)
        rv = sized_read(&o, sizeof o, options, "tr_dist_tensor_options", error);
    if (rv != 0)
        return rv;
    struct tr_dist_tensor *t = tensor_create(graph, error);
    if (t == NULL)
        return TR_ENOMEM;
    rv = fill_tensor(t, &o, error);
    if (rv == 0) {
        rv = graph_enter(graph, &port);
        if (rv != 0)
            graph_refused(graph, rv, error);
    }
    if (rv == 0) {
        t->number = draw_number(graph);
        t->era = job_era_now(&graph->actors.era);
        rv = open_at(port->port, t, &o, graph_deadline(graph, port->port, timeout_ns), &why);
        if (rv != 0)
            rv = tensor_failed(t, &why, error);
        /* The port is given back behind the reason of a failure: the graph may be gone then. */
        graph_leave(graph, port);
    }
    if (rv != 0) {
        tr_dist_tensor_close(t);
        return rv;
    }
    *out = t;
    return 0;
}

void tr_dist_tensor_close(struct tr_dist_tensor *tensor)
{
    if (tensor == NULL || session_is_child(tensor->graph->session))
        return;
    graph_release(tensor->graph);
    free(tensor);
}

int tr_dist_tensor_info(const struct tr_dist_tensor *tensor, struct tr_dist_tensor_info *info,
                        struct tr_error *error)
{
    const struct tr_dist_tensor_info full = {
        .size = sizeof full,
        .name = tensor->name,
        .dims = tensor->dims,
        .num_rows = tensor->graph->book->num_nodes[tensor->ntype],
        .row_bytes = tensor->row_bytes,
        .num_dims = tensor->num_dims,
        .ntype = tensor->ntype,
        .dtype = tensor->dtype,
        .made = tensor->made,
    };
    return sized_write(info, &full, sizeof full, "tr_dist_tensor_info", error);
}

/* Runs `act` on a tensor between entering and leaving its graph. */
static int tensor_call(struct tr_dist_tensor *t, int64_t timeout_ns,
                       int (*act)(struct port *, struct tr_dist_tensor *, uint64_t, struct error *),
                       struct tr_error *error)
{
    struct error why = { 0 };
    struct graph_port *port;
    int rv = session_mine(t->graph->session, error);
    if (rv != 0)
        return rv;
    rv = graph_enter(t->graph, &port);
    if (rv != 0)
        return graph_refused(t->graph, rv, error);
    rv = act(port->port, t, graph_deadline(t->graph, port->port, timeout_ns), &why);
    if (rv != 0)
        rv = tensor_failed(t, &why, error);
    graph_leave(t->graph, port);
    return rv;
}

int tr_dist_tensor_publish(struct tr_dist_tensor *tensor, int64_t timeout_ns,
                           struct tr_error *error)
{
    return tensor->held ? tensor_call(tensor, timeout_ns, publish_at, error)
                        : session_mine(tensor->graph->session, error);
}

int tr_dist_tensor_drop(struct tr_dist_tensor *tensor, int64_t timeout_ns, struct tr_error *error)
{
    return tensor_call(tensor, timeout_ns, drop_at, error);
}

int tr_dist_tensor_delete(struct tr_graph *graph, uint32_t ntype, const char *name,
                          int64_t timeout_ns, struct tr_error *error)
{
    int rv = session_mine(graph->session, error);
    if (rv == 0)
        rv = check_ntype(graph, ntype, error);
    struct tr_dist_tensor *t = rv == 0 ? tensor_create(graph, error) : NULL;
    if (t == NULL)
        return rv != 0 ? rv : TR_ENOMEM;
    t->ntype = ntype;
    t->era = job_era_now(&graph->actors.era);
    rv = fill_name(t, name, error);
    if (rv == 0)
        rv = tensor_call(t, timeout_ns, drop_at, error);
    tr_dist_tensor_close(t);
    return rv;
}

int tr_dist_tensor_read(struct tr_dist_tensor *tensor, const uint64_t *ids, size_t count,
                        int64_t timeout_ns, void *rows, struct tr_error *error)
{
    const struct tr_dist_tensor *t = tensor;
    const struct graph_tensor_rows read = { t->ntype, t->era, t->number, t->row_bytes };
    struct error why = { 0 };
    int rv = session_mine(t->graph->session, error);
    if (rv != 0)
        return rv;
    struct graph_port *port;
    rv = graph_enter(t->graph, &port);
    if (rv != 0)
        return graph_refused(t->graph, rv, error);
    rv = graph_fetch_tensor(t->graph, port->port, &read, ids, count,
                            graph_deadline(t->graph, port->port, timeout_ns), rows, &why);
    if (rv != 0)
        rv = tensor_failed(t, &why, error);
    graph_leave(t->graph, port);
    return rv;
}

/* Rows of one operation of the client. */
struct tensor_rows_piece {
    const struct tr_dist_tensor *tensor;
    const uint64_t *ids;
    const unsigned char *rows;
    uint64_t first;
    uint32_t count;
};

static int store_make(void *arg, struct port *port, uint64_t timeout_ns, struct message **out)
{
    const struct tensor_rows_piece *s = arg;
    const struct tr_dist_tensor *t = s->tensor;
    size_t numbers = s->count * sizeof *s->ids, bytes = (size_t)(s->count * t->row_bytes);
    size_t begin = (size_t)tensor_rows_begin(s->count, sizeof *s->ids);
    struct message *request = port_message(port, MSG_TENSOR_STORE);
    unsigned char *body = request == NULL ? NULL : port_body_alloc(port, request, begin + bytes);
    if (body == NULL) {
        port_release(port, request);
        return TR_ENOMEM;
    }
    memcpy(body, s->ids + s->first, numbers);
    memset(body + numbers, 0, begin - numbers);
    if (bytes > 0)
        memcpy(body + begin, s->rows + s->first * t->row_bytes, bytes);
    *(struct msg_tensor_store *)message_head(request) = (struct msg_tensor_store){
        .timeout_ns = timeout_ns,
        .first = s->first,
        .tensor = t->number,
        .row_bytes = t->row_bytes,
        .ntype = t->ntype,
        .era = t->era,
        .count = s->count,
    };
    *out = request;
    return 0;
}

static uint32_t store_rows(const struct tr_dist_tensor *t)
{
    uint32_t parts = t->graph->book->num_parts;
    uint64_t bytes = parts < STORE_BYTES_MAX / STORE_BYTES ? parts * STORE_BYTES : STORE_BYTES_MAX;
    uint64_t fit = bytes / (t->row_bytes + sizeof(uint64_t));
    return fit == 0 ? 1 : fit < CLIENT_FETCH_ROWS_MAX ? (uint32_t)fit : CLIENT_FETCH_ROWS_MAX;
}

/* One operation after the other: a row may be in several, and the last one counts. */
static int store_all(struct port *port, const struct tr_dist_tensor *t, const uint64_t *ids,
                     size_t count, const void *rows, uint64_t deadline_ns, struct error *error)
{
    uint32_t most = store_rows(t);
    uint64_t num_nodes = t->graph->book->num_nodes[t->ntype];
    for (size_t i = 0; i < count; i++)
        if (ids[i] >= num_nodes)
            return error_set(error, TR_ERANGE,
                             "ids[%zu] = %" PRIu64
                             ": no node of type %s has this ID; it must be below %" PRIu64,
                             i, ids[i], t->graph->book->types.ntypes[t->ntype], num_nodes);
    int rv = 0;
    for (size_t first = 0; first < count && rv == 0; first += most) {
        size_t left = count - first;
        struct tensor_rows_piece s = { t, ids, rows, first, left < most ? (uint32_t)left : most };
        struct message *reply;
        rv = graph_operate(port, deadline_ns, store_make, &s, &reply, error);
        if (rv == 0)
            port_release(port, reply);
    }
    return rv;
}

int tr_dist_tensor_write(struct tr_dist_tensor *tensor, const uint64_t *ids, size_t count,
                         const void *rows, int64_t timeout_ns, struct tr_error *error)
{
    const struct tr_dist_tensor *t = tensor;
    struct error why = { 0 };
    int rv = session_mine(t->graph->session, error);
    if (rv != 0)
        return rv;
    struct graph_port *port;
    rv = graph_enter(t->graph, &port);
    if (rv != 0)
        return graph_refused(t->graph, rv, error);
    rv = store_all(port->port, t, ids, count, rows,
                   graph_deadline(t->graph, port->port, timeout_ns), &why);
    if (rv != 0)
        rv = tensor_failed(t, &why, error);
    graph_leave(t->graph, port);
    return rv;
}
