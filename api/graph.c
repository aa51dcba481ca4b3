/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A graph: opening and closing it, its node, and the ports that calls take.
 *
 * Invariants:
 *   - A call holds a port of the node from graph_enter to graph_leave and is counted in calls.
 *     graph_stop sets `stopping` first, wakes all ports, and touches the node when no call is left.
 *   - `stopping` and `over` are read under the mutex under which a port is listed: a call that
 *     begins either finds them, or its port is found by the thread that sets them.
 *   - A graph of the session's list runs: it leaves the list (next_running, graph_disown) before it
 *     is stopped.
 *   - Partitions are there before the actors that read them, and go behind them.
 */
#include <troupe/graph.h>

#include <stdlib.h>
#include <string.h>

#include "api/internal.h"
#include "api/log_queue.h"

/* Starting takes milliseconds; stopping, the longest turn. */
#define START_NS UINT64_C(30000000000)
#define STOP_NS UINT64_C(10000000000)

void graph_acquire(struct tr_graph *graph)
{
    atomic_fetch_add_explicit(&graph->references, 1, memory_order_relaxed);
}

bool graph_try_acquire(struct tr_graph *graph)
{
    unsigned references = atomic_load_explicit(&graph->references, memory_order_relaxed);
    while (references > 0)
        if (atomic_compare_exchange_weak_explicit(&graph->references, &references, references + 1,
                                                  memory_order_relaxed, memory_order_relaxed))
            return true;
    return false;
}

/* Wakes every call. Under the mutex. */
static void close_ports(struct tr_graph *graph)
{
    for (struct graph_port *p = graph->busy; p != NULL; p = p->next)
        port_close(p->port);
    for (struct graph_port *p = graph->idle; p != NULL; p = p->next)
        port_close(p->port);
}

/* On the loop of the root: a name that a thread waits for will not be registered any more. */
static void actors_ended(void *arg)
{
    struct tr_graph *graph = arg;
    pthread_mutex_lock(&graph->mutex);
    /* The flag stands before the ports are closed: a call that takes one later is refused. */
    graph->over = true;
    close_ports(graph);
    pthread_mutex_unlock(&graph->mutex);
}

static int init_process_actors(struct tr_graph *graph)
{
    const struct tr_session_options *o = &graph->session->options;
    const struct process_actors_options options = {
        .book = graph->book,
        .meta = &graph->meta,
        .snapshots = graph->snapshots,
        .store = graph->session->store,
        .lists = graph->session->lists,
        .plan = graph->plan,
        .process = graph->process,
        .loops = graph_loops(graph),
        .direct = o->direct,
        .flat = o->codec,
        .recovery_ns = (uint64_t)o->recovery_deadline_ns,
        .call_ns = graph->session->cluster.limits.call_ns,
        .tensor_bytes_max = (size_t)o->tensor_bytes_max,
        .checkpoints = o->checkpoints,
        .checkpoint_keep = o->checkpoint_keep,
        .progress = &graph->progress,
        .kept = graph->session->cluster.checkpoints.folder,
        .host = graph->session->in_cluster
                    ? graph->session->cluster.hosts[graph_plays(graph)->host].name
                    : NULL,
        .ended = actors_ended,
        .ended_arg = graph,
    };
    return process_actors_init(&graph->actors, &options);
}

