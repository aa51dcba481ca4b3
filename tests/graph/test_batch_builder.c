/* SPDX-License-Identifier: Apache-2.0 */
/* Batch builders against a naive walk in original IDs, for any number of partitions, whichever of
 * them are read directly, in slices of any size. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "graph/digest.h"
#include "graph/key.h"
#include "graph/subset.h"
#include "tests/graph/fixture.h"

/* How many more allocations succeed; negative: all. */
static long allowed = -1;

static int refused(void)
{
    if (allowed > 0)
        allowed--;
    else if (allowed == 0)
        return 1;
    return 0;
}

void *__real_calloc(size_t n, size_t size);
void *__real_aligned_alloc(size_t align, size_t size);
void *__real_mmap(void *at, size_t size, int protection, int flags, int file, off_t offset);
void *__real_realloc(void *block, size_t size);
void *__wrap_realloc(void *block, size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_aligned_alloc(size_t align, size_t size);
void *__wrap_mmap(void *at, size_t size, int protection, int flags, int file, off_t offset);

void *__wrap_realloc(void *block, size_t size)
{
    return refused() ? NULL : __real_realloc(block, size);
}

void *__wrap_calloc(size_t n, size_t size)
{
    return refused() ? NULL : __real_calloc(n, size);
}

void *__wrap_aligned_alloc(size_t align, size_t size)
{
    return refused() ? NULL : __real_aligned_alloc(align, size);
}

void *__wrap_mmap(void *at, size_t size, int protection, int flags, int file, off_t offset)
{
    return refused() ? MAP_FAILED : __real_mmap(at, size, protection, flags, file, offset);
}

/* The naive walk: node lists in original IDs, found by searching. */
struct naive {
    uint64_t ids[FIXTURE_NTYPES][2 * FIXTURE_NODES_MAX]; /* repeats have a place of their own */
    uint32_t num[FIXTURE_NTYPES];
};

static uint32_t place(struct naive *naive, uint32_t ntype, uint64_t id)
{
    uint32_t i = 0;
    while (i < naive->num[ntype] && naive->ids[ntype][i] != id)
        i++;
    if (i == naive->num[ntype])
        naive->ids[ntype][naive->num[ntype]++] = id;
    return i;
}

/* Positions drawn of one node, by definition; returns how many. */
static uint32_t draw(uint32_t *positions, const struct sample_term *term, uint32_t degree,
                     uint64_t key)
{
    uint64_t next = 0;
    uint32_t fanout = term->fanout < 0 ? SAMPLE_ALL : (uint32_t)term->fanout;
    bool replace = (term->flags & SAMPLE_REPLACE) != 0;
    if (degree == 0 || fanout == SAMPLE_ALL || (degree <= fanout && !replace)) {
        for (uint32_t i = 0; i < degree; i++)
            positions[i] = i;
        return degree;
    }
    if (!replace && fanout > 0)
        subset_draw(positions, fanout, degree, key, NULL);
    for (uint32_t i = 0; replace && i < fanout; i++)
        positions[i] = (uint32_t)key_below(key, &next, degree);
    return fanout;
}

/* The per-type global ID of the first in-edge of a node. */
static uint64_t edge_id(const struct fixture *fixture, uint32_t e, uint64_t id)
{
    uint32_t dst = fixture->types.etypes[e].dst;
    uint64_t global = fixture->global[dst][id];
    int owner = extents_owner(fixture->extents[dst], fixture->num_parts, global);
    assert_true(owner >= 0);
    const struct csc *csc = &fixture->edges[owner][e].csc;
    return csc->first_edge + csc->index[global - fixture->extents[dst][owner].begin];
}

/* How often the seed at a place came before; what is no seed came once. */
static uint32_t occurrence(const struct fixture_plan *plan, const struct naive *naive,
                           uint32_t ntype, uint32_t at)
{
    uint32_t times = 0;
    for (uint32_t i = 0; i < at && at < plan->num_seeds[ntype]; i++)
        times += naive->ids[ntype][i] == naive->ids[ntype][at];
    return times;
}

static void check_edges(const struct fixture *fixture, const struct fixture_plan *plan,
                        struct naive *naive, const struct block_edges *edges, uint32_t num_dst,
                        uint32_t hop, uint32_t e)
{
    const struct graph_etype *type = &fixture->types.etypes[e];
    const struct sample_term term = fixture_term(plan, hop, e);
    uint32_t at = 0, positions[64];
    assert_int_equal(edges->num_dst, num_dst);
    for (uint32_t i = 0; i < num_dst; i++) {
        uint64_t id = naive->ids[type->dst][i];
        uint64_t key = key_node(fixture_base(plan, hop, e), id);
        key = key_occurrence(key, occurrence(plan, naive, type->dst, i));
        uint32_t count = draw(positions, &term, fixture->degree[e][id], key);
        assert_int_equal(edges->index[i], at);
        for (uint32_t k = 0; k < count; k++, at++) {
            assert_int_equal(edges->sources[at],
                             place(naive, type->src, fixture->neighbours[e][id][positions[k]]));
            assert_int_equal(edges->edge_ids[at], edge_id(fixture, e, id) + positions[k]);
        }
    }
    assert_int_equal(edges->index[num_dst], at);
    assert_int_equal(edges->num_edges, at);
}

static void check_nodes(const struct fixture *fixture, const struct batch_nodes *nodes,
                        uint32_t ntype, const uint64_t *ids)
{
    for (uint32_t i = 0; i < nodes->num_nodes; i++) {
        uint64_t weight = fixture_weight(ntype, ids[i]);
        assert_int_equal(nodes->original_ids[i], ids[i]);
        assert_int_equal(nodes->ids[i], fixture->global[ntype][ids[i]]);
        assert_int_equal(((const uint64_t *)nodes->features.rows)[i], weight);
        assert_int_equal(nodes->in_degrees[i], weight + 1);
        assert_int_equal(nodes->out_degrees[i], weight + 1);
    }
    for (uint32_t i = 0; ntype == 0 && i < nodes->num_seeds; i++)
        assert_int_equal(((const uint64_t *)nodes->labels.rows)[i], fixture_weight(0, ids[i]));
    assert_int_equal(nodes->labels.num_rows, ntype == 0 ? nodes->num_seeds : 0);
}

static void check_batch(const struct fixture *fixture, const struct fixture_plan *plan,
                        const struct mini_batch *batch)
{
    struct naive naive = { 0 };
    for (uint32_t t = 0; t < FIXTURE_NTYPES; t++) {
        fixture_seeds(fixture, plan, t, naive.ids[t]);
        naive.num[t] = plan->num_seeds[t];
        assert_int_equal(batch->nodes[t].num_seeds, naive.num[t]);
    }
    for (uint32_t hop = 0; hop < plan->num_layers; hop++) {
        const struct block *block = &batch->blocks[plan->num_layers - 1 - hop];
        struct naive before = naive;
        for (uint32_t e = 0; e < FIXTURE_ETYPES; e++)
            check_edges(fixture, plan, &naive, &block->edges[e],
                        before.num[fixture->types.etypes[e].dst], hop, e);
        for (uint32_t t = 0; t < FIXTURE_NTYPES; t++) {
            assert_int_equal(block->num_dst[t], before.num[t]);
            assert_int_equal(block->num_src[t], naive.num[t]);
        }
    }
    for (uint32_t t = 0; t < FIXTURE_NTYPES; t++) {
        assert_int_equal(batch->nodes[t].num_nodes, naive.num[t]);
        check_nodes(fixture, &batch->nodes[t], t, naive.ids[t]);
    }
}

static const struct fixture_plan plans[] = {
    { .seed = 1, .num_layers = 3, .fanouts = { 3, 2, 2 }, .num_seeds = { 10, 0, 0 } },
    { .seed = 2, .num_layers = 2, .fanouts = { 5, 10 }, .num_seeds = { 7, 5, 0 } },
    { .seed = 3, .num_layers = 2, .fanouts = { 25, -1 }, .num_seeds = { 0, 3, 0 } },
    { .seed = 4, .num_layers = 2, .fanouts = { 4, 3 }, .replace = true, .num_seeds = { 9, 2, 0 } },
    { .seed = 8,
      .num_layers = 3,
      .fanouts = { 3, 2, 1 },
      .varied = true,
      .num_seeds = { 12, 9, 0 } },
    { .seed = 9,
      .num_layers = 2,
      .fanouts = { 4, 6 },
      .replace = true,
      .varied = true,
      .num_seeds = { 12, 9, 0 } },
    { .seed = 10,
      .num_layers = 2,
      .fanouts = { 2, 3 },
      .repeats = true,
      .num_seeds = { 20, 13, 0 } },
    { .seed = 11,
      .num_layers = 2,
      .fanouts = { 2, 3 },
      .replace = true,
      .repeats = true,
      .num_seeds = { 170, 3, 0 } },
    { .seed = 5, .num_layers = 1, .fanouts = { 0 }, .num_seeds = { 9, 2, 0 } },
    { .seed = 6, .num_layers = 4, .fanouts = { 1, 1, 1, 1 }, .num_seeds = { 0, 0, 0 } },
    { .seed = 7, .num_layers = 1, .fanouts = { 29 }, .num_seeds = { 300, 170, 0 } },
    /* So many edges a row would not fit in any block: degrees say how many there are. */
    { .seed = 12,
      .num_layers = 1,
      .fanouts = { (int32_t)SAMPLE_FANOUT_MAX },
      .num_seeds = { 300, 170, 0 } },
};

#define NUM_PLANS (sizeof plans / sizeof *plans)

/* A builder and what it needs, for batches of one number of layers. */
struct bench {
    struct batch_builder builder;
    struct batch_builder_space space;
    struct batch_space out;
};

static int set_up(struct bench *bench, const struct fixture *fixture, uint32_t num_layers,
                  uint32_t slice)
{
    struct batch_builder_graph graph = fixture->graph;
    graph.slice = slice;
    *bench = (struct bench){ .out = { .batch = { .num_layers = 0 } } };
    int rv = batch_builder_init(&bench->builder, &graph);
    return rv != 0 ? rv : batch_space_init(&bench->out, FIXTURE_NTYPES, FIXTURE_ETYPES, num_layers);
}

static void tear_down(struct bench *bench)
{
    batch_builder_fini(&bench->builder);
    batch_builder_space_fini(&bench->space);
    batch_space_fini(&bench->out);
}

static uint64_t check_plan(const struct fixture *fixture, const struct fixture_plan *plan,
                           uint32_t asked, uint32_t slice)
{
    struct bench bench;
    uint64_t digest = 0;
    assert_int_equal(set_up(&bench, fixture, plan->num_layers, slice), 0);
    for (int again = 0; again < 2; again++) {
        batch_space_clear(&bench.out);
        assert_int_equal(
            fixture_batch(fixture, plan, asked, &bench.builder, &bench.space, &bench.out), 0);
        check_batch(fixture, plan, &bench.out.batch);
    }
    assert_int_equal(batch_digest(&bench.out.batch, &digest), 0);
    assert_true(batch_space_bytes(&bench.out) > 0);
    tear_down(&bench);
    return digest;
}

/* Every placement gives the batch of the naive walk, and so the same digest: any number of
 * partitions, none or some or all of them asked, narrow and wide columns, slices of any size. */
static void batches_equal_the_naive_walk(void **state)
{
    (void)state;
    static const uint32_t asked[] = { 0, 31, 10 }, slices[] = { 0, 3, 64 };
    uint64_t digests[NUM_PLANS] = { 0 };
    struct fixture *fixture = malloc(sizeof *fixture);
    for (uint32_t run = 0; run < 2 * FIXTURE_PARTS_MAX; run++) {
        fixture_init(fixture, 99, run / 2 + 1, run % 2 == 1);
        for (size_t i = 0; i < NUM_PLANS * 9; i++) {
            size_t plan = i / 9;
            uint64_t digest = check_plan(fixture, &plans[plan], asked[i % 3], slices[i / 3 % 3]);
            assert_true(digests[plan] == 0 || digest == digests[plan]);
            digests[plan] = digest;
        }
        fixture_fini(fixture);
    }
    for (size_t i = 0; i < NUM_PLANS; i++) {
        for (size_t j = 0; j < i; j++)
            assert_true(digests[i] != digests[j]);
    }
    free(fixture);
}

/* Rows of a batch carry which occurrence of its node each is only where a node came twice, whatever
 * the batch before it was. */
static void only_repeated_seeds_cost_salts(void **state)
{
    (void)state;
    struct fixture *fixture = malloc(sizeof *fixture);
    struct bench bench;
    fixture_init(fixture, 99, 3, false);
    assert_int_equal(set_up(&bench, fixture, 2, 0), 0);
    for (size_t i = 0; i < NUM_PLANS; i++) {
        if (plans[i].num_layers != 2)
            continue;
        batch_space_clear(&bench.out);
        assert_int_equal(
            fixture_batch(fixture, &plans[i], 2, &bench.builder, &bench.space, &bench.out), 0);
        check_batch(fixture, &plans[i], &bench.out.batch);
        assert_int_equal(bench.builder.types[0].repeats, plans[i].repeats);
    }
    batch_space_clear(&bench.out);
    assert_int_equal(fixture_batch(fixture, &plans[1], 2, &bench.builder, &bench.space, &bench.out),
                     0);
    assert_false(bench.builder.types[0].repeats);
    tear_down(&bench);
    fixture_fini(fixture);
    free(fixture);
}

static void digest_sees_each_edge(void **state)
{
    (void)state;
    struct fixture *fixture = malloc(sizeof *fixture);
    struct bench bench;
    uint64_t digest, changed;
    fixture_init(fixture, 99, 2, false);
    assert_int_equal(set_up(&bench, fixture, plans[0].num_layers, 0), 0);
    assert_int_equal(fixture_batch(fixture, &plans[0], 0, &bench.builder, &bench.space, &bench.out),
                     0);
    const struct mini_batch *batch = &bench.out.batch;
    assert_int_equal(batch_digest(batch, &digest), 0);
    uint32_t *sources = (uint32_t *)(uintptr_t)batch->blocks[0].edges[0].sources;
    uint32_t first = sources[0];
    for (uint32_t i = 1; i < 20; i++) { /* swapping two different ones must show */
        if (sources[i] == first)
            continue;
        sources[0] = sources[i];
        sources[i] = first;
        assert_int_equal(batch_digest(batch, &changed), 0);
        assert_true(changed != digest);
        sources[i] = sources[0];
        sources[0] = first;
    }
    bench.out.nodes[0].original_ids = NULL;
    assert_int_equal(batch_digest(batch, &changed), TR_EINVAL);
    tear_down(&bench);
    fixture_fini(fixture);
    free(fixture);
}

/* A batch has as many tables as were asked for last, which say nothing of those of a batch before,
 * and none where memory ended. */
static void tables_begin_empty(void **state)
{
    static const uint32_t counts[] = { 2, 3, 0, 1, 7, 7 };
    static const struct batch_table EMPTY;
    struct batch_space space;
    (void)state;
    assert_int_equal(batch_space_init(&space, FIXTURE_NTYPES, FIXTURE_ETYPES, 1), 0);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        int rv = TR_ENOMEM;
        for (long tries = 0; rv != 0; tries++) {
            allowed = tries;
            rv = batch_space_set_tables(&space, counts[i]);
            allowed = -1;
            assert_true(rv == 0 || rv == TR_ENOMEM);
            assert_int_equal(space.batch.num_tables, rv == 0 ? counts[i] : 0);
        }
        for (uint32_t t = 0; t < counts[i]; t++)
            assert_memory_equal(&space.tables[t], &EMPTY, sizeof EMPTY);
        if (counts[i] > 0)
            memset(space.tables, 0xff, counts[i] * sizeof *space.tables);
    }
    batch_space_fini(&space);
}

