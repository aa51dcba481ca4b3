/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loaders by each way to draw: the same batches on every placement and as recorded once, and of
 * each row as many edges as there can be, of those that may be drawn.
 */
#include <inttypes.h>

#include "tests/api/outcome.h"
#include "tests/api/sample_placements.h"

#define SECOND INT64_C(1000000000)
#define LAYERS 2u
#define NODES 240
#define EDGES 3000

struct way {
    int32_t fanout[LAYERS];
    bool replace;
    const char *mask, *weights;
    enum tr_sampler sampler;
    bool goes_out[LAYERS]; /* along out-edges */
    bool total;            /* fanouts are over all edge types together */
};

static const struct way WAYS[] = {
    { { 3, 4 }, .mask = "keep" },
    { { 3, 4 }, .replace = true, .mask = "keep" },
    { { TR_FANOUT_ALL, 2 }, .mask = "keep" },
    { { 3, 4 }, .weights = "prob" },
    { { 3, 4 }, .replace = true, .weights = "prob" },
    { { 3, 4 }, .mask = "keep", .weights = "prob" },
    { { TR_FANOUT_ALL, 2 }, .weights = "prob" },
    { { 3, 4 }, .sampler = TR_SAMPLER_LABOR },
    { { 2, TR_FANOUT_ALL }, .mask = "keep", .sampler = TR_SAMPLER_LABOR },
    { { 3, 4 }, .sampler = TR_SAMPLER_LABOR_POISSON },
    { { 0, 4 }, .mask = "keep", .sampler = TR_SAMPLER_LABOR_POISSON },
    { { 3, 4 }, .goes_out = { true, true } },
    { { 3, 4 }, .replace = true, .goes_out = { true, false } },
    { { TR_FANOUT_ALL, 2 }, .goes_out = { false, true } },
    { { 3, 4 }, .total = true },
    { { 5, 6 }, .replace = true, .goes_out = { true, false }, .total = true },
    { { TR_FANOUT_ALL, 7 }, .goes_out = { false, true }, .total = true },
};
#define NUM_WAYS (sizeof WAYS / sizeof *WAYS)

/* The digests of two epochs by each way, on any placement. */
static const uint64_t DIGESTS[NUM_WAYS] = {
    UINT64_C(0x81c8a0862e5debc6), UINT64_C(0xb434d805a859edf5), UINT64_C(0x816f5751428ccf5a),
    UINT64_C(0xf5d6b1e7600a9722), UINT64_C(0x66e786a65c9a7c15), UINT64_C(0x4ed6278fa0e63c0b),
    UINT64_C(0x5e02dc0927872c00), UINT64_C(0x1b00641ac2ff937f), UINT64_C(0x6b1397ece3de1790),
    UINT64_C(0xbd2a47e577ee1d61), UINT64_C(0x6985c98a9b9de04b), UINT64_C(0xe7affd9a1c6aed14),
    UINT64_C(0xd63723d95d0c8d96), UINT64_C(0xcedf925b61e219c4), UINT64_C(0xd90cb0b99cfef756),
    UINT64_C(0xb176164f86aaf109), UINT64_C(0x5c7c3dd6127ea84d),
};

/* The digests of batches by the same ways that leave edges out. */
static const uint64_t LEFT_OUT_DIGESTS[NUM_WAYS] = {
    UINT64_C(0x8e369679123da2f3), UINT64_C(0x4bb6685530a75187), UINT64_C(0xd3e322ac090b4dec),
    UINT64_C(0x981a97779764e190), UINT64_C(0x071ad2657e6412e5), UINT64_C(0xff6ff3db2c865cb6),
    UINT64_C(0x200aa8a65d7251a4), UINT64_C(0xe8d05ae87e6427fc), UINT64_C(0x2d8b65dfa9af4ce0),
    UINT64_C(0x221b8c55e18c7e24), UINT64_C(0x9dec3d6bbff5a523), UINT64_C(0xefb6b0bb81e68fdf),
    UINT64_C(0xaa5a7010f09bc0b8), UINT64_C(0xa1e5bcfadcc34ee7), UINT64_C(0x330fdb9a1543aa97),
    UINT64_C(0xe7c1382d05f1f981), UINT64_C(0xcc3c5bd72db7fe86),
};

