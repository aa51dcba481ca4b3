/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Batches from a loader: the epoch's next one, waited for with a deadline, and the place where the
 * next call goes on.
 *
 * One thread is inside at a time (`waiting`); a cancel or a close of another wakes it by way of the
 * proxy, and it finds the flag that they set before.
 */
#include <stdio.h>

#include <troupe/loader.h>

#include "actors/common/error_reply.h"
#include "api/loader_handle.h"

/* A waiter looks this often whether it was cancelled while its request was on its way. */
#define LOOK_NS UINT64_C(50000000)

/* why: the text of what failed inside, or NULL. */
static int loader_fail(const struct tr_loader *l, const char *call, int rv, const struct error *why,
                       struct tr_error *error)
{
    char name[32];
    snprintf(name, sizeof name, "loader: %s", call);
    if (rv == TR_ECLOSED)
        return graph_say_closed(l->graph, name, why, error);
    if (why != NULL && why->code == rv)
        return error_give(why, error);
    if (rv == TR_ERANGE)
        return tr_error_set(error, rv, "%s: an epoch of this loader has %llu batches", name,
                            (unsigned long long)l->num_batches);
    return tr_error_set(error, rv, "%s: %s", name, tr_strerror(rv));
}

/* Another thread is inside, or closes the loader. */
static int loader_refuse(const char *call, int rv, struct tr_error *error)
{
    return tr_error_set(
        error, rv, "loader: %s: %s", call,
        rv == TR_ECLOSED ? "another thread closes the loader"
                         : "another thread is in a call on this loader; make one call at a time");
}

static struct message *make_request(const struct tr_loader *l, struct port *port, uint32_t epoch,
                                    uint64_t batch)
{
    struct message *request = port_message(port, MSG_BATCH_REQUEST);
    if (request == NULL)
        return NULL;
    struct msg_batch_request *head = message_head(request);
    head->loader = l->open.loader;
    head->epoch = epoch;
    head->batch = batch;
    return request;
}

/* A notice may be lost: the next call says the same. */
static int loader_notify(struct tr_loader *l, struct port *port, uint32_t epoch, uint64_t batch)
{
    struct message *message = make_request(l, port, epoch, batch);
    return message == NULL ? TR_ENOMEM : port_send(port, loader_proxy(l), message);
}

static int loader_expire(const struct tr_loader *l, struct error *error)
{
    if (batch_store_is_starving(l->graph->session->store, l->open.loader))
        return batch_store_say_starved(l->graph->session->store, error);
    return TR_ETIMEDOUT;
}

/* Asks until the batch is there, a look at a time. */
static int loader_ask(struct tr_loader *l, struct port *port, uint64_t deadline_ns,
                      struct error *error)
{
    uint64_t now = port_now_ns(port);
    uint64_t until = now + LOOK_NS < deadline_ns ? now + LOOK_NS : deadline_ns;
    struct message *request = make_request(l, port, l->epoch, l->next), *reply;
    int rv = request == NULL ? TR_ENOMEM : port_call(port, loader_proxy(l), request, until, &reply);
    if (rv == 0) {
        rv = error_reply_read(reply, error);
        port_release(port, reply);
        return rv;
    }
    /* The end of the attempt is judged before the time: where the proxy was started again, or is
     * full, the same call goes on; a look that is over is no timeout of the call. */
    enum proxy_call_end end = proxy_call_end(rv);
    /* A cancel or a close ends the question too, as if the proxy had lost the loader. Opened again,
     * a loader that is being closed would draw batches for nobody; the caller finds the cancel. */
    if (end == PROXY_CALL_AGAIN && loader_pause_before(l, port, deadline_ns))
        return 0;
    if (end == PROXY_CALL_REOPEN && !loader_is_cancelled(l))
        rv = loader_open_at_proxy(l, port, false, deadline_ns, error);
    if (rv == TR_ETIMEDOUT && now < deadline_ns && port_now_ns(port) < deadline_ns)
        return 0;
    return rv == TR_ETIMEDOUT ? loader_expire(l, error) : rv;
}

static int wait_batch(struct tr_loader *l, struct port *port, int64_t timeout_ns,
                      struct sampled_batch **out, struct error *error)
{
    struct batch_store *store = l->graph->session->store;
    uint64_t deadline_ns = graph_deadline(l->graph, port, timeout_ns);
    int rv = 0;
    /* Without a deadline, so that it gets there however short the wait is. */
    if (!l->told)
        l->told = loader_notify(l, port, l->epoch, l->next) == 0;
    for (bool asked = false;; asked = true) {
        /* The store is asked first in each round: a batch that is there counts whatever else holds,
         * a cancel, a failure of the question or the end of the time. */
        *out = batch_store_collect(store, l->open.loader, l->epoch, l->next);
        if (*out != NULL)
            break;
        /* The cancel comes before the failure, which may be its own effect (the question ends with
         * another code): tr_loader_next() drops the epoch for TR_ECANCELED alone. */
        if (loader_is_cancelled(l))
            return TR_ECANCELED;
        if (rv != 0)
            return rv;
        /* A reply may call a batch ready that the store has not: that is asked again, in time. */
        if (asked && port_now_ns(port) >= deadline_ns)
            return loader_expire(l, error);
        rv = loader_ask(l, port, deadline_ns, error);
    }
    /* The proxy hears at once that this batch was taken: it may make others in its place. */
    l->told = loader_notify(l, port, l->epoch, l->next + 1) == 0;
    return 0;
}

