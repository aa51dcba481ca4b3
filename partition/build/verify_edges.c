/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Verification of one edge type. The edges of the input, in the order of their IDs, are compared
 * each with the place where it must stand: the next one of its destination.
 *
 * Invariant: next[v] is the global edge ID at which the next edge into node v must stand. It begins
 * where the directory has the row of v; after the last edge it must be at the row's end.
 */
#include <stdlib.h>

#include "partition/build/edge_stream.h"
#include "partition/build/verify_private.h"
#include "partition/store/part_files.h"
#include "runtime/base/hotmem.h"

/* One edge type: where the next edge of each destination must stand. */
struct edge_check {
    struct verification *verification;
    uint32_t etype;
    const struct graph_etype *type;
    uint64_t *next;      /* [num_dst] by original ID: per-type global edge ID */
    uint64_t *positions; /* [num_edges] by original edge ID; NULL: nothing needs them */
    int rv;
};

/* Whether edge `edge` of the raw graph stands at global edge ID `at`. */
static int check_edge(struct edge_check *check, uint64_t edge, uint64_t src, uint64_t dst,
                      uint64_t at)
{
    struct verification *verification = check->verification;
    const struct graph_types *types = &verification->book->types;
    uint64_t owner_row = verification->global[check->type->dst][dst];
    uint32_t part = (uint32_t)book_node_owner(verification->book, check->type->dst, owner_row);
    const struct edge_part *edges = &verification->parts[part]->edges[check->etype];
    uint64_t row = owner_row - verification->parts[part]->nodes[check->type->dst].global_begin;
    uint64_t position = at - edges->csc.first_edge;
    if (position >= edges->csc.index[row + 1])
        return verify_differs(verification, part, part_file_edge(types, check->etype, PART_INDEX),
                              "the number of in-edges of row", row,
                              edges->csc.index[row + 1] - edges->csc.index[row],
                              position - edges->csc.index[row] + 1);
    uint64_t column = edges->csc.indices[position];
    uint64_t found = edges->csc.column_global == NULL ? column : edges->csc.column_global[column];
    uint64_t expected = verification->global[check->type->src][src];
    if (found != expected)
        return verify_differs(verification, part, part_file_edge(types, check->etype, PART_INDICES),
                              "the source of edge", position, found, expected);
    if (edges->original_edge_ids != NULL && edges->original_edge_ids[position] != edge)
        return verify_differs(verification, part,
                              part_file_edge(types, check->etype, PART_ORIGINAL_IDS), "element",
                              position, edges->original_edge_ids[position], edge);
    return 0;
}

static void check_block(void *arg, const struct edge_block *block, size_t task)
{
    struct edge_check *check = arg;
    struct verification *verification = check->verification;
    (void)task;
    for (uint64_t i = 0; i < block->count && check->rv == 0; i++) {
        uint64_t src = block->src[i], dst = block->dst[i], at = check->next[dst]++;
        verification->in_degrees[check->type->dst][dst]++;
        verification->out_degrees[check->type->src][src]++;
        check->rv = check_edge(check, block->first + i, src, dst, at);
        if (check->positions != NULL)
            check->positions[block->first + i] = at;
    }
}

/* Where the edges of each destination begin, as the directory has it. */
static void start_next(struct edge_check *check)
{
    struct verification *verification = check->verification;
    for (uint32_t p = 0; p < verification->book->num_parts; p++) {
        const struct csc *csc = &verification->parts[p]->edges[check->etype].csc;
        const uint64_t *originals = verification->parts[p]->nodes[check->type->dst].original_ids;
        for (uint64_t row = 0; row < csc->num_rows; row++)
            check->next[originals[row]] = csc->first_edge + csc->index[row];
    }
}

/* After all edges: rows must be used up, and ranks are the sums of in-degrees before. */
static int check_ends(struct edge_check *check)
{
    struct verification *verification = check->verification;
    const struct graph_types *types = &verification->book->types;
    uint64_t before = 0;
    for (uint64_t v = 0; v < verification->book->num_nodes[check->type->dst]; v++) {
        uint64_t global = verification->global[check->type->dst][v];
        uint32_t part = (uint32_t)book_node_owner(verification->book, check->type->dst, global);
        const struct edge_part *edges = &verification->parts[part]->edges[check->etype];
        uint64_t row = global - verification->parts[part]->nodes[check->type->dst].global_begin;
        uint64_t begin = edges->csc.index[row], count = edges->csc.index[row + 1] - begin;
        uint64_t used = check->next[v] - edges->csc.first_edge - begin;
        if (used != count)
            return verify_differs(verification, part,
                                  part_file_edge(types, check->etype, PART_INDEX),
                                  "the number of in-edges of row", row, count, used);
        if (edges->edge_rank[row] != before)
            return verify_differs(verification, part,
                                  part_file_edge(types, check->etype, PART_EDGE_RANK), "element",
                                  row, edges->edge_rank[row], before);
        before += count;
    }
    return 0;
}

