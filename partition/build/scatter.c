/* SPDX-License-Identifier: Apache-2.0 */
#include "partition/build/scatter.h"

#include <stdlib.h>

#include "partition/build/edge_stream.h"
#include "runtime/base/hotmem.h"

/* Destinations are shared out by lines of the next array, so that no two tasks write to one. */
#define SHARE_SHIFT 6
#define TASKS_MAX 16
/* Edges that are in flight to the cache at once: enough to hide a miss, few enough to stay in
 * L1. */
#define TILE 256

static void count_block(void *arg, const struct edge_block *block, size_t task)
{
    struct scatter *scatter = arg;
    uint32_t *degrees = task == 0 ? scatter->in_degrees
                                  : scatter->job->out_degrees[scatter->ntype_src];
    const uint64_t *ids = task == 0 ? block->dst : block->src;
    bool overflow = false;
    for (uint64_t i = 0; i < block->count; i++)
        overflow |= ++degrees[ids[i]] == 0;
    scatter->overflow[task] |= overflow;
}

static int check_degrees(const struct scatter *scatter, bool total, struct error *error)
{
    if (!scatter->overflow[0] && !scatter->overflow[1] && !total)
        return 0;
    char name[400];
    graph_types_canonical(&scatter->job->raw->types, scatter->etype, name, sizeof name);
    return error_set(error, TR_ETOOBIG,
                     "edge type %s: a node has 2^32 edges or more; degrees are 32-bit", name);
}

/* Adds this type's degrees to the job's, and its edges to those of their partitions. */
static int add_degrees(struct scatter *scatter, struct error *error)
{
    struct id_plan *plan = scatter->job->plan;
    uint32_t *total = scatter->job->in_degrees[scatter->ntype_dst];
    const uint32_t *parts = plan->parts[scatter->ntype_dst];
    uint64_t *counts = plan->edge_counts + (size_t)scatter->etype * plan->num_parts;
    bool overflow = false;
    for (uint64_t v = 0; v < scatter->num_dst; v++) {
        overflow |= __builtin_add_overflow(total[v], scatter->in_degrees[v], &total[v]);
        counts[parts[v]] += scatter->in_degrees[v];
    }
    return check_degrees(scatter, overflow, error);
}

static uint32_t count_tasks(size_t workers)
{
    uint32_t tasks = 1;
    while (tasks * 2 <= workers && tasks < TASKS_MAX)
        tasks *= 2;
    return tasks;
}

int scatter_count(struct scatter *scatter, struct partition_job *job, uint32_t etype,
                  struct error *error)
{
    const struct graph_etype *type = &job->raw->types.etypes[etype];
    *scatter = (struct scatter){ .job = job,
                                 .etype = etype,
                                 .ntype_src = type->src,
                                 .ntype_dst = type->dst,
                                 .num_edges = job->raw->num_edges[etype],
                                 .num_dst = job->raw->num_nodes[type->dst],
                                 .tasks = count_tasks(job->parallel->workers) };
    scatter->wide = scatter->num_edges > UINT32_MAX ||
                    job->raw->num_nodes[type->src] > job_columns_max(job->options);
    scatter->in_degrees = hotmem_alloc(scatter->num_dst * sizeof *scatter->in_degrees);
    if (scatter->in_degrees == NULL)
        return job_no_memory(error, "degrees", scatter->num_dst * sizeof *scatter->in_degrees);
    /* The degrees of this type alone come first, since its cells are placed by them; then they
     * are added to those of all types. */
    int rv = edge_stream_run(job, etype, "count edges", 2, count_block, scatter, error);
    return rv == 0 ? add_degrees(scatter, error) : rv;
}

/* Where each destination's cells begin: partitions one after the other, in each by original ID. */
static int start_cells(struct scatter *scatter, struct error *error)
{
    const struct id_plan *plan = scatter->job->plan;
    const uint32_t *parts = plan->parts[scatter->ntype_dst];
    const uint64_t *counts = plan->edge_counts + (size_t)scatter->etype * plan->num_parts;
    uint64_t *running = calloc(plan->num_parts, sizeof *running);
    scatter->next = hotmem_alloc(scatter->num_dst * sizeof *scatter->next);
    if (running == NULL || scatter->next == NULL) {
        free(running);
        return job_no_memory(error, "positions", scatter->num_dst * sizeof *scatter->next);
    }
    for (uint32_t part = 1; part < plan->num_parts; part++)
        running[part] = running[part - 1] + counts[part - 1];
    for (uint64_t v = 0; v < scatter->num_dst; v++) {
        scatter->next[v] = running[parts[v]];
        running[parts[v]] += scatter->in_degrees[v];
    }
    free(running);
    return 0;
}

