/* SPDX-License-Identifier: Apache-2.0 */
#include "actors/data/id_groups.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "graph/ranks.h"

/* Features of an edge type and what else there is of each edge: IDs are those of edges. */
static bool is_by_edge(uint32_t table)
{
    return table == MSG_TABLE_EDGE_ENDS || table == MSG_TABLE_EDGE_SOURCES ||
           table == MSG_TABLE_EDGE_ORIGINALS ||
           (table >= MSG_TABLE_EDGES && table < MSG_TABLE_RANKS);
}

bool table_is_of_edges(uint32_t table)
{
    return table == MSG_TABLE_EDGE_RANKS || table == MSG_TABLE_IN_EDGES ||
           table == MSG_TABLE_OUT_EDGES || table == MSG_TABLE_OUT_PLACES || is_by_edge(table);
}

/* The type of nodes whose IDs a table takes that takes no others. */
static uint32_t ntype_of(const struct book *book, uint32_t type, uint32_t table)
{
    return table == MSG_TABLE_IN_EDGES    ? book->types.etypes[type].dst
           : table == MSG_TABLE_OUT_EDGES ? book->types.etypes[type].src
                                          : type;
}

struct table_ids table_ids_of(const struct book *book, uint32_t type, uint32_t table)
{
    if (table == MSG_TABLE_EDGE_RANKS || table == MSG_TABLE_OUT_PLACES || is_by_edge(table))
        return (struct table_ids){ is_by_edge(table)               ? "edge"
                                   : table == MSG_TABLE_OUT_PLACES ? "place of out-edges"
                                                                   : "rank of edges",
                                   book->types.etypes[type].name, book->num_edges[type] };
    uint32_t ntype = ntype_of(book, type, table);
    return (struct table_ids){ "node", book->types.ntypes[ntype], book->num_nodes[ntype] };
}

uint32_t id_groups_piece(uint64_t row_bytes, uint64_t bytes, uint64_t left)
{
    uint64_t fit = bytes / (row_bytes + sizeof(uint32_t));
    fit = fit > 0 ? fit : 1;
    return (uint32_t)(fit < left ? fit : left);
}

int id_groups_init(struct id_groups *groups, const struct book *book, uint32_t count)
{
    size_t room = (size_t)count + 1;
    groups->starts = calloc(book->num_parts + (size_t)2, sizeof *groups->starts);
    groups->rows = malloc(room * sizeof *groups->rows);
    groups->places = malloc(room * sizeof *groups->places);
    groups->owners = malloc(room * sizeof *groups->owners);
    return groups->starts == NULL || groups->rows == NULL || groups->places == NULL ||
                   groups->owners == NULL
               ? TR_ENOMEM
               : 0;
}

void id_groups_fini(struct id_groups *groups)
{
    free(groups->starts);
    free(groups->rows);
    free(groups->places);
    free(groups->owners);
    *groups = (struct id_groups){ .starts = NULL };
}

/* Whether IDs are ranks, whose even slices partitions have, and of how many; else rows are their
 * nodes' owners'. */
static bool has_ranks(const struct book *book, const struct id_list *list, uint64_t *num_ranks)
{
    if (list->table == MSG_TABLE_EDGE_RANKS) {
        *num_ranks = book->num_edges[list->type];
        return true;
    }
    uint32_t number = list->table - MSG_TABLE_RANKS;
    bool any = list->table >= MSG_TABLE_RANKS && list->table < MSG_TABLE_ORIGINAL_ID;
    if (any && number < book->num_ranks)
        *num_ranks = book->ranks[number].num_ranks;
    return any && number < book->num_ranks;
}

/* The partition that has the row of an ID, and which row of it; negative: none has, or it lies
 * farther into its partition than rows are counted. */
static int row_of(const struct book *book, const struct id_list *list, uint64_t id, uint64_t *row)
{
    uint64_t num_ranks;
    bool out = list->table == MSG_TABLE_OUT_PLACES;
    if (out || is_by_edge(list->table)) {
        int part = out ? book_place_owner(book, list->type, id)
                       : book_edge_owner(book, list->type, id);
        if (part >= 0)
            *row = id - (out ? book->out_extents : book->edge_extents)[list->type][part].begin;
        return part >= 0 && *row > UINT32_MAX ? TR_ETOOBIG : part;
    }
    if (has_ranks(book, list, &num_ranks)) {
        if (id >= num_ranks)
            return TR_ERANGE;
        uint32_t part = ranks_part(num_ranks, book->num_parts, id);
        *row = id - ranks_begin(num_ranks, book->num_parts, part);
        return (int)part;
    }
    uint32_t ntype = ntype_of(book, list->type, list->table);
    int owner = book_node_owner(book, ntype, id);
    if (owner >= 0)
        *row = id - book->node_extents[ntype][owner].begin;
    return owner;
}

static int say_no_row(const struct book *book, const struct id_list *list, uint32_t at, int code,
                      struct error *error)
{
    const struct table_ids ids = table_ids_of(book, list->type, list->table);
    uint64_t id = list->ids[at];
    if (code == TR_ETOOBIG)
        return error_set(error, code,
                         "ids[%" PRIu64 "] = %" PRIu64 " of type %s lies beyond the first 2^32 "
                         "edges of its partition, whose rows alone may be fetched; make more "
                         "partitions",
                         list->first + at, id, ids.type);
    return error_set(error, TR_ERANGE,
                     "ids[%" PRIu64 "] = %" PRIu64
                     ": no %s of type %s has this ID; it must be below %" PRIu64,
                     list->first + at, id, ids.what, ids.type, ids.count);
}

static int count_owners(struct id_groups *groups, const struct book *book,
                        const struct id_list *list, struct error *error)
{
    for (uint32_t i = 0; i < list->count; i++) {
        uint64_t row;
        int owner = row_of(book, list, list->ids[i], &row);
        if (owner < 0)
            return say_no_row(book, list, i, owner, error);
        groups->owners[i] = (uint32_t)owner;
        groups->starts[owner + 1]++;
    }
    return 0;
}

/* A counting sort by owner. */
int id_groups_fill(struct id_groups *groups, const struct book *book, const struct id_list *list,
                   struct error *error)
{
    int rv = count_owners(groups, book, list, error);
    if (rv != 0)
        return rv;
    for (uint32_t p = 0; p < book->num_parts; p++)
        groups->starts[p + 1] += groups->starts[p];
    for (uint32_t i = list->count; i-- > 0;) {
        uint64_t row = 0;
        uint32_t at = --groups->starts[groups->owners[i] + 1];
        row_of(book, list, list->ids[i], &row);
        groups->rows[at] = (uint32_t)row;
        groups->places[at] = i;
    }
    /* Each start stands one place too far to the right now. */
    memmove(groups->starts, groups->starts + 1, book->num_parts * sizeof *groups->starts);
    groups->starts[book->num_parts] = list->count;
    free(groups->owners);
    groups->owners = NULL;
    return 0;
}
