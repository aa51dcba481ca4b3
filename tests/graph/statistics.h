/* SPDX-License-Identifier: Apache-2.0 */
/* Chi-square tests at p > 1e-3. Keys are fixed, so a test passes always or never. */
#ifndef TESTS_GRAPH_STATISTICS_H
#define TESTS_GRAPH_STATISTICS_H

#include <math.h>
#include <stdint.h>

/* The 0.999 quantile of chi-square (Wilson and Hilferty 1931; within 2 % from 2 degrees on). */
static inline double chi_square_limit(double degrees)
{
    double a = 2 / (9 * degrees), cube = 1 - a + 3.0902 * sqrt(a);
    return degrees * cube * cube * cube;
}

/* counts[cells] of `total` trials that should be equally likely; shrink scales the statistic's
 * expectation where trials exclude each other (draws without replacement). */
static inline void assert_uniform_scaled(const uint64_t *counts, uint64_t cells, double total,
                                         double shrink)
{
    double expected = total / (double)cells, statistic = 0;
    if (cells < 2)
        return;
    assert_true(expected >= 5); /* or chi-square says nothing */
    for (uint64_t i = 0; i < cells; i++) {
        double off = (double)counts[i] - expected;
        statistic += off * off / expected;
    }
    statistic /= shrink;
    if (statistic >= chi_square_limit((double)cells - 1))
        print_message("chi-square %g for %g cells\n", statistic, (double)cells);
    assert_true(statistic < chi_square_limit((double)cells - 1));
    /* Too even is no chance either: the 0.001 quantile, far from it for few cells. */
    if (cells > 100)
        assert_true(statistic > 2 * ((double)cells - 1) - chi_square_limit((double)cells - 1));
}

/* counts[cells] of `total` trials, each of which comes to cell i with probability shares[i]. */
static inline void assert_shares(const uint64_t *counts, const double *shares, uint64_t cells,
                                 double total)
{
    double statistic = 0, sum = 0;
    for (uint64_t i = 0; i < cells; i++) {
        double expected = shares[i] * total, off = (double)counts[i] - expected;
        sum += shares[i];
        if (shares[i] == 0) {
            assert_int_equal(counts[i], 0);
            continue;
        }
        assert_true(expected >= 5); /* or chi-square says nothing */
        statistic += off * off / expected;
    }
    assert_true(fabs(sum - 1) < 1e-9);
    if (statistic >= chi_square_limit((double)cells - 1))
        print_message("chi-square %g for %g cells\n", statistic, (double)cells);
    assert_true(statistic < chi_square_limit((double)cells - 1));
}

static inline void assert_uniform(const uint64_t *counts, uint64_t cells, double total)
{
    assert_uniform_scaled(counts, cells, total, 1);
}

#endif
