/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sets of pairs of nodes: the ends of edges, or of what may become one, as the seeds of a loader;
 * and sets of edges, whose ends samplers find. A set is the list that the user gave, in that order,
 * or a range of an edge type's edges by rank: neither depends on the placement.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "api/internal.h"
#include "graph/edge_runs.h"

int graph_check_ends(const struct tr_graph *graph, uint32_t ntype, const char *name,
                     const uint64_t *ends, size_t count, struct tr_error *error)
{
    uint64_t num_nodes = graph->book->num_nodes[ntype];
    for (size_t i = 0; i < count; i++)
        if (ends[i] >= num_nodes)
            return tr_error_set(error, TR_ERANGE,
                                "%s[%zu] = %" PRIu64
                                ": no node of type %s has this ID; it must be below %" PRIu64,
                                name, i, ends[i], tr_graph_ntype_name(graph, ntype), num_nodes);
    return 0;
}

/* One end of all pairs, into every second place of ids. */
static int take_ends(const struct tr_graph *graph, uint32_t ntype, const char *name,
                     const uint64_t *ends, size_t count, uint64_t *ids, struct tr_error *error)
{
    int rv = graph_check_ends(graph, ntype, name, ends, count, error);
    for (size_t i = 0; i < count && rv == 0; i++)
        ids[2 * i] = ends[i];
    return rv;
}

/* num_ids: of each seed; 0: they are a range. */
static struct tr_nodes *create_pairs(struct tr_graph *graph, uint32_t etype, bool edges,
                                     size_t count, uint32_t num_ids)
{
    struct tr_nodes *pairs = calloc(1, sizeof *pairs);
    /* At most 2^40 seeds, of 2 IDs. */
    struct seed_list *list = num_ids == 0 ? NULL : seed_list_create((uint64_t)count * num_ids);
    if (pairs == NULL || (list == NULL && num_ids > 0)) {
        free(pairs);
        seed_list_release(list);
        return NULL;
    }
    graph_acquire(graph);
    *pairs = (struct tr_nodes){ .graph = graph,
                                .ntype = TR_NTYPE_PAIRS,
                                .etype = etype,
                                .edges = edges,
                                .count = count,
                                .ranks = -1,
                                .list = list,
                                .ids = list != NULL ? list->ids : NULL };
    atomic_init(&pairs->references, 1);
    return pairs;
}

static int begin_set(struct tr_graph *graph, uint32_t etype, bool edges, size_t count,
                     struct tr_nodes **out, struct tr_error *error)
{
    const char *what = edges ? "edges" : "pairs";
    *out = NULL;
    int rv = graph_check_etype(graph, etype, error);
    if (rv != 0)
        return rv;
    if (count > (edges ? TR_LISTED_MAX : TR_PAIRS_MAX))
        return tr_error_set(error, TR_ETOOBIG, "%zu %s; at most 2^40", count, what);
    *out = create_pairs(graph, etype, edges, count, edges ? 1 : 2);
    return *out != NULL
               ? 0
               : tr_error_set(error, TR_ENOMEM, "no memory for a set of %zu %s", count, what);
}

int tr_pairs_listed(struct tr_graph *graph, uint32_t etype, const uint64_t *sources,
                    const uint64_t *destinations, size_t count, struct tr_nodes **out,
                    struct tr_error *error)
{
    struct tr_nodes *pairs;
    *out = NULL;
    int rv = begin_set(graph, etype, false, count, &pairs, error);
    if (rv != 0)
        return rv;
    const struct graph_etype *type = &graph->book->types.etypes[etype];
    rv = take_ends(graph, type->src, "sources", sources, count, pairs->ids, error);
    if (rv == 0)
        rv = take_ends(graph, type->dst, "destinations", destinations, count, pairs->ids + 1,
                       error);
    if (rv != 0) {
        nodes_release(pairs);
        return rv;
    }
    *out = pairs;
    return 0;
}

int tr_edges_listed(struct tr_graph *graph, uint32_t etype, const uint64_t *edge_ids, size_t count,
                    struct tr_nodes **out, struct tr_error *error)
{
    struct tr_nodes *edges;
    *out = NULL;
    int rv = begin_set(graph, etype, true, count, &edges, error);
    if (rv != 0)
        return rv;
    uint64_t num_edges = graph->book->num_edges[etype];
    for (size_t i = 0; i < count; i++) {
        edges->ids[i] = edge_ids[i];
        if (edge_ids[i] < num_edges)
            continue;
        nodes_release(edges);
        return tr_error_set(error, TR_ERANGE,
                            "edge_ids[%zu] = %" PRIu64
                            ": no edge of type %s has this ID; it must be below %" PRIu64,
                            i, edge_ids[i], tr_graph_etype_name(graph, etype), num_edges);
    }
    *out = edges;
    return 0;
}

