/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A sampler is one file and one row of the table: with recent_sampler.c, whose rows have times and
 * exclusions, a sampler's actor draws batches as that file says, from partitions that it reads
 * and by messages to servers, in one answer or in many. Nothing else here knows that kind.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "actors/data/sampler.h"
#include "actors/data/server.h"
#include "graph/digest.h"
#include "schemas/body.h"
#include "tests/actors/asker.h"
#include "tests/actors/graphs.h"
#include "tests/schemas/random.h"

#define RECENT 1u
#define ROWS 60u
#define SEEDS 40u
#define LAYERS 2u
#define FANOUT 4
#define TIMES 1000u /* of edges: below */
#define EXCLUDED_MAX 30u

/* The numbers of node types and edge types of graphs.h. */
enum { USER = 0, ITEM = 1, KNOWS = 0, BUYS = 1 };

/* How a batch comes to be; whichever way, it is the same. */
struct way {
    bool local; /* partitions are read directly, else asked for */
    bool codec; /* messages are encoded, as between processes */
    uint32_t slice_edges;
    uint64_t reply_bytes_max;
};

struct world {
    struct asker asker;
    struct test_graph graph;
    struct graph_meta meta;
    struct batch_store *store;
    struct snapshots *snapshots;
    struct server_options server;
    struct sampler_options sampler;
    struct feature_table times[GRAPH_PARTS][GRAPH_ETYPES];
};

/* Items, some of them several times, each with a time and users that it excludes. */
struct seeds {
    uint64_t ids[SEEDS];
    int64_t times[SEEDS];
    uint32_t exclusions[SEEDS];
    uint64_t excluded[SEEDS * EXCLUDED_MAX];
};

static void give_times(struct world *world)
{
    uint64_t state = 77;
    for (uint32_t p = 0; p < GRAPH_PARTS; p++)
        for (uint32_t e = 0; e < GRAPH_ETYPES; e++) {
            struct edge_part *edges = &world->graph.parts[p].edges[e];
            uint64_t count = edges->csc.num_edges;
            int64_t *times = calloc(count + 1, sizeof *times);
            assert_non_null(times);
            for (uint64_t i = 0; i < count; i++)
                times[i] = (int64_t)random_below(&state, TIMES);
            world->times[p][e] = (struct feature_table){ "time",        TR_I64, count, 1,
                                                         sizeof *times, times,  0,     { 0 },
                                                         TABLE_DENSE,   NULL };
            edges->num_features = 1;
            edges->features = &world->times[p][e];
        }
}

static void open_world(struct world *world, const struct way *way)
{
    static const uint32_t parts[] = { 0, 1 };
    *world = (struct world){ .store = batch_store_create((size_t)1 << 24) };
    test_graph_init(&world->graph, 3, ROWS, 12);
    give_times(world);
    assert_int_equal(graph_meta_init(&world->meta, &world->graph.parts[0]), 0);
    assert_non_null(world->store);
    assert_int_equal(batch_store_open_loader(world->store, 1, 1000), 0);
    assert_int_equal(snapshots_create(&world->graph.book, &world->snapshots), 0);
    for (uint32_t p = 0; p < GRAPH_PARTS; p++) {
        graph_meta_add_part(&world->meta, &world->graph.parts[p]);
        assert_int_equal(snapshots_add(world->snapshots, &world->graph.parts[p], NULL, NULL, NULL),
                         0);
    }
    world->server = (struct server_options){ .snapshots = world->snapshots,
                                             .parts = parts,
                                             .num_parts = GRAPH_PARTS,
                                             .named = true,
                                             .slice_edges = way->slice_edges };
    world->sampler = (struct sampler_options){ .book = &world->graph.book,
                                               .meta = &world->meta,
                                               .store = world->store,
                                               .snapshots = way->local ? world->snapshots : NULL,
                                               .recovery_ns = 60 * ENV_SECOND_NS,
                                               .reply_bytes_max = way->reply_bytes_max };
    asker_open(&world->asker, 1, way->codec);
    asker_spawn(&world->asker, &server_ops, &world->server);
    asker_spawn(&world->asker, &sampler_ops, &world->sampler);
}

