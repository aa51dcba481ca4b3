/* SPDX-License-Identifier: Apache-2.0 */
#include "actors/data/seed_set.h"

#include <inttypes.h>
#include <stdlib.h>

#include "graph/reverse_edges.h"
#include "schemas/body.h"

bool seed_kind_is_reversed(uint32_t seeds)
{
    return seeds == MSG_SEEDS_EDGES_REVERSED || seeds == MSG_SEEDS_EDGES_REVERSED_GIVEN;
}

bool seed_kind_is_edge(uint32_t seeds)
{
    return seeds == MSG_SEEDS_EDGES || seeds == MSG_SEEDS_EDGES_GIVEN ||
           seeds == MSG_SEEDS_EDGE_RANKS || seed_kind_is_reversed(seeds);
}

bool seed_kind_is_pair(uint32_t seeds)
{
    return seeds == MSG_SEEDS_PAIRS || seeds == MSG_SEEDS_PAIRS_GIVEN || seed_kind_is_edge(seeds);
}

static int check_ranks(const struct book *book, const struct msg_seed_segment *segment,
                       struct error *error)
{
    const struct rank_table *table = segment->ranks < book->num_ranks ? &book->ranks[segment->ranks]
                                                                      : NULL;
    if (table == NULL || table->ntype != segment->ntype)
        return error_set(error, TR_ERANGE,
                         "loader: there is no table of ranks %" PRIu32 " of node type %s",
                         segment->ranks, book->types.ntypes[segment->ntype]);
    if (segment->first_rank > table->num_ranks ||
        segment->num_seeds > table->num_ranks - segment->first_rank)
        return error_set(error, TR_ERANGE,
                         "loader: %" PRIu64 " seeds from rank %" PRIu64
                         " on were asked for; the set has %" PRIu64,
                         segment->num_seeds, segment->first_rank, table->num_ranks);
    return 0;
}

static int say_mixed(struct error *error)
{
    return error_set(error, TR_EUNSUPPORTED,
                     "loader: edges or pairs of nodes cannot be mixed with other seeds; give "
                     "them a loader of their own");
}

static int check_segment(const struct book *book, const struct msg_seed_segment *segment,
                         struct error *error)
{
    if (segment->ntype >= book->types.num_ntypes)
        return error_set(error, TR_ERANGE,
                         "loader: node type %" PRIu32
                         ": types are numbered from 0, and the graph has %" PRIu32,
                         segment->ntype, book->types.num_ntypes);
    switch (segment->seeds) {
    case MSG_SEEDS_LISTED:
    case MSG_SEEDS_GIVEN:
        return 0;
    case MSG_SEEDS_RANKS:
        return check_ranks(book, segment, error);
    case MSG_SEEDS_EDGES:
    case MSG_SEEDS_EDGES_GIVEN:
    case MSG_SEEDS_EDGE_RANKS:
    case MSG_SEEDS_PAIRS:
    case MSG_SEEDS_PAIRS_GIVEN:
    case MSG_SEEDS_EDGES_REVERSED:
    case MSG_SEEDS_EDGES_REVERSED_GIVEN:
        return say_mixed(error);
    default:
        return error_set(error, TR_EUNSUPPORTED, "loader: seeds of kind %" PRIu32 " are not known",
                         segment->seeds);
    }
}

/* The segments of several types are as many seeds as the loader has. */
static int check_sum(const struct msg_loader_open *open, const struct msg_seed_segment *segments,
                     struct error *error)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < open->num_segments; i++) {
        /* Each is at most 2^64 - 1: the sum of a set that is too large may not come out small. */
        if (__builtin_add_overflow(sum, segments[i].num_seeds, &sum))
            sum = UINT64_MAX;
        if (sum == UINT64_MAX)
            break;
    }
    if (sum != open->num_seeds)
        return error_set(error, TR_EINVAL,
                         "loader: %" PRIu64 " seeds in all; those of its types are %" PRIu64,
                         open->num_seeds, sum);
    return 0;
}

