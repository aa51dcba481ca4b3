/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Questions about edges: fetches of tables that owners compute from their edges
 * (graph/local_rows.h). The in-edges of a node follow one another by their IDs, so a question for
 * them is one for ranges, and then one for the sources of the edges in these.
 */
#include <troupe/query.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "api/internal.h"

/* Edges that are looked through at once for those between two nodes: 20 bytes each. */
#define LOOK_EDGES ((size_t)1 << 18)

int tr_graph_find_edges(struct tr_graph *graph, uint32_t etype, const uint64_t *edge_ids,
                        size_t count, int64_t timeout_ns, uint64_t *sources, uint64_t *destinations,
                        struct tr_error *error)
{
    int rv = graph_check_etype(graph, etype, error);
    if (rv != 0)
        return rv;
    if (destinations == NULL && sources != NULL) /* which need no search */
        return graph_fetch_table(graph, etype, MSG_TABLE_EDGE_SOURCES, sizeof *sources, edge_ids,
                                 count, timeout_ns, sources, error);
    return graph_fetch_pairs(graph, etype, MSG_TABLE_EDGE_ENDS, edge_ids, count, timeout_ns,
                             sources, destinations, error);
}

int tr_graph_original_edge_ids(struct tr_graph *graph, uint32_t etype, const uint64_t *edge_ids,
                               size_t count, int64_t timeout_ns, uint64_t *original_ids,
                               struct tr_error *error)
{
    int rv = graph_check_etype(graph, etype, error);
    if (rv != 0)
        return rv;
    if (!store_book_file(graph->store)->original_edge_ids)
        return tr_error_set(error, TR_EUNSUPPORTED,
                            "%s: the partitions were written without original IDs of edges; "
                            "partition again without --drop-edge-ids",
                            graph->path);
    return graph_fetch_table(graph, etype, MSG_TABLE_EDGE_ORIGINALS, sizeof *original_ids, edge_ids,
                             count, timeout_ns, original_ids, error);
}

int tr_graph_in_degrees(struct tr_graph *graph, uint32_t etype, const uint64_t *ids, size_t count,
                        int64_t timeout_ns, uint64_t *degrees, struct tr_error *error)
{
    int rv = graph_check_etype(graph, etype, error);
    if (rv != 0)
        return rv;
    return graph_fetch_pairs(graph, etype, MSG_TABLE_IN_EDGES, ids, count, timeout_ns, NULL,
                             degrees, error);
}

/* Range i begins at firsts[i] and has index[i + 1] edges. This writes the list of all their edges,
 * if it has room, and into the index where each range begins in that list. */
static int list_ranges(const uint64_t *firsts, size_t count, size_t room, uint64_t *index,
                       uint64_t *edge_ids, struct tr_error *error)
{
    index[0] = 0;
    for (size_t i = 0; i < count; i++)
        if (__builtin_add_overflow(index[i], index[i + 1], &index[i + 1]))
            return tr_error_set(error, TR_ETOOBIG, "the nodes have 2^64 edges or more");
    if (index[count] > room)
        return tr_error_set(error, TR_ETOOBIG,
                            "the nodes have %" PRIu64 " edges, there is room for %zu", index[count],
                            room);
    for (size_t i = 0; i < count; i++)
        for (uint64_t k = index[i]; k < index[i + 1]; k++)
            edge_ids[k] = firsts[i] + (k - index[i]);
    return 0;
}

/* The ranges of in-edges or out-edges of nodes, as a list of their numbers: IDs of in-edges, places of
 * out-edges. */
static int list_edges(struct tr_graph *graph, uint32_t etype, uint32_t table, const uint64_t *ids,
                      size_t count, const struct deadline *until, size_t room, uint64_t *index,
                      uint64_t *numbers, struct tr_error *error)
{
    uint64_t *firsts = calloc(count + 1, sizeof *firsts);
    if (firsts == NULL)
        return tr_error_set(error, TR_ENOMEM, "no memory to ask for the edges of %zu nodes", count);
    int rv = graph_fetch_pairs(graph, etype, table, ids, count, deadline_left_ns(until), firsts,
                               index + 1, error);
    if (rv == 0)
        rv = list_ranges(firsts, count, room, index, numbers, error);
    free(firsts);
    return rv;
}

