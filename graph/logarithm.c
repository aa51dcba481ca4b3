/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/logarithm.h"

#include <stdint.h>
#include <string.h>

#define MANTISSA_BITS 52
#define EXPONENT_BIAS 1023
/* The bits of sqrt(2), rounded: mantissas above it are halved, so that logarithms of numbers beside
 * 1 lose nothing to the exponent's. */
#define SQRT2_MANTISSA UINT64_C(0x6a09e667f3bcd)

/* log(2) in two pieces: the first has 32 bits, so that its product with an exponent is exact. */
#define LN2_HIGH 0x1.62e42fefp-1
#define LN2_LOW 0x1.473de6af278edp-34

/* Terms of the series: s is below 0.1716, and the 11th adds less than 2^-57 of the sum. */
#define TERMS 11

double logarithm(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    int64_t exponent = (int64_t)(bits >> MANTISSA_BITS) - EXPONENT_BIAS;
    uint64_t mantissa = bits & ((UINT64_C(1) << MANTISSA_BITS) - 1);
    exponent += mantissa > SQRT2_MANTISSA;
    bits = mantissa | (uint64_t)(EXPONENT_BIAS - (mantissa > SQRT2_MANTISSA)) << MANTISSA_BITS;
    double m;
    memcpy(&m, &bits, sizeof m);
    /* log(m) = 2 atanh(s) = 2 (s + s^3 / 3 + s^5 / 5 + ...), s = (m - 1) / (m + 1). The first term is
     * added last, and in the form f - s (f - ...), f = m - 1, which is exact where 2 s is not. */
    double f = m - 1, s = f / (m + 1), square = s * s, sum = 0;
    for (int i = 2 * TERMS + 1; i > 1; i -= 2)
        sum = (sum + 1.0 / i) * square;
    double e = (double)exponent;
    return e * LN2_HIGH + (f - (s * (f - 2 * sum) - e * LN2_LOW));
}