/* The runs that there must be, one by one. */
struct run_check {
    struct edge_check *check;
    uint64_t *met; /* [num_parts], runs of the slices */
};

static int check_run(void *arg, uint32_t part, const struct edge_run *run, struct error *error)
{
    struct run_check *runs = arg;
    struct verification *verification = runs->check->verification;
    const struct graph_types *types = &verification->book->types;
    const struct edge_runs *slice = &verification->parts[part]->edges[runs->check->etype].runs;
    uint64_t at = runs->met[part]++;
    (void)error;
    if (at >= slice->num_runs)
        return verify_differs(verification, part,
                              part_file_edge(types, runs->check->etype, PART_EDGE_RUNS),
                              "the number of runs of partition", part, slice->num_runs, at + 1);
    if (slice->runs[at].rank != run->rank)
        return verify_differs(verification, part,
                              part_file_edge(types, runs->check->etype, PART_EDGE_RUNS), "element",
                              2 * at, slice->runs[at].rank, run->rank);
    if (slice->runs[at].edge != run->edge)
        return verify_differs(verification, part,
                              part_file_edge(types, runs->check->etype, PART_EDGE_RUNS), "element",
                              2 * at + 1, slice->runs[at].edge, run->edge);
    return 0;
}

/* Each slice has the runs that the index, which was compared with the input, makes, and no
 * others. */
static int check_runs(struct edge_check *check)
{
    struct verification *verification = check->verification;
    const struct book *book = verification->book;
    uint32_t dst = check->type->dst;
    struct run_check runs = { check, calloc(book->num_parts, sizeof *runs.met) };
    struct edge_run_maker maker = edge_run_maker_begin(book->num_edges[check->etype],
                                                       book->num_parts);
    int rv = runs.met == NULL ? job_no_memory(verification->error, "the runs of edges", 0) : 0;
    for (uint64_t v = 0; v < book->num_nodes[dst] && rv == 0; v++) {
        uint64_t global = verification->global[dst][v];
        const struct graph_part *part = verification->parts[book_node_owner(book, dst, global)];
        const struct csc *csc = &part->edges[check->etype].csc;
        uint64_t row = global - part->nodes[dst].global_begin;
        rv = edge_run_maker_add(&maker, csc->first_edge + csc->index[row],
                                csc->index[row + 1] - csc->index[row], check_run, &runs,
                                verification->error);
    }
    for (uint32_t p = 0; p < book->num_parts && rv == 0; p++) {
        uint64_t found = verification->parts[p]->edges[check->etype].runs.num_runs;
        if (found != runs.met[p])
            rv = verify_differs(verification, p,
                                part_file_edge(&book->types, check->etype, PART_EDGE_RUNS),
                                "the number of runs of partition", p, found, runs.met[p]);
    }
    free(runs.met);
    return rv;
}

static int check_all_rows(struct edge_check *check)
{
    const struct raw_graph *raw = check->verification->raw;
    int rv = 0;
    for (uint32_t i = 0; i < raw->num_tables && rv == 0; i++) {
        if (raw->tables[i].on_edges && raw->tables[i].type == check->etype)
            rv = verify_rows(check->verification, i, check->positions);
    }
    return rv;
}

int verify_edges(struct verification *verification, uint32_t etype)
{
    struct edge_check check = { .verification = verification,
                                .etype = etype,
                                .type = &verification->book->types.etypes[etype] };
    size_t next_bytes = (size_t)verification->book->num_nodes[check.type->dst] * sizeof(uint64_t);
    size_t position_bytes = (size_t)verification->book->num_edges[etype] * sizeof(uint64_t);
    bool out = verification->book->out_extents != NULL;
    bool rows = out || raw_has_edge_rows(verification->raw, etype);
    check.next = hotmem_alloc(next_bytes);
    check.positions = rows ? hotmem_alloc(position_bytes) : NULL;
    int rv = check.next == NULL || (rows && check.positions == NULL)
                 ? job_no_memory(verification->error, "positions of edges", position_bytes)
                 : 0;
    /* It is found first where edges must stand, then each edge is compared at its place, then no
     * row may have others too; the rows of tables come last, which are found by these places. */
    if (rv == 0) {
        start_next(&check);
        rv = edge_stream_run(&verification->job, etype, "edges", 1, check_block, &check,
                             verification->error);
    }
    if (rv == 0)
        rv = check.rv;
    if (rv == 0)
        rv = check_ends(&check);
    if (rv == 0 && book_has_edge_runs(verification->book, etype))
        rv = check_runs(&check);
    if (rv == 0)
        rv = check_all_rows(&check);
    if (rv == 0 && out)
        rv = verify_out_edges(verification, etype, check.positions);
    hotmem_free(check.next, next_bytes);
    hotmem_free(check.positions, position_bytes);
    return rv;
}