int tr_edges_with_reverses(struct tr_graph *graph, uint32_t etype, const uint64_t *edge_ids,
                           const uint64_t *reverse_ids, size_t count, struct tr_nodes **out,
                           struct tr_error *error)
{
    *out = NULL;
    int rv = graph_check_etype(graph, etype, error);
    if (rv != 0)
        return rv;
    if (count > TR_PAIRS_MAX)
        return tr_error_set(error, TR_ETOOBIG, "%zu edges; at most 2^40", count);
    for (size_t i = 0; i < 2 * count; i++) {
        const uint64_t id = i < count ? edge_ids[i] : reverse_ids[i - count];
        if (id < graph->book->num_edges[etype] || (i >= count && id == TR_NO_EDGE))
            continue;
        return tr_error_set(error, TR_ERANGE,
                            "%s[%zu] = %" PRIu64
                            ": no edge of type %s has this ID; it must be below %" PRIu64 "%s",
                            i < count ? "edge_ids" : "reverse_ids", i % count, id,
                            tr_graph_etype_name(graph, etype), graph->book->num_edges[etype],
                            i < count ? "" : ", or TR_NO_EDGE");
    }
    struct tr_nodes *edges = create_pairs(graph, etype, true, count, 2);
    if (edges == NULL)
        return tr_error_set(error, TR_ENOMEM, "no memory for a set of %zu edges", count);
    edges->reversed = true;
    for (size_t i = 0; i < count; i++) {
        edges->ids[2 * i] = edge_ids[i];
        edges->ids[2 * i + 1] = reverse_ids[i];
    }
    *out = edges;
    return 0;
}

int tr_edges_range(struct tr_graph *graph, uint32_t etype, uint64_t first, size_t count,
                   struct tr_nodes **out, struct tr_error *error)
{
    *out = NULL;
    int rv = graph_check_etype(graph, etype, error);
    if (rv != 0)
        return rv;
    const char *name = tr_graph_etype_name(graph, etype);
    uint64_t num_edges = graph->book->num_edges[etype];
    /* The number is asked for before the runs, which are not written beyond it: to partition again
     * alone would not help. */
    if (!edge_runs_may_be(num_edges, graph->book->num_parts))
        return tr_error_set(
            error, TR_ETOOBIG,
            "%" PRIu64 " edges of type %s; at most 2^40, and 2^32 for each "
            "partition, have ranks: make more partitions, or list edges by their IDs",
            num_edges, name);
    if (!book_has_edge_runs(graph->book, etype))
        return tr_error_set(error, TR_EUNSUPPORTED,
                            "the partitions have no runs of edges of type %s, as an older version "
                            "wrote them; partition again to have them, or list edges by their IDs",
                            name);
    if (first > num_edges || count > num_edges - first)
        return tr_error_set(error, TR_ERANGE,
                            "%zu edges of type %s from rank %" PRIu64 " on; there are %" PRIu64,
                            count, name, first, num_edges);
    struct tr_nodes *edges = create_pairs(graph, etype, true, count, 0);
    if (edges == NULL)
        return tr_error_set(error, TR_ENOMEM, "no memory for a set of edges");
    edges->first_rank = first;
    *out = edges;
    return 0;
}

int tr_edges_all(struct tr_graph *graph, uint32_t etype, struct tr_nodes **out,
                 struct tr_error *error)
{
    *out = NULL;
    int rv = graph_check_etype(graph, etype, error);
    return rv != 0 ? rv
                   : tr_edges_range(graph, etype, 0, graph->book->num_edges[etype], out, error);
}

static int check_joined(struct tr_nodes *const *sets, uint32_t at, struct tr_error *error)
{
    const struct tr_nodes *set = sets[at];
    if (at >= MSG_SEGMENTS_MAX)
        return tr_error_set(error, TR_ETOOBIG, "set %u; at most %u are joined", at,
                            MSG_SEGMENTS_MAX);
    if (!nodes_are_pairs(set))
        return tr_error_set(error, TR_EINVAL, "set %u has nodes, which tr_nodes_join() joins", at);
    if (set->parts != NULL)
        return tr_error_set(error, TR_EINVAL,
                            "set %u has several edge types; join the sets that it was made of", at);
    if (set->edges != sets[0]->edges)
        return tr_error_set(
            error, TR_EINVAL, "set %u has %s, and set 0 has %s; give each a loader of its own", at,
            set->edges ? "edges" : "pairs of nodes", set->edges ? "pairs of nodes" : "edges");
    for (uint32_t i = 0; i < at; i++)
        if (sets[i]->etype == set->etype)
            return tr_error_set(error, TR_EINVAL,
                                "sets %u and %u are both of edge type %s; give one of each", i, at,
                                tr_graph_etype_name(set->graph, set->etype));
    return 0;
}

int tr_pairs_join(struct tr_nodes *const *sets, uint32_t num_sets, struct tr_nodes **out,
                  struct tr_error *error)
{
    return nodes_join(sets, num_sets, check_joined, out, error);
}

