/* SPDX-License-Identifier: Apache-2.0 */
#include <troupe/loader.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "actors/common/error_reply.h"
#include "actors/common/part_call.h"
#include "api/internal.h"
#include "api/sample_spec_of.h"
#include "graph/bijection.h"
#include "graph/sample.h"
#include "graph/samplers.h"

/* A waiter looks this often whether it was cancelled while its request was on its way. */
#define LOOK_NS UINT64_C(50000000)

/* A proxy that has no room or no memory for a request is asked again after this, as a proxy that
 * is being started is looked for again. */
#define AGAIN_NS 5000000L

struct tr_loader {
    struct tr_graph *graph; /* a reference */
    struct tr_nodes *nodes; /* a reference: the seeds, should the proxy start again */
    struct msg_loader_open open;
    struct sample_spec spec; /* what to draw, should the proxy start again */
    uint64_t num_batches;
    uint32_t trainer;      /* whose proxy brings the batches */
    pthread_mutex_t mutex; /* guards all below */
    pthread_cond_t left;
    bool waiting;
    bool cancelled;
    bool closed;
    bool told; /* the proxy knows where this loader stands */
    struct address proxy;
    uint32_t epoch;
    uint64_t next;
};

static const struct tr_loader_options DEFAULTS = {
    .size = sizeof DEFAULTS, .num_layers = 1, .fanout = { 10 }, .batch_size = 1024, .shuffle = true
};

void tr_loader_options_init_sized(struct tr_loader_options *options, size_t size)
{
    sized_init(options, size, &DEFAULTS, sizeof DEFAULTS);
}

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
    return tr_error_set(error, rv, "%s: %s", name, tr_strerror(rv));
}

/* Another thread is inside, or closes the loader. */
static int loader_refuse(const char *call, int rv, struct tr_error *error)
{
    return tr_error_set(error, rv, "loader: %s: %s", call,
                        rv == TR_ECLOSED ? "another thread closes it"
                                         : "another thread waits in it");
}

static int check_shape(const struct tr_loader_options *o, struct tr_error *error)
{
    if (o->batch_size == 0)
        return tr_error_set(error, TR_ERANGE, "batch_size: 0; give 1 or more");
    if (o->spec != NULL) /* was checked as it was made */
        return 0;
    if (o->num_layers == 0 || o->num_layers > TR_LAYERS_MAX)
        return tr_error_set(error, TR_ERANGE, "num_layers: %u; give 1 to %d", o->num_layers,
                            TR_LAYERS_MAX);
    for (uint32_t i = 0; i < o->num_layers; i++)
        if (o->fanout[i] < TR_FANOUT_ALL || o->fanout[i] > (int32_t)SAMPLE_FANOUT_MAX)
            return tr_error_set(error, TR_ERANGE, "fanout[%u]: %d; give 0 to %u, or -1 for all", i,
                                o->fanout[i], SAMPLE_FANOUT_MAX);
    return 0;
}

/* The trainer of this process that stands for a rank. Ranks that the job doesn't have, as of a
 * program that plays several by itself, are shared out among those that are here. */
static int find_trainer(const struct tr_graph *graph, uint32_t rank, uint32_t world,
                        uint32_t *trainer, struct tr_error *error)
{
    struct plan_range here = graph_plays(graph)->trainers;
    if (rank >= world)
        return tr_error_set(error, TR_ERANGE, "rank: %u of %u trainers", rank, world);
    if (here.count == 0)
        return tr_error_set(error, TR_EUNSUPPORTED,
                            "process %u of the cluster has no "
                            "trainers; open loaders where there are some",
                            graph->process);
    bool is_here = rank - here.first < here.count;
    if (rank < graph->plan->trainers && !is_here)
        return tr_error_set(error, TR_ERANGE,
                            "rank: %u trains in process %u of the "
                            "cluster, this is process %u",
                            rank, plan_trainer_node(graph->plan, rank), graph->process);
    *trainer = is_here ? rank : here.first + rank % here.count;
    return 0;
}

