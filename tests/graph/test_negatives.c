/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Negatives: each rank is as likely as the others, pairs of them are independent, their numbers
 * alone and not the pieces that they are drawn in say which they are, and all of the key matters.
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

static void ranks_are_even_and_independent(void **state)
{
    uint64_t counts[RANKS] = { 0 };
    const struct draw_key key = { .seed = 11, .batch = 5, .epoch = 2, .rank = 1 };
    uint64_t *twos = calloc((size_t)RANKS * RANKS, sizeof *twos);
    (void)state;
    assert_non_null(twos);
    negatives_draw(&key, 3, RANKS, 0, DRAWS, drawn);
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
        for (uint32_t i = 0; i < 40000; i++) {
            struct draw_key key = { .seed = 3, .batch = 2 * i, .epoch = 1, .rank = 4 };
            struct draw_key other = key;
            other.batch += which == 0;
            other.epoch += which == 1;
            other.rank += which == 2;
            uint64_t a, b;
            negatives_draw(&key, 0, FEW, 7, 1, &a);
            negatives_draw(&other, 0, FEW, 7, 1, &b);
            twos[a * FEW + b]++;
        }
        assert_uniform_scaled(twos, (uint64_t)FEW * FEW, 40000, 1);
    }
    free(twos);
}

static void pieces_change_nothing(void **state)
{
    const struct draw_key key = { .seed = 1, .batch = 9 };
    const uint64_t huge = UINT64_C(1) << 40;
    uint64_t pieces[1000];
    (void)state;
    negatives_draw(&key, 1, huge, 0, 1000, drawn);
    for (uint32_t at = 0, piece = 1; at < 1000; at += piece, piece = piece * 2 % 61 + 1)
        negatives_draw(&key, 1, huge, at, piece < 1000 - at ? piece : 1000 - at, pieces + at);
    assert_memory_equal(drawn, pieces, sizeof pieces);
    /* Another type, or the purpose that a key came with. */
    negatives_draw(&key, 2, huge, 0, 1000, pieces);
    assert_memory_not_equal(drawn, pieces, sizeof pieces);
    struct draw_key other = key;
    other.purpose = KEY_NEIGHBOURS;
    other.hop = 3;
    negatives_draw(&other, 1, huge, 0, 1000, pieces);
    assert_memory_equal(drawn, pieces, sizeof pieces);
    negatives_draw(&key, 1, 1, 0, 1000, pieces);
    for (uint32_t i = 0; i < 1000; i++)
        assert_int_equal(pieces[i], 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_are_even_and_independent),
        cmocka_unit_test(batches_are_independent),
        cmocka_unit_test(pieces_change_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
