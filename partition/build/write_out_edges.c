/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The out-edges of one edge type, with their sources' owners: a counting sort by source, into which
 * edges come in the order of their IDs, so that those of a source stand in that order.
 *
 * Memory: 12 bytes an edge, beside the 8 of the edges' positions, which the caller holds.
 */
#include <stdlib.h>

#include "partition/build/edge_stream.h"
#include "partition/build/write.h"
#include "partition/build/write_set.h"
#include "partition/store/part_files.h"
#include "runtime/base/hotmem.h"

/* How many nodes pass between two looks at whether somebody cancelled. */
#define STEP_NODES ((uint64_t)1 << 20)

struct out_sort {
    struct partition_job *job;
    uint32_t etype, ntype_src, ntype_dst;
    uint64_t num_src, num_edges;
    const uint64_t *positions; /* [num_edges] by original edge ID */
    uint32_t *degrees;         /* [num_src] by original ID, of this edge type */
    uint64_t *next;            /* [num_src], the source's next free place */
    uint64_t *edge_ids;        /* [num_edges] by place */
    uint32_t *destinations;    /* [num_edges] by place */
};

static void count_block(void *arg, const struct edge_block *block, size_t task)
{
    struct out_sort *sort = arg;
    (void)task;
    /* That none overflows was found when the degrees over all types were counted. */
    for (uint64_t i = 0; i < block->count; i++)
        sort->degrees[block->src[i]]++;
}

static void fill_block(void *arg, const struct edge_block *block, size_t task)
{
    struct out_sort *sort = arg;
    const uint32_t *global = sort->job->plan->global32[sort->ntype_dst];
    (void)task;
    for (uint64_t i = 0; i < block->count; i++) {
        uint64_t place = sort->next[block->src[i]]++;
        sort->edge_ids[place] = sort->positions[block->first + i];
        sort->destinations[place] = global[block->dst[i]];
    }
}

/* Where each source's places begin: partitions one after the other, in each by original ID. Counts
 * those of partitions in the plan. */
static int start_places(struct out_sort *sort, struct error *error)
{
    const struct id_plan *plan = sort->job->plan;
    const uint32_t *parts = plan->parts[sort->ntype_src];
    uint64_t *counts = plan->out_counts + (size_t)sort->etype * plan->num_parts, before = 0;
    uint64_t *running = calloc(plan->num_parts, sizeof *running);
    if (running == NULL)
        return job_no_memory(error, "the out-edges of partitions", 0);
    for (uint64_t v = 0; v < sort->num_src; v++)
        counts[parts[v]] += sort->degrees[v];
    for (uint32_t part = 0; part < plan->num_parts; part++) {
        running[part] = before;
        before += counts[part];
    }
    for (uint64_t v = 0; v < sort->num_src; v++) {
        sort->next[v] = running[parts[v]];
        running[parts[v]] += sort->degrees[v];
    }
    free(running);
    return 0;
}

static int append_index(struct write_set *index, const struct out_sort *sort, uint64_t *running,
                        struct error *error)
{
    const uint32_t *parts = sort->job->plan->parts[sort->ntype_src];
    int rv = 0;
    for (uint64_t v = 0; v < sort->num_src && rv == 0; v++) {
        if (v % STEP_NODES == 0)
            rv = job_step(sort->job, "index out-edges", v, sort->num_src, error);
        if (rv == 0 && write_set_has(index, parts[v])) {
            running[parts[v]] += sort->degrees[v];
            rv = write_set_append(index, parts[v], &running[parts[v]], sizeof *running, error);
        }
    }
    return rv;
}

/* The index of the partitions from first on. */
static int write_some_index(const struct out_sort *sort, uint32_t first, uint32_t count,
                            struct write_set *index, uint64_t *running, struct error *error)
{
    static const uint64_t zero;
    const struct id_plan *plan = sort->job->plan;
    uint64_t bounds[WRITE_SET_PARTS];
    for (uint32_t i = 0; i < count; i++)
        bounds[i] = plan->node_counts[(size_t)sort->ntype_src * plan->num_parts + first + i] + 1;
    char *name = part_file_edge(&sort->job->raw->types, sort->etype, PART_OUT_INDEX);
    int rv = name == NULL ? job_no_memory(error, "a file's name", 0)
                          : write_set_open(index, sort->job, name, "<u8", 0, NULL, first, count,
                                           bounds, error);
    free(name);
    for (uint32_t i = 0; i < count && rv == 0; i++)
        rv = write_set_append(index, first + i, &zero, sizeof zero, error);
    if (rv == 0)
        rv = append_index(index, sort, running, error);
    if (rv == 0)
        rv = write_set_finish(index, error);
    write_set_close(index);
    return rv;
}

