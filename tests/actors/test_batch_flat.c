/* SPDX-License-Identifier: Apache-2.0 */
/* A batch survives being flattened; damaged bytes are refused or make a batch that holds
 * together. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "actors/data/batch_flat.h"
#include "schemas/sample_spec.h"
#include "tests/schemas/random.h"

#define LAYERS 2
#define DAMAGED_ROUNDS 20000

static void make_types(struct graph_types *types)
{
    *types = (struct graph_types){ 0 };
    assert_int_equal(graph_types_add_ntype(types, "user", NULL), 0);
    assert_int_equal(graph_types_add_ntype(types, "item", NULL), 0);
    assert_int_equal(graph_types_add_etype(types, "user:knows:user", NULL), 0);
    assert_int_equal(graph_types_add_etype(types, "item:bought:user", NULL), 0);
}

/* IDs are random there, and a book so large has them all. */
static struct book book_of(const struct graph_types *types)
{
    static uint64_t nodes[] = { UINT64_MAX, UINT64_MAX }, edges[] = { UINT64_MAX, UINT64_MAX };
    return (struct book){ .types = *types, .num_nodes = nodes, .num_edges = edges };
}

static void *fill(struct vec *vec, uint64_t *state, size_t count, size_t size)
{
    assert_int_equal(vec_reserve(vec, count, size, 0), 0);
    for (size_t i = 0; i < count * size; i++)
        ((unsigned char *)vec->data)[i] = (unsigned char)random_below(state, 256);
    return vec->data;
}

static void make_edges(struct batch_space *s, uint64_t *state, uint32_t layer, uint32_t etype,
                       const struct graph_types *types)
{
    const struct block *block = &s->batch.blocks[layer];
    struct edge_space *space = batch_space_edge_space(s, layer, etype);
    /* Edge type 0 goes out in layer 1: its ends have changed places, and have other numbers of
     * nodes. */
    bool out = etype == 0 && layer == 1;
    const struct graph_etype *type = &types->etypes[etype];
    uint32_t num_dst = block->num_dst[out ? type->src : type->dst];
    uint32_t num_src = block->num_src[out ? type->dst : type->src];
    uint32_t *index = fill(&space->index, state, num_dst + 1, 4), at = 0;
    for (uint32_t i = 0; i <= num_dst; i++) {
        index[i] = at;
        at += i < num_dst && num_src > 0 ? (uint32_t)random_below(state, 4) : 0;
    }
    uint32_t *sources = fill(&space->sources, state, at, 4);
    for (uint32_t i = 0; i < at; i++)
        sources[i] = (uint32_t)random_below(state, num_src);
    float *weights = NULL;
    if (layer == etype) {
        weights = fill(&space->edge_weights, state, at, sizeof *weights);
        for (uint32_t i = 0; i < at; i++)
            weights[i] = 0.5f + (float)random_below(state, 100);
    }
    *batch_space_edges(s, layer,
                       etype) = (struct block_edges){ num_dst,
                                                      at,
                                                      index,
                                                      sources,
                                                      fill(&space->edge_ids, state, at, 8),
                                                      weights,
                                                      out ? SAMPLE_OUT : SAMPLE_IN };
}

