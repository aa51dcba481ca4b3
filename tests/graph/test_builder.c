/* The batch builder against a naive walk in original IDs, for any number of partitions. */
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
#include "graph/shard.h"
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
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_aligned_alloc(size_t align, size_t size);
void *__wrap_mmap(void *at, size_t size, int protection, int flags, int file, off_t offset);

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
    uint64_t ids[FIXTURE_NTYPES][FIXTURE_NODES_MAX];
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
static uint32_t draw(uint32_t *positions, const struct fixture_plan *plan, uint32_t fanout,
                     uint32_t degree, uint64_t key)
{
    uint64_t next = 0;
    if (degree == 0 || fanout == SAMPLE_ALL || (degree <= fanout && !plan->replace)) {
        for (uint32_t i = 0; i < degree; i++)
            positions[i] = i;
        return degree;
    }
    if (!plan->replace && fanout > 0)
        subset_draw(positions, fanout, degree, key, NULL);
    for (uint32_t i = 0; plan->replace && i < fanout; i++)
        positions[i] = (uint32_t)key_below(key, &next, degree);
    return fanout;
}

static void check_edges(const struct fixture *fixture, const struct fixture_plan *plan,
                        struct naive *naive, const struct block_edges *edges, uint32_t num_dst,
                        uint32_t hop, uint32_t e)
{
    const struct graph_etype *type = &fixture->types.etypes[e];
    uint32_t at = 0, positions[64];
    assert_int_equal(edges->num_dst, num_dst);
    for (uint32_t i = 0; i < num_dst; i++) {
        uint64_t id = naive->ids[type->dst][i];
        uint32_t count = draw(positions, plan, plan->fanouts[hop], fixture->degree[e][id],
                              key_node(fixture_base(plan, hop, e), id));
        assert_int_equal(edges->index[i], at);
        for (uint32_t k = 0; k < count; k++, at++)
            assert_int_equal(edges->sources[at],
                             place(naive, type->src, fixture->neighbours[e][id][positions[k]]));
    }
    assert_int_equal(edges->index[num_dst], at);
    assert_int_equal(edges->num_edges, at);
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
        assert_memory_equal(batch->nodes[t].original_ids, naive.ids[t],
                            naive.num[t] * sizeof *naive.ids[t]);
    }
}

static const struct fixture_plan plans[] = {
    { .seed = 1, .num_layers = 3, .fanouts = { 3, 2, 2 }, .num_seeds = { 10, 0, 0 } },
    { .seed = 2, .num_layers = 2, .fanouts = { 5, 10 }, .num_seeds = { 7, 5, 0 } },
    { .seed = 3, .num_layers = 2, .fanouts = { 25, SAMPLE_ALL }, .num_seeds = { 0, 3, 0 } },
    { .seed = 4, .num_layers = 2, .fanouts = { 4, 3 }, .replace = true, .num_seeds = { 9, 2, 0 } },
    { .seed = 5, .num_layers = 1, .fanouts = { 0 }, .num_seeds = { 9, 2, 0 } },
    { .seed = 6, .num_layers = 4, .fanouts = { 1, 1, 1, 1 }, .num_seeds = { 0, 0, 0 } },
    { .seed = 7, .num_layers = 1, .fanouts = { 29 }, .num_seeds = { 300, 170, 0 } },
};

#define NUM_PLANS (sizeof plans / sizeof *plans)

/* Every placement gives the batch of the naive walk, and so the same digest. */
static void batches_equal_the_naive_walk(void **state)
{
    (void)state;
    uint64_t digests[NUM_PLANS] = { 0 };
    struct fixture *fixture = malloc(sizeof *fixture);
    for (uint32_t parts = 1; parts <= FIXTURE_PARTS_MAX; parts++) {
        struct batch_builder builder;
        struct batch_arena arena = { 0 };
        fixture_init(fixture, 99, parts);
        assert_int_equal(batch_builder_init(&builder, &fixture->types), 0);
        for (size_t i = 0; i < NUM_PLANS; i++) {
            struct mini_batch batch = { 0 };
            uint64_t digest;
            arena_reset(&arena);
            assert_int_equal(fixture_batch(fixture, &plans[i], &builder, &arena, &batch), 0);
            check_batch(fixture, &plans[i], &batch);
            assert_int_equal(batch_digest(&batch, &digest), 0);
            assert_true(parts == 1 || digest == digests[i]);
            digests[i] = digest;
        }
        batch_builder_fini(&builder);
        arena_fini(&arena);
        fixture_fini(fixture);
    }
    for (size_t i = 0; i < NUM_PLANS; i++) {
        for (size_t j = 0; j < i; j++)
            assert_true(digests[i] != digests[j]);
    }
    free(fixture);
}

