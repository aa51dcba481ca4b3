/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of ranks hold the global IDs of their sets' nodes, in the order of original IDs. */
#include <inttypes.h>
#include <stdlib.h>

#include "graph/ranks.h"
#include "partition/build/verify_private.h"
#include "partition/store/part_files.h"
#include "partition/store/seed_split.h"

static bool is_chosen(const struct verification *v, const struct rank_table *table, uint64_t global)
{
    uint32_t part = (uint32_t)book_node_owner(v->book, table->ntype, global);
    const struct node_part *nodes = &v->parts[part]->nodes[table->ntype];
    const struct feature_table *mask = node_part_feature(nodes, table->mask);
    return mask != NULL && mask->row_bytes == 1 &&
           ((const uint8_t *)mask->rows)[global - nodes->global_begin] != 0;
}

static int wrong_count(struct verification *v, const struct rank_table *table)
{
    return error_set(
        v->error, TR_EMISMATCH,
        "%s: lists %" PRIu64
        " ranks of a set of nodes of type %s, and the input has another number of them",
        v->store->path, table->num_ranks, v->book->types.ntypes[table->ntype]);
}

/* The member that has that rank, as a global ID. */
static int check_rank(struct verification *v, uint32_t number, uint64_t rank, uint64_t global)
{
    const struct rank_table *table = &v->book->ranks[number];
    if (rank >= table->num_ranks)
        return wrong_count(v, table);
    if (!table->stored)
        return rank == global ? 0
                              : error_set(v->error, TR_EMISMATCH,
                                          "%s: says that ranks of node type %s are the same as "
                                          "IDs, and they are not",
                                          v->store->path, v->book->types.ntypes[table->ntype]);
    uint32_t part = ranks_part(table->num_ranks, v->book->num_parts, rank);
    uint64_t row = rank - ranks_begin(table->num_ranks, v->book->num_parts, part);
    uint64_t found = v->parts[part]->slices[number].ids[row];
    return found == global ? 0
                           : verify_differs(v, part, part_file_ranks(&v->book->types, table),
                                            "element", row, found, global);
}

static int check_set(struct verification *v, uint32_t number)
{
    const struct rank_table *table = &v->book->ranks[number];
    uint64_t rank = 0, count = v->book->num_nodes[table->ntype];
    int rv = 0;
    for (uint64_t original = 0; original < count && rv == 0; original++) {
        uint64_t global = v->global[table->ntype][original];
        if (table->set == RANKS_ALL || is_chosen(v, table, global))
            rv = check_rank(v, number, rank++, global);
    }
    return rv == 0 && rank != table->num_ranks ? wrong_count(v, table) : rv;
}

/* One pass over the deal a trainer would be many: each trainer has a place of its own. */
static int check_deal(struct verification *v, uint32_t number)
{
    const struct rank_table *table = &v->book->ranks[number];
    uint32_t world = store_book_file(v->store)->num_trainers;
    uint64_t count = v->book->num_nodes[table->ntype], rank = 0;
    struct seed_split deal = { .num_nodes = count, .num_trainers = world };
    uint64_t *next = calloc((size_t)world + 1, sizeof *next);
    int rv = next == NULL ? job_no_memory(v->error, "a deal", 0)
                          : store_read_deal(v->store, table->ntype, &deal.trainers, v->error);
    for (uint64_t i = 0; i < count && rv == 0; i++)
        if (deal.trainers[i] >= 0 && (uint32_t)deal.trainers[i] < world)
            next[deal.trainers[i]]++;
    for (uint32_t t = 0; t < world && rv == 0; t++) {
        uint64_t share = next[t];
        next[t] = rank;
        rank += share;
    }
    if (rv == 0 && rank != table->num_ranks)
        rv = wrong_count(v, table);
    for (uint64_t i = 0; i < count && rv == 0; i++)
        if (deal.trainers[i] >= 0 && (uint32_t)deal.trainers[i] < world)
            rv = check_rank(v, number, next[deal.trainers[i]]++, v->global[table->ntype][i]);
    if (rv == 0 && seed_split_hash(&deal) != table->deal_hash)
        rv = error_set(v->error, TR_EMISMATCH,
                       "%s: the hash of a deal does not match the file of the deal",
                       v->store->path);
    free(deal.trainers);
    free(next);
    return rv;
}

int verify_ranks(struct verification *verification, uint32_t ntype)
{
    const struct book *book = verification->book;
    int rv = 0;
    for (uint32_t i = 0; i < book->num_ranks && rv == 0; i++)
        if (book->ranks[i].ntype == ntype)
            rv = book->ranks[i].set == RANKS_DEAL ? check_deal(verification, i)
                                                  : check_set(verification, i);
    return rv;
}