/* empty: a trainer's batch of a step in which it has no seed. */
static struct sampled_batch *make_batch(const struct graph_types *types, uint64_t *state,
                                        bool empty)
{
    struct sampled_batch *b = sampled_batch_create(2, 2, LAYERS);
    assert_non_null(b);
    struct batch_space *s = &b->space;
    s->batch.seed = 7;
    s->batch.step_seeds = 9;
    for (uint32_t t = 0; t < 2; t++) {
        struct node_space *space = &s->node_space[t];
        uint32_t seeds = empty ? 0 : (uint32_t)random_below(state, 5);
        uint32_t nodes = seeds;
        for (uint32_t l = LAYERS; l-- > 0;) {
            s->num_dst[l * 2 + t] = nodes;
            nodes += empty ? 0 : (uint32_t)random_below(state, 6);
            s->num_src[l * 2 + t] = nodes;
        }
        s->nodes[t] = (struct batch_nodes){
            .num_nodes = nodes,
            .num_seeds = seeds,
            .ids = fill(&space->ids, state, nodes, 8),
            .original_ids = t == 0 ? fill(&space->original_ids, state, nodes, 8) : NULL,
            .in_degrees = t == 1 ? fill(&space->in_degrees, state, nodes, 4) : NULL,
            .features = { TR_F32, nodes, 3, 12, fill(&space->features, state, nodes, 12) },
            .labels = { TR_I64, seeds, 1, 8, fill(&space->labels, state, seeds, 8) },
        };
    }
    for (uint32_t l = 0; l < LAYERS; l++)
        for (uint32_t e = 0; e < 2; e++)
            make_edges(s, state, l, e, types);
    uint32_t nodes = s->num_src[1], edges = batch_space_edges(s, 1, 0)->num_edges;
    assert_int_equal(batch_space_set_tables(s, 2), 0);
    s->tables[0] = (struct batch_table){ 0,
                                         SAMPLE_OF_NODES,
                                         1,
                                         0,
                                         { TR_I64, nodes, 2, 16,
                                           fill(&s->table_space[0], state, nodes, 16) } };
    s->tables[1] = (struct batch_table){
        3, SAMPLE_OF_EDGES, 0, 1, { TR_F32, edges, 1, 4, fill(&s->table_space[1], state, edges, 4) }
    };
    /* The seeds of every second batch are pairs of users and items, or there are none here. */
    if (random_below(state, 2) == 0) {
        uint32_t users = s->nodes[0].num_seeds, items = s->nodes[1].num_seeds;
        uint32_t count = users > 0 && items > 0 ? (uint32_t)random_below(state, 4) : 0;
        uint32_t *sources = fill(&s->pair_space[0].sources, state, count, 4);
        uint32_t *destinations = fill(&s->pair_space[0].destinations, state, count, 4);
        for (uint32_t i = 0; i < count; i++) {
            sources[i] = (uint32_t)random_below(state, items);
            destinations[i] = (uint32_t)random_below(state, users);
        }
        uint64_t *edge_ids = fill(&s->pair_space[0].edge_ids, state, count, 8);
        bool of_edges = random_below(state, 2) == 0;
        const struct negatives_rule rule = { (uint32_t)random_below(state, 4),
                                             (uint32_t)random_below(state, 3),
                                             (uint32_t)random_below(state, NEGATIVE_ENDS),
                                             (uint32_t)random_below(state, 2),
                                             (uint32_t)random_below(state, 2) };
        uint32_t groups = (uint32_t)negatives_groups(&rule, count);
        uint32_t to = groups * negatives_each(&rule, PAIR_DESTINATION);
        uint32_t from = groups * negatives_each(&rule, PAIR_SOURCE);
        uint32_t *negatives = fill(&s->pair_space[0].negatives, state, to, 4);
        uint32_t *negative_sources = fill(&s->pair_space[0].negative_sources, state, from, 4);
        for (uint32_t i = 0; i < to; i++)
            negatives[i] = (uint32_t)random_below(state, users);
        for (uint32_t i = 0; i < from; i++)
            negative_sources[i] = (uint32_t)random_below(state, items);
        s->batch.num_pair_types = 1;
        s->pairs[0] = (struct batch_pairs){ .etype = 1,
                                            .count = count,
                                            .sources = sources,
                                            .destinations = destinations,
                                            .edge_ids = of_edges ? edge_ids : NULL,
                                            .negatives_rule = rule,
                                            .count_negatives = to,
                                            .negative_edges = rule.no_edges * to,
                                            .count_negative_sources = from,
                                            .negatives = negatives,
                                            .negative_sources = negative_sources };
    }
    return b;
}

static unsigned char *flatten(const struct sampled_batch *b, uint64_t *length)
{
    void *bytes = NULL;
    assert_int_equal(batch_flat_bytes(b, length), 0);
    assert_int_equal(posix_memalign(&bytes, 64, *length), 0);
    batch_flatten(b, bytes);
    return bytes;
}