/* The edges of each node of the graph that a way may draw, by edge type and original ID: its in-edges,
 * and its out-edges. */
static struct sample sample;
static bool leaves_out; /* a third of all edges */
static uint32_t allowed[NUM_WAYS][SAMPLE_TYPES][2][NODES];
static uint64_t sums[NUM_WAYS];

static bool is_left_out(uint32_t etype, uint64_t edge)
{
    return (edge * UINT64_C(0x9e3779b97f4a7c15) >> 40) % 3 == etype % 3;
}

static bool may_be_drawn(const struct way *way, uint32_t etype, uint64_t edge)
{
    if (leaves_out && is_left_out(etype, edge))
        return false;
    return (way->mask == NULL || sample_keep(etype, edge) != 0) &&
           (way->weights == NULL || sample_prob(etype, edge) > 0);
}

static void count_allowed(void)
{
    memset(allowed, 0, sizeof allowed);
    for (size_t w = 0; w < NUM_WAYS; w++)
        for (uint32_t e = 0; e < sample.types.num_etypes; e++)
            for (uint64_t i = 0; i < sample.num_edges[e]; i++) {
                allowed[w][e][0][sample.dst[e][i]] += may_be_drawn(&WAYS[w], e, i);
                allowed[w][e][1][sample.src[e][i]] += may_be_drawn(&WAYS[w], e, i);
            }
}

/* Table 0 has the "weight" of each edge, which says its original ID. */
static uint64_t edge_of(const struct tr_rows *rows, uint32_t etype, uint32_t i)
{
    const float *row = (const float *)rows->rows + (size_t)i * 2;
    return (uint64_t)(row[0] - sample_value(10 + etype, 0, 0)) / 8;
}

static void check_block(size_t w, const struct tr_batch *batch, uint32_t layer, uint32_t etype)
{
    const struct way *way = &WAYS[w];
    struct tr_block block = TR_BLOCK_INIT;
    struct tr_rows rows = TR_ROWS_INIT;
    const struct graph_etype *type = &sample.types.etypes[etype];
    bool out = way->goes_out[layer];
    size_t count;
    const uint64_t *dst = tr_batch_original_ids(batch, out ? type->src : type->dst, &count);
    const uint64_t *src = tr_batch_original_ids(batch, out ? type->dst : type->src, &count);
    assert_int_equal(tr_batch_block(batch, layer, etype, &block, NULL), 0);
    assert_int_equal(block.direction, out ? TR_OUT_EDGES : TR_IN_EDGES);
    assert_true(block.num_src <= count);
    assert_true(block.edge_weights == NULL || way->weights != NULL);
    assert_true(block.edge_weights != NULL || way->weights == NULL || block.num_edges == 0);
    if (block.num_edges > 0)
        assert_int_equal(tr_batch_table(batch, etype, layer, &rows, NULL), 0);
    for (uint32_t d = 0; d < block.num_dst; d++) {
        uint32_t most = allowed[w][etype][out][dst[d]], drawn = block.index[d + 1] - block.index[d];
        int32_t fanout = way->fanout[layer];
        bool all = fanout < 0 || (!way->replace && most <= (uint32_t)fanout);
        if ((way->sampler != TR_SAMPLER_LABOR_POISSON && !way->total) || fanout == 0)
            assert_int_equal(drawn, all ? most : most == 0 ? 0 : (uint32_t)fanout);
        for (uint32_t i = block.index[d]; i < block.index[d + 1]; i++) {
            uint64_t edge = edge_of(&rows, etype, i);
            assert_true(may_be_drawn(way, etype, edge));
            if (way->weights != NULL)
                assert_true(all ? block.edge_weights[i] == 1 : block.edge_weights[i] > 0);
            /* The table goes by the edge's ID, so this ID is right, whichever node drew it. */
            assert_int_equal((out ? sample.src : sample.dst)[etype][edge], dst[d]);
            assert_int_equal((out ? sample.dst : sample.src)[etype][edge], src[block.sources[i]]);
        }
    }
}

