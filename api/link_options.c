/* SPDX-License-Identifier: Apache-2.0 */
#include "api/link_options.h"

#include <inttypes.h>

#include <troupe/sample.h>

#include "api/internal.h"
#include "api/sized.h"
#include "graph/negatives.h"
#include "graph/reverse_edges.h"

_Static_assert(TR_NEGATIVES_MAX == MSG_NEGATIVES_BATCH_MAX &&
                   TR_SAMPLE_EXCLUDED_MAX == MSG_EXCLUDED_MAX,
               "what is checked here is accepted there");
_Static_assert((int)TR_NEGATIVES_IN_BATCH == NEGATIVES_IN_BATCH &&
                   (int)TR_NEGATIVE_BOTH == NEGATIVE_BOTH && TR_NEGATIVE_TRIES == NEGATIVE_TRIES,
               "what is asked for is what is drawn");

static int check_exclude(const struct tr_nodes *seeds, uint64_t batch_pairs,
                         const struct tr_link_options *o, struct tr_error *error)
{
    if ((unsigned)o->exclude > TR_EXCLUDE_REVERSE_TYPES)
        return tr_error_set(error, TR_ERANGE,
                            "exclude: %d; give TR_EXCLUDE_NONE, _SELF, _REVERSE_ID or "
                            "_REVERSE_TYPES",
                            (int)o->exclude);
    if (o->exclude == TR_EXCLUDE_NONE)
        return 0;
    if (!seeds->edges)
        return tr_error_set(error, TR_EINVAL,
                            "exclude: the seeds are pairs of nodes, which may be no edges; give "
                            "edges (tr_edges_listed()) to leave them out");
    if (batch_pairs > TR_SAMPLE_EXCLUDED_MAX)
        return tr_error_set(error, TR_ERANGE,
                            "exclude: batches of %" PRIu64 " edges; at most %" PRIu64
                            " can be left out",
                            batch_pairs, TR_SAMPLE_EXCLUDED_MAX);
    return 0;
}

/* What can be said of reverses before the edges are known. */
static int check_reverse(const struct tr_graph *graph, const struct tr_nodes *seeds,
                         const struct tr_link_options *o, struct tr_error *error)
{
    bool by_type = o->exclude == TR_EXCLUDE_REVERSE_TYPES;
    if (!by_type && o->exclude != TR_EXCLUDE_REVERSE_ID)
        return 0;
    if (!by_type && (unsigned)o->reverse_ids > TR_REVERSE_LISTED)
        return tr_error_set(error, TR_ERANGE,
                            "reverse_ids: %d; give TR_REVERSE_HALVES, _ADJACENT or _LISTED",
                            (int)o->reverse_ids);
    if (!by_type && o->reverse_ids == TR_REVERSE_LISTED)
        return seeds->reversed
                   ? 0
                   : tr_error_set(error, TR_EINVAL,
                                  "reverse_ids: the set does not list the reverses of its edges; "
                                  "give one of tr_edges_with_reverses(), or another way");
    if (!store_book_file(graph->store)->original_edge_ids)
        return tr_error_set(
            error, TR_EUNSUPPORTED,
            "exclude: the partitions do not have the original IDs of edges, by which "
            "reverses are known; partition again without drop_edge_ids "
            "(--drop-edge-ids)");
    return 0;
}

