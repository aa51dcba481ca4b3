/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The oracle for batches can fail: whatever is changed in a batch, it is noticed. And a partition
 * whose column tables contradict each other is refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/reference.h"

#define GRAPHS 80
#define LOADERS_HASH UINT64_C(0x2914504226c43724)

struct fixture {
    struct sim_graph raw;
    struct reference builds, checks;
    struct wanted_loader loader;
    struct mini_batch batch;
    struct error error; /* of the last check */
};

/* A batch of a graph whose rows are all asked for, where the reference has none of its own. */
/* mixed: pairs, if its seeds are pairs, may be of several edge types. */
static void setup(struct fixture *f, uint64_t seed, bool mixed)
{
    struct draws draws = draws_of(seed, 1);
    sim_graph_init(&f->raw, &draws);
    reference_init(&f->builds, &f->raw);
    reference_init(&f->checks, &f->raw);
    uint32_t t = f->raw.types.etypes[0].dst;
    uint32_t n = f->raw.num_nodes[t];
    f->loader = (struct wanted_loader){ .open = {
                                            .seed = seed,
                                            .num_seeds = n,
                                            .ntype = t,
                                            .batch_size = n + 1,
                                            .world = 1,
                                            .features = MSG_MASK_ALL,
                                            .labels = MSG_MASK_ALL,
                                            .flags = MSG_LOADER_EDGE_IDS | MSG_LOADER_ORIGINAL_IDS,
                                        } };
    assert_int_equal(sample_spec_alloc(&f->loader.spec, 2, f->raw.types.num_etypes), 0);
    const struct sample_term three = SAMPLE_TERM(3, false), all = SAMPLE_TERM(-1, false);
    sample_spec_set_layer(&f->loader.spec, 0, &three);
    sample_spec_set_layer(&f->loader.spec, 1, &all);
    f->loader.seeds = calloc(n + 1, sizeof *f->loader.seeds);
    assert_non_null(f->loader.seeds);
    for (uint32_t v = 0; v < n; v++)
        f->loader.seeds[v] = v;
    wanted_loader_pair(&f->loader, &f->raw);
    wanted_loader_range(&f->loader, &f->raw);
    if (seed % 2 == 1)
        wanted_loader_link(&f->loader);
    if (seed % 4 == 1)
        wanted_loader_corrupt(&f->loader);
    if (seed % 8 == 1)
        wanted_loader_redraw(&f->loader);
    if (seed % 8 == 5)
        wanted_loader_weigh(&f->loader, &f->raw);
    if (mixed)
        wanted_loader_mix(&f->loader, &f->raw);
    reference_build(&f->builds, &f->loader, 0, 0, &f->batch);
}

static void teardown(struct fixture *f)
{
    wanted_loader_fini(&f->loader);
    reference_fini(&f->builds);
    reference_fini(&f->checks);
    sim_graph_fini(&f->raw);
}

static int check(struct fixture *f)
{
    f->error = (struct error){ 0 };
    int rv = reference_check(&f->checks, &f->builds.partitions, &f->loader, 0, 0, &f->batch,
                             &f->error);
    assert_true((rv == 0) == (f->error.text[0] == '\0'));
    return rv;
}

static void expect_noticed(struct fixture *f, void *at, size_t size)
{
    unsigned char before[8];
    memcpy(before, at, size);
    *(unsigned char *)at ^= 1;
    assert_int_equal(check(f), TR_EMISMATCH);
    memcpy(at, before, size);
    assert_int_equal(check(f), 0);
}

/* A wrong count of nodes is noticed before a node is looked at. */
static void expect_counted(struct fixture *f, uint32_t *count)
{
    *count ^= 1;
    assert_int_equal(check(f), TR_EMISMATCH);
    *count ^= 1;
    assert_non_null(strstr(f->error.text, " nodes, "));
    assert_int_equal(check(f), 0);
}

static void *writable(const void *data)
{
    return (void *)(uintptr_t)data;
}

