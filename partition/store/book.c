/* SPDX-License-Identifier: Apache-2.0 */
#include "partition/store/book.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "graph/edge_runs.h"

/* Counts of one type, one for each partition, into consecutive extents. */
static struct extent *make_extents(const uint64_t *counts, uint32_t num_parts, uint64_t *total)
{
    struct extent *extents = calloc(num_parts, sizeof *extents);
    uint64_t next = 0;
    for (uint32_t part = 0; extents != NULL && part < num_parts; part++) {
        if (counts[part] > (uint64_t)INT64_MAX - next) {
            free(extents);
            return NULL;
        }
        extents[part] = (struct extent){ .begin = next, .end = next + counts[part], .owner = part };
        next += counts[part];
    }
    *total = next;
    return extents;
}

/* The extents of all types; NULL where memory ends or a sum leaves 63 bits. */
static struct extent **make_types(const uint64_t *counts, uint32_t num_types, uint32_t num_parts,
                                  uint64_t *totals)
{
    struct extent **types = calloc(num_types + 1, sizeof *types);
    for (uint32_t type = 0; types != NULL && type < num_types; type++) {
        types[type] = make_extents(counts + (size_t)type * num_parts, num_parts, &totals[type]);
        if (types[type] == NULL) {
            while (type > 0)
                free(types[--type]);
            free(types);
            return NULL;
        }
    }
    return types;
}

int book_init(struct book *book, const char *graph_name, const struct graph_types *types,
              uint32_t num_parts, const uint64_t *node_counts, const uint64_t *edge_counts)
{
    *book = (struct book){ .num_parts = num_parts };
    if (num_parts == 0 || num_parts > BOOK_PARTS_MAX)
        return TR_ERANGE;
    int rv = graph_types_copy(&book->types, types);
    if (rv != 0)
        return rv;
    book->graph_name = strdup(graph_name);
    book->num_nodes = calloc(types->num_ntypes + 1, sizeof *book->num_nodes);
    book->num_edges = calloc(types->num_etypes + 1, sizeof *book->num_edges);
    if (book->graph_name == NULL || book->num_nodes == NULL || book->num_edges == NULL)
        goto fail;
    book->node_extents = make_types(node_counts, types->num_ntypes, num_parts, book->num_nodes);
    book->edge_extents = make_types(edge_counts, types->num_etypes, num_parts, book->num_edges);
    if (book->node_extents == NULL || book->edge_extents == NULL)
        goto fail;
    return 0;
fail:
    book_fini(book);
    return TR_ENOMEM;
}

static void free_types(struct extent **types, uint32_t num_types)
{
    for (uint32_t type = 0; types != NULL && type < num_types; type++)
        free(types[type]);
    free(types);
}

void book_fini(struct book *book)
{
    free_types(book->node_extents, book->types.num_ntypes);
    free_types(book->edge_extents, book->types.num_etypes);
    free_types(book->out_extents, book->types.num_etypes);
    free(book->num_nodes);
    free(book->num_edges);
    free(book->graph_name);
    free(book->part_method);
    graph_types_fini(&book->types);
    for (uint32_t i = 0; i < book->num_ranks; i++)
        free(book->ranks[i].mask);
    free(book->ranks);
    *book = (struct book){ 0 };
}

int book_add_out_edges(struct book *book, const uint64_t *out_counts)
{
    uint32_t num_etypes = book->types.num_etypes;
    uint64_t *totals = calloc(num_etypes + 1, sizeof *totals);
    int rv = totals == NULL ? TR_ENOMEM : 0;
    for (uint32_t e = 0; e < num_etypes && rv == 0; e++) {
        uint64_t left = book->num_edges[e];
        for (uint32_t p = 0; p < book->num_parts && rv == 0; p++) {
            uint64_t count = out_counts[(size_t)e * book->num_parts + p];
            rv = count > left ? TR_EFORMAT : 0;
            left -= rv == 0 ? count : 0;
        }
        rv = rv == 0 && left > 0 ? TR_EFORMAT : rv;
    }
    if (rv == 0)
        book->out_extents = make_types(out_counts, num_etypes, book->num_parts, totals);
    free(totals);
    return rv == 0 && book->out_extents == NULL ? TR_ENOMEM : rv;
}

uint32_t book_part_version(const struct book *book, uint32_t part)
{
    assert(part < book->num_parts);
    /* Every extent of a partition has it; a graph without node types has nothing to read. */
    return book->types.num_ntypes > 0 ? book->node_extents[0][part].version : 0;
}

int book_node_owner(const struct book *book, uint32_t ntype, uint64_t id)
{
    assert(ntype < book->types.num_ntypes);
    return extents_owner(book->node_extents[ntype], book->num_parts, id);
}

int book_edge_owner(const struct book *book, uint32_t etype, uint64_t id)
{
    assert(etype < book->types.num_etypes);
    return extents_owner(book->edge_extents[etype], book->num_parts, id);
}

int book_place_owner(const struct book *book, uint32_t etype, uint64_t place)
{
    assert(etype < book->types.num_etypes);
    return book->out_extents == NULL
               ? TR_ERANGE
               : extents_owner(book->out_extents[etype], book->num_parts, place);
}

int book_add_ranks(struct book *book, const struct rank_table *table)
{
    if (book->num_ranks == BOOK_RANKS_MAX)
        return TR_ETOOBIG;
    /* The room is the next power of two, and doubles where the tables fill it. */
    if ((book->num_ranks & (book->num_ranks - 1)) == 0) {
        size_t room = book->num_ranks == 0 ? 1 : 2 * (size_t)book->num_ranks;
        struct rank_table *grown = realloc(book->ranks, room * sizeof *grown);
        if (grown == NULL)
            return TR_ENOMEM;
        book->ranks = grown;
    }
    struct rank_table *added = &book->ranks[book->num_ranks];
    *added = *table;
    added->mask = table->mask == NULL ? NULL : strdup(table->mask);
    if (table->mask != NULL && added->mask == NULL)
        return TR_ENOMEM;
    book->num_ranks++;
    return 0;
}

int book_find_ranks(const struct book *book, enum rank_set set, uint32_t ntype, const char *mask)
{
    for (uint32_t i = 0; i < book->num_ranks; i++) {
        const struct rank_table *table = &book->ranks[i];
        if (table->set == set && table->ntype == ntype &&
            (set != RANKS_MASK || strcmp(table->mask, mask) == 0))
            return (int)i;
    }
    return -1;
}

bool book_has_edge_runs(const struct book *book, uint32_t etype)
{
    return book->edge_runs && edge_runs_may_be(book->num_edges[etype], book->num_parts);
}
