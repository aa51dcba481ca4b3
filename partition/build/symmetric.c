/* SPDX-License-Identifier: Apache-2.0 */
#include "partition/build/symmetric.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "partition/build/edge_stream.h"
#include "runtime/base/hotmem.h"

/* Entries of rows that are cleaned by one index of the loop. */
#define ROWS_AT_ONCE ((uint64_t)1 << 15)
/* Edges that are in flight to the cache at once. */
#define TILE 128

int symmetric_check(const struct raw_graph *raw, struct error *error)
{
    uint64_t nodes = 0, edges = 0;
    for (uint32_t t = 0; t < raw->types.num_ntypes; t++)
        nodes += raw->num_nodes[t];
    for (uint32_t e = 0; e < raw->types.num_etypes; e++)
        edges += raw->num_edges[e];
    if (nodes < INT32_MAX && edges < INT32_MAX / 2)
        return 0;
    return error_set(
        error, TR_ETOOBIG,
        "METIS here has 32-bit indices: %" PRIu64 " nodes, and %" PRIu64
        " edges in both directions (counted twice, before doubles are found), must "
        "stay below %d each; use \"method\" random, or an assignment file that another "
        "program made",
        nodes, edges, INT32_MAX);
}

/* Building, one edge type after the other. */
struct building {
    struct symmetric *graph;
    uint64_t src_offset, dst_offset;
    uint32_t *out_degrees;
    int32_t *next[2]; /* by destination, by source: the next free entry of a node */
};

/* Task 0 counts what arrives at destinations, task 1 what leaves sources: they share nothing. */
static void count_block(void *arg, const struct edge_block *block, size_t task)
{
    struct building *building = arg;
    uint32_t *degrees = task == 0 ? building->graph->in_degrees : building->out_degrees;
    const uint64_t *ids = task == 0 ? block->dst : block->src;
    uint64_t offset = task == 0 ? building->dst_offset : building->src_offset;
    uint64_t apart = building->src_offset - building->dst_offset;
    for (uint64_t i = 0; i < block->count; i++)
        degrees[offset + ids[i]] += block->src[i] + apart != block->dst[i];
}

static void place_block(void *arg, const struct edge_block *block, size_t task)
{
    struct building *building = arg;
    const uint64_t *rows = task == 0 ? block->dst : block->src;
    const uint64_t *others = task == 0 ? block->src : block->dst;
    uint64_t row_offset = task == 0 ? building->dst_offset : building->src_offset;
    uint64_t other_offset = task == 0 ? building->src_offset : building->dst_offset;
    int32_t *next = building->next[task] + row_offset;
    int32_t *adjacency = building->graph->adjacency;
    int32_t places[TILE];
    for (uint64_t begin = 0; begin < block->count; begin += TILE) {
        uint64_t end = block->count - begin < TILE ? block->count : begin + TILE;
        for (uint64_t i = begin; i < end; i++)
            __builtin_prefetch(&next[rows[i]], 1);
        for (uint64_t i = begin; i < end; i++) {
            bool loop = rows[i] + row_offset == others[i] + other_offset;
            places[i - begin] = loop ? -1 : next[rows[i]]++;
            __builtin_prefetch(&adjacency[loop ? 0 : places[i - begin]], 1);
        }
        for (uint64_t i = begin; i < end; i++) {
            if (places[i - begin] >= 0)
                adjacency[places[i - begin]] = (int32_t)(others[i] + other_offset);
        }
    }
}

static int stream_all(struct building *building, struct partition_job *job, const char *stage,
                      void (*body)(void *arg, const struct edge_block *block, size_t task),
                      struct error *error)
{
    const struct graph_types *types = &job->raw->types;
    int rv = 0;
    for (uint32_t e = 0; e < types->num_etypes && rv == 0; e++) {
        building->src_offset = building->graph->offsets[types->etypes[e].src];
        building->dst_offset = building->graph->offsets[types->etypes[e].dst];
        rv = edge_stream_run(job, e, stage, 2, body, building, error);
    }
    return rv;
}

/* Rows hold the sources of in-edges, then the destinations of out-edges. */
static void start_rows(struct building *building)
{
    struct symmetric *graph = building->graph;
    uint64_t total = 0;
    for (uint64_t v = 0; v < graph->num_nodes; v++) {
        graph->index[v] = (int32_t)total;
        building->next[0][v] = (int32_t)total;
        total += graph->in_degrees[v];
        building->next[1][v] = (int32_t)total;
        total += building->out_degrees[v];
    }
    graph->index[graph->num_nodes] = (int32_t)total;
    graph->room = total;
}

struct cleaning {
    struct symmetric *graph;
    uint32_t **marks; /* [workers][num_nodes]: the last row + 1 that had the node */
    int32_t *kept;    /* [num_nodes] entries that are left of a row, at its begin */
};

