/* SPDX-License-Identifier: Apache-2.0 */
/* Keys: known answers, avalanche, unbiased bounded integers, moments of the variates. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "graph/key.h"
#include "graph/permute.h"
#include "tests/graph/statistics.h"

/* The published sequence of splitmix64 from state 0. */
static void draws_are_splitmix64(void **state)
{
    (void)state;
    assert_int_equal(key_draw(0, 0), UINT64_C(0xe220a8397b1dcdaf));
    assert_int_equal(key_draw(0, 1), UINT64_C(0x6e789e6aa1b965f4));
    assert_int_equal(key_draw(0, 2), UINT64_C(0x06c45d188009454f));
}

/* A base must never change: published results hang on it. */
static void base_has_known_answers(void **state)
{
    (void)state;
    struct draw_key zero = { 0 };
    struct draw_key key = {
        .seed = 1, .batch = 2, .purpose = KEY_NEIGHBOURS, .epoch = 3, .rank = 4, .hop = 5, .type = 6
    };
    assert_int_equal(key_base(&zero), UINT64_C(0x78ae5a9a6b5fd45e));
    assert_int_equal(key_base(&key), UINT64_C(0xef6a251df23ac517));
    assert_int_equal(key_node(key_base(&key), 7), UINT64_C(0x572818dd97b5ea8a));
}

static void every_member_changes_the_base(void **state)
{
    (void)state;
    struct draw_key keys[8] = { { 0 },          { .seed = 1 }, { .batch = 1 }, { .purpose = 1 },
                                { .epoch = 1 }, { .rank = 1 }, { .hop = 1 },   { .type = 1 } };
    for (int i = 0; i < 8; i++) {
        for (int j = 0; j < i; j++)
            assert_int_not_equal(key_base(&keys[i]), key_base(&keys[j]));
    }
}

/* Flipping any bit of the ID or the draw's number flips each bit of the draw half the time. */
static void one_bit_flips_half(void **state)
{
    (void)state;
    enum { TRIALS = 4096 };
    for (int bit = 0; bit < 64; bit++) {
        int flips[64] = { 0 };
        for (uint64_t i = 0; i < TRIALS; i++) {
            uint64_t a = key_draw(key_node(9, i * 77), i),
                     b = key_draw(key_node(9, (i * 77) ^ UINT64_C(1) << bit), i);
            for (int out = 0; out < 64; out++)
                flips[out] += (int)((a ^ b) >> out & 1);
        }
        for (int out = 0; out < 64; out++) /* 6 standard deviations of a fair coin */
            assert_in_range(flips[out], TRIALS / 2 - 6 * 32, TRIALS / 2 + 6 * 32);
    }
}

static void bounded_integers_are_uniform(void **state)
{
    (void)state;
    static const uint64_t bounds[] = { 1, 2, 3, 5, 7, 10, 47, 64, 1000 };
    for (size_t b = 0; b < sizeof bounds / sizeof *bounds; b++) {
        uint64_t counts[1000] = { 0 }, draw = 0;
        for (int i = 0; i < 200000; i++) {
            uint64_t value = key_below(b + 1, &draw, bounds[b]);
            assert_true(value < bounds[b]);
            counts[value]++;
        }
        assert_uniform(counts, bounds[b], 200000);
    }
}

/* With n = 3 * 2^62 a modulo or a bare multiply makes a third of the values twice as likely. */
static void rejection_removes_the_bias(void **state)
{
    (void)state;
    uint64_t n = UINT64_C(3) << 62, counts[3] = { 0 }, residues[3] = { 0 }, draw = 0;
    for (int i = 0; i < 90000; i++) {
        uint64_t value = key_below(11, &draw, n);
        counts[value >> 62]++;
        residues[value % 3]++;
    }
    assert_uniform(counts, 3, 90000);
    assert_uniform(residues, 3, 90000);
    assert_in_range(draw, 118000, 122000); /* a quarter of the draws is rejected */
}

static void variates_have_their_moments(void **state)
{
    (void)state;
    enum { N = 200000 };
    double uniform = 0, single = 0;
    for (uint64_t i = 0; i < N; i++) {
        double u = key_double(17, i);
        float f = key_float(19, i);
        assert_true(u >= 0 && u < 1 && f >= 0 && f < 1);
        uniform += u;
        single += f;
    }
    assert_true(uniform / N > 0.497 && uniform / N < 0.503);
    assert_true(single / N > 0.497 && single / N < 0.503);
}

/* Each of the 24 orders of 4 items comes equally often. */
static void permutations_are_uniform(void **state)
{
    (void)state;
    uint64_t counts[256] = { 0 }, orders[24], found = 0;
    for (uint64_t key = 0; key < 48000; key++) {
        uint32_t items[4] = { 0, 1, 2, 3 };
        permute_u32(items, 4, key_node(23, key));
        counts[items[0] | items[1] << 2 | items[2] << 4 | items[3] << 6]++;
    }
    for (int code = 0; code < 256; code++) {
        if (counts[code] > 0 && found < 24)
            orders[found++] = counts[code];
    }
    assert_int_equal(found, 24);
    assert_uniform(orders, 24, 48000);
}

static void short_lists_stay(void **state)
{
    (void)state;
    uint32_t one = 7;
    permute_u32(NULL, 0, 1);
    permute_u32(&one, 1, 1);
    assert_int_equal(one, 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(draws_are_splitmix64),
        cmocka_unit_test(base_has_known_answers),
        cmocka_unit_test(every_member_changes_the_base),
        cmocka_unit_test(one_bit_flips_half),
        cmocka_unit_test(bounded_integers_are_uniform),
        cmocka_unit_test(rejection_removes_the_bias),
        cmocka_unit_test(variates_have_their_moments),
        cmocka_unit_test(permutations_are_uniform),
        cmocka_unit_test(short_lists_stay),
    };
    return cmocka_run_group_tests_name("key", tests, NULL, NULL);
}
