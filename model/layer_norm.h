/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Layer normalisation of rows (Ba, Kiros and Hinton, 2016): each row by itself, so that its result
 * depends neither on the batch nor on the number of trainers.
 *
 *     normed = (row - mean(row)) / sqrt(variance(row) + eps);  the result is scale * normed
 *
 * The shift that follows is the layer's bias. Sums run in one order on every CPU.
 *
 * Thread rules: pure functions on the memory they are given.
 */
#ifndef MODEL_LAYER_NORM_H
#define MODEL_LAYER_NORM_H

#include <stddef.h>

/* The row becomes normed; returns 1 / sqrt(variance + eps). */
float layer_norm(float *row, size_t n);

/* row *= scale, element by element. */
void layer_norm_scale(float *row, const float *scale, size_t n);

/* Takes the gradient of the result, and leaves that of the row in its place; adds that of scale to
 * scale_grad. */
void layer_norm_back(float *grad, const float *normed, float inverse, const float *scale,
                     float *scale_grad, size_t n);

#endif
