/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A single draw: one request to a trainer-proxy of this process, which has one sampler draw it. No
 * loader is opened anywhere; the batch takes the way of all batches, through the store. The options
 * are checked, the request is filled from them, and the proxy is asked until it answers or the
 * caller's time is over.
 */
#include <troupe/sample.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "actors/common/error_reply.h"
#include "actors/data/proxy.h"
#include "api/internal.h"
#include "api/link_options.h"
#include "api/loader_request.h"
#include "api/public_spec.h"
#include "api/sized.h"
#include "graph/sample.h"
#include "graph/samplers.h"
#include "runtime/base/deadline.h"
#include "schemas/body.h"

/* A proxy that is being started again is looked for after this. */
#define AGAIN_NS 5000000L

void tr_sample_options_init_sized(struct tr_sample_options *options, size_t size)
{
    memset(options, 0, size);
    memcpy(options, &size, sizeof size);
}

static int check_pairs(const struct tr_graph *graph, const struct tr_nodes *pairs,
                       struct tr_error *error)
{
    if (pairs->graph != graph)
        return tr_error_set(error, TR_EMISMATCH, "pairs: they belong to another graph");
    if (!nodes_are_pairs(pairs))
        return tr_error_set(error, TR_EINVAL, "pairs: the set has nodes; give them as seeds");
    if (pairs->count == 0)
        return tr_error_set(error, TR_ERANGE, "pairs: 0 of them; give 1 or more");
    /* Edges by rank are listed for the draw. */
    const uint64_t most = TR_SAMPLE_SEEDS_MAX / (pairs->edges && !pairs->reversed ? 1 : 2);
    if (pairs->count > most)
        return tr_error_set(error, TR_ERANGE, "pairs: %zu %s; give at most %" PRIu64, pairs->count,
                            pairs->edges ? "edges" : "pairs", most);
    return 0;
}

_Static_assert(TR_SAMPLE_SEEDS_MAX == MSG_DRAW_LISTED_MAX &&
                   TR_SAMPLE_EXCLUDED_MAX == MSG_EXCLUDED_MAX,
               "what is checked here is accepted there");

static int check_excluded(const struct tr_graph *graph, const struct tr_sample_options *o,
                          struct tr_error *error)
{
    const struct book *book = graph->book;
    if (o->num_excluded > TR_SAMPLE_EXCLUDED_MAX)
        return tr_error_set(error, TR_ERANGE,
                            "num_excluded: %zu; give at most %" PRIu64
                            ", or a mask of the edges that may be drawn",
                            o->num_excluded, TR_SAMPLE_EXCLUDED_MAX);
    if (o->num_excluded > 0 && (o->excluded == NULL || o->excluded_etypes == NULL))
        return tr_error_set(error, TR_EINVAL,
                            "num_excluded: %zu, but excluded or excluded_etypes is NULL",
                            o->num_excluded);
    for (size_t i = 0; i < o->num_excluded; i++) {
        uint32_t etype = o->excluded_etypes[i];
        if (etype >= book->types.num_etypes)
            return tr_error_set(error, TR_ERANGE,
                                "excluded_etypes[%zu]: %" PRIu32
                                ": types are numbered from 0, and the graph has %" PRIu32,
                                i, etype, book->types.num_etypes);
        if (o->excluded[i] >= book->num_edges[etype])
            return tr_error_set(
                error, TR_ERANGE,
                "excluded[%zu]: %" PRIu64 ", there are %" PRIu64 " edges of type %s", i,
                o->excluded[i], book->num_edges[etype], book->types.etypes[etype].name);
    }
    return 0;
}

/* Seeds of several node types, each of which stands there once. */
static int check_types(const struct tr_graph *graph, const struct tr_sample_options *o,
                       struct tr_error *error)
{
    const struct graph_types *types = &graph->book->types;
    uint64_t sum = 0;
    if (o->ntypes == NULL || o->counts == NULL)
        return tr_error_set(error, TR_EINVAL, "num_ntypes: %zu, but ntypes or counts is NULL",
                            o->num_ntypes);
    if (o->num_ntypes > types->num_ntypes)
        return tr_error_set(error, TR_ERANGE, "num_ntypes: %zu; the graph has %" PRIu32,
                            o->num_ntypes, types->num_ntypes);
    for (size_t i = 0; i < o->num_ntypes; i++) {
        if (o->ntypes[i] >= types->num_ntypes)
            return tr_error_set(error, TR_ERANGE,
                                "ntypes[%zu]: %" PRIu32
                                ": types are numbered from 0, and the graph has %" PRIu32,
                                i, o->ntypes[i], types->num_ntypes);
        for (size_t j = 0; j < i; j++)
            if (o->ntypes[j] == o->ntypes[i])
                return tr_error_set(error, TR_EINVAL,
                                    "ntypes[%zu] and [%zu]: %s; give the seeds of a type together",
                                    j, i, types->ntypes[o->ntypes[i]]);
        if (__builtin_add_overflow(sum, o->counts[i], &sum))
            sum = UINT64_MAX;
    }
    return sum == o->num_seeds
               ? 0
               : tr_error_set(error, TR_EINVAL,
                              "counts: %" PRIu64 " seeds of all types; num_seeds is "
                              "%zu",
                              sum, o->num_seeds);
}