static int check_segments(const struct book *book, const struct msg_loader_open *open,
                          const struct msg_seed_segment *segments, struct error *error)
{
    for (uint32_t i = 0; i < open->num_segments; i++) {
        int rv = check_segment(book, &segments[i], error);
        if (rv != 0)
            return rv;
        for (uint32_t j = 0; j < i; j++)
            if (segments[j].ntype == segments[i].ntype)
                return error_set(error, TR_EINVAL, "loader: node type %s has two sets of seeds",
                                 book->types.ntypes[segments[i].ntype]);
    }
    return check_sum(open, segments, error);
}

/* Folders of older versions do not say which edge has a rank. */
static int check_edge_ranks(const struct book *book, const struct msg_loader_open *open,
                            struct error *error)
{
    const char *name = book->types.etypes[open->etype].name;
    uint64_t num_edges = book->num_edges[open->etype];
    if (!book_has_edge_runs(book, open->etype))
        return error_set(error, TR_EUNSUPPORTED,
                         "loader: the partitions have no runs of edges of type %s; partition again "
                         "to have them",
                         name);
    if (open->first_rank > num_edges || open->num_seeds > num_edges - open->first_rank)
        return error_set(error, TR_ERANGE,
                         "loader: %" PRIu64 " edges of type %s from rank %" PRIu64
                         " on; there are %" PRIu64,
                         open->num_seeds, name, open->first_rank, num_edges);
    return 0;
}

struct negatives_rule seed_set_negatives_rule(const struct msg_loader_open *open)
{
    return (struct negatives_rule){
        .each = open->num_negatives,
        .of = (open->flags & MSG_LOADER_SHARED_NEGATIVES) != 0     ? NEGATIVES_OF_BATCH
              : (open->flags & MSG_LOADER_NEGATIVES_IN_BATCH) != 0 ? NEGATIVES_IN_BATCH
                                                                   : NEGATIVES_OF_PAIR,
        .ends = open->negative_ends,
        .no_edges = (open->flags & MSG_LOADER_NEGATIVES_NO_EDGES) != 0,
        .by_degree = (open->flags & MSG_LOADER_NEGATIVES_BY_DEGREE) != 0,
    };
}

/* The nodes that an end is drawn from. */
static int check_negative_nodes(const struct book *book, const struct msg_loader_open *open,
                                enum pair_end end, struct error *error)
{
    const struct negatives_rule rule = seed_set_negatives_rule(open);
    const struct graph_etype *type = &book->types.etypes[open->etype];
    const struct msg_seed_segment drawn = {
        .ntype = end == PAIR_SOURCE ? type->src : type->dst,
        .ranks = end == PAIR_SOURCE ? open->negative_source_ranks : open->negative_ranks,
    };
    if (rule.of == NEGATIVES_IN_BATCH || rule.by_degree != 0 || negatives_each(&rule, end) == 0)
        return 0;
    int rv = check_ranks(book, &drawn, error);
    if (rv == 0 && open->num_seeds > 0 && book->ranks[drawn.ranks].num_ranks == 0)
        return error_set(
            error, TR_ERANGE,
            "loader: negatives are nodes of type %s, and there are none; give num_negatives 0",
            book->types.ntypes[drawn.ntype]);
    return rv;
}

/* The edges whose ends they are. */
static int check_edge_draws(const struct book *book, const struct msg_loader_open *open,
                            struct error *error)
{
    const char *name = book->types.etypes[open->etype].name;
    if (!book_has_edge_runs(book, open->etype))
        return error_set(error, TR_EUNSUPPORTED,
                         "loader: negatives by degree, and the partitions have no runs of edges of "
                         "type %s; partition again to have them",
                         name);
    if (open->num_seeds > 0 && book->num_edges[open->etype] == 0)
        return error_set(error, TR_ERANGE,
                         "loader: negatives by degree, and there is no edge of type %s; give "
                         "num_negatives 0",
                         name);
    return 0;
}