/* Of fanouts over all edge types together: those that draw at a node type. */
static void check_total(size_t w, const struct tr_batch *batch, uint32_t layer, uint32_t ntype)
{
    const struct way *way = &WAYS[w];
    static uint32_t drawn[NODES], most[NODES];
    size_t count, num_dst = 0;
    const uint64_t *nodes = tr_batch_original_ids(batch, ntype, &count);
    bool out = way->goes_out[layer];
    memset(drawn, 0, sizeof drawn);
    memset(most, 0, sizeof most);
    for (uint32_t e = 0; e < sample.types.num_etypes; e++) {
        const struct graph_etype *type = &sample.types.etypes[e];
        struct tr_block block = TR_BLOCK_INIT;
        if ((out ? type->src : type->dst) != ntype)
            continue;
        assert_int_equal(tr_batch_block(batch, layer, e, &block, NULL), 0);
        num_dst = block.num_dst;
        for (uint32_t d = 0; d < block.num_dst; d++) {
            drawn[d] += block.index[d + 1] - block.index[d];
            most[d] += allowed[w][e][out][nodes[d]];
        }
    }
    for (size_t d = 0; d < num_dst; d++) {
        int32_t fanout = way->fanout[layer];
        bool all = fanout < 0 || (!way->replace && most[d] <= (uint32_t)fanout);
        assert_int_equal(drawn[d], all ? most[d] : most[d] == 0 ? 0 : (uint32_t)fanout);
    }
}

static void check_batch(size_t w, const struct tr_batch *batch)
{
    for (uint32_t l = 0; l < LAYERS; l++) {
        for (uint32_t e = 0; e < sample.types.num_etypes; e++)
            check_block(w, batch, l, e);
        for (uint32_t t = 0; WAYS[w].total && t < sample.types.num_ntypes; t++)
            check_total(w, batch, l, t);
    }
}

static struct tr_sample_spec *spec_of(struct tr_graph *graph, const struct way *way)
{
    struct tr_sample_spec *spec;
    ok(tr_sample_spec_create(graph, LAYERS, &spec, &failure));
    for (uint32_t l = 0; l < LAYERS; l++)
        ok(tr_sample_spec_set_fanout(spec, l, TR_EVERY, way->fanout[l], &failure));
    ok(tr_sample_spec_set_replace(spec, TR_EVERY, TR_EVERY, way->replace, &failure));
    if (way->mask != NULL)
        ok(tr_sample_spec_set_mask(spec, TR_EVERY, TR_EVERY, way->mask, &failure));
    if (way->weights != NULL)
        ok(tr_sample_spec_set_weights(spec, TR_EVERY, TR_EVERY, way->weights, &failure));
    ok(tr_sample_spec_set_sampler(spec, way->sampler, &failure));
    for (uint32_t l = 0; l < LAYERS; l++)
        if (way->goes_out[l])
            ok(tr_sample_spec_set_direction(spec, l, TR_EVERY, TR_OUT_EDGES, &failure));
    for (uint32_t l = 0; l < LAYERS; l++)
        if (way->total)
            ok(tr_sample_spec_set_total(spec, l, TR_EVERY, way->fanout[l], &failure));
    for (uint32_t e = 0; e < sample.types.num_etypes; e++)
        ok(tr_sample_spec_add_table(spec, TR_OF_EDGES, e, "weight", TR_FOR_ALL, &failure));
    return spec;
}

static uint64_t run_way(struct tr_graph *graph, size_t w)
{
    struct tr_loader_options options;
    struct tr_loader *loader;
    struct tr_nodes *nodes;
    struct tr_batch *batch;
    uint64_t sum = 17, digest;
    struct tr_sample_spec *spec = spec_of(graph, &WAYS[w]);
    tr_loader_options_init(&options);
    options.spec = spec;
    options.batch_size = 32;
    options.original_ids = true;
    options.seed = 3;
    ok(tr_nodes_all(graph, 1, TR_WAIT_FOREVER, &nodes, &failure));
    ok(tr_loader_open(graph, nodes, &options, TR_WAIT_FOREVER, &loader, &failure));
    tr_sample_spec_destroy(spec);
    for (int epoch = 0; epoch < 2; epoch++) {
        int rv;
        while ((rv = tr_loader_next(loader, 30 * SECOND, &batch, &failure)) == 0) {
            check_batch(w, batch);
            assert_int_equal(tr_batch_digest(batch, &digest, NULL), 0);
            sum = sum * UINT64_C(0x9e3779b97f4a7c15) + digest;
            tr_batch_release(batch);
        }
        if (rv != TR_EEND)
            ok(rv);
    }
    tr_loader_close(loader);
    tr_nodes_close(nodes);
    return sum;
}