static void digest_sees_each_edge(void **state)
{
    (void)state;
    struct fixture *fixture = malloc(sizeof *fixture);
    struct batch_builder builder;
    struct batch_arena arena = { 0 };
    struct mini_batch batch = { 0 };
    uint64_t digest, changed;
    fixture_init(fixture, 99, 2);
    assert_int_equal(batch_builder_init(&builder, &fixture->types), 0);
    assert_int_equal(fixture_batch(fixture, &plans[0], &builder, &arena, &batch), 0);
    assert_int_equal(batch_digest(&batch, &digest), 0);
    uint32_t *sources = (uint32_t *)(uintptr_t)batch.blocks[0].edges[0].sources;
    uint32_t first = sources[0];
    for (uint32_t i = 1; i < 20; i++) { /* swapping two different ones must show */
        if (sources[i] == first)
            continue;
        sources[0] = sources[i];
        sources[i] = first;
        assert_int_equal(batch_digest(&batch, &changed), 0);
        assert_true(changed != digest);
        sources[i] = sources[0];
        sources[0] = first;
    }
    ((struct batch_nodes *)(uintptr_t)batch.nodes)[0].original_ids = NULL;
    assert_int_equal(batch_digest(&batch, &changed), TR_EINVAL);
    batch_builder_fini(&builder);
    arena_fini(&arena);
    fixture_fini(fixture);
    free(fixture);
}

/* With 0, 1, 2 ... allocations allowed it fails cleanly, until it succeeds with the right batch. */
static void every_failed_allocation_is_survived(void **state)
{
    (void)state;
    struct fixture *fixture = malloc(sizeof *fixture);
    int rv = TR_ENOMEM;
    long tries;
    fixture_init(fixture, 99, 3);
    for (tries = 0; rv != 0 && tries < 1000; tries++) {
        struct batch_builder builder = { 0 };
        struct batch_arena arena = { 0 };
        struct mini_batch batch = { 0 };
        allowed = tries;
        rv = batch_builder_init(&builder, &fixture->types);
        if (rv == 0)
            rv = fixture_batch(fixture, &plans[6], &builder, &arena, &batch);
        allowed = -1;
        assert_true(rv == 0 || rv == TR_ENOMEM);
        if (rv == TR_ENOMEM && builder.tables != NULL) { /* usable again at once */
            arena_reset(&arena);
            assert_int_equal(fixture_batch(fixture, &plans[6], &builder, &arena, &batch), 0);
        }
        if (builder.tables != NULL)
            check_batch(fixture, &plans[6], &batch);
        batch_builder_fini(&builder);
        arena_fini(&arena);
    }
    assert_int_equal(rv, 0);
    assert_true(tries > 5);
    fixture_fini(fixture);
    free(fixture);
}