static int check_options(const struct tr_graph *graph, const struct tr_sample_options *o,
                         struct tr_error *error)
{
    const struct graph_types *types = &graph->book->types;
    if (o->spec == NULL)
        return tr_error_set(error, TR_EINVAL, "spec: NULL; give what to draw");
    if (public_spec_graph(o->spec) != graph)
        return tr_error_set(error, TR_EMISMATCH, "spec: it belongs to another graph");
    int rv = check_excluded(graph, o, error);
    if (rv != 0)
        return rv;
    if (o->pairs != NULL)
        return check_pairs(graph, o->pairs, error);
    if (o->num_ntypes > 0 && (rv = check_types(graph, o, error)) != 0)
        return rv;
    if (o->num_ntypes == 0 && o->ntype >= types->num_ntypes)
        return tr_error_set(error, TR_ERANGE,
                            "ntype: %" PRIu32
                            ": types are numbered from 0, and the graph has %" PRIu32,
                            o->ntype, types->num_ntypes);
    if (o->num_seeds == 0 || o->num_seeds > TR_SAMPLE_SEEDS_MAX || o->seeds == NULL)
        return tr_error_set(error, TR_ERANGE, "num_seeds: %zu; give 1 to %" PRIu64, o->num_seeds,
                            TR_SAMPLE_SEEDS_MAX);
    return 0;
}

/* A draw while it is asked for: the caller's seeds and spec are read with each attempt. */
struct draw {
    struct tr_graph *graph;
    struct msg_draw_request head;
    struct msg_seed_segment *segments; /* [head.num_segments], the draw's own */
    const uint64_t *seeds;             /* [num_ids] */
    size_t num_ids;
    struct msg_excluded_edge *excluded; /* [head.num_excluded], the draw's own */
    const struct sample_spec *spec;
    char name[DIRECTORY_NAME_MAX]; /* of the proxy that is asked */
    struct address proxy;          /* that was asked last; none: no one was */
};

/* Labels are of the seeds' types: what a type has not, no seed has. */
static int find_names(const struct tr_graph *graph, const struct tr_sample_options *o,
                      struct msg_draw_request *head, struct tr_error *error)
{
    int rv = graph_find_name(graph, o->features, "features", &head->features, error);
    if (rv == 0)
        rv = graph_find_name(graph, o->labels, "labels", &head->labels, error);
    if (rv != 0 || o->labels == NULL)
        return rv;
    if (o->pairs != NULL)
        return loader_check_labels(graph, o->pairs, head->labels, o->labels, error);
    for (size_t i = 0; i < (o->num_ntypes > 0 ? o->num_ntypes : 1); i++) {
        const uint32_t ntype = o->num_ntypes > 0 ? o->ntypes[i] : o->ntype;
        if (graph_meta_table(&graph->meta, ntype, head->labels) < 0)
            return tr_error_set(error, TR_ENOENT, "labels: nodes of type %s have no feature \"%s\"",
                                tr_graph_ntype_name(graph, ntype), o->labels);
    }
    return 0;
}

/* A draw has no rank of the job: any trainer that is here has its proxy bring it. */
static int choose_trainer(struct tr_graph *graph, uint32_t *trainer, struct tr_error *error)
{
    *trainer = graph_plays(graph)->trainers.first;
    if (graph_plays(graph)->trainers.count > 0)
        return 0;
    return tr_error_set(error, TR_EUNSUPPORTED,
                        "process %" PRIu32 " of the cluster has no trainers; draw where there are "
                        "some",
                        graph->process);
}