static uint64_t run(struct tr_graph *graph)
{
    uint64_t all = 0;
    for (size_t w = 0; w < NUM_WAYS; w++) {
        sums[w] = run_way(graph, w);
        all = all * 31 + sums[w];
    }
    return all;
}

/* A draw from one node by the spec: what the call gives. */
static int try_draw(struct tr_graph *graph, const struct tr_sample_spec *spec)
{
    const uint64_t seed = 0;
    struct tr_sample_options options;
    struct tr_batch *batch;
    tr_sample_options_init(&options);
    options.spec = spec;
    options.seeds = &seed;
    options.num_seeds = 1;
    int rv = tr_sample(graph, &options, 30 * SECOND, &batch, &failure);
    tr_batch_release(batch);
    return rv;
}

/* Papers have in-edges of two types, which are drawn together or each by itself. */
static uint64_t refuse_totals(struct tr_graph *graph)
{
    struct tr_sample_spec *spec;
    ok(tr_sample_spec_create(graph, LAYERS, &spec, &failure));
    assert_int_equal(tr_sample_spec_set_total(spec, 1, 2, 3, &failure), TR_ERANGE);
    assert_int_equal(tr_sample_spec_set_total(spec, LAYERS, 1, 3, &failure), TR_ERANGE);
    assert_int_equal(tr_sample_spec_set_total(spec, 1, 1, -2, &failure), TR_ERANGE);
    ok(tr_sample_spec_set_total(spec, 1, 1, 3, &failure));
    ok(try_draw(graph, spec));
    ok(tr_sample_spec_set_fanout(spec, 1, 1, 3, &failure));
    assert_int_equal(try_draw(graph, spec), TR_EINVAL);
    assert_string_equal(failure.message,
                        "spec: layer 1: edges of type writes are drawn in total with those of type "
                        "cites, which have another fanout or draw otherwise; set both alike");
    ok(tr_sample_spec_set_fanout(spec, 1, TR_EVERY, 3, &failure));
    ok(try_draw(graph, spec));
    tr_sample_spec_destroy(spec);
    return 0;
}

/* The features of edges lie with their destinations, and LABOR's numbers are of sources. */
static uint64_t refuse_out(struct tr_graph *graph)
{
    struct tr_sample_spec *spec;
    ok(tr_sample_spec_create(graph, LAYERS, &spec, &failure));
    ok(tr_sample_spec_set_fanout(spec, 1, TR_EVERY, 3, &failure));
    ok(tr_sample_spec_set_direction(spec, 1, 0, TR_OUT_EDGES, &failure));
    ok(try_draw(graph, spec));
    ok(tr_sample_spec_set_mask(spec, 1, 0, "keep", &failure));
    assert_int_equal(try_draw(graph, spec), TR_EUNSUPPORTED);
    assert_non_null(strstr(failure.message, "import the graph with --reverse-types"));
    ok(tr_sample_spec_set_mask(spec, 1, 0, NULL, &failure));
    ok(tr_sample_spec_set_sampler(spec, TR_SAMPLER_LABOR, &failure));
    assert_int_equal(try_draw(graph, spec), TR_EUNSUPPORTED);
    tr_sample_spec_destroy(spec);
    return 0;
}

/* The graph that all tests draw from: its edges have what they may be drawn by. */
static void make_graph(bool out_edges)
{
    sample_init(&sample, true, NODES, EDGES, 21);
    sample.drawn_by = true;
    sample.out_edges = out_edges;
}

static void totals_of_unlike_edge_types_are_refused(void **state)
{
    (void)state;
    make_graph(true);
    graphs_agree(&sample, 1, 0, refuse_totals);
    sample_fini(&sample);
}

static void out_edges_are_drawn_evenly_alone(void **state)
{
    (void)state;
    make_graph(true);
    graphs_agree(&sample, 1, 0, refuse_out);
    sample_fini(&sample);
}

/* The sums of the last placement are those that were recorded. */
static void check_digests(const uint64_t *expected)
{
    int differ = 0;
    for (size_t w = 0; w < NUM_WAYS; w++)
        if (sums[w] != expected[w]) {
            print_error("way %zu: 0x%016" PRIx64 "\n", w, sums[w]);
            differ++;
        }
    assert_int_equal(differ, 0);
}