static void a_batch_comes_back_equal(void **unused)
{
    (void)unused;
    uint64_t state = 5, length, again;
    struct graph_types types;
    make_types(&types);
    const struct book book = book_of(&types);
    for (uint32_t round = 0; round < 200; round++) {
        struct sampled_batch *b = make_batch(&types, &state, round % 10 == 0), *back;
        unsigned char *bytes = flatten(b, &length);
        back = sampled_batch_create(2, 2, LAYERS);
        assert_non_null(back);
        assert_int_equal(batch_unflatten(back, &book, bytes, length), 0);
        unsigned char *same = flatten(back, &again);
        assert_int_equal(again, length);
        assert_memory_equal(same, bytes, length);
        assert_ptr_not_equal(back->space.nodes[0].ids, b->space.nodes[0].ids);
        assert_int_equal(back->space.batch.num_pair_types, b->space.batch.num_pair_types);
        assert_int_equal(back->space.batch.pairs->count, b->space.batch.pairs->count);
        assert_true((back->space.batch.pairs->edge_ids == NULL) ==
                    (b->space.batch.pairs->edge_ids == NULL));
        assert_memory_equal(&back->space.batch.pairs->negatives_rule,
                            &b->space.batch.pairs->negatives_rule, sizeof(struct negatives_rule));
        assert_int_equal(back->space.batch.pairs->count_negatives,
                         b->space.batch.pairs->count_negatives);
        assert_int_equal(back->space.batch.pairs->negative_edges,
                         b->space.batch.pairs->negative_edges);
        assert_int_equal(back->space.batch.pairs->count_negative_sources,
                         b->space.batch.pairs->count_negative_sources);
        sampled_batch_release(b);
        sampled_batch_release(back);
        free(bytes);
        free(same);
    }
    graph_types_fini(&types);
}

/* Rows of types, layers and counts that the batch has not. */
static void tables_that_do_not_fit_are_refused(void **unused)
{
    (void)unused;
    uint64_t state = 9, length;
    struct graph_types types;
    make_types(&types);
    const struct book book = book_of(&types);
    for (uint32_t i = 0; i < 8; i++) {
        struct sampled_batch *b = make_batch(&types, &state, false), *back;
        struct batch_table *table = &b->space.tables[i == 5 || i == 6 ? 0 : 1];
        uint32_t *fields[] = { &table->of,   &table->type,          &table->layer, &table->layer,
                               &table->type, &table->rows.num_rows, &table->type,  &table->of };
        const uint32_t values[] = { 2, 2, LAYERS, UINT32_MAX, UINT32_MAX, 0, 2, UINT32_MAX };
        back = sampled_batch_create(2, 2, LAYERS);
        assert_non_null(back);
        if (i == 5) /* a row more than there are nodes; its bytes are there */
            assert_int_equal(vec_reserve(&b->space.table_space[0], table->rows.num_rows + 1, 16, 0),
                             0);
        *fields[i] = i == 5 ? b->space.num_src[1] + 1 : values[i];
        table->rows.rows = b->space.table_space[table - b->space.tables].data;
        unsigned char *bytes = flatten(b, &length);
        assert_int_equal(batch_unflatten(back, &book, bytes, length), TR_EFORMAT);
        free(bytes);
        sampled_batch_release(b);
        sampled_batch_release(back);
    }
    graph_types_fini(&types);
}

