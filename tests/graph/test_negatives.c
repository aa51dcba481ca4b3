/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Negatives: each rank is as likely as the others, and each other pair; pairs of them are
 * independent, as are both ends of one; their numbers alone and not the pieces that they are drawn in
 * say which they are, and all of the key matters. A rule says which ends are drawn.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "graph/negatives.h"
#include "tests/graph/statistics.h"

#define DRAWS 1000000u
#define RANKS 97u

static uint64_t drawn[DRAWS];

/* Destinations, one number after the other. */
static void draw(const struct draw_key *key, uint32_t etype, uint64_t num_ranks, uint64_t first,
                 uint32_t count, uint64_t *ranks)
{
    const uint64_t base = negatives_base(key, etype, PAIR_DESTINATION);
    for (uint32_t i = 0; i < count; i++)
        ranks[i] = negative_rank(base, first + i, 0, num_ranks);
}

static void ranks_are_even_and_independent(void **state)
{
    uint64_t counts[RANKS] = { 0 };
    const struct draw_key key = { .seed = 11, .batch = 5, .epoch = 2, .rank = 1 };
    uint64_t *twos = calloc((size_t)RANKS * RANKS, sizeof *twos);
    (void)state;
    assert_non_null(twos);
    draw(&key, 3, RANKS, 0, DRAWS, drawn);
    for (uint32_t i = 0; i < DRAWS; i++) {
        assert_true(drawn[i] < RANKS);
        counts[drawn[i]]++;
        if (i % 2 == 1)
            twos[drawn[i - 1] * RANKS + drawn[i]]++;
    }
    assert_uniform_scaled(counts, RANKS, DRAWS, 1);
    assert_uniform_scaled(twos, (uint64_t)RANKS * RANKS, DRAWS / 2, 1);
    free(twos);
}

/* The same number in batches, epochs and ranks that follow each other. */
static void batches_are_independent(void **state)
{
    enum { FEW = 8 };
    uint64_t *twos = calloc((size_t)FEW * FEW, sizeof *twos);
    (void)state;
    assert_non_null(twos);
    for (uint32_t which = 0; which < 3; which++) {
        memset(twos, 0, sizeof *twos * FEW * FEW);
        for (uint32_t i = 0; i < 500000; i++) {
            struct draw_key key = { .seed = 3, .batch = 2 * i, .epoch = 1, .rank = 4 };
            struct draw_key other = key;
            other.batch += which == 0;
            other.epoch += which == 1;
            other.rank += which == 2;
            uint64_t a, b;
            draw(&key, 0, FEW, 7, 1, &a);
            draw(&other, 0, FEW, 7, 1, &b);
            twos[a * FEW + b]++;
        }
        assert_uniform_scaled(twos, (uint64_t)FEW * FEW, 500000, 1);
    }
    free(twos);
}

static void pieces_change_nothing(void **state)
{
    const struct draw_key key = { .seed = 1, .batch = 9 };
    const uint64_t huge = UINT64_C(1) << 40;
    uint64_t pieces[1000];
    (void)state;
    draw(&key, 1, huge, 0, 1000, drawn);
    for (uint32_t at = 0, piece = 1; at < 1000; at += piece, piece = piece * 2 % 61 + 1)
        draw(&key, 1, huge, at, piece < 1000 - at ? piece : 1000 - at, pieces + at);
    assert_memory_equal(drawn, pieces, sizeof pieces);
    /* Another type, or the purpose that a key came with. */
    draw(&key, 2, huge, 0, 1000, pieces);
    assert_memory_not_equal(drawn, pieces, sizeof pieces);
    struct draw_key other = key;
    other.purpose = KEY_NEIGHBOURS;
    other.hop = 3;
    draw(&other, 1, huge, 0, 1000, pieces);
    assert_memory_equal(drawn, pieces, sizeof pieces);
    draw(&key, 1, 1, 0, 1000, pieces);
    for (uint32_t i = 0; i < 1000; i++)
        assert_int_equal(pieces[i], 0);
}

/* Of both ends of one negative, which a model would see together. */
static void ends_are_independent(void **state)
{
    enum { FEW = 19 };
    const struct draw_key key = { .seed = 4, .batch = 1 };
    const uint64_t to = negatives_base(&key, 2, PAIR_DESTINATION);
    const uint64_t from = negatives_base(&key, 2, PAIR_SOURCE);
    uint64_t twos[FEW * FEW] = { 0 };
    (void)state;
    for (uint64_t i = 0; i < DRAWS; i++)
        twos[negative_rank(to, i, 0, FEW) * FEW + negative_rank(from, i, 0, FEW)]++;
    assert_uniform_scaled(twos, (uint64_t)FEW * FEW, DRAWS, 1);
}