static void close_world(struct world *world)
{
    asker_close(&world->asker);
    batch_store_close(world->store);
    batch_store_release(world->store);
    snapshots_destroy(world->snapshots);
    graph_meta_fini(&world->meta);
    for (uint32_t p = 0; p < GRAPH_PARTS; p++)
        for (uint32_t e = 0; e < GRAPH_ETYPES; e++)
            free((void *)(uintptr_t)world->times[p][e].rows);
    test_graph_fini(&world->graph);
}

static void make_seeds(struct seeds *seeds)
{
    uint64_t state = 5, excluded = 0;
    for (uint32_t i = 0; i < SEEDS; i++) {
        seeds->ids[i] = i % 4 == 3 ? seeds->ids[i / 2] : random_below(&state, ROWS * GRAPH_PARTS);
        seeds->times[i] = (int64_t)random_below(&state, TIMES);
        seeds->exclusions[i] = i % 3 == 0 ? 0 : (uint32_t)random_below(&state, EXCLUDED_MAX);
        for (uint32_t e = 0; e < seeds->exclusions[i]; e++)
            seeds->excluded[excluded++] = random_below(&state, ROWS * GRAPH_PARTS);
    }
}

static void make_spec(struct sample_spec *spec, int32_t fanout)
{
    struct sample_term term = SAMPLE_TERM(fanout, false);
    term.weights = 0;
    assert_int_equal(sample_spec_alloc(spec, LAYERS, GRAPH_ETYPES), 0);
    /* The sources of the last edge type are no nodes of this graph. */
    for (uint32_t l = 0; l < LAYERS; l++)
        *sample_spec_term(spec, l, KNOWS) = *sample_spec_term(spec, l, BUYS) = term;
    spec->kind = RECENT;
    spec->row_fields = SAMPLE_SEED_FIELDS;
}

/* The answer to a single draw by that spec: 0, or the code of the refusal. */
static int draw(struct world *world, const struct sample_spec *spec, const struct seeds *seeds)
{
    const struct sample_row_fields with = { .times = seeds->times,
                                            .exclusions = seeds->exclusions,
                                            .excluded = seeds->excluded };
    uint64_t excluded = 0, bytes = sizeof seeds->ids;
    for (uint32_t i = 0; i < SEEDS; i++)
        excluded += seeds->exclusions[i];
    const struct msg_draw_request head = { .draw = 1,
                                           .seed = 11,
                                           .num_seeds = SEEDS,
                                           .ntype = ITEM,
                                           .features = MSG_MASK_ALL,
                                           .labels = MSG_MASK_ALL,
                                           .flags = MSG_LOADER_ORIGINAL_IDS | MSG_LOADER_EDGE_IDS,
                                           .spec_bytes = (uint32_t)sample_spec_bytes(spec) };
    assert_int_equal(row_fields_grow(&bytes, spec->row_fields, SEEDS, excluded), 0);
    unsigned char *body = malloc(bytes + head.spec_bytes);
    assert_non_null(body);
    memcpy(body, seeds->ids, sizeof seeds->ids);
    assert_int_equal(row_fields_put(body, sizeof seeds->ids, spec->row_fields, SEEDS, &with),
                     bytes);
    sample_spec_write(spec, body + bytes);
    int rv = asker_ask(&world->asker, MSG_DRAW_REQUEST, &head, sizeof head, body,
                       bytes + head.spec_bytes);
    free(body);
    if (rv == 0 && world->asker.reply_kind == MSG_ERROR_REPLY)
        rv = ((const struct msg_error_reply *)(const void *)world->asker.reply_head)->code;
    return rv;
}

/* Which seed's tree came first to each node: by walking the batch again. */
struct roots {
    uint32_t of[GRAPH_NTYPES][ROWS * GRAPH_PARTS + SEEDS];
    uint32_t num[GRAPH_NTYPES];
};

static bool seed_excludes(const struct seeds *seeds, uint32_t seed, uint64_t id)
{
    const uint64_t *excluded = seeds->excluded;
    for (uint32_t i = 0; i < seed; i++)
        excluded += seeds->exclusions[i];
    for (uint32_t i = 0; i < seeds->exclusions[seed]; i++)
        if (excluded[i] == id)
            return true;
    return false;
}

