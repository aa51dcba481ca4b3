/* SPDX-License-Identifier: Apache-2.0 */
#include "api/link_options.h"

#include <inttypes.h>

#include <troupe/sample.h>

#include "api/internal.h"
#include "api/sized.h"

_Static_assert(TR_NEGATIVES_MAX == MSG_NEGATIVES_BATCH_MAX &&
                   TR_SAMPLE_EXCLUDED_MAX == MSG_EXCLUDED_MAX,
               "what is checked here is accepted there");

static int check_exclude(const struct tr_nodes *seeds, uint64_t batch_pairs,
                         const struct tr_link_options *o, struct tr_error *error)
{
    if (o->exclude != TR_EXCLUDE_NONE && o->exclude != TR_EXCLUDE_SELF)
        return tr_error_set(error, TR_ERANGE, "exclude: %d; give TR_EXCLUDE_NONE or _SELF",
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

/* Also finds the table that they are drawn by. */
static int check_negatives(const struct tr_graph *graph, const struct tr_nodes *seeds,
                           uint64_t batch_pairs, const struct tr_link_options *o,
                           uint32_t *negative_ranks, struct tr_error *error)
{
    if (o->negatives != TR_NEGATIVES_OF_PAIR && o->negatives != TR_NEGATIVES_OF_BATCH)
        return tr_error_set(error, TR_ERANGE,
                            "negatives: %d; give TR_NEGATIVES_OF_PAIR or _OF_BATCH",
                            (int)o->negatives);
    if (o->num_negatives == 0)
        return 0;
    uint64_t times = o->negatives == TR_NEGATIVES_OF_BATCH ? 1 : batch_pairs;
    if (o->num_negatives > TR_NEGATIVES_MAX || times > TR_NEGATIVES_MAX / o->num_negatives)
        return tr_error_set(error, TR_ERANGE,
                            "num_negatives: %" PRIu32 ", %" PRIu64
                            " times a batch; a batch has at most %" PRIu64
                            ": give fewer, or smaller batches",
                            o->num_negatives, times, TR_NEGATIVES_MAX);
    uint32_t ntype = graph->book->types.etypes[seeds->etype].dst;
    int ranks = book_find_ranks(graph->book, RANKS_ALL, ntype, NULL);
    if (ranks < 0)
        return tr_error_set(error, TR_EUNSUPPORTED,
                            "num_negatives: the partitions do not list the nodes of type %s by "
                            "rank, as an older version wrote them; partition again",
                            graph->book->types.ntypes[ntype]);
    *negative_ranks = (uint32_t)ranks;
    return 0;
}

int link_options_read(const struct tr_graph *graph, const struct tr_nodes *seeds,
                      uint64_t batch_pairs, const struct tr_link_options *links,
                      struct link_fields *out, struct tr_error *error)
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
        rv = check_negatives(graph, seeds, batch_pairs, &o, &out->negative_ranks, error);
    if (rv != 0)
        return rv;
    bool shared = o.num_negatives > 0 && o.negatives == TR_NEGATIVES_OF_BATCH;
    out->num_negatives = o.num_negatives;
    out->flags = MSG_LOADER_ENDS_ONCE | (shared ? MSG_LOADER_SHARED_NEGATIVES : 0) |
                 (o.exclude == TR_EXCLUDE_SELF ? MSG_LOADER_EXCLUDE_SELF : 0);
    return 0;
}