static int start_node(struct tr_graph *graph, int64_t timeout_ns, struct error *error)
{
    struct tr_session_options *o = &graph->session->options;
    /* Kinds come before the node, which copies them, and of which links make the number by which
     * two processes know that they speak the same. */
    int rv = messages_register(&graph->kinds, error);
    if (rv != 0)
        return rv;
    struct node_options options = { .id = graph->process,
                                    .failpoints = FAILPOINTS_OF_PROCESS,
                                    .incarnation = graph_incarnation(graph),
                                    .loops = graph_loops(graph),
                                    .kinds = &graph->kinds,
                                    .sharers = graph_processes_here(graph),
                                    .codec = o->codec,
                                    .log = log_sink_of(o->log) };
    rv = node_create(graph->session->env, &options, &graph->node, error);
    if (rv != 0)
        return rv;
    /* The links come behind the node that they belong to, and before the first actor and the start:
     * links_create() takes a node that has not started, an actor without a router would be answered
     * that every other process is down, and while a past life of this process holds its address
     * nothing of this one may live. */
    rv = graph_link(graph, timeout_ns, error);
    if (rv != 0)
        return rv;
    const struct actor_options root = { .ops = &process_actors_ops, .arg = &graph->actors };
    struct address address;
    /* The status comes before the actors of the plan: roots end in the reverse order, so it tells
     * of them until they are gone. */
    rv = graph_spawn_status(graph);
    if (rv == 0)
        rv = node_spawn(graph->node, &root, &address);
    if (rv == 0)
        rv = graph_serve_cluster_metrics(graph, error);
    /* The start comes last, although a node that runs takes roots too: no thread of the node has
     * begun when a root cannot be spawned. */
    if (rv == 0)
        rv = node_start(graph->node);
    return rv;
}

/* The rest of the caller's time, which all steps share. */
static int64_t time_left(const struct tr_graph *graph, int64_t timeout_ns, uint64_t begin_ns)
{
    if (timeout_ns < 0)
        return timeout_ns;
    uint64_t spent_ns = env_now_ns(graph->session->env) - begin_ns;
    return spent_ns < (uint64_t)timeout_ns ? timeout_ns - (int64_t)spent_ns : 0;
}

/* The client starts last. */
static int wait_started(struct tr_graph *graph, int64_t timeout_ns)
{
    struct graph_port *port;
    struct address client;
    int rv = graph_enter(graph, &port);
    if (rv != 0)
        return rv;
    uint64_t until_ns = port_now_ns(port->port) + START_NS;
    uint64_t asked_ns = graph_deadline(graph, port->port, timeout_ns);
    until_ns = asked_ns < until_ns ? asked_ns : until_ns;
    rv = port_find(port->port, CLIENT_NAME, until_ns, &client);
    graph_leave(graph, port);
    return rv;
}

static void unlink_graph(struct tr_graph **link, const struct tr_graph *graph)
{
    while (*link != NULL && *link != graph)
        link = &(*link)->next;
    if (*link != NULL)
        *link = graph->next;
}

/* An interrupt reaches it from now on. */
static void begin_opening(struct tr_session *session, struct tr_graph *graph)
{
    pthread_mutex_lock(&session->mutex);
    graph->next = session->opening;
    session->opening = graph;
    pthread_mutex_unlock(&session->mutex);
}

static int graph_adopt(struct tr_session *session, struct tr_graph *graph)
{
    pthread_mutex_lock(&session->mutex);
    bool closed = session->closed;
    /* The close is asked for, and the graph listed, under one hold of the mutex: tr_session_close()
     * either stops this graph, or it is refused here. */
    if (!closed) {
        unlink_graph(&session->opening, graph);
        graph->next = session->graphs;
        session->graphs = graph;
    }
    pthread_mutex_unlock(&session->mutex);
    return closed ? TR_ECLOSED : 0;
}

static bool is_closed(struct tr_session *session)
{
    pthread_mutex_lock(&session->mutex);
    bool closed = session->closed;
    pthread_mutex_unlock(&session->mutex);
    return closed;
}

static void graph_disown(struct tr_session *session, struct tr_graph *graph)
{
    pthread_mutex_lock(&session->mutex);
    unlink_graph(&session->graphs, graph);
    unlink_graph(&session->opening, graph);
    pthread_mutex_unlock(&session->mutex);
}

