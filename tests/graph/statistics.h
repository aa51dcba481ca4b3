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

/*
 * The 0.999 quantile of sum((count - n * q)^2) / (n * scale) over the pairs of `size` things, of n
 * trials that each have some of the things: a pair with probability q, two pairs that share a thing
 * with r1, two that share none with r2. The counts' covariances are those of the Johnson scheme
 * J(size, 2), whose three eigenspaces are known (Delsarte 1973), so the sum is one of three
 * chi-squares with factors; it is taken for the chi-square with a factor that has its mean and
 * variance (Satterthwaite 1946).
 */
static inline double pairs_limit(double size, double q, double r1, double r2, double scale)
{
    const double dimension[] = { 1, size - 1, size * (size - 3) / 2 };
    const double sharing[] = { 2 * (size - 2), size - 4, -2 };
    const double apart[] = { (size - 2) * (size - 3) / 2, 3 - size, 1 };
    double mean = 0, variance = 0;
    for (int i = 0; i < 3; i++) {
        double factor = (q * (1 - q) + (r1 - q * q) * sharing[i] + (r2 - q * q) * apart[i]) / scale;
        mean += dimension[i] * factor;
        variance += 2 * dimension[i] * factor * factor;
    }
    return variance / (2 * mean) * chi_square_limit(2 * mean * mean / variance);
}

/* counts[cells] of `total` trials, each of which comes to cell i with probability shares[i]. */
static inline void assert_shares(const uint64_t *counts, const double *shares, uint64_t cells,
                                 double total)
{
    double statistic = 0, sum = 0, possible = 0;
    for (uint64_t i = 0; i < cells; i++) {
        double expected = shares[i] * total, off = (double)counts[i] - expected;
        sum += shares[i];
        if (shares[i] == 0) {
            assert_int_equal(counts[i], 0);
            continue;
        }
        assert_true(expected >= 5); /* or chi-square says nothing */
        statistic += off * off / expected;
        possible++;
    }
    assert_true(fabs(sum - 1) < 1e-9);
    if (possible < 2)
        return;
    if (statistic >= chi_square_limit(possible - 1))
        print_message("chi-square %g for %g cells\n", statistic, possible);
    assert_true(statistic < chi_square_limit(possible - 1));
}

static inline void assert_uniform(const uint64_t *counts, uint64_t cells, double total)
{
    assert_uniform_scaled(counts, cells, total, 1);
}

#endif
