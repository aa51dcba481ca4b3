/* SPDX-License-Identifier: Apache-2.0 */
/* A batch is read as it was made: each number by its own call, each type and layer to the last. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <troupe/batch.h>
#include <troupe/sample.h>

#include "actors/data/sampled_batch.h"
#include "schemas/sample_spec.h"

#define NTYPES 2u
#define ETYPES 3u
#define LAYERS 2u
#define TABLES 4u

static const uint64_t ids[NTYPES][5] = { { 10, 11, 12, 13, 14 }, { 20, 21, 22 } };
static const uint64_t originals[5] = { 30, 31, 32, 33, 34 };
static const uint32_t ins[5] = { 1, 2, 3, 4, 5 }, outs[5] = { 6, 7, 8, 9, 10 };
static const uint32_t index_of[ETYPES][4] = { { 0, 1 }, { 0, 2 }, { 0, 3 } };
static const uint32_t sources[ETYPES][3];
static const uint64_t edge_ids[ETYPES][3];
static float features[10], labels[2], tables[TABLES][4];

/* No two numbers of it are the same. */
static void fill(struct sampled_batch *sampled)
{
    struct batch_space *space = &sampled->space;
    struct mini_batch *batch = &space->batch;
    batch->epoch = 101;
    batch->rank = 102;
    batch->index = (UINT64_C(1) << 40) + 3;
    batch->step_seeds = 104;
    for (uint32_t l = 0; l < LAYERS; l++)
        for (uint32_t e = 0; e < ETYPES; e++) {
            space->edges[l * ETYPES + e] = (struct block_edges){ .num_dst = 200 + 10 * l + e,
                                                                 .num_edges = 300 + 10 * l + e,
                                                                 .index = index_of[e],
                                                                 .sources = sources[e],
                                                                 .edge_ids = edge_ids[e] };
            space->num_src[l * NTYPES] = 400 + 10 * l;
            space->num_src[l * NTYPES + 1] = 401 + 10 * l;
        }
    space->etype_src[0] = 1;
    space->etype_src[1] = 0;
    space->etype_src[2] = 1;
    /* Edge type 2 was drawn along out-edges in layer 1. */
    space->etype_dst[0] = space->etype_dst[1] = 1;
    space->etype_dst[2] = 0;
    space->edges[ETYPES + 2].direction = SAMPLE_OUT;
    space->nodes[0] = (struct batch_nodes){ .num_nodes = 5,
                                            .num_seeds = 2,
                                            .ids = ids[0],
                                            .original_ids = originals,
                                            .in_degrees = ins,
                                            .out_degrees = outs,
                                            .features = { TR_F32, 5, 2, 8, features },
                                            .labels = { TR_F64, 2, 1, 4, labels } };
    space->nodes[1] = (struct batch_nodes){ .num_nodes = 3, .num_seeds = 1, .ids = ids[1] };
    static const struct {
        uint32_t table, of, layer;
    } KINDS[TABLES] = { { 0, SAMPLE_OF_NODES, 0 },
                        { 1, SAMPLE_OF_EDGES, 0 },
                        { 1, SAMPLE_OF_EDGES, 1 },
                        { 2, SAMPLE_OF_EDGES, 1 } };
    assert_int_equal(batch_space_set_tables(space, TABLES), 0);
    for (uint32_t i = 0; i < TABLES; i++)
        space->tables[i] = (struct batch_table){ .table = KINDS[i].table,
                                                 .of = KINDS[i].of,
                                                 .layer = KINDS[i].layer,
                                                 .rows = { TR_F32, i + 1, 1, 4, tables[i] } };
}

static int set_up(void **state)
{
    struct sampled_batch *sampled = sampled_batch_create(NTYPES, ETYPES, LAYERS);
    assert_non_null(sampled);
    fill(sampled);
    *state = sampled;
    return 0;
}

static int tear_down(void **state)
{
    tr_batch_release(*state);
    return 0;
}

static void numbers_of_a_batch(void **state)
{
    const struct tr_batch *batch = *state;
    assert_int_equal(tr_batch_epoch(batch), 101);
    assert_int_equal(tr_batch_rank(batch), 102);
    assert_true(tr_batch_index(batch) == (UINT64_C(1) << 40) + 3);
    assert_int_equal(tr_batch_step_seeds(batch), 104);
    assert_int_equal(tr_batch_num_layers(batch), LAYERS);
    assert_int_equal(tr_batch_num_ntypes(batch), NTYPES);
    assert_int_equal(tr_batch_num_etypes(batch), ETYPES);
    tr_batch_release(NULL);
}

static struct tr_error failure = TR_ERROR_INIT;

static void assert_says(const char *what)
{
    if (strstr(failure.message, what) == NULL)
        fail_msg("'%s' is not in '%s'", what, failure.message);
}