/* The lists of edges whose tables are wanted are the last that a batch takes memory for. */
static void edges_without_memory_for_their_lists_are_refused(void **state)
{
    (void)state;
    struct fixture *fixture = malloc(sizeof *fixture);
    struct bench bench;
    fixture_init(fixture, 99, 2, false);
    assert_int_equal(set_up(&bench, fixture, plans[0].num_layers, 0), 0);
    assert_int_equal(fixture_batch(fixture, &plans[0], 0, &bench.builder, &bench.space, &bench.out),
                     0);
    struct sample_table table = { .of = SAMPLE_OF_EDGES, .type = 0, .where = SAMPLE_FOR_ALL };
    const struct sample_spec spec = { .num_layers = plans[0].num_layers,
                                      .num_etypes = FIXTURE_ETYPES,
                                      .tables = &table,
                                      .num_tables = 1 };
    const struct batch_builder_plan wanted = { .spec = &spec, .edge_ids = true };
    bench.builder.plan = &wanted;
    bench.builder.out = &bench.out;
    for (long tries = 0; tries < 2; tries++) { /* the edges, and the lists of one */
        struct error error = { 0 };
        allowed = tries;
        int rv = batch_builder_place_edges(&bench.builder, &error);
        allowed = -1;
        assert_int_equal(rv, TR_ENOMEM);
        assert_int_equal(error.code, TR_ENOMEM);
        assert_non_null(strstr(error.text, "no memory for lists of edges"));
        assert_int_equal(bench.builder.num_edges, 0);
    }
    tear_down(&bench);
    fixture_fini(fixture);
    free(fixture);
}

