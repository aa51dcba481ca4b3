/* SPDX-License-Identifier: Apache-2.0 */
#include "model/link_edges.h"

#include <stdlib.h>

#include <troupe/query.h>

#include "model/loader_source.h"

#define EDGES_AT_ONCE 65536u

/* Edges that are looked at together, and all that are learned from. */
struct link_reading {
    struct link_edges *edges;
    struct tr_graph *graph;
    const struct link_split *split;
    struct tr_nodes *all;
    uint64_t *ids, *ends[2], *originals[2]; /* [EDGES_AT_ONCE]; sources, destinations */
    uint64_t *train;                        /* [all edges] */
    size_t num_train;
    uint64_t num_nodes;
};

static int add_pair(struct link_pairs *pairs, uint64_t source, uint64_t destination)
{
    if (pairs->count == pairs->room) {
        size_t room = pairs->room == 0 ? 1024 : 2 * pairs->room;
        uint32_t *sources = reallocarray(pairs->sources, room, sizeof *sources);
        pairs->sources = sources != NULL ? sources : pairs->sources;
        uint32_t *destinations = reallocarray(pairs->destinations, room, sizeof *destinations);
        pairs->destinations = destinations != NULL ? destinations : pairs->destinations;
        if (sources == NULL || destinations == NULL)
            return TR_ENOMEM;
        pairs->room = room;
    }
    pairs->sources[pairs->count] = (uint32_t)source;
    pairs->destinations[pairs->count++] = (uint32_t)destination;
    return 0;
}

/* The edges of those ranks, and the original IDs of their ends. */
static int ask(struct link_reading *r, size_t first, size_t count, struct tr_error *why)
{
    int rv = tr_edges_ids(r->all, first, count, TR_WAIT_FOREVER, r->ids, why);
    if (rv == 0)
        rv = tr_graph_find_edges(r->graph, 0, r->ids, count, TR_WAIT_FOREVER, r->ends[0],
                                 r->ends[1], why);
    for (int end = 0; end < 2 && rv == 0; end++)
        rv = tr_graph_original_ids(r->graph, 0, r->ends[end], count, TR_WAIT_FOREVER,
                                   r->originals[end], why);
    return rv;
}

static int deal_out(struct link_reading *r, size_t count)
{
    int rv = 0;
    for (size_t i = 0; i < count && rv == 0; i++) {
        uint64_t source = r->originals[0][i], destination = r->originals[1][i];
        enum link_split_part part = link_split_part(r->split, source, destination);
        if (part == LINK_TRAIN) {
            r->train[r->num_train++] = r->ids[i];
            r->edges->degrees[destination]++;
            r->edges->degrees[r->num_nodes + source]++;
        } else {
            rv = add_pair(&r->edges->held[part], source, destination);
        }
    }
    return rv;
}

static int reading_begin(struct link_reading *r, struct error *error)
{
    struct tr_error why = TR_ERROR_INIT;
    uint64_t nodes = r->num_nodes = tr_graph_num_nodes(r->graph, 0);
    if (nodes > UINT32_MAX)
        return error_set(error, TR_ETOOBIG,
                         "%llu nodes: a model of links is trained on graphs of up to 2^32",
                         (unsigned long long)nodes);
    int rv = tr_edges_all(r->graph, 0, &r->all, &why);
    if (rv != 0)
        return session_failed(&why, rv, error);
    r->ids = malloc(EDGES_AT_ONCE * sizeof *r->ids);
    r->train = calloc(tr_nodes_count(r->all) + 1, sizeof *r->train);
    r->edges->degrees = calloc(2 * (size_t)nodes + 1, sizeof *r->edges->degrees);
    bool enough = r->ids != NULL && r->train != NULL && r->edges->degrees != NULL;
    for (int end = 0; end < 2; end++) {
        r->ends[end] = malloc(EDGES_AT_ONCE * sizeof *r->ids);
        r->originals[end] = malloc(EDGES_AT_ONCE * sizeof *r->ids);
        enough = enough && r->ends[end] != NULL && r->originals[end] != NULL;
    }
    return enough ? 0
                  : error_set(error, TR_ENOMEM, "no memory for %zu edges", tr_nodes_count(r->all));
}

static int read_all(struct link_reading *r, const struct cancel *cancel, struct error *error)
{
    struct tr_error why = TR_ERROR_INIT;
    size_t all = tr_nodes_count(r->all);
    for (size_t first = 0; first < all; first += EDGES_AT_ONCE) {
        size_t count = all - first < EDGES_AT_ONCE ? all - first : EDGES_AT_ONCE;
        if (cancel_asked(cancel))
            return error_set(error, TR_ECANCELED, "interrupted");
        int rv = ask(r, first, count, &why);
        if (rv != 0)
            return session_failed(&why, rv, error);
        if (deal_out(r, count) != 0)
            return error_set(error, TR_ENOMEM, "no memory for the edges that are held out");
    }
    if (r->num_train == 0)
        return error_set(error, TR_EINVAL, "of %zu edges none is left to train on", all);
    int rv = tr_edges_listed(r->graph, 0, r->train, r->num_train, &r->edges->train, &why);
    return rv == 0 ? 0 : session_failed(&why, rv, error);
}

int link_edges_open(struct link_edges *edges, struct tr_graph *graph, struct link_split *split,
                    const struct cancel *cancel, struct error *error)
{
    *edges = (struct link_edges){ 0 };
    struct link_reading r = { .edges = edges, .graph = graph, .split = split };
    int rv = reading_begin(&r, error);
    if (rv == 0)
        rv = read_all(&r, cancel, error);
    tr_nodes_close(r.all);
    for (int end = 0; end < 2; end++) {
        free(r.ends[end]);
        free(r.originals[end]);
    }
    free(r.ids);
    free(r.train);
    if (rv != 0) {
        link_edges_close(edges);
        return rv;
    }
    split->in_degrees = edges->degrees;
    split->out_degrees = edges->degrees + tr_graph_num_nodes(graph, 0);
    return 0;
}

void link_edges_close(struct link_edges *edges)
{
    tr_nodes_close(edges->train);
    free(edges->degrees);
    for (int part = 0; part < LINK_PARTS; part++) {
        free(edges->held[part].sources);
        free(edges->held[part].destinations);
    }
    *edges = (struct link_edges){ 0 };
}