static int check_negatives(const struct book *book, const struct msg_loader_open *open,
                           uint64_t batch_pairs, struct error *error)
{
    const uint32_t kinds = MSG_LOADER_SHARED_NEGATIVES | MSG_LOADER_NEGATIVES_IN_BATCH;
    const struct negatives_rule rule = seed_set_negatives_rule(open);
    uint64_t most = rule.of == NEGATIVES_OF_BATCH ? 1 : batch_pairs;
    if (open->negative_ends >= NEGATIVE_ENDS || (open->flags & kinds) == kinds)
        return error_set(error, TR_EINVAL,
                         "loader: negatives with ends of kind %" PRIu32 " by flags %#" PRIx32
                         "; give one of the %u kinds, and one of the flags",
                         open->negative_ends, open->flags & kinds, NEGATIVE_ENDS);
    if (rule.no_edges != 0 && rule.of == NEGATIVES_OF_BATCH)
        return error_set(error, TR_EINVAL,
                         "loader: a negative that all pairs share may be an edge with one of them; "
                         "give each pair "
                         "its own, to have those drawn again that are edges");
    if (rule.by_degree != 0 && rule.of == NEGATIVES_IN_BATCH)
        return error_set(
            error, TR_EINVAL,
            "loader: negatives that are ends of other pairs, by degree; give one of the "
            "flags: pairs that are edges have nodes as often as these have edges");
    if (open->num_negatives == 0)
        return 0;
    int rv = rule.by_degree != 0 ? check_edge_draws(book, open, error) : 0;
    if (rv == 0)
        rv = check_negative_nodes(book, open, PAIR_DESTINATION, error);
    if (rv == 0)
        rv = check_negative_nodes(book, open, PAIR_SOURCE, error);
    if (rv != 0)
        return rv;
    if (open->num_negatives > MSG_NEGATIVES_BATCH_MAX ||
        most > MSG_NEGATIVES_BATCH_MAX / open->num_negatives)
        return error_set(error, TR_ETOOBIG,
                         "loader: a batch of %" PRIu64 " times %" PRIu32
                         " negatives would exceed %" PRIu64
                         "; give fewer negatives, or a smaller batch size",
                         most, open->num_negatives, MSG_NEGATIVES_BATCH_MAX);
    return 0;
}

static int check_reverse(const struct book *book, const struct msg_loader_open *open,
                         struct error *error)
{
    const struct graph_types *types = &book->types;
    if ((open->flags & MSG_LOADER_EXCLUDE_REVERSE) == 0)
        return 0;
    if (open->reverse_rule == REVERSE_NONE && (open->flags & MSG_LOADER_EXCLUDE_SELF) != 0)
        return 0;
    if ((open->flags & MSG_LOADER_EXCLUDE_SELF) == 0 || open->reverse_rule >= REVERSE_RULES)
        return error_set(error, TR_EINVAL,
                         "loader: the reverses of edges are to be left out by rule %" PRIu32
                         "%s; give one of the %u with the edges themselves",
                         open->reverse_rule,
                         open->reverse_rule < REVERSE_RULES ? ", and these not" : "",
                         REVERSE_RULES);
    if (open->reverse_rule == REVERSE_LISTED)
        return seed_kind_is_reversed(open->seeds)
                   ? 0
                   : error_set(
                         error, TR_EINVAL,
                         "loader: reverses are to come with the edges, and do not; give edges "
                         "with their reverses");
    if (open->reverse_etype >= types->num_etypes)
        return error_set(error, TR_ERANGE,
                         "loader: reverses of edge type %" PRIu32
                         ": types are numbered from 0, and the graph has %" PRIu32,
                         open->reverse_etype, types->num_etypes);
    const struct graph_etype *seeds = &types->etypes[open->etype],
                             *reverses = &types->etypes[open->reverse_etype];
    if (reverses->src != seeds->dst || reverses->dst != seeds->src)
        return error_set(
            error, TR_EINVAL,
            "loader: edges of type %s do not reverse those of type %s, whose ends have "
            "other types",
            reverses->name, seeds->name);
    return 0;
}