/* A copy is whole, or empty where memory ended. */
static void specs_without_memory_are_not_copied(void **state)
{
    static const struct sample_table TABLE = { .of = SAMPLE_OF_NODES, .where = SAMPLE_FOR_ALL };
    struct sample_spec spec, copy;
    int rv = TR_ENOMEM;
    long tries;
    (void)state;
    assert_int_equal(sample_spec_alloc(&spec, 2, 3), 0);
    sample_spec_term(&spec, 1, 2)->fanout = 7;
    for (int i = 0; i < 3; i++)
        assert_int_equal(sample_spec_add_table(&spec, &TABLE), 0);
    for (tries = 0; rv != 0 && tries < 10; tries++) {
        allowed = tries;
        rv = sample_spec_copy(&copy, &spec);
        allowed = -1;
        assert_int_equal(rv, copy.terms == NULL ? TR_ENOMEM : 0);
    }
    assert_true(tries > 2);
    assert_int_equal(copy.num_tables, 3);
    assert_int_equal(sample_spec_term(&copy, 1, 2)->fanout, 7);
    sample_spec_free(&copy);
    sample_spec_free(&spec);
}

/* With 0, 1, 2 ... allocations allowed it fails cleanly, until it succeeds with the right batch. */
static void every_failed_allocation_is_survived(void **state)
{
    (void)state;
    struct fixture *fixture = malloc(sizeof *fixture);
    const struct fixture_plan *plan = &plans[NUM_PLANS - 1];
    int rv = TR_ENOMEM;
    long tries;
    fixture_init(fixture, 99, 3, false);
    for (tries = 0; rv != 0 && tries < 1000; tries++) {
        struct bench bench;
        allowed = tries;
        int ready = set_up(&bench, fixture, plan->num_layers, 64);
        rv = ready;
        if (ready == 0)
            rv = fixture_batch(fixture, plan, 2, &bench.builder, &bench.space, &bench.out);
        allowed = -1;
        assert_true(rv == 0 || rv == TR_ENOMEM);
        if (ready == 0 && rv != 0) { /* usable again at once */
            batch_space_clear(&bench.out);
            assert_int_equal(
                fixture_batch(fixture, plan, 2, &bench.builder, &bench.space, &bench.out), 0);
        }
        if (ready == 0)
            check_batch(fixture, plan, &bench.out.batch);
        tear_down(&bench);
    }
    assert_int_equal(rv, 0);
    assert_true(tries > 20);
    fixture_fini(fixture);
    free(fixture);
}

