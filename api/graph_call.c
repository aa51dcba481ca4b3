/* SPDX-License-Identifier: Apache-2.0 */
/* The blocking shell over the graph's client: a thread posts an operation and waits. */
#include <time.h>

#include "actors/common/error_reply.h"
#include "actors/common/part_call.h"
#include "actors/data/client.h"
#include "api/internal.h"

/* A client that is being started again is looked for after this. */
#define RETRY_NS 5000000L

/* The client ends an operation at its deadline by itself, with a message; so much later it is
 * given up. */
#define GRACE_NS UINT64_C(1000000000)

static int64_t timeout_of(const struct tr_graph *graph, int64_t timeout_ns)
{
    return timeout_ns < 0 ? graph->session->options.recovery_deadline_ns : timeout_ns;
}

uint64_t graph_deadline(const struct tr_graph *graph, const struct port *port, int64_t timeout_ns)
{
    return port_now_ns(port) + (uint64_t)timeout_of(graph, timeout_ns);
}

struct deadline graph_until(const struct tr_graph *graph, int64_t timeout_ns)
{
    return deadline_after(timeout_of(graph, timeout_ns));
}

int graph_reason(struct tr_graph *graph, int rv)
{
    if (rv != TR_ECLOSED)
        return rv;
    int reason = atomic_load(&graph->actors.reason);
    /* The node's failure is asked for behind that of the actors, which names the cause; while the
     * graph is stopping there may be no node. */
    pthread_mutex_lock(&graph->mutex);
    if (reason == 0 && !graph->stopping)
        reason = node_failure(graph->node);
    pthread_mutex_unlock(&graph->mutex);
    if (reason == TR_ETIMEDOUT) /* only the call itself may say that */
        reason = TR_EPEERDOWN;
    return reason != 0 ? reason : rv;
}

int graph_say_closed(struct tr_graph *graph, const char *call, const struct error *why,
                     struct tr_error *error)
{
    pthread_mutex_lock(&graph->mutex);
    bool stopping = graph->stopping, over = graph->over;
    pthread_mutex_unlock(&graph->mutex);
    int reason = graph_reason(graph, TR_ECLOSED);
    /* The session goes first, since its end ends the actors too, and a failure of theirs before the
     * end of the job. Only the session stops a graph under a call: handles hold the graph. */
    if (stopping)
        return tr_error_set(error, TR_ECLOSED, "%s: the session is closed", call);
    if (reason != TR_ECLOSED)
        return tr_error_set(error, TR_ECLOSED, "%s: the actors of this process ended: %s", call,
                            tr_strerror(reason));
    if (over || atomic_load(&graph->actors.ended))
        return tr_error_set(error, TR_ECLOSED,
                            "%s: the job has ended, and with it the actors of this process", call);
    if (why != NULL && why->code == TR_ECLOSED)
        return error_give(why, error);
    return tr_error_set(error, TR_ECLOSED, "%s: %s", call, tr_strerror(TR_ECLOSED));
}

int graph_refused(struct tr_graph *graph, int rv, struct tr_error *error)
{
    rv = graph_reason(graph, rv);
    if (rv == TR_ECLOSED)
        return graph_say_closed(graph, "the graph", NULL, error);
    return tr_error_set(error, rv, "the graph: %s", call_text(rv));
}

int graph_failed(struct tr_graph *graph, const struct error *why, struct tr_error *error)
{
    int rv = graph_reason(graph, why->code);
    if (rv == TR_ECLOSED)
        return graph_say_closed(graph, "the graph", why, error);
    if (rv == TR_ETIMEDOUT && rv == why->code) {
        struct error named = *why;
        graph_name_absent(graph, &named);
        return error_give(&named, error);
    }
    return rv == why->code ? error_give(why, error) : graph_refused(graph, rv, error);
}

int graph_find_client(struct port *port, uint64_t deadline_ns, struct address *client)
{
    return port_find(port, CLIENT_NAME, deadline_ns + GRACE_NS, client);
}

int graph_begin(struct port *port, struct address client, uint64_t deadline_ns,
                int (*make)(void *, struct port *, uint64_t, struct message **), void *arg,
                struct port_errand **errand)
{
    struct message *request;
    /* The time that is left is counted when the request is made, behind the search for the
     * client. */
    uint64_t now_ns = port_now_ns(port);
    int rv = make(arg, port, deadline_ns > now_ns ? deadline_ns - now_ns : 0, &request);
    return rv != 0 ? rv : port_begin(port, client, request, deadline_ns + GRACE_NS, errand);
}

static int attempt(struct port *port, uint64_t deadline_ns,
                   int (*make)(void *, struct port *, uint64_t, struct message **), void *arg,
                   struct message **reply)
{
    struct address client;
    struct port_errand *errand;
    int rv = graph_find_client(port, deadline_ns, &client);
    if (rv == 0)
        rv = graph_begin(port, client, deadline_ns, make, arg, &errand);
    return rv != 0 ? rv : port_wait(port, errand, deadline_ns + GRACE_NS, reply);
}

/* Takes what the client answered, or says why it did not. */
static int take(struct port *port, int rv, struct message **reply, struct error *error)
{
    if (rv != 0)
        return error_set(error, rv, "the graph: %s", call_text(rv));
    /* A refusal is read before the reply is taken for what was asked for: it is of another kind. */
    rv = error_reply_read(*reply, error);
    if (rv != 0)
        port_release(port, *reply);
    return rv;
}

int graph_operate(struct port *port, uint64_t deadline_ns,
                  int (*make)(void *arg, struct port *port, uint64_t timeout_ns,
                              struct message **request),
                  void *arg, struct message **reply, struct error *error)
{
    int rv = attempt(port, deadline_ns, make, arg, reply);
    while (part_call_peer_recovers(rv) && port_now_ns(port) < deadline_ns) {
        nanosleep(&(struct timespec){ .tv_nsec = RETRY_NS }, NULL);
        rv = attempt(port, deadline_ns, make, arg, reply);
    }
    return take(port, rv, reply, error);
}

int graph_await(struct port *port, struct port_errand *errand, uint64_t deadline_ns,
                int (*make)(void *, struct port *, uint64_t, struct message **), void *arg,
                struct message **reply, struct error *error)
{
    int rv = errand == NULL ? TR_EPEERDOWN : port_wait(port, errand, deadline_ns + GRACE_NS, reply);
    if (part_call_peer_recovers(rv))
        return graph_operate(port, deadline_ns, make, arg, reply, error);
    return take(port, rv, reply, error);
}