static void placements_draw_the_same(void **state)
{
    (void)state;
    make_graph(true);
    count_allowed();
    graphs_agree(&sample, PLACEMENTS, 0, run);
    sample_fini(&sample);
    check_digests(DIGESTS);
}

/* The edges to leave out, by type and global ID: all in-edges of all nodes say their original IDs. */
static size_t list_left_out(struct tr_graph *graph, uint64_t *edges, uint32_t *etypes)
{
    struct tr_sample_spec *spec;
    struct tr_sample_options options;
    struct tr_batch *batch;
    static uint64_t seeds[NODES];
    size_t count = 0;
    ok(tr_sample_spec_create(graph, 1, &spec, &failure));
    ok(tr_sample_spec_set_fanout(spec, 0, TR_EVERY, TR_FANOUT_ALL, &failure));
    for (uint32_t e = 0; e < sample.types.num_etypes; e++)
        ok(tr_sample_spec_add_table(spec, TR_OF_EDGES, e, "weight", TR_FOR_ALL, &failure));
    for (uint32_t i = 0; i < NODES; i++)
        seeds[i] = i;
    for (uint32_t t = 0; t < sample.types.num_ntypes; t++) {
        tr_sample_options_init(&options);
        options.spec = spec;
        options.ntype = t;
        options.seeds = seeds;
        options.num_seeds = sample.num_nodes[t];
        options.edge_ids = true;
        ok(tr_sample(graph, &options, 30 * SECOND, &batch, &failure));
        for (uint32_t e = 0; e < sample.types.num_etypes; e++) {
            struct tr_block block = TR_BLOCK_INIT;
            struct tr_rows rows = TR_ROWS_INIT;
            assert_int_equal(tr_batch_block(batch, 0, e, &block, NULL), 0);
            if (block.num_edges > 0)
                assert_int_equal(tr_batch_table(batch, e, 0, &rows, NULL), 0);
            for (uint32_t i = 0; i < block.num_edges; i++)
                if (is_left_out(e, edge_of(&rows, e, i))) {
                    edges[count] = block.edge_ids[i];
                    etypes[count++] = e;
                }
        }
        tr_batch_release(batch);
    }
    tr_sample_spec_destroy(spec);
    return count;
}

static uint64_t draw_left_out(struct tr_graph *graph)
{
    static uint64_t edges[SAMPLE_TYPES * EDGES];
    static uint32_t etypes[SAMPLE_TYPES * EDGES];
    const uint64_t seeds_of_type[] = { 5, 100, 3, 150, 3, 60, 61, 62, 63, 64 };
    uint64_t all = 0, seeds[10];
    size_t count = list_left_out(graph, edges, etypes);
    assert_true(count > EDGES / 2);
    struct tr_nodes *nodes;
    ok(tr_nodes_all(graph, 1, TR_WAIT_FOREVER, &nodes, &failure));
    for (int i = 0; i < 10; i++) /* nodes are in the order of their original IDs */
        ok(tr_nodes_ids(nodes, seeds_of_type[i], 1, TR_WAIT_FOREVER, &seeds[i], &failure));
    tr_nodes_close(nodes);
    for (size_t w = 0; w < NUM_WAYS; w++) {
        struct tr_sample_spec *spec = spec_of(graph, &WAYS[w]);
        struct tr_sample_options options;
        struct tr_batch *batch;
        tr_sample_options_init(&options);
        options.spec = spec;
        options.ntype = 1;
        options.seeds = seeds;
        options.num_seeds = 10;
        options.seed = 9;
        options.original_ids = true;
        options.excluded = edges;
        options.excluded_etypes = etypes;
        options.num_excluded = count;
        ok(tr_sample(graph, &options, 30 * SECOND, &batch, &failure));
        check_batch(w, batch);
        assert_int_equal(tr_batch_digest(batch, &sums[w], NULL), 0);
        all = all * 31 + sums[w];
        tr_batch_release(batch);
        tr_sample_spec_destroy(spec);
    }
    return all;
}

/* What is left out is never drawn, and draws are as full as the rest allows. */
static void placements_leave_the_same_out(void **state)
{
    (void)state;
    make_graph(true);
    leaves_out = true;
    count_allowed();
    graphs_agree(&sample, PLACEMENTS, 0, draw_left_out);
    leaves_out = false;
    sample_fini(&sample);
    check_digests(LEFT_OUT_DIGESTS);
}

