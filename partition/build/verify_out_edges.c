/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Verification of the out-edges of one type. The edges of the input, in the order of their IDs, must
 * each stand at the next place of their source.
 *
 * Invariant: next[v] is the place at which the next edge out of node v must stand. After the last
 * edge it must be at the end of v's row.
 */
#include "partition/build/edge_stream.h"
#include "partition/build/verify_private.h"
#include "partition/store/part_files.h"
#include "runtime/base/hotmem.h"

struct out_check {
    struct verification *verification;
    uint32_t etype;
    const struct graph_etype *type;
    const uint64_t *positions; /* by original edge ID: the edge's global ID */
    uint64_t *next;            /* [num_src] by original ID, of the partition's positions */
    int rv;
};

static const struct out_edges *find_row(const struct out_check *check, uint64_t src, uint32_t *part,
                                        uint64_t *row)
{
    struct verification *verification = check->verification;
    uint64_t global = verification->global[check->type->src][src];
    *part = (uint32_t)book_node_owner(verification->book, check->type->src, global);
    *row = global - verification->parts[*part]->nodes[check->type->src].global_begin;
    return &verification->parts[*part]->edges[check->etype].out;
}

static int check_edge(struct out_check *check, uint64_t edge, uint64_t src, uint64_t dst)
{
    struct verification *verification = check->verification;
    const struct graph_types *types = &verification->book->types;
    uint32_t part;
    uint64_t row;
    const struct out_edges *out = find_row(check, src, &part, &row);
    uint64_t at = check->next[src]++;
    if (at >= out->index[row + 1])
        return verify_differs(verification, part,
                              part_file_edge(types, check->etype, PART_OUT_INDEX),
                              "the number of out-edges of row", row,
                              out->index[row + 1] - out->index[row], at - out->index[row] + 1);
    uint64_t expected = verification->global[check->type->dst][dst];
    if (out->destinations[at] != expected)
        return verify_differs(verification, part,
                              part_file_edge(types, check->etype, PART_OUT_DESTINATIONS), "element",
                              at, out->destinations[at], expected);
    if (out->edge_ids[at] != check->positions[edge])
        return verify_differs(verification, part,
                              part_file_edge(types, check->etype, PART_OUT_EDGE_IDS), "element", at,
                              out->edge_ids[at], check->positions[edge]);
    return 0;
}

static void check_block(void *arg, const struct edge_block *block, size_t task)
{
    struct out_check *check = arg;
    (void)task;
    for (uint64_t i = 0; i < block->count && check->rv == 0; i++)
        check->rv = check_edge(check, block->first + i, block->src[i], block->dst[i]);
}

/* Begins each row, or sees whether it was used up. */
static int visit_rows(struct out_check *check, bool end)
{
    struct verification *verification = check->verification;
    int rv = 0;
    for (uint64_t v = 0; v < verification->book->num_nodes[check->type->src] && rv == 0; v++) {
        uint32_t part;
        uint64_t row;
        const struct out_edges *out = find_row(check, v, &part, &row);
        if (!end)
            check->next[v] = out->index[row];
        else if (check->next[v] != out->index[row + 1])
            rv = verify_differs(
                verification, part,
                part_file_edge(&verification->book->types, check->etype, PART_OUT_INDEX),
                "the number of out-edges of row", row, out->index[row + 1] - out->index[row],
                check->next[v] - out->index[row]);
    }
    return rv;
}

int verify_out_edges(struct verification *verification, uint32_t etype, const uint64_t *positions)
{
    struct out_check check = { .verification = verification,
                               .etype = etype,
                               .type = &verification->book->types.etypes[etype],
                               .positions = positions };
    size_t bytes = (size_t)verification->book->num_nodes[check.type->src] * sizeof *check.next;
    check.next = hotmem_alloc(bytes);
    if (check.next == NULL)
        return job_no_memory(verification->error, "places of out-edges", bytes);
    int rv = visit_rows(&check, false);
    if (rv == 0)
        rv = edge_stream_run(&verification->job, etype, "out-edges", 1, check_block, &check,
                             verification->error);
    if (rv == 0)
        rv = check.rv;
    if (rv == 0)
        rv = visit_rows(&check, true);
    hotmem_free(check.next, bytes);
    return rv;
}