int tr_graph_open(struct tr_session *session, const char *path, int64_t timeout_ns,
                  struct tr_graph **out, struct tr_error *error)
{
    *out = NULL;
    struct error why = { 0 };
    int mine = session_mine(session, error);
    if (mine != 0)
        return mine;
    if (path == NULL && session->in_cluster)
        path = session->cluster.graph;
    if (path == NULL)
        return tr_error_set(error, TR_EINVAL, "no graph is named; give the path of its .json");
    if (is_closed(session))
        return tr_error_set(error, TR_ECLOSED, "%s: the session is closed", path);
    struct tr_graph *graph = calloc(1, sizeof *graph);
    if (graph == NULL)
        return tr_error_set(error, TR_ENOMEM, "%s: no memory for a graph", path);
    atomic_init(&graph->references, 1);
    pthread_mutex_init(&graph->mutex, NULL);
    pthread_mutex_init(&graph->mapping, NULL);
    job_progress_init(&graph->progress);
    pthread_cond_init(&graph->left, NULL);
    session_acquire(session);
    graph->session = session;
    /* From here on graph_release() takes everything down: what it gives back is there. */
    uint64_t begin_ns = env_now_ns(session->env);
    int rv = session_seen(session, &graph->seen);
    graph->path = strdup(path);
    if (rv == 0 && graph->path == NULL)
        rv = TR_ENOMEM;
    /* The number of interrupts is noted before the graph can be woken: one that comes in between is
     * found by the number. */
    begin_opening(session, graph);
    /* Each step stands on the one before: the book makes the plan, partitions are there before the
     * actors that read them, the client is waited for when all have started, and the session lists
     * the graph last, when it runs. */
    if (rv == 0)
        rv = graph_load(graph, path, timeout_ns, &why);
    if (rv == 0)
        rv = init_process_actors(graph);
    if (rv == 0)
        rv = start_node(graph, time_left(graph, timeout_ns, begin_ns), &why);
    if (rv == 0) {
        rv = wait_started(graph, time_left(graph, timeout_ns, begin_ns));
        rv = graph_reason(graph, rv);
    }
    if (rv == 0)
        rv = graph_adopt(session, graph);
    if (rv == 0) {
        *out = graph;
        return 0;
    }
    if (why.code == 0)
        error_set(&why, rv, "%s: %s", path, call_text(rv));
    error_give(&why, error);
    graph_release(graph);
    return rv;
}

static void destroy_ports(struct tr_graph *graph)
{
    while (graph->idle != NULL) {
        struct graph_port *port = graph->idle;
        graph->idle = port->next;
        port_destroy(port->port);
        free(port);
    }
}

static void graph_release_parts(struct tr_graph *graph)
{
    for (uint32_t p = 0; graph->held != NULL && p < graph->book->num_parts; p++) {
        snapshot_release(graph->held[p]);
        graph->held[p] = NULL;
    }
    free(graph->parts);
    graph->parts = NULL;
    snapshots_destroy(graph->snapshots);
    graph->snapshots = NULL;
}

void graph_stop(struct tr_graph *graph)
{
    pthread_mutex_lock(&graph->mutex);
    bool mine = !graph->stopping;
    /* The flag comes first, so that no call takes a port behind this; then the calls end, then the
     * node on which they would wait, and the partitions last, which its actors read. */
    graph->stopping = true;
    close_ports(graph);
    while (graph->calls > 0)
        pthread_cond_wait(&graph->left, &graph->mutex);
    /* Another thread stops the graph: this one waits for its end, after which the caller may free
     * what it uses. */
    while (!mine && !graph->stopped)
        pthread_cond_wait(&graph->left, &graph->mutex);
    pthread_mutex_unlock(&graph->mutex);
    if (!mine)
        return;
    if (graph->node != NULL) {
        node_stop(graph->node, env_now_ns(graph->session->env) + STOP_NS);
        node_join(graph->node);
        /* The ports go before their node; no call has one any more. */
        destroy_ports(graph);
        node_destroy(graph->node);
        graph->node = NULL;
    }
    graph_release_parts(graph);
    pthread_mutex_lock(&graph->mutex);
    /* The flag stands last, when nothing of the graph runs. */
    graph->stopped = true;
    pthread_cond_broadcast(&graph->left);
    pthread_mutex_unlock(&graph->mutex);
}