static uint64_t refuse(struct tr_graph *graph)
{
    struct tr_sample_spec *spec;
    ok(tr_sample_spec_create(graph, LAYERS, &spec, &failure));
    assert_int_equal(tr_sample_spec_set_mask(spec, LAYERS, 0, "keep", &failure), TR_ERANGE);
    assert_string_equal(failure.message, "layer 2, the spec has 2");
    assert_int_equal(tr_sample_spec_set_mask(spec, 0, 0, "kept", &failure), TR_ENOENT);
    assert_string_equal(failure.message, "mask: edges of type writes have no feature \"kept\"");
    assert_int_equal(tr_sample_spec_set_mask(spec, 0, TR_EVERY, "kept", &failure), TR_ENOENT);
    assert_string_equal(failure.message, "mask: no edge type has a feature \"kept\"");
    assert_int_equal(tr_sample_spec_set_mask(spec, 0, 0, "weight", &failure), TR_EINVAL);
    assert_string_equal(failure.message, "writes: mask \"weight\" has 2 of float32 for an edge; a "
                                         "mask has one bool or uint8");
    ok(tr_sample_spec_set_mask(spec, 0, 0, NULL, &failure));
    assert_int_equal(tr_sample_spec_set_weights(spec, 0, 0, "weight", &failure), TR_EINVAL);
    assert_string_equal(failure.message,
                        "writes: weights \"weight\" have 2 of float32 for an edge; "
                        "weights have one float32, float64 or integer");
    assert_int_equal(tr_sample_spec_set_weights(spec, 0, 0, "probs", &failure), TR_ENOENT);
    assert_string_equal(failure.message, "weights: edges of type writes have no feature \"probs\"");
    assert_int_equal(tr_sample_spec_set_sampler(spec, (enum tr_sampler)3, &failure), TR_ERANGE);
    assert_string_equal(failure.message, "sampler: 3 is not a value of enum tr_sampler");
    /* LABOR draws evenly, and each edge once. */
    ok(tr_sample_spec_set_sampler(spec, TR_SAMPLER_LABOR, &failure));
    ok(tr_sample_spec_set_weights(spec, 0, 0, "prob", &failure));
    assert_int_equal(try_draw(graph, spec), TR_EUNSUPPORTED);
    assert_string_equal(failure.message,
                        "spec: layer 0, edges of type writes: the labor sampler has no weights; "
                        "leave them out, or draw by the sampler of neighbors");
    ok(tr_sample_spec_set_weights(spec, 0, 0, NULL, &failure));
    ok(tr_sample_spec_set_replace(spec, 0, 0, true, &failure));
    assert_int_equal(try_draw(graph, spec), TR_EUNSUPPORTED);
    ok(tr_sample_spec_set_replace(spec, 0, 0, false, &failure));
    ok(try_draw(graph, spec));
    /* The partitions have no out-edges. */
    assert_int_equal(tr_sample_spec_set_direction(spec, 0, 0, TR_OUT_EDGES, &failure),
                     TR_EUNSUPPORTED);
    assert_non_null(strstr(failure.message, "partition again with --out-edges"));
    assert_int_equal(tr_sample_spec_set_direction(spec, 0, 0, (enum tr_direction)2, &failure),
                     TR_ERANGE);
    assert_string_equal(failure.message, "direction: 2 is not a value of enum tr_direction");
    assert_int_equal(tr_sample_spec_set_direction(spec, 0, 3, TR_IN_EDGES, &failure), TR_ERANGE);
    ok(tr_sample_spec_set_direction(spec, 0, 0, TR_IN_EDGES, &failure));
    tr_sample_spec_destroy(spec);
    return 0;
}

static void what_cannot_be_drawn_by_is_named(void **state)
{
    (void)state;
    make_graph(false);
    graphs_agree(&sample, 1, 0, refuse);
    sample_fini(&sample);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(placements_draw_the_same),
        cmocka_unit_test(placements_leave_the_same_out),
        cmocka_unit_test(what_cannot_be_drawn_by_is_named),
        cmocka_unit_test(totals_of_unlike_edge_types_are_refused),
        cmocka_unit_test(out_edges_are_drawn_evenly_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
