/* SPDX-License-Identifier: Apache-2.0 */
#include "model/batch_norm.h"

#include <math.h>
#include <string.h>

/* Keeps columns of equal numbers finite; that of PyTorch. */
#define EPS 1e-5f
/* What a step counts for in running values, as soon as it would not count for more. */
#define SHARE 0.1f

void batch_norm_sum(const float *rows, size_t count, size_t width, double *sums)
{
    memset(sums, 0, width * sizeof *sums);
    for (size_t r = 0; r < count; r++)
        for (size_t i = 0; i < width; i++)
            sums[i] += (double)rows[r * width + i];
}

void batch_norm_squares(const float *rows, size_t count, size_t width, const float *mean,
                        double *sums)
{
    memset(sums, 0, width * sizeof *sums);
    for (size_t r = 0; r < count; r++)
        for (size_t i = 0; i < width; i++) {
            double from_mean = (double)(rows[r * width + i] - mean[i]);
            sums[i] += from_mean * from_mean;
        }
}

void batch_norm_sum_back(const float *grads, const float *normed, size_t count, size_t width,
                         double *sums, double *along)
{
    memset(sums, 0, width * sizeof *sums);
    memset(along, 0, width * sizeof *along);
    for (size_t r = 0; r < count; r++)
        for (size_t i = 0; i < width; i++) {
            double grad = (double)grads[r * width + i];
            sums[i] += grad;
            along[i] += grad * (double)normed[r * width + i];
        }
}

void batch_norm_means(const double *sums, size_t blocks, size_t stride, size_t rows, size_t width,
                      float *to)
{
    for (size_t i = 0; i < width; i++) {
        double sum = 0;
        for (size_t b = 0; b < blocks; b++)
            sum += sums[b * stride + i];
        to[i] = rows == 0 ? 0.0f : (float)(sum / (double)rows);
    }
}

void batch_norm_inverses(const float *variance, size_t width, float *inverse)
{
    for (size_t i = 0; i < width; i++)
        inverse[i] = 1.0f / sqrtf(variance[i] + EPS);
}

void batch_norm(float *row, const struct batch_columns *columns, size_t width)
{
    for (size_t i = 0; i < width; i++)
        row[i] = (row[i] - columns->mean[i]) * columns->inverse[i];
}

void batch_norm_infer(float *row, const float *running, const float *scale, size_t width)
{
    const float *mean = running, *variance = running + width;
    for (size_t i = 0; i < width; i++)
        row[i] = (row[i] - mean[i]) * (1.0f / sqrtf(variance[i] + EPS)) * scale[i];
}

void batch_norm_back(float *grad, const float *normed, const struct batch_columns *columns,
                     const float *scale, float *scale_grad, size_t width)
{
    /* The scale's gradient is taken from the result's, before that is overwritten. */
    for (size_t i = 0; i < width; i++) {
        scale_grad[i] += grad[i] * normed[i];
        grad[i] = scale[i] * columns->inverse[i] *
                  (grad[i] - columns->grad[i] - normed[i] * columns->along[i]);
    }
}

void batch_norm_offer(const struct batch_columns *columns, size_t rows, size_t width, float *grads)
{
    for (size_t i = 0; i < width; i++) {
        grads[i] = columns->mean[i] * (float)rows;
        grads[width + i] = columns->variance[i] * (float)rows;
    }
    grads[2 * width] = (float)rows;
}

void batch_norm_take(float *running, const float *grads, size_t width)
{
    float rows = grads[2 * width], steps = running[2 * width];
    if (!(rows > 0))
        return;
    float share = 1.0f / (steps + 1.0f);
    share = share > SHARE ? share : SHARE;
    for (size_t i = 0; i < 2 * width; i++)
        running[i] += share * (grads[i] / rows - running[i]);
    running[2 * width] = steps + 1.0f;
}