uint32_t tr_pairs_num_parts(const struct tr_nodes *pairs)
{
    return nodes_are_pairs(pairs) ? nodes_num_parts(pairs) : 0;
}

int tr_pairs_part(const struct tr_nodes *pairs, uint32_t part, uint32_t *etype, uint64_t *offset,
                  uint64_t *count, struct tr_error *error)
{
    int rv = session_mine(pairs->graph->session, error);
    if (rv != 0)
        return rv;
    if (part >= tr_pairs_num_parts(pairs))
        return tr_error_set(error, TR_ERANGE, "part %" PRIu32 "; the set has %" PRIu32, part,
                            tr_pairs_num_parts(pairs));
    *etype = nodes_part(pairs, part)->etype;
    *offset = nodes_part_offset(pairs, part);
    *count = nodes_part(pairs, part)->count;
    return 0;
}

uint32_t tr_pairs_etype(const struct tr_nodes *pairs)
{
    return nodes_are_pairs(pairs) ? pairs->etype : TR_ETYPE_NONE;
}

static int check_piece(const struct tr_nodes *set, bool edges, uint64_t offset, size_t count,
                       struct tr_error *error)
{
    int rv = session_mine(set->graph->session, error);
    if (rv != 0)
        return rv;
    if (!nodes_are_pairs(set))
        return tr_error_set(error, TR_EINVAL,
                            "the seeds of the set are nodes; tr_nodes_ids() gives them");
    if (set->edges != edges)
        return tr_error_set(error, TR_EINVAL, "the seeds of the set are %s gives them",
                            edges ? "pairs; tr_pairs_ids()" : "edges; tr_edges_ids()");
    if (offset <= set->count && count <= set->count - offset)
        return 0;
    return tr_error_set(error, TR_ERANGE, "%s %" PRIu64 " to %" PRIu64 " of a set that has %zu",
                        edges ? "edges" : "pairs", offset, offset + count, set->count);
}

/* The piece of a part that lies in [offset, offset + count) of a set; count 0: there is none. */
struct part_piece {
    uint64_t first; /* of the part */
    uint64_t skip;  /* of the piece of the set, before it */
    size_t count;
};

static struct part_piece piece_of(const struct tr_nodes *set, uint32_t part, uint64_t offset,
                                  size_t count)
{
    const uint64_t begin = nodes_part_offset(set, part);
    const uint64_t end = begin + nodes_part(set, part)->count, last = offset + count;
    const uint64_t from = begin > offset ? begin : offset, to = end < last ? end : last;
    if (from >= to)
        return (struct part_piece){ 0, 0, 0 };
    return (struct part_piece){ from - begin, from - offset, to - from };
}

int tr_pairs_ids(const struct tr_nodes *pairs, uint64_t offset, size_t count, uint64_t *sources,
                 uint64_t *destinations, struct tr_error *error)
{
    int rv = check_piece(pairs, false, offset, count, error);
    for (uint32_t part = 0; part < nodes_num_parts(pairs) && rv == 0; part++) {
        const struct part_piece piece = piece_of(pairs, part, offset, count);
        const uint64_t *ids = nodes_part(pairs, part)->ids + 2 * piece.first;
        for (size_t i = 0; i < piece.count; i++) {
            sources[piece.skip + i] = ids[2 * i];
            destinations[piece.skip + i] = ids[2 * i + 1];
        }
    }
    return rv;
}

/* Those of one type. */
static int read_edges(const struct tr_nodes *edges, uint64_t offset, size_t count,
                      int64_t timeout_ns, uint64_t *edge_ids, struct tr_error *error)
{
    const uint64_t num_ids = edges->reversed ? 2 : 1;
    if (!nodes_are_edge_ranks(edges)) {
        for (size_t i = 0; i < count; i++)
            edge_ids[i] = edges->ids[num_ids * (offset + i)];
        return 0;
    }
    for (size_t i = 0; i < count; i++)
        edge_ids[i] = edges->first_rank + offset + i;
    return graph_fetch_edges(edges->graph, edges->etype, edge_ids, count, timeout_ns, error);
}

int tr_edges_ids(const struct tr_nodes *edges, uint64_t offset, size_t count, int64_t timeout_ns,
                 uint64_t *edge_ids, struct tr_error *error)
{
    const struct deadline until = graph_until(edges->graph, timeout_ns);
    int rv = check_piece(edges, true, offset, count, error);
    for (uint32_t part = 0; part < nodes_num_parts(edges) && rv == 0; part++) {
        const struct part_piece piece = piece_of(edges, part, offset, count);
        if (piece.count > 0)
            rv = read_edges(nodes_part(edges, part), piece.first, piece.count,
                            deadline_left_ns(&until), edge_ids + piece.skip, error);
    }
    return rv;
}