static struct sample_spec one_layer(struct sample_term *terms, int32_t fanout)
{
    const struct sample_spec spec = { .num_layers = 1,
                                      .num_etypes = FIXTURE_ETYPES,
                                      .terms = terms };
    const struct sample_term term = SAMPLE_TERM(fanout, false);
    sample_spec_set_layer(&spec, 0, &term);
    return spec;
}

static void open_first_hop(struct batch_builder *builder, const struct batch_builder_plan *plan,
                           struct batch_space *out)
{
    static const uint64_t seeds[] = { 1, 2, 3 };
    const struct draw_key key = { .seed = 1 };
    struct error error = { 0 };
    batch_space_clear(out);
    assert_int_equal(batch_builder_begin(builder, plan, &key, NULL, out, &error), 0);
    assert_int_equal(batch_builder_add_seeds(builder, 0, seeds, NULL, 3, &error), 0);
    assert_int_equal(out->nodes[0].num_seeds, 3);
    while (batch_builder_place(builder, &error) == 1)
        ;
    assert_int_equal(batch_builder_open_hop(builder, &error), 0);
}

static void lying_answers_are_refused(void **state)
{
    (void)state;
    struct fixture *fixture = malloc(sizeof *fixture);
    struct bench bench;
    struct sample_term terms[FIXTURE_ETYPES];
    const struct sample_spec spec = one_layer(terms, 2);
    static const uint32_t counts[] = { 1, 2, 1, 1 }, columns[] = { 5, 6, 7, 8, 9 };
    static const uint64_t ids[] = { 1, 2, 3, 4, 5 };
    const struct batch_builder_plan plan = { .spec = &spec, .edge_ids = true };
    const struct batch_builder_piece good = { 4, counts, columns, NULL, ids, NULL };
    static const uint32_t strays[] = { 5, 6, 300, 8 };
    struct batch_builder_piece bad[] = { good, good, good, good, good };
    bad[0].num_edges = 3;
    bad[1].num_edges = 5;
    bad[2].columns = NULL;
    bad[2].wide_columns = ids;
    bad[3].edge_ids = NULL;
    bad[4].columns = strays;
    fixture_init(fixture, 99, 1, false);
    assert_int_equal(set_up(&bench, fixture, 1, 0), 0);
    open_first_hop(&bench.builder, &plan, &bench.out);
    for (int i = 0; i < 5; i++) {
        struct error error = { 0 };
        assert_int_equal(batch_builder_add_answer(&bench.builder, 0, 0, 3, &bad[i], &error),
                         TR_EFORMAT);
        assert_non_null(strstr(error.text, "partition 0"));
    }
    struct batch_builder_piece more = good;
    more.num_edges = 5;
    assert_int_equal(batch_builder_add_answer(&bench.builder, 0, 0, 4, &more, NULL), TR_EFORMAT);
    assert_int_equal(batch_builder_add_answer(&bench.builder, 0, 0, 3, &good, NULL), 0);
    assert_int_equal(batch_builder_add_answer(&bench.builder, 0, 0, 1, &good, NULL), TR_EFORMAT);
    tear_down(&bench);
    fixture_fini(fixture);
    free(fixture);
}

