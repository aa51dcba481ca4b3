/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Feature rows of any element type as float32, and their normalisation.
 *
 * Thread rules: pure functions.
 */
#ifndef MODEL_FEATURES_H
#define MODEL_FEATURES_H

#include <stddef.h>

#include <troupe/types.h>

#include "model/kernels.h"

/* Converts count elements; float64 and integers round to the nearest float32. */
void features_convert(enum tr_dtype dtype, const void *from, size_t count, float *to);

/* The factor of a row by which its magnitudes add up to 1; 1 for a row of zeros. */
float features_norm(const struct kernels *kernels, const float *row, size_t width);

/* What standardises columns; each array has a number a column. A column whose unit is not 0 is
 * replaced by its logarithm before: sign(u) log(1 + |u|) of u = (x - centre) / unit, so that numbers
 * within a unit of the centre stay nearly as they are, and only the others move closer. */
struct feature_columns {
    const float *means, *factors;
    const float *centres, *units; /* NULL: no column's logarithm is taken */
};

float features_logarithm(float value, float centre, float unit);

/* Takes from each element, or its logarithm, the column's mean, and multiplies the rest by its
 * factor. */
void features_standardise(float *row, const struct feature_columns *columns, size_t width);

#endif
