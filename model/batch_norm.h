/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Batch normalisation of the columns of hidden rows (Ioffe and Szegedy, ICML 2015).
 *
 *     normed = (row - mean) / sqrt(variance + eps);  the result is scale * normed
 *
 * In training mean and variance are those of the rows that this trainer's batch has in the layer:
 * a function of the batch alone, whatever its placement; the number of trainers is part of a run. In
 * inference they are running ones. Every step each trainer adds its own, times its number of rows, to
 * what is reduced beside the gradients, so all models keep the same: the mean over trainers, weighted
 * by rows. A trainer without a row in a step adds nothing. Of the first ten steps the running values
 * are the plain mean, then each step counts for a tenth. A batch of one row is normalised to zeros.
 *
 * Sums run over blocks of MATMUL_ROWS rows and then over blocks, in float64: no number of threads
 * and no CPU changes a bit. The shift that follows is the layer's bias.
 *
 * Thread rules: pure functions on the memory they are given.
 */
#ifndef MODEL_BATCH_NORM_H
#define MODEL_BATCH_NORM_H

#include <stddef.h>

/* In the flat array of parameters: running means, running variances, and the number of steps; in
 * that of gradients the same, times rows, and the number of rows. */
#define BATCH_NORM_RUNNING(width) (2 * (size_t)(width) + 1)

/* What a step knows of the columns of a layer. */
struct batch_columns {
    const float *mean, *variance, *inverse; /* [width]; inverse: 1 / sqrt(variance + eps) */
    const float *grad, *along; /* [width]: means of gradients, and of these times normed rows */
};

/* sums[width] = of the columns of count rows; or of the squares of what they differ from mean. */
void batch_norm_sum(const float *rows, size_t count, size_t width, double *sums);
void batch_norm_squares(const float *rows, size_t count, size_t width, const float *mean,
                        double *sums);
/* sums[width] of gradients, along[width] of these times the normed rows. */
void batch_norm_sum_back(const float *grads, const float *normed, size_t count, size_t width,
                         double *sums, double *along);

/* to[width] = the sums of all blocks [blocks][stride] over the number of rows; 0 without any. */
void batch_norm_means(const double *sums, size_t blocks, size_t stride, size_t rows, size_t width,
                      float *to);
void batch_norm_inverses(const float *variance, size_t width, float *inverse);

/* The row becomes normed. */
void batch_norm(float *row, const struct batch_columns *columns, size_t width);
/* The row becomes the result, by running values. */
void batch_norm_infer(float *row, const float *running, const float *scale, size_t width);

/* Takes the gradient of the result, and leaves that of the row in its place; adds that of scale to
 * scale_grad. */
void batch_norm_back(float *grad, const float *normed, const struct batch_columns *columns,
                     const float *scale, float *scale_grad, size_t width);

/* What this trainer adds to the sums of a step. */
void batch_norm_offer(const struct batch_columns *columns, size_t rows, size_t width, float *grads);
/* Takes the sums of all trainers. */
void batch_norm_take(float *running, const float *grads, size_t width);

#endif