static void a_plan_that_does_not_fit_its_space_is_refused(void **state)
{
    (void)state;
    struct fixture *fixture = malloc(sizeof *fixture);
    struct bench bench;
    struct sample_term terms[(BATCH_LAYERS_MAX + 1) * FIXTURE_ETYPES] = { 0 };
    static const uint32_t layers[] = { 0, 1, 3, BATCH_LAYERS_MAX + 1, 2 };
    static const uint32_t etypes[] = { FIXTURE_ETYPES, FIXTURE_ETYPES, FIXTURE_ETYPES,
                                       FIXTURE_ETYPES, FIXTURE_ETYPES - 1 };
    const struct draw_key key = { .seed = 1 };
    fixture_init(fixture, 99, 1, false);
    assert_int_equal(set_up(&bench, fixture, 2, 0), 0);
    for (int i = 0; i < 5; i++) {
        const struct sample_spec spec = { .num_layers = layers[i],
                                          .num_etypes = etypes[i],
                                          .terms = terms };
        const struct batch_builder_plan plan = { .spec = &spec };
        assert_int_equal(batch_builder_begin(&bench.builder, &plan, &key, NULL, &bench.out, NULL),
                         TR_EINVAL);
    }
    tear_down(&bench);
    fixture_fini(fixture);
    free(fixture);
}

