/* SPDX-License-Identifier: Apache-2.0 */
#include "model/layer_norm.h"

#include <math.h>

/* Keeps a row of equal numbers finite; that of PyTorch. */
#define EPS 1e-5
/* Partial sums of every eighth element, which do not wait for each other. */
#define LANES 8

static double add_lanes(const double lanes[LANES])
{
    double sum = 0;
    for (size_t l = 0; l < LANES; l++)
        sum += lanes[l];
    return sum;
}

static double mean_of(const float *row, size_t n)
{
    double lanes[LANES] = { 0 };
    for (size_t i = 0; i < n; i++)
        lanes[i % LANES] += (double)row[i];
    return add_lanes(lanes) / (double)n;
}

static double mean_of_products(const float *a, const float *b, size_t n)
{
    double lanes[LANES] = { 0 };
    for (size_t i = 0; i < n; i++)
        lanes[i % LANES] += (double)a[i] * (double)b[i];
    return add_lanes(lanes) / (double)n;
}

float layer_norm(float *row, size_t n)
{
    float mean = (float)mean_of(row, n);
    for (size_t i = 0; i < n; i++)
        row[i] -= mean;
    /* The variance comes behind the subtraction, without which large means would swallow it. */
    float inverse = (float)(1.0 / sqrt(mean_of_products(row, row, n) + EPS));
    for (size_t i = 0; i < n; i++)
        row[i] *= inverse;
    return inverse;
}

void layer_norm_scale(float *row, const float *scale, size_t n)
{
    for (size_t i = 0; i < n; i++)
        row[i] *= scale[i];
}

void layer_norm_back(float *grad, const float *normed, float inverse, const float *scale,
                     float *scale_grad, size_t n)
{
    /* The scale's gradient is taken from the result's, before that is overwritten. */
    for (size_t i = 0; i < n; i++)
        scale_grad[i] += grad[i] * normed[i];
    layer_norm_scale(grad, scale, n);
    float mean = (float)mean_of(grad, n);
    float along = (float)mean_of_products(grad, normed, n);
    for (size_t i = 0; i < n; i++)
        grad[i] = inverse * (grad[i] - mean - normed[i] * along);
}