/* The in-edges of a node that its root allows, in the partition's order: their IDs. */
static uint32_t allowed_edges(const struct world *world, const struct seeds *seeds, uint32_t etype,
                              uint64_t node, uint32_t root, uint64_t *ids)
{
    uint32_t part = (uint32_t)(node / ROWS), row = (uint32_t)(node % ROWS), count = 0;
    const struct csc *csc = &world->graph.parts[part].edges[etype].csc;
    const int64_t *times = world->times[part][etype].rows;
    for (uint64_t at = csc->index[row]; at < csc->index[row + 1]; at++)
        if (times[at] <= seeds->times[root] && !seed_excludes(seeds, root, csc->indices[at]))
            ids[count++] = csc->first_edge + at;
    return count;
}

static void check_block(const struct world *world, const struct seeds *seeds, int32_t fanout,
                        const struct sampled_batch *batch, uint32_t layer, uint32_t etype,
                        struct roots *roots)
{
    uint32_t dst = etype == BUYS ? ITEM : USER, e = 0;
    const struct block_edges *edges = &batch->space.batch.blocks[layer].edges[etype];
    for (uint32_t i = 0; i < edges->num_dst; i++) {
        uint64_t ids[64];
        uint32_t root = roots->of[dst][i];
        uint32_t count = allowed_edges(world, seeds, etype, batch->space.nodes[dst].ids[i], root,
                                       ids);
        uint32_t drawn = fanout >= 0 && count > (uint32_t)fanout ? (uint32_t)fanout : count;
        assert_int_equal(edges->index[i + 1] - edges->index[i], drawn);
        for (uint32_t k = 0; k < drawn; k++, e++) {
            assert_int_equal(edges->edge_ids[e], ids[count - 1 - k]);
            if (edges->sources[e] == roots->num[USER])
                roots->of[USER][roots->num[USER]++] = root;
        }
    }
}

/* Every edge of the batch is one that the definition draws, and every one that it draws is
 * there. */
static uint32_t check_batch(const struct world *world, const struct seeds *seeds, int32_t fanout,
                            const struct sampled_batch *batch)
{
    struct roots roots = { .num = { [ITEM] = SEEDS } };
    uint32_t edges = 0;
    assert_memory_equal(batch->space.nodes[ITEM].ids, seeds->ids, sizeof seeds->ids);
    for (uint32_t i = 0; i < SEEDS; i++)
        roots.of[ITEM][i] = i;
    for (uint32_t l = LAYERS; l-- > 0;)
        for (uint32_t e = KNOWS; e <= BUYS; e++) {
            check_block(world, seeds, fanout, batch, l, e, &roots);
            edges += batch->space.batch.blocks[l].edges[e].num_edges;
        }
    assert_int_equal(roots.num[USER], batch->space.nodes[USER].num_nodes);
    return edges;
}

static void rows_bring_their_fields_to_a_new_sampler(void **state)
{
    (void)state;
    static const struct way ways[] = {
        { .local = true },
        { .local = true, .codec = true },
        { .local = false },
        { .local = false, .codec = true },
        { .local = false, .codec = true, .slice_edges = 7, .reply_bytes_max = 400 },
    };
    static const int32_t fanouts[] = { FANOUT, SAMPLE_EVERY };
    struct seeds *seeds = calloc(1, sizeof *seeds);
    assert_non_null(seeds);
    make_seeds(seeds);
    for (size_t f = 0; f < sizeof fanouts / sizeof *fanouts; f++) {
        uint64_t first = 0;
        for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
            struct world world;
            struct sample_spec spec;
            uint64_t digest;
            open_world(&world, &ways[i]);
            make_spec(&spec, fanouts[f]);
            assert_int_equal(draw(&world, &spec, seeds), 0);
            struct sampled_batch *batch = batch_store_collect(world.store, 1, 0, 0);
            assert_non_null(batch);
            assert_true(check_batch(&world, seeds, fanouts[f], batch) > 100);
            assert_int_equal(batch_digest(&batch->space.batch, &digest), 0);
            assert_true(i == 0 || digest == first);
            first = digest;
            sampled_batch_release(batch);
            sample_spec_free(&spec);
            close_world(&world);
        }
    }
    free(seeds);
}