int graph_find_name(const struct tr_graph *graph, const char *name, const char *option,
                    uint32_t *out, struct tr_error *error)
{
    *out = MSG_MASK_ALL;
    if (name == NULL)
        return 0;
    int number = graph_meta_name(&graph->meta, name);
    if (number < 0)
        return tr_error_set(error, TR_ENOENT, "%s: the graph has no feature \"%s\"", option, name);
    *out = (uint32_t)number;
    return 0;
}

static uint32_t flags_of(const struct tr_loader_options *o)
{
    return (o->shuffle ? MSG_LOADER_SHUFFLE : 0) | (o->drop_last ? MSG_LOADER_DROP_LAST : 0) |
           (o->edge_ids ? MSG_LOADER_EDGE_IDS : 0) |
           (o->original_ids ? MSG_LOADER_ORIGINAL_IDS : 0) | (o->degrees ? MSG_LOADER_DEGREES : 0);
}

static const struct tr_nodes *nodes_part(const struct tr_nodes *nodes, uint32_t part)
{
    return nodes->parts == NULL ? nodes : nodes->parts[part];
}

static struct msg_seed_segment segment_of(const struct tr_nodes *nodes)
{
    return (struct msg_seed_segment){
        .ntype = nodes->ntype,
        .seeds = nodes->ranks < 0 ? MSG_SEEDS_LISTED : MSG_SEEDS_RANKS,
        .ranks = nodes->ranks < 0 ? 0 : (uint32_t)nodes->ranks,
        .first_rank = nodes->first_rank,
        .num_seeds = nodes->count,
    };
}

/* The i-th type of the seeds. */
static uint32_t seed_type(const struct tr_nodes *nodes, uint32_t i)
{
    if (!nodes_are_pairs(nodes))
        return nodes_part(nodes, i)->ntype;
    const struct graph_etype *type = &nodes->graph->book->types.etypes[nodes->etype];
    return i == 0 ? type->src : type->dst;
}

/* Every type of the seeds has them. */
static int check_labels(const struct tr_graph *graph, const struct tr_nodes *nodes, uint32_t number,
                        const char *name, struct tr_error *error)
{
    uint32_t num_types = nodes_are_pairs(nodes) ? 2 : tr_nodes_num_parts(nodes);
    for (uint32_t i = 0; number != MSG_MASK_ALL && i < num_types; i++) {
        uint32_t ntype = seed_type(nodes, i);
        if (graph_meta_table(&graph->meta, ntype, number) < 0)
            return tr_error_set(error, TR_ENOENT, "labels: nodes of type %s have no feature \"%s\"",
                                tr_graph_ntype_name(graph, ntype), name);
    }
    return 0;
}

/* Seeds that are listed, and not a range of ranks. */
static uint64_t num_listed(const struct tr_nodes *nodes)
{
    if (nodes_are_pairs(nodes))
        return nodes_are_edge_ranks(nodes) ? 0 : nodes->count;
    uint64_t listed = 0;
    for (uint32_t i = 0; i < tr_nodes_num_parts(nodes); i++)
        listed += nodes_part(nodes, i)->ranks < 0 ? nodes_part(nodes, i)->count : 0;
    return listed;
}

/* The list goes to the proxy whole, and what a batch has of it to a sampler, which may be
 * elsewhere. */
static int check_listed(const struct tr_nodes *nodes, const struct tr_loader_options *o,
                        struct tr_error *error)
{
    const char *what = !nodes_are_pairs(nodes) ? "nodes" : nodes->edges ? "edges" : "pairs";
    const uint64_t ids = nodes_are_pairs(nodes) && !nodes->edges ? 2 : 1;
    const uint64_t listed = num_listed(nodes), most = TR_BATCH_LISTED_MAX / ids;
    if (listed > TR_LISTED_MAX / ids)
        return tr_error_set(error, TR_ETOOBIG, "%" PRIu64 " listed %s; at most %" PRIu64, listed,
                            what, TR_LISTED_MAX / ids);
    if (listed > most && o->batch_size > most)
        return tr_error_set(error, TR_ERANGE, "batch_size: %u listed %s; give at most %" PRIu64,
                            o->batch_size, what, most);
    return 0;
}
_Static_assert(TR_LISTED_MAX == MSG_LISTED_MAX && TR_BATCH_LISTED_MAX == MSG_BATCH_LISTED_MAX &&
                   TR_PAIRS_MAX == TR_LISTED_MAX / 2 && TR_LISTED_MAX <= MSG_PAIRS_BATCH_MAX,
               "what is checked here is accepted there");

