/* SPDX-License-Identifier: Apache-2.0 */
#include "api/loader_request.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <troupe/loader.h>

#include "api/link_options.h"
#include "api/public_spec.h"
#include "graph/bijection.h"
#include "graph/sample.h"
#include "graph/samplers.h"

static const struct tr_loader_options DEFAULTS = {
    .size = sizeof DEFAULTS, .num_layers = 1, .fanout = { 10 }, .batch_size = 1024, .shuffle = true
};

void tr_loader_options_init_sized(struct tr_loader_options *options, size_t size)
{
    sized_init(options, size, &DEFAULTS, sizeof DEFAULTS);
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
        return tr_error_set(error, TR_ERANGE, "rank: %u of %u trainers; ranks count from 0", rank,
                            world);
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

static uint32_t flags_of(const struct tr_loader_options *o)
{
    return (o->shuffle ? MSG_LOADER_SHUFFLE : 0) | (o->drop_last ? MSG_LOADER_DROP_LAST : 0) |
           (o->edge_ids ? MSG_LOADER_EDGE_IDS : 0) |
           (o->original_ids ? MSG_LOADER_ORIGINAL_IDS : 0) | (o->degrees ? MSG_LOADER_DEGREES : 0);
}

struct msg_seed_segment loader_segment(const struct tr_nodes *part)
{
    bool pairs = nodes_are_pairs(part), listed = !pairs && part->ranks < 0;
    return (struct msg_seed_segment){
        .ntype = pairs ? 0 : part->ntype,
        .seeds = listed                       ? MSG_SEEDS_LISTED
                 : !pairs                     ? MSG_SEEDS_RANKS
                 : nodes_are_edge_ranks(part) ? MSG_SEEDS_EDGE_RANKS
                 : part->reversed             ? MSG_SEEDS_EDGES_REVERSED
                 : part->edges                ? MSG_SEEDS_EDGES
                                              : MSG_SEEDS_PAIRS,
        .ranks = pairs || listed ? 0 : (uint32_t)part->ranks,
        .etype = pairs ? part->etype : 0,
        .first_rank = part->first_rank,
        .num_seeds = part->count,
    };
}

/* The node types of the seeds of a part: one, or those of both ends. */
static uint32_t types_of_part(const struct tr_nodes *part, uint32_t ntypes[2])
{
    if (!nodes_are_pairs(part)) {
        ntypes[0] = part->ntype;
        return 1;
    }
    const struct graph_etype *type = &part->graph->book->types.etypes[part->etype];
    ntypes[0] = type->src;
    ntypes[1] = type->dst;
    return 2;
}

int loader_check_labels(const struct tr_graph *graph, const struct tr_nodes *nodes, uint32_t number,
                        const char *name, struct tr_error *error)
{
    uint32_t ntypes[2];
    for (uint32_t part = 0; number != MSG_MASK_ALL && part < nodes_num_parts(nodes); part++)
        for (uint32_t i = types_of_part(nodes_part(nodes, part), ntypes); i-- > 0;)
            if (graph_meta_table(&graph->meta, ntypes[i], number) < 0)
                return tr_error_set(error, TR_ENOENT,
                                    "labels: nodes of type %s have no feature \"%s\"",
                                    tr_graph_ntype_name(graph, ntypes[i]), name);
    return 0;
}

/* Seeds that are listed, and not a range of ranks. */
static uint64_t num_listed(const struct tr_nodes *nodes)
{
    uint64_t listed = 0;
    for (uint32_t i = 0; i < nodes_num_parts(nodes); i++) {
        const struct tr_nodes *part = nodes_part(nodes, i);
        listed += part->list != NULL ? part->count : 0;
    }
    return listed;
}

/* The proxy reads the list where it lies, however long it is. What a batch has of it goes to a
 * sampler, which may be elsewhere. */
static int check_listed(const struct tr_nodes *nodes, const struct tr_loader_options *o,
                        struct tr_error *error)
{
    const char *what = !nodes_are_pairs(nodes) ? "nodes" : nodes->edges ? "edges" : "pairs";
    const uint64_t ids = nodes_are_pairs(nodes) && (!nodes->edges || nodes->reversed) ? 2 : 1;
    const uint64_t listed = num_listed(nodes), most = TR_BATCH_LISTED_MAX / ids;
    if (listed > most && o->batch_size > most)
        return tr_error_set(error, TR_ERANGE, "batch_size: %u listed %s; give at most %" PRIu64,
                            o->batch_size, what, most);
    return 0;
}
_Static_assert(TR_LISTED_MAX == BIJECTION_MAX && TR_PAIRS_MAX == BIJECTION_MAX &&
                   TR_BATCH_LISTED_MAX == MSG_BATCH_LISTED_MAX &&
                   TR_BATCH_LISTED_MAX <= MSG_PAIRS_BATCH_MAX,
               "what is checked here is accepted there");

int loader_fill_open(struct tr_graph *graph, const struct tr_nodes *nodes,
                     const struct tr_loader_options *o, uint32_t *trainer,
                     struct msg_loader_open *open, struct msg_seed_segment **segments,
                     struct tr_error *error)
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
    rv = loader_check_labels(graph, nodes, open->labels, o->labels, error);
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
    const uint32_t num_parts = nodes_num_parts(nodes);
    struct msg_seed_segment *of = *segments = calloc(num_parts, sizeof *of);
    if (of == NULL)
        return tr_error_set(error, TR_ENOMEM, "no memory for a loader of %zu seeds", nodes->count);
    for (uint32_t i = 0; i < num_parts; i++)
        of[i] = loader_segment(nodes_part(nodes, i));
    const uint64_t batch_pairs = o->batch_size < nodes->count ? o->batch_size : nodes->count;
    struct link_fields links;
    rv = link_options_read(graph, nodes, batch_pairs, o->links, &links, of, error);
    if (rv != 0)
        return rv;
    open->loader = atomic_fetch_add(&session->next_loader, 1);
    open->seed = o->seed != 0 ? o->seed : session->options.seed;
    open->num_seeds = nodes->count;
    if (nodes->parts != NULL) {
        open->seeds = MSG_SEEDS_SEVERAL;
        open->num_segments = num_parts;
    } else {
        open->ntype = of->ntype;
        open->seeds = of->seeds;
        open->ranks = of->ranks;
        open->etype = of->etype;
        open->first_rank = of->first_rank;
        open->negative_ranks = of->negative_ranks;
        open->negative_source_ranks = of->negative_source_ranks;
        open->reverse_etype = of->reverse_etype;
        open->reverse_rule = of->reverse_rule;
    }
    open->batch_size = o->batch_size;
    open->rank = o->rank;
    open->flags = flags_of(o) | links.flags;
    open->num_negatives = links.num_negatives;
    open->negative_ends = links.negative_ends;
    open->prefetch = o->prefetch;
    open->all_seeds = nodes->all_count;
    return 0;
}
_Static_assert(TR_LAYERS_MAX == SAMPLE_LAYERS_MAX, "what is checked here is accepted there");