/* Where the reverses of edges of a type are looked for; by the set of edges, which was checked. */
static int find_reverse(const struct tr_graph *graph, const struct tr_nodes *seeds, bool alone,
                        const struct tr_link_options *o, struct msg_seed_segment *out,
                        struct tr_error *error)
{
    const struct graph_types *types = &graph->book->types;
    const struct graph_etype *type = &types->etypes[seeds->etype];
    bool by_type = o->exclude == TR_EXCLUDE_REVERSE_TYPES, listed = o->reverse_etypes != NULL;
    if (!by_type && o->exclude != TR_EXCLUDE_REVERSE_ID)
        return 0;
    const uint32_t reverse = !by_type ? seeds->etype
                             : listed ? o->reverse_etypes[seeds->etype]
                                      : o->reverse_etype;
    if (!by_type && o->reverse_ids == TR_REVERSE_LISTED) {
        out->reverse_rule = seeds->reversed ? REVERSE_LISTED : REVERSE_NONE;
        return 0;
    }
    out->reverse_rule = REVERSE_NONE;
    if ((by_type && listed && reverse == TR_ETYPE_NONE) ||
        (!by_type && !alone && type->src != type->dst))
        return 0;
    if (reverse >= types->num_etypes)
        return tr_error_set(
            error, TR_ERANGE,
            "%s: %" PRIu32 ": types are numbered from 0, and the graph has %" PRIu32,
            listed ? "reverse_etypes" : "reverse_etype", reverse, types->num_etypes);
    out->reverse_etype = reverse;
    out->reverse_rule = by_type                               ? REVERSE_SAME
                        : o->reverse_ids == TR_REVERSE_HALVES ? REVERSE_HALVES
                                                              : REVERSE_ADJACENT;
    const struct graph_etype *other = &types->etypes[reverse];
    if (other->src != type->dst || other->dst != type->src)
        return tr_error_set(error, TR_EINVAL,
                            "%s: edges of type %s do not reverse those of type %s, whose ends have "
                            "other types",
                            !by_type ? "exclude"
                            : listed ? "reverse_etypes"
                                     : "reverse_etype",
                            other->name, type->name);
    return 0;
}

/* The table that one end of them is drawn by. */
static int find_ranks(const struct tr_graph *graph, uint32_t ntype, uint32_t *ranks,
                      struct tr_error *error)
{
    int found = book_find_ranks(graph->book, RANKS_ALL, ntype, NULL);
    if (found < 0)
        return tr_error_set(error, TR_EUNSUPPORTED,
                            "num_negatives: the partitions do not list the nodes of type %s by "
                            "rank, as an older version wrote them; partition again",
                            graph->book->types.ntypes[ntype]);
    *ranks = (uint32_t)found;
    return 0;
}

static int check_negatives(uint64_t batch_pairs, const struct tr_link_options *o,
                           struct tr_error *error)
{
    if ((unsigned)o->negatives > TR_NEGATIVES_IN_BATCH)
        return tr_error_set(error, TR_ERANGE,
                            "negatives: %d; give TR_NEGATIVES_OF_PAIR, _OF_BATCH or _IN_BATCH",
                            (int)o->negatives);
    if ((unsigned)o->negative_ends > TR_NEGATIVE_BOTH)
        return tr_error_set(error, TR_ERANGE,
                            "negative_ends: %d; give TR_NEGATIVE_DESTINATIONS, _SOURCES, _EITHER "
                            "or _BOTH",
                            (int)o->negative_ends);
    if ((unsigned)o->by > TR_NEGATIVES_BY_DEGREE)
        return tr_error_set(error, TR_ERANGE, "by: %d; give TR_NEGATIVES_UNIFORM or _BY_DEGREE",
                            (int)o->by);
    if (o->by == TR_NEGATIVES_BY_DEGREE && o->negatives == TR_NEGATIVES_IN_BATCH)
        return tr_error_set(error, TR_EINVAL,
                            "by: ends of other pairs are not drawn by degree, but as often as they "
                            "are in the batch; give TR_NEGATIVES_OF_PAIR or _OF_BATCH");
    if (o->no_edges && o->negatives == TR_NEGATIVES_OF_BATCH)
        return tr_error_set(
            error, TR_EINVAL,
            "no_edges: a negative that all pairs of a batch share may be an edge with one of them; "
            "give TR_NEGATIVES_OF_PAIR or _IN_BATCH");
    if (o->num_negatives == 0)
        return 0;
    uint64_t times = o->negatives == TR_NEGATIVES_OF_BATCH ? 1 : batch_pairs;
    if (o->num_negatives > TR_NEGATIVES_MAX || times > TR_NEGATIVES_MAX / o->num_negatives)
        return tr_error_set(error, TR_ERANGE,
                            "num_negatives: %" PRIu32 ", %" PRIu64
                            " times a batch; a batch has at most %" PRIu64
                            ": give fewer, or smaller batches",
                            o->num_negatives, times, TR_NEGATIVES_MAX);
    return 0;
}

