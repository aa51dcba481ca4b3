/* SPDX-License-Identifier: Apache-2.0 */
/* The order of large sets: a bijection whose images are spread as by a random permutation. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "graph/bijection.h"
#include "graph/key.h"
#include "tests/graph/statistics.h"

#define SMALL_MAX 20u

/* Keys are drawn as an epoch's are: the same seed, one epoch after the other. */
static void begin(struct bijection *bijection, uint64_t n, uint32_t epoch)
{
    const struct draw_key key = { .seed = 43, .purpose = KEY_SHUFFLE, .epoch = epoch };
    bijection_init(bijection, n, key_base(&key));
}

static void each_image_comes_once(void **unused)
{
    (void)unused;
    for (uint64_t n = 1; n < 70000; n = n < 40 ? n + 1 : n * 7 / 4) {
        struct bijection bijection;
        unsigned char *seen = calloc(n, 1);
        assert_non_null(seen);
        begin(&bijection, n, (uint32_t)n);
        for (uint64_t x = 0; x < n; x++) {
            uint64_t image = bijection_map(&bijection, x);
            assert_true(image < n && seen[image] == 0);
            seen[image] = 1;
        }
        free(seen);
    }
}

/* Which of the n! orders the images are in, as a number (Lehmer's code). */
static uint64_t order_number(const struct bijection *bijection)
{
    uint64_t number = 0, images[SMALL_MAX];
    for (uint64_t x = 0; x < bijection->n; x++) {
        images[x] = bijection_map(bijection, x);
        uint64_t below = images[x];
        for (uint64_t i = 0; i < x; i++)
            below -= images[i] < images[x];
        number = number * (bijection->n - x) + below;
    }
    return number;
}

static void small_orders_are_uniform(void **unused)
{
    uint64_t factorial = 1;
    (void)unused;
    for (uint64_t n = 2; n <= 6; n++) {
        factorial *= n;
        uint64_t *counts = calloc(factorial, sizeof *counts), trials = 100 * factorial;
        assert_non_null(counts);
        for (uint64_t t = 0; t < trials; t++) {
            struct bijection bijection;
            begin(&bijection, n, (uint32_t)t);
            counts[order_number(&bijection)]++;
        }
        assert_uniform(counts, factorial, (double)trials);
        free(counts);
    }
}

/*
 * How often each x has each image. Rows and columns of these counts add up to the number of
 * trials, so of n^2 cells (n - 1)^2 are free, and the statistic of a random permutation is n / (n -
 * 1) times chi-square: the covariance of its matrix is isotropic.
 */
static void assert_positions(uint64_t n, const uint64_t *counts, uint64_t trials)
{
    double expected = (double)trials / (double)n, statistic = 0;
    for (uint64_t i = 0; i < n * n; i++) {
        double off = (double)counts[i] - expected;
        statistic += off * off / expected;
    }
    statistic *= (double)(n - 1) / (double)n;
    double limit = chi_square_limit((double)((n - 1) * (n - 1)));
    if (statistic >= limit)
        print_message("n %g: chi-square %g, limit %g\n", (double)n, statistic, limit);
    assert_true(statistic < limit);
}

static void small_positions_are_uniform(void **unused)
{
    enum { TRIALS = 10000 };
    (void)unused;
    for (uint64_t n = 2; n <= SMALL_MAX; n++) {
        static uint64_t counts[SMALL_MAX * SMALL_MAX];
        memset(counts, 0, sizeof counts);
        for (uint32_t t = 0; t < TRIALS; t++) {
            struct bijection bijection;
            begin(&bijection, n, t);
            for (uint64_t x = 0; x < n; x++)
                counts[x * n + bijection_map(&bijection, x)]++;
        }
        assert_positions(n, counts, TRIALS);
    }
}

static void assert_pair(uint64_t n, uint64_t x, uint64_t y)
{
    enum { TRIALS = 20000 };
    static uint64_t counts[SMALL_MAX * SMALL_MAX];
    memset(counts, 0, sizeof counts);
    for (uint32_t t = 0; t < TRIALS; t++) {
        struct bijection bijection;
        begin(&bijection, n, t);
        uint64_t a = bijection_map(&bijection, x), b = bijection_map(&bijection, y);
        assert_true(a != b);
        counts[a * (n - 1) + (b > a ? b - 1 : b)]++;
    }
    assert_uniform(counts, n * (n - 1), TRIALS);
}

static void small_pairs_are_uniform(void **unused)
{
    (void)unused;
    for (uint64_t n = 3; n <= SMALL_MAX; n++) {
        assert_pair(n, 0, 1);
        assert_pair(n, 0, n - 1);
        assert_pair(n, n / 2, n / 2 + 1);
    }
}

