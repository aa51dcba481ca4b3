/*
 * Feature rows of any element type as float32, and their normalisation.
 *
 * Thread rules: pure functions.
 */
#ifndef MODEL_FEATURES_H
#define MODEL_FEATURES_H

#include <stddef.h>

#include <troupe/types.h>

/* Converts count elements; float64 and integers round to the nearest float32. */
void features_convert(enum tr_dtype dtype, const void *from, size_t count, float *to);

/* Divides a row by the sum of its magnitudes; a row of zeros stays. */
void features_normalise(float *row, size_t width);

#endif