static void calls_out_of_order_are_refused(void **state)
{
    (void)state;
    struct graph_types types;
    struct batch_builder builder;
    struct batch_arena arena = { 0 };
    struct mini_batch batch;
    struct batch_nodes *nodes;
    uint64_t seeds[3] = { 5, 6, 5 };
    uint32_t positions[3], counts[2] = { 1, 1 }, columns[3] = { 5, 9, 9 };
    struct sample_result answer = { .counts = counts, .columns = columns, .num_edges = 2 };
    assert_int_equal(graph_types_init_homogeneous(&types), 0);
    assert_int_equal(batch_builder_init(&builder, &types), 0);
    assert_int_equal(batch_builder_begin(&builder, &arena, 0, false), TR_EINVAL);
    assert_int_equal(batch_builder_begin(&builder, &arena, BATCH_LAYERS_MAX + 1, false), TR_EINVAL);
    assert_int_equal(batch_builder_begin(&builder, &arena, 1, false), 0);
    assert_int_equal(batch_builder_add_seeds(&builder, 1, seeds, 1, NULL), TR_EINVAL);
    assert_int_equal(batch_builder_add_seeds(&builder, 0, seeds, 3, positions), 0);
    assert_true(positions[0] == 0 && positions[1] == 1 && positions[2] == 0);
    assert_int_equal(batch_builder_finish(&builder, &batch, &nodes), TR_EINVAL);
    assert_int_equal(batch_builder_add_edges(&builder, 0, &answer), TR_EINVAL);
    assert_int_equal(batch_builder_end_hop(&builder), TR_EINVAL);
    assert_int_equal(batch_builder_begin_hop(&builder), 0);
    assert_int_equal(batch_builder_begin_hop(&builder), TR_EINVAL);
    answer.num_edges = 3; /* the counts say two */
    assert_int_equal(batch_builder_add_edges(&builder, 0, &answer), TR_EFORMAT);
    batch_builder_fini(&builder);
    arena_fini(&arena);
    graph_types_fini(&types);
}

static void lying_shards_are_refused(void **state)
{
    (void)state;
    uint32_t owners[3] = { 0, 1, 0 }, counts[3] = { 1, 2, 1 }, columns[4] = { 1, 2, 3, 4 };
    uint32_t merged_counts[3], merged_columns[4];
    struct sample_result merged = { .counts = merged_counts, .columns = merged_columns };
    struct shard good[2] = {
        { .answer = { .counts = counts, .columns = columns, .num_edges = 3 }, .num_rows = 2 },
        { .answer = { .counts = counts + 2, .columns = columns + 3, .num_edges = 1 },
          .num_rows = 1 } };
    static const int rows[] = { 0, 1, -1, 0, 0, 0, 0 }, edges[] = { 0, 0, 0, 1, -1, -3, 0 };
    static const int expected[] = { 0, TR_EFORMAT, TR_EFORMAT, TR_EFORMAT, TR_EFORMAT, TR_EFORMAT,
                                    0 };
    for (int i = 0; i < 7; i++) {
        struct shard shards[2] = { good[0], good[1] };
        shards[0].num_rows += (uint32_t)rows[i];
        shards[0].answer.num_edges += (uint64_t)(int64_t)edges[i];
        assert_int_equal(shard_merge(owners, 3, shards, 2, &merged), expected[i]);
    }
    assert_int_equal(merged.num_edges, 4);
    uint32_t wanted[4] = { 1, 4, 2, 3 };
    assert_memory_equal(merged_columns, wanted, sizeof wanted);
}

static void arena_keeps_its_limit_and_its_memory(void **state)
{
    (void)state;
    struct batch_arena arena = { .bytes_limit = 1 << 20 };
    char *first, *again;
    assert_int_equal(arena_alloc(&arena, 1 << 20, 2, &first), TR_EFULL);
    assert_null(first);
    assert_int_equal(arena_alloc(&arena, SIZE_MAX, 2, &first), TR_ENOMEM);
    for (int i = 0; i < 8; i++) {
        assert_int_equal(arena_alloc(&arena, 100000, 1, &first), 0);
        assert_int_equal((uintptr_t)first % 64, 0);
    }
    assert_true(arena.bytes <= arena.bytes_limit);
    arena_reset(&arena);
    assert_int_equal(arena_alloc(&arena, 100000, 1, &first), 0);
    for (int i = 0; i < 7; i++)
        assert_int_equal(arena_alloc(&arena, 100000, 1, &again), 0);
    assert_int_equal(arena.num_chunks, 1);
    arena_reset(&arena);
    assert_int_equal(arena_alloc(&arena, 0, 1, &again), 0);
    assert_ptr_equal(first, again);
    arena_fini(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_out_of_order_are_refused),
        cmocka_unit_test(lying_shards_are_refused),
        cmocka_unit_test(arena_keeps_its_limit_and_its_memory),
        cmocka_unit_test(every_failed_allocation_is_survived),
        cmocka_unit_test(batches_equal_the_naive_walk),
        cmocka_unit_test(digest_sees_each_edge),
    };
    return cmocka_run_group_tests_name("builder", tests, NULL, NULL);
}
