/* SPDX-License-Identifier: Apache-2.0 */
#include "model/features.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "graph/logarithm.h"

static float from_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* IEEE binary16: 1 sign, 5 exponent (bias 15), 10 fraction bits. */
static float from_half(uint16_t half)
{
    uint32_t sign = (uint32_t)(half & 0x8000) << 16;
    uint32_t exponent = half >> 10 & 31, fraction = half & 1023;
    if (exponent == 31)
        return from_bits(sign | 0x7f800000 | fraction << 13);
    if (exponent != 0)
        return from_bits(sign | (exponent + 112) << 23 | fraction << 13);
    float subnormal = (float)fraction * 0x1p-24f;
    return sign ? -subnormal : subnormal;
}

#define CONVERT(type, expression)                       \
    do {                                                \
        for (size_t i = 0; i < count; i++) {            \
            type x;                                     \
            memcpy(&x, bytes + i * sizeof x, sizeof x); \
            to[i] = (expression);                       \
        }                                               \
    } while (0)

void features_convert(enum tr_dtype dtype, const void *from, size_t count, float *to)
{
    const char *bytes = from;
    switch (dtype) {
    case TR_F32:
        if (count > 0)
            memcpy(to, from, count * sizeof *to);
        break;
    case TR_F16:
        CONVERT(uint16_t, from_half(x));
        break;
    case TR_BF16:
        CONVERT(uint16_t, from_bits((uint32_t)x << 16));
        break;
    case TR_F64:
        CONVERT(double, (float)x);
        break;
    case TR_I8:
        CONVERT(int8_t, (float)x);
        break;
    case TR_U8:
        CONVERT(uint8_t, (float)x);
        break;
    case TR_I16:
        CONVERT(int16_t, (float)x);
        break;
    case TR_I32:
        CONVERT(int32_t, (float)x);
        break;
    case TR_I64:
        CONVERT(int64_t, (float)x);
        break;
    case TR_BOOL:
        CONVERT(uint8_t, x != 0 ? 1.0f : 0.0f);
        break;
    }
}

float features_norm(const struct kernels *kernels, const float *row, size_t width)
{
    double sum = kernels->magnitude(row, width);
    return sum > 0 ? (float)(1 / sum) : 1.0f;
}

float features_logarithm(float value, float centre, float unit)
{
    double u = ((double)value - (double)centre) / (double)unit;
    if (!isfinite(u))
        return (float)u;
    double size = logarithm(1 + fabs(u));
    return (float)(u < 0 ? -size : size);
}

void features_standardise(float *row, const struct feature_columns *columns, size_t width)
{
    for (size_t i = 0; i < width; i++) {
        if (columns->units != NULL && columns->units[i] != 0)
            row[i] = features_logarithm(row[i], columns->centres[i], columns->units[i]);
        row[i] = (row[i] - columns->means[i]) * columns->factors[i];
    }
}