static void every_change_is_noticed(void **state)
{
    (void)state;
    uint32_t with_edges = 0, with_pairs = 0, with_seed_edges = 0, with_negatives = 0;
    uint32_t with_negative_sources = 0;
    for (uint64_t seed = 0; seed < GRAPHS; seed++) {
        struct fixture f;
        setup(&f, seed, seed % 3 == 1);
        uint32_t t = f.loader.open.ntype;
        struct block_edges *edges = writable(&f.batch.blocks[1].edges[0]);
        const struct batch_nodes *nodes = &f.batch.nodes[t];
        struct batch_pairs *pairs = writable(f.batch.pairs);
        if (nodes->num_seeds == 0) {
            teardown(&f);
            continue;
        }
        assert_int_equal(check(&f), 0);
        expect_noticed(&f, &f.batch.index, 8);
        expect_noticed(&f, &f.batch.step_seeds, 4);
        expect_counted(&f, writable(&nodes->num_seeds));
        for (uint32_t i = 0; i < f.raw.types.num_ntypes; i++)
            expect_counted(&f, writable(&f.batch.nodes[i].num_nodes));
        expect_noticed(&f, writable(&nodes->ids[0]), 8);
        expect_noticed(&f, &f.batch.num_pair_types, 4);
        if (pairs->count > 0) {
            with_pairs++;
            expect_noticed(&f, &pairs->etype, 4);
            expect_noticed(&f, &pairs->count, 4);
            expect_noticed(&f, writable(&pairs->sources[pairs->count - 1]), 4);
            expect_noticed(&f, writable(&pairs->destinations[0]), 4);
            with_seed_edges += pairs->edge_ids != NULL;
            if (pairs->edge_ids != NULL)
                expect_noticed(&f, writable(&pairs->edge_ids[0]), 8);
            with_negatives += pairs->count_negatives > 0;
            expect_noticed(&f, &pairs->negatives_rule.each, 4);
            expect_noticed(&f, &pairs->negatives_rule.of, 4);
            expect_noticed(&f, &pairs->negatives_rule.ends, 4);
            expect_noticed(&f, &pairs->negatives_rule.no_edges, 4);
            expect_noticed(&f, &pairs->negatives_rule.by_degree, 4);
            expect_noticed(&f, &pairs->negative_edges, 4);
            with_negative_sources += pairs->count_negative_sources > 0;
            if (pairs->count_negative_sources > 0) {
                uint32_t last = pairs->count_negative_sources - 1;
                expect_noticed(&f, &pairs->count_negative_sources, 4);
                expect_noticed(&f, writable(&pairs->negative_sources[last]), 4);
            }
            if (pairs->count_negatives > 0) {
                expect_noticed(&f, &pairs->count_negatives, 4);
                expect_noticed(&f, writable(&pairs->negatives[pairs->count_negatives - 1]), 4);
            }
        }
        if (edges->num_edges > 0) {
            with_edges++;
            expect_noticed(&f, writable(&edges->index[edges->num_dst]), 4);
            expect_noticed(&f, writable(&edges->sources[edges->num_edges - 1]), 4);
            expect_noticed(&f, writable(&edges->edge_ids[0]), 8);
            expect_noticed(&f, &edges->num_edges, 4);
        }
        teardown(&f);
    }
    assert_true(with_edges > GRAPHS / 2 && with_pairs > with_seed_edges && with_seed_edges > 1);
    assert_true(with_negatives > 1);
    assert_true(with_negative_sources > 1);
}

static void missing_rows_are_noticed(void **state)
{
    (void)state;
    struct fixture f;
    setup(&f, 1, false);
    assert_true(f.raw.num_nodes[f.loader.open.ntype] > 0);
    f.loader.open.labels = PLACED_LABEL;
    assert_int_equal(check(&f), TR_EMISMATCH);
    f.loader.open.labels = MSG_MASK_ALL;
    f.loader.open.flags |= MSG_LOADER_DEGREES;
    assert_int_equal(check(&f), TR_EMISMATCH);
    teardown(&f);
}