/* The tables that the negatives of edges of a type are drawn by. */
static int find_negatives(const struct tr_graph *graph, const struct tr_nodes *seeds,
                          const struct tr_link_options *o, struct msg_seed_segment *out,
                          struct tr_error *error)
{
    const struct graph_etype *type = &graph->book->types.etypes[seeds->etype];
    const struct negatives_rule rule = { o->num_negatives, o->negatives, o->negative_ends,
                                         o->no_edges, o->by };
    int rv = 0;
    if (o->num_negatives == 0 || o->negatives == TR_NEGATIVES_IN_BATCH)
        return 0;
    if (o->by == TR_NEGATIVES_BY_DEGREE && graph->book->num_edges[seeds->etype] == 0)
        return seeds->count == 0
                   ? 0
                   : tr_error_set(error, TR_ERANGE,
                                  "by: negatives by degree are ends of edges of type %s, and the "
                                  "graph has none; give TR_NEGATIVES_UNIFORM",
                                  type->name);
    if (o->by == TR_NEGATIVES_BY_DEGREE)
        return book_has_edge_runs(graph->book, seeds->etype)
                   ? 0
                   : tr_error_set(
                         error, TR_EUNSUPPORTED,
                         "by: the partitions have no runs of edges of type %s, as an older "
                         "version wrote them; partition again",
                         type->name);
    if (negatives_each(&rule, PAIR_DESTINATION) > 0)
        rv = find_ranks(graph, type->dst, &out->negative_ranks, error);
    if (rv == 0 && negatives_each(&rule, PAIR_SOURCE) > 0)
        rv = find_ranks(graph, type->src, &out->negative_source_ranks, error);
    return rv;
}

int link_options_read(const struct tr_graph *graph, const struct tr_nodes *seeds,
                      uint64_t batch_pairs, const struct tr_link_options *links,
                      struct link_fields *out, struct msg_seed_segment *segments,
                      struct tr_error *error)
{
    struct tr_link_options o = TR_LINK_OPTIONS_INIT;
    *out = (struct link_fields){ 0 };
    if (links == NULL)
        return 0;
    int rv = sized_read(&o, sizeof o, links, "tr_link_options", error);
    if (rv != 0)
        return rv;
    if (seeds == NULL || !nodes_are_pairs(seeds))
        return tr_error_set(error, TR_EINVAL,
                            "links: the seeds are nodes; give a set of edges or pairs");
    rv = check_exclude(seeds, batch_pairs, &o, error);
    if (rv == 0)
        rv = check_reverse(graph, seeds, &o, error);
    if (rv == 0)
        rv = check_negatives(batch_pairs, &o, error);
    for (uint32_t i = 0; i < nodes_num_parts(seeds) && rv == 0; i++) {
        const struct tr_nodes *part = nodes_part(seeds, i);
        rv = find_reverse(graph, part, seeds->parts == NULL, &o, &segments[i], error);
        if (rv == 0)
            rv = find_negatives(graph, part, &o, &segments[i], error);
    }
    if (rv != 0)
        return rv;
    static const uint32_t of[] = { 0, MSG_LOADER_SHARED_NEGATIVES, MSG_LOADER_NEGATIVES_IN_BATCH };
    out->num_negatives = o.num_negatives;
    out->negative_ends = o.num_negatives > 0 ? o.negative_ends : NEGATIVE_DESTINATIONS;
    out->flags = MSG_LOADER_ENDS_ONCE | (o.num_negatives > 0 ? of[o.negatives] : 0) |
                 (o.num_negatives > 0 && o.no_edges ? MSG_LOADER_NEGATIVES_NO_EDGES : 0) |
                 (o.num_negatives > 0 && o.by != TR_NEGATIVES_UNIFORM
                      ? MSG_LOADER_NEGATIVES_BY_DEGREE
                      : 0) |
                 (o.exclude != TR_EXCLUDE_NONE ? MSG_LOADER_EXCLUDE_SELF : 0) |
                 (o.exclude >= TR_EXCLUDE_REVERSE_ID ? MSG_LOADER_EXCLUDE_REVERSE : 0);
    return 0;
}
