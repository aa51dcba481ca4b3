/* SPDX-License-Identifier: Apache-2.0 */
#include "model/report/graph_facts.h"

#include <stdlib.h>
#include <string.h>

#include <troupe/book.h>
#include <troupe/graph.h>
#include <troupe/part.h>
#include <troupe/session.h>

/* Opening maps files, and asks nobody: longer than that it takes on a disk that hangs. */
#define OPEN_NS INT64_C(60000000000)

/* Edges that are counted between two looks whether the task is cancelled. */
#define LOOK_EDGES (UINT64_C(1) << 22)

/* Counts edges among those from `begin` to `end`. */
static uint64_t count_foreign(const struct tr_part_edges *edges, const struct tr_range *own,
                              uint64_t begin, uint64_t end)
{
    uint64_t foreign = 0;
    for (uint64_t e = begin; e < end; e++) {
        uint64_t source = edges->source_ids != NULL ? edges->source_ids[edges->sources[e]]
                                                    : edges->sources[e];
        foreign += source < own->begin || source >= own->end;
    }
    return foreign;
}

/* Adds the edges of one type into one partition whose source is another's. */
static int count_cut(struct graph_facts *facts, const struct tr_graph *graph,
                     const struct tr_book *book, uint32_t etype, uint32_t part,
                     struct tr_task *task)
{
    struct tr_etype_info type = TR_ETYPE_INFO_INIT;
    struct tr_part_edges edges = TR_PART_EDGES_INIT;
    struct tr_range own = { 0, 0 };
    int rv = tr_book_etype(book, etype, &type, NULL);
    if (rv == 0)
        rv = tr_book_node_range(book, type.src_ntype, part, &own, NULL);
    if (rv == 0)
        rv = tr_graph_part_edges(graph, part, etype, &edges, NULL);
    for (uint64_t e = 0; e < edges.num_edges && rv == 0; e += LOOK_EDGES) {
        uint64_t left = edges.num_edges - e;
        uint64_t end = e + (left < LOOK_EDGES ? left : LOOK_EDGES);
        facts->cut[part] += count_foreign(&edges, &own, e, end);
        facts->counted += end - e;
        tr_task_report(task, "counting edges between partitions", "edges", facts->counted,
                       facts->num_edges);
        rv = tr_task_is_cancelled(task) ? TR_ECANCELED : 0;
    }
    return rv;
}

static int count_all_cuts(struct graph_facts *facts, const struct tr_book *book,
                          uint32_t num_etypes, struct tr_task *task)
{
    struct tr_session_options options;
    struct tr_session *session = NULL;
    struct tr_graph *graph = NULL;
    tr_session_options_init(&options);
    options.servers = options.samplers = options.loops = 1;
    options.map_files = true;
    int rv = tr_session_open(&options, &session, NULL);
    if (rv == 0)
        rv = tr_graph_open(session, facts->path, OPEN_NS, &graph, NULL);
    for (uint32_t p = 0; p < facts->num_parts; p++)
        for (uint32_t t = 0; t < num_etypes && rv == 0; t++)
            rv = count_cut(facts, graph, book, t, p, task);
    tr_graph_close(graph);
    tr_session_close(session);
    return rv;
}

static int take_info(struct graph_facts *facts, const struct tr_book_info *info,
                     struct tr_error *error)
{
    size_t parts = info->num_parts;
    facts->name = strdup(info->graph_name);
    facts->method = strdup(info->method);
    facts->num_nodes = info->num_nodes;
    facts->num_edges = info->num_edges;
    facts->node_balance = info->node_balance;
    facts->edge_balance = info->edge_balance;
    facts->num_parts = info->num_parts;
    facts->halo_hops = info->halo_hops;
    facts->nodes = calloc(parts + 1, sizeof *facts->nodes);
    facts->edges = calloc(parts + 1, sizeof *facts->edges);
    facts->halo = calloc(parts + 1, sizeof *facts->halo);
    facts->cut = calloc(parts + 1, sizeof *facts->cut);
    if (!facts->name || !facts->method || !facts->nodes || !facts->edges || !facts->halo ||
        !facts->cut)
        return tr_error_set(error, TR_ENOMEM, "%s: no memory for its partitions", facts->path);
    return 0;
}

int graph_facts_read(struct graph_facts *facts, const char *path, struct tr_task *task,
                     struct tr_error *error)
{
    struct tr_book_info info = TR_BOOK_INFO_INIT;
    struct tr_book *book;
    *facts = (struct graph_facts){ 0 };
    int rv = tr_book_open(path, &book, error);
    if (rv != 0)
        return rv;
    facts->path = strdup(path);
    rv = facts->path == NULL ? tr_error_set(error, TR_ENOMEM, "%s: no memory", path)
                             : tr_book_info(book, &info, error);
    if (rv == 0)
        rv = take_info(facts, &info, error);
    for (uint32_t p = 0; p < facts->num_parts && rv == 0; p++) {
        struct tr_part_info part = TR_PART_INFO_INIT;
        rv = tr_book_part(book, p, &part, error);
        facts->nodes[p] = part.num_nodes;
        facts->edges[p] = part.num_edges;
        facts->halo[p] = part.halo_nodes;
    }
    if (rv == 0 && (info.num_edges > CUT_EDGES_MAX ||
                    count_all_cuts(facts, book, info.num_etypes, task) != 0)) {
        free(facts->cut);
        facts->cut = NULL;
    }
    tr_book_close(book);
    if (rv != 0)
        graph_facts_free(facts);
    return rv;
}

void graph_facts_free(struct graph_facts *facts)
{
    free(facts->path);
    free(facts->name);
    free(facts->method);
    free(facts->nodes);
    free(facts->edges);
    free(facts->halo);
    free(facts->cut);
    *facts = (struct graph_facts){ 0 };
}
