/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Subgraphs of edges and of nodes, of all types at once: the questions of query.c, type after type,
 * and the numbers that nodes have in them.
 */
#include <troupe/query.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "api/internal.h"
#include "graph/relabel.h"

/* Nodes that are numbered at once. */
#define NUMBER_NODES 4096u

/* The sum of counts, or TR_ETOOBIG. */
static int add_up(const size_t *counts, uint32_t num_types, const char *what, size_t *sum,
                  struct tr_error *error)
{
    *sum = 0;
    for (uint32_t t = 0; t < num_types; t++)
        if (__builtin_add_overflow(*sum, counts[t], sum))
            return tr_error_set(error, TR_ETOOBIG, "%s: 2^64 or more are counted", what);
    return 0;
}

/* Puts the number of each node in the table in the place of its ID. */
static int number_nodes(struct relabel *table, uint64_t *ids, size_t count)
{
    uint32_t numbers[NUMBER_NODES];
    int rv = 0;
    for (size_t first = 0; first < count && rv == 0; first += NUMBER_NODES) {
        size_t n = count - first < NUMBER_NODES ? count - first : NUMBER_NODES;
        rv = relabel_add_u64(table, ids + first, n, numbers);
        for (size_t i = 0; i < n && rv == 0; i++)
            ids[first + i] = numbers[i];
    }
    return rv;
}

/* The ends of all edges, by global ID, become numbers in the tables of their types. */
static int number_ends(const struct graph_types *types, const size_t *counts, uint64_t *sources,
                       uint64_t *destinations, struct relabel *tables)
{
    int rv = 0;
    for (uint32_t e = 0, num = types->num_etypes; e < num && rv == 0; e++) {
        const struct graph_etype *type = &types->etypes[e];
        rv = number_nodes(&tables[type->src], sources, counts[e]);
        if (rv == 0)
            rv = number_nodes(&tables[type->dst], destinations, counts[e]);
        sources += counts[e];
        destinations += counts[e];
    }
    return rv;
}

int tr_graph_edge_subgraph(struct tr_graph *graph, const uint64_t *edge_ids, const size_t *counts,
                           int64_t timeout_ns, uint64_t *sources, uint64_t *destinations,
                           uint64_t *nodes, size_t *node_counts, struct tr_error *error)
{
    const struct deadline until = graph_until(graph, timeout_ns);
    const struct graph_types *types = &graph->book->types;
    size_t num_edges, at = 0;
    int rv = session_mine(graph->session, error);
    if (rv == 0)
        rv = add_up(counts, types->num_etypes, "edges", &num_edges, error);
    if (rv != 0)
        return rv;
    memset(node_counts, 0, types->num_ntypes * sizeof *node_counts);
    for (uint32_t e = 0; e < types->num_etypes; at += counts[e++]) {
        if (counts[e] == 0)
            continue;
        rv = tr_graph_find_edges(graph, e, edge_ids + at, counts[e], deadline_left_ns(&until),
                                 sources + at, destinations + at, error);
        if (rv != 0)
            return rv;
    }
    struct relabel *tables = calloc(types->num_ntypes + (size_t)1, sizeof *tables);
    rv = tables == NULL ? TR_ENOMEM : 0;
    for (uint32_t t = 0; t < types->num_ntypes && rv == 0; t++)
        rv = relabel_reset(&tables[t], 0);
    if (rv == 0)
        rv = number_ends(types, counts, sources, destinations, tables);
    for (uint32_t t = 0; t < types->num_ntypes && rv == 0; t++) {
        node_counts[t] = tables[t].num_ids;
        if (tables[t].num_ids > 0)
            memcpy(nodes, tables[t].ids, tables[t].num_ids * sizeof *nodes);
        nodes += tables[t].num_ids;
    }
    for (uint32_t t = 0; tables != NULL && t < types->num_ntypes; t++)
        relabel_fini(&tables[t]);
    free(tables);
    return rv == 0 ? 0
                   : tr_error_set(error, rv, "the nodes of %zu edges cannot be numbered: %s",
                                  num_edges, tr_strerror(rv));
}

/* The in-edges of a type that is asked for, behind those before. */
struct in_edges {
    struct tr_graph *graph;
    struct deadline until;
    size_t room, total; /* edges, of all types so far; those beyond the room are counted only */
    uint64_t *index;    /* of the nodes of one type */
    uint64_t *sources, *destinations, *edge_ids;
};

static int take_in_edges(struct in_edges *in, uint32_t etype, const uint64_t *ids, size_t count,
                         size_t *edge_count, struct tr_error *error)
{
    size_t at = in->total < in->room ? in->total : in->room, left = in->room - at;
    in->index[count] = 0;
    int rv = tr_graph_in_edges(in->graph, etype, ids, count, deadline_left_ns(&in->until), left,
                               in->index, in->sources + at, in->edge_ids + at, error);
    bool full = rv == TR_ETOOBIG && in->index[count] > left;
    if (rv != 0 && !full)
        return rv;
    for (size_t i = 0; i < count && !full; i++)
        for (uint64_t k = in->index[i]; k < in->index[i + 1]; k++)
            in->destinations[at + k] = ids[i];
    *edge_count = (size_t)in->index[count];
    if (__builtin_add_overflow(in->total, *edge_count, &in->total))
        return tr_error_set(error, TR_ETOOBIG, "the nodes have 2^64 edges or more");
    return 0;
}

int tr_graph_in_subgraph(struct tr_graph *graph, const uint64_t *ids, const size_t *counts,
                         int64_t timeout_ns, size_t room, size_t *edge_counts, uint64_t *sources,
                         uint64_t *destinations, uint64_t *edge_ids, struct tr_error *error)
{
    const struct graph_types *types = &graph->book->types;
    struct in_edges in = { .graph = graph,
                           .until = graph_until(graph, timeout_ns),
                           .room = room,
                           .sources = sources,
                           .destinations = destinations,
                           .edge_ids = edge_ids };
    size_t num_nodes, most = 0;
    int rv = session_mine(graph->session, error);
    if (rv == 0)
        rv = add_up(counts, types->num_ntypes, "nodes", &num_nodes, error);
    if (rv != 0)
        return rv;
    const uint64_t **begins = calloc(types->num_ntypes + (size_t)1, sizeof *begins);
    for (uint32_t t = 0; t < types->num_ntypes; t++)
        most = counts[t] > most ? counts[t] : most;
    in.index = calloc(most + 1, sizeof *in.index);
    if (begins == NULL || in.index == NULL)
        rv = tr_error_set(error, TR_ENOMEM, "no memory to ask for the edges of %zu nodes",
                          num_nodes);
    for (uint32_t t = 0; t < types->num_ntypes && rv == 0; ids += counts[t++])
        begins[t] = ids;
    for (uint32_t e = 0; e < types->num_etypes && rv == 0; e++) {
        uint32_t dst = types->etypes[e].dst;
        edge_counts[e] = 0;
        if (counts[dst] > 0)
            rv = take_in_edges(&in, e, begins[dst], counts[dst], &edge_counts[e], error);
    }
    free(in.index);
    free(begins);
    if (rv != 0 || in.total <= room)
        return rv;
    return tr_error_set(error, TR_ETOOBIG, "the nodes have %zu edges, there is room for %zu",
                        in.total, room);
}