/* Options that seeds of pairs alone may have; those of edges alone among them. */
static int check_link(const struct book *book, const struct msg_loader_open *open,
                      uint64_t batch_pairs, struct error *error)
{
    const uint32_t once = MSG_LOADER_ENDS_ONCE;
    const uint32_t leaves = MSG_LOADER_EXCLUDE_SELF | MSG_LOADER_EXCLUDE_REVERSE;
    bool pairs = seed_kind_is_pair(open->seeds);
    bool edges = seed_kind_is_edge(open->seeds);
    bool wants = open->num_negatives > 0 || open->negative_ends != 0 ||
                 (open->flags &
                  (MSG_LOADER_SHARED_NEGATIVES | MSG_LOADER_NEGATIVES_IN_BATCH |
                   MSG_LOADER_NEGATIVES_NO_EDGES | MSG_LOADER_NEGATIVES_BY_DEGREE | leaves)) != 0;
    if (((open->flags & once) != 0 && !pairs) || (wants && (open->flags & once) == 0))
        return error_set(error, TR_EINVAL,
                         "loader: negatives and edges to be left out need seeds that are pairs "
                         "with \"links\"; give a set of edges or pairs");
    if ((open->flags & leaves) != 0 && !edges)
        return error_set(error, TR_EINVAL,
                         "loader: only edges can be left out, and the seeds are pairs of nodes; "
                         "give a set of edges, or TR_EXCLUDE_NONE");
    if ((open->flags & leaves) != 0 && batch_pairs > MSG_EXCLUDED_MAX)
        return error_set(error, TR_ETOOBIG,
                         "loader: a batch would leave out %" PRIu64
                         " edges; give a batch size of at most %u",
                         batch_pairs, MSG_EXCLUDED_MAX);
    int rv = check_reverse(book, open, error);
    return rv == 0 && pairs ? check_negatives(book, open, batch_pairs, error) : rv;
}

/* batch_pairs: those that a batch of the loader has, of all edge types. */
static int check_pairs(const struct book *book, const struct msg_loader_open *open,
                       uint64_t batch_pairs, struct error *error)
{
    if (open->etype >= book->types.num_etypes)
        return error_set(error, TR_ERANGE,
                         "loader: edge type %" PRIu32
                         ": types are numbered from 0, and the graph has %" PRIu32,
                         open->etype, book->types.num_etypes);
    if (batch_pairs > MSG_PAIRS_BATCH_MAX)
        return error_set(error, TR_ETOOBIG,
                         "loader: a batch would have %" PRIu64
                         " pairs; give a batch size of at most %" PRIu32,
                         batch_pairs, MSG_PAIRS_BATCH_MAX);
    int rv = open->seeds == MSG_SEEDS_EDGE_RANKS ? check_edge_ranks(book, open, error) : 0;
    return rv != 0 ? rv : check_link(book, open, batch_pairs, error);
}

/* The loader that would have the seeds of one type alone. */
static struct msg_loader_open segment_as_loader(const struct msg_loader_open *open,
                                                const struct msg_seed_segment *segment)
{
    struct msg_loader_open alone = *open;
    alone.seeds = segment->seeds;
    alone.etype = segment->etype;
    alone.first_rank = segment->first_rank;
    alone.num_seeds = segment->num_seeds;
    alone.negative_ranks = segment->negative_ranks;
    alone.negative_source_ranks = segment->negative_source_ranks;
    alone.reverse_etype = segment->reverse_etype;
    alone.reverse_rule = segment->reverse_rule;
    return alone;
}