/* The kind by which a draw lists the pairs of one type, also where the set has ranks of edges. */
static uint32_t listed_kind(const struct tr_nodes *part)
{
    return !part->edges     ? MSG_SEEDS_PAIRS
           : part->reversed ? MSG_SEEDS_EDGES_REVERSED
                            : MSG_SEEDS_EDGES;
}

static uint32_t part_ids(const struct tr_nodes *part)
{
    return seed_kind_ids(listed_kind(part));
}

/* The IDs of a set that has no list of its own: edges by rank are asked for before the draw, whose
 * message lists them, and those of several types are put one behind the other. */
static int list_ids(struct draw *d, const struct tr_nodes *pairs, int64_t timeout_ns,
                    uint64_t **listed, struct tr_error *error)
{
    const struct deadline until = graph_until(d->graph, timeout_ns);
    uint64_t *ids = *listed = calloc(d->num_ids + 1, sizeof *ids);
    int rv = 0;
    if (ids == NULL)
        return tr_error_set(error, TR_ENOMEM, "no memory for %zu %s", pairs->count,
                            pairs->edges ? "edges" : "pairs");
    d->seeds = ids;
    for (uint32_t i = 0; i < nodes_num_parts(pairs) && rv == 0; i++) {
        const struct tr_nodes *part = nodes_part(pairs, i);
        const size_t num_ids = part->count * part_ids(part);
        if (nodes_are_edge_ranks(part))
            rv = tr_edges_ids(part, 0, part->count, deadline_left_ns(&until), ids, error);
        else if (num_ids > 0)
            memcpy(ids, part->ids, num_ids * sizeof *ids);
        ids += num_ids;
    }
    return rv;
}

/* What the draw says of the edges or pairs of its set: the segments of several types, or the head. */
static void describe_pairs(struct draw *d, const struct tr_nodes *pairs)
{
    struct msg_seed_segment *of = d->segments;
    d->num_ids = 0;
    for (uint32_t i = 0; i < nodes_num_parts(pairs); i++) {
        const struct tr_nodes *part = nodes_part(pairs, i);
        d->num_ids += part->count * part_ids(part);
        of[i].seeds = listed_kind(part);
        of[i].first_rank = 0;
    }
    if (pairs->parts != NULL) {
        d->head.seeds = MSG_SEEDS_SEVERAL;
        d->head.num_segments = pairs->num_parts;
        for (uint32_t i = 0; i < pairs->num_parts; i++)
            of[i].seeds = seed_kind_given(of[i].seeds);
        return;
    }
    d->head.seeds = of->seeds;
    d->head.etype = of->etype;
    d->head.negative_ranks = of->negative_ranks;
    d->head.negative_source_ranks = of->negative_source_ranks;
    d->head.reverse_etype = of->reverse_etype;
    d->head.reverse_rule = of->reverse_rule;
}

static int compare_excluded(const void *a, const void *b)
{
    const struct msg_excluded_edge *x = a, *y = b;
    if (x->etype != y->etype)
        return x->etype < y->etype ? -1 : 1;
    return x->edge < y->edge ? -1 : x->edge > y->edge;
}

/* The edges that are left out, in order: they are sorted by the caller's thread, which may take as
 * long as it takes. */
static int list_excluded(struct draw *d, const struct tr_sample_options *o, struct tr_error *error)
{
    if (o->num_excluded == 0)
        return 0;
    d->excluded = calloc(o->num_excluded, sizeof *d->excluded);
    if (d->excluded == NULL)
        return tr_error_set(error, TR_ENOMEM, "no memory for %zu edges to leave out",
                            o->num_excluded);
    for (size_t i = 0; i < o->num_excluded; i++)
        d->excluded[i] = (struct msg_excluded_edge){ o->excluded_etypes[i], o->excluded[i] };
    qsort(d->excluded, o->num_excluded, sizeof *d->excluded, compare_excluded);
    d->head.num_excluded = (uint32_t)o->num_excluded;
    return 0;
}

/* Seeds of several node types. */
static int describe_nodes(struct draw *d, const struct tr_sample_options *o, struct tr_error *error)
{
    if (o->num_ntypes == 0)
        return 0;
    d->segments = calloc(o->num_ntypes, sizeof *d->segments);
    if (d->segments == NULL)
        return tr_error_set(error, TR_ENOMEM, "no memory for %zu node types", o->num_ntypes);
    for (size_t i = 0; i < o->num_ntypes; i++)
        d->segments[i] = (struct msg_seed_segment){ .ntype = o->ntypes[i],
                                                    .seeds = MSG_SEEDS_GIVEN,
                                                    .num_seeds = o->counts[i] };
    d->head.seeds = MSG_SEEDS_SEVERAL;
    d->head.num_segments = (uint32_t)o->num_ntypes;
    return 0;
}