/* Images of a few positions, and of pairs of neighbours, in that many equal bins. */
static void assert_bins(uint64_t n, uint64_t x)
{
    enum { TRIALS = 20000, BINS = 64, PAIR_BINS = 16 };
    static uint64_t counts[BINS], pairs[PAIR_BINS * PAIR_BINS];
    memset(counts, 0, sizeof counts);
    memset(pairs, 0, sizeof pairs);
    for (uint32_t t = 0; t < TRIALS; t++) {
        struct bijection bijection;
        begin(&bijection, n, t);
        uint64_t a = bijection_map(&bijection, x), b = bijection_map(&bijection, x + 1);
        assert_true(a < n && b < n && a != b);
        counts[(unsigned __int128)a * BINS / n]++;
        pairs[(unsigned __int128)a * PAIR_BINS / n * PAIR_BINS +
              (unsigned __int128)b * PAIR_BINS / n]++;
    }
    assert_uniform(counts, BINS, TRIALS);
    assert_uniform(pairs, PAIR_BINS * PAIR_BINS, TRIALS);
}

static void large_sets_are_spread(void **unused)
{
    static const uint64_t sizes[] = {
        65535, 65536, 65537, 1000003, UINT64_C(1) << 33, (UINT64_C(1) << 33) + 1, BIJECTION_MAX
    };
    (void)unused;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        assert_bins(sizes[i], 0);
        assert_bins(sizes[i], sizes[i] / 2 - 1);
        assert_bins(sizes[i], sizes[i] - 2);
    }
}

/* Within one order: what neighbours of a batch are, and how far from each other. */
static void one_order_is_spread(void **unused)
{
    enum { BINS = 32 };
    static const uint64_t sizes[] = { 65535, 65536, 65537, 3000017, UINT64_C(1) << 33 };
    (void)unused;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        static uint64_t pairs[BINS * BINS], apart[BINS];
        uint64_t n = sizes[i], trials = n / 2 < 200000 ? n / 2 : 200000;
        struct bijection bijection;
        memset(pairs, 0, sizeof pairs);
        memset(apart, 0, sizeof apart);
        begin(&bijection, n, 7);
        for (uint64_t t = 0; t < trials; t++) {
            uint64_t a = bijection_map(&bijection, 2 * t), b = bijection_map(&bijection, 2 * t + 1);
            pairs[(unsigned __int128)a * BINS / n * BINS + (unsigned __int128)b * BINS / n]++;
            apart[(unsigned __int128)((a + n - b) % n) * BINS / n]++;
        }
        /* All of a small set is drawn without replacement, which evens the cells out: that side is
         * not looked at. */
        assert_uniform(apart, BINS, (double)trials);
        if (2 * trials < n / 2)
            assert_uniform(pairs, BINS * BINS, (double)trials);
    }
}

static void keys_and_sizes_give_other_orders(void **unused)
{
    struct bijection a, b, c;
    uint32_t same_key = 0, same_size = 0;
    (void)unused;
    begin(&a, 1000000, 1);
    begin(&b, 1000000, 2);
    begin(&c, 1000001, 1);
    for (uint64_t x = 0; x < 1000; x++) {
        same_key += bijection_map(&a, x) == bijection_map(&b, x);
        same_size += bijection_map(&a, x) != bijection_map(&c, x);
    }
    assert_true(same_key < 5);
    assert_true(same_size < 5); /* a member more moves few of the others */
    begin(&a, 1, 1);
    assert_int_equal(bijection_map(&a, 0), 0);
    bijection_init(&a, 0, 1);
    assert_int_equal(a.n, 0);
}

/* The numbers that every order of a large set stands on: they may never change. */
static void images_are_these(void **unused)
{
    struct bijection b;
    (void)unused;
    bijection_init(&b, 1000003, 12345);
    assert_int_equal(bijection_map(&b, 0), 642293);
    assert_int_equal(bijection_map(&b, 1000002), 147785);
    bijection_init(&b, UINT64_C(1) << 33, 12345);
    assert_int_equal(bijection_map(&b, 77), 4952146394);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_image_comes_once),
        cmocka_unit_test(small_orders_are_uniform),
        cmocka_unit_test(small_positions_are_uniform),
        cmocka_unit_test(small_pairs_are_uniform),
        cmocka_unit_test(large_sets_are_spread),
        cmocka_unit_test(one_order_is_spread),
        cmocka_unit_test(keys_and_sizes_give_other_orders),
        cmocka_unit_test(images_are_these),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