/* Edges of several types, or pairs of several. */
static int check_pair_segments(const struct book *book, const struct msg_loader_open *open,
                               const struct msg_seed_segment *segments, uint64_t batch_pairs,
                               struct error *error)
{
    for (uint32_t i = 0; i < open->num_segments; i++)
        if (!seed_kind_is_pair(segments[i].seeds) ||
            seed_kind_is_edge(segments[i].seeds) != seed_kind_is_edge(segments[0].seeds))
            return say_mixed(error);
    for (uint32_t i = 0; i < open->num_segments; i++) {
        const struct msg_loader_open alone = segment_as_loader(open, &segments[i]);
        int rv = check_pairs(book, &alone, batch_pairs, error);
        if (rv != 0)
            return rv;
        for (uint32_t j = 0; j < i; j++)
            if (segments[j].etype == alone.etype)
                return error_set(error, TR_EINVAL, "loader: edge type %s has two sets of seeds",
                                 book->types.etypes[alone.etype].name);
    }
    return check_sum(open, segments, error);
}

/* The seeds of one type, as the head of the message has them. */
static struct msg_seed_segment only_segment(const struct msg_loader_open *open)
{
    return (struct msg_seed_segment){
        .ntype = open->ntype,
        .seeds = open->seeds,
        .ranks = open->ranks,
        .etype = open->etype,
        .first_rank = open->first_rank,
        .num_seeds = open->num_seeds,
        .negative_ranks = open->negative_ranks,
        .negative_source_ranks = open->negative_source_ranks,
        .reverse_etype = open->reverse_etype,
        .reverse_rule = open->reverse_rule,
    };
}

int seed_set_check(const struct book *book, const struct msg_loader_open *open, const void *body,
                   uint64_t length, struct error *error)
{
    const struct msg_seed_segment only = only_segment(open), *segments;
    const uint64_t batch_seeds = open->batch_size < open->num_seeds ? open->batch_size
                                                                    : open->num_seeds;
    /* Pairs come first: they have no node type. */
    if (seed_kind_is_pair(open->seeds))
        return check_pairs(book, open, batch_seeds, error);
    bool several = open->seeds == MSG_SEEDS_SEVERAL;
    if (several && loader_open_seeds(open, body, length, &segments) != 0)
        return error_set(error, TR_EFORMAT, "loader: its seeds are not described");
    if (several && seed_kind_is_pair(segments[0].seeds))
        return check_pair_segments(book, open, segments, batch_seeds, error);
    int rv = check_link(book, open, batch_seeds, error);
    if (rv != 0)
        return rv;
    return several ? check_segments(book, open, segments, error)
                   : check_segment(book, &only, error);
}

int seed_set_init(struct seed_set *set, const struct msg_loader_open *open, const void *body,
                  uint64_t length)
{
    const struct msg_seed_segment only = only_segment(open), *segments = &only;
    uint64_t begin = 0;
    bool several = open->seeds == MSG_SEEDS_SEVERAL;
    uint32_t count = several ? open->num_segments : 1;
    int rv = several ? loader_open_seeds(open, body, length, &segments) : 0;
    /* The set is filled before anything fails: seed_set_fini() is called after a failure as
     * well. */
    *set = (struct seed_set){ .segments = calloc(count, sizeof *set->segments) };
    if (rv != 0 || set->segments == NULL)
        return rv != 0 ? rv : TR_ENOMEM;
    set->num_segments = count;
    for (uint32_t i = 0; i < count; i++) {
        const struct msg_seed_segment *from = &segments[i];
        set->segments[i] = (struct seed_segment){
            .ntype = from->ntype,
            .etype = from->etype,
            .seeds = from->seeds,
            .num_ids = seed_kind_ids(from->seeds),
            .ranks = from->ranks,
            .first_rank = from->first_rank,
            .begin = begin,
            .count = from->num_seeds,
            .negative_ranks = from->negative_ranks,
            .negative_source_ranks = from->negative_source_ranks,
            .reverse_etype = from->reverse_etype,
            .reverse_rule = from->reverse_rule,
        };
        begin += from->num_seeds;
    }
    return 0;
}