static void blocks_up_to_the_last_type_of_the_last_layer(void **state)
{
    static const uint32_t source_type[ETYPES] = { 1, 0, 1 };
    const struct tr_batch *batch = *state;
    struct tr_block block = TR_BLOCK_INIT;
    for (uint32_t l = 0; l < LAYERS; l++)
        for (uint32_t e = 0; e < ETYPES; e++) {
            assert_int_equal(tr_batch_block(batch, l, e, &block, NULL), 0);
            bool out = l == 1 && e == 2;
            assert_int_equal(block.direction, out ? TR_OUT_EDGES : TR_IN_EDGES);
            assert_int_equal(block.num_src, 400 + 10 * l + (out ? 0 : source_type[e]));
            assert_int_equal(block.num_dst, 200 + 10 * l + e);
            assert_int_equal(block.num_edges, 300 + 10 * l + e);
            assert_ptr_equal(block.index, index_of[e]);
            assert_ptr_equal(block.sources, sources[e]);
            assert_ptr_equal(block.edge_ids, edge_ids[e]);
        }
    assert_int_equal(tr_batch_block(batch, LAYERS, 0, &block, &failure), TR_ERANGE);
    assert_int_equal(failure.code, TR_ERANGE);
    assert_says("layer 2, edge type 0; the batch has 2 layers and 3 edge types");
    assert_int_equal(tr_batch_block(batch, 0, ETYPES, &block, &failure), TR_ERANGE);
    assert_says("edge type 3");
    assert_int_equal(tr_batch_block(batch, UINT32_MAX, UINT32_MAX, &block, NULL), TR_ERANGE);
    block.size = 0;
    assert_int_equal(tr_batch_block(batch, 0, 0, &block, &failure), TR_EINVAL);
    assert_says("struct tr_block");
}

static void nodes_of_each_type_and_of_none(void **state)
{
    const struct tr_batch *batch = *state;
    size_t count = 99;
    assert_ptr_equal(tr_batch_nodes(batch, 0, &count), ids[0]);
    assert_int_equal(count, 5);
    assert_ptr_equal(tr_batch_nodes(batch, 1, &count), ids[1]);
    assert_int_equal(count, 3);
    assert_null(tr_batch_nodes(batch, NTYPES, &count));
    assert_int_equal(count, 0);
    assert_ptr_equal(tr_batch_original_ids(batch, 0, &count), originals);
    assert_int_equal(count, 5);
    for (uint32_t type = 1; type <= NTYPES; type++) { /* not asked for; not there */
        count = 99;
        assert_null(tr_batch_original_ids(batch, type, &count));
        assert_int_equal(count, 0);
    }
    assert_int_equal(tr_batch_num_seeds(batch, 0), 2);
    assert_int_equal(tr_batch_num_seeds(batch, 1), 1);
    assert_int_equal(tr_batch_num_seeds(batch, NTYPES), 0);
    assert_ptr_equal(tr_batch_in_degrees(batch, 0), ins);
    assert_ptr_equal(tr_batch_out_degrees(batch, 0), outs);
    assert_null(tr_batch_in_degrees(batch, 1));
    assert_null(tr_batch_in_degrees(batch, NTYPES));
    assert_null(tr_batch_out_degrees(batch, NTYPES));
}

static void assert_rows(const struct tr_rows *rows, enum tr_dtype dtype, uint64_t num_rows,
                        uint64_t width, size_t row_bytes, const void *at)
{
    assert_int_equal(rows->dtype, dtype);
    assert_int_equal(rows->num_rows, num_rows);
    assert_int_equal(rows->width, width);
    assert_int_equal(rows->row_bytes, row_bytes);
    assert_ptr_equal(rows->rows, at);
}

static void rows_that_came_along_and_others(void **state)
{
    const struct tr_batch *batch = *state;
    struct tr_rows rows = TR_ROWS_INIT;
    assert_int_equal(tr_batch_features(batch, 0, &rows, NULL), 0);
    assert_rows(&rows, TR_F32, 5, 2, 8, features);
    assert_int_equal(tr_batch_labels(batch, 0, &rows, NULL), 0);
    assert_rows(&rows, TR_F64, 2, 1, 4, labels);
    for (uint32_t type = 1; type <= NTYPES; type++) {
        assert_int_equal(tr_batch_features(batch, type, &rows, &failure), TR_ENOENT);
        assert_says("no features of node type");
        assert_int_equal(tr_batch_labels(batch, type, &rows, &failure), TR_ENOENT);
        assert_says("no labels of node type");
    }
    rows.size = 0;
    assert_int_equal(tr_batch_features(batch, 0, &rows, &failure), TR_EINVAL);
    assert_says("struct tr_rows");
}

/* A table of nodes is the same for every layer; of edges each layer has its own, or none. */
static void tables_by_their_place_and_layer(void **state)
{
    static const int which[3][3] = { { 0, 0, 0 }, { 1, 2, -1 }, { -1, 3, -1 } };
    const struct tr_batch *batch = *state;
    struct tr_rows rows = TR_ROWS_INIT;
    for (uint32_t table = 0; table < 3; table++)
        for (uint32_t layer = 0; layer < 3; layer++) {
            int is = which[table][layer];
            assert_int_equal(tr_batch_table(batch, table, layer, &rows, NULL),
                             is < 0 ? TR_ENOENT : 0);
            if (is >= 0)
                assert_rows(&rows, TR_F32, (uint64_t)is + 1, 1, 4, tables[is]);
        }
    assert_int_equal(tr_batch_table(batch, 3, 0, &rows, &failure), TR_ENOENT);
    assert_says("table 3, layer 0");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_of_a_batch),
        cmocka_unit_test(blocks_up_to_the_last_type_of_the_last_layer),
        cmocka_unit_test(nodes_of_each_type_and_of_none),
        cmocka_unit_test(rows_that_came_along_and_others),
        cmocka_unit_test(tables_by_their_place_and_layer),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