static int fill_open(struct tr_graph *graph, const struct tr_nodes *nodes,
                     const struct tr_loader_options *o, uint32_t *trainer,
                     struct msg_loader_open *open, struct tr_error *error)
{
    struct tr_session *session = graph->session;
    open->world = o->world != 0 ? o->world : graph->plan->trainers;
    int rv = check_shape(o, error);
    if (rv == 0)
        rv = find_trainer(graph, o->rank, open->world, trainer, error);
    if (rv == 0)
        rv = graph_find_name(graph, o->features, "features", &open->features, error);
    if (rv == 0)
        rv = graph_find_name(graph, o->labels, "labels", &open->labels, error);
    if (rv != 0)
        return rv;
    rv = check_labels(graph, nodes, open->labels, o->labels, error);
    if (rv != 0)
        return rv;
    if (nodes->world != 0 && (nodes->rank != o->rank || nodes->world != open->world))
        return tr_error_set(error, TR_EMISMATCH,
                            "the nodes are the group of rank %u of %u "
                            "trainers, the loader is for rank %u of %u",
                            nodes->rank, nodes->world, o->rank, open->world);
    if (nodes->count > BIJECTION_MAX)
        return tr_error_set(error, TR_ETOOBIG, "%zu seeds; at most 2^40", nodes->count);
    rv = check_listed(nodes, o, error);
    if (rv != 0)
        return rv;
    if (nodes_are_pairs(nodes) && o->batch_size > MSG_PAIRS_BATCH_MAX)
        return tr_error_set(error, TR_ERANGE, "batch_size: %u pairs or edges; give at most %u",
                            o->batch_size, MSG_PAIRS_BATCH_MAX);
    open->loader = atomic_fetch_add(&session->next_loader, 1);
    open->seed = o->seed != 0 ? o->seed : session->options.seed;
    open->num_seeds = nodes->count;
    if (nodes_are_pairs(nodes)) {
        open->seeds = nodes_are_edge_ranks(nodes) ? MSG_SEEDS_EDGE_RANKS
                      : nodes->edges              ? MSG_SEEDS_EDGES
                                                  : MSG_SEEDS_PAIRS;
        open->etype = nodes->etype;
        open->first_rank = nodes->first_rank;
    } else if (nodes->parts != NULL) {
        open->seeds = MSG_SEEDS_SEVERAL;
        open->num_segments = nodes->num_parts;
    } else {
        const struct msg_seed_segment only = segment_of(nodes);
        open->ntype = only.ntype;
        open->seeds = only.seeds;
        open->ranks = only.ranks;
        open->first_rank = only.first_rank;
    }
    open->batch_size = o->batch_size;
    open->rank = o->rank;
    open->flags = flags_of(o);
    open->prefetch = o->prefetch;
    open->all_seeds = nodes->all_count;
    return 0;
}
_Static_assert(TR_LAYERS_MAX == SAMPLE_LAYERS_MAX, "what is checked here is accepted there");

/* Every edge type draws alike, unless a spec says more. */
static int fill_spec(struct tr_graph *graph, const struct tr_loader_options *o,
                     struct sample_spec *spec, struct tr_error *error)
{
    uint32_t num_etypes = graph->book->types.num_etypes;
    struct error why = { 0 };
    int rv = o->spec != NULL ? sample_spec_copy(spec, sample_spec_of(o->spec))
                             : sample_spec_alloc(spec, o->num_layers, num_etypes);
    if (rv != 0)
        return tr_error_set(error, rv, "%u layers of %u edge types: %s", o->num_layers, num_etypes,
                            tr_strerror(rv));
    for (uint32_t l = 0; l < o->num_layers && o->spec == NULL; l++) {
        const struct sample_term term = SAMPLE_TERM(o->fanout[l], o->replace);
        sample_spec_set_layer(spec, l, &term);
    }
    rv = sample_spec_check(spec, num_etypes, "loader", &why);
    if (rv == 0)
        rv = sample_tables_check(spec, &graph->meta, "loader", &why);
    return rv != 0 ? error_give(&why, error) : 0;
}

