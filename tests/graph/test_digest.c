/* SPDX-License-Identifier: Apache-2.0 */
/* The digest of a batch: a known answer that no later version may change, and every word of the
 * batch that it is said to cover. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "graph/digest.h"
#include "runtime/base/error.h"

enum { TYPES = 2, LAYERS = 2, NODES = 4, EDGES = 3, DSTS = 2 };

/* Two node types, two edge types and two layers, with numbers that all differ. */
struct sample {
    uint64_t original_ids[TYPES][NODES];
    uint32_t num_src[LAYERS][TYPES], num_dst[LAYERS][TYPES];
    uint32_t index[LAYERS][TYPES][DSTS + 1];
    uint32_t sources[LAYERS][TYPES][EDGES];
    struct block_edges edges[LAYERS][TYPES];
    struct block blocks[LAYERS];
    struct batch_nodes nodes[TYPES];
    struct mini_batch batch;
};

static void fill(struct sample *s)
{
    *s = (struct sample){ 0 };
    for (uint32_t l = 0; l < LAYERS; l++) {
        for (uint32_t t = 0; t < TYPES; t++) {
            s->num_src[l][t] = 10 + 2 * l + t;
            s->num_dst[l][t] = 20 + 2 * l + t;
            for (uint32_t e = 0; e < EDGES; e++)
                s->sources[l][t][e] = 100 * (l + 1) + 10 * t + e;
            s->index[l][t][1] = 1 + (l + t) % 2;
            s->index[l][t][2] = EDGES;
            s->edges[l][t] = (struct block_edges){ .num_dst = DSTS,
                                                   .num_edges = EDGES,
                                                   .index = s->index[l][t],
                                                   .sources = s->sources[l][t] };
        }
        s->blocks[l] = (struct block){ s->num_src[l], s->num_dst[l], s->edges[l] };
    }
    for (uint32_t t = 0; t < TYPES; t++) {
        for (uint32_t i = 0; i < NODES; i++)
            s->original_ids[t][i] = (UINT64_C(1) << 40) * (t + 1) + 7 * i;
        s->nodes[t] = (struct batch_nodes){ .num_nodes = NODES,
                                            .num_seeds = 1 + t,
                                            .original_ids = s->original_ids[t] };
    }
    s->batch = (struct mini_batch){ .num_ntypes = TYPES,
                                    .num_etypes = TYPES,
                                    .num_layers = LAYERS,
                                    .blocks = s->blocks,
                                    .nodes = s->nodes };
}

static uint64_t digest_of(const struct sample *s)
{
    uint64_t digest = 0;
    assert_int_equal(batch_digest(&s->batch, &digest), 0);
    return digest;
}

/* Digests are written into papers and reports, and compared with those of later versions. */
static void known_answers_stay(void **state)
{
    (void)state;
    struct sample s;
    fill(&s);
    assert_int_equal(digest_of(&s), UINT64_C(0xc4dd76f52d54af88));
    s.batch = (struct mini_batch){ 0 };
    assert_int_equal(digest_of(&s), UINT64_C(0x33fe8bd4f9c57863));
}

/* Changes one 32-bit word at a time; the digest is another each time, and the first one again when
 * the word is put back. */
static void check_words(struct sample *s, uint32_t *words, size_t count)
{
    uint64_t before = digest_of(s);
    for (size_t i = 0; i < count; i++) {
        words[i] ^= 1;
        assert_int_not_equal(digest_of(s), before);
        words[i] ^= 1;
        assert_int_equal(digest_of(s), before);
    }
}

static void every_word_counts(void **state)
{
    (void)state;
    struct sample s;
    fill(&s);
    check_words(&s, (uint32_t *)s.original_ids, sizeof s.original_ids / sizeof(uint32_t));
    check_words(&s, &s.num_src[0][0], LAYERS * TYPES);
    check_words(&s, &s.num_dst[0][0], LAYERS * TYPES);
    check_words(&s, &s.sources[0][0][0], LAYERS * TYPES * EDGES);
    for (uint32_t t = 0; t < TYPES; t++)
        check_words(&s, &s.nodes[t].num_seeds, 1);
    /* Another node has the edge. */
    for (uint32_t l = 0; l < LAYERS; l++)
        for (uint32_t t = 0; t < TYPES; t++)
            check_words(&s, &s.index[l][t][1], 1);
}

static void order_counts(void **state)
{
    (void)state;
    struct sample s;
    fill(&s);
    uint64_t before = digest_of(&s);
    uint64_t first = s.original_ids[0][0];
    s.original_ids[0][0] = s.original_ids[0][1];
    s.original_ids[0][1] = first;
    assert_int_not_equal(digest_of(&s), before);
}

/* Global IDs differ from placement to placement. */
static void placement_does_not_count(void **state)
{
    (void)state;
    static const uint64_t IDS[NODES] = { 4, 3, 2, 1 };
    struct sample s;
    fill(&s);
    uint64_t before = digest_of(&s);
    s.nodes[0].ids = IDS;
    s.batch.rank = 3;
    assert_int_equal(digest_of(&s), before);
}

static void nodes_without_original_ids_are_refused(void **state)
{
    (void)state;
    uint64_t digest = 0;
    struct sample s;
    fill(&s);
    s.nodes[1].original_ids = NULL;
    assert_int_equal(batch_digest(&s.batch, &digest), TR_EINVAL);
    s.nodes[1].num_nodes = 0;
    assert_int_equal(batch_digest(&s.batch, &digest), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_answers_stay),
        cmocka_unit_test(every_word_counts),
        cmocka_unit_test(order_counts),
        cmocka_unit_test(placement_does_not_count),
        cmocka_unit_test(nodes_without_original_ids_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