/* What links say of the set, whose segments are the draw's then. */
static int read_links(struct draw *d, const struct tr_sample_options *o, struct link_fields *links,
                      struct tr_error *error)
{
    const struct tr_nodes *pairs = o->pairs;
    if (pairs == NULL)
        return link_options_read(d->graph, NULL, 0, o->links, links, NULL, error);
    const uint32_t num_parts = nodes_num_parts(pairs);
    d->segments = calloc(num_parts, sizeof *d->segments);
    if (d->segments == NULL)
        return tr_error_set(error, TR_ENOMEM, "no memory for %" PRIu32 " edge types", num_parts);
    for (uint32_t i = 0; i < num_parts; i++)
        d->segments[i] = loader_segment(nodes_part(pairs, i));
    return link_options_read(d->graph, pairs, pairs->count, o->links, links, d->segments, error);
}

static int fill_draw(struct draw *d, const struct tr_sample_options *o, struct tr_error *error)
{
    struct tr_graph *graph = d->graph;
    const struct sample_spec *spec = public_spec_draws(o->spec);
    struct error why = { 0 };
    struct link_fields links;
    uint32_t trainer;
    int rv = read_links(d, o, &links, error);
    if (rv == 0)
        rv = choose_trainer(graph, &trainer, error);
    if (rv != 0)
        return rv;
    d->head = (struct msg_draw_request){
        .seed = o->seed != 0 ? o->seed : graph->session->options.seed,
        .num_seeds = (uint32_t)(o->pairs != NULL ? o->pairs->count : o->num_seeds),
        .ntype = o->pairs != NULL ? 0 : o->ntype,
        .flags = (o->edge_ids ? MSG_LOADER_EDGE_IDS : 0) |
                 (o->original_ids ? MSG_LOADER_ORIGINAL_IDS : 0) |
                 (o->degrees ? MSG_LOADER_DEGREES : 0) | links.flags,
        .num_negatives = links.num_negatives,
        .negative_ends = links.negative_ends,
        .spec_bytes = (uint32_t)sample_spec_bytes(spec),
    };
    d->seeds = o->pairs != NULL ? o->pairs->ids : o->seeds;
    d->num_ids = o->num_seeds;
    d->spec = spec;
    if (o->pairs != NULL)
        describe_pairs(d, o->pairs);
    else
        rv = describe_nodes(d, o, error);
    proxy_name(trainer, d->name);
    if (rv == 0)
        rv = find_names(graph, o, &d->head, error);
    if (rv != 0)
        return rv;
    rv = sample_spec_check(spec, &graph->book->types, "spec", &why);
    if (rv == 0)
        rv = sample_tables_check(spec, &graph->meta, "spec", &why);
    return rv != 0 ? error_give(&why, error) : 0;
}

static struct message *make_draw(const struct draw *d, struct port *port)
{
    struct message *request = port_message(port, MSG_DRAW_REQUEST);
    size_t segments = d->head.num_segments * sizeof *d->segments;
    size_t bytes = d->num_ids * sizeof *d->seeds;
    size_t excluded = d->head.num_excluded * sizeof *d->excluded;
    unsigned char *body = request == NULL
                              ? NULL
                              : port_body_alloc(port, request,
                                                segments + bytes + excluded + d->head.spec_bytes);
    if (body == NULL) {
        port_release(port, request);
        return NULL;
    }
    *(struct msg_draw_request *)message_head(request) = d->head;
    if (segments > 0)
        memcpy(body, d->segments, segments);
    body += segments;
    memcpy(body, d->seeds, bytes);
    if (excluded > 0)
        memcpy(body + bytes, d->excluded, excluded);
    sample_spec_write(d->spec, body + bytes + excluded);
    return request;
}

/* One attempt. *answered: the result is the sampler's or the proxy's last word, else what came of
 * the call. */
static int ask_proxy(struct draw *d, struct port *port, uint64_t deadline_ns, bool *answered,
                     struct error *error)
{
    struct message *reply;
    *answered = false;
    /* The proxy is looked up in each attempt: it may have been started again since. */
    int rv = port_find(port, d->name, deadline_ns, &d->proxy);
    if (rv != 0)
        return error_set(error, rv, "the trainer-proxy: %s", call_text(rv));
    struct message *request = make_draw(d, port);
    if (request == NULL) {
        *answered = true;
        return error_set(error, TR_ENOMEM, "no memory for a draw from %" PRIu32 " seeds",
                         d->head.num_seeds);
    }
    rv = port_call(port, d->proxy, request, deadline_ns, &reply);
    if (rv != 0)
        return error_set(error, rv, "drawing: %s", call_text(rv));
    *error = (struct error){ 0 };
    rv = error_reply_read(reply, error);
    *answered = true;
    port_release(port, reply);
    return rv;
}