struct seed_segment seed_set_negatives(const struct book *book, const struct msg_loader_open *open,
                                       const struct seed_segment *pairs, enum pair_end end)
{
    const struct negatives_rule rule = seed_set_negatives_rule(open);
    const struct graph_etype *type = &book->types.etypes[pairs->etype];
    uint32_t ranks = end == PAIR_SOURCE ? pairs->negative_source_ranks : pairs->negative_ranks;
    struct seed_segment drawn = { .ntype = end == PAIR_SOURCE ? type->src : type->dst,
                                  .etype = pairs->etype,
                                  .seeds = MSG_SEEDS_LISTED,
                                  .num_ids = 1 };
    /* Both ends then, whichever is drawn: what is asked for is the same. */
    if (rule.by_degree != 0) {
        drawn.seeds = MSG_SEEDS_EDGE_RANKS;
        drawn.count = book->num_edges[pairs->etype];
        return drawn;
    }
    if (rule.of == NEGATIVES_IN_BATCH || negatives_each(&rule, end) == 0)
        return drawn;
    drawn.seeds = MSG_SEEDS_RANKS;
    drawn.ranks = ranks;
    drawn.count = book->ranks[ranks].num_ranks;
    return drawn;
}

bool seed_set_is_pairs(const struct seed_set *set)
{
    return seed_kind_is_pair(set->segments[0].seeds);
}

bool seed_set_is_given(const struct seed_set *set)
{
    return set->num_segments == 1 && seed_kind_is_given(set->segments[0].seeds);
}

bool seed_set_is_listed(const struct seed_set *set)
{
    for (uint32_t i = 0; i < set->num_segments; i++)
        if (seed_kind_is_listed(set->segments[i].seeds))
            return true;
    return false;
}

int seed_set_take(struct seed_set *set, struct seed_lists *lists, uint64_t loader,
                  struct error *error)
{
    uint32_t taken = 0;
    for (uint32_t i = 0; i < set->num_segments; i++) {
        struct seed_segment *segment = &set->segments[i];
        uint64_t num_ids;
        if (!seed_kind_is_listed(segment->seeds))
            continue;
        segment->list = lists != NULL ? seed_lists_take(lists, loader, taken++) : NULL;
        if (segment->list == NULL)
            return error_set(error, TR_ENOENT,
                             "loader %" PRIu64 ": this process has no list of its seeds", loader);
        /* A list that is shorter would be read beyond its end. */
        if (__builtin_mul_overflow(segment->count, segment->num_ids, &num_ids) ||
            segment->list->num_ids != num_ids)
            return error_set(error, TR_EINVAL,
                             "loader %" PRIu64 ": %" PRIu64 " seeds, and a list of %" PRIu64 " IDs",
                             loader, segment->count, segment->list->num_ids);
    }
    return 0;
}

void seed_set_fini(struct seed_set *set)
{
    for (uint32_t i = 0; i < set->num_segments; i++)
        seed_list_release(set->segments[i].list);
    free(set->segments);
    *set = (struct seed_set){ 0 };
}

/* The last one that begins at the place or before: those before it that begin there too are
 * empty. */
uint32_t seed_set_find(const struct seed_set *set, uint64_t place)
{
    uint32_t low = 0, high = set->num_segments;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (set->segments[middle].begin <= place)
            low = middle;
        else
            high = middle;
    }
    return low;
}

const struct rank_table *seed_segment_table(const struct book *book,
                                            const struct seed_segment *segment)
{
    const struct rank_table *table = segment->seeds == MSG_SEEDS_RANKS
                                         ? &book->ranks[segment->ranks]
                                         : NULL;
    return table != NULL && table->stored ? table : NULL;
}
