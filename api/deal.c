/* SPDX-License-Identifier: Apache-2.0 */
/* Which nodes of a set are one trainer's. */
#include <inttypes.h>
#include <stdlib.h>

#include "api/internal.h"
#include "partition/build/partition.h"
#include "partition/store/seed_split.h"

static int read_deal(const struct tr_nodes *nodes, const char *path, uint32_t world,
                     struct seed_split *deal, struct tr_error *error)
{
    struct tr_graph *graph = nodes->graph;
    struct error why = { 0 };
    char *own = NULL;
    uint32_t checksum;
    uint32_t named = tr_graph_deal_trainers(graph);
    if (path == NULL && named != world)
        return tr_error_set(error, TR_ENOENT,
                            "the graph has a deal for %u trainers, not "
                            "for %u; partition it for %u trainers, or give the file of a deal",
                            named, world, world);
    own = store_deal_path(graph->store, nodes->ntype);
    if (own == NULL)
        return tr_error_set(error, TR_ENOMEM, "no memory for a file's name");
    if (path == NULL)
        path = own;
    /* Only the deal that lies beside the partition book is summed there. */
    bool summed = files_are_same(files_posix, path, own) &&
                  store_deal_checksum(graph->store, nodes->ntype, &checksum);
    int rv = seed_split_read(deal, files_posix, path, graph->book->num_nodes[nodes->ntype], world,
                             summed ? &checksum : NULL, &why);
    free(own);
    return rv == 0 ? 0 : error_give(&why, error);
}

/* counts: [world]; each node of the set has a trainer, and each trainer its share. */
static int count_groups(const struct tr_nodes *nodes, const uint64_t *original_ids,
                        const struct seed_split *deal, size_t *counts, struct tr_error *error)
{
    size_t share = nodes->count / deal->num_trainers;
    bool rest = nodes->count % deal->num_trainers != 0;
    for (size_t i = 0; i < nodes->count; i++) {
        int32_t trainer = deal->trainers[original_ids[i]];
        if (trainer < 0)
            return tr_error_set(error, TR_EMISMATCH,
                                "the deal gives node %" PRIu64 " (original "
                                "ID) to no trainer; was it made of other training nodes?",
                                original_ids[i]);
        counts[trainer]++;
    }
    for (uint32_t t = 0; t < deal->num_trainers; t++)
        if (counts[t] != share && !(rest && counts[t] == share + 1))
            return tr_error_set(error, TR_EMISMATCH,
                                "the deal gives %zu of the %zu nodes to "
                                "trainer %u of %u; numbers may differ by 1 at most: was it made "
                                "of other training nodes?",
                                counts[t], nodes->count, t, deal->num_trainers);
    return 0;
}

static int make_group(const struct tr_nodes *nodes, const uint64_t *ids,
                      const uint64_t *original_ids, const struct seed_split *deal, uint32_t rank,
                      struct tr_nodes **out, struct tr_error *error)
{
    size_t *counts = calloc((size_t)deal->num_trainers + 1, sizeof *counts), at = 0;
    if (counts == NULL)
        return tr_error_set(error, TR_ENOMEM, "no memory for a deal");
    int rv = count_groups(nodes, original_ids, deal, counts, error);
    struct tr_nodes *group = rv != 0
                                 ? NULL
                                 : nodes_create(nodes->graph, nodes->ntype, counts[rank], error);
    free(counts);
    if (group == NULL)
        return rv != 0 ? rv : TR_ENOMEM;
    for (size_t i = 0; i < nodes->count; i++) {
        if (deal->trainers[original_ids[i]] != (int32_t)rank)
            continue;
        group->ids[at] = ids[i];
        group->original_ids[at++] = original_ids[i];
    }
    group->all_count = nodes->count;
    group->deal_hash = deal->hash;
    group->rank = rank;
    group->world = deal->num_trainers;
    *out = group;
    return 0;
}

/* The graph's own deal of its training nodes has ranks, of which each trainer has a range: -1 where
 * the set, or the deal, is another one. */