void graph_release(struct tr_graph *graph)
{
    /* Release, then acquire by the last one, which must see what all others did. */
    if (atomic_fetch_sub_explicit(&graph->references, 1, memory_order_acq_rel) > 1)
        return;
    /* The graph leaves the session's lists first: no interrupt, dump or close finds it from here
     * on. */
    graph_disown(graph->session, graph);
    graph_stop(graph);
    graph_metrics_free(graph);
    free(graph->held);
    graph_meta_fini(&graph->meta);
    process_actors_fini(&graph->actors);
    cluster_plan_fini(&graph->placing);
    security_destroy(graph->security);
    if (graph->store != NULL)
        store_close(graph->store);
    pthread_cond_destroy(&graph->left);
    pthread_mutex_destroy(&graph->mutex);
    pthread_mutex_destroy(&graph->mapping);
    job_progress_fini(&graph->progress);
    /* The session goes last: all above may use it. */
    session_release(graph->session);
    free(graph->path);
    free(graph);
}

void tr_graph_close(struct tr_graph *graph)
{
    if (graph != NULL && !session_is_child(graph->session))
        graph_release(graph);
}

static int open_port(struct tr_graph *graph, struct graph_port **out)
{
    struct graph_port *port = calloc(1, sizeof *port);
    if (port == NULL)
        return TR_ENOMEM;
    int rv = port_open(graph->node, 0, &port->port);
    if (rv != 0) {
        free(port);
        return rv;
    }
    *out = port;
    return 0;
}

static void graph_leave_node(struct tr_graph *graph)
{
    if (--graph->calls == 0)
        pthread_cond_broadcast(&graph->left);
}

void graph_wake(struct tr_graph *graph)
{
    pthread_mutex_lock(&graph->mutex);
    for (struct graph_port *p = graph->busy; p != NULL; p = p->next)
        port_wake(p->port);
    pthread_mutex_unlock(&graph->mutex);
}

int graph_enter(struct tr_graph *graph, struct graph_port **out)
{
    unsigned seen;
    /* The number of interrupts is noted before the port is taken, so that none is missed that comes
     * in between. */
    int rv = session_seen(graph->session, &seen);
    if (rv == 0)
        rv = graph_enter_to_tell(graph, out);
    if (rv == 0)
        port_watch((*out)->port, &graph->session->interrupts, seen);
    return rv;
}

int graph_enter_to_tell(struct tr_graph *graph, struct graph_port **out)
{
    pthread_mutex_lock(&graph->mutex);
    int rv = graph->stopping || graph->over ? TR_ECLOSED : 0;
    struct graph_port *port = graph->idle;
    if (rv == 0)
        graph->calls++;
    if (rv == 0 && port != NULL)
        graph->idle = port->next;
    pthread_mutex_unlock(&graph->mutex);
    /* The port is opened without the mutex; the call is counted by now, so the node stays. */
    if (rv == 0 && port == NULL)
        rv = open_port(graph, &port);
    else if (rv != 0)
        return rv;
    pthread_mutex_lock(&graph->mutex);
    if (rv != 0) {
        graph_leave_node(graph);
    } else {
        port->next = graph->busy;
        graph->busy = port;
        /* This is asked again, when the port is listed: a thread that set a flag meanwhile has not
         * found the port. */
        if (graph->stopping || graph->over)
            port_close(port->port);
        *out = port;
    }
    pthread_mutex_unlock(&graph->mutex);
    return rv;
}

void graph_leave(struct tr_graph *graph, struct graph_port *port)
{
    pthread_mutex_lock(&graph->mutex);
    struct graph_port **link = &graph->busy;
    while (*link != port)
        link = &(*link)->next;
    *link = port->next;
    /* Requests that an interrupted call left under way would fill the port: they end with it. */
    bool interrupted = port_is_interrupted(port->port);
    port_watch(port->port, NULL, 0);
    if (interrupted) {
        port_destroy(port->port);
        free(port);
    } else {
        port->next = graph->idle;
        graph->idle = port;
    }
    /* This comes last, and under the mutex: the graph may be stopped and freed when it is given
     * up. */
    graph_leave_node(graph);
    pthread_mutex_unlock(&graph->mutex);
}
