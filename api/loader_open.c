/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A loader's way to its proxy: opened there, again when the proxy was started again, and closed.
 */
#include <stdlib.h>
#include <time.h>

#include <troupe/loader.h>

#include "actors/common/error_reply.h"
#include "actors/common/part_call.h"
#include "api/loader_handle.h"
#include "api/loader_request.h"

/* A proxy that has no room or no memory for a request is asked again after this, as a proxy that
 * is being started is looked for again. */
#define AGAIN_NS 5000000L

bool loader_is_cancelled(struct tr_loader *l)
{
    pthread_mutex_lock(&l->mutex);
    bool cancelled = l->cancelled || l->closed;
    pthread_mutex_unlock(&l->mutex);
    return cancelled;
}

bool loader_pause_before(struct tr_loader *l, struct port *port, uint64_t deadline_ns)
{
    if (loader_is_cancelled(l) || port_now_ns(port) >= deadline_ns)
        return false;
    nanosleep(&(struct timespec){ .tv_nsec = AGAIN_NS }, NULL);
    return true;
}

struct address loader_proxy(struct tr_loader *l)
{
    pthread_mutex_lock(&l->mutex);
    struct address proxy = l->proxy;
    pthread_mutex_unlock(&l->mutex);
    return proxy;
}

static void note_proxy(struct tr_loader *l, struct address proxy)
{
    pthread_mutex_lock(&l->mutex);
    l->proxy = proxy;
    pthread_mutex_unlock(&l->mutex);
}

int loader_open_at_proxy(struct tr_loader *l, struct port *port, bool first, uint64_t deadline_ns,
                         struct error *error)
{
    struct address proxy = ADDRESS_NONE;
    struct message *reply = NULL;
    char name[DIRECTORY_NAME_MAX];
    int rv;
    proxy_name(l->trainer, name);
    do {
        bool found = (rv = port_find(port, name, deadline_ns, &proxy)) == 0;
        struct message *request = found ? loader_make_open(&l->open, &l->spec, l->segments, port)
                                        : NULL;
        if (found && request == NULL)
            return error_set(error, TR_ENOMEM, "no memory for a loader of %zu seeds",
                             l->nodes->count);
        if (found && first)
            note_proxy(l, proxy);
        if (found)
            rv = port_call(port, proxy, request, deadline_ns, &reply);
        error_set(error, rv, "%s: %s", found ? "opening a loader" : "the trainer-proxy",
                  tr_strerror(rv));
    } while (part_call_peer_recovers(rv) && loader_pause_before(l, port, deadline_ns));
    if (rv != 0)
        return rv;
    /* The text of the attempts goes before the answer is read, whose own counts. */
    *error = (struct error){ 0 };
    rv = error_reply_read(reply, error);
    if (rv == 0)
        l->num_batches = ((const struct msg_loader_opened *)message_head(reply))->num_batches;
    port_release(port, reply);
    note_proxy(l, proxy);
    return rv;
}

static void loader_destroy(struct tr_loader *l)
{
    struct tr_graph *graph = l->graph;
    /* The proxy, which may not have heard of the close yet, holds references of its own. */
    seed_lists_drop(graph->session->lists, l->open.loader);
    nodes_release(l->nodes);
    pthread_cond_destroy(&l->left);
    pthread_mutex_destroy(&l->mutex);
    sample_spec_free(&l->spec);
    free(l->segments);
    free(l);
    /* The graph goes last: it may be the last reference, and stops its actors. */
    graph_release(graph);
}

static void close_at_proxy(struct tr_loader *l)
{
    struct graph_port *port;
    if (graph_enter_to_tell(l->graph, &port) != 0)
        return;
    struct message *message = port_message(port->port, MSG_LOADER_CLOSE);
    if (message != NULL) {
        ((struct msg_loader_close *)message_head(message))->loader = l->open.loader;
        port_send(port->port, loader_proxy(l), message);
    }
    graph_leave(l->graph, port);
}

static struct tr_loader *loader_create(struct tr_graph *graph, struct tr_nodes *nodes)
{
    struct tr_loader *l = calloc(1, sizeof *l);
    if (l == NULL)
        return NULL;
    graph_acquire(graph);
    atomic_fetch_add_explicit(&nodes->references, 1, memory_order_relaxed);
    l->graph = graph;
    l->nodes = nodes;
    pthread_mutex_init(&l->mutex, NULL);
    pthread_cond_init(&l->left, NULL);
    return l;
}

int tr_loader_open(struct tr_graph *graph, struct tr_nodes *nodes,
                   const struct tr_loader_options *caller, int64_t timeout_ns,
                   struct tr_loader **out, struct tr_error *error)
{
    *out = NULL;
    struct tr_loader_options options;
    struct error why = { 0 };
    struct graph_port *port;
    tr_loader_options_init(&options);
    int rv = session_mine(graph->session, error);
    if (rv == 0)
        rv = sized_read(&options, sizeof options, caller, "tr_loader_options", error);
    if (rv != 0)
        return rv;
    if (nodes->graph != graph)
        return tr_error_set(error, TR_EMISMATCH, "the node set belongs to another graph");
    struct tr_loader *l = loader_create(graph, nodes);
    if (l == NULL)
        return tr_error_set(error, TR_ENOMEM, "no memory for a loader");
    rv = loader_fill_open(graph, nodes, &options, &l->trainer, &l->open, &l->segments, error);
    if (rv == 0)
        rv = loader_fill_spec(graph, &options, &l->spec, error);
    if (rv == 0)
        rv = loader_put_lists(graph, nodes, l->open.loader, error);
    if (rv != 0)
        goto err;
    rv = graph_enter(graph, &port);
    if (rv != 0) {
        rv = graph_refused(graph, rv, error);
        goto err;
    }
    rv = loader_open_at_proxy(l, port->port, true, graph_deadline(graph, port->port, timeout_ns),
                              &why);
    if (rv != 0)
        rv = graph_failed(graph, &why, error);
    graph_leave(graph, port);
    if (rv != 0) {
        /* The proxy may have opened it after we stopped waiting. After leaving, since this enters
         * by itself, which an interrupt does not keep it from. */
        close_at_proxy(l);
        goto err;
    }
    *out = l;
    return 0;
err:
    loader_destroy(l);
    return rv;
}

void tr_loader_close(struct tr_loader *loader)
{
    if (loader == NULL || session_is_child(loader->graph->session))
        return;
    pthread_mutex_lock(&loader->mutex);
    loader->closed = true;
    /* Read here: a thread that waits now may open the loader again after the close below, and leave
     * before the lock is taken again. */
    bool waited = loader->waiting;
    pthread_mutex_unlock(&loader->mutex);
    /* The proxy closes the loader before the wait, which ends by it: the answer of a proxy that has
     * no such loader finds `closed`. */
    close_at_proxy(loader);
    pthread_mutex_lock(&loader->mutex);
    while (loader->waiting)
        pthread_cond_wait(&loader->left, &loader->mutex);
    pthread_mutex_unlock(&loader->mutex);
    if (waited) /* the thread that waited may have opened it again */
        close_at_proxy(loader);
    loader_destroy(loader);
}

uint64_t tr_loader_num_batches(const struct tr_loader *loader)
{
    return loader->num_batches;
}