/* Positions of no seed, and an edge type that there is not. */
static void pairs_that_do_not_fit_are_refused(void **unused)
{
    (void)unused;
    uint64_t state = 9, length;
    struct graph_types types;
    make_types(&types);
    const struct book book = book_of(&types);
    struct sampled_batch *b = make_batch(&types, &state, false), *back;
    struct batch_pairs *pairs = b->space.pairs;
    while (b->space.nodes[0].num_seeds == 0 || b->space.nodes[1].num_seeds == 0) {
        sampled_batch_release(b);
        b = make_batch(&types, &state, false);
        pairs = b->space.pairs;
    }
    uint32_t users = b->space.nodes[0].num_seeds, items = b->space.nodes[1].num_seeds;
    uint32_t ends[2][2] = { { 0, items - 1 }, { 0, users - 1 } };
    for (uint32_t i = 0; i < 6; i++) {
        b->space.batch.num_pair_types = 1;
        *pairs = (struct batch_pairs){
            .etype = i == 4 ? 2 : 1, .count = 2, .sources = ends[0], .destinations = ends[1]
        };
        ends[0][1] = i == 1 ? items : i == 2 ? UINT32_MAX : items - 1;
        ends[1][1] = i == 3 ? users : users - 1;
        back = sampled_batch_create(2, 2, LAYERS);
        assert_non_null(back);
        unsigned char *bytes = flatten(b, &length);
        if (i == 5) /* more edge types than there are, in the head's last field */
            ((uint32_t *)(void *)bytes)[11] = 3;
        assert_int_equal(batch_unflatten(back, &book, bytes, length), i == 0 ? 0 : TR_EFORMAT);
        free(bytes);
        sampled_batch_release(back);
    }
    sampled_batch_release(b);
    graph_types_fini(&types);
}

