/* SPDX-License-Identifier: Apache-2.0 */
/* Which series of losses rise: outliers and noise do not, divergence does, and soon. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "model/loss_trend.h"

#define NEVER (-1)

/* The epoch in which a series is first said to rise. */
static int first_rise(const double *losses, int count)
{
    struct loss_trend trend;
    loss_trend_init(&trend);
    for (int i = 0; i < count; i++) {
        if (loss_trend_add(&trend, losses[i]))
            return i;
    }
    return NEVER;
}

/* The series that was advised of wrongly: one epoch at 0.358 of losses about 0.6. */
static void one_low_loss_is_no_level(void **state)
{
    static const double after[] = { 0.358, 0.612, 0.597, 0.641, 0.603, 0.66, 0.598, 0.62, 0.633 };
    double losses[60];
    (void)state;
    for (int i = 0; i < 60; i++)
        losses[i] = 0.57 + 0.01 * (i * 7 % 5);
    for (int i = 0; i < 9; i++)
        losses[40 + i] = after[i];
    assert_int_equal(first_rise(losses, 60), NEVER);
    /* Nor is it one in the second epoch, when there is little else. */
    double early[] = { 1.1, 0.3, 1.05, 1.0, 1.1, 0.98, 1.0, 0.95, 0.97, 0.9, 0.96, 0.94 };
    assert_int_equal(first_rise(early, 12), NEVER);
}

/* A deviate of a Gaussian, by Box and Muller, from a generator of fixed numbers. */
static double gauss(uint64_t *seed)
{
    double uniform[2];
    for (int i = 0; i < 2; i++) {
        *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        uniform[i] = ((double)(*seed >> 11) + 1) / 9007199254740993.0;
    }
    return sqrt(-2 * log(uniform[0])) * cos(6.283185307179586 * uniform[1]);
}

static void noise_does_not_rise(void **state)
{
    uint64_t seed = 1;
    int wrong = 0;
    (void)state;
    for (int series = 0; series < 200; series++) {
        double losses[400];
        for (int i = 0; i < 400; i++)
            losses[i] = (series % 2 ? 0.6 : 0.2 + 2 * exp(-i / 20.0)) * exp(0.3 * gauss(&seed));
        wrong += first_rise(losses, 400) != NEVER;
    }
    /* The lowest loss alone would be risen from in all of them. */
    assert_in_range(wrong, 0, 10);
}

static void what_diverges_rises(void **state)
{
    static const double plateau[] = { 1.1, 80, 300, 50, 500, 200, 300 };
    static const double nan_after[] = { 1.1, NAN, NAN, NAN, NAN, NAN };
    /* Of an absurd rate: it reaches nothing by long falls, and leaves it for four epochs. */
    static const double leaps[] = { 2.4e6, 1.3e6, 5e5, 2.1e6, 2.2e4, 0,     0,     0,
                                    0,     0,     0,   0,     1.5e4, 3.1e7, 1.9e7, 5.7e6 };
    uint64_t seed = 2;
    double grows[12], falls_first[40], creeps[80];
    (void)state;
    for (int i = 0; i < 12; i++)
        grows[i] = 0.7 * pow(3, i);
    for (int i = 0; i < 40; i++)
        falls_first[i] = i < 10 ? 2 * pow(0.8, i) : 0.2 * pow(1.4, i - 10);
    for (int i = 0; i < 80; i++)
        creeps[i] = 0.3 * pow(1.05, i) * exp(0.2 * gauss(&seed));
    assert_in_range(first_rise(grows, 12), 4, 8);
    assert_in_range(first_rise(plateau, 7), 4, 6);
    assert_int_equal(first_rise(leaps, 16), 15);
    assert_in_range(first_rise(nan_after, 6), 4, 5);
    assert_in_range(first_rise(falls_first, 40), 14, 26);
    assert_in_range(first_rise(creeps, 80), 15, 45);
}

static void the_level_is_where_it_rose_from(void **state)
{
    struct loss_trend trend;
    int epoch = 0;
    (void)state;
    loss_trend_init(&trend);
    while (!loss_trend_add(&trend, epoch < 20 ? 0.5 : 2.0))
        epoch++;
    assert_in_range(epoch, 23, 30);
    assert_true(trend.lowest == 0.5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_low_loss_is_no_level),
        cmocka_unit_test(noise_does_not_rise),
        cmocka_unit_test(what_diverges_rises),
        cmocka_unit_test(the_level_is_where_it_rose_from),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