struct tile {
    uint32_t count;
    uint32_t edges[TILE]; /* in the block */
    uint64_t positions[TILE];
};

/* The edges of [begin, end) whose destination is this task's. */
static void scatter_pick(struct tile *tile, const struct scatter *scatter, const uint64_t *dst,
                         uint64_t begin, uint64_t end, size_t task)
{
    uint64_t mask = scatter->tasks - 1;
    uint32_t count = 0;
    for (uint64_t i = begin; i < end; i++) {
        tile->edges[count] = (uint32_t)i;
        count += ((dst[i] >> SHARE_SHIFT) & mask) == task;
    }
    tile->count = count;
}

/* Three sweeps over a tile, each with the misses of the one before on their way. */
static void fill_block(void *arg, const struct edge_block *block, size_t task)
{
    struct scatter *scatter = arg;
    const struct id_plan *plan = scatter->job->plan;
    const uint32_t *map32 = plan->global32[scatter->ntype_src];
    const uint64_t *map64 = plan->global64[scatter->ntype_src];
    const uint64_t *src = block->src, *dst = block->dst;
    struct scatter_narrow *narrow = scatter->cells;
    struct scatter_wide *wide = scatter->cells;
    struct tile tile;
    for (uint64_t begin = 0; begin < block->count; begin += TILE) {
        uint64_t end = block->count - begin < TILE ? block->count : begin + TILE;
        scatter_pick(&tile, scatter, dst, begin, end, task);
        for (uint32_t j = 0; j < tile.count; j++) {
            __builtin_prefetch(&scatter->next[dst[tile.edges[j]]], 1);
            if (map32 != NULL)
                __builtin_prefetch(&map32[src[tile.edges[j]]]);
            else
                __builtin_prefetch(&map64[src[tile.edges[j]]]);
        }
        for (uint32_t j = 0; j < tile.count; j++) {
            uint64_t position = scatter->next[dst[tile.edges[j]]]++;
            tile.positions[j] = position;
            if (scatter->wide)
                __builtin_prefetch(&wide[position], 1);
            else
                __builtin_prefetch(&narrow[position], 1);
        }
        for (uint32_t j = 0; j < tile.count; j++) {
            uint64_t edge = block->first + tile.edges[j], source = src[tile.edges[j]];
            if (scatter->wide)
                wide[tile.positions[j]] = (struct scatter_wide){
                    .column = map32 != NULL ? map32[source] : map64[source], .edge = edge
                };
            else
                narrow[tile.positions[j]] = (struct scatter_narrow){ .column = map32[source],
                                                                     .edge = (uint32_t)edge };
            if (scatter->positions != NULL)
                scatter->positions[edge] = tile.positions[j];
        }
    }
}

int scatter_fill(struct scatter *scatter, bool positions, struct error *error)
{
    uint64_t bytes;
    int rv = start_cells(scatter, error);
    if (rv != 0)
        return rv;
    if (__builtin_mul_overflow(scatter->num_edges, scatter_cell_bytes(scatter), &bytes))
        return job_no_memory(error, "edges", UINT64_MAX);
    scatter->cells = hotmem_alloc(bytes);
    if (positions)
        scatter->positions = hotmem_alloc(scatter->num_edges * sizeof *scatter->positions);
    if (scatter->cells == NULL || (positions && scatter->positions == NULL))
        return job_no_memory(error, "edges", bytes);
    rv = edge_stream_run(scatter->job, scatter->etype, "place edges", scatter->tasks, fill_block,
                         scatter, error);
    hotmem_free(scatter->next, scatter->num_dst * sizeof *scatter->next);
    scatter->next = NULL;
    return rv;
}

void scatter_free_cells(struct scatter *scatter)
{
    hotmem_free(scatter->cells, scatter->num_edges * scatter_cell_bytes(scatter));
    scatter->cells = NULL;
}

void scatter_fini(struct scatter *scatter)
{
    scatter_free_cells(scatter);
    hotmem_free(scatter->in_degrees, scatter->num_dst * sizeof *scatter->in_degrees);
    hotmem_free(scatter->next, scatter->num_dst * sizeof *scatter->next);
    hotmem_free(scatter->positions, scatter->num_edges * sizeof *scatter->positions);
    *scatter = (struct scatter){ 0 };
}
