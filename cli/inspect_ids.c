/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/inspect_ids.h"

#include <stdlib.h>
#include <string.h>

#include <troupe/book.h>
#include <troupe/graph.h>
#include <troupe/query.h>
#include <troupe/session.h>

#include "cli/own_ids.h"

struct looking {
    struct report *report;
    const struct inspect_ids *ids;
    struct tr_book *book;
    struct tr_book_info info;
    struct tr_graph *graph;
};

/* The original ID of one node. */
static int original_node(const struct looking *l, uint32_t ntype, uint64_t id, uint64_t *original,
                         struct tr_error *error)
{
    return tr_graph_original_ids(l->graph, ntype, &id, 1, TR_WAIT_FOREVER, original, error);
}

/* Adds a node's ID as the user has it, where that is not its original ID. */
static int report_own_id(const struct looking *l, const char *key, const char *label,
                         uint32_t ntype, uint64_t original, struct tr_error *error)
{
    struct own_ids own;
    char *text;
    int rv = own_ids_init(&own, l->book, ntype, error);
    if (rv != 0 || !own_ids_differ(&own))
        return rv;
    if (!own.named) {
        report_count(l->report, key, label, original + own.first_id);
        return 0;
    }
    rv = own_ids_text(&own, original, &text, error);
    if (rv == 0)
        report_text(l->report, key, label, text);
    free(text);
    return rv;
}

static int report_node(const struct looking *l, uint32_t ntype, uint64_t id, struct tr_error *error)
{
    uint64_t original;
    uint32_t part, in, out;
    int rv = tr_book_node_owners(l->book, ntype, &id, 1, &part, error);
    if (rv == 0)
        rv = original_node(l, ntype, id, &original, error);
    if (rv == 0)
        rv = tr_graph_degrees(l->graph, ntype, &id, 1, TR_WAIT_FOREVER, &in, &out, error);
    if (rv != 0)
        return rv;
    report_row(l->report, "nodes");
    report_count(l->report, "node", "node", id);
    report_count(l->report, "original_id", "original ID", original);
    rv = report_own_id(l, "own_id", "own ID", ntype, original, error);
    report_count(l->report, "part", "partition", part);
    report_count(l->report, "in_degree", "in-degree", in);
    report_count(l->report, "out_degree", "out-degree", out);
    return rv;
}

/* Reports the in-degree of the node along each edge type that goes into it. */
static int report_in_edges(const struct looking *l, uint32_t ntype, uint64_t id,
                           struct tr_error *error)
{
    int rv = 0;
    for (uint32_t e = 0; e < l->info.num_etypes && rv == 0; e++) {
        struct tr_etype_info etype = TR_ETYPE_INFO_INIT;
        uint64_t degree;
        rv = tr_book_etype(l->book, e, &etype, error);
        if (rv != 0 || etype.dst_ntype != ntype)
            continue;
        rv = tr_graph_in_degrees(l->graph, e, &id, 1, TR_WAIT_FOREVER, &degree, error);
        if (rv != 0)
            continue;
        report_row(l->report, "in_edges");
        report_count(l->report, "node", "node", id);
        report_text(l->report, "type", "in-edges of type", etype.name);
        report_count(l->report, "edges", "edges", degree);
    }
    return rv;
}

static int add_node(struct count_list *nodes, uint64_t global, struct tr_error *error)
{
    if (nodes->count == OPTION_LIST_MAX)
        return tr_error_set(error, TR_ETOOBIG,
                            "--nodes and --own-ids: more than %d nodes; show some at a time",
                            OPTION_LIST_MAX);
    nodes->values[nodes->count++] = global;
    return 0;
}

/* Adds the nodes of a list with commas to those that are global IDs. A name with commas stands
 * alone. */
static int find_own_nodes(const struct looking *l, uint32_t ntype, struct count_list *nodes,
                          struct tr_error *error)
{
    struct own_ids own;
    uint64_t global;
    char *copy = strdup(l->ids->own_nodes), *rest = copy, *name;
    if (copy == NULL)
        return tr_error_set(error, TR_ENOMEM, "no memory for the IDs of nodes");
    int rv = own_ids_init(&own, l->book, ntype, error);
    if (rv == 0 && strchr(copy, ',') != NULL && own.named &&
        own_ids_find(&own, copy, &global, NULL) == 0) {
        rv = add_node(nodes, global, error);
        rest = NULL;
    }
    while (rv == 0 && (name = strsep(&rest, ",")) != NULL) {
        rv = own_ids_find(&own, name, &global, error);
        if (rv == 0)
            rv = add_node(nodes, global, error);
    }
    free(copy);
    return rv;
}

