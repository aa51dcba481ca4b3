/* SPDX-License-Identifier: Apache-2.0 */
/* Edges by rank: the runs of an edge type, cut into the partitions' slices. */
#include <stdlib.h>

#include "graph/edge_runs.h"
#include "partition/build/write.h"
#include "partition/store/part_files.h"

/* How many nodes pass between two looks at whether somebody cancelled. */
#define STEP_NODES ((uint64_t)1 << 20)

/* One way through all runs: first they are counted, as a file says how many it has, then
 * written. */
struct run_pass {
    struct partition_job *job;
    uint32_t etype;
    uint32_t opened;          /* slices */
    uint64_t *counts;         /* [num_parts], of runs */
    struct npy_writer writer; /* of the slice that was opened last */
};

static int count_run(void *arg, uint32_t part, const struct edge_run *run, struct error *error)
{
    struct run_pass *pass = arg;
    (void)run, (void)error;
    pass->counts[part]++;
    return 0;
}

static int finish_slice(struct run_pass *pass, struct error *error)
{
    int rv = pass->opened == 0
                 ? 0
                 : job_finish_array(pass->job, pass->opened - 1, &pass->writer, error);
    npy_writer_close(&pass->writer);
    pass->writer = (struct npy_writer){ 0 };
    return rv;
}

/* Finishes the slice that is open, and opens the next one. */
static int next_slice(struct run_pass *pass, struct error *error)
{
    struct partition_job *job = pass->job;
    int rv = finish_slice(pass, error);
    if (rv != 0)
        return rv;
    const uint64_t shape[] = { pass->counts[pass->opened], 2 };
    char *path = job_path(job, pass->opened,
                          part_file_edge(&job->raw->types, pass->etype, PART_EDGE_RUNS));
    rv = path == NULL ? job_no_memory(error, "a file's name", 0)
                      : npy_create(&pass->writer, job->files, path, "<u8", 2, shape, error);
    free(path);
    pass->opened += rv == 0;
    return rv;
}

static int write_run(void *arg, uint32_t part, const struct edge_run *run, struct error *error)
{
    struct run_pass *pass = arg;
    int rv = 0;
    /* Slices may be empty: several are gone through. */
    while (rv == 0 && pass->opened <= part)
        rv = next_slice(pass, error);
    return rv != 0 ? rv : npy_append(&pass->writer, run, sizeof *run, error);
}

/* Nodes by original ID; next[part]: the global ID of the first edge of the part's next node. */
static int make_runs(struct run_pass *pass, const uint32_t *in_degrees, uint64_t *next,
                     edge_run_visit *visit, struct error *error)
{
    struct partition_job *job = pass->job;
    const struct id_plan *plan = job->plan;
    uint32_t ntype = job->raw->types.etypes[pass->etype].dst;
    const uint64_t *counts = plan->edge_counts + (size_t)pass->etype * plan->num_parts;
    uint64_t num_nodes = job->raw->num_nodes[ntype], before = 0;
    int rv = 0;
    for (uint32_t p = 0; p < plan->num_parts; p++) {
        next[p] = before;
        before += counts[p];
    }
    struct edge_run_maker maker = edge_run_maker_begin(before, plan->num_parts);
    for (uint64_t v = 0; v < num_nodes && rv == 0; v++) {
        uint64_t *first = &next[plan->parts[ntype][v]];
        if (v % STEP_NODES == 0)
            rv = job_step(job, "edge runs", v, num_nodes, error);
        if (rv == 0)
            rv = edge_run_maker_add(&maker, *first, in_degrees[v], visit, pass, error);
        *first += in_degrees[v];
    }
    return rv;
}

int write_edge_runs(struct partition_job *job, uint32_t etype, const uint32_t *in_degrees,
                    struct error *error)
{
    uint32_t num_parts = job->plan->num_parts;
    struct run_pass pass = { .job = job, .etype = etype };
    uint64_t *next = calloc(num_parts, sizeof *next);
    pass.counts = calloc(num_parts, sizeof *pass.counts);
    int rv = next == NULL || pass.counts == NULL ? job_no_memory(error, "the runs of edges", 0) : 0;
    if (rv == 0)
        rv = make_runs(&pass, in_degrees, next, count_run, error);
    if (rv == 0)
        rv = make_runs(&pass, in_degrees, next, write_run, error);
    while (rv == 0 && pass.opened < num_parts)
        rv = next_slice(&pass, error);
    if (rv == 0)
        rv = finish_slice(&pass, error);
    npy_writer_close(&pass.writer);
    free(pass.counts);
    free(next);
    return rv;
}