/* Too few or too many, of each pair or shared, of either end, and positions of no seed. */
static void negatives_that_do_not_fit_are_refused(void **unused)
{
    (void)unused;
    enum { PAIRS = 2, EACH = 3 };
    static const struct {
        uint32_t of, ends, count, count_sources, last;
        int code;
        uint32_t no_edges, edges, by_degree;
    } cases[] = {
        { NEGATIVES_OF_PAIR, NEGATIVE_DESTINATIONS, PAIRS * EACH, 0, 0, 0, 0, 0, 0 },
        { NEGATIVES_OF_BATCH, NEGATIVE_DESTINATIONS, EACH, 0, 0, 0, 0, 0, 0 },
        { NEGATIVES_IN_BATCH, NEGATIVE_DESTINATIONS, PAIRS * EACH, 0, 0, 0, 0, 0, 0 },
        { NEGATIVES_OF_PAIR, NEGATIVE_SOURCES, 0, PAIRS * EACH, 0, 0, 0, 0, 0 },
        { NEGATIVES_OF_PAIR, NEGATIVE_EITHER, PAIRS * 2, PAIRS, 0, 0, 0, 0, 0 },
        { NEGATIVES_OF_BATCH, NEGATIVE_BOTH, EACH, EACH, 0, 0, 0, 0, 0 },
        { NEGATIVES_OF_PAIR, NEGATIVE_DESTINATIONS, PAIRS * EACH - 1, 0, 0, TR_EFORMAT, 0, 0, 0 },
        { NEGATIVES_OF_PAIR, NEGATIVE_DESTINATIONS, PAIRS * EACH + 1, 0, 0, TR_EFORMAT, 0, 0, 0 },
        { NEGATIVES_OF_BATCH, NEGATIVE_DESTINATIONS, EACH - 1, 0, 0, TR_EFORMAT, 0, 0, 0 },
        { NEGATIVES_OF_BATCH, NEGATIVE_DESTINATIONS, PAIRS * EACH, 0, 0, TR_EFORMAT, 0, 0, 0 },
        { 3, NEGATIVE_DESTINATIONS, PAIRS * EACH, 0, 0, TR_EFORMAT, 0, 0, 0 },
        { NEGATIVES_OF_PAIR, NEGATIVE_ENDS, PAIRS * EACH, PAIRS * EACH, 0, TR_EFORMAT, 0, 0, 0 },
        { NEGATIVES_OF_PAIR, NEGATIVE_DESTINATIONS, 0, 0, 0, TR_EFORMAT, 0, 0, 0 },
        { NEGATIVES_OF_PAIR, NEGATIVE_DESTINATIONS, PAIRS * EACH, 1, 0, TR_EFORMAT, 0, 0, 0 },
        { NEGATIVES_OF_PAIR, NEGATIVE_SOURCES, PAIRS * EACH, PAIRS * EACH, 0, TR_EFORMAT, 0, 0, 0 },
        { NEGATIVES_OF_PAIR, NEGATIVE_EITHER, PAIRS, PAIRS * 2, 0, TR_EFORMAT, 0, 0, 0 },
        { NEGATIVES_OF_PAIR, NEGATIVE_BOTH, PAIRS * EACH, PAIRS * EACH - 1, 0, TR_EFORMAT, 0, 0,
          0 },
        { NEGATIVES_OF_PAIR, NEGATIVE_DESTINATIONS, PAIRS * EACH, 0, UINT32_MAX, TR_EFORMAT, 0, 0,
          0 },
        /* Edges among them, more than there are, and where none was looked for. */
        { NEGATIVES_OF_PAIR, NEGATIVE_EITHER, PAIRS * 2, PAIRS, 0, 0, 1, PAIRS * EACH, 0 },
        { NEGATIVES_OF_PAIR, NEGATIVE_BOTH, PAIRS * EACH, PAIRS * EACH, 0, TR_EFORMAT, 1, 7, 0 },
        { NEGATIVES_OF_PAIR, NEGATIVE_DESTINATIONS, PAIRS * EACH, 0, 0, TR_EFORMAT, 0, 1, 0 },
        { NEGATIVES_OF_PAIR, NEGATIVE_DESTINATIONS, PAIRS * EACH, 0, 0, TR_EFORMAT, 2, 0, 0 },
        { NEGATIVES_OF_PAIR, NEGATIVE_DESTINATIONS, PAIRS * EACH, 0, 0, 0, 0, 0, 1 },
        { NEGATIVES_OF_PAIR, NEGATIVE_DESTINATIONS, PAIRS * EACH, 0, 0, TR_EFORMAT, 0, 0, 2 },
        /* The first that is no seed. */
        { NEGATIVES_OF_BATCH, NEGATIVE_DESTINATIONS, EACH, 0, 1, TR_EFORMAT, 0, 0, 0 },
        { NEGATIVES_OF_BATCH, NEGATIVE_SOURCES, 0, EACH, 1, TR_EFORMAT, 0, 0, 0 },
    };
    uint64_t state = 9, length;
    struct graph_types types;
    make_types(&types);
    const struct book book = book_of(&types);
    struct sampled_batch *b = make_batch(&types, &state, false), *back;
    while (b->space.nodes[0].num_seeds == 0 || b->space.nodes[1].num_seeds == 0) {
        sampled_batch_release(b);
        b = make_batch(&types, &state, false);
    }
    const uint32_t ends[PAIRS] = { 0, 0 };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint32_t negatives[PAIRS * EACH + 1] = { 0 };
        bool to = cases[i].count > 0;
        uint32_t last = (to ? cases[i].count : cases[i].count_sources) - 1;
        if (cases[i].last != 0)
            negatives[last] = cases[i].last == 1 ? b->space.nodes[to ? 0 : 1].num_seeds
                                                 : cases[i].last;
        b->space.batch.num_pair_types = 1;
        b->space.pairs[0] = (struct batch_pairs){
            .etype = 1,
            .count = PAIRS,
            .sources = ends,
            .destinations = ends,
            .negatives_rule = { EACH, cases[i].of, cases[i].ends, cases[i].no_edges,
                                cases[i].by_degree },
            .negative_edges = cases[i].edges,
            .count_negatives = cases[i].count,
            .count_negative_sources = cases[i].count_sources,
            .negatives = negatives,
            .negative_sources = negatives
        };
        back = sampled_batch_create(2, 2, LAYERS);
        assert_non_null(back);
        unsigned char *bytes = flatten(b, &length);
        assert_int_equal(batch_unflatten(back, &book, bytes, length), cases[i].code);
        free(bytes);
        sampled_batch_release(back);
    }
    sampled_batch_release(b);
    graph_types_fini(&types);
}