static int loader_enter(struct tr_loader *l)
{
    pthread_mutex_lock(&l->mutex);
    int rv = l->closed ? TR_ECLOSED : l->waiting ? TR_EINVAL : 0;
    if (rv == 0) {
        l->waiting = true;
        /* A cancel from before this call has dropped its epoch then (tr_loader_cancel), and does
         * not concern this one. */
        l->cancelled = false;
    }
    pthread_mutex_unlock(&l->mutex);
    return rv;
}

static void loader_leave(struct tr_loader *l)
{
    pthread_mutex_lock(&l->mutex);
    l->waiting = false;
    pthread_cond_broadcast(&l->left);
    pthread_mutex_unlock(&l->mutex);
}

/* The only thread inside: epoch and next are its own. */
static int next_batch(struct tr_loader *l, int64_t timeout_ns, struct sampled_batch **out,
                      struct tr_error *error)
{
    struct error why = { 0 };
    struct graph_port *port;
    int rv = graph_enter(l->graph, &port);
    if (rv != 0)
        return loader_fail(l, "next", rv, NULL, error);
    rv = wait_batch(l, port->port, timeout_ns, out, &why);
    graph_leave(l->graph, port);
    if (rv == 0) {
        l->next++;
        return 0;
    }
    /* An interrupt loses as little as a timeout; a cancelled epoch is dropped. */
    bool dropped = rv == TR_ECANCELED && loader_is_cancelled(l);
    l->told = l->told && (rv == TR_ETIMEDOUT || (rv == TR_ECANCELED && !dropped));
    if (dropped)
        l->next = 0;
    return loader_fail(l, "next", rv, &why, error);
}

/* Nodes, or pairs where a batch is of these. */
static uint64_t count_seeds(const struct mini_batch *batch)
{
    uint64_t seeds = 0, pairs = 0;
    for (uint32_t t = 0; t < batch->num_ntypes; t++)
        seeds += batch->nodes[t].num_seeds;
    for (uint32_t t = 0; t < batch->num_pair_types; t++)
        pairs += batch->pairs[t].count;
    return pairs != 0 ? pairs : seeds;
}

/* A batch was taken, and is no evaluation's. */
static void note_batch(const struct tr_loader *l, const struct mini_batch *batch)
{
    struct job_progress *progress = &l->graph->progress;
    job_progress_note_step(progress, l->epoch, l->next, l->num_batches);
    job_progress_note_seeds(progress, count_seeds(batch), env_now_ns(l->graph->session->env));
}

int tr_loader_next(struct tr_loader *loader, int64_t timeout_ns, struct tr_batch **out,
                   struct tr_error *error)
{
    struct sampled_batch *batch = NULL;
    *out = NULL;
    int rv = session_mine(loader->graph->session, error);
    if (rv != 0)
        return rv;
    rv = loader_enter(loader);
    if (rv != 0)
        return loader_refuse("next", rv, error);
    if (loader->next >= loader->num_batches) {
        loader->next = 0;
        loader->epoch++;
        loader->told = false;
        rv = TR_EEND;
    } else {
        rv = next_batch(loader, timeout_ns, &batch, error);
        if (rv == 0 && (loader->open.flags & MSG_LOADER_SHUFFLE) != 0) /* not an evaluation's */
            note_batch(loader, &batch->space.batch);
    }
    *out = (struct tr_batch *)(void *)batch;
    /* This comes last: another thread may close and free the loader from here on. */
    loader_leave(loader);
    return rv;
}

static int tell_proxy(struct tr_loader *l, uint32_t epoch, uint64_t batch)
{
    struct graph_port *port;
    int rv = graph_enter_to_tell(l->graph, &port);
    if (rv != 0)
        return rv;
    rv = loader_notify(l, port->port, epoch, batch);
    graph_leave(l->graph, port);
    return rv;
}

int tr_loader_begin_at(struct tr_loader *loader, uint32_t epoch, uint64_t batch,
                       struct tr_error *error)
{
    int rv = session_mine(loader->graph->session, error);
    if (rv != 0)
        return rv;
    rv = loader_enter(loader);
    if (rv != 0)
        return loader_refuse("begin", rv, error);
    if (batch <= loader->num_batches) {
        /* The place changes before the proxy is notified; a notice that is lost is made up for by
         * the next call (told). */
        loader->epoch = epoch;
        loader->next = batch;
        /* At the end of an epoch there is nothing to ask for. */
        rv = batch < loader->num_batches ? tell_proxy(loader, epoch, batch) : 0;
        loader->told = rv == 0 && batch < loader->num_batches;
    } else {
        rv = TR_ERANGE;
    }
    rv = rv != 0 ? loader_fail(loader, "begin", rv, NULL, error) : 0;
    /* This comes last, as in tr_loader_next(). */
    loader_leave(loader);
    return rv;
}

int tr_loader_begin(struct tr_loader *loader, uint32_t epoch, struct tr_error *error)
{
    return tr_loader_begin_at(loader, epoch, 0, error);
}

int tr_loader_cancel(struct tr_loader *loader, struct tr_error *error)
{
    int mine = session_mine(loader->graph->session, error);
    if (mine != 0)
        return mine;
    pthread_mutex_lock(&loader->mutex);
    bool waited = loader->waiting;
    /* The flag stands before the proxy is notified: the thread that waits wakes by that, and finds
     * it. */
    loader->cancelled = true;
    if (!waited) {
        loader->next = 0;
        loader->told = false;
    }
    pthread_mutex_unlock(&loader->mutex);
    int rv = tell_proxy(loader, 0, MSG_BATCH_NONE);
    return rv != 0 ? loader_fail(loader, "cancel", rv, NULL, error) : 0;
}