static void clean_rows(void *arg, size_t index, size_t worker)
{
    struct cleaning *cleaning = arg;
    struct symmetric *graph = cleaning->graph;
    uint32_t *marks = cleaning->marks[worker];
    uint64_t begin = index * ROWS_AT_ONCE, left = graph->num_nodes - begin;
    uint64_t end = begin + (left < ROWS_AT_ONCE ? left : ROWS_AT_ONCE);
    for (uint64_t row = begin; row < end; row++) {
        int32_t to = graph->index[row];
        for (int32_t i = graph->index[row]; i < graph->index[row + 1]; i++) {
            int32_t other = graph->adjacency[i];
            bool fresh = marks[other] != row + 1;
            marks[other] = (uint32_t)row + 1;
            graph->adjacency[to] = other;
            to += fresh;
        }
        cleaning->kept[row] = to - graph->index[row];
    }
}

/* Closes the gaps that dropped duplicates left. */
static void symmetric_compact(struct symmetric *graph, const int32_t *kept)
{
    int32_t to = 0;
    for (uint64_t row = 0; row < graph->num_nodes; row++) {
        int32_t from = graph->index[row];
        memmove(graph->adjacency + to, graph->adjacency + from,
                (size_t)kept[row] * sizeof *graph->adjacency);
        graph->index[row] = to;
        to += kept[row];
    }
    graph->index[graph->num_nodes] = to;
    graph->num_entries = (uint64_t)to;
}

/* kept: an array of num_nodes that is no longer used. */
static int symmetric_clean(struct symmetric *graph, struct partition_job *job, int32_t *kept,
                           struct error *error)
{
    size_t workers = job->parallel->workers, bytes = graph->num_nodes * sizeof(uint32_t);
    struct cleaning cleaning = { .graph = graph, .kept = kept };
    int rv = 0;
    cleaning.marks = calloc(workers, sizeof *cleaning.marks);
    for (size_t w = 0; cleaning.marks != NULL && w < workers && rv == 0; w++) {
        cleaning.marks[w] = hotmem_alloc(bytes);
        rv = cleaning.marks[w] == NULL ? job_no_memory(error, "finding duplicates", bytes) : 0;
    }
    if (cleaning.marks == NULL)
        rv = job_no_memory(error, "finding duplicates", bytes);
    /* Whether somebody cancelled is asked before the loop, which does not ask. */
    if (rv == 0)
        rv = job_step(job, "drop duplicates", 0, 0, error);
    if (rv == 0) {
        parallel_for(job->parallel, (size_t)((graph->num_nodes + ROWS_AT_ONCE - 1) / ROWS_AT_ONCE),
                     clean_rows, &cleaning);
        symmetric_compact(graph, kept);
    }
    for (size_t w = 0; cleaning.marks != NULL && w < workers; w++)
        hotmem_free(cleaning.marks[w], bytes);
    free(cleaning.marks);
    return rv;
}

static int symmetric_build(struct symmetric *graph, struct building *building,
                           struct partition_job *job, struct error *error)
{
    int rv = stream_all(building, job, "count edges for METIS", count_block, error);
    if (rv != 0)
        return rv;
    start_rows(building);
    graph->adjacency = hotmem_alloc(graph->room * sizeof *graph->adjacency);
    if (graph->adjacency == NULL)
        return job_no_memory(error, "the symmetric graph", graph->room * 4);
    rv = stream_all(building, job, "place edges for METIS", place_block, error);
    return rv == 0 ? symmetric_clean(graph, job, building->next[0], error) : rv;
}

int symmetric_init(struct symmetric *graph, struct partition_job *job, struct error *error)
{
    const struct raw_graph *raw = job->raw;
    *graph = (struct symmetric){ 0 };
    graph->offsets = calloc(raw->types.num_ntypes + 1, sizeof *graph->offsets);
    if (graph->offsets == NULL)
        return job_no_memory(error, "the symmetric graph", 0);
    for (uint32_t t = 0; t < raw->types.num_ntypes; t++) {
        graph->offsets[t] = graph->num_nodes;
        graph->num_nodes += raw->num_nodes[t];
    }
    size_t bytes = (size_t)(graph->num_nodes + 1) * sizeof(uint32_t);
    struct building building = { .graph = graph, .out_degrees = hotmem_alloc(bytes) };
    graph->index = hotmem_alloc(bytes);
    graph->in_degrees = hotmem_alloc(bytes);
    building.next[0] = hotmem_alloc(bytes);
    building.next[1] = hotmem_alloc(bytes);
    int rv = graph->index == NULL || graph->in_degrees == NULL || building.out_degrees == NULL ||
                     building.next[0] == NULL || building.next[1] == NULL
                 ? job_no_memory(error, "the symmetric graph", 5 * bytes)
                 : symmetric_build(graph, &building, job, error);
    hotmem_free(building.out_degrees, bytes);
    hotmem_free(building.next[0], bytes);
    hotmem_free(building.next[1], bytes);
    return rv;
}

void symmetric_free_edges(struct symmetric *graph)
{
    hotmem_free(graph->index, (size_t)(graph->num_nodes + 1) * sizeof *graph->index);
    hotmem_free(graph->adjacency, graph->room * sizeof *graph->adjacency);
    graph->index = NULL;
    graph->adjacency = NULL;
}

void symmetric_fini(struct symmetric *graph)
{
    symmetric_free_edges(graph);
    hotmem_free(graph->in_degrees, (size_t)(graph->num_nodes + 1) * sizeof *graph->in_degrees);
    free(graph->offsets);
    *graph = (struct symmetric){ 0 };
}
