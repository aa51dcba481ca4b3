/* SPDX-License-Identifier: Apache-2.0 */
#include "actors/data/seed_set.h"

#include <inttypes.h>

static int check_ranks(const struct book *book, const struct msg_loader_open *open,
                       struct error *error)
{
    const struct rank_table *table = open->ranks < book->num_ranks ? &book->ranks[open->ranks]
                                                                   : NULL;
    if (table == NULL || table->ntype != open->ntype)
        return error_set(error, TR_ERANGE,
                         "loader: there is no table of ranks %" PRIu32 " of node type %s",
                         open->ranks, book->types.ntypes[open->ntype]);
    if (open->first_rank > table->num_ranks ||
        open->num_seeds > table->num_ranks - open->first_rank)
        return error_set(error, TR_ERANGE,
                         "loader: %" PRIu64 " ranks from %" PRIu64 " on; the set has %" PRIu64,
                         open->num_seeds, open->first_rank, table->num_ranks);
    return 0;
}

int seed_set_check(const struct book *book, const struct msg_loader_open *open, struct error *error)
{
    if (open->ntype >= book->types.num_ntypes)
        return error_set(error, TR_ERANGE, "loader: node type %" PRIu32 ", the graph has %" PRIu32,
                         open->ntype, book->types.num_ntypes);
    switch (open->seeds) {
    case MSG_SEEDS_LISTED:
    case MSG_SEEDS_GIVEN:
        return 0;
    case MSG_SEEDS_RANKS:
        return check_ranks(book, open, error);
    case MSG_SEEDS_EDGES:
    case MSG_SEEDS_PAIRS:
        return error_set(error, TR_EUNSUPPORTED,
                         "loader: the seeds are %s; loaders take nodes as seeds",
                         open->seeds == MSG_SEEDS_EDGES ? "edges" : "pairs of nodes");
    default:
        return error_set(error, TR_EUNSUPPORTED, "loader: seeds of kind %" PRIu32 " are not known",
                         open->seeds);
    }
}

const struct rank_table *seed_set_table(const struct book *book, const struct msg_loader_open *open)
{
    const struct rank_table *table = open->seeds == MSG_SEEDS_RANKS ? &book->ranks[open->ranks]
                                                                    : NULL;
    return table != NULL && table->stored ? table : NULL;
}