int tr_graph_in_edges(struct tr_graph *graph, uint32_t etype, const uint64_t *ids, size_t count,
                      int64_t timeout_ns, size_t room, uint64_t *index, uint64_t *sources,
                      uint64_t *edge_ids, struct tr_error *error)
{
    const struct deadline until = graph_until(graph, timeout_ns);
    int rv = graph_check_etype(graph, etype, error);
    if (rv == 0)
        rv = list_edges(graph, etype, MSG_TABLE_IN_EDGES, ids, count, &until, room, index, edge_ids,
                        error);
    if (rv == 0 && index[count] > 0)
        rv = graph_fetch_table(graph, etype, MSG_TABLE_EDGE_SOURCES, sizeof *sources, edge_ids,
                               (size_t)index[count], deadline_left_ns(&until), sources, error);
    return rv;
}

/* Whether all out-edges of the source type of an edge type are of this one. */
static bool is_only_out_type(const struct graph_types *types, uint32_t etype)
{
    for (uint32_t e = 0; e < types->num_etypes; e++)
        if (e != etype && types->etypes[e].src == types->etypes[etype].src)
            return false;
    return true;
}

/* The degrees over all edge types, which partitions have without out-edges. */
static int fetch_degrees(struct tr_graph *graph, uint32_t ntype, const uint64_t *ids, size_t count,
                         int64_t timeout_ns, uint64_t *degrees, struct tr_error *error)
{
    if (count == 0)
        return 0;
    /* They come into the end of the array, and are widened from its beginning on. */
    uint32_t *narrow = (uint32_t *)degrees + count;
    int rv = graph_fetch_table(graph, ntype, MSG_TABLE_OUT_DEGREE, sizeof *narrow, ids, count,
                               timeout_ns, narrow, error);
    for (size_t i = 0; i < count && rv == 0; i++) {
        uint32_t degree;
        memcpy(&degree, &narrow[i], sizeof degree);
        degrees[i] = degree;
    }
    return rv;
}

int tr_graph_out_degrees(struct tr_graph *graph, uint32_t etype, const uint64_t *ids, size_t count,
                         int64_t timeout_ns, uint64_t *degrees, struct tr_error *error)
{
    int rv = graph_check_etype(graph, etype, error);
    if (rv != 0)
        return rv;
    const struct graph_types *types = &graph->book->types;
    if (is_only_out_type(types, etype))
        return fetch_degrees(graph, types->etypes[etype].src, ids, count, timeout_ns, degrees,
                             error);
    rv = graph_check_out_edges(graph, etype, error);
    if (rv != 0)
        return rv;
    return graph_fetch_pairs(graph, etype, MSG_TABLE_OUT_EDGES, ids, count, timeout_ns, NULL,
                             degrees, error);
}

int tr_graph_out_edges(struct tr_graph *graph, uint32_t etype, const uint64_t *ids, size_t count,
                       int64_t timeout_ns, size_t room, uint64_t *index, uint64_t *destinations,
                       uint64_t *edge_ids, struct tr_error *error)
{
    const struct deadline until = graph_until(graph, timeout_ns);
    int rv = graph_check_out_edges(graph, etype, error);
    if (rv == 0)
        rv = list_edges(graph, etype, MSG_TABLE_OUT_EDGES, ids, count, &until, room, index,
                        edge_ids, error);
    /* Places give way to the edges that stand there: those of a piece are sent before it is
     * answered, and sent again before any of it is. */
    if (rv == 0 && index[count] > 0)
        rv = graph_fetch_pairs(graph, etype, MSG_TABLE_OUT_PLACES, edge_ids, (size_t)index[count],
                               deadline_left_ns(&until), edge_ids, destinations, error);
    return rv;
}

