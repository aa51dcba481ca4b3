/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The topology of one edge type. The edges are counted, which gives the index of each row; then
 * they are sorted into cells in the order of their per-type global IDs (scatter.h), from which
 * columns and original edge IDs are written.
 */
#include "partition/build/write.h"

#include <stdlib.h>

#include "graph/edge_runs.h"
#include "partition/build/columns.h"
#include "partition/build/scatter.h"
#include "partition/build/write_set.h"
#include "partition/store/part_files.h"

/* How many nodes pass between two looks at whether somebody cancelled. */
#define STEP_NODES ((uint64_t)1 << 20)
/* Numbers that are taken out of cells at once: 1 MiB, which a file takes without another copy. */
#define PIECE ((uint64_t)1 << 18)

/* The kinds of numbers that a task writes from cells. */
enum { COLUMNS, EDGE_IDS, NUM_KINDS };

/* Takes one kind of number out of cells [begin, begin + count). */
static size_t edges_take(const struct scatter *scatter, int kind, uint64_t begin, uint64_t count,
                         const struct columns *columns, void *piece)
{
    const struct scatter_narrow *narrow = scatter->cells;
    const struct scatter_wide *wide = scatter->cells;
    uint32_t *small = piece;
    uint64_t *large = piece;
    if (kind == EDGE_IDS) {
        for (uint64_t i = 0; i < count; i++)
            large[i] = scatter->wide ? wide[begin + i].edge : narrow[begin + i].edge;
        return sizeof *large;
    }
    for (uint64_t i = 0; i < count; i++) {
        uint64_t column = scatter->wide ? wide[begin + i].column : narrow[begin + i].column;
        small[i] = columns == NULL ? (uint32_t)column : columns_find(columns, column);
    }
    return sizeof *small;
}

static int write_piecewise(struct scatter *scatter, int kind, uint64_t begin, uint64_t count,
                           const struct columns *columns, struct npy_writer *writer,
                           struct error *error)
{
    void *piece = malloc(PIECE * sizeof(uint64_t));
    int rv = piece == NULL ? job_no_memory(error, "a piece of edges", PIECE * 8) : 0;
    for (uint64_t done = 0; done < count && rv == 0; done += PIECE) {
        uint64_t n = count - done < PIECE ? count - done : PIECE;
        size_t item = edges_take(scatter, kind, begin + done, n, columns, piece);
        rv = npy_append(writer, piece, n * item, error);
    }
    free(piece);
    return rv;
}

/* The columns or the edge IDs of one partition, whose cells begin at begin. */
static int write_cells(struct scatter *scatter, uint32_t part, uint64_t begin, int kind, bool table,
                       struct error *error)
{
    struct partition_job *job = scatter->job;
    const struct graph_types *types = &job->raw->types;
    const uint64_t *counts = job->plan->edge_counts + (size_t)scatter->etype * job->plan->num_parts;
    struct npy_writer writer = { 0 };
    struct columns columns = { 0 };
    char *path = job_path(
        job, part,
        part_file_edge(types, scatter->etype, kind == COLUMNS ? PART_INDICES : PART_ORIGINAL_IDS));
    int rv = path == NULL ? job_no_memory(error, "a file's name", 0) : 0;
    /* The table of columns comes before the columns, which are numbers in it. */
    if (rv == 0 && table && kind == COLUMNS)
        rv = columns_init(&columns, scatter, part, begin, counts[part], error);
    if (rv == 0)
        rv = npy_create(&writer, job->files, path, kind == COLUMNS ? "<u4" : "<u8", 1,
                        &counts[part], error);
    if (rv == 0)
        rv = write_piecewise(scatter, kind, begin, counts[part],
                             table && kind == COLUMNS ? &columns : NULL, &writer, error);
    if (rv == 0)
        rv = job_finish_array(job, part, &writer, error);
    npy_writer_close(&writer);
    columns_fini(&columns);
    free(path);
    return rv;
}

struct writing {
    struct scatter *scatter;
    bool table;
    uint32_t first;                       /* partition */
    uint64_t begins[WRITE_SET_PARTS + 1]; /* of the partitions' cells, from first */
    struct error *errors;                 /* [WRITE_SET_PARTS * NUM_KINDS] */
};

static void write_task(void *arg, size_t index, size_t worker)
{
    struct writing *writing = arg;
    (void)worker;
    int kind = (int)(index % NUM_KINDS);
    if (kind == EDGE_IDS && writing->scatter->job->options->drop_edge_ids)
        return;
    struct error *error = &writing->errors[index];
    uint32_t at = (uint32_t)(index / NUM_KINDS);
    error->code = write_cells(writing->scatter, writing->first + at, writing->begins[at], kind,
                              writing->table, error);
}

/* Partitions in groups, so that buffers are bounded and cancelling is heard. */
static int write_all_cells(struct scatter *scatter, bool table, struct error *error)
{
    const struct id_plan *plan = scatter->job->plan;
    uint32_t num_parts = plan->num_parts;
    const uint64_t *counts = plan->edge_counts + (size_t)scatter->etype * num_parts;
    struct writing writing = { .scatter = scatter, .table = table };
    writing.errors = calloc(WRITE_SET_PARTS * NUM_KINDS, sizeof *writing.errors);
    int rv = writing.errors == NULL ? job_no_memory(error, "the files of edges", 0) : 0;
    for (; writing.first < num_parts && rv == 0; writing.first += WRITE_SET_PARTS) {
        uint32_t left = num_parts - writing.first;
        uint32_t group = left < WRITE_SET_PARTS ? left : WRITE_SET_PARTS;
        size_t tasks = (size_t)group * NUM_KINDS;
        for (uint32_t i = 0; i < group; i++)
            writing.begins[i + 1] = writing.begins[i] + counts[writing.first + i];
        rv = job_step(scatter->job, "write edges", writing.first, num_parts, error);
        if (rv == 0)
            parallel_for(scatter->job->parallel, tasks, write_task, &writing);
        for (size_t i = 0; i < tasks && rv == 0; i++) {
            rv = writing.errors[i].code;
            if (rv != 0)
                error_set(error, rv, "%s", writing.errors[i].text);
        }
        writing.begins[0] = writing.begins[group];
    }
    free(writing.errors);
    return rv;
}

