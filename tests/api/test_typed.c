/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Graphs with several node and edge types through the public API, and graphs at the edge of being
 * graphs: no nodes, no edges, fewer nodes than partitions. The same batches on every placement.
 */
#include "tests/api/outcome.h"
#include "tests/api/sample_placements.h"

#define SECOND INT64_C(1000000000)

static void check_blocks(const struct tr_graph *graph, const struct tr_batch *batch)
{
    for (uint32_t layer = 0; layer < tr_batch_num_layers(batch); layer++)
        for (uint32_t e = 0; e < tr_graph_num_etypes(graph); e++) {
            struct tr_block block = TR_BLOCK_INIT;
            assert_int_equal(tr_batch_block(batch, layer, e, &block, NULL), 0);
            assert_int_equal(block.index[0], 0);
            assert_int_equal(block.index[block.num_dst], block.num_edges);
            for (uint32_t i = 0; i < block.num_edges; i++) {
                assert_true(block.sources[i] < block.num_src);
                assert_true(block.edge_ids[i] < tr_graph_num_edges(graph, e));
            }
        }
}

/* Each row carries the original ID of its node (see sample_value). */
static void check_features(const struct tr_graph *graph, const struct tr_batch *batch)
{
    for (uint32_t t = 0; t < tr_graph_num_ntypes(graph); t++) {
        struct tr_rows rows = TR_ROWS_INIT;
        size_t count;
        const uint64_t *original = tr_batch_original_ids(batch, t, &count);
        assert_int_equal(tr_batch_features(batch, t, &rows, NULL), 0);
        assert_int_equal(rows.num_rows, count);
        const float *at = rows.rows;
        for (size_t i = 0; i < count; i++)
            for (uint64_t j = 0; j < rows.width; j++)
                assert_true(at[i * rows.width + j] == sample_value(t, original[i], j));
    }
}

static uint64_t run_epoch(struct tr_graph *graph, struct tr_nodes *nodes, bool replace,
                          const char *features)
{
    struct tr_loader_options options;
    struct tr_loader *loader;
    struct tr_batch *batch;
    uint64_t sum = 17, digest;
    int rv;
    tr_loader_options_init(&options);
    options.num_layers = 3;
    options.fanout[0] = 4;
    options.fanout[1] = TR_FANOUT_ALL;
    options.fanout[2] = 2;
    options.batch_size = 16;
    options.replace = replace;
    options.edge_ids = options.original_ids = options.degrees = true;
    options.features = features;
    ok(tr_loader_open(graph, nodes, &options, TR_WAIT_FOREVER, &loader, &failure));
    while ((rv = tr_loader_next(loader, 30 * SECOND, &batch, &failure)) == 0) {
        check_blocks(graph, batch);
        if (strcmp(features, "feat") == 0)
            check_features(graph, batch);
        assert_int_equal(tr_batch_digest(batch, &digest, NULL), 0);
        sum = sum * 31 + digest;
        tr_batch_release(batch);
    }
    if (rv != TR_EEND)
        ok(rv);
    tr_loader_close(loader);
    return sum;
}

static uint64_t run_type(struct tr_graph *graph, uint32_t ntype)
{
    struct tr_nodes *all, *masked;
    ok(tr_nodes_all(graph, ntype, TR_WAIT_FOREVER, &all, &failure));
    assert_int_equal(tr_nodes_count(all), tr_graph_num_nodes(graph, ntype));
    ok(tr_nodes_masked(graph, ntype, "train_mask", TR_WAIT_FOREVER, &masked, &failure));
    assert_int_equal(tr_nodes_count(masked), (tr_nodes_count(all) + 3) / 4);
    uint64_t sum = run_epoch(graph, all, false, "feat");
    sum = sum * 31 + run_epoch(graph, masked, true, "none");
    tr_nodes_close(masked);
    tr_nodes_close(all);
    return sum;
}

/* The epochs of every node type on one placement. */
static uint64_t run_placement(struct tr_graph *graph)
{
    uint64_t sum = 0;
    for (uint32_t t = 0; t < tr_graph_num_ntypes(graph); t++)
        sum = sum * 31 + run_type(graph, t);
    return sum;
}

static void run_sample(bool hetero, uint64_t nodes, uint64_t edges, int placements)
{
    struct sample sample;
    sample_init(&sample, hetero, nodes, edges, 5);
    graphs_agree(&sample, placements, 0, run_placement);
    sample_fini(&sample);
}

static void typed_graphs(void **state)
{
    (void)state;
    run_sample(true, 300, 2000, PLACEMENTS);
}

static void fewer_nodes_than_partitions(void **state)
{
    (void)state;
    run_sample(true, 4, 5, 3);
    run_sample(false, 3, 10, 2);
    run_sample(false, 1, 1, 2);
}

static void no_edges_and_no_nodes(void **state)
{
    (void)state;
    run_sample(false, 50, 0, 3);
    run_sample(true, 2, 0, 2);
    run_sample(true, 0, 0, 2);
    run_sample(false, 0, 0, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_edges_and_no_nodes),
        cmocka_unit_test(fewer_nodes_than_partitions),
        cmocka_unit_test(typed_graphs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
