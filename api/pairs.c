/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sets of pairs of nodes: the ends of edges, or of what may become one, as the seeds of a loader. A set
 * is the list that the user gave, in that order, which no placement changes.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "api/internal.h"
#include "graph/bijection.h"

/* One end of all pairs, into every second place of ids. */
static int take_ends(const struct tr_graph *graph, uint32_t ntype, const char *name,
                     const uint64_t *ends, size_t count, uint64_t *ids, struct tr_error *error)
{
    uint64_t num_nodes = graph->book->num_nodes[ntype];
    for (size_t i = 0; i < count; i++) {
        if (ends[i] >= num_nodes)
            return tr_error_set(error, TR_ERANGE,
                                "%s[%zu] = %" PRIu64 " is no node of type %s, which has %" PRIu64,
                                name, i, ends[i], tr_graph_ntype_name(graph, ntype), num_nodes);
        ids[2 * i] = ends[i];
    }
    return 0;
}

static struct tr_nodes *create_pairs(struct tr_graph *graph, uint32_t etype, size_t count)
{
    struct tr_nodes *pairs = calloc(1, sizeof *pairs);
    uint64_t *ids = calloc(count + 1, 2 * sizeof *ids);
    if (pairs == NULL || ids == NULL) {
        free(pairs);
        free(ids);
        return NULL;
    }
    graph_acquire(graph);
    *pairs = (struct tr_nodes){ .graph = graph,
                                .ntype = TR_NTYPE_PAIRS,
                                .etype = etype,
                                .count = count,
                                .ranks = -1,
                                .ids = ids };
    atomic_init(&pairs->references, 1);
    return pairs;
}

int tr_pairs_listed(struct tr_graph *graph, uint32_t etype, const uint64_t *sources,
                    const uint64_t *destinations, size_t count, struct tr_nodes **out,
                    struct tr_error *error)
{
    const struct graph_types *types = &graph->book->types;
    *out = NULL;
    int rv = session_mine(graph->session, error);
    if (rv != 0)
        return rv;
    if (etype >= types->num_etypes)
        return tr_error_set(error, TR_ERANGE, "edge type %" PRIu32 ", the graph has %" PRIu32,
                            etype, types->num_etypes);
    if (count > BIJECTION_MAX)
        return tr_error_set(error, TR_ETOOBIG, "%zu pairs; at most 2^40", count);
    struct tr_nodes *pairs = create_pairs(graph, etype, count);
    if (pairs == NULL)
        return tr_error_set(error, TR_ENOMEM, "no memory for a set of %zu pairs", count);
    rv = take_ends(graph, types->etypes[etype].src, "sources", sources, count, pairs->ids, error);
    if (rv == 0)
        rv = take_ends(graph, types->etypes[etype].dst, "destinations", destinations, count,
                       pairs->ids + 1, error);
    if (rv != 0) {
        nodes_release(pairs);
        return rv;
    }
    *out = pairs;
    return 0;
}

uint32_t tr_pairs_etype(const struct tr_nodes *pairs)
{
    return nodes_are_pairs(pairs) ? pairs->etype : TR_ETYPE_NONE;
}

int tr_pairs_ids(const struct tr_nodes *pairs, uint64_t offset, size_t count, uint64_t *sources,
                 uint64_t *destinations, struct tr_error *error)
{
    int rv = session_mine(pairs->graph->session, error);
    if (rv != 0)
        return rv;
    if (!nodes_are_pairs(pairs))
        return tr_error_set(error, TR_EINVAL,
                            "the seeds of the set are nodes; tr_nodes_ids() gives them");
    if (offset > pairs->count || count > pairs->count - offset)
        return tr_error_set(error, TR_ERANGE,
                            "pairs %" PRIu64 " to %" PRIu64 " of a set that has %zu", offset,
                            offset + count, pairs->count);
    const uint64_t *ids = pairs->ids + 2 * offset;
    for (size_t i = 0; i < count; i++) {
        sources[i] = ids[2 * i];
        destinations[i] = ids[2 * i + 1];
    }
    return 0;
}