/* Edges that are being looked through for those from sources[pair] to a destination. */
struct between {
    struct tr_graph *graph;
    uint32_t etype;
    struct deadline until;
    const uint64_t *wanted; /* sources */
    uint64_t *found;
    size_t num_looked;
    uint64_t *looked, *sources; /* [LOOK_EDGES] */
    size_t *pairs;              /* [LOOK_EDGES], whose each is */
};

/* The edges come in the order of their IDs, so the first of a pair is the one that counts. */
static int look_through(struct between *b, struct tr_error *error)
{
    int rv = b->num_looked == 0 ? 0
                                : graph_fetch_table(b->graph, b->etype, MSG_TABLE_EDGE_SOURCES,
                                                    sizeof *b->sources, b->looked, b->num_looked,
                                                    deadline_left_ns(&b->until), b->sources, error);
    for (size_t i = 0; i < b->num_looked && rv == 0; i++) {
        size_t pair = b->pairs[i];
        if (b->sources[i] == b->wanted[pair] && b->found[pair] == TR_EDGE_NONE)
            b->found[pair] = b->looked[i];
    }
    b->num_looked = 0;
    return rv;
}

/* The in-edges of the pair's destination: [first, first + count). */
static int look_at(struct between *b, size_t pair, uint64_t first, uint64_t count,
                   struct tr_error *error)
{
    int rv = 0;
    for (uint64_t k = 0; k < count && rv == 0 && b->found[pair] == TR_EDGE_NONE; k++) {
        b->looked[b->num_looked] = first + k;
        b->pairs[b->num_looked++] = pair;
        if (b->num_looked == LOOK_EDGES)
            rv = look_through(b, error);
    }
    return rv;
}

static int find_between(struct between *b, const uint64_t *destinations, size_t count,
                        struct tr_error *error)
{
    uint64_t *firsts = calloc(2 * count + 1, sizeof *firsts), *counts = firsts + count;
    b->looked = malloc(LOOK_EDGES * sizeof *b->looked);
    b->sources = malloc(LOOK_EDGES * sizeof *b->sources);
    b->pairs = malloc(LOOK_EDGES * sizeof *b->pairs);
    int rv = firsts == NULL || b->looked == NULL || b->sources == NULL || b->pairs == NULL
                 ? tr_error_set(error, TR_ENOMEM, "no memory to look for edges of %zu pairs", count)
                 : graph_fetch_pairs(b->graph, b->etype, MSG_TABLE_IN_EDGES, destinations, count,
                                     deadline_left_ns(&b->until), firsts, counts, error);
    for (size_t i = 0; i < count && rv == 0; i++)
        rv = look_at(b, i, firsts[i], counts[i], error);
    if (rv == 0)
        rv = look_through(b, error);
    free(b->pairs);
    free(b->sources);
    free(b->looked);
    free(firsts);
    return rv;
}

int tr_graph_edges_between(struct tr_graph *graph, uint32_t etype, const uint64_t *sources,
                           const uint64_t *destinations, size_t count, int64_t timeout_ns,
                           uint64_t *edge_ids, struct tr_error *error)
{
    struct between b = { .graph = graph,
                         .etype = etype,
                         .until = graph_until(graph, timeout_ns),
                         .wanted = sources,
                         .found = edge_ids };
    int rv = graph_check_etype(graph, etype, error);
    if (rv != 0)
        return rv;
    const struct graph_etype *type = &graph->book->types.etypes[etype];
    rv = graph_check_ends(graph, type->src, "sources", sources, count, error);
    if (rv == 0)
        rv = graph_check_ends(graph, type->dst, "destinations", destinations, count, error);
    for (size_t i = 0; i < count; i++)
        edge_ids[i] = TR_EDGE_NONE;
    return rv != 0 || count == 0 ? rv : find_between(&b, destinations, count, error);
}