static int report_nodes(const struct looking *l, uint32_t ntype, struct tr_error *error)
{
    struct count_list all = l->ids->nodes;
    const struct count_list *nodes = &all;
    int rv = l->ids->own_nodes != NULL ? find_own_nodes(l, ntype, &all, error) : 0;
    for (uint32_t i = 0; i < nodes->count && rv == 0; i++)
        rv = report_node(l, ntype, nodes->values[i], error);
    for (uint32_t i = 0; i < nodes->count && rv == 0; i++)
        rv = report_in_edges(l, ntype, nodes->values[i], error);
    report_rows_end(l->report);
    return rv;
}

static int report_edge(const struct looking *l, uint32_t number, const struct tr_etype_info *etype,
                       uint64_t id, struct tr_error *error)
{
    uint64_t source, destination, from, to, original;
    uint32_t part;
    int rv = tr_book_edge_owners(l->book, number, &id, 1, &part, error);
    if (rv == 0)
        rv = tr_graph_find_edges(l->graph, number, &id, 1, TR_WAIT_FOREVER, &source, &destination,
                                 error);
    if (rv == 0)
        rv = original_node(l, etype->src_ntype, source, &from, error);
    if (rv == 0)
        rv = original_node(l, etype->dst_ntype, destination, &to, error);
    if (rv != 0)
        return rv;
    report_row(l->report, "edges");
    report_count(l->report, "edge", "edge", id);
    report_count(l->report, "source", "source", source);
    report_count(l->report, "destination", "destination", destination);
    report_count(l->report, "original_source", "original source", from);
    report_count(l->report, "original_destination", "original destination", to);
    rv = report_own_id(l, "own_source", "own source", etype->src_ntype, from, error);
    if (rv == 0)
        rv = report_own_id(l, "own_destination", "own destination", etype->dst_ntype, to, error);
    /* They need not be stored. */
    if (tr_book_original_edge_ids(l->book, number, id, 1, &original, NULL) == 0)
        report_count(l->report, "original_id", "original ID", original);
    report_count(l->report, "part", "partition", part);
    return rv;
}

static int report_edges(const struct looking *l, uint32_t number, struct tr_error *error)
{
    const struct count_list *edges = &l->ids->edges;
    struct tr_etype_info etype = TR_ETYPE_INFO_INIT;
    int rv = tr_book_etype(l->book, number, &etype, error);
    for (uint32_t i = 0; i < edges->count && rv == 0; i++)
        rv = report_edge(l, number, &etype, edges->values[i], error);
    report_rows_end(l->report);
    return rv;
}

/* What it is called, or the only one. */
static int find_types(const struct looking *l, uint32_t *ntype, uint32_t *etype,
                      struct tr_error *error)
{
    const struct inspect_ids *ids = l->ids;
    *ntype = *etype = 0;
    if ((ids->nodes.count > 0 || ids->own_nodes != NULL) && ids->node_type == NULL &&
        l->info.num_ntypes > 1)
        return tr_error_set(error, TR_EINVAL, "%s of which type? give --node-type",
                            ids->nodes.count > 0 ? "--nodes" : "--own-ids");
    if (ids->edges.count > 0 && ids->edge_type == NULL && l->info.num_etypes > 1)
        return tr_error_set(error, TR_EINVAL, "--edges of which type? give --edge-type");
    int rv = ids->node_type == NULL ? 0 : tr_book_find_ntype(l->book, ids->node_type, ntype, error);
    if (rv == 0 && ids->edge_type != NULL)
        rv = tr_book_find_etype(l->book, ids->edge_type, etype, error);
    return rv;
}

static int look_at_ids(struct looking *l, const char *path, struct tr_error *error)
{
    struct tr_session_options options;
    struct tr_session *session;
    uint32_t ntype, etype;
    tr_session_options_init(&options);
    options.loops = 1;
    options.map_files = true;
    int rv = find_types(l, &ntype, &etype, error);
    if (rv != 0)
        return rv;
    rv = tr_session_open(&options, &session, error);
    if (rv != 0)
        return rv;
    rv = tr_graph_open(session, path, TR_WAIT_FOREVER, &l->graph, error);
    if (rv == 0 && (l->ids->nodes.count > 0 || l->ids->own_nodes != NULL))
        rv = report_nodes(l, ntype, error);
    if (rv == 0 && l->ids->edges.count > 0)
        rv = report_edges(l, etype, error);
    tr_graph_close(l->graph);
    tr_session_close(session);
    return rv;
}

int inspect_ids(struct report *report, const char *path, const struct inspect_ids *ids,
                struct tr_error *error)
{
    struct looking l = { .report = report, .ids = ids, .info = TR_BOOK_INFO_INIT };
    int rv = tr_book_open(path, &l.book, error);
    if (rv != 0)
        return rv;
    rv = tr_book_info(l.book, &l.info, error);
    if (rv == 0)
        rv = look_at_ids(&l, path, error);
    tr_book_close(l.book);
    return rv;
}