/* No type has a node 300. */
static void a_seed_that_is_no_node_is_refused(void **state)
{
    (void)state;
    struct fixture *fixture = malloc(sizeof *fixture);
    struct sample_term terms[FIXTURE_ETYPES];
    const struct sample_spec spec = one_layer(terms, 2);
    static const uint64_t seeds[] = { 299, 300 };
    const struct batch_builder_plan plan = { .spec = &spec };
    const struct draw_key key = { .seed = 1 };
    for (uint32_t parts = 1; parts <= 2; parts++) {
        struct bench bench;
        struct error error = { 0 };
        fixture_init(fixture, 99, parts, false);
        assert_int_equal(set_up(&bench, fixture, 1, 0), 0);
        assert_int_equal(batch_builder_begin(&bench.builder, &plan, &key, NULL, &bench.out, &error),
                         0);
        assert_int_equal(batch_builder_add_seeds(&bench.builder, 0, seeds, NULL, 2, &error),
                         TR_ERANGE);
        assert_non_null(strstr(error.text, "a seed is no node"));
        tear_down(&bench);
        fixture_fini(fixture);
    }
    free(fixture);
}

/* Fanouts beyond a block and beyond the small sets take memory of their own. */
static void large_fanouts_survive_failed_allocations(void **state)
{
    (void)state;
    enum { DEGREE = 20000, FANOUT = 9000 };
    uint64_t index[2] = { 0, DEGREE };
    uint32_t *indices = malloc(DEGREE * sizeof *indices), row = 0, count;
    uint32_t *columns = malloc(FANOUT * sizeof *columns), *wanted = malloc(FANOUT * sizeof *wanted);
    for (uint32_t i = 0; i < DEGREE; i++)
        indices[i] = i;
    struct csc csc = { .num_rows = 1, .num_edges = DEGREE, .index = index, .indices = indices };
    struct sample_request request = {
        .csc = &csc, .rows = &row, .num_rows = 1, .term = SAMPLE_TERM(FANOUT, false)
    };
    struct sample_result result = { .counts = &count, .columns = wanted };
    struct sample_space space = { 0 };
    assert_int_equal(sample_uniform(&space, &request, &result), 0);
    sample_space_fini(&space);
    result.columns = columns;
    int rv = TR_ENOMEM;
    long tries;
    for (tries = 0; rv != 0 && tries < 100; tries++) {
        allowed = tries;
        rv = sample_uniform(&space, &request, &result);
        allowed = -1;
        assert_true(rv == 0 || rv == TR_ENOMEM);
        if (rv == TR_ENOMEM) /* what was grown before the failure serves the next call */
            assert_int_equal(sample_uniform(&space, &request, &result), 0);
        assert_int_equal(count, FANOUT);
        assert_memory_equal(columns, wanted, FANOUT * sizeof *columns);
        sample_space_fini(&space);
    }
    assert_int_equal(rv, 0);
    assert_true(tries > 3);
    free(indices);
    free(columns);
    free(wanted);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plan_that_does_not_fit_its_space_is_refused),
        cmocka_unit_test(lying_answers_are_refused),
        cmocka_unit_test(a_seed_that_is_no_node_is_refused),
        cmocka_unit_test(every_failed_allocation_is_survived),
        cmocka_unit_test(tables_begin_empty),
        cmocka_unit_test(edges_without_memory_for_their_lists_are_refused),
        cmocka_unit_test(specs_without_memory_are_not_copied),
        cmocka_unit_test(large_fanouts_survive_failed_allocations),
        cmocka_unit_test(batches_equal_the_naive_walk),
        cmocka_unit_test(only_repeated_seeds_cost_salts),
        cmocka_unit_test(digest_sees_each_edge),
    };
    return cmocka_run_group_tests_name("builder", tests, NULL, NULL);
}