static void contradicting_column_tables_are_refused(void **state)
{
    (void)state;
    uint64_t table[RAW_NODES_MAX] = { 0 };
    uint32_t refused = 0;
    for (uint64_t seed = 0; seed < GRAPHS; seed++) {
        struct draws draws = draws_of(seed, 1);
        struct sim_graph raw;
        struct sim_partitions partitions;
        struct error error = { 0 };
        sim_graph_init(&raw, &draws);
        sim_partitions_init(&partitions, &raw, 2, NULL);
        struct graph_part *part = &partitions.parts[0];
        for (uint32_t e = 1; e < raw.types.num_etypes; e++)
            if (raw.types.etypes[e].src == raw.types.etypes[0].src && raw.edges[0].count > 0) {
                part->edges[e].csc.column_global = table;
                graph_meta_add_part(&partitions.meta, part);
                assert_int_equal(graph_meta_check_part(&partitions.meta, part, &error), TR_EFORMAT);
                assert_non_null(strstr(error.text, raw.types.etypes[0].name));
                part->edges[e].csc.column_global = NULL;
                refused++;
                break;
            }
        sim_partitions_fini(&partitions);
        sim_graph_fini(&raw);
    }
    assert_true(refused > 5);
}

/* Every fifth pair is the one before it once more, and the others differ. */
static void some_pairs_come_twice(void **state)
{
    uint32_t repeats = 0, others = 0;
    (void)state;
    for (uint64_t seed = 0; seed < GRAPHS; seed++) {
        struct fixture f;
        setup(&f, seed, false);
        const uint64_t *pairs = f.loader.pairs;
        for (uint64_t i = 1; pairs != NULL && i < f.loader.open.num_seeds; i++) {
            bool same = pairs[2 * i] == pairs[2 * i - 2] && pairs[2 * i + 1] == pairs[2 * i - 1];
            assert_true(same || i % 5 != 4);
            repeats += i % 5 == 4;
            others += !same;
        }
        teardown(&f);
    }
    assert_true(repeats > 0 && others > repeats);
}

/* FNV-1a, of the bytes of a number. */
static void add(uint64_t *hash, uint64_t number)
{
    for (int i = 0; i < 8; i++)
        *hash = (*hash ^ (number >> (8 * i) & 0xff)) * UINT64_C(0x100000001b3);
}

/* The draws that are made of a loader's seed once its graph is there: seeds of whole jobs are
 * remembered by their numbers (tests/sim/seeds.txt) and mean these. */
static void loaders_stay_what_they_were(void **state)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325), tables = 0;
    (void)state;
    for (uint64_t seed = 0; seed < GRAPHS; seed++) {
        struct fixture f;
        struct sim_partitions partitions;
        setup(&f, seed, false);
        sim_partitions_init(&partitions, &f.raw, 2, NULL);
        struct wanted_loader *loader = &f.loader;
        wanted_loader_vary(loader, seed % 2 == 0);
        wanted_loader_list(loader, &partitions);
        for (uint32_t l = 0; l < loader->spec.num_layers; l++)
            for (uint32_t e = 0; e < loader->spec.num_etypes; e++) {
                const struct sample_term *term = sample_spec_term(&loader->spec, l, e);
                add(&hash, (uint64_t)term->fanout);
                add(&hash, term->flags);
            }
        tables += loader->spec.num_tables;
        for (uint32_t i = 0; i < loader->spec.num_tables; i++) {
            const struct sample_table *table = &loader->spec.tables[i];
            add(&hash, table->of);
            add(&hash, table->type);
            add(&hash, table->name);
            add(&hash, table->where);
        }
        add(&hash, loader->open.seeds);
        for (uint64_t i = 0; loader->pairs != NULL && i < 2 * loader->open.num_seeds; i++)
            add(&hash, loader->pairs[i]);
        for (uint64_t i = 0; loader->edges != NULL && i < loader->open.num_seeds; i++)
            add(&hash, loader->edges[i]);
        sim_partitions_fini(&partitions);
        teardown(&f);
    }
    assert_true(tables > GRAPHS / 4);
    if (hash != LOADERS_HASH)
        fail_msg("the draws of loaders have changed: %#llx", (unsigned long long)hash);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_change_is_noticed),
        cmocka_unit_test(missing_rows_are_noticed),
        cmocka_unit_test(some_pairs_come_twice),
        cmocka_unit_test(loaders_stay_what_they_were),
        cmocka_unit_test(contradicting_column_tables_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