/* Seeds of a loader bring nothing along: no edge is too late for them, and all may be drawn. */
static void seeds_without_fields_draw_what_there_is(void **state)
{
    (void)state;
    struct seeds *seeds = calloc(1, sizeof *seeds);
    assert_non_null(seeds);
    make_seeds(seeds);
    memset(seeds->exclusions, 0, sizeof seeds->exclusions);
    for (uint32_t i = 0; i < SEEDS; i++)
        seeds->times[i] = SAMPLE_NO_TIME;
    for (int local = 0; local < 2; local++) {
        const struct way way = { .local = local != 0, .codec = true };
        const struct msg_loader_open open = { .loader = 1,
                                              .seed = 11,
                                              .num_seeds = SEEDS,
                                              .ntype = ITEM,
                                              .batch_size = SEEDS,
                                              .world = 1,
                                              .features = MSG_MASK_ALL,
                                              .labels = MSG_MASK_ALL,
                                              .flags = MSG_LOADER_EDGE_IDS,
                                              .seeds = MSG_SEEDS_GIVEN };
        const struct msg_batch_request asked = { .loader = 1, .num_seeds = SEEDS };
        struct world world;
        struct sample_spec spec;
        open_world(&world, &way);
        make_spec(&spec, FANOUT);
        assert_int_equal(asker_open_spec(&world.asker, &open, seeds->ids, &spec), 0);
        assert_int_equal(world.asker.reply_kind, MSG_LOADER_OPENED);
        batch_store_set_epoch(world.store, 1, 0, 0);
        assert_int_equal(asker_ask(&world.asker, MSG_BATCH_REQUEST, &asked, sizeof asked,
                                   seeds->ids, sizeof seeds->ids),
                         0);
        struct sampled_batch *batch = batch_store_collect(world.store, 1, 0, 0);
        assert_non_null(batch);
        assert_true(check_batch(&world, seeds, FANOUT, batch) > 100);
        sampled_batch_release(batch);
        sample_spec_free(&spec);
        close_world(&world);
    }
    free(seeds);
}

/* A draw that the sampler of a spec, or the partitions, cannot do is refused on both ways. */
static void what_no_sampler_serves_is_refused(void **state)
{
    (void)state;
    struct seeds *seeds = calloc(1, sizeof *seeds);
    assert_non_null(seeds);
    make_seeds(seeds);
    for (int local = 0; local < 2; local++) {
        const struct way way = { .local = local != 0, .codec = true };
        struct world world;
        struct sample_spec spec;
        open_world(&world, &way);
        make_spec(&spec, FANOUT);
        spec.kind = SAMPLE_UNIFORM; /* it reads no times */
        assert_int_equal(draw(&world, &spec, seeds), TR_EUNSUPPORTED);
        spec.kind = RECENT + 1;
        assert_int_equal(draw(&world, &spec, seeds), TR_EUNSUPPORTED);
        spec.kind = RECENT;
        for (uint32_t l = 0; l < LAYERS; l++)
            sample_spec_term(&spec, l, BUYS)->weights = 1; /* there is one table */
        assert_int_equal(draw(&world, &spec, seeds), TR_ERANGE);
        for (uint32_t l = 0; l < LAYERS; l++)
            sample_spec_term(&spec, l, BUYS)->weights = 0;
        /* Users, whom the first hop draws, draw in the second. */
        for (uint32_t l = 0; l < LAYERS; l++)
            sample_spec_term(&spec, l, KNOWS)->direction = SAMPLE_OUT;
        assert_int_equal(draw(&world, &spec, seeds), TR_EUNSUPPORTED);
        sample_spec_free(&spec);
        close_world(&world);
    }
    free(seeds);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_bring_their_fields_to_a_new_sampler),
        cmocka_unit_test(seeds_without_fields_draw_what_there_is),
        cmocka_unit_test(what_no_sampler_serves_is_refused),
    };
    return cmocka_run_group_tests_name("second_sampler", tests, NULL, NULL);
}