/* A proxy that ended, or has no room for a while, is asked again until the one deadline. */
static bool is_tried_again(int rv, struct port *port, uint64_t deadline_ns)
{
    if (port_is_interrupted(port) || port_now_ns(port) >= deadline_ns ||
        proxy_call_end(rv) == PROXY_CALL_FAILED)
        return false;
    nanosleep(&(struct timespec){ .tv_nsec = AGAIN_NS }, NULL);
    return true;
}

/* The proxy holds the draw, and the store its place, until it is notified. */
static void end_draw(const struct draw *d, struct port *port)
{
    struct message *message = address_is_none(d->proxy) ? NULL
                                                        : port_message(port, MSG_LOADER_CLOSE);
    if (message == NULL)
        return;
    ((struct msg_loader_close *)message_head(message))->loader = d->head.draw;
    port_send(port, d->proxy, message);
}

static int run_draw(struct draw *d, struct port *port, uint64_t deadline_ns,
                    struct sampled_batch **out, struct error *error)
{
    struct batch_store *store = d->graph->session->store;
    bool answered;
    int rv;
    do {
        rv = ask_proxy(d, port, deadline_ns, &answered, error);
        *out = rv == 0 ? batch_store_collect(store, d->head.draw, 0, 0) : NULL;
        if (rv == 0 && *out == NULL) { /* the proxy ended between its answer and this */
            rv = error_set(error, TR_EPEERDOWN, "drawing: the trainer-proxy ended");
            answered = false;
        }
    } while (rv != 0 && !answered && is_tried_again(rv, port, deadline_ns));
    /* This is asked before the draw ends: the store forgets its place then. */
    if (rv == TR_ETIMEDOUT && batch_store_is_starving(store, d->head.draw))
        rv = batch_store_say_starved(store, error);
    /* The draw ends after every outcome, and behind the batch: the proxy holds the draw until it
     * hears of the end. */
    end_draw(d, port);
    return rv;
}

static int draw_once(struct draw *d, int64_t timeout_ns, struct sampled_batch **batch,
                     struct tr_error *error)
{
    struct tr_graph *graph = d->graph;
    struct error why = { 0 };
    struct graph_port *port;
    int rv = graph_enter(graph, &port);
    if (rv != 0)
        return graph_refused(graph, rv, error);
    /* All attempts have one number: what an earlier one left in the store is found by a later
     * one. */
    d->head.draw = atomic_fetch_add(&graph->session->next_loader, 1);
    rv = run_draw(d, port->port, graph_deadline(graph, port->port, timeout_ns), batch, &why);
    if (rv != 0)
        rv = graph_failed(graph, &why, error);
    graph_leave(graph, port);
    return rv;
}

int tr_sample(struct tr_graph *graph, const struct tr_sample_options *options, int64_t timeout_ns,
              struct tr_batch **out, struct tr_error *error)
{
    struct tr_sample_options o;
    struct sampled_batch *batch = NULL;
    const struct deadline until = graph_until(graph, timeout_ns);
    struct draw d = { .graph = graph, .proxy = ADDRESS_NONE };
    uint64_t *listed = NULL;
    *out = NULL;
    tr_sample_options_init(&o);
    int rv = session_mine(graph->session, error);
    if (rv == 0)
        rv = sized_read(&o, sizeof o, options, "tr_sample_options", error);
    if (rv == 0)
        rv = check_options(graph, &o, error);
    if (rv == 0)
        rv = fill_draw(&d, &o, error);
    if (rv == 0 && o.pairs != NULL && o.pairs->ids == NULL)
        rv = list_ids(&d, o.pairs, deadline_left_ns(&until), &listed, error);
    if (rv == 0)
        rv = list_excluded(&d, &o, error);
    /* The list of edges took some of the time: the draw has the rest. */
    if (rv == 0)
        rv = draw_once(&d, deadline_left_ns(&until), &batch, error);
    free(listed);
    free(d.segments);
    free(d.excluded);
    *out = (struct tr_batch *)(void *)batch;
    return rv;
}
