/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counters of a graph's node over HTTP: the actor of actors/report/metrics.h with what it needs,
 * which the graph frees once its actors have gone.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <troupe/observe.h>

#include "actors/report/metrics.h"
#include "api/internal.h"
#include "api/public_error.h"
#include "runtime/core/log.h"

/* A call polls this often whether a listener is there: a turn of a loop takes less. */
#define LOOK_NS 2000000L

_Static_assert(TR_ADDRESS_TEXT_MAX >= ENDPOINT_TEXT_MAX, "an address fits");

enum listening { LISTENING_SOON, LISTENING, LISTENING_REFUSED };

struct graph_metrics {
    struct graph_metrics *next;
    struct node *told; /* its log gets the outcome; NULL: a caller waits for it */
    struct metrics_options options;
    pthread_mutex_t mutex; /* guards all below */
    enum listening state;
    struct endpoint at;
    struct error error;
};

static void take_listening(void *arg, const struct endpoint *endpoint, const struct error *error)
{
    struct graph_metrics *metrics = arg;
    pthread_mutex_lock(&metrics->mutex);
    metrics->state = endpoint != NULL ? LISTENING : LISTENING_REFUSED;
    if (endpoint != NULL)
        metrics->at = *endpoint;
    else
        metrics->error = *error;
    /* The words of the address were checked before: what is wrong with it is this machine, which a
     * process goes on in spite of. */
    if (endpoint == NULL && error->code == TR_EINVAL)
        metrics->error.code = TR_EIO;
    pthread_mutex_unlock(&metrics->mutex);
    if (metrics->told != NULL && endpoint == NULL)
        log_write(metrics->told, LOG_LEVEL_WARN, "metrics",
                  "the process goes on without metrics: %s (\"metrics\" of the cluster file, whose "
                  "port is that of process 0)",
                  error->text);
}

static struct graph_metrics *create(struct tr_graph *graph)
{
    struct graph_metrics *metrics = calloc(1, sizeof *metrics);
    if (metrics == NULL)
        return NULL;
    pthread_mutex_init(&metrics->mutex, NULL);
    metrics->options = (struct metrics_options){ .status = &graph->status,
                                                 .listening = take_listening,
                                                 .arg = metrics };
    return metrics;
}

static void destroy(struct graph_metrics *metrics)
{
    pthread_mutex_destroy(&metrics->mutex);
    free(metrics);
}

void graph_metrics_free(struct tr_graph *graph)
{
    while (graph->metrics != NULL) {
        struct graph_metrics *metrics = graph->metrics;
        graph->metrics = metrics->next;
        destroy(metrics);
    }
}

/* Before the node starts; what the address lacks is found when its actor begins. */
int graph_serve_cluster_metrics(struct tr_graph *graph, struct error *error)
{
    const struct cluster_metrics *of = &graph->session->cluster.metrics;
    struct address ignored;
    if (!graph->session->in_cluster || of->port == 0)
        return 0;
    struct graph_metrics *metrics = create(graph);
    if (metrics == NULL)
        return error_set(error, TR_ENOMEM, "no memory to serve metrics");
    metrics->told = graph->node;
    metrics->options.listen = (struct endpoint){ .kind = ENDPOINT_TCP,
                                                 .port = (uint16_t)(of->port + graph->process) };
    snprintf(metrics->options.listen.host, sizeof metrics->options.listen.host, "%s",
             of->host != NULL ? of->host : "127.0.0.1");
    metrics->next = graph->metrics;
    graph->metrics = metrics;
    const struct actor_options root = { .ops = &metrics_ops, .arg = &metrics->options };
    return node_spawn(graph->node, &root, &ignored);
}

static enum listening look(struct graph_metrics *metrics, struct error *error)
{
    pthread_mutex_lock(&metrics->mutex);
    enum listening state = metrics->state;
    *error = metrics->error;
    pthread_mutex_unlock(&metrics->mutex);
    return state;
}

/* A listener is there or refused in the next turn of its loop, so polling it costs little. A call
 * that waits longer waits for a loop that hangs, and is ended as in any call: nothing is called
 * through the port, whose own waits would see it. The time is read before the state and judged
 * last, so that what has happened goes before the reason for which the wait ends. */
static int wait_listening(struct tr_graph *graph, struct port *port, struct graph_metrics *metrics,
                          int64_t timeout_ns, struct error *error)
{
    uint64_t until_ns = graph_deadline(graph, port, timeout_ns);
    for (;;) {
        bool late = port_now_ns(port) >= until_ns;
        pthread_mutex_lock(&graph->mutex);
        bool closing = graph->stopping || graph->over;
        pthread_mutex_unlock(&graph->mutex);
        enum listening state = look(metrics, error);
        if (state != LISTENING_SOON)
            return state == LISTENING ? 0 : error->code;
        if (port_is_interrupted(port))
            return error_set(error, TR_ECANCELED, "%s", call_text(TR_ECANCELED));
        if (closing)
            return error_set(error, TR_ECLOSED, "the graph: %s", call_text(TR_ECLOSED));
        if (late)
            return error_set(error, TR_ETIMEDOUT, "the loop does not begin to listen");
        nanosleep(&(const struct timespec){ .tv_nsec = LOOK_NS }, NULL);
    }
}

/* From the spawn on the graph has the memory: the actor may still begin after this call gave up. */
static int serve(struct tr_graph *graph, struct port *port, struct graph_metrics *metrics,
                 int64_t timeout_ns, struct error *error)
{
    const struct actor_options root = { .ops = &metrics_ops, .arg = &metrics->options };
    struct address ignored;
    int rv = node_spawn(graph->node, &root, &ignored);
    if (rv != 0) {
        destroy(metrics);
        return error_set(error, rv, "%s", tr_strerror(rv));
    }
    /* The graph has the memory only now; it cannot be freed in between, since this thread is
     * inside. */
    pthread_mutex_lock(&graph->mutex);
    metrics->next = graph->metrics;
    graph->metrics = metrics;
    pthread_mutex_unlock(&graph->mutex);
    return wait_listening(graph, port, metrics, timeout_ns, error);
}

int tr_graph_serve_metrics(struct tr_graph *graph, const char *address, int64_t timeout_ns,
                           char *at, size_t at_bytes, struct tr_error *error)
{
    struct graph_port *port;
    struct error inner = { 0 };
    char text[ENDPOINT_TEXT_MAX];
    int rv = session_mine(graph->session, error);
    if (rv != 0)
        return rv;
    struct graph_metrics *metrics = create(graph);
    if (metrics == NULL)
        return tr_error_set(error, TR_ENOMEM, "no memory to serve metrics");
    rv = address != NULL ? metrics_address(address, &metrics->options.listen, &inner)
                         : error_set(&inner, TR_EINVAL, "an address of metrics is NULL");
    if (rv == 0) {
        /* A thread inside keeps the node alive. */
        rv = graph_enter(graph, &port);
        if (rv != 0)
            error_set(&inner, rv, "%s", call_text(rv));
    }
    if (rv != 0) {
        destroy(metrics);
        return error_give(&inner, error);
    }
    rv = serve(graph, port->port, metrics, timeout_ns, &inner);
    if (rv == 0) {
        /* The address is read before the port is given back: the graph may free it then. */
        endpoint_format(&metrics->at, text, sizeof text);
        if (at != NULL)
            snprintf(at, at_bytes, "%s", text);
    }
    graph_leave(graph, port);
    return rv == 0 ? 0 : error_give(&inner, error);
}