int loader_fill_spec(struct tr_graph *graph, const struct tr_loader_options *o,
                     struct sample_spec *spec, struct tr_error *error)
{
    uint32_t num_etypes = graph->book->types.num_etypes;
    struct error why = { 0 };
    int rv = o->spec != NULL ? sample_spec_copy(spec, public_spec_draws(o->spec))
                             : sample_spec_alloc(spec, o->num_layers, num_etypes);
    if (rv != 0)
        return tr_error_set(error, rv, "%u layers of %u edge types: %s", o->num_layers, num_etypes,
                            tr_strerror(rv));
    for (uint32_t l = 0; l < o->num_layers && o->spec == NULL; l++) {
        const struct sample_term term = SAMPLE_TERM(o->fanout[l], o->replace);
        sample_spec_set_layer(spec, l, &term);
    }
    rv = sample_spec_check(spec, &graph->book->types, "loader", &why);
    if (rv == 0)
        rv = sample_tables_check(spec, &graph->meta, "loader", &why);
    return rv != 0 ? error_give(&why, error) : 0;
}

int loader_put_lists(const struct tr_graph *graph, const struct tr_nodes *nodes, uint64_t loader,
                     struct tr_error *error)
{
    const uint32_t most = nodes->num_parts + 1;
    struct seed_list **of = calloc(most, sizeof(struct seed_list *));
    uint32_t count = 0;
    if (of == NULL)
        return tr_error_set(error, TR_ENOMEM, "no memory for a loader of %zu seeds", nodes->count);
    if (nodes->list != NULL)
        of[count++] = nodes->list;
    for (uint32_t i = 0; i < nodes->num_parts; i++)
        if (nodes->parts[i]->list != NULL)
            of[count++] = nodes->parts[i]->list;
    int rv = count == 0 ? 0 : seed_lists_put(graph->session->lists, loader, of, count);
    free(of);
    return rv == 0 ? 0
                   : tr_error_set(error, rv, "no memory for a loader of %zu seeds", nodes->count);
}

/* The body of the request begins with segments where there are several types. */
struct message *loader_make_open(const struct msg_loader_open *open, const struct sample_spec *spec,
                                 const struct msg_seed_segment *segments, struct port *port)
{
    struct message *request = port_message(port, MSG_LOADER_OPEN);
    size_t bytes = open->num_segments * sizeof *segments;
    size_t spec_bytes = sample_spec_bytes(spec);
    unsigned char *body = request == NULL ? NULL
                                          : port_body_alloc(port, request, bytes + spec_bytes);
    if (body == NULL) {
        port_release(port, request);
        return NULL;
    }
    struct msg_loader_open *head = message_head(request);
    *head = *open;
    head->spec_bytes = (uint32_t)spec_bytes;
    sample_spec_write(spec, body + bytes);
    if (bytes > 0)
        memcpy(body, segments, bytes);
    return request;
}
