/* SPDX-License-Identifier: Apache-2.0 */
/* The part of a graph that a process has: the book and what it says of tables, its own partitions
 * in memory, and those that others on its host serve as mapped files. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "api/internal.h"
#include "api/log_queue.h"
#include "runtime/core/crew.h"
#include "runtime/core/log.h"

static int fill_meta(struct tr_graph *graph, const char *path, struct error *error)
{
    const struct book_file *file = store_book_file(graph->store);
    const struct graph_types *types = &graph->book->types;
    int rv = graph_meta_create(&graph->meta, types->num_ntypes, types->num_etypes);
    /* First those of nodes, whose numbers no table of edges changes. */
    for (uint32_t i = 0; i < 2 * file->num_tables && rv == 0; i++) {
        bool on_edges = i >= file->num_tables;
        const struct book_table *table = &file->tables[i % file->num_tables];
        uint64_t width;
        size_t row_bytes = book_table_row_bytes(table, &width);
        if (table->on_edges == on_edges)
            rv = graph_meta_add_table(&graph->meta, on_edges, table->type, table->name,
                                      table->dtype, width, row_bytes);
        if (rv == 0 && table->on_edges == on_edges && table->form == TABLE_CSR)
            graph_meta_set_csr(&graph->meta, table->type, table->row_nnz_max, table->has_values);
    }
    for (uint32_t e = 0; e < types->num_etypes && rv == 0; e++)
        if (file->column_tables[e])
            graph_meta_set_wide(&graph->meta, types->etypes[e].src);
    return rv == 0 ? 0 : error_set(error, rv, "%s: no memory for the list of tables", path);
}

static bool is_own(const struct tr_graph *graph, uint32_t part)
{
    const struct plan_process *plays = graph_plays(graph);
    for (uint32_t i = 0; i < plays->num_parts; i++)
        if (plays->parts[i] == part)
            return true;
    return false;
}

/* Hosts of the cluster file that have one address are one machine. */
static bool is_same_machine(const struct tr_graph *graph, uint32_t a, uint32_t b)
{
    const struct cluster *cluster = &graph->session->cluster;
    if (a == b)
        return true;
    if (!graph->session->in_cluster || cluster->hosts[a].address == NULL ||
        cluster->hosts[b].address == NULL)
        return false;
    return strcmp(cluster->hosts[a].address, cluster->hosts[b].address) == 0;
}

uint32_t graph_processes_here(const struct tr_graph *graph)
{
    const struct plan *plan = graph->plan;
    uint32_t host = graph_plays(graph)->host, count = 0;
    for (uint32_t p = 0; p < plan->num_processes; p++)
        count += is_same_machine(graph, plan->processes[p].host, host);
    return count;
}

/* Whether another process of this machine serves it, whose files are then here too. */
static bool is_near(const struct tr_graph *graph, uint32_t part)
{
    const struct plan *plan = graph->plan;
    uint32_t host = graph_plays(graph)->host;
    for (uint32_t p = 0; p < plan->num_processes; p++)
        for (uint32_t i = 0; is_same_machine(graph, plan->processes[p].host, host) &&
                             i < plan->processes[p].num_parts;
             i++)
            if (plan->processes[p].parts[i] == part)
                return true;
    return false;
}

static enum partition_check check_of(const struct tr_graph *graph)
{
    return graph->session->options.verify_files ? PARTITION_CHECK_ALL : PARTITION_CHECK_COPIES;
}

static int load_part(struct tr_graph *graph, uint32_t part, const struct partition_load *what,
                     struct error *error)
{
    int rv = snapshots_load(graph->snapshots, graph->store, &part, 1, what, error);
    if (rv != 0)
        return rv;
    /* The partition is held, and given back with the graph, before it is checked: a failure below
     * leaves nothing behind. */
    graph->held[part] = snapshot_acquire(graph->snapshots, part, SNAPSHOT_NEWEST);
    graph->parts[part] = snapshot_part(graph->held[part]);
    return graph_meta_check_part(&graph->meta, graph->parts[part], error);
}

/* The reasons that end the reading of files: an interrupt, or the end of the caller's time. */
struct load_limit {
    const struct tr_graph *graph;
    uint64_t until_ns; /* of the monotonic clock; 0: none */
};

static uint64_t monotonic_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

static bool is_late(const struct load_limit *limit)
{
    return limit->until_ns != 0 && monotonic_ns() >= limit->until_ns;
}

static bool is_over(void *arg)
{
    const struct load_limit *limit = arg;
    return session_is_interrupted(limit->graph->session, limit->graph->seen) || is_late(limit);
}