/* The body of the request begins with segments where there are several types, then lists follow. */
static size_t seed_bytes(const struct tr_nodes *nodes)
{
    if (nodes_are_pairs(nodes)) /* at most 2^40 */
        return nodes->count * nodes_seed_bytes(nodes);
    size_t bytes = nodes->num_parts * sizeof(struct msg_seed_segment);
    for (uint32_t i = 0; i < tr_nodes_num_parts(nodes); i++)
        bytes += nodes_part(nodes, i)->ranks < 0 ? nodes_part(nodes, i)->count * sizeof(uint64_t)
                                                 : 0;
    return bytes;
}

static void write_seeds(const struct tr_nodes *nodes, unsigned char *to)
{
    if (nodes_are_pairs(nodes) && seed_bytes(nodes) > 0)
        memcpy(to, nodes->ids, seed_bytes(nodes));
    for (uint32_t i = 0; i < nodes->num_parts; i++) {
        const struct msg_seed_segment segment = segment_of(nodes->parts[i]);
        memcpy(to, &segment, sizeof segment);
        to += sizeof segment;
    }
    for (uint32_t i = 0; i < tr_nodes_num_parts(nodes); i++) {
        const struct tr_nodes *part = nodes_part(nodes, i);
        size_t bytes = part->ranks < 0 ? part->count * sizeof(uint64_t) : 0;
        if (bytes > 0)
            memcpy(to, part->ids, bytes);
        to += bytes;
    }
}

static struct message *make_open(const struct tr_loader *l, struct port *port)
{
    struct message *request = port_message(port, MSG_LOADER_OPEN);
    size_t bytes = seed_bytes(l->nodes);
    size_t spec_bytes = sample_spec_bytes(&l->spec);
    unsigned char *body = request == NULL ? NULL
                                          : port_body_alloc(port, request, bytes + spec_bytes);
    if (body == NULL) {
        port_release(port, request);
        return NULL;
    }
    struct msg_loader_open *open = message_head(request);
    *open = l->open;
    open->spec_bytes = (uint32_t)spec_bytes;
    sample_spec_write(&l->spec, body + bytes);
    write_seeds(l->nodes, body);
    return request;
}

static bool is_cancelled(struct tr_loader *l)
{
    pthread_mutex_lock(&l->mutex);
    bool cancelled = l->cancelled || l->closed;
    pthread_mutex_unlock(&l->mutex);
    return cancelled;
}

/* Before another attempt. False: there is none. */
static bool pause_before(struct tr_loader *l, struct port *port, uint64_t deadline_ns)
{
    if (is_cancelled(l) || port_now_ns(port) >= deadline_ns)
        return false;
    nanosleep(&(struct timespec){ .tv_nsec = AGAIN_NS }, NULL);
    return true;
}

static struct address proxy_of(struct tr_loader *l)
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

/* Opens it at the proxy, again after the proxy was started again. first: nobody has the loader yet,
 * and the proxy is noted before it is asked: it may open the loader after the call has ended, and
 * is then to close it. Of a loader that is opened again the dead proxy stays noted until another
 * one has answered, since requests to it lead here again. */
