/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/api/link_checks.h"

#include "tests/api/outcome.h"

struct tr_nodes *list_some_edges(struct tr_graph *graph, uint32_t etype, size_t count)
{
    struct tr_nodes *all, *set;
    uint64_t *ids = calloc(count + 1, sizeof *ids);
    assert_non_null(ids);
    ok(tr_edges_all(graph, etype, &all, &failure));
    for (size_t i = 0; i < count; i++) {
        uint64_t rank = (i % 9 == 8 ? i - 3 : i) * 7919 % tr_nodes_count(all);
        ok(tr_edges_ids(all, rank, 1, TR_WAIT_FOREVER, &ids[i], &failure));
    }
    ok(tr_edges_listed(graph, etype, ids, count, &set, &failure));
    tr_nodes_close(all);
    free(ids);
    return set;
}

void check_ends_of_pairs(struct tr_graph *graph, const struct sample *sample,
                         const struct tr_batch *batch, const struct tr_pairs *pairs)
{
    const struct graph_etype *type = &sample->types.etypes[pairs->etype];
    uint64_t *ends = calloc(2 * (size_t)pairs->count + 1, sizeof *ends);
    size_t count;
    assert_non_null(ends);
    assert_true(pairs->count == 0 || pairs->edge_ids != NULL);
    ok(tr_graph_find_edges(graph, pairs->etype, pairs->edge_ids, pairs->count, TR_WAIT_FOREVER,
                           ends, ends + pairs->count, &failure));
    const uint64_t *sources = tr_batch_nodes(batch, type->src, &count);
    const uint64_t *destinations = tr_batch_nodes(batch, type->dst, &count);
    for (uint32_t i = 0; i < pairs->count; i++) {
        assert_int_equal(sources[pairs->sources[i]], ends[i]);
        assert_int_equal(destinations[pairs->destinations[i]], ends[pairs->count + i]);
    }
    free(ends);
}

void check_draws_beside_pairs(struct tr_graph *graph, const struct sample *sample,
                              const struct tr_batch *batch, const struct tr_pairs *pairs,
                              bool left_out, uint64_t fanout)
{
    const uint32_t dst = sample->types.etypes[pairs->etype].dst;
    size_t count;
    const uint64_t *ids = tr_batch_nodes(batch, dst, &count);
    uint64_t *degrees = calloc(count + 1, sizeof *degrees);
    bool *own = calloc(sample->num_edges[pairs->etype] + 1, sizeof *own);
    assert_true(degrees != NULL && own != NULL);
    ok(tr_graph_in_degrees(graph, pairs->etype, ids, count, TR_WAIT_FOREVER, degrees, &failure));
    for (uint32_t i = 0; i < pairs->count && left_out; i++) {
        degrees[pairs->destinations[i]] -= !own[pairs->edge_ids[i]];
        own[pairs->edge_ids[i]] = true;
    }
    for (uint32_t layer = 0; layer < 2; layer++) {
        struct tr_block block = TR_BLOCK_INIT;
        ok(tr_batch_block(batch, layer, pairs->etype, &block, &failure));
        for (uint32_t e = 0; e < block.num_edges; e++)
            assert_false(own[block.edge_ids[e]]);
        for (uint32_t i = 0; i < block.num_dst; i++) {
            uint64_t drawn = block.index[i + 1] - block.index[i];
            assert_int_equal(drawn, degrees[i] < fanout ? degrees[i] : fanout);
        }
    }
    free(degrees);
    free(own);
}