static int load_parts(struct tr_graph *graph, const struct cancel *cancel, struct error *error)
{
    const struct tr_session_options *o = &graph->session->options;
    /* No helper threads, no harm: then this thread reads alone. */
    struct parallel *parallel = crew_parallel_create(o->loops - 1);
    struct partition_load what = { .check = check_of(graph),
                                   .features = true,
                                   .degrees = true,
                                   .ranks = true,
                                   .out_edges = true,
                                   .mapped_edge_ids = true,
                                   .parallel = parallel,
                                   .cancel = cancel };
    int rv = 0;
    for (uint32_t p = 0; p < graph->book->num_parts && rv == 0; p++) {
        bool own = is_own(graph, p);
        what.mode = own && !o->map_files ? PARTITION_COPY : PARTITION_MAP;
        if (!own && (!o->direct || !is_near(graph, p)))
            continue;
        if (cancel_asked(cancel)) {
            rv = error_set(error, TR_ECANCELED, "interrupted before partition %" PRIu32 " was read",
                           p);
            break;
        }
        rv = load_part(graph, p, &what, error);
        if (rv == TR_ENOENT && !own) /* its files are not to be seen from here: it is asked for */
            rv = 0;
    }
    crew_parallel_destroy(parallel);
    return rv;
}

int tr_graph_has_checksums(const struct tr_graph *graph)
{
    return store_has_checksums(graph->store);
}

static void note_unchecked(const struct tr_graph *graph, const char *path)
{
    const struct tr_session_options *o = &graph->session->options;
    char line[LOG_LINE_MAX];
    if (o->log == NULL || store_has_checksums(graph->store))
        return;
    snprintf(line, sizeof line,
             "%s: an older version wrote it without checksums: its files are "
             "loaded unchecked; partition again to have them",
             path);
    log_add(o->log, LOG_LEVEL_WARN, "files", line);
}

/* Original IDs of partitions that are not in memory, for samplers that draw by them. */
static int read_ids(void *arg, uint32_t ntype, uint64_t first, size_t count, uint64_t *ids,
                    struct error *error)
{
    return store_read_original_ids(arg, false, ntype, first, count, ids, error);
}

int graph_load(struct tr_graph *graph, const char *path, int64_t timeout_ns, struct error *error)
{
    int rv = store_open(path, &graph->store, error);
    if (rv != 0)
        return rv;
    note_unchecked(graph, path);
    graph->book = store_book(graph->store);
    /* The plan comes before the partitions, of which it says which are this process's. */
    rv = graph_make_plan(graph, error);
    if (rv != 0)
        return rv;
    size_t room = graph->book->num_parts + (size_t)1;
    rv = snapshots_create(graph->book, &graph->snapshots);
    if (rv == 0)
        snapshots_set_ids(graph->snapshots, read_ids, graph->store);
    graph->parts = calloc(room, sizeof *graph->parts);
    graph->held = calloc(room, sizeof *graph->held);
    if (rv != 0 || graph->parts == NULL || graph->held == NULL)
        return error_set(error, TR_ENOMEM, "%s: no memory for %u partitions", path,
                         graph->book->num_parts);
    rv = fill_meta(graph, path, error);
    if (rv != 0)
        return rv;
    struct load_limit limit = { .graph = graph };
    uint64_t now_ns = monotonic_ns();
    if (timeout_ns >= 0 && (uint64_t)timeout_ns < UINT64_MAX - now_ns)
        limit.until_ns = now_ns + (uint64_t)timeout_ns;
    const struct cancel cancel = { is_over, &limit };
    rv = load_parts(graph, &cancel, error);
    /* One hook ends the reading for both reasons; where both hold it is the interrupt. */
    if (rv == TR_ECANCELED && !session_is_interrupted(graph->session, graph->seen))
        return error_set(error, TR_ETIMEDOUT,
                         "%s: the deadline passed before all was read; give more time", path);
    return rv;
}

const struct graph_part *const *graph_parts(const struct tr_graph *graph)
{
    return graph->parts;
}

/* A call that maps files, and what the session had seen of interrupts when it began. */
struct map_call {
    const struct tr_session *session;
    unsigned seen;
};

static bool map_is_interrupted(void *arg)
{
    const struct map_call *call = arg;
    return session_is_interrupted(call->session, call->seen);
}

int graph_map_parts(struct tr_graph *graph, struct tr_error *error)
{
    struct map_call call = { .session = graph->session };
    const struct cancel cancel = { map_is_interrupted, &call };
    const struct partition_load what = { .mode = PARTITION_MAP,
                                         .check = check_of(graph),
                                         .features = true,
                                         .degrees = true,
                                         .ranks = true,
                                         .out_edges = true,
                                         .mapped_edge_ids = true,
                                         .cancel = &cancel };
    struct error why = { 0 };
    struct graph_port *port;
    int rv = session_mine(graph->session, error);
    if (rv == 0)
        rv = session_seen(graph->session, &call.seen);
    if (rv == 0)
        rv = graph_enter(graph, &port); /* nothing is taken down meanwhile */
    if (rv != 0)
        return graph_refused(graph, rv, error);
    pthread_mutex_lock(&graph->mapping);
    for (uint32_t p = 0; p < graph->book->num_parts && rv == 0; p++)
        if (graph->parts[p] == NULL)
            rv = load_part(graph, p, &what, &why);
    pthread_mutex_unlock(&graph->mapping);
    graph_leave(graph, port);
    if (rv == 0)
        return 0;
    if (rv == TR_ENOENT)
        error_prefix(&why, "every partition's files are needed here; put the graph's folder "
                           "where all hosts see it, or don't ask for exact results");
    return error_give(&why, error);
}