/* A draw, and the one that stands in its place where it was an edge. */
static void tries_are_independent(void **state)
{
    enum { FEW = 17 };
    const struct draw_key key = { .seed = 6, .batch = 2 };
    const uint64_t base = negatives_base(&key, 2, PAIR_SOURCE);
    uint64_t twos[FEW * FEW];
    (void)state;
    for (uint32_t try = 0; try + 1 < NEGATIVE_TRIES; try += 7) {
        memset(twos, 0, sizeof twos);
        for (uint64_t i = 0; i < DRAWS; i++)
            twos[negative_rank(base, i, try, FEW) * FEW + negative_rank(base, i, try + 1, FEW)]++;
        assert_uniform_scaled(twos, (uint64_t)FEW * FEW, DRAWS, 1);
    }
}

/* Of each pair all others, and never itself. */
static void other_pairs_are_even(void **state)
{
    enum { PAIRS = 23 };
    const struct draw_key key = { .seed = 8, .batch = 3 };
    const uint64_t base = negatives_base(&key, 0, PAIR_SOURCE);
    uint64_t counts[PAIRS][PAIRS] = { { 0 } }, others[PAIRS * (PAIRS - 1)], n = 0;
    (void)state;
    for (uint64_t i = 0; i < DRAWS; i++) {
        uint64_t other = negative_other(base, i, 0, i % PAIRS, PAIRS);
        assert_true(other < PAIRS);
        counts[i % PAIRS][other]++;
    }
    for (uint32_t i = 0; i < PAIRS; i++)
        for (uint32_t j = 0; j < PAIRS; j++) {
            if (i == j)
                assert_int_equal(counts[i][j], 0);
            else
                others[n++] = counts[i][j];
        }
    assert_uniform_scaled(others, n, DRAWS, 1);
    for (uint64_t i = 0; i < 100; i++)
        assert_int_equal(negative_other(base, i, 3, i % 2, 2), 1 - i % 2);
}

/* The counts of a rule are those of the negatives that have the end, by their numbers. */
static void rules_say_which_ends_are_drawn(void **state)
{
    (void)state;
    for (uint32_t ends = 0; ends < NEGATIVE_ENDS; ends++)
        for (uint32_t each = 1; each < 8; each++) {
            const struct negatives_rule rule = { .each = each, .ends = ends };
            const uint64_t places[] = { 3 * (uint64_t)negatives_each(&rule, PAIR_DESTINATION),
                                        3 * (uint64_t)negatives_each(&rule, PAIR_SOURCE) };
            uint32_t to = 0, from = 0;
            for (uint64_t k = 3 * each; k < 4 * each; k++) {
                assert_int_equal(negative_place(&rule, k, PAIR_DESTINATION), places[0] + to);
                assert_int_equal(negative_place(&rule, k, PAIR_SOURCE), places[1] + from);
                bool has[] = { negative_has(&rule, k, PAIR_DESTINATION),
                               negative_has(&rule, k, PAIR_SOURCE) };
                assert_true(has[0] || has[1]);
                assert_true((has[0] && has[1]) == (ends == NEGATIVE_BOTH));
                /* Destinations come first of each pair's. */
                assert_true(!has[0] || ends == NEGATIVE_BOTH || from == 0);
                to += has[0];
                from += has[1];
            }
            assert_int_equal(to, negatives_each(&rule, PAIR_DESTINATION));
            assert_int_equal(from, negatives_each(&rule, PAIR_SOURCE));
            assert_int_equal(to, ends == NEGATIVE_SOURCES  ? 0
                                 : ends == NEGATIVE_EITHER ? (each + 1) / 2
                                                           : each);
        }
    static const uint64_t wanted[][3] = { { 0, 1, 2 }, { 0, 1, 1 }, { 0, 0, 2 } };
    for (uint32_t of = 0; of < 3; of++)
        for (uint64_t pairs = 0; pairs < 3; pairs++) {
            const struct negatives_rule rule = { .each = 1, .of = of, .ends = NEGATIVE_BOTH };
            assert_int_equal(negatives_groups(&rule, pairs), wanted[of][pairs]);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_are_even_and_independent), cmocka_unit_test(batches_are_independent),
        cmocka_unit_test(pieces_change_nothing),          cmocka_unit_test(ends_are_independent),
        cmocka_unit_test(tries_are_independent),          cmocka_unit_test(other_pairs_are_even),
        cmocka_unit_test(rules_say_which_ends_are_drawn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