/* Rows of index and edge_rank, in the order of original IDs. */
static int append_index(struct write_set *index, struct write_set *rank,
                        const struct scatter *scatter, uint64_t *running, struct error *error)
{
    const uint32_t *parts = scatter->job->plan->parts[scatter->ntype_dst];
    uint64_t before = 0;
    int rv = 0;
    for (uint64_t v = 0; v < scatter->num_dst && rv == 0; v++) {
        if (v % STEP_NODES == 0)
            rv = job_step(scatter->job, "index", v, scatter->num_dst, error);
        if (rv == 0 && write_set_has(index, parts[v])) {
            running[parts[v]] += scatter->in_degrees[v];
            rv = write_set_append(index, parts[v], &running[parts[v]], sizeof *running, error);
            if (rv == 0)
                rv = write_set_append(rank, parts[v], &before, sizeof before, error);
        }
        before += scatter->in_degrees[v];
    }
    return rv;
}

static int open_index(struct write_set *index, struct write_set *rank,
                      const struct scatter *scatter, uint32_t first, uint32_t count,
                      struct error *error)
{
    static const uint64_t zero;
    struct partition_job *job = scatter->job;
    const struct graph_types *types = &job->raw->types;
    uint64_t rows[WRITE_SET_PARTS], bounds[WRITE_SET_PARTS];
    for (uint32_t i = 0; i < count; i++) {
        rows[i] =
            job->plan->node_counts[(size_t)scatter->ntype_dst * job->plan->num_parts + first + i];
        bounds[i] = rows[i] + 1;
    }
    char *index_name = part_file_edge(types, scatter->etype, PART_INDEX);
    char *rank_name = part_file_edge(types, scatter->etype, PART_EDGE_RANK);
    int rv = index_name == NULL || rank_name == NULL
                 ? job_no_memory(error, "a file's name", 0)
                 : write_set_open(index, job, index_name, "<u8", 0, NULL, first, count, bounds,
                                  error);
    if (rv == 0)
        rv = write_set_open(rank, job, rank_name, "<u8", 0, NULL, first, count, rows, error);
    for (uint32_t i = 0; i < count && rv == 0; i++)
        rv = write_set_append(index, first + i, &zero, sizeof zero, error);
    free(index_name);
    free(rank_name);
    return rv;
}

static int write_index(const struct scatter *scatter, struct error *error)
{
    uint32_t num_parts = scatter->job->plan->num_parts;
    struct write_set *sets = calloc(2, sizeof *sets);
    uint64_t *running = calloc(num_parts, sizeof *running);
    int rv = sets == NULL || running == NULL ? job_no_memory(error, "the index", 0) : 0;
    for (uint32_t first = 0; first < num_parts && rv == 0; first += WRITE_SET_PARTS) {
        uint32_t left = num_parts - first;
        rv = open_index(&sets[0], &sets[1], scatter, first,
                        left < WRITE_SET_PARTS ? left : WRITE_SET_PARTS, error);
        if (rv == 0)
            rv = append_index(&sets[0], &sets[1], scatter, running, error);
        /* The files are closed before the next group is opened, so that few are open at once. */
        for (int i = 0; i < 2; i++) {
            if (rv == 0)
                rv = write_set_finish(&sets[i], error);
            write_set_close(&sets[i]);
        }
    }
    free(running);
    free(sets);
    return rv;
}

static int write_all_rows(struct scatter *scatter, struct error *error)
{
    const struct raw_graph *raw = scatter->job->raw;
    int rv = 0;
    for (uint32_t i = 0; i < raw->num_tables && rv == 0; i++) {
        if (raw->tables[i].on_edges && raw->tables[i].type == scatter->etype)
            rv = write_edge_rows(scatter->job, i, scatter->positions, error);
    }
    return rv;
}

int write_edges(struct partition_job *job, uint32_t etype, bool *column_table, struct error *error)
{
    struct scatter scatter;
    uint64_t sources = job->raw->num_nodes[job->raw->types.etypes[etype].src];
    *column_table = sources > job_columns_max(job->options);
    int rv = scatter_count(&scatter, job, etype, error);
    if (rv == 0)
        rv = write_index(&scatter, error);
    if (rv == 0 && edge_runs_may_be(scatter.num_edges, job->plan->num_parts))
        rv = write_edge_runs(job, etype, scatter.in_degrees, error);
    if (rv == 0)
        rv = scatter_fill(&scatter, job->options->out_edges || raw_has_edge_rows(job->raw, etype),
                          error);
    if (rv == 0)
        rv = write_all_cells(&scatter, *column_table, error);
    /* The cells are freed before the rows, which take memory of their own and need the positions
     * alone. */
    scatter_free_cells(&scatter);
    if (rv == 0 && job->options->out_edges)
        rv = write_out_edges(job, etype, scatter.positions, error);
    if (rv == 0)
        rv = write_all_rows(&scatter, error);
    scatter_fini(&scatter);
    return rv;
}