/* The last ID of the book, and the one behind it, of nodes, edges of blocks and edges as seeds. */
static void ids_beyond_the_book_are_refused(void **unused)
{
    (void)unused;
    uint64_t state = 9, length, nodes[] = { 1000, 1000 }, edges[] = { 2000, 2000 };
    struct graph_types types;
    make_types(&types);
    const struct book book = { .types = types, .num_nodes = nodes, .num_edges = edges };
    struct sampled_batch *b = make_batch(&types, &state, false), *back;
    while (b->space.nodes[0].num_seeds == 0 || b->space.nodes[1].num_seeds == 0 ||
           batch_space_edges(&b->space, 1, 1)->num_edges == 0) {
        sampled_batch_release(b);
        b = make_batch(&types, &state, false);
    }
    uint64_t seed_edges[] = { 7, 7 };
    const uint32_t ends[] = { 0, 0 };
    b->space.batch.num_pair_types = 1;
    b->space.pairs[0] = (struct batch_pairs){
        .etype = 1, .count = 2, .sources = ends, .destinations = ends, .edge_ids = seed_edges
    };
    for (uint32_t t = 0; t < 2; t++)
        memset(b->space.node_space[t].ids.data, 0, b->space.nodes[t].num_nodes * UINT64_C(8));
    for (uint32_t i = 0; i < LAYERS * 2; i++)
        if (b->space.edges[i].num_edges > 0)
            memset(b->space.edge_space[i].edge_ids.data, 0,
                   b->space.edges[i].num_edges * UINT64_C(8));
    struct {
        uint64_t *id, bound;
    } const ids[] = {
        { b->space.node_space[1].ids.data, 1000 },
        { batch_space_edge_space(&b->space, 1, 1)->edge_ids.data, 2000 },
        { &seed_edges[1], 2000 },
    };
    for (uint32_t i = 0; i < 3; i++)
        for (uint64_t beyond = 0; beyond < 2; beyond++) {
            *ids[i].id = ids[i].bound - 1 + beyond;
            back = sampled_batch_create(2, 2, LAYERS);
            assert_non_null(back);
            unsigned char *bytes = flatten(b, &length);
            assert_int_equal(batch_unflatten(back, &book, bytes, length),
                             beyond == 0 ? 0 : TR_EFORMAT);
            free(bytes);
            sampled_batch_release(back);
            *ids[i].id = 0;
        }
    sampled_batch_release(b);
    graph_types_fini(&types);
}

static void damaged_bytes_do_no_harm(void **unused)
{
    (void)unused;
    uint64_t state = 6, length, again;
    uint32_t refused = 0;
    struct graph_types types;
    make_types(&types);
    const struct book book = book_of(&types);
    struct sampled_batch *b = make_batch(&types, &state, false);
    unsigned char *bytes = flatten(b, &length), *copy = malloc(length);
    struct sampled_batch *back = sampled_batch_create(2, 2, LAYERS);
    assert_true(copy != NULL && back != NULL);
    for (uint64_t cut = 0; cut < length; cut++) {
        sampled_batch_clear(back);
        assert_int_equal(batch_unflatten(back, &book, bytes, cut), TR_EFORMAT);
    }
    for (uint32_t round = 0; round < DAMAGED_ROUNDS; round++) {
        memcpy(copy, bytes, length);
        for (uint64_t n = 1 + random_below(&state, 3); n-- > 0;)
            copy[random_below(&state, random_below(&state, 2) == 0 ? 400 : length)] =
                (unsigned char)random_below(&state, 256);
        sampled_batch_clear(back);
        int rv = batch_unflatten(back, &book, copy, length);
        assert_true(rv == 0 || rv == TR_EFORMAT);
        refused += rv != 0;
        if (rv == 0) /* whatever was taken can be walked to its ends */
            free(flatten(back, &again));
    }
    assert_true(refused > DAMAGED_ROUNDS / 10);
    sampled_batch_release(back);
    sampled_batch_release(b);
    free(bytes);
    free(copy);
    graph_types_fini(&types);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(damaged_bytes_do_no_harm),
        cmocka_unit_test(tables_that_do_not_fit_are_refused),
        cmocka_unit_test(pairs_that_do_not_fit_are_refused),
        cmocka_unit_test(negatives_that_do_not_fit_are_refused),
        cmocka_unit_test(ids_beyond_the_book_are_refused),
        cmocka_unit_test(a_batch_comes_back_equal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