static int write_out_index(const struct out_sort *sort, struct error *error)
{
    uint32_t num_parts = sort->job->plan->num_parts;
    struct write_set *index = calloc(1, sizeof *index);
    uint64_t *running = calloc(num_parts, sizeof *running);
    int rv = index == NULL || running == NULL ? job_no_memory(error, "the index", 0) : 0;
    for (uint32_t first = 0; first < num_parts && rv == 0; first += WRITE_SET_PARTS) {
        uint32_t left = num_parts - first;
        rv = write_some_index(sort, first, left < WRITE_SET_PARTS ? left : WRITE_SET_PARTS, index,
                              running, error);
    }
    free(running);
    free(index);
    return rv;
}

/* One array of one partition, whose first place is given. */
static int write_array(const struct out_sort *sort, uint32_t part, const char *array,
                       const char *descr, const void *data, size_t bytes, uint64_t count,
                       struct error *error)
{
    struct partition_job *job = sort->job;
    struct npy_writer writer = { 0 };
    char *path = job_path(job, part, part_file_edge(&job->raw->types, sort->etype, array));
    int rv = path == NULL ? job_no_memory(error, "a file's name", 0)
                          : npy_create(&writer, job->files, path, descr, 1, &count, error);
    if (rv == 0)
        rv = npy_append(&writer, data, bytes * count, error);
    if (rv == 0)
        rv = job_finish_array(job, part, &writer, error);
    npy_writer_close(&writer);
    free(path);
    return rv;
}

static int write_places(const struct out_sort *sort, struct error *error)
{
    const struct id_plan *plan = sort->job->plan;
    const uint64_t *counts = plan->out_counts + (size_t)sort->etype * plan->num_parts;
    uint64_t first = 0;
    int rv = 0;
    for (uint32_t part = 0; part < plan->num_parts && rv == 0; part++) {
        rv = job_step(sort->job, "write out-edges", part, plan->num_parts, error);
        if (rv == 0)
            rv = write_array(sort, part, PART_OUT_DESTINATIONS, "<u4", sort->destinations + first,
                             sizeof *sort->destinations, counts[part], error);
        if (rv == 0)
            rv = write_array(sort, part, PART_OUT_EDGE_IDS, "<u8", sort->edge_ids + first,
                             sizeof *sort->edge_ids, counts[part], error);
        first += counts[part];
    }
    return rv;
}

static int sort_edges(struct out_sort *sort, struct error *error)
{
    int rv = edge_stream_run(sort->job, sort->etype, "count out-edges", 1, count_block, sort,
                             error);
    if (rv == 0)
        rv = start_places(sort, error);
    if (rv == 0)
        rv = edge_stream_run(sort->job, sort->etype, "place out-edges", 1, fill_block, sort, error);
    return rv;
}

int write_out_edges(struct partition_job *job, uint32_t etype, const uint64_t *positions,
                    struct error *error)
{
    const struct graph_etype *type = &job->raw->types.etypes[etype];
    struct out_sort sort = { .job = job,
                             .etype = etype,
                             .ntype_src = type->src,
                             .ntype_dst = type->dst,
                             .num_src = job->raw->num_nodes[type->src],
                             .num_edges = job->raw->num_edges[etype],
                             .positions = positions };
    size_t sources = (size_t)sort.num_src, edges = (size_t)sort.num_edges;
    sort.degrees = hotmem_alloc(sources * sizeof *sort.degrees);
    sort.next = hotmem_alloc(sources * sizeof *sort.next);
    sort.edge_ids = hotmem_alloc(edges * sizeof *sort.edge_ids);
    sort.destinations = hotmem_alloc(edges * sizeof *sort.destinations);
    int rv = sort.degrees == NULL || sort.next == NULL || sort.edge_ids == NULL ||
                     sort.destinations == NULL
                 ? job_no_memory(error, "out-edges", sort.num_edges * 12)
                 : sort_edges(&sort, error);
    if (rv == 0)
        rv = write_out_index(&sort, error);
    if (rv == 0)
        rv = write_places(&sort, error);
    hotmem_free(sort.degrees, sources * sizeof *sort.degrees);
    hotmem_free(sort.next, sources * sizeof *sort.next);
    hotmem_free(sort.edge_ids, edges * sizeof *sort.edge_ids);
    hotmem_free(sort.destinations, edges * sizeof *sort.destinations);
    return rv;
}