static int find_ranks(const struct tr_nodes *nodes, const char *path, uint32_t world)
{
    const struct book_file *file = store_book_file(nodes->graph->store);
    const struct book *book = nodes->graph->book;
    const char *mask = file->train_mask != NULL ? file->train_mask : PARTITION_TRAIN_MASK;
    if (path != NULL || nodes->ranks < 0 || world != file->num_trainers)
        return -1;
    int ranks = book_find_ranks(book, RANKS_DEAL, nodes->ntype, NULL);
    bool whole = nodes->ranks == book_find_ranks(book, RANKS_MASK, nodes->ntype, mask) &&
                 ranks >= 0 && book->ranks[ranks].num_ranks == nodes->count;
    return whole ? ranks : -1;
}

/* Lower ranks have the larger shares, and stand first. */
static int name_group(const struct tr_nodes *nodes, int ranks, uint32_t rank, uint32_t world,
                      struct tr_nodes **out, struct tr_error *error)
{
    uint64_t share = nodes->count / world, rest = nodes->count % world;
    uint64_t first = rank * share + (rank < rest ? rank : rest);
    *out = nodes_create_range(nodes->graph, ranks, first, share + (rank < rest), error);
    if (*out == NULL)
        return TR_ENOMEM;
    (*out)->all_count = nodes->count;
    (*out)->deal_hash = nodes->graph->book->ranks[ranks].deal_hash;
    (*out)->rank = rank;
    (*out)->world = world;
    return 0;
}

/* By a file, which may be any: a list. */
static int list_group(struct tr_nodes *nodes, const struct seed_split *deal, uint32_t rank,
                      int64_t timeout_ns, struct tr_nodes **out, struct tr_error *error)
{
    uint64_t *ids, *original_ids;
    int rv = nodes_read(nodes, timeout_ns, &ids, &original_ids, error);
    if (rv != 0)
        return rv;
    rv = make_group(nodes, ids, original_ids, deal, rank, out, error);
    free(ids);
    free(original_ids);
    return rv;
}

int tr_nodes_deal(struct tr_nodes *nodes, const char *path, uint32_t rank, uint32_t world,
                  int64_t timeout_ns, struct tr_nodes **out, struct tr_error *error)
{
    const struct deadline until = graph_until(nodes->graph, timeout_ns);
    struct seed_split deal;
    *out = NULL;
    int rv = session_mine(nodes->graph->session, error);
    if (rv != 0)
        return rv;
    if (world == 0 || world > INT32_MAX || rank >= world)
        return tr_error_set(error, TR_ERANGE, "rank: %u of %u trainers; ranks count from 0", rank,
                            world);
    if (nodes_are_pairs(nodes))
        return tr_error_set(error, TR_EINVAL,
                            "the set has %s, and a deal shares out nodes; a loader shares these "
                            "out among its trainers at each step",
                            nodes->edges ? "edges" : "pairs of nodes");
    if (nodes->parts != NULL)
        return tr_error_set(error, TR_EINVAL,
                            "the set has several node types, and a deal shares out nodes of one");
    if (nodes->world != 0)
        return tr_error_set(error, TR_EINVAL,
                            "the nodes are one trainer's group "
                            "already; deal the whole set");
    /* Ranks are asked for first: a deal that has them needs no file. */
    int ranks = find_ranks(nodes, path, world);
    if (ranks >= 0)
        return name_group(nodes, ranks, rank, world, out, error);
    rv = read_deal(nodes, path, world, &deal, error);
    if (rv != 0)
        return rv;
    rv = list_group(nodes, &deal, rank, deadline_left_ns(&until), out, error);
    seed_split_fini(&deal);
    return rv;
}

uint64_t tr_nodes_deal_hash(const struct tr_nodes *nodes)
{
    return nodes->deal_hash;
}

uint32_t tr_graph_deal_trainers(const struct tr_graph *graph)
{
    return store_book_file(graph->store)->num_trainers;
}