static int open_at_proxy(struct tr_loader *l, struct port *port, bool first, uint64_t deadline_ns,
                         struct error *error)
{
    struct address proxy = ADDRESS_NONE;
    struct message *reply = NULL;
    char name[DIRECTORY_NAME_MAX];
    int rv;
    proxy_name(l->trainer, name);
    do {
        bool found = (rv = port_find(port, name, deadline_ns, &proxy)) == 0;
        struct message *request = found ? make_open(l, port) : NULL;
        if (found && request == NULL)
            return error_set(error, TR_ENOMEM, "no memory for a loader of %zu seeds",
                             l->nodes->count);
        if (found && first)
            note_proxy(l, proxy);
        if (found)
            rv = port_call(port, proxy, request, deadline_ns, &reply);
        error_set(error, rv, "%s: %s", found ? "opening a loader" : "the trainer-proxy",
                  tr_strerror(rv));
    } while (part_call_peer_recovers(rv) && pause_before(l, port, deadline_ns));
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
    nodes_release(l->nodes);
    pthread_cond_destroy(&l->left);
    pthread_mutex_destroy(&l->mutex);
    sample_spec_free(&l->spec);
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
        port_send(port->port, proxy_of(l), message);
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
    struct tr_loader_options options = DEFAULTS;
    struct error why = { 0 };
    struct graph_port *port;
    int rv = session_mine(graph->session, error);
    if (rv == 0)
        rv = sized_read(&options, sizeof options, caller, "tr_loader_options", error);
    if (rv != 0)
        return rv;
    if (nodes->graph != graph)
        return tr_error_set(error, TR_EMISMATCH, "the node set is of another graph");
    struct tr_loader *l = loader_create(graph, nodes);
    if (l == NULL)
        return tr_error_set(error, TR_ENOMEM, "no memory for a loader");
    rv = fill_open(graph, nodes, &options, &l->trainer, &l->open, error);
    if (rv == 0)
        rv = fill_spec(graph, &options, &l->spec, error);
    if (rv != 0)
        goto err;
    rv = graph_enter(graph, &port);
    if (rv != 0) {
        rv = graph_refused(graph, rv, error);
        goto err;
    }
    rv = open_at_proxy(l, port->port, true, graph_deadline(graph, port->port, timeout_ns), &why);
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

uint64_t tr_loader_num_batches(const struct tr_loader *loader)
{
    return loader->num_batches;
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
    return message == NULL ? TR_ENOMEM : port_send(port, proxy_of(l), message);
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
    int rv = request == NULL ? TR_ENOMEM : port_call(port, proxy_of(l), request, until, &reply);
    if (rv == 0) {
        rv = error_reply_read(reply, error);
        port_release(port, reply);
        return rv;
    }
    /* What ends the attempt is judged before the time: where the proxy was started again, or is
     * full, the same call goes on; a look that is over is no timeout of the call. */
    enum proxy_call_end end = proxy_call_end(rv);
    /* A cancel or a close ends the question too, as if the proxy had lost the loader. Opened again, a
     * loader that is being closed would draw batches for nobody; the caller finds the cancel. */
    if (end == PROXY_CALL_AGAIN && pause_before(l, port, deadline_ns))
        return 0;
    if (end == PROXY_CALL_REOPEN && !is_cancelled(l))
        rv = open_at_proxy(l, port, false, deadline_ns, error);
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
        if (is_cancelled(l))
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
    bool dropped = rv == TR_ECANCELED && is_cancelled(l);
    l->told = l->told && (rv == TR_ETIMEDOUT || (rv == TR_ECANCELED && !dropped));
    if (dropped)
        l->next = 0;
    return loader_fail(l, "next", rv, &why, error);
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
            job_progress_note_step(&loader->graph->progress, loader->epoch, loader->next,
                                   loader->num_batches);
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

void tr_loader_close(struct tr_loader *loader)
{
    if (loader == NULL || session_is_child(loader->graph->session))
        return;
    pthread_mutex_lock(&loader->mutex);
    loader->closed = true;
    pthread_mutex_unlock(&loader->mutex);
    /* The proxy closes the loader before the wait, which ends by it: the answer of a proxy that has
     * no such loader finds `closed`. */
    close_at_proxy(loader);
    pthread_mutex_lock(&loader->mutex);
    bool waited = loader->waiting;
    while (loader->waiting)
        pthread_cond_wait(&loader->left, &loader->mutex);
    pthread_mutex_unlock(&loader->mutex);
    if (waited) /* the thread that waited may have opened it again */
        close_at_proxy(loader);
    loader_destroy(loader);
}
